/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile in blocks, on any number of threads:
 *
 *     read -> look up -> find out -> finish -> the caller
 *
 * One thread reads the samples from the delivery and copies the data of their stacks. Any threads look up the addresses
 * that are known already. Addresses that are not known, and stacks that need binaries, are found in the order of the
 * samples, one block after the other, so that numbers of frames and modules, notes and counts are the same for every
 * number of threads. Then any threads make rows of frames. With one thread the caller does all that, block by block.
 *
 * Two threads always have work. Their cost is the data that goes from one processor's cache to the other's: for each
 * sample 80 bytes and its positions, and its callchain where the reader has no time to look it up itself. So blocks are
 * small, a sample in a block is smaller than the one that the caller gets, and members that the reader changes all the
 * time are in other cache lines than those that the others read.
 */
#ifndef PF_ANALYSIS_PROFILE_BLOCKS_H
#define PF_ANALYSIS_PROFILE_BLOCKS_H

#include "analysis/delivery.h"
#include "analysis/guard.h"
#include "analysis/profile_sample.h"
#include "analysis/stack.h"

struct pf_blocks;

/* All of it must outlive the blocks. */
struct pf_blocks_options {
    const struct perfile_allocator *allocator;
    struct pf_frames *frames;
    enum pf_unwind_policy policy;
    unsigned threads;
    bool decoded; /* samples have all that was recorded, of copies of their records */
    struct pf_guard *guard;
    pf_on_note *note; /* guarded; NULL: not needed */
    void *note_context;
};

/* NULL when out of memory. */
struct pf_blocks *pf_blocks_open(const struct pf_blocks_options *options);
/* Changes the options to open the delivery and the search for code of JITs with, so that their notes are in order. */
void pf_blocks_watch(struct pf_blocks *blocks, struct pf_delivery_options *delivery, struct pf_find_options *find);
/* From now on to the end the caller must not use the delivery and the frames. */
void pf_blocks_begin(struct pf_blocks *blocks, struct pf_delivery *delivery);
/*
 * Returns 1, 0 at the end, or an error: after 0 and errors no thread is running. Adds the totals of a block with its
 * first sample.
 */
int pf_blocks_next(struct pf_blocks *blocks, const struct pf_profile_sample **sample, struct pf_profile_totals *totals,
                   struct perfile_error *error);
/* The number of frames that the delivered samples can refer to. */
size_t pf_blocks_frame_count(const struct pf_blocks *blocks);
/* Ends the threads. */
void pf_blocks_stop(struct pf_blocks *blocks);
/* NULL is allowed. */
void pf_blocks_close(struct pf_blocks *blocks);

#endif
