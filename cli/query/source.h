/* SPDX-License-Identifier: MIT */
/*
 * What a statement asks: recordings, or Parquet files that were made of them, as tables of SQL with the rows of all.
 *
 *     source.c     columns, batches and values of both kinds
 *     recording.c  recordings: each is a source of every table
 *     parquet.c    Parquet files: each is a source of one table
 */
#ifndef PERFILE_CLI_QUERY_SOURCE_H
#define PERFILE_CLI_QUERY_SOURCE_H

#include "../inputs.h"

#include <perfile/table.h>

#include <signal.h>

struct pf_cell {
    enum {
        PF_CELL_NULL,
        PF_CELL_INTEGER,
        PF_CELL_REAL,
        PF_CELL_TEXT,
        PF_CELL_LIST,
        PF_CELL_OTHER /* of a key: the rows have it */
    } kind;
    int64_t integer;
    double real;
    const char *text;
    size_t bytes;
};

/* Compares cells of one kind in the order of SQLite. */
int pf_cell_compare(const struct pf_cell *a, const struct pf_cell *b);

/* A reader serves one table at a time: each cursor has its own. */
struct pf_lent {
    struct pf_input input;
    bool busy, used;
    struct pf_lent *next;
};

struct pf_source {
    const char *argument; /* what the command line calls it */
    struct pf_cell *keys; /* values that all of its rows have, by position in pf_sources.keys; texts are owned */
    struct pf_lent *lent; /* readers of a recording */
    bool was_asked;       /* a recording, with the filter of the command line alone: its unmatched parts are reported */
    char **paths;         /* of Parquet files with the same columns; owned */
    size_t path_count;
};

/* A table of SQL. */
struct pf_relation {
    char *name; /* owned */
    const char *doc;
    const char *view, *keys; /* of recordings */
    const char *distinct;    /* of Parquet files: a column of ids, each of which has one row; NULL: all rows */
    struct pf_source *sources;
    size_t source_count;
    size_t key_count; /* its first columns are so many of the keys */
    bool is_uniform;  /* the columns of one source are those of all */
};

/* Tables that have each row of another one once, by a column of ids. */
struct pf_distinct {
    const char *name, *view, *keys, *column, *doc;
};
enum { PF_DISTINCT = 2 };
extern const struct pf_distinct pf_distinct[PF_DISTINCT];

/* The keys that all tables have. */
enum { PF_KEY_RECORDING, PF_KEY_HOST, PF_FIXED_KEYS };

/* Columns that have one value in all rows of a source. */
struct pf_key {
    char *name; /* owned */
    bool is_number;
};

struct pf_request;
struct pf_opened;
struct pf_sources;

/* Recordings, or Parquet files. */
struct pf_source_kind {
    /* Opens a table of opened->source; `request` NULL: for its columns alone. 0, or an error. */
    int (*open)(struct pf_sources *sources, const struct pf_relation *relation, const struct pf_request *request,
                struct pf_opened *opened);
    void (*close)(struct pf_opened *opened);
    bool has_files; /* an unreadable file is an error only when its rows are read */
};

struct pf_sources {
    const struct pf_source_kind *kind;
    struct pf_inputs inputs; /* recordings */
    char **paths;            /* that are opened for the inputs; owned */
    size_t path_count;
    struct pf_relation *relations; /* owned */
    size_t relation_count;
    struct pf_source *each; /* of all relations; owned */
    size_t count;
    struct pf_key *keys; /* owned */
    size_t key_count;
    const struct pf_settings *settings;
    struct pf_progress progress;
    bool shows_progress;
    volatile sig_atomic_t *stopped;
    bool is_declaring; /* a table: SQLite regards that as writing */
    int code;          /* of the first error of a source */
    struct perfile_error error;
    const struct pf_source *failed; /* the source that has it */
};

/* NULL: there is no table of this name. */
const struct pf_relation *pf_relation_find(const struct pf_sources *sources, const char *name);
/* Notes the first error of a source; `error` NULL: out of memory. Returns the code. */
int pf_sources_fail(struct pf_sources *sources, const struct pf_source *source, int code,
                    const struct perfile_error *error);
/* Prints a message about the first error of a source; the exit status for it. */
int pf_sources_complain(const struct pf_sources *sources);
void pf_sources_free(struct pf_sources *sources);
/* False: out of memory, here and below. */
bool pf_key_add(struct pf_sources *sources, const char *name);
bool pf_source_init(struct pf_sources *sources, struct pf_source *source, const char *argument);
/* `text` NULL: SQL's NULL. */
bool pf_source_set_key(struct pf_source *source, size_t key, const char *text);

/* The tables of recordings, which need not be open. PF_STATUS_OK, or another when a message was printed. */
int pf_recordings_list(struct pf_sources *sources, const struct pf_command *command);
/* The inputs are open. */
int pf_recordings_open(struct pf_sources *sources, const struct pf_settings *settings);
/* A folder of Parquet files, or one of them. */
bool pf_is_parquet(const char *path);
/* Finds the tables in the folders and files; none is opened. */
int pf_parquet_open(struct pf_sources *sources, const struct pf_command *command, const struct pf_settings *settings,
                    char **arguments, size_t count);

/* ---- columns ----------------------------------------------------------------------------------------------------- */

struct pf_field {
    char *name; /* owned */
    uint32_t type;
    bool shown;
};

/* Columns of a relation: the keys, then those of all sources by name. */
struct pf_fields {
    struct pf_field *all; /* owned */
    size_t count;
    uint8_t *types; /* [source][field]: PF_NO_FIELD where the source does not have it; owned */
};
enum { PF_NO_FIELD = 0xff };

/* 0, or an error, which is in sources->error. */
int pf_fields_find(struct pf_sources *sources, const struct pf_relation *relation, struct pf_fields *fields);
void pf_fields_free(struct pf_fields *fields);

/* ---- rows -------------------------------------------------------------------------------------------------------- */

struct pf_batch {
    struct ArrowArray array;
    const struct pf_source *source;
    size_t key_count;
    uint32_t first;                    /* of a store: the number of its first row */
    const struct ArrowArray **columns; /* by field; NULL: none; owned, with the types */
    uint8_t *types;                    /* by field */
};

/* The fields and rows that a statement needs. */
struct pf_request {
    const struct pf_relation *relation;
    const struct pf_fields *fields;
    const bool *wanted;   /* by field */
    const bool *selected; /* by source; NULL: all */
    struct perfile_filter filter;
    bool is_pushed; /* the filter has conditions of the statement */
};

/* A table of a source that is read. */
struct pf_opened {
    struct pf_source *source;
    struct pf_lent *lent;
    struct perfile_table *table;
};

struct pf_scan {
    struct pf_sources *sources;
    const struct pf_request *request;
    size_t next; /* source */
    struct pf_opened opened;
};

void pf_scan_start(struct pf_scan *scan, struct pf_sources *sources, const struct pf_request *request);
/* 1, 0 at the end, or an error. The batch is the caller's. */
int pf_scan_next(struct pf_scan *scan, struct pf_batch *batch);
void pf_scan_end(struct pf_scan *scan);
void pf_batch_free(struct pf_batch *batch);
void pf_batch_cell(const struct pf_batch *batch, size_t field, int64_t row, struct pf_cell *cell);
/* Element `nth` of a list; false after the last. */
bool pf_batch_element(const struct pf_batch *batch, size_t field, int64_t row, int64_t nth, struct pf_cell *cell);

#endif
