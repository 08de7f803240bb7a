/* SPDX-License-Identifier: MIT */
/* Counts of triples of 64-bit numbers: a hash table that only grows. */
#ifndef PF_ANALYSIS_PGO_TALLY_H
#define PF_ANALYSIS_PGO_TALLY_H

#include "base/bytes.h"
#include "base/memory.h"

struct pf_tally_row {
    uint64_t a, b, c;
    uint64_t count;
    uint64_t mispredicted : 60; /* of `count` */
    uint64_t type : 4;          /* the last one */
};

struct pf_tally {
    const struct perfile_allocator *allocator;
    struct pf_tally_row *rows; /* in the order in which they came */
    size_t count, capacity;
    size_t max_rows;
    uint32_t *slots; /* the index of a row plus one; 0 = empty */
    size_t size;     /* of them: a power of two, or 0 */
    unsigned shift;  /* 64 without its bits */
    uint64_t seed;   /* secret, so that no file can have keys that all collide */
};

/* `max_rows` is below UINT32_MAX. */
void pf_tally_open(struct pf_tally *tally, size_t max_rows, const struct perfile_allocator *allocator);
/* Zeros may be closed, too. */
void pf_tally_close(struct pf_tally *tally);
/* Adds an empty row, which must not be there yet. NULL: out of memory, or there are max_rows rows. */
struct pf_tally_row *pf_tally_add(struct pf_tally *tally, uint64_t a, uint64_t b, uint64_t c);

static inline size_t pf_tally_hash(const struct pf_tally *tally, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t key = (a ^ tally->seed) * 0x9e3779b97f4a7c15ull ^ b;
    key = (key ^ key >> 32) * 0xbf58476d1ce4e5b9ull ^ c;
    key = (key ^ key >> 29) * 0x94d049bb133111ebull;
    return (size_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15ull >> tally->shift);
}

/* The row of a triple, which is made if it is not there; valid until the next call. NULL as above. */
static inline struct pf_tally_row *pf_tally_row(struct pf_tally *tally, uint64_t a, uint64_t b, uint64_t c)
{
    for (size_t i = tally->size ? pf_tally_hash(tally, a, b, c) : 0; tally->size && tally->slots[i];
         i = (i + 1) & (tally->size - 1)) {
        struct pf_tally_row *row = &tally->rows[tally->slots[i] - 1];
        if (row->a == a && row->b == b && row->c == c)
            return row;
    }
    return pf_tally_add(tally, a, b, c);
}

#endif
