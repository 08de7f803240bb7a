/* SPDX-License-Identifier: MIT */
/* Trees with more nodes than a page may hold: only the heaviest are kept. */
#ifndef PF_OUTPUT_FLAME_CUT_H
#define PF_OUTPUT_FLAME_CUT_H

#include "analysis/tree.h"

/* What becomes of a tree's nodes. All arrays are by node of `tree`. */
struct pf_flame_cut {
    const struct perfile_allocator *allocator;
    const struct pf_tree *tree;
    bool *kept;        /* a kept node's parent is kept */
    uint64_t *lighter; /* by kept node: what its callees that are not kept weigh */
    size_t cut_count;
    uint64_t cut_weight;
};

/* At most `most` nodes are kept. 0, or MEMORY. Close it after failures, too. */
int pf_flame_cut_open(struct pf_flame_cut *cut, const struct perfile_allocator *allocator, const struct pf_tree *tree,
                      size_t max);
void pf_flame_cut_close(struct pf_flame_cut *cut);

#endif
