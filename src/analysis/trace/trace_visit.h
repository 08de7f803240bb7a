/* SPDX-License-Identifier: MIT */
/* The fields of a tracepoint's sample, by name: for dumps. */
#ifndef PF_ANALYSIS_TRACE_TRACE_VISIT_H
#define PF_ANALYSIS_TRACE_TRACE_VISIT_H

#include <perfile/perfile.h>

#include "base/map.h"

/* Which tracepoint an event is, looked up once for each event; all of it by the thread that reads. */
struct pf_trace_events {
    struct perfile_reader *reader;
    struct pf_map of_event; /* index of an event to its tracepoint, a pointer; 0: not known */
};

void pf_trace_events_open(struct pf_trace_events *events, struct perfile_reader *reader,
                          const struct perfile_allocator *allocator);
void pf_trace_events_close(struct pf_trace_events *events);
/* Slow path of pf_trace_events_take. */
int pf_trace_events_find(struct pf_trace_events *events, const struct perfile_record *record,
                         const struct perfile_tracepoint **tracepoint, struct perfile_error *error);

/*
 * To be called for each record. *tracepoint becomes that of the sample, or NULL when the record has none or its fields
 * are not known (yet). It is valid as long as the reader. Returns 0, MEMORY, or once LIMIT when the descriptions are
 * larger than a feature may be; *tracepoint is NULL then.
 */
static inline int pf_trace_events_take(struct pf_trace_events *events, const struct perfile_record *record,
                                       const struct perfile_tracepoint **tracepoint, struct perfile_error *error)
{
    const bool is_sample =
        record->event && record->event->attr->type == PERFILE_TYPE_TRACEPOINT && record->type == PERFILE_RECORD_SAMPLE;
    *tracepoint = NULL;
    if (!is_sample && record->type != PERFILE_RECORD_HEADER_TRACING_DATA)
        return 0;
    return pf_trace_events_find(events, record, tracepoint, error);
}

/*
 * Visits the fields that the sample's data holds as an object called "trace", without those that all tracepoints have.
 * Visits nothing when there are none. `record` may be a copy. `swap`: the recording's byte order is not this machine's.
 * Returns 0 or STOPPED.
 */
int pf_trace_visit(const struct perfile_tracepoint *tracepoint, const struct perfile_record *record, bool swap,
                   const struct perfile_visitor *visitor);

#endif
