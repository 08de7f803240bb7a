/* SPDX-License-Identifier: MIT */
#include <perfile/table.h>

#include "view/vector.h"

enum { MAX_ITEMS = INT32_MAX };

size_t pf_column_width(const struct pf_column *column)
{
    switch (column->type) {
    case PERFILE_COLUMN_BOOL:
        return 0;
    case PERFILE_COLUMN_I32:
    case PERFILE_COLUMN_U32:
    case PERFILE_COLUMN_TEXT:
    case PERFILE_COLUMN_TEXTS:
        return 4;
    default:
        return 8;
    }
}

static size_t value_bytes(const struct pf_vector *vector)
{
    const size_t width = pf_column_width(&vector->column);
    const size_t count = pf_column_is_list(&vector->column) ? vector->item_capacity : vector->row_capacity;
    return width ? width * count : (count + 7) / 8;
}

bool pf_vector_begin(struct pf_vector *vector, size_t rows)
{
    const bool list = pf_column_is_list(&vector->column);
    if (vector->row_capacity)
        return true;
    vector->row_capacity = rows;
    vector->item_capacity = list ? rows : 0;
    vector->valid = pf_new(vector->allocator, (rows + 7) / 8);
    vector->values = pf_new(vector->allocator, value_bytes(vector));
    vector->offsets = list ? pf_new(vector->allocator, (rows + 1) * sizeof(*vector->offsets)) : NULL;
    if (vector->valid && vector->values && (vector->offsets || !list))
        return true;
    pf_vector_end(vector);
    return false;
}

void pf_vector_end(struct pf_vector *vector)
{
    pf_free(vector->allocator, vector->valid, (vector->row_capacity + 7) / 8);
    pf_free(vector->allocator, vector->values, value_bytes(vector));
    pf_free(vector->allocator, vector->offsets, (vector->row_capacity + 1) * sizeof(*vector->offsets));
    vector->valid = NULL;
    vector->values = NULL;
    vector->offsets = NULL;
    vector->row = vector->row_capacity = vector->nulls = vector->item_count = vector->item_capacity = 0;
}

bool pf_vector_grow(struct pf_vector *vector)
{
    if (vector->failed || vector->item_count >= MAX_ITEMS ||
        !pf_grow(vector->allocator, &vector->values, &vector->item_capacity, vector->item_count + 1,
                 pf_column_width(&vector->column)))
        vector->failed = true;
    return !vector->failed;
}
