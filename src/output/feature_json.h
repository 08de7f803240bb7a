/* SPDX-License-Identifier: MIT */
/* The header features as JSON. */
#ifndef PF_OUTPUT_FEATURE_JSON_H
#define PF_OUTPUT_FEATURE_JSON_H

#include "base/json.h"

/*
 * All header features that are `wanted` (NULL: all) as one object, with "NAME error" beside what of one could be read.
 * MEMORY, STOPPED.
 */
int pf_json_features(struct perfile_reader *reader, struct pf_json *json, const char *name,
                     bool (*wanted)(uint32_t number), struct perfile_error *error);

#endif
