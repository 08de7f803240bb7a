/* SPDX-License-Identifier: MIT */
/* The formats of tables: one file each, with its `const struct pf_table_format` and a row in formats.h. */
#ifndef PF_OUTPUT_TABLE_FORMAT_H
#define PF_OUTPUT_TABLE_FORMAT_H

#include "base/json.h"
#include "view/view.h"

/* What outputs of verbs make of a table beyond its rows. All may be zero. */
struct pf_sheet_style {
    const char *separator; /* csv; NULL, "": "," */
    /* json: further members of the object, and of its list of notes */
    void (*put_members)(struct perfile_table *table, struct pf_json *json);
    void (*put_notes)(struct perfile_table *table, struct pf_json *json);
};

struct pf_sheet {
    struct perfile_table *table;
    struct pf_text *out;
    const struct pf_sheet_style *style;
    struct pf_text cell;             /* without a sink */
    uint64_t rows;                   /* written so far */
    const struct pf_vector *columns; /* those that are shown, with the rows in hand */
    size_t row_count;
    void *state; /* the format's own */
};

/*
 * `batch` in steps, for several threads: batches become parts and parts are written in the order of the rows, by one
 * thread each; between that any thread takes the part.
 */
struct pf_table_steps {
    void *(*open)(struct pf_sheet *sheet); /* a part; NULL when out of memory */
    void (*encode)(struct pf_sheet *sheet, void *part);
    void (*compress)(struct pf_sheet *sheet, void *part, unsigned worker);
    void (*put)(struct pf_sheet *sheet, void *part);
    void (*close)(struct pf_sheet *sheet, void *part); /* NULL is taken */
};

struct pf_table_format {
    const char *name;
    bool escapes;                          /* names may not have control characters */
    void (*begin)(struct pf_sheet *sheet); /* the first rows are in hand, if there are any */
    void (*row)(struct pf_sheet *sheet, size_t row);
    void (*end)(struct pf_sheet *sheet);
    /*
     * For files of columns, which are binary: called with all rows in hand, instead of `row`; else NULL. The table's
     * allocator reports that it is out of memory.
     */
    void (*batch)(struct pf_sheet *sheet);
    const struct pf_table_steps *steps;    /* NULL: it has none */
    void (*close)(struct pf_sheet *sheet); /* releases the state, which may be NULL; NULL means none */
};

static inline bool pf_vector_is_null(const struct pf_vector *vector, size_t row)
{
    return !(vector->valid[row / 8] >> row % 8 & 1);
}

/* All rows that are left: perfile_table_write into a text. */
int pf_table_write(struct perfile_table *table, const char *format, const struct pf_sheet_style *style,
                   struct pf_text *out, struct perfile_error *error);
/* Those in hand. */
void pf_table_put_rows(struct pf_sheet *sheet, const struct pf_table_format *format);
/*
 * team.c: writes the rows that are left, with the threads of the table's options. As pf_table_fill, which says 0 or an
 * error.
 */
int pf_table_team_write(struct pf_sheet *sheet, const struct pf_table_format *format, struct perfile_error *error);
/* 0, or ARGUMENT: the format is not for gzip files. */
int pf_table_check_gzip(bool gzip, const char *format, struct perfile_error *error);
struct pf_output; /* output/output.h */

/* An output of a verb that is a table. */
struct pf_table_output {
    const char *view, *format;
    struct pf_sheet_style style;
};
int pf_table_output_write(const struct pf_table_output *output, struct perfile_reader *reader,
                          const struct perfile_output_options *options, struct pf_text *out,
                          struct perfile_error *error);
/* The `write_table` of outputs whose rows are those of a view. */
int pf_view_write(const struct pf_output *output, struct perfile_reader *reader,
                  const struct perfile_output_options *options, struct pf_text *out, struct perfile_error *error);
int pf_report_write_table(const struct pf_output *output, struct perfile_reader *reader,
                          const struct perfile_output_options *options, struct pf_text *out,
                          struct perfile_error *error);
int pf_check_write_table(const struct pf_output *output, struct perfile_reader *reader,
                         const struct perfile_output_options *options, struct pf_text *out,
                         struct perfile_error *error);
/* As in the format json, {} of rows that are of no recording; `name` NULL: not in an object. */
void pf_table_put_recording(struct pf_json *json, const char *name, struct perfile_table *table);
void pf_table_put_losses(struct pf_json *json, const char *name, const struct perfile_table *table);
/* Puts one number or name: `at` is a row, or an item of lists. */
typedef void pf_table_item(struct pf_text *out, const struct pf_vector *vector, size_t at);
/* Exactly, without a unit. */
void pf_table_put_item(struct pf_text *out, const struct pf_vector *vector, size_t at);
/* The value of a row by `put`: lists with ';' between the items, nothing for null. */
void pf_table_put_value(struct pf_text *out, const struct pf_vector *vector, size_t row, pf_table_item *put);

#endif
