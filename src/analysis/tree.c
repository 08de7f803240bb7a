/* SPDX-License-Identifier: MIT */
#include "analysis/tree.h"

#include "base/bytes.h"

enum { FIRST_SLOTS = 1024, LARGE_SLOTS = 1 << 20 };

int pf_tree_open(struct pf_tree *tree, const struct perfile_allocator *allocator)
{
    *tree = (struct pf_tree){.allocator = allocator};
    if (!pf_grow(allocator, &tree->nodes, &tree->capacity, 1, sizeof(*tree->nodes)))
        return PERFILE_ERROR_MEMORY;
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
    pf_tree_close_table(tree);
    *tree = (struct pf_tree){.allocator = tree->allocator};
}

/* Large tables grow by less, as memory is bounded. */
static size_t grown_count(size_t count)
{
    if (!count)
        return FIRST_SLOTS;
    return count < LARGE_SLOTS ? count * 2 : count + count / 2;
}

static bool grow_slots(struct pf_tree *tree)
{
    const size_t old_count = tree->slot_count, count = grown_count(old_count);
    struct pf_tree_slot *old = tree->slots, *made = pf_new(tree->allocator, count * sizeof(*made));
    if (!made)
        return false;
    tree->slots = made;
    tree->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        struct pf_tree_slot *slot = pf_tree_slot_at(tree, old[i].tag);
        while (old[i].node && slot->node)
            slot = pf_tree_next_slot(tree, slot);
        if (old[i].node)
            *slot = old[i];
    }
    pf_free(tree->allocator, old, old_count * sizeof(*old));
    return true;
}

bool pf_tree_open_table(struct pf_tree *tree)
{
    if (PF_LIKELY(tree->slot_count))
        return true;
    const bool fine = grow_slots(tree);
    tree->seed = (uintptr_t)tree->slots;
    return fine;
}

void pf_tree_close_table(struct pf_tree *tree)
{
    pf_free(tree->allocator, tree->slots, tree->slot_count * sizeof(*tree->slots));
    tree->slots = NULL;
    tree->slot_count = tree->slots_used = 0;
}

void pf_tree_restart(struct pf_tree *tree)
{
    pf_tree_close_table(tree);
    tree->count = 1;
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

uint32_t pf_tree_make(struct pf_tree *tree, uint32_t parent, uint32_t frame, struct pf_tree_slot *slot)
{
    const uint32_t made = pf_tree_append(tree, parent, frame);
    if (!slot || !made)
        return made;
    *slot = (struct pf_tree_slot){pf_tree_tag(tree, parent, frame), made};
    return ++tree->slots_used * 8 <= tree->slot_count * 7 || grow_slots(tree) ? made : 0;
}

uint32_t pf_tree_child(struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    struct pf_tree_slot *slot;
    if (!pf_tree_open_table(tree))
        return 0;
    const uint32_t child = pf_tree_find(tree, parent, frame, &slot);
    return child ? child : pf_tree_make(tree, parent, frame, slot);
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
