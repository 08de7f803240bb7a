/* SPDX-License-Identifier: MIT */
/* The build ids that the header states, for mappings that have none. */
#ifndef PF_MODEL_STATED_IDS_H
#define PF_MODEL_STATED_IDS_H

#include "base/named_ids.h"

/* Reads what the feature says now. False when out of memory; an absent or damaged feature gives as much as it can. */
bool pf_stated_ids_read(struct pf_named_ids *ids, struct perfile_reader *reader);
/* Fills the build id of a mapping that has none, if one is stated for its file. */
void pf_stated_ids_fill(const struct pf_named_ids *ids, struct perfile_map *map);

#endif
