/* SPDX-License-Identifier: MIT */
/* Recordings that a statement asks, and the rows of a view of all of them. */
#ifndef PERFILE_CLI_QUERY_SOURCE_H
#define PERFILE_CLI_QUERY_SOURCE_H

#include "../inputs.h"

#include <perfile/table.h>

#include <signal.h>

/* A reader serves one table at a time: each cursor has its own. */
struct pf_lent {
    struct pf_input input;
    bool busy, used;
    struct pf_lent *next;
};

struct pf_source {
    const char *name;
    char *host;     /* owned; NULL: not recorded */
    bool was_asked; /* all of it, with nothing but the filter of the command line: what that matches was said */
    struct pf_lent *readers;
};

struct pf_sources {
    struct pf_inputs inputs;
    char **paths; /* what is opened for the inputs; owned */
    size_t path_count;
    struct pf_source *each; /* owned; of inputs.count */
    size_t count;
    const struct pf_settings *settings;
    struct pf_progress progress;
    bool shows_progress;
    volatile sig_atomic_t *stopped;
    bool is_declaring; /* a table: to SQLite that is writing */
    int code;          /* of the first error of a recording */
    struct perfile_error error;
    const struct pf_source *failed; /* whose it is */
};

/* Which of the SQL tables this is: a view, maybe with rows of its own kind. */
struct pf_relation {
    const char *name, *view, *keys, *doc;
};

/* A column of a SQL table. */
struct pf_field {
    char *name; /* owned */
    uint32_t type;
    bool shown;
};

/* Columns of a relation, those of all recordings together. */
struct pf_fields {
    struct pf_field *all; /* owned */
    size_t count;
    uint8_t *types; /* [source][field]: PF_NO_FIELD where the recording has none; owned */
};
enum { PF_NO_FIELD = 0xff };

/* PF_STATUS_OK, or another when a message was printed. The inputs are open. */
int pf_recordings_open(struct pf_sources *sources, const struct pf_settings *settings);
/* Says what the first error of a recording was; the exit status for it. */
int pf_sources_complain(const struct pf_sources *sources);
void pf_recordings_close(struct pf_sources *sources);
/* 0, or an error, which is in sources->error. */
int pf_fields_find(struct pf_sources *sources, const struct pf_relation *relation, struct pf_fields *fields);
void pf_fields_free(struct pf_fields *fields);

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

struct pf_cell {
    enum { PF_CELL_NULL, PF_CELL_INTEGER, PF_CELL_REAL, PF_CELL_TEXT, PF_CELL_LIST } kind;
    int64_t integer;
    double real;
    const char *text;
    size_t bytes;
};

struct pf_batch {
    struct ArrowArray array;
    const struct pf_source *source;
    const struct ArrowArray **columns; /* by field; NULL: none; owned */
    const uint8_t *types;              /* by field */
};

/* What is read. */
struct pf_request {
    const struct pf_relation *relation;
    const struct pf_fields *fields;
    const bool *wanted; /* by field */
    struct perfile_filter filter;
    const char *recording; /* this alone; NULL: all */
    bool is_pushed;        /* the filter has conditions of the statement */
};

struct pf_scan {
    struct pf_sources *sources;
    const struct pf_request *request;
    size_t next; /* source */
    struct pf_lent *lent;
    struct perfile_table *table;
};

void pf_scan_start(struct pf_scan *scan, struct pf_sources *sources, const struct pf_request *request);
/* 1, 0 at the end, or an error. The batch is the caller's. */
int pf_scan_next(struct pf_scan *scan, struct pf_batch *batch);
void pf_scan_end(struct pf_scan *scan);
void pf_batch_free(struct pf_batch *batch);
void pf_batch_cell(const struct pf_batch *batch, size_t field, int64_t row, struct pf_cell *cell);
/* Element `nth` of a list; false behind the last. */
bool pf_batch_element(const struct pf_batch *batch, size_t field, int64_t row, int64_t nth, struct pf_cell *cell);

#endif
