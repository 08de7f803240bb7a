/* SPDX-License-Identifier: MIT */
/* Parts of a profile into another one: each gets the number that an equal one has there already, or the next one. */
#ifndef PF_ANALYSIS_PROFILE_AGGREGATE_MERGE_H
#define PF_ANALYSIS_PROFILE_AGGREGATE_MERGE_H

#include "analysis/profile/aggregate.h"

struct pf_merge {
    struct pf_aggregate *into;
    const struct perfile_profile *from;
    uint32_t
        *numbers[PF_AGGREGATE_INDEXED]; /* by kind: from a number there to that here; NULL before _list and _open */
};

/* Merges the items of a kind; those that they refer to were merged before. False when out of memory. */
bool pf_merge_list(struct pf_merge *merge, enum pf_aggregate_kind kind);
/* Of a kind that is merged one by one: all numbers begin as NONE. False when out of memory. */
bool pf_merge_open(struct pf_merge *merge, enum pf_aggregate_kind kind);
/* Merges one item; the caller keeps its number. NONE when out of memory. */
uint32_t pf_merge_item(struct pf_merge *merge, enum pf_aggregate_kind kind, size_t number);
/* Appends the recordings. False when out of memory. */
bool pf_merge_recordings(struct pf_merge *merge);
/* Frees the numbers. */
void pf_merge_close(struct pf_merge *merge);

#endif
