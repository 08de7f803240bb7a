/* SPDX-License-Identifier: MIT */
/*
 * Putting records in time order. Each ring buffer leaves a run of records with rising times in the file; a round of
 * the recorder is one run of each buffer. Records are copied into chunks as they come, the runs are noted, and a merge
 * of the runs gives the order. Nothing is sorted that is in order already.
 */
#ifndef PF_MODEL_ORDER_H
#define PF_MODEL_ORDER_H

#include "base/memory.h"

struct pf_order_chunk;

struct pf_order_run {
    struct pf_order_chunk *chunk; /* where its next record is */
    uint32_t at;
    uint64_t left; /* records */
    uint64_t time; /* of the next record */
};

/* What a run has next; earlier runs come first among equal times. */
struct pf_order_key {
    uint64_t time;
    uint32_t run; /* its position, or one that no run has: it is over */
};

struct pf_order {
    const struct perfile_allocator *allocator;
    struct pf_order_chunk *first; /* oldest chunk that is in use */
    struct pf_order_chunk *last;  /* the one that is filled */
    struct pf_order_chunk *spare;
    struct pf_order_run *runs; /* as they began; while flushing some are over */
    size_t run_count;
    size_t run_capacity;
    struct pf_order_key *losers; /* while flushing: losers of a tree of games between runs; [0]: the winner */
    size_t loser_capacity;
    uint64_t run_last_time; /* of the run that grows */
    uint64_t min_time;      /* of what is held */
    uint64_t max_time;      /* ever seen */
    uint64_t bytes;         /* held */
    bool flushing;
    uint64_t limit; /* while flushing: times up to this one come out */
};

void pf_order_open(struct pf_order *order, const struct perfile_allocator *allocator);
void pf_order_close(struct pf_order *order);
/* Holds a copy of the record. False when out of memory. Not while flushing. */
bool pf_order_push(struct pf_order *order, const struct perfile_record *record);
/* From now on records with a time up to `limit` come out of _pop, until it says that there are no more. */
void pf_order_flush(struct pf_order *order, uint64_t limit);
/* The next record in order, valid until the next call. NULL: flushing is done. */
const struct perfile_record *pf_order_pop(struct pf_order *order);

#endif
