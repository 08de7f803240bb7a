/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of the branch hardware (perf record --call-graph lbr) that continue those of the sample before: the
 * member stitches_calls of struct perfile_filter. The hardware has few registers for calls. A new call takes the next
 * one, in a ring, and a return gives it back: so a register that has the same call in two samples of a thread in a row
 * has it for the same stack, and what older registers had in the first sample are its callers, although newer calls
 * took their registers since then. As perf, this may be wrong for programs that leave functions without returning.
 */
#ifndef PF_ANALYSIS_STITCHING_H
#define PF_ANALYSIS_STITCHING_H

#include "analysis/delivered.h"
#include "base/map.h"

struct pf_stitched; /* the branches of the last sample of a thread, and the callers that were found for it */

struct pf_stitching {
    const struct perfile_allocator *allocator;
    struct pf_map numbers; /* of threads */
    struct pf_stitched *threads;
    size_t count, capacity;
    uint64_t registers; /* of the branch hardware; 0: not known */
    bool active;
    bool knows_registers; /* they were looked up */
    bool stitched;        /* any sample */
};

void pf_stitching_open(struct pf_stitching *stitching, const struct perfile_filter *wanted,
                       const struct perfile_allocator *allocator);
void pf_stitching_close(struct pf_stitching *stitching);
/* A feature of the recording was read. */
static inline void pf_stitching_look_again(struct pf_stitching *stitching)
{
    stitching->knows_registers &= stitching->registers != 0;
}
/*
 * Sets item->user_chain to the callers that the branches of the sample no longer have. To be called for each sample in
 * the order of time; they are valid until the next call. False: out of memory.
 */
bool pf_stitching_take(struct pf_stitching *stitching, struct perfile_reader *reader, struct pf_delivered *item);
/* At the end: reports that no stack was continued. `notify` may be NULL. */
void pf_stitching_notify(const struct pf_stitching *stitching, perfile_on_unmatched *notify, void *context);

#endif
