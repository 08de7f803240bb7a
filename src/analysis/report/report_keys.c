/* SPDX-License-Identifier: MIT */
/* What rows are grouped by, each set of it once. */
#include "analysis/report/report.h"
#include "base/bytes.h"

#define MIX 0x9e3779b97f4a7c15ull

/* Two words that nearly always distinguish a key; for a new key, those that it is entered by. */
struct words {
    uint64_t a, b;
};

void pf_report_open_keys(struct pf_report_keys *keys, const struct perfile_allocator *allocator)
{
    *keys = (struct pf_report_keys){.allocator = allocator};
    pf_pairs_open(&keys->index, allocator);
}

void pf_report_close_keys(struct pf_report_keys *keys)
{
    pf_pairs_close(&keys->index);
    pf_free(keys->allocator, keys->items, keys->capacity * sizeof(*keys->items));
    pf_free(keys->allocator, keys->values, keys->value_capacity * sizeof(*keys->values));
}

static uint64_t *values_of(const struct pf_report_keys *keys, uint32_t key)
{
    return keys->values + key * keys->kept_count;
}

uint64_t pf_report_key_value(const struct pf_report_keys *keys, uint32_t key, unsigned position)
{
    for (size_t i = 0; i < keys->kept_count; i++)
        if (keys->kept[i] == position)
            return values_of(keys, key)[i];
    return 0;
}

static bool is_same_key(const struct pf_report_key *a, const struct pf_report_key *b)
{
    return a->comm == b->comm && a->event == b->event && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

static bool is_key(const struct pf_report_keys *keys, uint32_t key, const struct pf_report_keyed *keyed)
{
    bool same = is_same_key(&keys->items[key], &keyed->key);
    for (size_t i = 0; i < keys->kept_count && same; i++)
        same = values_of(keys, key)[i] == keyed->values[keys->kept[i]];
    return same;
}

static uint32_t add_key(struct pf_report_keys *keys, const struct pf_report_keyed *keyed)
{
    const size_t number = keys->count;
    if (!pf_grow(keys->allocator, &keys->items, &keys->capacity, number + 1, sizeof(*keys->items)) ||
        !pf_grow(keys->allocator, &keys->values, &keys->value_capacity, (number + 1) * keys->kept_count,
                 sizeof(*keys->values)) ||
        number >= PF_REPORT_NO_KEY - 1)
        return PF_REPORT_NO_KEY;
    keys->items[number] = keyed->key;
    for (size_t i = 0; i < keys->kept_count; i++)
        values_of(keys, (uint32_t)number)[i] = keyed->values[keys->kept[i]];
    keys->count++;
    return (uint32_t)number;
}

static struct words words_of(const struct pf_report_keys *keys, const struct pf_report_keyed *keyed)
{
    const struct pf_report_key *key = &keyed->key;
    uint64_t a = (uintptr_t)key->comm * MIX ^ ((uint64_t)key->event << 32 | key->cpu);
    for (size_t i = 0; i < keys->kept_count; i++)
        a = (a ^ keyed->values[keys->kept[i]] ^ a >> 29) * MIX + (uintptr_t)keys;
    return (struct words){a, (uint64_t)(uint32_t)key->pid << 32 | (uint32_t)key->tid};
}

/* The key, or the words that a new one is entered by. */
static bool is_known(const struct pf_report_keys *keys, const struct pf_report_keyed *keyed, struct words *words,
                     uint32_t *number)
{
    for (; pf_pairs_get(&keys->index, words->a, words->b, number); words->a++)
        if (is_key(keys, *number, keyed))
            return true;
    return false;
}

static __attribute__((noinline)) uint32_t find_key(struct pf_report_keys *keys, const struct pf_report_keyed *keyed,
                                                   struct words words)
{
    uint32_t number;
    if (is_known(keys, keyed, &words, &number))
        return number;
    number = add_key(keys, keyed);
    const bool entered = number != PF_REPORT_NO_KEY && pf_pairs_put(&keys->index, words.a, words.b, number);
    return entered ? number : PF_REPORT_NO_KEY;
}

uint32_t pf_report_find_key(struct pf_report_keys *keys, const struct pf_report_keyed *keyed)
{
    const struct words words = words_of(keys, keyed);
    uint32_t *recent = &keys->recent[(words.a ^ words.b * MIX) >> (64 - PF_REPORT_RECENT_BITS)];
    if (PF_UNLIKELY(*recent >= keys->count || !is_key(keys, *recent, keyed)))
        *recent = find_key(keys, keyed, words);
    return *recent;
}

bool pf_report_find_first_keys(struct pf_report_keys *keys, uint32_t *first)
{
    bool enough = true;
    pf_pairs_close(&keys->index);
    pf_pairs_open(&keys->index, keys->allocator);
    for (uint32_t i = 0; i < keys->count && enough; i++) {
        struct pf_report_keyed keyed = {.key = keys->items[i]};
        for (size_t j = 0; j < keys->kept_count; j++)
            keyed.values[keys->kept[j]] = values_of(keys, i)[j];
        struct words words = words_of(keys, &keyed);
        if (is_known(keys, &keyed, &words, &first[i]))
            continue;
        first[i] = i;
        enough = pf_pairs_put(&keys->index, words.a, words.b, i);
    }
    return enough;
}
