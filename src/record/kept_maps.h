/* SPDX-License-Identifier: MIT */
/*
 * What JITs in containers write to perf-PID.map in a /tmp of their own: it is gone when their processes end. It is kept
 * while they run, and written into the recording: as the feature FILE2, where readers find it under the number that the
 * process has outside.
 */
#ifndef PF_RECORD_KEPT_MAPS_H
#define PF_RECORD_KEPT_MAPS_H

#include "base/text.h"
#include "record/made_code.h"

struct pf_kept_map {
    uint32_t pid;
    struct pf_text text;
};

struct pf_kept_maps {
    const struct perfile_allocator *allocator;
    struct pf_kept_map items[PF_MADE_CODE_REGIONS];
    size_t count;
    uint64_t looked_ns; /* when files were looked at last */
};

void pf_kept_maps_close(struct pf_kept_maps *maps);
/* Reads what the processes with code of their own have written since, a few times a second at most. */
void pf_kept_maps_look(struct pf_kept_maps *maps, struct pf_made_code *code);
/* Appends the body of the feature FILE2. False: out of memory. */
bool pf_kept_maps_put(const struct pf_kept_maps *maps, struct pf_text *body);

#endif
