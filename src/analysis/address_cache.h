/* SPDX-License-Identifier: MIT */
/*
 * What is at each address of each address space: where every address of every stack is looked up. Memory is what this
 * costs, so each space has a table of its own, as near as the program that runs is small, and tables of spaces that
 * nobody asked for any more are forgotten: what was in them may be found out again.
 *
 * Spaces are numbered in one thread, and what is found out is entered by one, which may be another. Any others may look
 * at what is there meanwhile: they see an entry as a whole or not at all, and tables that were replaced stay until nobody
 * can be looking at them.
 */
#ifndef PF_ANALYSIS_ADDRESS_CACHE_H
#define PF_ANALYSIS_ADDRESS_CACHE_H

#include "base/map.h"
#include "base/pairs.h"
#include "base/segments.h"

struct __attribute__((packed, aligned(4))) pf_address_slot {
    uint64_t ip;
    uint32_t value; /* stored plus one; 0 = empty; atomic, and set behind ip */
};

struct pf_address_slots {
    struct pf_address_slots *next; /* that were replaced, too */
    uint64_t replaced;             /* by how many passes there were then */
    unsigned bits;                 /* of its size, a power of two */
    struct pf_address_slot at[];
};

struct pf_address_table {
    struct pf_address_slots *slots; /* NULL: empty; atomic */
    const void *space;              /* where it was when it was asked for last; atomic */
    uint32_t used;
    bool asked;   /* since tables were forgotten last */
    bool retired; /* the space has no number any more; only who numbers looks at it */
};

struct pf_address_cache {
    const struct perfile_allocator *allocator;
    struct pf_segments tables; /* by number of the space */
    size_t count;              /* numbers there are */
    size_t known;              /* up to those that were asked for */
    uint64_t seed;             /* not known to who makes a file: addresses that all collide cannot be made */
    size_t bytes;              /* of all tables */
    size_t limit;              /* of these: then some are forgotten */
    struct pf_map numbers;     /* of spaces, by their keys */
    uint32_t *spare;           /* numbers that are nobody's */
    size_t spare_count, spare_capacity;
    struct pf_recent_number {
        uint64_t key;
        const void *space;
        uint32_t number;               /* plus one; 0 = empty */
    } recent[16];                      /* that were asked for, by some bits of the space */
    uint64_t forgotten;                /* how often some were; atomic */
    unsigned lag;                      /* passes that others may be behind; 0: there are no others */
    uint64_t passes;                   /* pf_address_cache_pass */
    struct pf_address_slots *replaced; /* the last ones first */
};

void pf_address_cache_open(struct pf_address_cache *positions, const struct perfile_allocator *allocator);
/* Nobody else is looking. */
void pf_address_cache_close(struct pf_address_cache *positions);

/* ---- who numbers ---- */

/* The number of a space that is known by `key`, and is at `space` now; UINT32_MAX when out of memory. */
uint32_t pf_address_cache_number_of(struct pf_address_cache *positions, uint64_t key, const void *space);
/* The same of one that stays where it is. */
static inline uint32_t pf_address_cache_number(struct pf_address_cache *positions, const void *space)
{
    return pf_address_cache_number_of(positions, (uintptr_t)space, space);
}

/*
 * The `count` numbers are of spaces that nobody asks for any more: when one is asked for all the same it gets another.
 * False when out of memory: nothing has changed.
 */
bool pf_address_cache_retire(struct pf_address_cache *positions, const uint32_t *numbers, size_t count);
/* They were retired, and then emptied, and may be other spaces'. False when out of memory. */
bool pf_address_cache_reuse(struct pf_address_cache *positions, const uint32_t *numbers, size_t count);

/* ---- who enters ---- */

/* Nothing is known of the space, whose number was retired. */
void pf_address_cache_empty(struct pf_address_cache *positions, uint32_t number);

static inline struct pf_address_table *pf_address_cache_table(const struct pf_address_cache *positions, uint32_t number)
{
    return pf_segments_at(&positions->tables, number);
}

/* The space is asked for, before anything of it is found: it is not among those that are forgotten next. */
static inline void pf_address_cache_ask(struct pf_address_cache *positions, uint32_t number)
{
    pf_address_cache_table(positions, number)->asked = true;
    positions->known = number < positions->known ? positions->known : (size_t)number + 1;
}

/*
 * Where the address is, or the empty place where it belongs: pf_address_cache_fill that before the next look. NULL when
 * out of memory.
 */
struct pf_address_slot *pf_address_cache_find(struct pf_address_cache *positions, uint32_t number, uint64_t ip);

static inline void pf_address_cache_fill(struct pf_address_cache *positions, uint32_t number,
                                         struct pf_address_slot *position, uint32_t value)
{
    __atomic_store_n(&position->value, value + 1, __ATOMIC_RELEASE);
    pf_address_cache_table(positions, number)->used++;
}

static inline const void *pf_address_cache_space(const struct pf_address_cache *positions, uint32_t number)
{
    return __atomic_load_n(&pf_address_cache_table(positions, number)->space, __ATOMIC_ACQUIRE);
}

/* Others are done with all that they began before this was called for the `lag`th last time. */
void pf_address_cache_pass(struct pf_address_cache *positions);

/* ---- who looks ---- */

/* How often tables were forgotten: what is looked at after this is as it was behind the last time, or later. */
static inline uint64_t pf_address_cache_forgotten(const struct pf_address_cache *positions)
{
    return __atomic_load_n(&positions->forgotten, __ATOMIC_ACQUIRE);
}

/* Good until pf_address_cache_pass tells that it is not; NULL: nothing is known of the space. */
static inline const struct pf_address_slots *pf_address_cache_look(const struct pf_address_cache *positions,
                                                                   uint32_t number)
{
    return __atomic_load_n(&pf_address_cache_table(positions, number)->slots, __ATOMIC_ACQUIRE);
}

static inline size_t pf_address_slots_first(const struct pf_address_cache *positions,
                                            const struct pf_address_slots *slots, uint64_t ip)
{
    return pf_pair_hash(positions->seed, 64 - slots->bits, ip, 0);
}

/* From the first place on: what is stored plus one, or 0. */
static inline uint32_t pf_address_slots_value(const struct pf_address_slots *slots, size_t first, uint64_t ip)
{
    const size_t mask = ((size_t)1 << slots->bits) - 1;
    for (size_t i = first;; i = (i + 1) & mask) {
        const uint32_t value = __atomic_load_n(&slots->at[i].value, __ATOMIC_ACQUIRE);
        if (!value || slots->at[i].ip == ip)
            return value;
    }
}

#endif
