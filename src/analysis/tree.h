/* SPDX-License-Identifier: MIT */
/*
 * A tree of call stacks: what flame graphs and call graphs are made of. Nodes are 32-bit numbers in one array, found by
 * (parent, frame) through one hash table; adding a stack costs one probe a frame and no allocation when it was seen.
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

struct pf_tree_slot {
    uint32_t parent, frame; /* as in the node, which then need not be fetched */
    uint32_t node;          /* 0 = empty: the root is nobody's child */
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
    size_t slot_count;
};

int pf_tree_open(struct pf_tree *tree, const struct perfile_allocator *allocator);
/* A tree of links, which pf_stacks_add fills. */
int pf_tree_open_links(struct pf_tree *tree, const struct perfile_allocator *allocator);
void pf_tree_close(struct pf_tree *tree);
/* The child of `parent` for this frame, made when it is not there; 0 when out of memory. */
uint32_t pf_tree_child(struct pf_tree *tree, uint32_t parent, uint32_t frame);
/* A new child that pf_tree_child does not find; 0 when out of memory. */
uint32_t pf_tree_append(struct pf_tree *tree, uint32_t parent, uint32_t frame);
void pf_tree_add(struct pf_tree *tree, uint32_t node, uint64_t weight);
/* Makes the totals of all nodes; again when there are more. False when out of memory. */
bool pf_tree_sum(struct pf_tree *tree);

#endif
