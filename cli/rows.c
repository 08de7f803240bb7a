/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <string.h>

struct cursor {
    const struct pf_rows *rows;
    size_t next; /* after the current row */
};

static int next_row(void *context, struct perfile_error *error)
{
    struct cursor *cursor = context;

    (void)error;
    return cursor->next < cursor->rows->row_count && ++cursor->next;
}

static void put_value(void *context, size_t column, struct perfile_value *value)
{
    const struct cursor *cursor = context;

    cursor->rows->value(cursor->rows->context, cursor->next - 1, column, value);
}

struct perfile_value pf_text_value(const char *text)
{
    if (!text)
        return (struct perfile_value){0};
    return (struct perfile_value){.kind = PERFILE_VALUE_TEXT, .data = (const uint8_t *)text, .bytes = strlen(text)};
}

struct perfile_value pf_number_value(uint64_t number)
{
    return (struct perfile_value){.kind = PERFILE_VALUE_UNSIGNED, .number.u = number};
}

struct perfile_value pf_bool_value(bool is_so)
{
    return (struct perfile_value){.kind = PERFILE_VALUE_BOOL, .number.u = is_so};
}

int pf_rows_put(const struct pf_rows *rows, struct pf_stream *stream, const char *verb, const char *format)
{
    struct cursor cursor = {.rows = rows};
    const struct perfile_rows from = {.size = sizeof(from),
                                      .view = rows->view,
                                      .columns = rows->columns,
                                      .column_count = rows->column_count,
                                      .next = next_row,
                                      .value = put_value,
                                      .context = &cursor};

    return pf_stream_put_rows(stream, verb, &from, format);
}

int pf_rows_print(const struct pf_rows *rows, const char *verb, const char *output, const char *format)
{
    struct pf_stream out;
    int status = pf_stream_open(&out, output), written;

    if (status)
        return status;
    status = pf_rows_put(rows, &out, verb, format);
    written = pf_stream_close(&out, !status);
    return status ? status : written;
}
