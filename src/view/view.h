/* SPDX-License-Identifier: MIT */
/*
 * How views make tables. A view is one file with its `const struct pf_view` and a line in views.def: it names its
 * columns, goes from row to row, and each column puts its value of the row in hand. Which columns are shown, batches,
 * Arrow and the formats are no business of views.
 *
 *     table.c       which columns; batches of rows
 *     vector.h      the values of one column
 *     dictionary.c  its distinct texts
 *     arrow.c       the Arrow C data interface
 *     reading.h     for views that read records themselves
 *     profiled.h    for views of an aggregated profile
 */
#ifndef PF_VIEW_VIEW_H
#define PF_VIEW_VIEW_H

#include <perfile/table.h>

#include "analysis/events/fields.h"
#include "analysis/complete_options.h"
#include "base/note.h"
#include "base/text.h"
#include "view/vector.h"

/* Rows of a view's table of columns; put_<name> puts it. */
#define PF_COLUMN_AS(field, kind, what, text, ...)                                                                     \
    {                                                                                                                  \
        .name = #field, .type = PERFILE_COLUMN_##kind, .unit = what, .doc = text, .put = put_##field, __VA_ARGS__      \
    }
#define PF_COLUMN(field, kind, what, text) PF_COLUMN_AS(field, kind, what, text, .extra = false)
#define PF_EXTRA(field, kind, what, text) PF_COLUMN_AS(field, kind, what, text, .extra = true)
/* Never null. */
#define PF_REQUIRED(field, kind, what, text) PF_COLUMN_AS(field, kind, what, text, .required = true)
#define PF_REQUIRED_EXTRA(field, kind, what, text)                                                                     \
    PF_COLUMN_AS(field, kind, what, text, .required = true, .extra = true)
#define PF_PUT(name) static void put_##name(void *state, struct pf_vector *vector)
/* In one line: `in_hand` declares what the value (`...`) comes from, and set(vector, value) sets it. */
#define PF_PUT_AS(name, in_hand, set, ...)                                                                             \
    PF_PUT(name)                                                                                                       \
    {                                                                                                                  \
        in_hand;                                                                                                       \
        set(vector, __VA_ARGS__);                                                                                      \
    }
/* The same where it is known; otherwise it is null. */
#define PF_PUT_IF(name, in_hand, known, set, ...)                                                                      \
    PF_PUT(name)                                                                                                       \
    {                                                                                                                  \
        in_hand;                                                                                                       \
        if (known)                                                                                                     \
            set(vector, __VA_ARGS__);                                                                                  \
        else                                                                                                           \
            pf_set_null(vector);                                                                                       \
    }

/* Columns that a view may have. */
struct pf_column_list {
    const struct pf_column *items;
    size_t count;
};
#define PF_COLUMNS(array)                                                                                              \
    {                                                                                                                  \
        (array), PF_COUNT(array)                                                                                       \
    }

struct pf_view {
    struct perfile_view_info info;
    const struct pf_required_events *events; /* that it reads; NULL: those that there are, whatever they are */
    struct pf_column_list lists[2];          /* all columns that it may have, whatever the recording ... */
    /* ... and more columns after these; false: there are no more. NULL means none. */
    bool (*column_at)(size_t index, struct pf_column *column);
    const char *own_key;              /* in perfile_table_options.keys: the key for which its rows differ; NULL: none */
    const struct pf_view *by_own_key; /* the view that has these rows; NULL: this one */
    bool reads_aux;                   /* its rows are of AUX data: these are not left out */
    const char *answers; /* the columns that stay on a narrow terminal: "avg_ns,max_ns"; NULL: the first time or size */
    unsigned not_filtered; /* PF_FILTER_...: parts of a filter that say nothing about its rows, and are refused */
    /* Of its state, which is zeroed but for the table that it begins with; 0: there is a state before it is opened. */
    size_t state_bytes;
    /*
     * Where the view has one list of columns, they are there; otherwise it adds its columns (pf_table_add). The state
     * is passed to all other functions, and to _close also after an error.
     */
    int (*open)(struct perfile_table *table, void *state, struct perfile_error *error);
    /* The next row: 1, 0 at the end, or an error. */
    int (*next)(void *state, struct perfile_error *error);
    void (*close)(void *state); /* frees what the state holds; NULL: nothing */
    /* NULL: those of the table's profile or delivery; without these nothing is left out. */
    void (*losses)(const void *state, struct perfile_losses *losses);
    /* At the end. NULL: the same; without these filters do not matter. */
    void (*unmatched)(const void *state, perfile_on_unmatched *reported_unmatched, void *context);
    /* At the end: something could not be read that the reader does not count as damage. May be NULL: nothing. */
    bool (*found)(const void *state);
    /* At the end: reports what the recording does not have for its rows, a sentence at a time. May be NULL: nothing. */
    void (*notes)(void *state, pf_on_note *reported_unmatched, void *context);
};

/* Of views that read all before their first row. */
struct pf_all_rows {
    bool read;
    int result; /* how the reading ended */
    struct perfile_error error;
    size_t row, next; /* the one in hand, and the next one */
};

struct perfile_table {
    const struct pf_view *view;
    struct pf_view own; /* of rows that the caller has */
    void *state;
    struct perfile_reader *reader;        /* NULL: rows of the caller's */
    struct perfile_table_options options; /* points at the complete ones */
    struct pf_complete_options complete;
    struct perfile_event_options events;       /* what the options point at */
    const struct perfile_output_options *verb; /* that the table is an output of, or NULL */
    struct pf_all_rows all;
    const struct pf_profile *profile; /* what the view reads, which it sets, or NULL; the same: */
    struct pf_delivery *delivery;     /* which the table closes */
    struct pf_watch watch; /* its allocator is that of the table */
    const struct perfile_allocator *allocator;
    const struct perfile_allocator *lasting; /* of what outlives the table */
    struct pf_vector *columns;               /* those that are shown first */
    size_t column_count, column_capacity, shown;
    size_t max_rows, max_items; /* of a batch */
    size_t capacity;            /* rows of the batch that is filled: the first one is small, as most tables are */
    size_t rows;                /* of the batch that is filled */
    bool is_full;               /* it has as many rows, items of a list or texts as it may have */
    bool has_fresh;             /* texts of some columns are for one batch */
    int pending; /* what ended the rows: 1 nothing yet, 0 the end, or an error, which follows the rows before it */
    struct perfile_error error;
    bool reported_unmatched; /* filter values without a match were reported */
};

/* perfile_table_open for an output of a verb, by what that was asked for, which must live as long. */
int pf_table_open_for(const struct perfile_output_options *verb, struct perfile_reader *reader, const char *view,
                      struct perfile_table **table, struct perfile_error *error);
/*
 * A table without a view, of a recording or none (NULL); *table must be closed also after an error, unless it is NULL.
 */
int pf_table_make(struct perfile_reader *reader, const struct perfile_table_options *options,
                  struct perfile_table **table, struct perfile_error *error);
/* Opens the view that it was given; closes the table when that fails. */
int pf_table_start(struct perfile_table **table, struct perfile_error *error);
/* A column, whose texts must live as long as the table. False when out of memory. */
bool pf_table_add(struct perfile_table *table, const struct pf_column *column);
bool pf_table_add_all(struct perfile_table *table, const struct pf_column *columns, size_t count);
/*
 * Of these columns ("lock,pid") rows have nothing: they are shown only when they are asked for. Before the view is
 * open.
 */
void pf_table_hide(struct perfile_table *table, const char *names);
/*
 * By which of two things the caller wants rows, the first without keys. ARGUMENT: `what` ("pages") is added up by
 * neither.
 */
int pf_table_by_second(const struct perfile_table *table, const char *what, const char *const keys[2], bool *second,
                       struct perfile_error *error);
/*
 * For views that read all before their first row: rows that are known by then come also where the reading ended with an
 * error. 1 and table->all.row, 0 at the end, or the error.
 */
int pf_table_row(struct perfile_table *table, size_t count, struct perfile_error *error);
/* What the reader lost, and `filtered` records. */
void pf_table_count_losses(const struct perfile_table *table, uint64_t filtered, struct perfile_losses *losses);
/* Of so many rows, as many as are wanted. */
size_t pf_table_rows(const struct perfile_table *table, size_t count);
/* For views that spare themselves work: may a column of this name be shown? */
bool pf_table_may_show(const struct perfile_table *table, const char *name);
/* Once rows are asked for: is it shown? */
bool pf_table_shows(const struct perfile_table *table, const char *name);
/*
 * Fills the vectors with the next rows, after the last ones were taken or thrown away: 1, 0 at the end, or an error.
 */
int pf_table_fill(struct perfile_table *table, struct perfile_error *error);
/* The rows are not needed any more. */
void pf_table_drop_rows(struct perfile_table *table);
/* Batches from now on have about as many rows and items of lists at most, where that is less. */
void pf_table_limit(struct perfile_table *table, size_t rows, size_t items);

/*
 * The rows of a table that were taken, in vectors of their own: any thread may look at them while the table is filled
 * again.
 */
struct pf_batch {
    struct pf_vector *columns; /* as many as are shown */
    size_t column_count;
    size_t rows;
};
/* From now on batches may be taken: texts stay where they are until the table is closed. */
void pf_table_keep_texts(struct perfile_table *table);
/* The batch is empty: zeroes, or what pf_batch_end left. False when out of memory. */
bool pf_table_take(struct perfile_table *table, struct pf_batch *batch);
/* Gives back the rows. */
void pf_batch_end(struct pf_batch *batch);
/* The same, and all else; zeroes are taken. */
void pf_batch_close(struct pf_batch *batch, const struct perfile_allocator *allocator);
/* "u64". */
const char *pf_column_type_name(unsigned type);

#endif
