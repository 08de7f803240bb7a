/* SPDX-License-Identifier: MIT */
/* A hash map from pairs of 64-bit keys to 32-bit values: insert and find only. */
#ifndef PF_BASE_PAIRS_H
#define PF_BASE_PAIRS_H

#include "base/memory.h"

/* 20 bytes: large ones are as slow as the memory that they fill. */
struct __attribute__((packed, aligned(4))) pf_pair {
    uint64_t a, b;
    uint32_t value; /* stored plus one; 0 = empty */
};

struct pf_pairs {
    const struct perfile_allocator *allocator;
    struct pf_pair *slots;
    size_t size;    /* a power of two, or 0 */
    unsigned shift; /* 64 without its bits */
    uint64_t seed;  /* secret, so that no file can have keys that all collide */
    size_t used;
};

void pf_pairs_open(struct pf_pairs *pairs, const struct perfile_allocator *allocator);
void pf_pairs_close(struct pf_pairs *pairs);
/* The pair must not be there yet; the value must be below UINT32_MAX. False when out of memory. */
bool pf_pairs_put(struct pf_pairs *pairs, uint64_t a, uint64_t b, uint32_t value);

/* The upper bits of a hash: in a table of twice the size pairs keep their order, and growing does not jump about. */
static inline size_t pf_pair_hash(uint64_t seed, unsigned shift, uint64_t a, uint64_t b)
{
    uint64_t key = (a ^ seed) * 0x9e3779b97f4a7c15ull ^ b;
    key = (key ^ key >> 32) * 0xbf58476d1ce4e5b9ull;
    return (size_t)((key ^ key >> 29) * 0x94d049bb133111ebull >> shift);
}

static inline size_t pf_pairs_hash(const struct pf_pairs *pairs, uint64_t a, uint64_t b)
{
    return pf_pair_hash(pairs->seed, pairs->shift, a, b);
}

static inline bool pf_pairs_get(const struct pf_pairs *pairs, uint64_t a, uint64_t b, uint32_t *value)
{
    if (!pairs->size)
        return false;
    for (size_t i = pf_pairs_hash(pairs, a, b); pairs->slots[i].value; i = (i + 1) & (pairs->size - 1)) {
        if (pairs->slots[i].a == a && pairs->slots[i].b == b) {
            *value = pairs->slots[i].value - 1;
            return true;
        }
    }
    return false;
}

#endif
