/* SPDX-License-Identifier: MIT */
/* What a flame graph shows: which recording, of when, how much of it, and what is missing. */
#ifndef PF_OUTPUT_FLAME_ABOUT_H
#define PF_OUTPUT_FLAME_ABOUT_H

#include "output/flame/recording.h"

struct pf_flame_about {
    struct pf_arena arena;
    struct pf_text text; /* of the fact at work */
    struct pf_flame_fact *facts;
    size_t count, capacity;
};

/*
 * For recordings that were read; `before` is NULL when nothing is compared. 0, or MEMORY. Close it after failures, too.
 */
int pf_flame_about_open(struct pf_flame_about *about, const struct pf_flame_recording *now,
                        const struct pf_flame_recording *before);
void pf_flame_about_close(struct pf_flame_about *about);

#endif
