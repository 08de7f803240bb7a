/* SPDX-License-Identifier: MIT */
#include "analysis/address_cache.h"

#include "base/bytes.h"

enum { FIRST_BITS = 4, LIMIT_STEP = 2 << 20 };

#define NO_NUMBER UINT32_MAX

void pf_address_cache_open(struct pf_address_cache *places, const struct perfile_allocator *allocator)
{
    *places = (struct pf_address_cache){.allocator = allocator, .limit = LIMIT_STEP};
    pf_segments_open(&places->tables, sizeof(struct pf_address_table), allocator);
    pf_map_open(&places->numbers, allocator);
}

static size_t bytes_of(unsigned bits)
{
    return sizeof(struct pf_address_slots) + (sizeof(struct pf_address_slot) << bits);
}

static void free_slots(struct pf_address_cache *places, struct pf_address_slots *slots)
{
    pf_free(places->allocator, slots, bytes_of(slots->bits));
}

/* Frees what was replaced before so many passes. */
static void free_replaced(struct pf_address_cache *places, uint64_t passes)
{
    struct pf_address_slots **at = &places->replaced;
    while (*at && (*at)->replaced >= passes)
        at = &(*at)->next;
    struct pf_address_slots *old = *at;
    *at = NULL;
    while (old) {
        struct pf_address_slots *next = old->next;
        free_slots(places, old);
        old = next;
    }
}

/* The table has other slots, or none, from now on. */
static void replace(struct pf_address_cache *places, struct pf_address_table *table, struct pf_address_slots *slots)
{
    struct pf_address_slots *old = table->slots;
    places->bytes += slots ? bytes_of(slots->bits) : 0;
    __atomic_store_n(&table->slots, slots, __ATOMIC_RELEASE);
    if (!old)
        return;
    places->bytes -= bytes_of(old->bits);
    old->next = places->replaced;
    old->replaced = places->passes;
    places->replaced = old;
    if (!places->lag)
        free_replaced(places, UINT64_MAX);
}

void pf_address_cache_pass(struct pf_address_cache *places)
{
    places->passes++;
    if (PF_UNLIKELY(places->replaced && places->passes > places->lag))
        free_replaced(places, places->passes - places->lag);
}

void pf_address_cache_close(struct pf_address_cache *places)
{
    for (uint32_t i = 0; i < places->known; i++)
        replace(places, pf_address_cache_table(places, i), NULL);
    free_replaced(places, UINT64_MAX);
    pf_segments_close(&places->tables);
    pf_map_close(&places->numbers);
    pf_free(places->allocator, places->spare, places->spare_room * sizeof(*places->spare));
    pf_address_cache_open(places, places->allocator);
}

/* ---- numbers ---- */

static uint32_t add_space(struct pf_address_cache *places, uint64_t key)
{
    const bool again = places->spare_count > 0;
    const size_t number = again ? places->spare[places->spare_count - 1] : places->count;
    struct pf_address_table *table = number < NO_NUMBER ? pf_segments_make(&places->tables, (uint32_t)number) : NULL;
    if (!table || !pf_map_put(&places->numbers, key, number))
        return NO_NUMBER;
    places->spare_count -= again;
    places->count += !again;
    table->retired = false;
    return (uint32_t)number;
}

static void set_retired(struct pf_address_cache *places, const uint32_t *numbers, size_t count, bool retired)
{
    for (size_t i = 0; i < count; i++)
        pf_address_cache_table(places, numbers[i])->retired = retired;
}

bool pf_address_cache_retire(struct pf_address_cache *places, const uint32_t *numbers, size_t count)
{
    struct pf_map left;
    bool enough = true;
    pf_map_open(&left, places->allocator);
    set_retired(places, numbers, count, true);
    for (size_t i = 0; i < places->numbers.size && enough; i++) {
        const struct pf_map_slot *slot = &places->numbers.slots[i];
        const uint64_t number = slot->value - 1;
        enough = !slot->value || pf_address_cache_table(places, (uint32_t)number)->retired ||
                 pf_map_put(&left, slot->key, number);
    }
    if (!enough) {
        set_retired(places, numbers, count, false);
        pf_map_close(&left);
        return false;
    }
    pf_map_close(&places->numbers);
    places->numbers = left;
    memset(places->recent, 0, sizeof(places->recent));
    return true;
}

bool pf_address_cache_reuse(struct pf_address_cache *places, const uint32_t *numbers, size_t count)
{
    if (!pf_grow(places->allocator, &places->spare, &places->spare_room, places->spare_count + count,
                 sizeof(*places->spare)))
        return false;
    memcpy(places->spare + places->spare_count, numbers, count * sizeof(*numbers));
    places->spare_count += count;
    return true;
}

void pf_address_cache_empty(struct pf_address_cache *places, uint32_t number)
{
    struct pf_address_table *table = pf_address_cache_table(places, number);
    replace(places, table, NULL);
    table->used = 0;
    table->asked = false;
}

uint32_t pf_address_cache_number_of(struct pf_address_cache *places, uint64_t key, const void *space)
{
    const uintptr_t bits = (uintptr_t)space >> 4;
    struct pf_recent_number *recent = &places->recent[(bits ^ bits >> 8) % PF_COUNT(places->recent)];
    uint64_t number = recent->number - 1;
    if (PF_UNLIKELY(!recent->number || recent->key != key || recent->space != space)) {
        if (!pf_map_get(&places->numbers, key, &number))
            number = add_space(places, key);
        if (number == NO_NUMBER)
            return NO_NUMBER;
        __atomic_store_n(&pf_address_cache_table(places, (uint32_t)number)->space, space, __ATOMIC_RELEASE);
        *recent = (struct pf_recent_number){key, space, (uint32_t)number + 1};
    }
    return (uint32_t)number;
}

/* ---- addresses ---- */

/* But the one that is at work. */
static void forget_old(struct pf_address_cache *places, const struct pf_address_table *working)
{
    for (uint32_t i = 0; i < places->known; i++) {
        struct pf_address_table *table = pf_address_cache_table(places, i);
        if (!table->asked && table != working) {
            replace(places, table, NULL);
            table->used = 0;
        }
        table->asked = table == working;
    }
    places->limit = places->bytes + LIMIT_STEP;
    __atomic_store_n(&places->forgotten, places->forgotten + 1, __ATOMIC_RELEASE);
}

static struct pf_address_slot *look(const struct pf_address_cache *places, struct pf_address_slots *slots, uint64_t ip)
{
    const size_t mask = ((size_t)1 << slots->bits) - 1;
    size_t i = pf_address_slots_first(places, slots, ip);
    while (slots->at[i].value && slots->at[i].ip != ip)
        i = (i + 1) & mask;
    return &slots->at[i];
}

static bool grow(struct pf_address_cache *places, struct pf_address_table *table)
{
    const struct pf_address_slots *old = table->slots;
    const unsigned bits = old ? old->bits + 1 : FIRST_BITS;
    struct pf_address_slots *bigger = pf_new(places->allocator, bytes_of(bits));
    if (!bigger)
        return false;
    bigger->bits = bits;
    if (!places->seed)
        places->seed = (uintptr_t)bigger;
    for (size_t i = 0; old && i < (size_t)1 << old->bits; i++)
        if (old->at[i].value)
            *look(places, bigger, old->at[i].ip) = old->at[i];
    replace(places, table, bigger);
    if (places->bytes > places->limit)
        forget_old(places, table);
    return true;
}

static bool is_full(const struct pf_address_table *table)
{
    return table->used * (uint64_t)4 >= (uint64_t)3 << table->slots->bits;
}

/* Tables grow with what is new: however often the rest is asked for, it is the same tables. */
struct pf_address_slot *pf_address_cache_find(struct pf_address_cache *places, uint32_t number, uint64_t ip)
{
    struct pf_address_table *table = pf_address_cache_table(places, number);
    if (!table->slots && !grow(places, table))
        return NULL;
    struct pf_address_slot *place = look(places, table->slots, ip);
    if (PF_LIKELY(place->value))
        return place;
    if (PF_UNLIKELY(is_full(table))) {
        if (!grow(places, table))
            return NULL;
        place = look(places, table->slots, ip);
    }
    place->ip = ip;
    return place;
}
