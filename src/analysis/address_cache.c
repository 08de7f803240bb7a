/* SPDX-License-Identifier: MIT */
#include "analysis/address_cache.h"

#include "base/bytes.h"

enum { FIRST_BITS = 4, LIMIT_STEP = 2 << 20 };

#define NO_NUMBER UINT32_MAX

void pf_address_cache_open(struct pf_address_cache *places, const struct perfile_allocator *allocator)
{
    *places = (struct pf_address_cache){.allocator = allocator, .last_number = NO_NUMBER, .limit = LIMIT_STEP};
    pf_map_open(&places->numbers, allocator);
}

static size_t table_bytes(const struct pf_address_table *table)
{
    return table->bits ? sizeof(*table->slots) << table->bits : 0;
}

static void forget(struct pf_address_cache *places, struct pf_address_table *table)
{
    places->bytes -= table_bytes(table);
    pf_free(places->allocator, table->slots, table_bytes(table));
    *table = (struct pf_address_table){.slots = NULL};
}

void pf_address_cache_close(struct pf_address_cache *places)
{
    for (size_t i = 0; i < places->count; i++)
        forget(places, &places->tables[i]);
    pf_free(places->allocator, places->tables, places->room * sizeof(*places->tables));
    pf_map_close(&places->numbers);
    pf_address_cache_open(places, places->allocator);
}

static uint32_t add_space(struct pf_address_cache *places, const void *space)
{
    const size_t number = places->count;
    if (number >= NO_NUMBER ||
        !pf_grow(places->allocator, &places->tables, &places->room, number + 1, sizeof(*places->tables)) ||
        !pf_map_put(&places->numbers, (uintptr_t)space, number))
        return NO_NUMBER;
    places->tables[number] = (struct pf_address_table){.slots = NULL};
    places->count++;
    return (uint32_t)number;
}

uint32_t pf_address_cache_number(struct pf_address_cache *places, const void *space)
{
    const uintptr_t bits = (uintptr_t)space >> 4;
    struct pf_recent_number *recent = &places->recent[(bits ^ bits >> 8) % PF_COUNT(places->recent)];
    uint64_t number = recent->number - 1;
    if (PF_UNLIKELY(!recent->number || recent->space != space)) {
        if (!pf_map_get(&places->numbers, (uintptr_t)space, &number))
            number = add_space(places, space);
        if (number == NO_NUMBER)
            return NO_NUMBER;
        *recent = (struct pf_recent_number){space, (uint32_t)number + 1};
    }
    places->tables[number].asked = true;
    return places->last_number = (uint32_t)number;
}

static void forget_old(struct pf_address_cache *places)
{
    for (size_t i = 0; i < places->count; i++) {
        if (!places->tables[i].asked)
            forget(places, &places->tables[i]);
        places->tables[i].asked = i == places->last_number;
    }
    places->limit = places->bytes + LIMIT_STEP;
}

static struct pf_address_slot *look(const struct pf_address_cache *places, const struct pf_address_table *table,
                                    uint64_t ip)
{
    const size_t mask = ((size_t)1 << table->bits) - 1;
    size_t i = pf_pair_hash(places->seed, 64 - table->bits, ip, 0);
    while (table->slots[i].value && table->slots[i].ip != ip)
        i = (i + 1) & mask;
    return &table->slots[i];
}

static bool grow(struct pf_address_cache *places, struct pf_address_table *table)
{
    struct pf_address_table bigger = *table;
    bigger.bits = table->bits ? table->bits + 1 : FIRST_BITS;
    bigger.slots = pf_new(places->allocator, table_bytes(&bigger));
    if (!bigger.slots)
        return false;
    if (!places->seed)
        places->seed = (uintptr_t)bigger.slots;
    for (size_t i = 0; table->bits && i < (size_t)1 << table->bits; i++)
        if (table->slots[i].value)
            *look(places, &bigger, table->slots[i].ip) = table->slots[i];
    places->bytes += table_bytes(&bigger) - table_bytes(table);
    pf_free(places->allocator, table->slots, table_bytes(table));
    *table = bigger;
    if (places->bytes > places->limit)
        forget_old(places);
    return true;
}

struct pf_address_slot *pf_address_cache_find(struct pf_address_cache *places, uint64_t ip)
{
    struct pf_address_table *table = &places->tables[places->last_number];
    if (PF_UNLIKELY((!table->bits || table->used * (uint64_t)4 >= (uint64_t)3 << table->bits)) && !grow(places, table))
        return NULL;
    struct pf_address_slot *place = look(places, table, ip);
    if (!place->value)
        place->ip = ip;
    return place;
}
