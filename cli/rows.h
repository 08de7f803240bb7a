/* SPDX-License-Identifier: MIT */
/* Rows that a verb has made itself, in any format of tables. */
#ifndef PERFILE_CLI_ROWS_H
#define PERFILE_CLI_ROWS_H

#include "stream.h"

#include <perfile/table.h>

#define PF_COLUMN(what, as, text) PF_COLUMN_IN(what, NULL, as, text)
#define PF_COLUMN_IN(what, of, as, text)                                                                               \
    &(const struct perfile_column)                                                                                     \
    {                                                                                                                  \
        .size = sizeof(struct perfile_column), .name = what, .unit = of, .type = as, .doc = text                       \
    }

struct pf_rows {
    const char *view;
    const struct perfile_column *const *columns;
    size_t column_count, row_count;
    /* Sets the value that a column has in a row, if there is one; its data must live until the next call. */
    void (*value)(void *context, size_t row, size_t column, struct perfile_value *value);
    void *context;
};

/* A value for the function above; NULL: none. */
struct perfile_value pf_text_value(const char *text);
struct perfile_value pf_number_value(uint64_t number);
struct perfile_value pf_bool_value(bool is_so);

/* As pf_stream_put_rows. */
int pf_rows_put(const struct pf_rows *rows, struct pf_stream *stream, const char *verb, const char *format);
/* The same to a file; NULL: to standard output. */
int pf_rows_print(const struct pf_rows *rows, const char *verb, const char *output, const char *format);

#endif
