/* SPDX-License-Identifier: MIT */
/*
 * Times off CPU as samples: one for each time that a task came back to a CPU, with the stack with which it had left
 * one, and the nanoseconds in between as its period. They come from sched:sched_switch of all CPUs, or from SWITCH
 * records, with the samples of sched:sched_switch or context-switches of the same thread for stacks. Or the stack is
 * that of the task that woke it.
 */
#ifndef PF_ANALYSIS_EVENTS_OFFCPU_H
#define PF_ANALYSIS_EVENTS_OFFCPU_H

#include "analysis/events/switches.h"
#include "analysis/synthesizer.h"

extern const struct pf_required_events pf_offcpu_events;

enum pf_offcpu_what {
    PF_OFFCPU_BLOCKED, /* times in which the task could not run */
    PF_OFFCPU_ALL,     /* and those in which it was preempted */
    PF_OFFCPU_BOTH,    /* these, and as samples of their own the times on CPU that clocks sampled */
    PF_OFFCPU_WAKERS,  /* how long a task was blocked until another one woke it, with the stack of that one */
};

/* A time off CPU. */
struct pf_off {
    uint64_t from, to; /* ns; cut to the time that is asked for */
    uint64_t delay;    /* of it, how long the task could have run */
    bool delay_known;
    bool preempted;                           /* it could have run all the time */
    char state;                               /* 0: not known */
    const struct pf_sched_task *task, *waker; /* waker NULL: not known */
};

struct pf_offcpu;

/* Its samples have the stacks with which tasks left a CPU. */
bool pf_offcpu_is_switch_event(const struct perfile_event *event);
/* NULL when out of memory. */
struct pf_offcpu *pf_offcpu_open(struct perfile_reader *reader, enum pf_offcpu_what what,
                                 const struct perfile_allocator *allocator);
void pf_offcpu_close(struct pf_offcpu *offcpu);
/* "blocked", "all", "both" or "wakers". ARGUMENT. */
int pf_offcpu_parse(const char *text, enum pf_offcpu_what *what, struct perfile_error *error);
/* Notes what the recording does not have, when all of it was read; `notify` may be NULL. */
void pf_offcpu_report_missing(struct pf_offcpu *offcpu, pf_on_note *notify, void *notify_context);
/*
 * Takes the next record in the order of time. Returns 1 when a time off CPU ended: *off describes it, and `*sample` is
 * the record with its stack, valid until the next call, or NULL. Returns 0 when none ended, or MEMORY.
 */
int pf_offcpu_take(struct pf_offcpu *offcpu, const struct perfile_record *record, struct pf_off *off,
                   const struct perfile_record **sample, struct perfile_error *error);
/*
 * Gives these times as samples, cut to the times of the filter. `what` is "blocked", "all", "both" or "wakers".
 * ARGUMENT, MEMORY.
 */
int pf_offcpu_synthesizer(struct pf_synthesizer *synthesizer, struct perfile_reader *reader, const char *what,
                          const struct pf_filter *filter, const struct perfile_allocator *allocator,
                          struct perfile_error *error);

#endif
