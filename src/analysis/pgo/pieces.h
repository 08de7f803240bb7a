/* SPDX-License-Identifier: MIT */
/* Ranges of code that may overlap, cut into pieces that do not: each has the sum of the counts of its ranges. */
#ifndef PF_ANALYSIS_PGO_PIECES_H
#define PF_ANALYSIS_PGO_PIECES_H

#include "base/memory.h"

/* From `low` on, before `high`. */
struct pf_pgo_piece {
    uint64_t low, high;
    uint64_t count; /* of a range it may be 0: code that did not run; sums stop at UINT64_MAX */
};

struct pf_pgo_pieces {
    const struct perfile_allocator *allocator;
    struct pf_pgo_piece *items;
    size_t count, capacity;
};

void pf_pgo_pieces_close(struct pf_pgo_pieces *pieces);
/* A range; an empty one is ignored. False when out of memory. */
bool pf_pgo_pieces_add(struct pf_pgo_pieces *pieces, uint64_t low, uint64_t high, uint64_t count);
/* Replaces the ranges by the pieces, ascending. False when out of memory. */
bool pf_pgo_pieces_cut(struct pf_pgo_pieces *pieces);

#endif
