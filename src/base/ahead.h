/* SPDX-License-Identifier: MIT */
/*
 * Items that are read in batches, with several threads by another one than the caller's: while the caller works on the
 * items of one batch, the next ones are read.
 */
#ifndef PF_BASE_AHEAD_H
#define PF_BASE_AHEAD_H

#include "base/bytes.h"
#include "base/memory.h"

/* What the reader has counted, which the caller may not look at while another thread reads. */
struct pf_ahead_counts {
    uint64_t lost, filtered; /* records or samples */
};

struct pf_ahead_plan {
    /* Reads an item: 1, 0 at the end, or an error. */
    int (*next)(void *context, void *item, struct perfile_error *error);
    struct pf_ahead_counts (*count)(const void *context); /* up to now */
    void *context;
    size_t item_bytes;
    unsigned threads; /* 0 is 1: the caller reads */
    bool one_by_one;  /* nothing is read before it is asked for, on one thread */
    const struct perfile_allocator *allocator;
};

struct pf_ahead_batch;
struct pf_stages;

/* All zeros may be stopped and closed, too. */
struct pf_ahead {
    struct pf_ahead_plan plan;
    struct pf_stages *stages; /* that fill the batches; NULL: not started, or stopped */
    struct pf_ahead_batch *batches;
    size_t batch_count, batch_items;
    char *item, *end; /* the next item of the batch in hand, and the end of its items */
    int result;       /* after these: 1 for the next batch, 0 at the end, or an error */
    struct perfile_error error;
    struct pf_ahead_counts counts; /* up to the end of the batch in hand */
};

/* Nothing is read yet. */
void pf_ahead_open(struct pf_ahead *ahead, const struct pf_ahead_plan *plan);
/* The next batch. 1, 0 at the end, or an error. */
int pf_ahead_fetch(struct pf_ahead *ahead, struct perfile_error *error);
/* From now on no other thread reads, and nothing follows the batch in hand. */
void pf_ahead_stop(struct pf_ahead *ahead);
void pf_ahead_close(struct pf_ahead *ahead);

/* 1 and *item, which is valid until the next call; 0 at the end, or an error. */
static inline int pf_ahead_next(struct pf_ahead *ahead, void **item, struct perfile_error *error)
{
    if (PF_UNLIKELY(ahead->item == ahead->end)) {
        const int result = pf_ahead_fetch(ahead, error);
        if (result <= 0)
            return result;
    }
    *item = ahead->item;
    ahead->item += ahead->plan.item_bytes;
    return 1;
}

#endif
