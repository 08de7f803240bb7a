/* SPDX-License-Identifier: MIT */
#include "base/text_cache.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

void pf_text_cache_open(struct pf_text_cache *kept, const struct perfile_allocator *allocator, bool shared)
{
    *kept = (struct pf_text_cache){.shared = shared};
    pf_arena_open(&kept->arena, allocator);
}

static size_t table_bytes(size_t size)
{
    return sizeof(struct pf_text_cache_table) + size * sizeof(uintptr_t);
}

void pf_text_cache_close(struct pf_text_cache *kept)
{
    while (kept->table) {
        struct pf_text_cache_table *table = kept->table;
        kept->table = table->smaller;
        pf_free(kept->arena.allocator, table, table_bytes(table->size));
    }
    pf_arena_close(&kept->arena);
}

void pf_text_cache_discard(struct pf_text_cache *kept)
{
    const struct perfile_allocator *allocator = kept->arena.allocator;
    pf_text_cache_close(kept);
    pf_text_cache_open(kept, allocator, kept->shared);
}

/* The slot of a text with these keys, or the empty one where it belongs. */
static uintptr_t *slot_of(struct pf_text_cache_table *table, uint64_t hash, const struct pf_text_cache_text *text)
{
    for (size_t i = (size_t)hash & (table->size - 1);; i = (i + 1) & (table->size - 1)) {
        const uintptr_t slot = table->slots[i];
        const struct pf_text_cache_text *other = pf_text_cache_of_slot(slot);
        const bool may_equal = (slot & PF_TEXT_CACHE_TAG) == pf_text_cache_tag(hash);
        if (!slot || (may_equal && other->a == text->a && other->b == text->b))
            return &table->slots[i];
    }
}

/* Returns whether the slot was empty. */
static bool position(const struct pf_text_cache *kept, struct pf_text_cache_table *table,
                     const struct pf_text_cache_text *text)
{
    const uint64_t hash = pf_text_cache_hash(kept, text->a, text->b);
    uintptr_t *slot = slot_of(table, hash, text);
    const bool was_empty = !*slot;
    __atomic_store_n(slot, (uintptr_t)text | pf_text_cache_tag(hash), __ATOMIC_RELEASE);
    return was_empty;
}

static bool grow(struct pf_text_cache *kept)
{
    struct pf_text_cache_table *old = kept->table;
    const size_t size = old ? 2 * old->size : FIRST_SLOTS;
    struct pf_text_cache_table *table = pf_new(kept->arena.allocator, table_bytes(size));
    if (!table)
        return false;
    table->size = size;
    for (size_t i = 0; old && i < old->size; i++)
        if (old->slots[i])
            (void)position(kept, table, pf_text_cache_of_slot(old->slots[i]));
    if (kept->shared)
        table->smaller = old;
    else if (old)
        pf_free(kept->arena.allocator, old, table_bytes(old->size));
    __atomic_store_n(&kept->table, table, __ATOMIC_RELEASE);
    return true;
}

struct pf_text_cache_text *pf_text_cache_new(struct pf_text_cache *kept, const struct pf_text_cache_text *head)
{
    struct pf_text_cache_text *text = pf_arena_new(&kept->arena, sizeof(*text) + head->bytes + PF_TEXT_CACHE_STEP);
    if (!text)
        return NULL;
    *text = *head;
    kept->bytes += sizeof(*text) + head->bytes;
    return text;
}

bool pf_text_cache_publish(struct pf_text_cache *kept, const struct pf_text_cache_text *text)
{
    if ((!kept->table || 2 * kept->used >= kept->table->size) && !grow(kept))
        return false;
    kept->used += position(kept, kept->table, text);
    return true;
}

const struct pf_text_cache_text *pf_text_cache_add(struct pf_text_cache *kept, const struct pf_text_cache_text *head,
                                                   const char *bytes)
{
    struct pf_text_cache_text *text = pf_text_cache_new(kept, head);
    if (!text)
        return NULL;
    memcpy(text + 1, bytes, head->bytes);
    return pf_text_cache_publish(kept, text) ? text : NULL;
}
