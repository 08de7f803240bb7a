/* SPDX-License-Identifier: MIT */
/* Calls of a hardware trace as samples: of each call, or of each time in which a thread had the same stack of calls. */
#ifndef PF_ANALYSIS_CALLS_CALLS_H
#define PF_ANALYSIS_CALLS_CALLS_H

#include "analysis/calls/stacks.h"
#include "analysis/synthesizer.h"

/*
 * By options->wanted->calls. A recording without a trace, or with one without calls, gives no samples, and
 * `report_missing` says so. ARGUMENT, MEMORY.
 */
int pf_calls_synthesizer(struct pf_synthesizer *synthesizer, const struct pf_synthesizer_options *options,
                         struct perfile_error *error);

/* The event of these samples, which is not one of the reader's; of "stacks". */
bool pf_event_is_calls(const struct perfile_event *event);

#endif
