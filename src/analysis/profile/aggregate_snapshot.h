/* SPDX-License-Identifier: MIT */
/* A profile of what was read so far, while more is read. */
#ifndef PF_ANALYSIS_PROFILE_AGGREGATE_SNAPSHOT_H
#define PF_ANALYSIS_PROFILE_AGGREGATE_SNAPSHOT_H

#include "analysis/profile/aggregate_names.h"

/* When the next one is due. */
struct pf_snapshot_clock {
    uint64_t interval_ms; /* 0: 500 */
    uint64_t next_ms;     /* 0: not started */
    uint64_t started_ms;  /* start of the current snapshot */
    uint32_t samples;     /* since the clock was looked at */
};
/* To be asked for each sample. */
bool pf_snapshot_is_due(struct pf_snapshot_clock *clock);
/* Around making one. */
void pf_snapshot_begin(struct pf_snapshot_clock *clock);
void pf_snapshot_end(struct pf_snapshot_clock *clock);

/*
 * Fills the copy, which is open and empty, with the contents of `from->aggregate` and the nodes and names of `from`;
 * only pf_aggregate_finish remains to be called. Texts stay those of `from`, so the copy must not outlive it. False
 * when out of memory.
 */
bool pf_aggregate_copy(struct pf_aggregate *copy, const struct pf_aggregate_named *from, bool *joined);

#endif
