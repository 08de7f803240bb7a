/* SPDX-License-Identifier: MIT */
/* Trees with more nodes than a page may hold: equal threads become one, then only the heaviest nodes are kept. */
#ifndef PF_OUTPUT_FLAME_CUT_H
#define PF_OUTPUT_FLAME_CUT_H

#include "analysis/tree.h"

/* What becomes of a tree's nodes. All arrays are by node of `tree`. */
struct pf_flame_cut {
    const struct perfile_allocator *allocator;
    const struct pf_tree *tree; /* what is written: the joined one, or the one that was given */
    struct pf_tree joined;
    uint32_t *place_of; /* by node of the tree that was given: the node of `tree`; NULL: they are the same */
    size_t given;
    bool *kept;        /* NULL: all are. A kept node's parent is kept */
    uint64_t *lighter; /* by kept node: what its callees that are not kept weigh */
    size_t cut_count;
    uint64_t cut_weight;
};

/*
 * At most `most` nodes are kept; `joins`: threads of one name become one. `alias`: by frame, the one that stands for it
 * then. 0, or MEMORY. Close it after failures, too.
 */
int pf_flame_cut_open(struct pf_flame_cut *cut, const struct perfile_allocator *allocator, const struct pf_tree *tree,
                      const uint32_t *alias, bool joins, size_t most);
void pf_flame_cut_close(struct pf_flame_cut *cut);

struct pf_flame_sums {
    uint64_t self, total; /* recursion counts once */
};
/* What each frame weighs in all of the tree; `same`: by frame, the one that it counts as. False when out of memory. */
bool pf_flame_cut_sums(const struct perfile_allocator *allocator, const struct pf_tree *tree, const uint32_t *same,
                       struct pf_flame_sums *sums, size_t frame_count);

#endif
