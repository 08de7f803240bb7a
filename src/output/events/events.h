/* SPDX-License-Identifier: MIT */
/* The texts of perf for views over tracepoints: what they share. */
#ifndef PF_OUTPUT_EVENTS_EVENTS_H
#define PF_OUTPUT_EVENTS_EVENTS_H

#include "analysis/events/event_profile.h"
#include "output/output.h"

/* Samples, decoded and without frames, with functions by address. */
int pf_event_profile_open(const struct perfile_output_options *options, struct perfile_reader *reader,
                          const struct pf_event_needs *needs, struct pf_profile **profile, struct perfile_error *error);
/* A line of so many dashes. */
void pf_put_rule(struct pf_text *out, unsigned dashes);
/* "3820.818190", cut to microseconds, `width` characters. */
void pf_put_event_time(struct pf_text *out, uint64_t ns, int width);

#endif
