/* SPDX-License-Identifier: MIT */
/*
 * What is at each address of each address space: where every address of every stack is looked up. Memory is what this
 * costs, so each space has a table of its own, as near as the program that runs is small, and tables of spaces that
 * nobody asked for any more are forgotten: what was in them may be found out again.
 */
#ifndef PF_ANALYSIS_PLACES_H
#define PF_ANALYSIS_PLACES_H

#include "base/map.h"
#include "base/pairs.h"

struct __attribute__((packed, aligned(4))) pf_place {
    uint64_t ip;
    uint32_t value; /* stored plus one; 0 = empty */
};

struct pf_place_table {
    struct pf_place *slots;
    unsigned bits; /* of its size, a power of two; 0 = empty */
    uint32_t used;
    bool asked; /* since tables were forgotten last */
};

struct pf_places {
    const struct perfile_allocator *allocator;
    struct pf_place_table *tables; /* by number of the space */
    size_t count, room;
    uint64_t seed;         /* not known to who makes a file: addresses that all collide cannot be made */
    size_t bytes;          /* of all tables */
    size_t limit;          /* of these: then some are forgotten */
    struct pf_map numbers; /* of spaces, by their address */
    struct pf_recent_number {
        const void *space;
        uint32_t number;  /* plus one; 0 = empty */
    } recent[16];         /* that were asked for, by some bits of the space */
    uint32_t last_number; /* that pf_places_number gave */
};

void pf_places_open(struct pf_places *places, const struct perfile_allocator *allocator);
void pf_places_close(struct pf_places *places);
/* The number of a space; UINT32_MAX when memory is short. */
uint32_t pf_places_number(struct pf_places *places, const void *space);
/*
 * Where the address is, or the empty place where it belongs: pf_places_fill that before the next look at this space. NULL
 * when memory is short. The space is the one that pf_places_number was asked for last.
 */
struct pf_place *pf_places_find(struct pf_places *places, uint64_t ip);

static inline void pf_places_fill(struct pf_places *places, struct pf_place *place, uint32_t value)
{
    place->value = value + 1;
    places->tables[places->last_number].used++;
}

#endif
