/* SPDX-License-Identifier: MIT */
#include "analysis/profile/walk.h"

static void find_positions(const struct pf_walk_tree *tree, uint32_t *positions, uint32_t *ends)
{
    const struct pf_tree_link *nodes = tree->nodes;
    uint32_t top = 0;
    memset(positions, 0, tree->count * sizeof(*positions)); /* at first the number of nodes from each on downwards */
    for (size_t i = tree->count; i-- > 0;) {
        positions[i]++;
        if (nodes[i].parent != PF_WALK_ROOT)
            positions[nodes[i].parent] += positions[i];
    }
    for (size_t i = 0; i < tree->count; i++) {
        uint32_t *next = nodes[i].parent == PF_WALK_ROOT ? &top : &ends[nodes[i].parent];
        const uint32_t below = positions[i];
        positions[i] = *next;
        ends[i] = *next + 1; /* where its next child goes */
        *next += below;
    }
}

bool pf_walk_positions(const struct perfile_allocator *allocator, const struct pf_walk_tree *tree, uint32_t *positions,
                       uint32_t *ends)
{
    const size_t bytes = (tree->count + 1) * sizeof(*ends);
    uint32_t *own = ends ? NULL : pf_new(allocator, bytes);
    if (!ends && !own)
        return false;
    find_positions(tree, positions, ends ? ends : own);
    pf_free(allocator, own, bytes);
    return true;
}

/* `inside`: by group, in how many of its nodes the walk is. */
static void find_outermost(const struct pf_walk_tree *tree, const uint32_t *order, const uint32_t *of_frame,
                           uint32_t *inside, uint64_t *outermost)
{
    const struct pf_tree_link *nodes = tree->nodes;
    uint32_t last = PF_WALK_ROOT;
    for (size_t i = 0; i < tree->count; i++) {
        const uint32_t node = order[i];
        for (; last != nodes[node].parent; last = nodes[last].parent)
            inside[of_frame[nodes[last].frame]]--;
        if (inside[of_frame[nodes[node].frame]]++ == 0)
            outermost[node / 64] |= (uint64_t)1 << node % 64;
        last = node;
    }
}

bool pf_walk_outermost(const struct perfile_allocator *allocator, const struct pf_walk_tree *tree,
                       const struct pf_walk_groups *groups, const uint32_t *positions, uint64_t *outermost)
{
    const size_t bytes = (tree->count + 1) * sizeof(uint32_t),
                 group_bytes = (groups->group_count + 1) * sizeof(uint32_t);
    uint32_t *order = pf_new(allocator, bytes), *inside = pf_new(allocator, group_bytes);
    uint32_t *own = positions ? NULL : pf_new(allocator, bytes);
    const bool fine = order && inside && (positions || (own && pf_walk_positions(allocator, tree, own, NULL)));
    positions = positions ? positions : own;
    for (uint32_t i = 0; fine && i < tree->count; i++)
        order[positions[i]] = i;
    pf_free(allocator, own, bytes);
    if (fine)
        find_outermost(tree, order, groups->of_frame, inside, outermost);
    pf_free(allocator, order, bytes);
    pf_free(allocator, inside, group_bytes);
    return fine;
}
