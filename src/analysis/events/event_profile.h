/* SPDX-License-Identifier: MIT */
/*
 * How views over events that also name functions read a recording: samples decoded and without frames, functions by
 * their addresses.
 */
#ifndef PF_ANALYSIS_EVENTS_EVENT_PROFILE_H
#define PF_ANALYSIS_EVENTS_EVENT_PROFILE_H

#include "analysis/events/fields.h"
#include "analysis/profile.h"

/* The caller adds .drive. */
struct pf_profile_options pf_event_profile_options(const struct perfile_filter *filter,
                                                   const struct perfile_symbol_options *symbols,
                                                   const struct perfile_allocator *allocator,
                                                   const struct pf_event_needs *needs);
/* Passes all samples to `take`, which returns false when out of memory. */
int pf_event_profile_read(struct pf_profile *profile, bool (*take)(void *state, const struct pf_profile_sample *sample),
                          void *state, struct perfile_error *error);

#endif
