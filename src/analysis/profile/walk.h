/* SPDX-License-Identifier: MIT */
/*
 * Walks through trees of stacks: each caller before what it calls, callees in the order of their numbers. What a
 * function's total is rests on this: a sample counts for a function at the outermost of its nodes alone, so recursion
 * counts once.
 */
#ifndef PF_ANALYSIS_PROFILE_WALK_H
#define PF_ANALYSIS_PROFILE_WALK_H

#include "analysis/tree.h"

/* The parents of all nodes are smaller numbers, or PF_WALK_ROOT. */
struct pf_walk_tree {
    const struct pf_tree_link *nodes;
    size_t count;
};
#define PF_WALK_ROOT UINT32_MAX

/*
 * The position of each node in a walk from the roots on: what is below a node comes right after it, up to `ends`, which
 * may be NULL. Both have space for count + 1 numbers. False when out of memory.
 */
bool pf_walk_positions(const struct perfile_allocator *allocator, const struct pf_walk_tree *tree, uint32_t *positions,
                       uint32_t *ends);

/* By frame the group, a smaller number than group_count, that its nodes are in. */
struct pf_walk_groups {
    const uint32_t *of_frame;
    size_t group_count;
};

/*
 * A bit for each node: it is the outermost of its group, as no node that it was called from is in that group.
 * `outermost` is zeroed, with space for count / 64 + 1 words. False when out of memory.
 */
bool pf_walk_outermost(const struct perfile_allocator *allocator, const struct pf_walk_tree *tree,
                       const struct pf_walk_groups *groups, uint64_t *outermost);

/* The same of any tree: its nodes in the order of a walk, the caller of each, or PF_WALK_ROOT, and its group. */
struct pf_walk_steps {
    const void *tree;
    size_t count;
    uint32_t (*node_at)(const void *tree, size_t step);
    uint32_t (*parent_of)(const void *tree, uint32_t node);
    uint32_t (*group_of)(const void *tree, uint32_t node);
};

/* `inside`: by group, in how many of its nodes the walk is; zeroed. */
static inline void pf_walk_find_outermost(const struct pf_walk_steps *steps, uint32_t *inside, uint64_t *outermost)
{
    uint32_t last = PF_WALK_ROOT;
    for (size_t i = 0; i < steps->count; i++) {
        const uint32_t node = steps->node_at(steps->tree, i), parent = steps->parent_of(steps->tree, node);
        for (; last != parent; last = steps->parent_of(steps->tree, last))
            inside[steps->group_of(steps->tree, last)]--;
        if (inside[steps->group_of(steps->tree, node)]++ == 0)
            outermost[node / 64] |= (uint64_t)1 << node % 64;
        last = node;
    }
}

static inline bool pf_walk_is_outermost(const uint64_t *outermost, uint32_t node)
{
    return outermost[node / 64] >> node % 64 & 1;
}

#endif
