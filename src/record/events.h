/* SPDX-License-Identifier: MIT */
/* The events of a recording: their final attrs, and their descriptors for each processor and thread. */
#ifndef PF_RECORD_EVENTS_H
#define PF_RECORD_EVENTS_H

#include "record/event_list.h"
#include "record/target.h"

/*
 * Makes the attrs what the options ask for; the first event, or one more of its own (TRACK, OVERWRITE), also records
 * maps, comms and tasks. ARGUMENT.
 */
int pf_events_configure(struct pf_event_list *chosen, const struct pf_target *target,
                        const struct perfile_recorder_options *options, struct perfile_error *error);

/* The filter that the options have for it. */
void pf_event_take_filter(struct pf_listed_event *event, const struct perfile_recorder_options *options);

/* An event that was opened. */
struct pf_opened {
    int fd;                   /* -1: there is none here */
    uint32_t event, cpu, tid; /* indices */
    uint64_t id;
    uint64_t lost_reported; /* of what the kernel lost, so many were written down */
    /* Of two events that are the same but for the size of their dumps one samples at a time. */
    size_t other;  /* plus 1: index of the one with larger dumps; 0: this is the one */
    bool is_idle;  /* the other one samples */
    bool is_still; /* it was disabled */
};

struct pf_opened_set {
    const struct perfile_allocator *allocator;
    struct pf_opened *items; /* by event, then processor, then thread */
    size_t count;
    size_t capacity;
};

/*
 * Opens all, and does without what this kernel does not know or allow, as far as the user did not ask for it by name;
 * each such thing is a note. OPEN, UNSUPPORTED, ABSENT with what would help.
 */
int pf_events_open(struct pf_opened_set *opened, struct pf_event_list *chosen, const struct pf_target *target,
                   const struct perfile_recorder_options *options, struct perfile_error *error);
void pf_events_close(struct pf_opened_set *opened);
/*
 * Opens events once more, with dumps of `stack_bytes` bytes and idle, where stacks are unwound and dumps may have any
 * size. They use the buffers of the others, which are there. False: none.
 */
bool pf_events_open_smaller(struct pf_opened_set *opened, const struct pf_event_list *chosen,
                            const struct pf_target *target, uint32_t stack_bytes);
/*
 * For counting: each event for itself. Those that cannot be opened have no descriptors; an error when it is all of
 * them.
 */
int pf_events_open_counters(struct pf_opened_set *opened, struct pf_event_list *chosen, const struct pf_target *target,
                            const struct perfile_recorder_options *options, struct perfile_error *error);
void pf_events_note(const struct perfile_recorder_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
