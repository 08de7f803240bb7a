/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile in blocks, on any number of threads:
 *
 *     read -> look up -> find out -> finish -> the caller
 *
 * Who reads takes the samples from the delivery, with copies of what their stacks are made of. Any threads look up the
 * addresses in what is known already; what is not known, and stacks that need binaries, is found out in the order of the
 * samples, one block after the other, so that numbers of frames and modules, notes and counts are the same for every number
 * of threads. Then any threads make rows of frames. With one thread all that is done by the caller, block by block.
 *
 * Two threads are never short of work, and what they lose is what goes from one processor's cache to the other's: with each
 * sample 80 bytes and its places, and its callchain where the reader has no time to look it up itself. So blocks are small, a
 * sample in one is smaller than that which the caller gets, and what the reader changes all the time stands apart from what
 * the others look at.
 */
#ifndef PF_ANALYSIS_PROFILE_BLOCKS_H
#define PF_ANALYSIS_PROFILE_BLOCKS_H

#include "analysis/guard.h"
#include "analysis/profile.h"
#include "analysis/stack.h"

struct pf_blocks;

/* All of it must outlive the blocks. */
struct pf_blocks_options {
    const struct perfile_allocator *allocator;
    struct pf_frames *frames;
    enum pf_unwind_policy policy;
    unsigned threads;
    struct pf_guard *guard;
    pf_on_note *note; /* guarded; NULL: not needed */
    void *note_context;
};

/* NULL when out of memory. */
struct pf_blocks *pf_blocks_open(const struct pf_blocks_options *options);
/* Sets what the delivery and what finds its code of JITs are to be opened with: notes of these come in order, too. */
void pf_blocks_watch(struct pf_blocks *blocks, struct pf_delivery_options *delivery, struct pf_find_options *find);
/* Then nobody else uses the delivery and the frames until the end. */
void pf_blocks_begin(struct pf_blocks *blocks, struct pf_delivery *delivery);
/* 1, 0 at the end, or an error: at these two no thread is left. Adds to the totals what comes with the sample's block. */
int pf_blocks_next(struct pf_blocks *blocks, const struct pf_profile_sample **sample, struct pf_profile_totals *totals,
                   struct perfile_error *error);
/* How many frames the samples that were given can have. */
size_t pf_blocks_frame_count(const struct pf_blocks *blocks);
/* Ends the threads. */
void pf_blocks_stop(struct pf_blocks *blocks);
/* NULL is taken. */
void pf_blocks_close(struct pf_blocks *blocks);

#endif
