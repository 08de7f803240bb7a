/* SPDX-License-Identifier: MIT */
#include "analysis/places.h"

#include "base/bytes.h"

enum { FIRST_SLOTS = 1024 };

void pf_places_open(struct pf_places *places, const struct perfile_allocator *allocator)
{
    *places = (struct pf_places){.allocator = allocator, .last_number = UINT32_MAX};
    pf_map_open(&places->numbers, allocator);
}

void pf_places_close(struct pf_places *places)
{
    pf_free(places->allocator, places->slots, places->size * sizeof(*places->slots));
    pf_map_close(&places->numbers);
    pf_places_open(places, places->allocator);
}

uint32_t pf_places_number(struct pf_places *places, const void *space)
{
    uint64_t number;
    if (PF_LIKELY(places->last == space && places->last_number != UINT32_MAX))
        return places->last_number;
    if (!pf_map_get(&places->numbers, (uintptr_t)space, &number)) {
        number = places->numbers.used;
        if (number >= UINT32_MAX || !pf_map_put(&places->numbers, (uintptr_t)space, number))
            return UINT32_MAX;
    }
    places->last = space;
    return places->last_number = (uint32_t)number;
}

static struct pf_place *look(const struct pf_places *places, uint32_t space, uint64_t ip)
{
    size_t i = pf_places_hash(places, space, ip);
    while (places->slots[i].value && (places->slots[i].ip != ip || places->slots[i].space != space))
        i = (i + 1) & (places->size - 1);
    return &places->slots[i];
}

static bool grow(struct pf_places *places)
{
    struct pf_places bigger = *places;
    bigger.size = places->size ? places->size * 2 : FIRST_SLOTS;
    bigger.shift = 64 - (unsigned)__builtin_ctzll(bigger.size);
    bigger.slots = pf_new(places->allocator, bigger.size * sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    bigger.seed = places->size ? places->seed : (uintptr_t)bigger.slots;
    for (size_t i = 0; i < places->size; i++)
        if (places->slots[i].value)
            *look(&bigger, places->slots[i].space, places->slots[i].ip) = places->slots[i];
    pf_free(places->allocator, places->slots, places->size * sizeof(*places->slots));
    *places = bigger;
    return true;
}

struct pf_place *pf_places_find(struct pf_places *places, uint32_t space, uint64_t ip)
{
    if (PF_UNLIKELY(places->used * 4 >= places->size * 3) && !grow(places))
        return NULL;
    struct pf_place *place = look(places, space, ip);
    if (!place->value) {
        place->ip = ip;
        place->space = space;
    }
    return place;
}
