/* SPDX-License-Identifier: MIT */
/* Where engines over events take their records from: all of the recording, in order, filtered. */
#ifndef PF_ANALYSIS_EVENTS_SOURCE_H
#define PF_ANALYSIS_EVENTS_SOURCE_H

#include "analysis/delivery.h"

struct pf_event_source {
    const struct perfile_allocator *allocator;
    const struct perfile_filter *filter;                            /* may be NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_context;
};

/* A delivery that gives records that are no samples, too, and in which threads that ended keep their names. */
static inline int pf_event_source_open(const struct pf_event_source *source, struct perfile_reader *reader,
                                       struct pf_delivery **delivery, struct perfile_error *error)
{
    const struct pf_delivery_options options = {.allocator = source->allocator,
                                                .filter = source->filter,
                                                .gives_records = true,
                                                .reads_all = true,
                                                .keeps_comms = true,
                                                .progress = source->progress,
                                                .progress_context = source->progress_context};
    return pf_delivery_open(reader, &options, delivery, error);
}

#endif
