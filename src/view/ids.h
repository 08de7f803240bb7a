/* SPDX-License-Identifier: MIT */
/*
 * Ids of functions and stacks that are the same in all recordings: hashes of what they are called, not numbers that
 * depend on the order in which they come. The same on every machine; they never change, as tables of other versions are
 * joined by them.
 */
#ifndef PF_VIEW_IDS_H
#define PF_VIEW_IDS_H

#include <perfile/profile.h>

#include "analysis/profile.h"
#include "base/siphash.h"
#include "symbol/symbols.h"

struct pf_vector;

/* Returns the same for a module of a profile; NULL: nothing is mapped. */
uint64_t pf_function_id_in(const struct perfile_module *module, const char *name, bool inlined);
/* Returns the id of an address in a function. */
uint64_t pf_location_id(uint64_t function, uint64_t address, uint32_t line);

/*
 * Returns the name of a frame in columns of stacks: its complete function, or its module in brackets. NULL: out of
 * memory.
 */
const char *pf_frame_text(struct pf_arena *arena, struct pf_profile *profile, uint32_t frame);
/* The same in the dictionary of a column. */
uint32_t pf_frame_code(struct pf_profile *profile, uint32_t frame, struct pf_vector *vector);

/* A stack is its outermost function (of the stack PF_STACK_START), and what that calls. */
#define PF_STACK_START 0x706572662d737461ull
static inline uint64_t pf_stack_id(uint64_t caller, uint64_t function)
{
    uint64_t id = caller * 0x9e3779b97f4a7c15ull + function; /* mixed as by SplitMix64 */
    id = (id ^ id >> 30) * 0xbf58476d1ce4e5b9ull;
    id = (id ^ id >> 27) * 0x94d049bb133111ebull;
    return id ^ id >> 31;
}

/* The ids of frames of a profile, each made once. All zeros with the allocator is a good beginning. */
struct pf_stack_ids {
    const struct perfile_allocator *allocator;
    uint64_t *functions; /* by frame; 0: none of its stacks was asked for yet */
    size_t count;
};

void pf_stack_ids_close(struct pf_stack_ids *ids);
/* The id of a stack of these frames, leaf first, which samples have had. False when out of memory. */
bool pf_stack_ids_of(struct pf_stack_ids *ids, struct pf_profile *profile, const uint32_t *frames, size_t count,
                     uint64_t *id);
#endif
