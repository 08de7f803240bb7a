/* SPDX-License-Identifier: MIT */
/*
 * What stands at the bottom of stacks: threads, processors, pieces of time, and what columns of reports show of
 * samples, one above the other.
 */
#ifndef PF_OUTPUT_FLAME_BOTTOM_H
#define PF_OUTPUT_FLAME_BOTTOM_H

#include "analysis/keys.h"
#include "analysis/profile.h"
#include "analysis/report/tags.h"
#include "base/pairs.h"
#include "output/flame/flame.h"

enum { PF_BOTTOM_LEVELS = PF_KEYS + PF_TAGS_MAX }; /* some of the keys, then the tags */

struct pf_bottom {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;             /* names */
    unsigned levels[PF_BOTTOM_LEVELS]; /* from the root */
    size_t level_count;
    struct pf_tags *tags; /* of samples; NULL: no level is one */
    /* Of rows of a profile: the names of the levels that are tags, and the row that comes next. */
    const struct perfile_profile *profile;
    const char *names[PF_TAGS_MAX];
    size_t name_count;
    const struct perfile_profile_sample *row;
    uint64_t quantum_ns;
    struct pf_pairs positions[PF_BOTTOM_LEVELS]; /* by level: struct owner to a position in frames */
    struct pf_flame_frame *frames;
    uint64_t *numbers; /* beside frames: the piece of time */
    size_t frame_count, frame_capacity, number_capacity;
};

struct pf_bottom_options {
    const struct perfile_allocator *allocator;
    const char *by;                /* a list like "cpu,comm"; NULL: no levels */
    const char *quantum;           /* like "100ms", which NULL stands for */
    struct perfile_reader *reader; /* that tags are of; NULL: levels are keys alone, or tags of the profile */
    const struct perfile_profile *profile;
    enum { PF_BOTTOM_ALL, PF_BOTTOM_KEYS, PF_BOTTOM_TAGS } only; /* the other words of `by` are passed over */
};
/* Close it after failures, too. */
int pf_bottom_open(struct pf_bottom *bottom, const struct pf_bottom_options *options, struct perfile_error *error);
/* The levels that are keys, as `by` has them: "cpu,comm"; "none" without any. `text` has PF_BOTTOM_LIST bytes. */
enum { PF_BOTTOM_LIST = 16 * PF_KEYS };
const char *pf_bottom_list(const struct pf_bottom *bottom, char *text);
/* Its only level are threads. */
void pf_bottom_set_threads(struct pf_bottom *bottom);
void pf_bottom_close(struct pf_bottom *bottom);
/* The number of the sample's frame at the level below level_count; UINT32_MAX when out of memory. */
uint32_t pf_bottom_frame(struct pf_bottom *bottom, size_t level, const struct pf_profile_sample *sample);
/* Names the pieces of time, when all are known: their digits depend on the last. False when out of memory. */
bool pf_bottom_finish(struct pf_bottom *bottom);

#endif
