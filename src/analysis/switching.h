/* SPDX-License-Identifier: MIT */
/* Samples count from an event on, or until an event: the members switch_on and switch_off of struct perfile_filter. */
#ifndef PF_ANALYSIS_SWITCHING_H
#define PF_ANALYSIS_SWITCHING_H

#include "base/filter.h"

struct pf_switching {
    bool active;
    bool counts;         /* samples do now */
    bool shows;          /* samples of the events that switch, too */
    bool *kept;          /* struct perfile_filter.counting; may be NULL */
    struct pf_filter on; /* by their events alone */
    struct pf_filter off;
};

/* Errors: ARGUMENT, MEMORY. Close it also after a failure. */
int pf_switching_open(struct pf_switching *switching, const struct perfile_filter *wanted,
                      const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_switching_close(struct pf_switching *switching);
/* The recording has the events; else ARGUMENT, with the names of those that there are. */
int pf_switching_check(const struct pf_switching *switching, struct perfile_reader *reader,
                       struct perfile_error *error);
/* Whether a sample of this event counts. To be asked for each sample once, in the order of time. */
bool pf_switching_passes(struct pf_switching *switching, const struct perfile_event *event);
/* A sample of the block may switch. */
bool pf_switching_may_be_in(const struct pf_switching *switching, const struct pf_filter_block *block);
/* At the end: reports that nothing switched on. `notify` may be NULL. */
void pf_switching_notify(const struct pf_switching *switching, perfile_on_unmatched *notify, void *context);

#endif
