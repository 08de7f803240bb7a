/* SPDX-License-Identifier: MIT */
/*
 * A tree of call stacks, for flame graphs and call graphs. Nodes are 32-bit numbers in one array, found by (parent,
 * frame). A child is searched right after its parent first, where it is if it was made right after it; only children
 * elsewhere, one for most stacks, are in a hash table.
 */
#ifndef PF_ANALYSIS_TREE_H
#define PF_ANALYSIS_TREE_H

#include "base/memory.h"

struct pf_tree_node {
    uint32_t parent; /* node 0 is the root, its own parent */
    uint32_t frame;  /* what the owner of the tree makes of it: an id of a name, an address ... */
    uint64_t self;   /* weight of the stacks that end here */
    union {
        struct {
            uint64_t samples : 36; /* stacks that end here */
            uint64_t note : 28;    /* of the stack that made the node, or in part of the first that ends here */
        };
        uint64_t mark; /* what its owner puts there when it needs neither any more */
    };
};
#define PF_TREE_NOTE (((uint32_t)1 << 28) - 1) /* what a note can hold */

/* A node that does not stand right after its parent. */
struct pf_tree_slot {
    uint32_t tag;  /* of the hash */
    uint32_t node; /* 0: empty, as the root is not a child */
};

/* What a node is found by. */
struct pf_tree_link {
    uint32_t parent, frame;
};

struct pf_tree {
    const struct perfile_allocator *allocator;
    struct pf_tree_node *nodes; /* a parent stands before its children */
    struct pf_tree_link *links; /* of a tree that nothing is added to: instead of the nodes, which are NULL then */
    size_t count;
    size_t capacity;
    uint64_t *totals; /* of each node, with all below it; NULL before pf_tree_sum */
    size_t total_capacity;
    struct pf_tree_slot *slots;
    size_t slot_count, slots_used;
    uint64_t seed; /* unknown to the maker of a file: children that all collide cannot be made */
};

int pf_tree_open(struct pf_tree *tree, const struct perfile_allocator *allocator);
/* A tree of links, which pf_stacks_add fills. */
int pf_tree_open_links(struct pf_tree *tree, const struct perfile_allocator *allocator);
void pf_tree_close(struct pf_tree *tree);
/* The child of `parent` for this frame, made when it is not there; 0 when out of memory. */
uint32_t pf_tree_child(struct pf_tree *tree, uint32_t parent, uint32_t frame);
/* A new child that pf_tree_child need not find; 0 when out of memory. */
uint32_t pf_tree_append(struct pf_tree *tree, uint32_t parent, uint32_t frame);
/* Makes the totals of all nodes; again when there are more. False when out of memory. */
bool pf_tree_sum(struct pf_tree *tree);

/* Makes the table that children are found by, if it is not there yet. False when out of memory. */
bool pf_tree_open_table(struct pf_tree *tree);
/* Frees it: no more children are looked for. */
void pf_tree_close_table(struct pf_tree *tree);
/* All nodes but the root go, and what is in their memory stays. */
void pf_tree_restart(struct pf_tree *tree);
/* A child that pf_tree_find did not find; `slot` is that function's. 0: out of memory. */
uint32_t pf_tree_make(struct pf_tree *tree, uint32_t parent, uint32_t frame, struct pf_tree_slot *slot);

static inline void pf_tree_add(struct pf_tree *tree, uint32_t node, uint64_t weight)
{
    tree->nodes[node].self += weight;
    tree->nodes[node].samples++;
}

static inline bool pf_tree_is_child(const struct pf_tree *tree, uint32_t node, uint32_t parent, uint32_t frame)
{
    if (tree->links)
        return tree->links[node].parent == parent && tree->links[node].frame == frame;
    return tree->nodes[node].parent == parent && tree->nodes[node].frame == frame;
}

static inline uint32_t pf_tree_tag(const struct pf_tree *tree, uint32_t parent, uint32_t frame)
{
    uint64_t hash = (((uint64_t)parent << 32 | frame) ^ tree->seed) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
    return (uint32_t)(hash >> 32);
}

static inline struct pf_tree_slot *pf_tree_slot_at(const struct pf_tree *tree, uint32_t tag)
{
    return &tree->slots[(uint64_t)tag * tree->slot_count >> 32];
}

static inline struct pf_tree_slot *pf_tree_next_slot(const struct pf_tree *tree, struct pf_tree_slot *slot)
{
    return ++slot == tree->slots + tree->slot_count ? tree->slots : slot;
}

/*
 * Returns the child, or 0: then *slot is the slot for it, or NULL when its parent is the last node, so that the child
 * will be right after it. There must be a table.
 */
static inline uint32_t pf_tree_find_tagged(const struct pf_tree *tree, uint32_t parent, uint32_t frame, uint32_t tag,
                                           struct pf_tree_slot **slot)
{
    const uint32_t after = parent + 1;
    *slot = NULL;
    if (after == tree->count)
        return 0;
    if (pf_tree_is_child(tree, after, parent, frame))
        return after;
    struct pf_tree_slot *at = pf_tree_slot_at(tree, tag);
    while (at->node && !(at->tag == tag && pf_tree_is_child(tree, at->node, parent, frame)))
        at = pf_tree_next_slot(tree, at);
    *slot = at;
    return at->node;
}

static inline uint32_t pf_tree_find(const struct pf_tree *tree, uint32_t parent, uint32_t frame,
                                    struct pf_tree_slot **slot)
{
    return pf_tree_find_tagged(tree, parent, frame, pf_tree_tag(tree, parent, frame), slot);
}

#endif
