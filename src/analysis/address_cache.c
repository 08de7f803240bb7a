/* SPDX-License-Identifier: MIT */
#include "analysis/address_cache.h"

#include "base/bytes.h"

enum { FIRST_BITS = 4, LIMIT_STEP = 2 << 20 };

#define NO_NUMBER UINT32_MAX

void pf_address_cache_open(struct pf_address_cache *positions, const struct perfile_allocator *allocator)
{
    *positions = (struct pf_address_cache){.allocator = allocator, .limit = LIMIT_STEP};
    pf_segments_open(&positions->tables, sizeof(struct pf_address_table), allocator);
    pf_map_open(&positions->numbers, allocator);
}

static size_t bytes_of(unsigned bits)
{
    return sizeof(struct pf_address_slots) + (sizeof(struct pf_address_slot) << bits);
}

static void free_slots(struct pf_address_cache *positions, struct pf_address_slots *slots)
{
    pf_free(positions->allocator, slots, bytes_of(slots->bits));
}

/* Frees the slots that were replaced before so many passes. */
static void free_replaced(struct pf_address_cache *positions, uint64_t passes)
{
    struct pf_address_slots **at = &positions->replaced;
    while (*at && (*at)->replaced >= passes)
        at = &(*at)->next;
    struct pf_address_slots *old = *at;
    *at = NULL;
    while (old) {
        struct pf_address_slots *next = old->next;
        free_slots(positions, old);
        old = next;
    }
}

/* The table has other slots, or none, from now on. */
static void replace(struct pf_address_cache *positions, struct pf_address_table *table, struct pf_address_slots *slots)
{
    struct pf_address_slots *old = table->slots;
    positions->bytes += slots ? bytes_of(slots->bits) : 0;
    __atomic_store_n(&table->slots, slots, __ATOMIC_RELEASE);
    if (!old)
        return;
    positions->bytes -= bytes_of(old->bits);
    old->next = positions->replaced;
    old->replaced = positions->passes;
    positions->replaced = old;
    if (!positions->lag)
        free_replaced(positions, UINT64_MAX);
}

void pf_address_cache_pass(struct pf_address_cache *positions)
{
    positions->passes++;
    if (PF_UNLIKELY(positions->replaced && positions->passes > positions->lag))
        free_replaced(positions, positions->passes - positions->lag);
}

void pf_address_cache_close(struct pf_address_cache *positions)
{
    for (uint32_t i = 0; i < positions->known; i++)
        replace(positions, pf_address_cache_table(positions, i), NULL);
    free_replaced(positions, UINT64_MAX);
    pf_segments_close(&positions->tables);
    pf_map_close(&positions->numbers);
    pf_free(positions->allocator, positions->spare, positions->spare_capacity * sizeof(*positions->spare));
    pf_address_cache_open(positions, positions->allocator);
}

/* ---- numbers ---- */

static uint32_t add_space(struct pf_address_cache *positions, uint64_t key)
{
    const bool again = positions->spare_count > 0;
    const size_t number = again ? positions->spare[positions->spare_count - 1] : positions->count;
    struct pf_address_table *table = number < NO_NUMBER ? pf_segments_make(&positions->tables, (uint32_t)number) : NULL;
    if (!table || !pf_map_put(&positions->numbers, key, number))
        return NO_NUMBER;
    positions->spare_count -= again;
    positions->count += !again;
    table->retired = false;
    return (uint32_t)number;
}

static void set_retired(struct pf_address_cache *positions, const uint32_t *numbers, size_t count, bool retired)
{
    for (size_t i = 0; i < count; i++)
        pf_address_cache_table(positions, numbers[i])->retired = retired;
}

bool pf_address_cache_retire(struct pf_address_cache *positions, const uint32_t *numbers, size_t count)
{
    struct pf_map left;
    bool enough = true;
    pf_map_open(&left, positions->allocator);
    set_retired(positions, numbers, count, true);
    for (size_t i = 0; i < positions->numbers.size && enough; i++) {
        const struct pf_map_slot *slot = &positions->numbers.slots[i];
        const uint64_t number = slot->value - 1;
        enough = !slot->value || pf_address_cache_table(positions, (uint32_t)number)->retired ||
                 pf_map_put(&left, slot->key, number);
    }
    if (!enough) {
        set_retired(positions, numbers, count, false);
        pf_map_close(&left);
        return false;
    }
    pf_map_close(&positions->numbers);
    positions->numbers = left;
    memset(positions->recent, 0, sizeof(positions->recent));
    return true;
}

bool pf_address_cache_reuse(struct pf_address_cache *positions, const uint32_t *numbers, size_t count)
{
    if (!pf_grow(positions->allocator, &positions->spare, &positions->spare_capacity, positions->spare_count + count,
                 sizeof(*positions->spare)))
        return false;
    memcpy(positions->spare + positions->spare_count, numbers, count * sizeof(*numbers));
    positions->spare_count += count;
    return true;
}

void pf_address_cache_empty(struct pf_address_cache *positions, uint32_t number)
{
    struct pf_address_table *table = pf_address_cache_table(positions, number);
    replace(positions, table, NULL);
    table->used = 0;
    table->asked = false;
}

uint32_t pf_address_cache_number_of(struct pf_address_cache *positions, uint64_t key, const void *space)
{
    const uintptr_t bits = (uintptr_t)space >> 4;
    struct pf_recent_number *recent = &positions->recent[(bits ^ bits >> 8) % PF_COUNT(positions->recent)];
    uint64_t number = recent->number - 1;
    if (PF_UNLIKELY(!recent->number || recent->key != key || recent->space != space)) {
        if (!pf_map_get(&positions->numbers, key, &number))
            number = add_space(positions, key);
        if (number == NO_NUMBER)
            return NO_NUMBER;
        __atomic_store_n(&pf_address_cache_table(positions, (uint32_t)number)->space, space, __ATOMIC_RELEASE);
        *recent = (struct pf_recent_number){key, space, (uint32_t)number + 1};
    }
    return (uint32_t)number;
}

/* ---- addresses ---- */

/* Discards the tables that were not asked for since the last time, except the one that is in use. */
static void discard_old(struct pf_address_cache *positions, const struct pf_address_table *working)
{
    for (uint32_t i = 0; i < positions->known; i++) {
        struct pf_address_table *table = pf_address_cache_table(positions, i);
        if (!table->asked && table != working) {
            replace(positions, table, NULL);
            table->used = 0;
        }
        table->asked = table == working;
    }
    positions->limit = positions->bytes + LIMIT_STEP;
    __atomic_store_n(&positions->discarded, positions->discarded + 1, __ATOMIC_RELEASE);
}

static struct pf_address_slot *look(const struct pf_address_cache *positions, struct pf_address_slots *slots,
                                    uint64_t ip)
{
    const size_t mask = ((size_t)1 << slots->bits) - 1;
    size_t i = pf_address_slots_first(positions, slots, ip);
    while (slots->at[i].value && slots->at[i].ip != ip)
        i = (i + 1) & mask;
    return &slots->at[i];
}

static bool grow(struct pf_address_cache *positions, struct pf_address_table *table)
{
    const struct pf_address_slots *old = table->slots;
    const unsigned bits = old ? old->bits + 1 : FIRST_BITS;
    struct pf_address_slots *bigger = pf_new(positions->allocator, bytes_of(bits));
    if (!bigger)
        return false;
    bigger->bits = bits;
    if (!positions->seed)
        positions->seed = (uintptr_t)bigger;
    for (size_t i = 0; old && i < (size_t)1 << old->bits; i++)
        if (old->at[i].value)
            *look(positions, bigger, old->at[i].ip) = old->at[i];
    replace(positions, table, bigger);
    if (positions->bytes > positions->limit)
        discard_old(positions, table);
    return true;
}

static bool is_full(const struct pf_address_table *table)
{
    return table->used * (uint64_t)4 >= (uint64_t)3 << table->slots->bits;
}

/* Tables grow only when an address is new. */
struct pf_address_slot *pf_address_cache_find(struct pf_address_cache *positions, uint32_t number, uint64_t ip)
{
    struct pf_address_table *table = pf_address_cache_table(positions, number);
    if (!table->slots && !grow(positions, table))
        return NULL;
    struct pf_address_slot *position = look(positions, table->slots, ip);
    if (PF_LIKELY(position->value))
        return position;
    if (PF_UNLIKELY(is_full(table))) {
        if (!grow(positions, table))
            return NULL;
        position = look(positions, table->slots, ip);
    }
    position->ip = ip;
    return position;
}
