/* SPDX-License-Identifier: MIT */
/* From the text of -e to attrs: what this machine's PMUs and tracepoints make of it. */
#ifndef PF_RECORD_CHOOSE_H
#define PF_RECORD_CHOOSE_H

#include <perfile/recorder.h>

#include "base/memory.h"

struct pf_chosen_event {
    struct perfile_attr attr; /* type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive: what the text says */
    const char *name;         /* as perf names it in the recording */
    const char *cpus;         /* that its PMU has, "0,4"; NULL: any */
    const char *filter;       /* of a tracepoint, or NULL */
    const char *unit;         /* or NULL */
    double scale;
    uint32_t leader;    /* index of the first event of its group; its own without a group */
    bool sample_read;   /* :S */
    bool weak;          /* :W: outside of its group when that cannot be scheduled */
    bool precise_most;  /* :P: as precise as the PMU can */
    bool exclude_given; /* a modifier of u, k, h: not to be changed when the system refuses the kernel */
    /* terms of the event itself, which come before the options of the recording */
    uint64_t period; /* 0: not given */
    uint64_t frequency;
    const char *call_graph; /* NULL: not given; "no" */
    uint32_t stack_bytes;   /* 0: not given */
    uint32_t max_stack;
    signed char inherit; /* -1 not given, 0, 1 */
    signed char time;
    signed char overwrite;
};

struct pf_chosen {
    const struct perfile_allocator *allocator;
    struct pf_arena arena; /* of all texts */
    struct pf_chosen_event *items;
    size_t count;
    size_t room;
};

void pf_chosen_open(struct pf_chosen *chosen, const struct perfile_allocator *allocator);
void pf_chosen_close(struct pf_chosen *chosen);
/*
 * Appends the events of a list. ARGUMENT: it cannot be understood (with the nearest names); ABSENT: no such event here;
 * OPEN: tracefs cannot be read (with what to do).
 */
int pf_choose_events(struct pf_chosen *chosen, const char *list, struct perfile_error *error);

#endif
