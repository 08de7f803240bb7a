/* SPDX-License-Identifier: MIT */
#include "analysis/stacks.h"

#include "base/bytes.h"

enum { LONG_PATH = 1024, MAX_BOTTOMS = 1 << 16 };

/* ---- children ---- */

/* One that was not found. 0: out of memory. */
static uint32_t make_child(const struct pf_stack_path *path, struct pf_tree *tree, uint32_t parent, uint32_t frame,
                           struct pf_tree_slot *slot)
{
    const uint32_t made = pf_tree_make(tree, parent, frame, slot);
    if (made && tree->nodes)
        tree->nodes[made].note = path->note & PF_TREE_NOTE;
    return made;
}

static uint32_t child_of(const struct pf_stack_path *path, struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    struct pf_tree_slot *slot;
    const uint32_t child = pf_tree_find(tree, parent, frame, &slot);
    return child ? child : make_child(path, tree, parent, frame, slot);
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

/* The path for stacks of this owner. Long stacks share one path, as memory is bounded. */
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
static void prefetch(const struct pf_tree *tree, const struct pf_stack_path *path)
{
    const uint32_t parent = path->common ? path->steps[path->common - 1].node : 0;
    if (path->common == path->count)
        return;
    __builtin_prefetch(pf_tree_slot_at(tree, pf_tree_tag(tree, parent, path->steps[path->common].frame)), 1);
    if (tree->links)
        __builtin_prefetch(&tree->links[parent + 1]);
    else
        __builtin_prefetch(&tree->nodes[parent + 1]);
}

/* The path instead of the one that was there. */
static bool take_path(const struct pf_tree *tree, struct pf_stack_path *path, const struct pf_stack_frames *stack)
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
    path->alike = stack->alike;
    path->note = stack->note;
    path->own = stack->own;
    prefetch(tree, path);
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
        step->node = node = child_of(path, tree, node, step->frame);
        if (!node)
            return 0;
    }
    if (path->alone == PF_STACK_NO_LEAF)
        return node;
    stacks->cut += path->count != path->known + 1 || path->steps[path->known].frame != path->alone;
    return child_of(path, tree, node, path->alone);
}

/* The node of a stack; 0 when out of memory. */
static uint32_t enter_path(struct pf_stacks *stacks, struct pf_tree *tree, struct pf_stack_path *path)
{
    uint32_t node = path->common ? path->steps[path->common - 1].node : 0;
    for (size_t i = path->common; i < path->count; i++) {
        struct pf_stack_step *step = &path->steps[i];
        struct pf_tree_slot *slot;
        const uint32_t parent = node;
        node = pf_tree_find(tree, parent, step->frame, &slot);
        if (!node && is_full(stacks, tree))
            return enter_alone(stacks, tree, path);
        if (!node)
            node = make_child(path, tree, parent, step->frame, slot);
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
    at->samples += path->alike & (((uint64_t)1 << 36) - 1);
}

/* False when out of memory. */
static bool enter(struct pf_stacks *stacks, struct pf_tree *tree, struct pf_stack_path *path)
{
    const uint32_t node = enter_path(stacks, tree, path);
    if (!node && path->count)
        return false;
    if (tree->nodes)
        end_at(tree, node, path);
    stacks->entered = node;
    return true;
}

/* False when out of memory. */
static bool enter_waiting(struct pf_stacks *stacks, struct pf_tree *tree)
{
    struct pf_stack_path *path = stacks->waiting;
    stacks->waiting = NULL;
    return !path || enter(stacks, tree, path);
}

static bool make_paths(struct pf_stacks *stacks, struct pf_tree *tree)
{
    stacks->paths = pf_new(tree->allocator, PF_STACK_PATHS * sizeof(*stacks->paths));
    return stacks->paths && pf_tree_open_table(tree);
}

/* ---- stacks of one frame ---- */

/* Of many bottoms each has few leaves: the nodes of later ones are found in the tree. */
static bool note_bottom(struct pf_stacks *stacks, const struct pf_tree *tree, const struct pf_stack_leaf *leaf,
                        const struct pf_stack_step *steps)
{
    if (leaf->bottom >= MAX_BOTTOMS)
        return true;
    if (!PF_HAS_ELEMENT(tree->allocator, stacks->bottoms, stacks->bottom_capacity, leaf->bottom))
        return false;
    stacks->bottoms[leaf->bottom] = (struct pf_stack_bottom){steps[0].node, leaf->frame, steps[1].node};
    return true;
}

/* One that has no node yet, or none that a stack ended at. */
static bool enter_new_leaf(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_leaf *leaf)
{
    struct pf_stack_step steps[] = {{.frame = leaf->bottom}, {.frame = leaf->frame}};
    struct pf_stack_path path = {.steps = steps,
                                 .count = PF_COUNT(steps),
                                 .bottom_count = 1,
                                 .weight = leaf->weight,
                                 .alone = leaf->alone,
                                 .note = leaf->note,
                                 .own = leaf->own};
    return enter(stacks, tree, &path) && note_bottom(stacks, tree, leaf, steps);
}

static uint32_t bottom_of(const struct pf_stacks *stacks, const struct pf_stack_leaf *leaf)
{
    return leaf->bottom < stacks->bottom_capacity ? stacks->bottoms[leaf->bottom].node : 0;
}

static bool enter_leaf(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_leaf *leaf)
{
    struct pf_tree_slot *slot;
    const uint32_t parent = bottom_of(stacks, leaf);
    const uint32_t tag = leaf->tag ? leaf->tag : pf_tree_tag(tree, parent, leaf->frame);
    const uint32_t node = parent ? pf_tree_find_tagged(tree, parent, leaf->frame, tag, &slot) : 0;
    if (PF_UNLIKELY(!node || !tree->nodes[node].samples))
        return enter_new_leaf(stacks, tree, leaf);
    pf_tree_add(tree, node, leaf->weight);
    return true;
}

static bool enter_leaves(struct pf_stacks *stacks, struct pf_tree *tree)
{
    bool enough = true;
    for (unsigned i = 0; i < stacks->leaf_count; i++)
        __builtin_prefetch(&tree->nodes[pf_tree_slot_at(tree, stacks->leaves[i].tag)->node], 1);
    for (unsigned i = 0; i < stacks->leaf_count && enough; i++)
        enough = enter_leaf(stacks, tree, &stacks->leaves[i]);
    stacks->leaf_count = 0;
    return enough;
}

bool pf_stacks_add_leaf(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_leaf *leaf)
{
    if (PF_UNLIKELY(!stacks->paths) && !make_paths(stacks, tree))
        return false;
    if (PF_UNLIKELY(stacks->waiting != NULL) && !enter_waiting(stacks, tree))
        return false;
    if (PF_UNLIKELY(stacks->leaf_count == PF_STACK_LEAVES) && !enter_leaves(stacks, tree))
        return false;
    struct pf_stack_leaf *waits = &stacks->leaves[stacks->leaf_count++];
    const uint32_t parent = bottom_of(stacks, leaf);
    *waits = *leaf;
    waits->tag = parent ? pf_tree_tag(tree, parent, leaf->frame) : 0;
    __builtin_prefetch(pf_tree_slot_at(tree, waits->tag));
    return true;
}

/* ---- all stacks ---- */

bool pf_stacks_add(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_frames *stack)
{
    if (PF_UNLIKELY(!stacks->paths) && !make_paths(stacks, tree))
        return false;
    if (PF_UNLIKELY(stacks->leaf_count) && !enter_leaves(stacks, tree))
        return false;
    struct pf_stack_path *path = path_of(stacks, stack);
    if ((path == stacks->waiting && !enter_waiting(stacks, tree)) || !take_path(tree, path, stack) ||
        !enter_waiting(stacks, tree))
        return false;
    stacks->waiting = path;
    return true;
}

bool pf_stacks_end(struct pf_stacks *stacks, struct pf_tree *tree)
{
    const bool enough = enter_waiting(stacks, tree) && enter_leaves(stacks, tree);
    if (stacks->paths)
        pf_tree_close_table(tree);
    for (size_t i = 0; stacks->paths && i < PF_STACK_PATHS; i++)
        pf_free(tree->allocator, stacks->paths[i].steps, stacks->paths[i].capacity * sizeof(*stacks->paths[i].steps));
    pf_free(tree->allocator, stacks->paths, PF_STACK_PATHS * sizeof(*stacks->paths));
    pf_free(tree->allocator, stacks->bottoms, stacks->bottom_capacity * sizeof(*stacks->bottoms));
    stacks->bottoms = NULL;
    stacks->bottom_capacity = 0;
    stacks->leaf_count = 0;
    stacks->paths = stacks->waiting = NULL;
    return enough;
}
