/* SPDX-License-Identifier: MIT */
/*
 * Stacks on their way into the tree. Memory is what this costs: each frame is a place in a big table, and a tree that is
 * walked by (parent, frame) has to wait for each before it can ask for the next. So nodes are found here by a hash of
 * their whole path, which needs no memory: all places of a stack are asked for at once, and looked at when the next
 * sample has been read.
 */
#include "analysis/report.h"
#include "base/bytes.h"

enum { FIRST_SLOTS = 4096 };

static uint64_t mix(uint64_t hash, uint32_t frame)
{
    hash = (hash ^ frame) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static struct pf_report_slot *slot_at(const struct pf_report *report, uint32_t tag)
{
    return &report->slots[(uint64_t)tag * report->slot_count >> 32]; /* grown tables keep the order of this one */
}

/* The slot of the node, or the empty one where it belongs. */
static struct pf_report_slot *find_slot(const struct pf_report *report, uint32_t tag, uint32_t parent, uint32_t frame)
{
    const struct pf_tree_node *nodes = report->tree.nodes;
    struct pf_report_slot *slot = slot_at(report, tag), *end = report->slots + report->slot_count;
    while (slot->node && (slot->tag != tag || nodes[slot->node].parent != parent || nodes[slot->node].frame != frame))
        if (++slot == end)
            slot = report->slots;
    return slot;
}

static bool grow_slots(struct pf_report *report)
{
    const size_t old_count = report->slot_count, count = old_count ? old_count * 2 : FIRST_SLOTS;
    struct pf_report_slot *old = report->slots, *made = pf_new(report->allocator, count * sizeof(*made));
    if (!made)
        return false;
    report->slots = made;
    report->slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].node)
            *find_slot(report, old[i].tag, 0, PF_NO_SYMBOL) = old[i]; /* no node is like that: an empty one */
    pf_free(report->allocator, old, old_count * sizeof(*old));
    return true;
}

static uint32_t make_node(struct pf_report *report, uint32_t tag, uint32_t parent, uint32_t frame)
{
    struct pf_tree *tree = &report->tree;
    if (tree->count >= PF_REPORT_APART - 1 ||
        !pf_grow(tree->allocator, &tree->nodes, &tree->room, tree->count + 1, sizeof(*tree->nodes)) ||
        !pf_grow(report->allocator, &report->made_by, &report->made_by_room, tree->count + 1, sizeof(*report->made_by)))
        return 0;
    if (tree->count * 8 > report->slot_count * 7 && !grow_slots(report))
        return 0;
    const uint32_t made = (uint32_t)tree->count++;
    tree->nodes[made] = (struct pf_tree_node){.parent = parent, .frame = frame};
    report->made_by[made] = report->arriving[report->last_arrived].maker;
    *find_slot(report, tag, parent, frame) = (struct pf_report_slot){tag, made};
    return made;
}

static uint32_t child_of(struct pf_report *report, uint64_t hash, uint32_t parent, uint32_t frame)
{
    if (!report->slot_count && !grow_slots(report))
        return 0;
    const struct pf_report_slot *slot = find_slot(report, tag_of(hash), parent, frame);
    return slot->node ? slot->node : make_node(report, tag_of(hash), parent, frame);
}

/* ---- a stack comes ---- */

/* How many frames from the root on are those of the stack before. */
static size_t common_length(const struct pf_report_stack *before, const uint32_t *leaf_first, size_t count)
{
    const size_t most = pf_min(count, before->count);
    const uint32_t *frame = leaf_first + count;
    size_t common = 0;
    while (common < most && *--frame == before->path[common].frame)
        common++;
    return common;
}

static uint64_t hash_of(const struct pf_report_stack *stack, size_t depth)
{
    return depth ? stack->path[depth - 1].hash : stack->key_hash;
}

/* The path, and its places in the table asked for as far as they are new. */
static bool take_path(const struct pf_report *report, struct pf_report_stack *stack,
                      const struct pf_report_stack *before, const uint32_t *leaf_first, size_t count)
{
    if (!pf_grow(report->allocator, &stack->path, &stack->room, count, sizeof(*stack->path)))
        return false;
    stack->common = before->key == stack->key && before->waits ? common_length(before, leaf_first, count) : 0;
    if (stack->common)
        memcpy(stack->path, before->path, stack->common * sizeof(*stack->path));
    uint64_t hash = hash_of(stack, stack->common);
    for (size_t i = stack->common; i < count; i++) {
        stack->path[i].frame = leaf_first[count - 1 - i];
        stack->path[i].hash = hash = mix(hash, stack->path[i].frame);
        __builtin_prefetch(slot_at(report, tag_of(hash)));
    }
    stack->count = count;
    return true;
}

/* What lies apart from the callchain hangs below its end. */
static void take_leaf(const struct pf_report *report, struct pf_report_stack *stack,
                      const struct pf_profile_sample *sample)
{
    stack->leaf = PF_NO_SYMBOL;
    if (stack->count && sample->frames[0] == sample->leaf)
        return;
    stack->leaf = report->stacks ? sample->leaf | PF_REPORT_APART : sample->leaf;
    stack->leaf_hash = mix(hash_of(stack, stack->count), stack->leaf);
    __builtin_prefetch(slot_at(report, tag_of(stack->leaf_hash)));
}

/* ---- and goes into the tree ---- */

static void fetch_nodes(const struct pf_report *report, const struct pf_report_stack *stack)
{
    for (size_t i = stack->common; i < stack->count && stack->waits; i++)
        __builtin_prefetch(&report->tree.nodes[slot_at(report, tag_of(stack->path[i].hash))->node]);
}

/* False when memory is short. */
static bool enter_last(struct pf_report *report)
{
    struct pf_report_stack *stack = &report->arriving[report->last_arrived];
    if (!stack->waits)
        return true;
    size_t depth = stack->common;
    uint32_t node = depth ? stack->path[depth - 1].node : child_of(report, stack->key_hash, 0, stack->key);
    for (; depth < stack->count && node; depth++) {
        node = child_of(report, stack->path[depth].hash, node, stack->path[depth].frame);
        stack->path[depth].node = node;
    }
    if (node && stack->leaf != PF_NO_SYMBOL)
        node = child_of(report, stack->leaf_hash, node, stack->leaf);
    if (node)
        pf_tree_add(&report->tree, node, stack->period);
    return node != 0;
}

bool pf_report_add_stack(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample)
{
    const size_t count = report->stacks ? (size_t)pf_min(sample->frame_count, report->max_stack) : 0;
    const struct pf_report_stack *last = &report->arriving[report->last_arrived];
    struct pf_report_stack *stack = &report->arriving[!report->last_arrived];
    if (!report->slot_count && !grow_slots(report))
        return false;
    fetch_nodes(report, last);
    stack->key = key;
    stack->key_hash = mix((uintptr_t)report, key); /* not known to who makes a file */
    stack->maker = pf_report_maker(sample);
    stack->period = sample->period;
    if (!take_path(report, stack, last, sample->frames, count))
        return false;
    take_leaf(report, stack, sample);
    if (!enter_last(report))
        return false;
    for (size_t i = 0; i < stack->common; i++)
        stack->path[i].node = last->path[i].node;
    stack->waits = true;
    report->last_arrived = !report->last_arrived;
    return true;
}

bool pf_report_end_stacks(struct pf_report *report)
{
    const bool enough = enter_last(report);
    pf_free(report->allocator, report->slots, report->slot_count * sizeof(*report->slots));
    for (size_t i = 0; i < PF_COUNT(report->arriving); i++) {
        struct pf_report_stack *stack = &report->arriving[i];
        pf_free(report->allocator, stack->path, stack->room * sizeof(*stack->path));
        *stack = (struct pf_report_stack){.path = NULL};
    }
    report->slots = NULL;
    report->slot_count = 0;
    return enough;
}
