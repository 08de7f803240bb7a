/* SPDX-License-Identifier: MIT */
/* A sample with its stack resolved, and what is counted of samples: both kinds of profiles make and count these. */
#ifndef PF_ANALYSIS_PROFILE_SAMPLE_H
#define PF_ANALYSIS_PROFILE_SAMPLE_H

#include "analysis/frames.h"

/* One sample. Given by pf_profile_next, valid until its next call. */
struct pf_profile_sample {
    const struct perfile_event *event;
    uint64_t time; /* ns */
    uint64_t period;
    uint64_t alike;  /* with pf_profile_options.merges: so many more samples are the same, but for their times */
    uint64_t weight; /* 0: not recorded */
    int32_t pid;
    int32_t tid;
    uint32_t cpu; /* 0: also when it is not known */
    bool has_cpu;
    uint32_t parallelism; /* with pf_profile_options.parallelism: how many threads ran */
    uint8_t cpumode;      /* PERFILE_MISC_*: misc & PERFILE_MISC_CPUMODE_MASK */
    const char *comm;     /* interned: equal names are equal pointers */
    uint64_t ip;
    uint32_t leaf;          /* frame of the sampled address itself */
    const uint32_t *frames; /* the complete stack, leaf first; without callchains just the leaf */
    size_t frame_count;
    const char *cgroup;          /* path of the control group, as long as the profile; NULL: not recorded */
    const uint64_t *cgroup_link; /* device and inode of the cgroup namespace; NULL: not known, or not asked for */
    const struct pf_off *off;    /* with `decoded`: the time off CPU that the sample stands for; NULL: another sample */
    const struct perfile_sample *decoded; /* all else that was recorded; NULL unless it is asked for */
};

/* Samples whose chain is broken, by the module of the last address that is mapped; the most frequent ones. */
enum { PF_BROKEN_MODULES = 6 };
struct pf_broken_module {
    uint32_t module;
    uint64_t count; /* 0: not used */
};

struct pf_profile_totals {
    uint64_t samples;
    uint64_t lost;       /* samples that the recording says it lost */
    uint64_t unresolved; /* samples whose leaf has no symbol */
    uint64_t unmapped;   /* samples whose leaf lies in no mapping */
    uint64_t guests;     /* samples of guests, whose mappings are not recorded */
    uint64_t truncated;  /* samples whose dumped stack was too short to unwind to its end */
    uint64_t full;       /* samples whose callchain has as many frames as the kernel was asked for */
    uint64_t guessed;    /* samples whose dumped stack was not unwound by call frame information alone */
    uint64_t filtered;   /* left out by the filter */
    uint64_t chains;     /* samples with callers in a callchain ... */
    uint64_t broken;     /* ... and those of them that were not followed by frame pointers */
    struct pf_broken_module broken_in[PF_BROKEN_MODULES];
};

static inline bool pf_is_of_guest(unsigned cpumode)
{
    return cpumode == PERFILE_MISC_GUEST_KERNEL || cpumode == PERFILE_MISC_GUEST_USER;
}

/*
 * Whether the callchain was followed by a register that is not a frame pointer: it soon leaves all mappings. Then
 * *module is that of its last address that is mapped.
 */
bool pf_profile_is_broken(const struct pf_frames *frames, const struct pf_profile_sample *sample, uint32_t *module);
/* Counts broken chains. What is more than there is capacity for has no module. */
void pf_profile_count_broken(struct pf_profile_totals *totals, uint32_t module, uint64_t count);

/* Counts a sample with all its frames. Dumped stacks have their own troubles. */
static inline void pf_profile_count_chain(struct pf_profile_totals *totals, const struct pf_frames *frames,
                                          const struct pf_profile_sample *sample)
{
    const uint64_t type = sample->event ? sample->event->attr->sample_type : 0;
    uint32_t module;
    if (sample->frame_count < 2 || !(type & PERFILE_SAMPLE_CALLCHAIN) || type & PERFILE_SAMPLE_STACK_USER)
        return;
    totals->chains++;
    if (pf_frames_at(frames, sample->frames[sample->frame_count - 1])->module == PF_NO_SYMBOL &&
        pf_profile_is_broken(frames, sample, &module)) {
        totals->broken++;
        pf_profile_count_broken(totals, module, 1);
    }
}

#endif
