/* SPDX-License-Identifier: MIT */
#include "base/range_cache.h"

#include <string.h>

enum { FIRST_RANGES = 2 };

static struct pf_range_page *page_of(const struct pf_text_cache_text *text)
{
    return text ? (struct pf_range_page *)(uintptr_t)pf_text_cache_bytes(text) : NULL;
}

static void append(struct pf_range_page *page, struct pf_range_bounds bounds, const struct pf_range_value *value)
{
    page->bounds[page->count] = bounds;
    pf_range_page_values(page)[page->count] = *value;
    __atomic_store_n(&page->count, page->count + 1, __ATOMIC_RELEASE);
}

/* Others may still look at the old page, which stays as it is. NULL when out of memory. */
static struct pf_text_cache_text *make_page(struct pf_range_cache *cache, uint64_t space, uint64_t number,
                                            const struct pf_range_page *old)
{
    const uint32_t capacity = old ? 2 * old->capacity : FIRST_RANGES;
    const uint32_t bytes =
        (uint32_t)sizeof(*old) + capacity * (uint32_t)(sizeof(*old->bounds) + sizeof(struct pf_range_value));
    struct pf_text_cache_text *text =
        pf_text_cache_new(&cache->pages, &(struct pf_text_cache_text){.a = space, .b = number, .bytes = bytes});
    if (!text)
        return NULL;
    struct pf_range_page *page = page_of(text);
    page->capacity = capacity;
    if (old) {
        page->count = old->count;
        memcpy(page->seen, old->seen, sizeof(page->seen));
        memcpy(page->bounds, old->bounds, old->count * sizeof(*old->bounds));
        memcpy(pf_range_page_values(page), pf_range_page_values(old), old->count * sizeof(struct pf_range_value));
    }
    return text;
}

bool pf_range_cache_add(struct pf_range_cache *cache, uint64_t space, uint64_t first, uint64_t last,
                        const struct pf_range_value *value)
{
    const uint64_t number = first >> PF_RANGE_PAGE_BITS;
    const struct pf_range_bounds bounds = {first & PF_RANGE_PAGE_OFFSET, last & PF_RANGE_PAGE_OFFSET};
    struct pf_range_page *page = page_of(pf_text_cache_find(&cache->pages, space, number));
    if (page && page->count < page->capacity) {
        append(page, bounds, value);
        return true;
    }
    struct pf_text_cache_text *text = make_page(cache, space, number, page);
    if (!text)
        return false;
    append(page_of(text), bounds, value);
    return pf_text_cache_publish(&cache->pages, text);
}

bool pf_range_cache_mark(struct pf_range_cache *cache, uint64_t space, uint64_t address)
{
    struct pf_range_page *page = page_of(pf_text_cache_find(&cache->pages, space, address >> PF_RANGE_PAGE_BITS));
    if (!page || pf_range_page_is_marked(page, address))
        return false;
    uint32_t *seen = &page->seen[address >> 9 & 7];
    __atomic_store_n(seen, *seen | UINT32_C(1) << (address >> 4 & 31), __ATOMIC_RELAXED);
    return true;
}
