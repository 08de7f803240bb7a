/* SPDX-License-Identifier: MIT */
/*
 * A value for each address of each address space: every address of every stack is looked up here. The cost of a lookup
 * is that of the memory that it touches. So each space has a table of its own, which is small for small programs, and
 * tables of spaces that are no longer asked for are discarded: their values may have to be found again.
 *
 * One thread numbers spaces, and one, which may be another, enters values. Any other threads may look up addresses
 * meanwhile: they see either a complete entry or an empty one, and tables that were replaced stay until no thread can
 * be reading them.
 */
#ifndef PF_ANALYSIS_ADDRESS_CACHE_H
#define PF_ANALYSIS_ADDRESS_CACHE_H

#include "base/map.h"
#include "base/pairs.h"
#include "base/segments.h"

struct __attribute__((packed, aligned(4))) pf_address_slot {
    uint64_t ip;
    uint32_t value; /* stored plus one; 0 = empty; atomic, and set after ip */
};

struct pf_address_slots {
    struct pf_address_slots *next; /* the next one that was replaced */
    uint64_t replaced;             /* number of passes when it was replaced */
    unsigned bits;                 /* of its size, a power of two */
    struct pf_address_slot at[];
};

struct pf_address_table {
    struct pf_address_slots *slots; /* NULL: empty; atomic */
    const void *space;              /* its address when it was asked for last; atomic */
    uint32_t used;
    bool asked;   /* since tables were discarded last */
    bool retired; /* the space has no number any more; only for the thread that numbers */
};

struct pf_address_cache {
    const struct perfile_allocator *allocator;
    struct pf_segments tables; /* by number of the space */
    size_t count;              /* numbers there are */
    size_t known;              /* up to those that were asked for */
    uint64_t seed;             /* not known to makers of files, so that they cannot make addresses collide */
    size_t bytes;              /* of all tables */
    size_t limit;              /* of `bytes`: with more of them tables are discarded */
    struct pf_map numbers;     /* of spaces, by their keys */
    uint32_t *spare;           /* numbers that are not in use */
    size_t spare_count, spare_capacity;
    struct pf_recent_number {
        uint64_t key;
        const void *space;
        uint32_t number;               /* plus one; 0 = empty */
    } recent[16];                      /* that were asked for, by some bits of the space */
    uint64_t discarded;                /* how often tables were discarded; atomic */
    unsigned lag;                      /* passes that other threads may be late; 0: there are no others */
    uint64_t passes;                   /* pf_address_cache_pass */
    struct pf_address_slots *replaced; /* the last ones first */
};

void pf_address_cache_open(struct pf_address_cache *positions, const struct perfile_allocator *allocator);
/* No other thread may be looking up addresses. */
void pf_address_cache_close(struct pf_address_cache *positions);

/* ---- for the thread that numbers spaces ---- */

/* The number of the space with this `key`, which is at `space` now; UINT32_MAX when out of memory. */
uint32_t pf_address_cache_number_of(struct pf_address_cache *positions, uint64_t key, const void *space);
/* The same for a space that never moves. */
static inline uint32_t pf_address_cache_number(struct pf_address_cache *positions, const void *space)
{
    return pf_address_cache_number_of(positions, (uintptr_t)space, space);
}

/*
 * Takes the numbers from their spaces, which are likely not asked for any more; a space that is asked for all the same
 * gets another number. False when out of memory: nothing has changed.
 */
bool pf_address_cache_retire(struct pf_address_cache *positions, const uint32_t *numbers, size_t count);
/* Numbers that were retired, and then emptied, may be given to other spaces. False when out of memory. */
bool pf_address_cache_reuse(struct pf_address_cache *positions, const uint32_t *numbers, size_t count);

/* ---- for the thread that enters values ---- */

/* Discards the table of a number that was retired. */
void pf_address_cache_empty(struct pf_address_cache *positions, uint32_t number);

static inline struct pf_address_table *pf_address_cache_table(const struct pf_address_cache *positions, uint32_t number)
{
    return pf_segments_at(&positions->tables, number);
}

/* Required before pf_address_cache_find: the table of the space is not among those that are discarded next. */
static inline void pf_address_cache_ask(struct pf_address_cache *positions, uint32_t number)
{
    pf_address_cache_table(positions, number)->asked = true;
    positions->known = number < positions->known ? positions->known : (size_t)number + 1;
}

/*
 * The slot of the address; an empty one must be filled by pf_address_cache_fill before the next call. NULL when out of
 * memory.
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

/* To be called when other threads have finished all lookups from before the `lag`th last call. */
void pf_address_cache_pass(struct pf_address_cache *positions);

/* ---- for all threads ---- */

/* How often tables were discarded: later lookups see the tables after the last of these times, or newer ones. */
static inline uint64_t pf_address_cache_discarded(const struct pf_address_cache *positions)
{
    return __atomic_load_n(&positions->discarded, __ATOMIC_ACQUIRE);
}

/* The slots of a space, valid until pf_address_cache_pass frees them; NULL: no address of the space is known. */
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

/* Searches from slot `first` on: returns the stored value plus one, or 0. */
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
