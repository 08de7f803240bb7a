/* SPDX-License-Identifier: MIT */
#include "analysis/tree.h"

#include "base/bytes.h"

int pf_tree_open(struct pf_tree *tree, const struct perfile_allocator *allocator)
{
    *tree = (struct pf_tree){.allocator = allocator};
    tree->slot_count = 1024;
    tree->slots = pf_new(allocator, tree->slot_count * sizeof(*tree->slots));
    if (!tree->slots || !pf_grow(allocator, &tree->nodes, &tree->capacity, 1, sizeof(*tree->nodes))) {
        pf_tree_close(tree);
        return PERFILE_ERROR_MEMORY;
    }
    tree->nodes[tree->count++] = (struct pf_tree_node){0};
    return 0;
}

int pf_tree_open_links(struct pf_tree *tree, const struct perfile_allocator *allocator)
{
    *tree = (struct pf_tree){.allocator = allocator};
    if (!pf_grow(allocator, &tree->links, &tree->capacity, 1, sizeof(*tree->links)))
        return PERFILE_ERROR_MEMORY;
    tree->links[tree->count++] = (struct pf_tree_link){0};
    return 0;
}

void pf_tree_close(struct pf_tree *tree)
{
    if (tree->links)
        pf_free(tree->allocator, tree->links, tree->capacity * sizeof(*tree->links));
    else
        pf_free(tree->allocator, tree->nodes, tree->capacity * sizeof(*tree->nodes));
    pf_free(tree->allocator, tree->totals, tree->total_capacity * sizeof(*tree->totals));
    pf_free(tree->allocator, tree->slots, tree->slot_count * sizeof(*tree->slots));
    *tree = (struct pf_tree){.allocator = tree->allocator};
}

static size_t slot_of(const struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    uint64_t key = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15ull;
    return (size_t)(key >> 32 ^ key >> 11) & (tree->slot_count - 1);
}

static bool grow_slots(struct pf_tree *tree)
{
    struct pf_tree bigger = *tree;
    bigger.slot_count = 2 * tree->slot_count;
    bigger.slots = pf_new(tree->allocator, bigger.slot_count * sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    for (size_t old = 0; old < tree->slot_count; old++) {
        size_t i = slot_of(&bigger, tree->slots[old].parent, tree->slots[old].frame);
        if (!tree->slots[old].node)
            continue;
        while (bigger.slots[i].node)
            i = (i + 1) & (bigger.slot_count - 1);
        bigger.slots[i] = tree->slots[old];
    }
    pf_free(tree->allocator, tree->slots, tree->slot_count * sizeof(*tree->slots));
    *tree = bigger;
    return true;
}

static uint32_t append_link(struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    if (tree->count >= UINT32_MAX - 1 ||
        (PF_UNLIKELY(tree->count == tree->capacity) &&
         !pf_grow(tree->allocator, &tree->links, &tree->capacity, tree->count + 1, sizeof(*tree->links))))
        return 0;
    tree->links[tree->count] = (struct pf_tree_link){parent, frame};
    return (uint32_t)tree->count++;
}

uint32_t pf_tree_append(struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    if (tree->links)
        return append_link(tree, parent, frame);
    if (tree->count >= UINT32_MAX - 1 ||
        (PF_UNLIKELY(tree->count == tree->capacity) &&
         !pf_grow(tree->allocator, &tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes))))
        return 0;
    tree->nodes[tree->count] = (struct pf_tree_node){.parent = parent, .frame = frame};
    return (uint32_t)tree->count++;
}

uint32_t pf_tree_child(struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    size_t i = slot_of(tree, parent, frame);
    for (; tree->slots[i].node; i = (i + 1) & (tree->slot_count - 1))
        if (PF_LIKELY(tree->slots[i].parent == parent && tree->slots[i].frame == frame))
            return tree->slots[i].node;
    const uint32_t made = pf_tree_append(tree, parent, frame);
    if (!made)
        return 0;
    tree->slots[i] = (struct pf_tree_slot){parent, frame, made};
    if (tree->count * 4 > tree->slot_count * 3 && !grow_slots(tree))
        return 0;
    return made;
}

void pf_tree_add(struct pf_tree *tree, uint32_t node, uint64_t weight)
{
    tree->nodes[node].self += weight;
    tree->nodes[node].samples++;
}

bool pf_tree_sum(struct pf_tree *tree)
{
    if (tree->total_capacity < tree->count) {
        pf_free(tree->allocator, tree->totals, tree->total_capacity * sizeof(*tree->totals));
        tree->totals = pf_new(tree->allocator, tree->count * sizeof(*tree->totals));
        tree->total_capacity = tree->totals ? tree->count : 0;
    } else {
        memset(tree->totals, 0, tree->count * sizeof(*tree->totals));
    }
    if (!tree->totals)
        return false;
    for (size_t i = tree->count; i-- > 1;) {
        tree->totals[i] += tree->nodes[i].self;
        tree->totals[tree->nodes[i].parent] += tree->totals[i];
    }
    tree->totals[0] += tree->nodes[0].self;
    return true;
}
