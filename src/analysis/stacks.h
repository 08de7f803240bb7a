/* SPDX-License-Identifier: MIT */
/*
 * Adds stacks to a tree. Frames that a stack shares with the one before of its thread need no search. The memory that
 * is needed first is prefetched when a stack is added, and read when the next one is: the cost is that of memory.
 */
#ifndef PF_ANALYSIS_STACKS_H
#define PF_ANALYSIS_STACKS_H

#include "analysis/tree.h"

#define PF_STACK_NO_LEAF UINT32_MAX

/* From the root on: what stands below all functions (a thread ...), the functions, and what lies apart from them. */
struct pf_stack_frames {
    const uint32_t *bottom; /* root first */
    size_t bottom_count;
    const uint32_t *frames; /* leaf first */
    size_t frame_count;
    uint32_t leaf; /* or PF_STACK_NO_LEAF */
    /* with pf_stacks.limit: the leaf of a stack that is kept without callers; PF_STACK_NO_LEAF: the stack is empty */
    uint32_t alone;
    uint32_t note;  /* of the nodes that it makes */
    uint32_t own;   /* bits of the note that a node has from the first stack that ends there instead */
    uint32_t owner; /* thread: those with the same number tend to have the same frames near the root */
    uint64_t weight;
    uint64_t alike; /* so many more stacks are the same: `weight` is that of all */
};

struct pf_stack_step {
    uint32_t frame;
    uint32_t node;
};

struct pf_stack_path {
    struct pf_stack_step *steps; /* root first */
    size_t count, capacity;
    size_t common; /* with the stack that was here before: the nodes are known up to here */
    size_t known;  /* when it is in the tree: nodes up to here are its */
    size_t bottom_count;
    uint64_t weight, alike;
    uint32_t alone, note, own;
};

/* A stack of one frame below one number, small ones from 0 on. The other members are as in struct pf_stack_frames. */
struct pf_stack_leaf {
    uint32_t bottom, frame;
    uint32_t alone, note, own;
    uint32_t tag; /* in the tree; set by pf_stacks_add_leaf */
    uint64_t weight;
};

/* What is known of the stacks of two nodes that share a bottom: the node of the bottom, and the leaf made last. */
struct pf_stack_bottom {
    uint32_t node; /* 0: not known */
    uint32_t frame;
    uint32_t leaf; /* the node of `frame`; 0: not known */
};

enum { PF_STACK_LEAVES = 32 };
enum { PF_STACK_PATH_BITS = 8, PF_STACK_PATHS = 1 << PF_STACK_PATH_BITS };

struct pf_stacks {
    struct pf_stack_path *paths;   /* PF_STACK_PATHS of them: the last stacks of threads */
    struct pf_stack_path *waiting; /* its slots of the table are being prefetched; NULL: none */
    size_t limit; /* with so many nodes a stack that is not in the tree keeps its bottom and its leaf alone; 0: none */
    uint64_t cut; /* stacks of which no more was kept */
    struct pf_stack_leaf leaves[PF_STACK_LEAVES]; /* that wait */
    unsigned leaf_count;
    struct pf_stack_bottom *bottoms; /* by the `bottom` of leaves */
    size_t bottom_capacity;
    uint32_t entered; /* the node where the stack before the last one ended; 0: there was none, or it is empty */
};

/*
 * Zeroes are a good beginning, with a tree that has only its root; then it is always the same tree.
 *
 * Takes the stack; the tree has it, and `entered` is its, when the next one comes. False when out of memory.
 */
bool pf_stacks_add(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_frames *stack);
/*
 * The same for a stack of two nodes, which has no neighbour to be compared with. Many of them wait at a time, as the
 * tables of large trees are slow to reach; `entered` is not set.
 */
bool pf_stacks_add_leaf(struct pf_stacks *stacks, struct pf_tree *tree, const struct pf_stack_leaf *leaf);
/*
 * Adds such a stack if its leaf is the one that was made last above its bottom, which saves the search where all
 * samples have the same frame. False: pf_stacks_add_leaf has to be called.
 */
static inline bool pf_stacks_add_again(const struct pf_stacks *stacks, struct pf_tree *tree, uint32_t bottom,
                                       uint32_t frame, uint64_t weight)
{
    const struct pf_stack_bottom *known = bottom < stacks->bottom_capacity ? &stacks->bottoms[bottom] : NULL;
    if (!known || known->frame != frame || !known->leaf)
        return false;
    pf_tree_add(tree, known->leaf, weight);
    return true;
}
/* The tree has the last one, too, and what finds nodes is gone; again does nothing. False when out of memory. */
bool pf_stacks_end(struct pf_stacks *stacks, struct pf_tree *tree);

#endif
