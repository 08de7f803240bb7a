/* SPDX-License-Identifier: MIT */
/*
 * Stacks on their way into the tree. Memory is what this costs: each frame is a place in a big table, and a tree that is
 * walked by (parent, frame) has to wait for each before it can ask for the next. So nodes are found here by a hash of
 * their whole path, which needs no memory, and all places of a stack are fetched at once.
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
    report->made_by[made] = report->maker;
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

/* How many frames from the root on are those of the sample before. */
static size_t common_length(const struct pf_report *report, const uint32_t *leaf_first, size_t count)
{
    const size_t most = pf_min(count, report->path_count);
    const uint32_t *frame = leaf_first + count;
    size_t common = 0;
    while (common < most && *--frame == report->path[common].frame)
        common++;
    return common;
}

/* Hashes of the path from `depth` on; first the slots are asked for, then the nodes that they name. */
static void fetch(struct pf_report *report, const uint32_t *leaf_first, size_t depth, size_t count)
{
    struct pf_report_step *path = report->path;
    uint64_t hash = depth ? path[depth - 1].hash : report->path_key_hash;
    for (size_t i = depth; i < count; i++) {
        path[i].frame = leaf_first[count - 1 - i];
        path[i].hash = hash = mix(hash, path[i].frame);
        __builtin_prefetch(slot_at(report, tag_of(hash)));
    }
    for (size_t i = depth; i < count; i++)
        __builtin_prefetch(&report->tree.nodes[slot_at(report, tag_of(path[i].hash))->node]);
}

/* The node of the stack below that of the key; 0 when memory is short. */
static uint32_t add_frames(struct pf_report *report, uint32_t key_node, const uint32_t *leaf_first, size_t count)
{
    size_t depth = key_node == report->path_key ? common_length(report, leaf_first, count) : 0;
    uint32_t node = depth ? report->path[depth - 1].node : key_node;
    report->path_key = key_node;
    report->path_count = depth;
    if (!pf_grow(report->allocator, &report->path, &report->path_room, count, sizeof(*report->path)))
        return 0;
    fetch(report, leaf_first, depth, count);
    for (; depth < count && node; depth++) {
        node = child_of(report, report->path[depth].hash, node, report->path[depth].frame);
        report->path[depth].node = node;
    }
    report->path_count = node ? count : 0;
    return node;
}

uint32_t pf_report_add_stack(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample)
{
    const size_t count = report->stacks ? (size_t)pf_min(sample->frame_count, report->max_stack) : 0;
    const uint64_t key_hash = mix((uintptr_t)report, key); /* not known to who makes a file */
    report->maker = pf_report_maker(sample);
    uint32_t node = child_of(report, key_hash, 0, key);
    if (!node)
        return 0;
    report->path_key_hash = key_hash;
    if (count)
        node = add_frames(report, node, sample->frames, count);
    if (!node || (count && sample->frames[0] == sample->leaf))
        return node;
    const uint32_t leaf = report->stacks ? sample->leaf | PF_REPORT_APART : sample->leaf;
    const uint64_t hash = count ? report->path[count - 1].hash : key_hash;
    return child_of(report, mix(hash, leaf), node, leaf);
}

void pf_report_end_stacks(struct pf_report *report)
{
    pf_free(report->allocator, report->slots, report->slot_count * sizeof(*report->slots));
    pf_free(report->allocator, report->path, report->path_room * sizeof(*report->path));
    report->slots = NULL;
    report->path = NULL;
    report->slot_count = report->path_count = report->path_room = 0;
}
