/* SPDX-License-Identifier: MIT */
#include "output/flame/cut.h"

#include "base/bytes.h"

/* ---- the heaviest ---- */

/* The largest weight that at least `most` nodes have or exceed: digit by digit, from the highest. */
static uint64_t weight_of_rank(const struct pf_tree *tree, size_t max)
{
    uint64_t found = 0, mask = 0;
    size_t wanted = max;
    for (unsigned shift = 64; shift;) {
        size_t counts[256] = {0};
        unsigned digit = 255;
        shift -= 8;
        for (size_t i = 1; i < tree->count; i++)
            counts[tree->totals[i] >> shift & 255] += (tree->totals[i] & mask) == found;
        for (; digit && counts[digit] < wanted; digit--)
            wanted -= counts[digit];
        found |= (uint64_t)digit << shift;
        mask |= (uint64_t)255 << shift;
    }
    return found;
}

/* Of equal weights the first are kept, which stand before their callees. */
static void choose(struct pf_flame_cut *cut, size_t max)
{
    const struct pf_tree *tree = cut->tree;
    const uint64_t min = weight_of_rank(tree, max);
    size_t equal = max;
    for (size_t i = 1; i < tree->count; i++)
        equal -= tree->totals[i] > min;
    cut->kept[0] = true;
    for (size_t i = 1; i < tree->count; i++) {
        const uint32_t parent = tree->nodes[i].parent;
        const bool kept = cut->kept[parent] && (tree->totals[i] > min || (tree->totals[i] == min && equal));
        cut->kept[i] = kept;
        equal -= kept && tree->totals[i] == min;
        cut->cut_count += !kept;
        if (!kept && cut->kept[parent]) {
            cut->lighter[parent] += tree->totals[i];
            cut->cut_weight += tree->totals[i];
        }
    }
}

int pf_flame_cut_open(struct pf_flame_cut *cut, const struct perfile_allocator *allocator, const struct pf_tree *tree,
                      size_t max)
{
    *cut = (struct pf_flame_cut){.allocator = allocator, .tree = tree};
    cut->kept = pf_new(allocator, tree->count * sizeof(*cut->kept));
    cut->lighter = pf_new(allocator, tree->count * sizeof(*cut->lighter));
    if (!cut->kept || !cut->lighter)
        return PERFILE_ERROR_MEMORY;
    choose(cut, pf_min(pf_max(max, 1), tree->count) - 1); /* without the root */
    return 0;
}

void pf_flame_cut_close(struct pf_flame_cut *cut)
{
    pf_free(cut->allocator, cut->kept, cut->tree->count * sizeof(*cut->kept));
    pf_free(cut->allocator, cut->lighter, cut->tree->count * sizeof(*cut->lighter));
}
