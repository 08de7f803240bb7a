/* SPDX-License-Identifier: MIT */
/*
 * Cycles of basic blocks: branch stacks with cycles say how long the code up to each branch took since the branch before
 * it. For report --total-cycles and the view blocks.
 */
#ifndef PF_ANALYSIS_BASIC_BLOCKS_H
#define PF_ANALYSIS_BASIC_BLOCKS_H

#include "analysis/profile.h"
#include "base/pairs.h"
#include "base/text.h"

#define PF_BLOCK_NO_START UINT64_MAX

/* Code of one function that ends with a branch. Of blocks with the same end, the longest one is shown, for all of them. */
struct pf_basic_block {
    uint32_t event;       /* index */
    uint32_t start_frame; /* of the address; that of the function where the start is not known */
    uint32_t end_frame;
    uint64_t start; /* offset in the function, or PF_BLOCK_NO_START: every branch before it was in another function */
    uint64_t end;
    uint64_t count; /* how often its branch was taken, with cycles */
    uint64_t cycles;
};

/* What the samples of an event have in all. */
struct pf_block_event {
    const struct perfile_event *event; /* NULL: no samples */
    uint64_t samples, branches;
    uint64_t cycles; /* of all branches, also those in code without a symbol */
    double averages; /* the sum of what each block takes on average */
};

/* Zeroes may be closed, too. */
struct pf_basic_blocks {
    const struct perfile_allocator *allocator;
    struct pf_profile *profile;
    struct pf_basic_block *items; /* at the end those of an event together, the most cycles first */
    size_t count, capacity;
    struct pf_block_event *events; /* by index */
    size_t event_count, event_capacity;
    struct pf_pairs index; /* event and frame of the end to the block */
};

/* The profile has decoded samples and frames that are addresses; it must live as long. */
void pf_basic_blocks_open(struct pf_basic_blocks *blocks, struct pf_profile *profile,
                          const struct perfile_allocator *allocator);
void pf_basic_blocks_close(struct pf_basic_blocks *blocks);
/* Adds the branches of a sample; `blocks` is a struct pf_basic_blocks. False when out of memory. */
bool pf_basic_blocks_take(void *blocks, const struct pf_profile_sample *sample);
/* When all samples are in: brings the blocks into their order. */
void pf_basic_blocks_end(struct pf_basic_blocks *blocks);
/* Cycles that the block takes on average. */
double pf_basic_block_average(const struct pf_basic_block *block);
/* The source line of the start or the end as "file.c:8", without debug info as function and offset. */
void pf_basic_block_put_line(const struct pf_basic_blocks *blocks, const struct pf_basic_block *block, bool of_start,
                             bool full_path, struct pf_text *text);

#endif
