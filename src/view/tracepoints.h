/* SPDX-License-Identifier: MIT */
/* The fields of tracepoints as columns: `trace_prev_pid` is that field of all events that have one. */
#ifndef PF_VIEW_TRACEPOINTS_H
#define PF_VIEW_TRACEPOINTS_H

#include "analysis/trace/trace_format.h"
#include "analysis/trace/trace_text.h"
#include "view/view.h"

struct pf_tracepoint_fields;

/* To be the first member of a view's state, which is what the functions of its columns are given. */
struct pf_tracepoints {
    struct perfile_table *table;
    struct pf_arena arena;
    struct pf_trace_texts texts;
    struct pf_text scratch;
    struct pf_tracepoint_column {
        const char *name;
        unsigned type; /* enum perfile_column_type */
    } * columns;
    size_t count, capacity;
    struct pf_map of_event; /* index of the event to its struct pf_tracepoint_fields */
    const struct perfile_event *event;
    const struct pf_tracepoint_fields *fields; /* of the event in hand; NULL: none */
    const struct perfile_bytes *raw;
    bool swap;
};

/* Adds the columns of all tracepoints among the events that are known. False when out of memory. */
bool pf_tracepoints_add(struct pf_tracepoints *tracepoints, struct perfile_table *table);
void pf_tracepoints_close(struct pf_tracepoints *tracepoints);
/* The sample in hand; `raw` must stay until the next one. */
void pf_tracepoints_take(struct pf_tracepoints *tracepoints, const struct perfile_event *event,
                         const struct perfile_bytes *raw);
/* Its text, or null. */
void pf_tracepoints_put_text(struct pf_tracepoints *tracepoints, struct pf_vector *vector);

#endif
