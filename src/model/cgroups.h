/* SPDX-License-Identifier: MIT */
/* The paths of control groups as the records CGROUP go by. */
#ifndef PF_MODEL_CGROUPS_H
#define PF_MODEL_CGROUPS_H

#include "base/map.h"

struct pf_cgroups {
    struct pf_arena arena;
    struct pf_map paths; /* id to its path, a pointer */
};

void pf_cgroups_open(struct pf_cgroups *cgroups, const struct perfile_allocator *allocator);
void pf_cgroups_close(struct pf_cgroups *cgroups);
/* Takes over what a CGROUP record says. False when out of memory. */
bool pf_cgroups_follow(struct pf_cgroups *cgroups, const struct perfile_reader *reader,
                       const struct perfile_record *record);
/* NULL when no record named it. */
const char *pf_cgroups_path(const struct pf_cgroups *cgroups, uint64_t id);

#endif
