/* SPDX-License-Identifier: MIT */
/*
 * Texts that are kept under pairs of 64-bit keys. They never move, and are discarded all at once. Threads may look for
 * them without a lock while one adds; no other thread may use the cache while they are discarded.
 */
#ifndef PF_BASE_TEXT_CACHE_H
#define PF_BASE_TEXT_CACHE_H

#include "base/memory.h"

/* What is given; and as it is kept, its bytes follow. */
struct pf_text_cache_text {
    uint64_t a, b; /* the keys */
    uint32_t bytes;
    uint32_t mark; /* the user's */
};

/*
 * A slot is the address of a text. Its low bits, which are 0 in all addresses of texts, hold some bits of the hash, so
 * that few texts are compared in vain. So the table is small, and the cost is that of the memory that it touches.
 */
enum { PF_TEXT_CACHE_TAG = 7 };

/* Texts may be copied in steps of so many bytes, beyond their ends. */
enum { PF_TEXT_CACHE_STEP = 16 };

struct pf_text_cache_table {
    struct pf_text_cache_table *smaller; /* that it was made from: threads may still look there; NULL unless shared */
    size_t size;                         /* a power of two */
    uintptr_t slots[];                   /* 0: empty. Set once */
};

struct pf_text_cache {
    struct pf_arena arena; /* of the texts */
    struct pf_text_cache_table *table;
    bool shared;  /* others look while one adds */
    size_t used;  /* slots */
    size_t bytes; /* of texts */
};

/* `shared`: more than one thread will be here; it takes more memory. */
void pf_text_cache_open(struct pf_text_cache *kept, const struct perfile_allocator *allocator, bool shared);
/* Discards all texts; more can be added then. */
void pf_text_cache_discard(struct pf_text_cache *kept);
void pf_text_cache_close(struct pf_text_cache *kept);
/*
 * In two steps: zeroed memory for a text, which may be filled, and its publication. It replaces a text with its keys.
 */
struct pf_text_cache_text *pf_text_cache_new(struct pf_text_cache *kept, const struct pf_text_cache_text *head);
/* False when out of memory. */
bool pf_text_cache_publish(struct pf_text_cache *kept, const struct pf_text_cache_text *text);
/* Keeps a copy. NULL when out of memory. */
const struct pf_text_cache_text *pf_text_cache_add(struct pf_text_cache *kept, const struct pf_text_cache_text *head,
                                                   const char *bytes);

static inline const char *pf_text_cache_bytes(const struct pf_text_cache_text *text)
{
    return (const char *)(text + 1);
}

/* Makers of files do not know the seed, so they cannot make keys that all collide. */
static inline uint64_t pf_text_cache_hash(const struct pf_text_cache *kept, uint64_t a, uint64_t b)
{
    uint64_t key = (a ^ (uintptr_t)kept) * 0x9e3779b97f4a7c15ull ^ b;
    key = (key ^ key >> 32) * 0xbf58476d1ce4e5b9ull;
    return key ^ key >> 29;
}

static inline uintptr_t pf_text_cache_tag(uint64_t hash)
{
    return (uintptr_t)(hash >> 61);
}

static inline const struct pf_text_cache_text *pf_text_cache_of_slot(uintptr_t slot)
{
    return (const struct pf_text_cache_text *)(slot & ~(uintptr_t)PF_TEXT_CACHE_TAG);
}

/* NULL: there is none. */
static inline const struct pf_text_cache_text *pf_text_cache_find(const struct pf_text_cache *kept, uint64_t a,
                                                                  uint64_t b)
{
    const uint64_t hash = pf_text_cache_hash(kept, a, b);
    const struct pf_text_cache_table *table = __atomic_load_n(&kept->table, __ATOMIC_ACQUIRE);
    if (!table)
        return NULL;
    for (size_t i = (size_t)hash & (table->size - 1);; i = (i + 1) & (table->size - 1)) {
        const uintptr_t slot = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE);
        if (!slot)
            return NULL;
        if ((slot & PF_TEXT_CACHE_TAG) != pf_text_cache_tag(hash))
            continue;
        const struct pf_text_cache_text *text = pf_text_cache_of_slot(slot);
        if (text->a == a && text->b == b)
            return text;
    }
}

#endif
