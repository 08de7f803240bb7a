/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include "base/bytes.h"

void pf_map_open(struct pf_map *map, const struct perfile_allocator *allocator)
{
    *map = (struct pf_map){.allocator = allocator};
}

void pf_map_close(struct pf_map *map)
{
    pf_free(map->allocator, map->slots, map->size * sizeof(*map->slots));
    pf_map_open(map, map->allocator);
}

void pf_map_clear(struct pf_map *map)
{
    if (map->used)
        memset(map->slots, 0, map->size * sizeof(*map->slots));
    map->used = 0;
}

static struct pf_map_slot *slot_of(const struct pf_map *map, uint64_t key)
{
    size_t i = pf_map_hash(map, key) & (map->size - 1);
    while (map->slots[i].value && map->slots[i].key != key)
        i = (i + 1) & (map->size - 1);
    return &map->slots[i];
}

static bool grow(struct pf_map *map)
{
    struct pf_map bigger = {.allocator = map->allocator, .size = map->size ? map->size * 2 : 8, .used = map->used};
    bigger.slots = pf_new(map->allocator, bigger.size * sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    /* fresh pages that are read first get memory only at the first write, for which the system stops other threads */
    memset(bigger.slots, 0, bigger.size * sizeof(*bigger.slots));
    for (size_t i = 0; i < map->size; i++)
        if (map->slots[i].value)
            *slot_of(&bigger, map->slots[i].key) = map->slots[i];
    pf_free(map->allocator, map->slots, map->size * sizeof(*map->slots));
    *map = bigger;
    return true;
}

bool pf_map_put(struct pf_map *map, uint64_t key, uint64_t value)
{
    if (map->used * 2 >= map->size && !grow(map))
        return false;
    struct pf_map_slot *slot = slot_of(map, key);
    if (!slot->value)
        map->used++;
    *slot = (struct pf_map_slot){key, value + 1};
    return true;
}

const char *pf_map_text(struct pf_map *map, struct pf_arena *arena, const char *text, size_t bytes)
{
    const uint64_t hash = pf_hash_bytes(PF_HASH_START, text, bytes);
    uint64_t known;
    if (pf_map_get(map, hash, &known)) {
        const char *kept = (const char *)(uintptr_t)known;
        if (strlen(kept) == bytes && memcmp(kept, text, bytes) == 0)
            return kept;
    }
    const char *copy = pf_arena_text(arena, text, bytes);
    return copy && pf_map_put(map, hash, (uintptr_t)copy) ? copy : NULL;
}
