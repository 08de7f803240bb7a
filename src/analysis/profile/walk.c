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

struct listed {
    const struct pf_tree_link *nodes;
    const uint32_t *order, *of_frame;
};

static uint32_t listed_node(const void *tree, size_t step)
{
    return ((const struct listed *)tree)->order[step];
}

static uint32_t listed_parent(const void *tree, uint32_t node)
{
    return ((const struct listed *)tree)->nodes[node].parent;
}

static uint32_t listed_group(const void *tree, uint32_t node)
{
    const struct listed *listed = tree;
    return listed->of_frame[listed->nodes[node].frame];
}

bool pf_walk_outermost(const struct perfile_allocator *allocator, const struct pf_walk_tree *tree,
                       const struct pf_walk_groups *groups, uint64_t *outermost)
{
    const size_t bytes = (tree->count + 1) * sizeof(uint32_t);
    const size_t group_bytes = (groups->group_count + 1) * sizeof(uint32_t);
    uint32_t *order = pf_new(allocator, bytes), *inside = pf_new(allocator, group_bytes);
    uint32_t *positions = pf_new(allocator, bytes);
    const bool fine = order && inside && positions && pf_walk_positions(allocator, tree, positions, order);
    const struct listed listed = {tree->nodes, order, groups->of_frame};
    const struct pf_walk_steps steps = {&listed, tree->count, listed_node, listed_parent, listed_group};
    for (uint32_t i = 0; fine && i < tree->count; i++)
        order[positions[i]] = i;
    pf_free(allocator, positions, bytes);
    if (fine)
        pf_walk_find_outermost(&steps, inside, outermost);
    pf_free(allocator, order, bytes);
    pf_free(allocator, inside, group_bytes);
    return fine;
}
