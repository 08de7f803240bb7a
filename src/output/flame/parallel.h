/* SPDX-License-Identifier: MIT */
/*
 * How many threads ran over time, from records of context switches: the mean in each of some thousand pieces of time.
 * Idle tasks do not count. The pieces grow as long as there are too many of them.
 */
#ifndef PF_OUTPUT_FLAME_PARALLEL_H
#define PF_OUTPUT_FLAME_PARALLEL_H

#include <perfile/perfile.h>

#include "base/map.h"

/* All zeros may be closed, too. */
struct pf_flame_parallel {
    struct perfile_reader *reader;
    struct pf_map threads; /* by thread: 1, it runs; 0, it does not */
    uint64_t from, until;  /* what the pieces cover, in ns */
    uint64_t width;        /* of a piece; 0: there was no switch */
    double *weights;       /* of pieces: ns of all threads that were seen to begin */
    size_t count, capacity;
    int64_t running;     /* less those that ran from the beginning on */
    uint64_t from_start; /* threads that ran before the first switch, and were seen to end that */
};

void pf_flame_parallel_open(struct pf_flame_parallel *parallel, struct perfile_reader *reader,
                            const struct perfile_allocator *allocator);
void pf_flame_parallel_close(struct pf_flame_parallel *parallel);
/* Each record in the order of time. False: out of memory. */
bool pf_flame_parallel_take(struct pf_flame_parallel *parallel, const struct perfile_record *record);
/* Threads run until `time`. False: out of memory. */
bool pf_flame_parallel_end(struct pf_flame_parallel *parallel, uint64_t time);
/* The thousandfold of how many ran on average in a piece; not more than the machine has processors. */
uint64_t pf_flame_parallel_at(const struct pf_flame_parallel *parallel, size_t piece);

#endif
