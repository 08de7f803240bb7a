/* SPDX-License-Identifier: MIT */
/* Where the trace of a queue is read from for samples from a time on. */
#ifndef PF_HWTRACE_SLICE_H
#define PF_HWTRACE_SLICE_H

#include "hwtrace/queues.h"

struct pf_aux_slice {
    const struct perfile_allocator *allocator;
    const struct pf_aux_format *format;
    struct pf_aux_machine machine;
    const struct perfile_time_conv *clock;
    pf_aux_read *read;
    void *context;
    uint64_t first; /* ns */
};

/* A byte of a queue. */
struct pf_aux_position {
    size_t buffer;
    uint64_t at;
};

/*
 * A synchronization whose time is not after slice->first, as late as can be found with few reads: 1, 0 when the trace
 * has to be read from its start, or an error.
 */
int pf_aux_slice_start(const struct pf_aux_slice *slice, const struct pf_aux_queue *queue,
                       struct pf_aux_position *start, struct perfile_error *error);

#endif
