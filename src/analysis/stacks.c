/* SPDX-License-Identifier: MIT */
#include "analysis/stacks.h"

#include "base/bytes.h"

enum { FIRST_SLOTS = 1024, LARGE_SLOTS = 1 << 20, LONG_PATH = 1024 };

/* ---- children ---- */

static bool is_child(const struct pf_tree *tree, uint32_t node, uint32_t parent, uint32_t frame)
{
    if (tree->links)
        return tree->links[node].parent == parent && tree->links[node].frame == frame;
    return tree->nodes[node].parent == parent && tree->nodes[node].frame == frame;
}

static uint32_t tag_of(const struct pf_stacks *stacks, uint32_t parent, uint32_t frame)
{
    uint64_t hash = (((uint64_t)parent << 32 | frame) ^ stacks->seed) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
    return (uint32_t)(hash >> 32);
}

static struct pf_stack_slot *slot_at(const struct pf_stacks *stacks, uint32_t tag)
{
    return &stacks->slots[(uint64_t)tag * stacks->slot_count >> 32];
}

static struct pf_stack_slot *next_slot(const struct pf_stacks *stacks, struct pf_stack_slot *slot)
{
    return ++slot == stacks->slots + stacks->slot_count ? stacks->slots : slot;
}

/* Large tables grow by less, as memory is bounded. */
static size_t grown_count(size_t count)
{
    if (!count)
        return FIRST_SLOTS;
    return count < LARGE_SLOTS ? count * 2 : count + count / 2;
}

static bool grow_slots(struct pf_stacks *stacks, const struct perfile_allocator *allocator)
{
    const size_t old_count = stacks->slot_count, count = grown_count(old_count);
    struct pf_stack_slot *old = stacks->slots, *made = pf_new(allocator, count * sizeof(*made));
    if (!made)
        return false;
    stacks->slots = made;
    stacks->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        struct pf_stack_slot *slot = slot_at(stacks, old[i].tag);
        while (old[i].node && slot->node)
            slot = next_slot(stacks, slot);
        if (old[i].node)
            *slot = old[i];
    }
    pf_free(allocator, old, old_count * sizeof(*old));
    return true;
}

/* A child, or 0: then *slot is where it goes to, or NULL when its parent is the last node, and it comes to stand behind it. */
static uint32_t find_child(const struct pf_stacks *stacks, const struct pf_tree *tree, uint32_t parent, uint32_t frame,
                           struct pf_stack_slot **slot)
{
    const uint32_t after = parent + 1;
    *slot = NULL;
    if (after == tree->count)
        return 0;
    if (is_child(tree, after, parent, frame))
        return after;
    const uint32_t tag = tag_of(stacks, parent, frame);
    struct pf_stack_slot *at = slot_at(stacks, tag);
    while (at->node && !(at->tag == tag && is_child(tree, at->node, parent, frame)))
        at = next_slot(stacks, at);
    *slot = at;
    return at->node;
}

/* One that was not found. 0: out of memory. */
static uint32_t make_child(struct pf_stacks *stacks, struct pf_tree *tree, uint32_t parent, uint32_t frame,
                           struct pf_stack_slot *slot)
{
    const uint32_t made = pf_tree_append(tree, parent, frame);
    if (made && tree->nodes)
        tree->nodes[made].note = stacks->waiting->note & PF_TREE_NOTE;
    if (!slot || !made)
        return made;
    *slot = (struct pf_stack_slot){tag_of(stacks, parent, frame), made};
    return ++stacks->slots_used * 8 <= stacks->slot_count * 7 || grow_slots(stacks, tree->allocator) ? made : 0;
}

static uint32_t child_of(struct pf_stacks *stacks, struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    struct pf_stack_slot *slot;
    const uint32_t child = find_child(stacks, tree, parent, frame, &slot);
    return child ? child : make_child(stacks, tree, parent, frame, slot);
}

/* ---- a stack comes ---- */

static uint32_t frame_at(const struct pf_stack_frames *stack, size_t depth)
{
    if (depth < stack->bottom_count)
        return stack->bottom[depth];
    depth -= stack->bottom_count;
    return depth < stack->frame_count ? stack->frames[stack->frame_count - 1 - depth] : stack->leaf;
}

static size_t stack_length(const struct pf_stack_frames *stack)
{
    return stack->bottom_count + stack->frame_count + (stack->leaf != PF_STACK_NO_LEAF);
}

/* Long ones share one place, as memory is bounded. */
static struct pf_stack_path *path_of(const struct pf_stacks *stacks, const struct pf_stack_frames *stack)
{
    const uint32_t hash = stack->owner * 0x9e3779b9u >> (32 - PF_STACK_PATH_BITS);
    return &stacks->paths[stack_length(stack) > LONG_PATH ? 0 : hash];
}

/* How many frames from the root on are those of the path that was here before. */
static size_t common_length(const struct pf_stack_path *path, const struct pf_stack_frames *stack, size_t count)
{
    const size_t max = pf_min_size(count, path->count);
    size_t common = 0;
    while (common < max && frame_at(stack, common) == path->steps[common].frame)
        common++;
    return common;
}

/* What is looked at for the first frame that is not known. */
static void prefetch(const struct pf_stacks *stacks, const struct pf_tree *tree, const struct pf_stack_path *path)
{
    const uint32_t parent = path->common ? path->steps[path->common - 1].node : 0;
    if (path->common == path->count)
        return;
    __builtin_prefetch(slot_at(stacks, tag_of(stacks, parent, path->steps[path->common].frame)), 1);
    if (tree->links)
        __builtin_prefetch(&tree->links[parent + 1]);
    else
        __builtin_prefetch(&tree->nodes[parent + 1]);
}

/* The path instead of the one that was there. */
static bool take_path(const struct pf_stacks *stacks, const struct pf_tree *tree, struct pf_stack_path *path,
                      const struct pf_stack_frames *stack)
{
    const size_t count = stack_length(stack);
    if (!pf_grow(tree->allocator, &path->steps, &path->capacity, count, sizeof(*path->steps)))
        return false;
    path->common = pf_min_size(common_length(path, stack, count), path->known);
    for (size_t i = path->common; i < count; i++)
        path->steps[i].frame = frame_at(stack, i);
    path->count = count;
    path->bottom_count = stack->bottom_count;
    path->alone = stack->alone;
    path->weight = stack->weight;
    path->note = stack->note;
    path->own = stack->own;
    prefetch(stacks, tree, path);
    return true;
}

/* ---- and goes into the tree ---- */

static bool is_full(const struct pf_stacks *stacks, const struct pf_tree *tree)
{
    return stacks->limit && tree->count >= stacks->limit;
}

/* The node of a stack of which no more than its bottom and its leaf are kept; 0 when out of memory. */
static uint32_t enter_alone(struct pf_stacks *stacks, struct pf_tree *tree, struct pf_stack_path *path)
{
    uint32_t node = 0;
    for (path->known = 0; path->known < path->bottom_count; path->known++) {
        struct pf_stack_step *step = &path->steps[path->known];
        step->node = node = child_of(stacks, tree, node, step->frame);
        if (!node)
            return 0;
    }
    if (path->alone == PF_STACK_NO_LEAF)
        return node;
    stacks->cut += path->count != path->known + 1 || path->steps[path->known].frame != path->alone;
    return child_of(stacks, tree, node, path->alone);
}

/* The node of a stack; 0 when out of memory. */
static uint32_t enter_path(struct pf_stacks *stacks, struct pf_tree *tree, struct pf_stack_path *path)
{
    uint32_t node = path->common ? path->steps[path->common - 1].node : 0;
    for (size_t i = path->common; i < path->count; i++) {
        struct pf_stack_step *step = &path->steps[i];
        struct pf_stack_slot *slot;
        const uint32_t parent = node;
        node = find_child(stacks, tree, parent, step->frame, &slot);
        if (!node && is_full(stacks, tree))
            return enter_alone(stacks, tree, path);
        if (!node)
            node = make_child(stacks, tree, parent, step->frame, slot);
        if (!node)
            return 0;
        step->node = node;
    }
    path->known = path->count;
    return node;
}

static void end_at(struct pf_tree *tree, uint32_t node, const struct pf_stack_path *path)
{
    struct pf_tree_node *at = &tree->nodes[node];
    if (!at->samples)
        at->note = ((at->note & ~path->own) | (path->note & path->own)) & PF_TREE_NOTE;
    pf_tree_add(tree, node, path->weight);
}

/* False when out of memory. */
static bool enter_waiting(struct pf_stacks *stacks, struct pf_tree *tree)
{
    struct pf_stack_path *path = stacks->waiting;
    if (!path)
        return true;
    const uint32_t node = enter_path(stacks, tree, path);
    if (!node && path->count)
        return false;
    if (tree->nodes)
        end_at(tree, node, path);
    stacks->entered = node;
    stacks->waiting = NULL;
    return true;
}

static bool make_positions(struct pf_stacks *stacks, const struct perfile_allocator *allocator)
{
    if (!stacks->paths)
        stacks->paths = pf_new(allocator, PF_STACK_PATHS * sizeof(*stacks->paths));
    stacks->seed = (uintptr_t)stacks->paths;
    return stacks->paths && (stacks->slot_count || grow_slots(stacks, allocator));
}

bool pf_stacks_add(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_frames *stack)
{
    if (PF_UNLIKELY(!stacks->slot_count) && !make_positions(stacks, tree->allocator))
        return false;
    struct pf_stack_path *path = path_of(stacks, stack);
    if ((path == stacks->waiting && !enter_waiting(stacks, tree)) || !take_path(stacks, tree, path, stack) ||
        !enter_waiting(stacks, tree))
        return false;
    stacks->waiting = path;
    return true;
}

bool pf_stacks_end(struct pf_stacks *stacks, struct pf_tree *tree)
{
    const bool enough = enter_waiting(stacks, tree);
    pf_free(tree->allocator, stacks->slots, stacks->slot_count * sizeof(*stacks->slots));
    for (size_t i = 0; stacks->paths && i < PF_STACK_PATHS; i++)
        pf_free(tree->allocator, stacks->paths[i].steps, stacks->paths[i].capacity * sizeof(*stacks->paths[i].steps));
    pf_free(tree->allocator, stacks->paths, PF_STACK_PATHS * sizeof(*stacks->paths));
    stacks->paths = stacks->waiting = NULL;
    stacks->slots = NULL;
    stacks->slot_count = stacks->slots_used = 0;
    return enough;
}
