/* SPDX-License-Identifier: MIT */
/* Tables of rows that the caller has. */
#include "base/error.h"
#include "base/sized.h"
#include "view/view.h"

struct rows {
    struct perfile_rows from;
};

static void set_number(struct pf_vector *vector, const struct perfile_value *value)
{
    const size_t width = pf_column_width(&vector->column);
    if (width == 0)
        pf_set_bool(vector, value->number.u != 0);
    else if (width == sizeof(uint32_t))
        pf_set_u32(vector, (uint32_t)value->number.u);
    else
        pf_set_u64(vector, value->number.u); /* a double has the same bits */
}

PF_PUT(value)
{
    const struct rows *rows = state;
    struct perfile_value value = {.kind = PERFILE_VALUE_NULL};
    rows->from.value(rows->from.context, vector->column.index, &value);
    const bool is_text = value.kind == PERFILE_VALUE_TEXT, is_number = value.kind <= PERFILE_VALUE_BOOL;
    if (!(pf_column_is_text(&vector->column) ? is_text : is_number))
        pf_set_null(vector);
    else if (is_text)
        pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, (const char *)value.data, value.bytes));
    else
        set_number(vector, &value);
}

static int next_row(void *state, struct perfile_error *error)
{
    const struct rows *rows = state;
    return rows->from.next(rows->from.context, error);
}

static int fail(struct perfile_error *error, const char *why)
{
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "table", "%s", why);
}

static int add_column(struct perfile_table *table, const struct perfile_rows *from, uint32_t index,
                      struct perfile_error *error)
{
    struct perfile_column passed = PERFILE_COLUMN_INIT;
    const int result = pf_sized_take(&passed, sizeof(passed), from->columns[index], "column", error);
    if (result < 0)
        return result;
    const struct pf_column column = {.name = passed.name,
                                     .type = passed.type,
                                     .unit = passed.unit ? passed.unit : "",
                                     .doc = passed.doc ? passed.doc : "",
                                     .put = put_value,
                                     .index = index};
    if (!passed.name || passed.type > PERFILE_COLUMN_TEXT)
        return fail(error, !passed.name ? "a column has no name" : "a column is a list, or of an unknown type");
    return pf_table_add(table, &column) ? 0 : pf_fail_memory(error, "table");
}

static int open_rows(struct perfile_table *table, void *state, struct perfile_error *error)
{
    const struct rows *rows = state;
    int result = 0;
    for (uint32_t i = 0; i < rows->from.column_count && result == 0; i++)
        result = add_column(table, &rows->from, i, error);
    return result;
}

static const struct pf_view view_of_rows = {.open = open_rows, .next = next_row, .state_bytes = sizeof(struct rows)};

static int give_rows(struct perfile_table *table, const struct perfile_rows *from, struct perfile_error *error)
{
    struct rows *rows = pf_new(table->allocator, sizeof(*rows));
    if (!rows)
        return pf_fail_memory(error, "table");
    rows->from = *from;
    table->state = rows;
    table->own = view_of_rows;
    table->own.info.name = from->view;
    table->view = &table->own;
    return 0;
}

int perfile_table_of_rows(const struct perfile_rows *rows, struct perfile_table **table, struct perfile_error *error)
{
    struct perfile_rows from = PERFILE_ROWS_INIT;
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    if (table)
        *table = NULL;
    int result = pf_sized_take(&from, sizeof(from), rows, "rows", error);
    if (result < 0)
        return result;
    if (!table || !from.view || !from.columns || !from.column_count || !from.next || !from.value)
        return fail(error, "rows need a name, columns, their functions, and a pointer for the table");
    options.allocator = from.allocator;
    options.gzip = from.gzip;
    options.text_width = from.text_width;
    result = pf_table_make(NULL, &options, table, error);
    if (result == 0)
        result = give_rows(*table, &from, error);
    if (result == 0)
        return pf_table_start(table, error);
    perfile_table_close(*table);
    *table = NULL;
    return result;
}
