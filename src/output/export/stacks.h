/* SPDX-License-Identifier: MIT */
/* An aggregated profile as formats for people have it: functions with a name, and each stack down to its sample. */
#ifndef PF_OUTPUT_EXPORT_STACKS_H
#define PF_OUTPUT_EXPORT_STACKS_H

#include <perfile/profile.h>

#include "analysis/profile/walk.h"
#include "base/pairs.h"

/* Never an empty text. */
struct pf_export_function {
    const char *name;   /* demangled; "[module]" where it has none */
    const char *file;   /* its source, or NULL */
    uint32_t line;      /* where it begins in it; 0: not known */
    const char *module; /* or NULL */
    uint64_t address;   /* where it begins as its symbol table counts; 0: not known */
};

/*
 * The stacks of the profile, and after them those of samples whose callchain does not begin with the function of the
 * sampled address: these begin with that function, since reports count the sample for it.
 */
struct pf_export_stacks {
    const struct perfile_allocator *allocator;
    struct perfile_profile *profile;
    struct pf_export_function *functions; /* by the numbers of the profile */
    size_t function_count;
    uint32_t *function_of; /* by frame */
    size_t frame_count;
    struct pf_tree_link *nodes; /* with frames of the profile; parents are smaller numbers, or PERFILE_NO_ID */
    size_t node_count, node_capacity;
    uint32_t *ends; /* the node of each of the profile's samples */
    size_t sample_count;
};

/* Takes the profile. False when out of memory; close it then, too. */
bool pf_export_stacks_open(struct pf_export_stacks *stacks, struct perfile_profile *profile,
                           const struct perfile_allocator *allocator);
/* All zeros may be closed, too. */
void pf_export_stacks_close(struct pf_export_stacks *stacks);

/* The number of the pair, the next one of *count when it is new. PERFILE_NO_ID when out of memory. */
uint32_t pf_export_number(struct pf_pairs *pairs, uint64_t a, uint64_t b, uint32_t *count);

#endif
