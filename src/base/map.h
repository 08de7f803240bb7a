/* SPDX-License-Identifier: MIT */
/* A hash map from 64-bit keys to 64-bit values: open addressing, insert and find only. */
#ifndef PF_BASE_MAP_H
#define PF_BASE_MAP_H

#include "base/memory.h"

struct pf_map_slot {
    uint64_t key;
    uint64_t value; /* stored plus one; 0 = empty */
};

struct pf_map {
    const struct perfile_allocator *allocator;
    struct pf_map_slot *slots;
    size_t size; /* number of slots, a power of two, or 0 */
    size_t used;
};

void pf_map_open(struct pf_map *map, const struct perfile_allocator *allocator);
void pf_map_close(struct pf_map *map);
/* Takes everything out; the memory stays. */
void pf_map_clear(struct pf_map *map);
/* The value goes in, over an older one; it must be below UINT64_MAX. False when out of memory. */
bool pf_map_put(struct pf_map *map, uint64_t key, uint64_t value);

/* The one copy of a text in a map of such copies by their hash, made in the arena; NULL when out of memory. */
const char *pf_map_text(struct pf_map *map, struct pf_arena *arena, const char *text, size_t bytes);

/* The first slot to try for a key. Makers of files do not know the seed, so they cannot make keys that all collide. */
static inline size_t pf_map_hash(const struct pf_map *map, uint64_t key)
{
    key ^= (uintptr_t)map->slots;
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio: spreads runs of neighbouring ids */
    key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ull;
    return (size_t)(key ^ key >> 32);
}

/* True and the value, or false. */
static inline bool pf_map_get(const struct pf_map *map, uint64_t key, uint64_t *value)
{
    if (!map->size)
        return false;
    for (size_t i = pf_map_hash(map, key) & (map->size - 1); map->slots[i].value; i = (i + 1) & (map->size - 1)) {
        if (map->slots[i].key == key) {
            *value = map->slots[i].value - 1;
            return true;
        }
    }
    return false;
}

#endif
