/* SPDX-License-Identifier: MIT */
/*
 * What is at each address of each address space: the table that every address of every stack is looked up in. It may
 * hold more than all else, so an entry has 16 bytes, four to a line of the cache: address spaces are numbered.
 */
#ifndef PF_ANALYSIS_PLACES_H
#define PF_ANALYSIS_PLACES_H

#include "base/map.h"
#include "base/pairs.h"

struct pf_place {
    uint64_t ip;
    uint32_t space;
    uint32_t value; /* stored plus one; 0 = empty */
};

struct pf_places {
    const struct perfile_allocator *allocator;
    struct pf_place *slots;
    size_t size;    /* a power of two, or 0 */
    unsigned shift; /* 64 without its bits */
    uint64_t seed;  /* not known to who makes a file: keys that all collide cannot be made */
    size_t used;
    struct pf_map numbers; /* of spaces, by their address */
    const void *last;      /* space, and its number */
    uint32_t last_number;
};

void pf_places_open(struct pf_places *places, const struct perfile_allocator *allocator);
void pf_places_close(struct pf_places *places);
/* The number of a space; UINT32_MAX when memory is short. */
uint32_t pf_places_number(struct pf_places *places, const void *space);
/*
 * Where the address is, or the empty place where it belongs: pf_places_fill that before the next look. NULL when memory
 * is short.
 */
struct pf_place *pf_places_find(struct pf_places *places, uint32_t space, uint64_t ip);

static inline void pf_places_fill(struct pf_places *places, struct pf_place *place, uint32_t value)
{
    place->value = value + 1;
    places->used++;
}

static inline size_t pf_places_hash(const struct pf_places *places, uint32_t space, uint64_t ip)
{
    return pf_pair_hash(places->seed, places->shift, ip, space);
}

/* The address will be asked for soon. */
static inline void pf_places_prefetch(const struct pf_places *places, uint32_t space, uint64_t ip)
{
    if (places->size)
        __builtin_prefetch(&places->slots[pf_places_hash(places, space, ip)]);
}

#endif
