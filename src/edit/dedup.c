/* SPDX-License-Identifier: MIT */
/*
 * Records that several parts of one recording have alike. A record is known by a hash of 128 bits of its bytes; each
 * part counts its own, and what is beyond the highest count so far is new: so the output has the maximum of the parts.
 */
#include "base/bytes.h"
#include "edit/merge.h"

struct slot {
    uint64_t a, b;
    uint32_t count; /* 0: empty */
};

struct table {
    struct slot *slots;
    size_t size; /* a power of two, or 0 */
    size_t used;
};

struct pf_dedup {
    const struct perfile_allocator *allocator;
    uint64_t limit_bytes;
    struct table lasting;     /* records without a time: they may come anywhere */
    struct table now, before; /* records with one: duplicates come close together */
    bool full;
};

enum { GENERATION = 131072 };

struct pf_dedup *pf_dedup_open(const struct perfile_allocator *allocator, uint64_t limit_bytes)
{
    struct pf_dedup *made = pf_new(allocator, sizeof(*made));
    if (made) {
        made->allocator = allocator;
        made->limit_bytes = limit_bytes;
    }
    return made;
}

static void close_table(const struct pf_dedup *duplicates, struct table *table)
{
    pf_free(duplicates->allocator, table->slots, table->size * sizeof(*table->slots));
    *table = (struct table){.size = 0};
}

void pf_dedup_close(struct pf_dedup *duplicates)
{
    if (!duplicates)
        return;
    close_table(duplicates, &duplicates->lasting);
    close_table(duplicates, &duplicates->now);
    close_table(duplicates, &duplicates->before);
    pf_free(duplicates->allocator, duplicates, sizeof(*duplicates));
}

bool pf_dedup_full(const struct pf_dedup *duplicates)
{
    return duplicates->full;
}

/* ---- the table ---- */

static struct slot *find(const struct table *table, uint64_t a, uint64_t b)
{
    for (size_t i = (size_t)a & (table->size - 1);; i = (i + 1) & (table->size - 1)) {
        struct slot *slot = &table->slots[i];
        if (!slot->count || (slot->a == a && slot->b == b))
            return slot;
    }
}

static bool grow(const struct pf_dedup *duplicates, struct table *table)
{
    struct table larger = {.size = table->size ? 2 * table->size : 1024, .used = table->used};
    larger.slots = pf_new(duplicates->allocator, larger.size * sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i].count)
            *find(&larger, table->slots[i].a, table->slots[i].b) = table->slots[i];
    pf_free(duplicates->allocator, table->slots, table->size * sizeof(*table->slots));
    *table = larger;
    return true;
}

/* The slot of the key, made when there is none; NULL when out of memory. */
static struct slot *slot_of(const struct pf_dedup *duplicates, struct table *table, uint64_t a, uint64_t b)
{
    if (2 * table->used >= table->size && !grow(duplicates, table))
        return NULL;
    struct slot *slot = find(table, a, b);
    if (!slot->count) {
        slot->a = a;
        slot->b = b;
        table->used++;
    }
    return slot;
}

/* ---- keys ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* The author of a recording does not know the seed: records that all collide cannot be made. */
static void hash_record(const struct pf_dedup *duplicates, const struct perfile_record *record, uint64_t *a,
                        uint64_t *b)
{
    const uint8_t *data = record->data;
    uint32_t left = record->bytes;
    *a = 0x243f6a8885a308d3ull ^ (uintptr_t)duplicates;
    *b = 0x13198a2e03707344ull;
    for (; left >= 8; data += 8, left -= 8) {
        const uint64_t word = pf_load64(data, false);
        *a = mix(*a, word);
        *b = mix(*b, ~word << 32 | ~word >> 32);
    }
    uint64_t rest = record->bytes;
    for (; left; left--)
        rest = rest << 8 | *data++;
    *a = mix(*a, rest);
    *b = mix(*b, rest);
}

/* Records with a time are discarded when two generations of others came after them. */
static struct table *table_for(struct pf_dedup *duplicates, const struct perfile_record *record)
{
    if (!record->time)
        return &duplicates->lasting;
    if (duplicates->now.used >= GENERATION) {
        close_table(duplicates, &duplicates->before);
        duplicates->before = duplicates->now;
        duplicates->now = (struct table){.size = 0};
    }
    return &duplicates->now;
}

/* The count under this key; what the generation before knows is taken over. */
static uint32_t *counter(struct pf_dedup *duplicates, struct table *table, uint64_t a, uint64_t b)
{
    struct slot *slot = slot_of(duplicates, table, a, b);
    if (!slot)
        return NULL;
    if (!slot->count && table == &duplicates->now && duplicates->before.size)
        slot->count = find(&duplicates->before, a, b)->count;
    return &slot->count;
}

int pf_dedup_seen(struct pf_dedup *duplicates, size_t recording, size_t part, const struct perfile_record *record)
{
    struct table *table = table_for(duplicates, record);
    uint64_t a, b;
    if (table->size * sizeof(*table->slots) > duplicates->limit_bytes) {
        duplicates->full = true;
        return 0;
    }
    hash_record(duplicates, record, &a, &b);
    a = mix(a, recording);
    uint32_t *own = counter(duplicates, table, mix(a, part + 1), b);
    if (!own)
        return PERFILE_ERROR_MEMORY;
    const uint32_t count = ++*own;
    uint32_t *written = counter(duplicates, table, a, b);
    if (!written)
        return PERFILE_ERROR_MEMORY;
    if (count <= *written)
        return 1;
    *written = count;
    return 0;
}
