/* SPDX-License-Identifier: MIT */
/* What a delivery gives, one after the other (delivery.h), and what synthesizers complete (synthesizer.h). */
#ifndef PF_ANALYSIS_DELIVERED_H
#define PF_ANALYSIS_DELIVERED_H

#include <perfile/analysis.h>

#include "base/bytes.h"

struct pf_call; /* calls/stacks.h */

/* What a sample of a decoded trace has besides the parts of its record. */
struct pf_traced {
    uint32_t flags;             /* of the branch, enum pf_flow_flags */
    uint32_t insn_bytes;        /* of the instruction; 0: not known */
    uint32_t depth;             /* of calls, after the branch */
    uint64_t insns, cycles;     /* since the last sample that has them; 0: not known */
    uint64_t alike;             /* so many more samples are the same, but for their times; the period is that of all */
    const struct pf_call *call; /* that it stands for, until the next sample is delivered; NULL: none */
};

/*
 * A sample, or another record. The bytes that `record`, `sample` and `user_chain` point at are valid until the next
 * call of pf_delivery_next; all else is valid as long as the delivery. So a sample whose bytes are copied can be
 * decoded and resolved at any time by any thread.
 */
struct pf_delivered {
    const struct perfile_record *record;
    const struct perfile_event *event;        /* of the counter, where a group was read; NULL: not known */
    struct perfile_sample sample;             /* pid, tid, time and cpu are -1 where they were not recorded */
    uint64_t id;                              /* of the event instance */
    const char *comm;                         /* interned: equal names are equal pointers */
    const struct perfile_space *kernel_space; /* NULL: nothing is mapped, or maps are not followed */
    const struct perfile_space *user_space;
    /* follows sample.callchain: the user part, when it came later, or callers beyond the branches (stitching.h) */
    struct perfile_u64s user_chain;
    const struct pf_off *off; /* the time off CPU that the sample stands for; NULL: another sample */
    struct pf_traced traced;  /* zeros: the sample is not of a trace */
    uint32_t parallelism;     /* threads that ran at its time: see pf_delivery_options; 1: not counted */
    bool is_sample;           /* else only `record` and `event` are set */
    bool again;               /* the sample of the last one, of another counter: the same stack */
};

/* Guests and hypervisors have no mappings here. */
static inline const struct perfile_space *pf_delivered_space(const struct pf_delivered *item, unsigned mode)
{
    return mode == PERFILE_MISC_KERNEL ? item->kernel_space : mode == PERFILE_MISC_USER ? item->user_space : NULL;
}

/* -1 where nothing was recorded, as perf has it: what was is PERFILE_SAMPLE_*. */
void pf_delivered_fill_absent(struct perfile_sample *sample, uint64_t recorded);

/* Decodes the sample of item->record, which may be a copy; false when it is damaged. */
static inline bool pf_delivered_decode(struct pf_delivered *item)
{
    enum { ALWAYS = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU };
    struct perfile_sample *sample = &item->sample;
    sample->size = sizeof(*sample);
    if (perfile_sample_decode(item->record, sample, NULL) < 0)
        return false;
    if (PF_UNLIKELY((sample->present & ALWAYS) != ALWAYS))
        pf_delivered_fill_absent(sample, sample->present);
    return true;
}

#endif
