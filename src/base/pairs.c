/* SPDX-License-Identifier: MIT */
#include "base/pairs.h"

void pf_pairs_open(struct pf_pairs *pairs, const struct perfile_allocator *allocator)
{
    *pairs = (struct pf_pairs){.allocator = allocator};
}

void pf_pairs_close(struct pf_pairs *pairs)
{
    pf_free(pairs->allocator, pairs->slots, pairs->size * sizeof(*pairs->slots));
    pf_pairs_open(pairs, pairs->allocator);
}

static void position(struct pf_pairs *pairs, const struct pf_pair *pair)
{
    size_t i = pf_pairs_hash(pairs, pair->a, pair->b);
    while (pairs->slots[i].value)
        i = (i + 1) & (pairs->size - 1);
    pairs->slots[i] = *pair;
}

static bool grow(struct pf_pairs *pairs)
{
    struct pf_pairs bigger = *pairs;
    bigger.size = pairs->size ? pairs->size * 2 : 256;
    bigger.slots = pf_new(pairs->allocator, bigger.size * sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    bigger.shift = 64 - (unsigned)__builtin_ctzll(bigger.size);
    bigger.seed = pairs->size ? pairs->seed : (uintptr_t)bigger.slots;
    for (size_t i = 0; i < pairs->size; i++)
        if (pairs->slots[i].value)
            position(&bigger, &pairs->slots[i]);
    pf_free(pairs->allocator, pairs->slots, pairs->size * sizeof(*pairs->slots));
    *pairs = bigger;
    return true;
}

bool pf_pairs_put(struct pf_pairs *pairs, uint64_t a, uint64_t b, uint32_t value)
{
    if (pairs->used * 4 >= pairs->size * 3 && !grow(pairs))
        return false;
    pairs->used++;
    position(pairs, &(struct pf_pair){a, b, value + 1});
    return true;
}
