/* SPDX-License-Identifier: MIT */
/* For views over events that also name functions: they read all samples, decoded, before their first row. */
#ifndef PF_VIEW_PROFILE_SOURCE_H
#define PF_VIEW_PROFILE_SOURCE_H

#include "analysis/events/event_profile.h"
#include "view/gathered.h"

/* To be the first member of a view's state. All zeros may be closed, too. */
struct pf_profiled_events {
    struct perfile_table *table;
    struct pf_profile *profile;
};

int pf_profiled_events_open(struct pf_profiled_events *events, struct perfile_table *table,
                            const struct pf_event_needs *needs, struct perfile_error *error);
void pf_profiled_events_close(struct pf_profiled_events *events);
/* As pf_gathered_read. */
bool pf_profiled_events_read(struct pf_profiled_events *events,
                             bool (*take)(void *state, const struct pf_profile_sample *sample), void *state);

#endif
