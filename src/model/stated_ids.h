/* SPDX-License-Identifier: MIT */
/* The build ids that the header states, by the names of files: feature BUILD_ID. */
#ifndef PF_MODEL_STATED_IDS_H
#define PF_MODEL_STATED_IDS_H

#include "base/map.h"

struct pf_stated_ids {
    struct pf_arena arena;
    struct pf_map by_name; /* hash of the name, to an entry, a pointer */
};

void pf_stated_ids_open(struct pf_stated_ids *ids, const struct perfile_allocator *allocator);
void pf_stated_ids_close(struct pf_stated_ids *ids);
/* Takes what the feature says now. False when out of memory; a feature that is absent or damaged says as much as it can. */
bool pf_stated_ids_read(struct pf_stated_ids *ids, struct perfile_reader *reader);
/* Fills the build id of a mapping that has none, if one is stated for its file. */
void pf_stated_ids_fill(const struct pf_stated_ids *ids, struct perfile_map *map);

#endif
