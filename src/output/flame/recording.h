/* SPDX-License-Identifier: MIT */
/* From a recording to what flame graphs are made of: a tree of stacks per event, or a page. */
#ifndef PF_OUTPUT_FLAME_RECORDING_H
#define PF_OUTPUT_FLAME_RECORDING_H

#include "analysis/report/report.h"
#include "analysis/stacks.h"
#include "output/flame/bottom.h"
#include "output/flame/code.h"
#include "output/flame/page.h"
#include "output/flame/times.h"
#include "output/notes.h"
#include "output/output.h"

struct pf_flame_stacks {
    const struct perfile_event *event; /* the first one, if several kinds of cores have it */
    bool of_several;
    struct pf_tree tree;
    struct pf_stacks arriving;
    uint64_t samples, weight;
    uint64_t full;  /* samples that would overflow `weight` */
    bool is_switch; /* with the stacks of times off CPU */
};

struct pf_flame_recording {
    const struct perfile_allocator *allocator;
    const struct perfile_output_options *options;
    struct perfile_reader *reader;
    struct pf_profile *profile;
    struct pf_report
        *report;     /* which samples, and what they are of; NULL: all that the filter lets pass. Has the profile */
    uint32_t *named; /* frames of a stack that have a symbol, where others are left out */
    size_t named_capacity;
    struct pf_bottom bottom;
    struct pf_bottom outer;      /* of a page: what columns show of samples are the outermost functions of its stacks */
    char levels[PF_BOTTOM_LIST]; /* of a page with those: the others, which the page makes */
    struct pf_flame_stacks *stacks;
    size_t stacks_count, stacks_capacity;
    uint32_t *stacks_of; /* by event, the position in `stacks` plus one; 0: no sample yet */
    size_t stacks_of_capacity;
    struct pf_page page; /* instead of trees by event */
    struct pf_stacks arriving;
    struct pf_page_row waiting; /* the last sample, whose stack is not in the page's tree yet */
    bool waits;
    struct pf_flame_code_samples
        *code;                   /* of the page, set before it is opened: where the samples are; NULL: not known */
    struct pf_flame_times times; /* of the page */
    /* A page of times off CPU has all samples: the filter without them, and what was asked for; NULL: it was not. */
    struct perfile_filter filter;
    const char *off_cpu;
    struct pf_flame_event *events;
    struct pf_flame_frame *frames;
    size_t frame_count;
    char title[160], subtitle[160 + PF_NOTE_BYTES];
    struct pf_flame_set set;
    size_t unread;       /* lines of a text that are no stacks */
    size_t other_events; /* of a profile that are not drawn */
};

/* How large the page's data may be. */
size_t pf_flame_page_bytes(const struct perfile_flame_options *options);
/* Of a page: the samples of a report with these options, instead of all. */
int pf_flame_recording_open_report(struct pf_flame_recording *recording, struct perfile_reader *reader,
                                   const struct perfile_output_options *options, struct perfile_error *error);
/* Reads all of it and fills `set`, for the page or for the others. Close it after failures, too. */
int pf_flame_recording_open(struct pf_flame_recording *recording, struct perfile_reader *reader,
                            const struct perfile_output_options *options, bool page, struct perfile_error *error);
/*
 * The same of the folded stacks of the options, without a reader and a profile. `before`: of their first weight, and
 * without stacks when they have one alone.
 */
int pf_flame_recording_of_text(struct pf_flame_recording *recording, const struct perfile_output_options *options,
                               bool before, struct perfile_error *error);
/* The same of a profile: one event, the options' or the one with the most samples. */
int pf_flame_recording_of_profile(struct pf_flame_recording *recording, const struct perfile_output_options *options,
                                  const struct perfile_profile *profile, struct perfile_error *error);
void pf_flame_recording_close(struct pf_flame_recording *recording);
/* The event of this name, NULL: the one with the most samples. ABSENT without samples, ARGUMENT for another name. */
int pf_flame_recording_event(const struct pf_flame_recording *recording, const char *name, uint32_t *event,
                             struct perfile_error *error);
/* Notes that the picture shows this event alone, if there are others. */
void pf_flame_recording_notify_others(const struct pf_flame_recording *recording, uint32_t event);

/* Returns the number of samples that are drawn without their callers, as there is a limit. */
uint64_t pf_flame_recording_cut(const struct pf_flame_recording *g);

#endif
