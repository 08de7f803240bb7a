/* SPDX-License-Identifier: MIT */
/* The values of one column for the rows of a batch, laid out as Arrow has them. */
#ifndef PF_VIEW_VECTOR_H
#define PF_VIEW_VECTOR_H

#include <string.h>

#include "base/bytes.h"
#include "view/dictionary.h"

struct pf_vector;

struct pf_column {
    const char *name;
    const char *alias; /* another name that it is asked for by, or NULL */
    unsigned type;     /* enum perfile_column_type */
    const char *unit;  /* "": none */
    const char *doc;
    /* Puts one value: exactly one pf_set_..., or pf_end_list. */
    void (*put)(void *state, struct pf_vector *vector);
    bool extra;           /* shown only when it is asked for */
    bool required;        /* never null, whatever the recording */
    bool fresh;           /* its texts hardly repeat: each batch has a dictionary of its own */
    uint32_t index;       /* for the view: columns that share a function */
    const char *constant; /* the value in all rows; NULL: null, or none of this kind */
};

struct pf_vector {
    struct pf_column column;
    const struct perfile_allocator *allocator;
    bool shown;
    bool failed; /* out of memory */
    size_t row;  /* that is put next */
    size_t row_capacity;
    uint8_t *valid; /* a bit for each row */
    size_t nulls;
    void *values;     /* of rows, or of the items of lists */
    int32_t *offsets; /* lists: row_capacity + 1, where the items of a row begin */
    size_t item_count, item_capacity;
    struct pf_dictionary dictionary;
};

static inline bool pf_column_is_list(const struct pf_column *column)
{
    return column->type == PERFILE_COLUMN_TEXTS || column->type == PERFILE_COLUMN_ADDRESSES;
}

static inline bool pf_column_is_text(const struct pf_column *column)
{
    return column->type == PERFILE_COLUMN_TEXT || column->type == PERFILE_COLUMN_TEXTS;
}

/* Returns the bytes of a value, or of an item of lists; 0: one bit. */
size_t pf_column_width(const struct pf_column *column);
/* Reserves the rows of a batch; false when out of memory. */
bool pf_vector_begin(struct pf_vector *vector, size_t rows);
/* Frees what _begin made and no batch owns. */
void pf_vector_end(struct pf_vector *vector);
/* Slow path of lists. */
bool pf_vector_grow(struct pf_vector *vector);

static inline void pf_vector_mark(struct pf_vector *vector)
{
    vector->valid[vector->row / 8] |= (uint8_t)(1u << vector->row % 8);
    vector->row++;
}

static inline void pf_set_null(struct pf_vector *vector)
{
    if (vector->offsets)
        vector->offsets[vector->row + 1] = (int32_t)vector->item_count;
    vector->nulls++;
    vector->row++;
}

static inline void pf_set_u64(struct pf_vector *vector, uint64_t value)
{
    ((uint64_t *)vector->values)[vector->row] = value;
    pf_vector_mark(vector);
}

static inline void pf_set_i64(struct pf_vector *vector, int64_t value)
{
    pf_set_u64(vector, (uint64_t)value);
}

static inline void pf_set_u32(struct pf_vector *vector, uint32_t value)
{
    ((uint32_t *)vector->values)[vector->row] = value;
    pf_vector_mark(vector);
}

static inline void pf_set_i32(struct pf_vector *vector, int32_t value)
{
    pf_set_u32(vector, (uint32_t)value);
}

static inline void pf_set_f64(struct pf_vector *vector, double value)
{
    ((double *)vector->values)[vector->row] = value;
    pf_vector_mark(vector);
}

static inline void pf_set_bool(struct pf_vector *vector, bool value)
{
    ((uint8_t *)vector->values)[vector->row / 8] |= (uint8_t)((unsigned)value << vector->row % 8);
    pf_vector_mark(vector);
}

static inline void pf_set_text_bytes(struct pf_vector *vector, const char *text, size_t bytes)
{
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, text, bytes));
}

/* NULL is null. */
static inline void pf_set_text(struct pf_vector *vector, const char *text)
{
    if (text)
        pf_set_text_bytes(vector, text, strlen(text));
    else
        pf_set_null(vector);
}

/* The same for texts that stay where they are, unchanged, as long as the table. */
static inline void pf_set_lasting(struct pf_vector *vector, const char *text)
{
    if (text)
        pf_set_u32(vector, pf_dictionary_put_lasting(&vector->dictionary, text));
    else
        pf_set_null(vector);
}

/* Items of the list of this row; then pf_end_list. */
static inline void pf_add_address(struct pf_vector *vector, uint64_t address)
{
    if (vector->item_count < vector->item_capacity || pf_vector_grow(vector))
        ((uint64_t *)vector->values)[vector->item_count++] = address;
}

static inline void pf_add_code(struct pf_vector *vector, uint32_t code)
{
    if (vector->item_count < vector->item_capacity || pf_vector_grow(vector))
        ((uint32_t *)vector->values)[vector->item_count++] = code;
}

static inline void pf_end_list(struct pf_vector *vector)
{
    vector->offsets[vector->row + 1] = (int32_t)vector->item_count;
    pf_vector_mark(vector);
}

#endif
