/* SPDX-License-Identifier: MIT */
/*
 * What is at each address of each address space: where every address of every stack is looked up. Memory is what this
 * costs, so each space has a table of its own, as near as the program that runs is small, and tables of spaces that
 * nobody asked for any more are forgotten: what was in them may be found out again.
 */
#ifndef PF_ANALYSIS_ADDRESS_CACHE_H
#define PF_ANALYSIS_ADDRESS_CACHE_H

#include "base/map.h"
#include "base/pairs.h"

struct __attribute__((packed, aligned(4))) pf_address_slot {
    uint64_t ip;
    uint32_t value; /* stored plus one; 0 = empty */
};

struct pf_address_table {
    struct pf_address_slot *slots;
    unsigned bits; /* of its size, a power of two; 0 = empty */
    uint32_t used;
    bool asked; /* since tables were forgotten last */
};

struct pf_address_cache {
    const struct perfile_allocator *allocator;
    struct pf_address_table *tables; /* by number of the space */
    size_t count, room;
    uint64_t seed;         /* not known to who makes a file: addresses that all collide cannot be made */
    size_t bytes;          /* of all tables */
    size_t limit;          /* of these: then some are forgotten */
    struct pf_map numbers; /* of spaces, by their address */
    struct pf_recent_number {
        const void *space;
        uint32_t number;  /* plus one; 0 = empty */
    } recent[16];         /* that were asked for, by some bits of the space */
    uint32_t last_number; /* that pf_address_cache_number gave */
};

void pf_address_cache_open(struct pf_address_cache *places, const struct perfile_allocator *allocator);
void pf_address_cache_close(struct pf_address_cache *places);
/* The number of a space; UINT32_MAX when out of memory. */
uint32_t pf_address_cache_number(struct pf_address_cache *places, const void *space);
/*
 * Where the address is, or the empty place where it belongs: pf_address_cache_fill that before the next look at this space. NULL
 * when out of memory. The space is the one that pf_address_cache_number was asked for last.
 */
struct pf_address_slot *pf_address_cache_find(struct pf_address_cache *places, uint64_t ip);

static inline void pf_address_cache_fill(struct pf_address_cache *places, struct pf_address_slot *place, uint32_t value)
{
    place->value = value + 1;
    places->tables[places->last_number].used++;
}

#endif
