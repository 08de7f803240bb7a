/* SPDX-License-Identifier: MIT */
/*
 * Values of ranges of addresses, in many address spaces: what is known of one address of a range is known of all.
 * Ranges do not overlap and lie within pages of 4 KiB, which have a list of them. As in a text cache, threads may look
 * without a lock while one adds, and all is discarded at once.
 */
#ifndef PF_BASE_RANGE_CACHE_H
#define PF_BASE_RANGE_CACHE_H

#include "base/text_cache.h"

enum { PF_RANGE_PAGE_BITS = 12, PF_RANGE_PAGE_OFFSET = (1 << PF_RANGE_PAGE_BITS) - 1 };

/* Offsets in a page. */
struct pf_range_bounds {
    uint16_t first, last;
};

struct pf_range_value {
    const void *of;
    uint64_t origin; /* the address that offsets count from */
};

/* The bytes of a text of the cache; as many values follow the bounds. */
struct pf_range_page {
    uint32_t count;    /* of ranges. Grows while others look */
    uint32_t capacity; /* an even number */
    uint32_t seen[8];  /* a bit for each 16 bytes that were marked */
    struct pf_range_bounds bounds[];
};

struct pf_range_cache {
    struct pf_text_cache pages; /* by address space and page number */
};

static inline struct pf_range_value *pf_range_page_values(const struct pf_range_page *page)
{
    return (struct pf_range_value *)(uintptr_t)&page->bounds[page->capacity];
}

/* Adds the addresses from `first` to `last` of one page, none of which has a value. False when out of memory. */
bool pf_range_cache_add(struct pf_range_cache *cache, uint64_t space, uint64_t first, uint64_t last,
                        const struct pf_range_value *value);

/* Marks the 16 bytes that the address is in. False: they were marked before, or the page has no ranges. */
bool pf_range_cache_mark(struct pf_range_cache *cache, uint64_t space, uint64_t address);

static inline bool pf_range_page_is_marked(const struct pf_range_page *page, uint64_t address)
{
    return __atomic_load_n(&page->seen[address >> 9 & 7], __ATOMIC_RELAXED) >> (address >> 4 & 31) & 1;
}

/* The value of the range that holds the address, or NULL; it stays until all is discarded. And whether it is marked. */
static inline const struct pf_range_value *pf_range_cache_find(const struct pf_range_cache *cache, uint64_t space,
                                                               uint64_t address, bool *marked)
{
    const struct pf_text_cache_text *text = pf_text_cache_find(&cache->pages, space, address >> PF_RANGE_PAGE_BITS);
    const struct pf_range_page *page = text ? (const void *)pf_text_cache_bytes(text) : NULL;
    const uint32_t count = page ? __atomic_load_n(&page->count, __ATOMIC_ACQUIRE) : 0;
    const unsigned offset = address & PF_RANGE_PAGE_OFFSET;
    for (uint32_t i = 0; i < count; i++)
        if (offset >= page->bounds[i].first && offset <= page->bounds[i].last) {
            *marked = pf_range_page_is_marked(page, address);
            return &pf_range_page_values(page)[i];
        }
    return NULL;
}

#endif
