/* SPDX-License-Identifier: MIT */
#include "analysis/stacks.h"

#include "base/bytes.h"
#include "base/parts.h"

enum { FIRST_SLOTS = 4096, LARGE_SLOTS = 1 << 20, GROWN_PARTS = 16, LONG_PATH = 1024 };

static uint64_t mix(uint64_t hash, uint32_t frame)
{
    hash = (hash ^ frame) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static struct pf_stack_slot *slot_at(const struct pf_stacks *stacks, uint32_t tag)
{
    return &stacks->slots[(uint64_t)tag * stacks->slot_count >> 32]; /* grown tables keep the order of this one */
}

static struct pf_stack_slot *next_slot(const struct pf_stacks *stacks, struct pf_stack_slot *slot)
{
    return ++slot == stacks->slots + stacks->slot_count ? stacks->slots : slot;
}

/* Large tables grow by less, as most of the memory is in them. */
static size_t grown_count(size_t count)
{
    if (!count)
        return FIRST_SLOTS;
    return count < LARGE_SLOTS ? count * 2 : count + count / 2;
}

/* A table on its way into a larger one, both in parts of the same tags. */
struct growing {
    const struct pf_stack_slot *old;
    size_t old_count;
    const struct pf_stacks *to;
    struct {
        size_t start, end; /* of the old slots that were moved with their part */
    } parts[GROWN_PARTS];
};

static size_t part_start(size_t slot_count, size_t part)
{
    return (size_t)((uint64_t)slot_count * part / GROWN_PARTS);
}

/*
 * Writes to no other part. So what may have been pushed here from the part before, which is all up to an empty slot, stays
 * where it is, and so does all from the first one on that would be pushed into the next part.
 */
static void move_part(void *context, size_t part)
{
    struct growing *growing = context;
    const struct pf_stack_slot *old = growing->old;
    const size_t old_end = part_start(growing->old_count, part + 1);
    const struct pf_stack_slot *end = growing->to->slots + part_start(growing->to->slot_count, part + 1);
    size_t i = part_start(growing->old_count, part);
    while (i < old_end && old[i].node)
        i++;
    growing->parts[part].start = i;
    for (; i < old_end; i++) {
        struct pf_stack_slot *slot = slot_at(growing->to, old[i].tag);
        while (old[i].node && slot < end && slot->node)
            slot++;
        if (old[i].node && slot >= end)
            break;
        if (old[i].node)
            *slot = old[i];
    }
    growing->parts[part].end = i;
}

static void move_slots(const struct growing *growing, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        struct pf_stack_slot *slot = slot_at(growing->to, growing->old[i].tag);
        while (growing->old[i].node && slot->node)
            slot = next_slot(growing->to, slot);
        if (growing->old[i].node)
            *slot = growing->old[i];
    }
}

static void move_all(struct growing *growing, const struct perfile_allocator *allocator)
{
    const struct pf_parts parts = {move_part, growing, GROWN_PARTS,
                                   growing->old_count < LARGE_SLOTS ? 1 : growing->to->threads};
    size_t moved = 0;
    pf_parts_do(&parts, allocator);
    for (size_t i = 0; i < GROWN_PARTS; i++) {
        move_slots(growing, moved, growing->parts[i].start);
        moved = growing->parts[i].end;
    }
    move_slots(growing, moved, growing->old_count);
}

static bool grow_slots(struct pf_stacks *stacks, const struct perfile_allocator *allocator)
{
    struct growing growing = {.old = stacks->slots, .old_count = stacks->slot_count, .to = stacks};
    const size_t count = grown_count(growing.old_count);
    struct pf_stack_slot *old = stacks->slots, *made = pf_new(allocator, count * sizeof(*made));
    if (!made)
        return false;
    stacks->seed = old ? stacks->seed : (uintptr_t)made;
    stacks->slots = made;
    stacks->slot_count = count;
    move_all(&growing, allocator);
    pf_free(allocator, old, growing.old_count * sizeof(*old));
    return true;
}

static bool is_child(const struct pf_tree *tree, uint32_t node, uint32_t parent, uint32_t frame)
{
    if (tree->links)
        return tree->links[node].parent == parent && tree->links[node].frame == frame;
    return tree->nodes[node].parent == parent && tree->nodes[node].frame == frame;
}

/* The one that has the child, or the empty one that it goes to. */
static struct pf_stack_slot *slot_of_child(const struct pf_stacks *stacks, const struct pf_tree *tree,
                                           const struct pf_stack_step *step, uint32_t parent)
{
    const uint32_t tag = tag_of(step->hash);
    struct pf_stack_slot *slot = slot_at(stacks, tag);
    while (slot->node && !(slot->tag == tag && is_child(tree, slot->node, parent, step->frame)))
        slot = next_slot(stacks, slot);
    return slot;
}

/* A child whose slot is empty. 0: out of memory. */
static uint32_t make_child(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_step *step,
                           uint32_t parent, struct pf_stack_slot *slot)
{
    const uint32_t made = pf_tree_append(tree, parent, step->frame);
    if (made && tree->nodes)
        tree->nodes[made].note = stacks->waiting->note & PF_TREE_NOTE;
    *slot = (struct pf_stack_slot){tag_of(step->hash), made};
    return tree->count * 8 <= stacks->slot_count * 7 || grow_slots(stacks, tree->allocator) ? made : 0;
}

static uint32_t child_of(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_step *step,
                         uint32_t parent)
{
    struct pf_stack_slot *slot = slot_of_child(stacks, tree, step, parent);
    return PF_LIKELY(slot->node) ? slot->node : make_child(stacks, tree, step, parent, slot);
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
    const uint32_t hash = stack->whose * 0x9e3779b9u >> (32 - PF_STACK_PATH_BITS);
    return &stacks->paths[stack_length(stack) > LONG_PATH ? 0 : hash];
}

/* How many frames from the root on are those of the path that was here before. */
static size_t common_length(const struct pf_stack_path *path, const struct pf_stack_frames *stack, size_t count)
{
    const size_t most = pf_min_size(count, path->count);
    size_t common = 0;
    while (common < most && frame_at(stack, common) == path->steps[common].frame)
        common++;
    return common;
}

/* The path instead of the one that was there, and its places in the table asked for as far as they are new. */
static bool take_path(const struct pf_stacks *stacks, const struct perfile_allocator *allocator,
                      struct pf_stack_path *path, const struct pf_stack_frames *stack)
{
    const size_t count = stack_length(stack);
    if (!pf_grow(allocator, &path->steps, &path->room, count, sizeof(*path->steps)))
        return false;
    path->common = pf_min_size(common_length(path, stack, count), path->known);
    uint64_t hash = path->common ? path->steps[path->common - 1].hash : stacks->seed;
    for (size_t i = path->common; i < count; i++) {
        path->steps[i].frame = frame_at(stack, i);
        path->steps[i].hash = hash = mix(hash, path->steps[i].frame);
        __builtin_prefetch(slot_at(stacks, tag_of(hash)));
    }
    path->count = count;
    path->bottom_count = stack->bottom_count;
    path->alone = stack->alone;
    path->weight = stack->weight;
    path->note = stack->note;
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
    struct pf_stack_step leaf = {.hash = stacks->seed, .frame = path->alone};
    uint32_t node = 0;
    for (path->known = 0; path->known < path->bottom_count; path->known++) {
        struct pf_stack_step *step = &path->steps[path->known];
        step->node = node = child_of(stacks, tree, step, node);
        if (!node)
            return 0;
        leaf.hash = step->hash;
    }
    leaf.hash = mix(leaf.hash, leaf.frame);
    stacks->cut += path->count != path->known + 1 || path->steps[path->known].frame != leaf.frame;
    return child_of(stacks, tree, &leaf, node);
}

/* The node of a stack; 0 when out of memory. */
static uint32_t enter_path(struct pf_stacks *stacks, struct pf_tree *tree, struct pf_stack_path *path)
{
    uint32_t node = path->common ? path->steps[path->common - 1].node : 0;
    for (size_t i = path->common; i < path->count; i++) {
        struct pf_stack_slot *slot = slot_of_child(stacks, tree, &path->steps[i], node);
        if (PF_UNLIKELY(!slot->node && is_full(stacks, tree)))
            return enter_alone(stacks, tree, path);
        node = slot->node ? slot->node : make_child(stacks, tree, &path->steps[i], node, slot);
        if (!node)
            return 0;
        path->steps[i].node = node;
    }
    path->known = path->count;
    return node;
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
        pf_tree_add(tree, node, path->weight);
    stacks->entered = node;
    stacks->waiting = NULL;
    return true;
}

static bool make_places(struct pf_stacks *stacks, const struct perfile_allocator *allocator)
{
    if (!stacks->paths)
        stacks->paths = pf_new(allocator, PF_STACK_PATHS * sizeof(*stacks->paths));
    return stacks->paths && (stacks->slot_count || grow_slots(stacks, allocator));
}

bool pf_stacks_add(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_frames *stack)
{
    if (PF_UNLIKELY(!stacks->slot_count) && !make_places(stacks, tree->allocator))
        return false;
    struct pf_stack_path *path = path_of(stacks, stack);
    if ((path == stacks->waiting && !enter_waiting(stacks, tree)) || !take_path(stacks, tree->allocator, path, stack) ||
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
        pf_free(tree->allocator, stacks->paths[i].steps, stacks->paths[i].room * sizeof(*stacks->paths[i].steps));
    pf_free(tree->allocator, stacks->paths, PF_STACK_PATHS * sizeof(*stacks->paths));
    stacks->paths = stacks->waiting = NULL;
    stacks->slots = NULL;
    stacks->slot_count = 0;
    return enough;
}
