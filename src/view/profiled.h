/* SPDX-License-Identifier: MIT */
/* What views of an aggregated profile share: its opening, and the row in hand. */
#ifndef PF_VIEW_PROFILED_H
#define PF_VIEW_PROFILED_H

#include "view/view.h"

/* To be the first member of a view's state. All zeros may be closed, too. */
struct pf_profiled {
    struct perfile_table *table;
    struct perfile_profile *profile;
    size_t row, count; /* the row that comes next, and how many there are */
    bool frames_only;  /* to be set before opening: stacks and samples are not needed */
};

/* `flags`: enum perfile_stream_flags. */
int pf_profiled_open(struct pf_profiled *profiled, struct perfile_table *table, uint32_t flags,
                     struct perfile_error *error);
void pf_profiled_close(struct pf_profiled *profiled);
/* For struct pf_view. */
void pf_profiled_losses(const void *state, struct perfile_losses *losses);
/* The ids of all functions (ids.h) in a block for one more, for pf_free; NULL when out of memory. */
uint64_t *pf_profiled_function_ids(const struct pf_profiled *profiled, size_t *count);
/* What the rows are of is this key alone, which is the view's own; the others are the profile's. */
bool pf_profiled_is_by(const struct perfile_table *table, const char *key);
/* Hexadecimal; null without one. */
void pf_profiled_put_build_id(struct pf_vector *vector, const struct perfile_module *module);

#endif
