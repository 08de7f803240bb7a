/* SPDX-License-Identifier: MIT */
/*
 * Work in stages on several threads, with results in order. Items go round: each passes all stages, one after the
 * other, then the caller has it, then it starts again. A serial stage works on one item at a time, in order, so it may
 * keep state; a parallel stage works on several at once. Threads run any stage that is ready, and so does the caller
 * while it waits: no stage needs a thread of its own, and results never depend on the number of threads.
 *
 * Without further threads, or with only one processor, the caller runs all stages, one item at a time.
 */
#ifndef PF_BASE_STAGES_H
#define PF_BASE_STAGES_H

#include "base/workers.h"

enum { PF_STAGES_MAX = 4 };

struct pf_stage {
    /*
     * Does the work on an item. The first stage returns false when this item is the last one; the return values of the
     * others are ignored. `worker` is below the number of threads, and no two calls at a time have the same; 0 is the
     * caller.
     */
    bool (*work)(void *context, void *item, unsigned worker);
    bool parallel; /* the first stage cannot be */
};

struct pf_stages_plan {
    const struct pf_stage *stages;
    unsigned stage_count;
    unsigned threads; /* the caller included; 0 is 1 */
    unsigned alone;   /* so many items the caller does alone: for fewer, others take longer to start than to work */
    void *context;
    void *items; /* an array; the caller that opens the stages makes and releases it */
    size_t item_bytes;
    unsigned item_count; /* at least 1; pf_stages_items says how many are good */
};

struct pf_stages;

/* Enough items to keep so many threads busy. */
static inline unsigned pf_stages_items(unsigned threads)
{
    if (threads > PF_THREADS_MAX)
        threads = PF_THREADS_MAX;
    return threads > 1 ? 2 * threads + 1 : 1;
}

/* NULL when out of memory. Threads that cannot be had are done without. */
struct pf_stages *pf_stages_open(const struct pf_stages_plan *plan, const struct perfile_allocator *allocator);
/* The next item that has passed all stages; the one before goes back. NULL after the last one. */
void *pf_stages_next(struct pf_stages *stages);
/* Ends what is being done, drops the rest. When this returns, no other thread is left. NULL is taken. */
void pf_stages_close(struct pf_stages *stages);

#endif
