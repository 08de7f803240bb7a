/* SPDX-License-Identifier: MIT */
/* Sorting by a number: by bytes of the key, the lowest first. Equal ones keep their order. Finding in sorted arrays. */
#ifndef PF_BASE_SORT_H
#define PF_BASE_SORT_H

#include "base/bytes.h"

/* How many of `count` items, in order, are before the first one for which `is_before`, about item i, is false. */
#define PF_COUNT_BEFORE(count, i, is_before)                                                                           \
    ({                                                                                                                 \
        size_t first_ = 0, after_ = (count);                                                                           \
        while (first_ < after_) {                                                                                      \
            const size_t i = first_ + (after_ - first_) / 2;                                                           \
            if (is_before)                                                                                             \
                first_ = i + 1;                                                                                        \
            else                                                                                                       \
                after_ = i;                                                                                            \
        }                                                                                                              \
        first_;                                                                                                        \
    })

typedef uint64_t pf_sort_key(const void *item);

/* `bytes` and `key` are constants for the compiler, so that each use becomes loops of its own; likewise in pf_sort. */
static inline __attribute__((always_inline)) bool pf_is_sorted(const void *items, size_t count, size_t bytes,
                                                               pf_sort_key *key)
{
    for (size_t i = 1; i < count; i++)
        if (key((const char *)items + i * bytes) < key((const char *)items + (i - 1) * bytes))
            return false;
    return true;
}

/* Sorts with `other`, which can hold as many items. Returns the array of the two that is sorted. */
static inline __attribute__((always_inline)) void *pf_sort(void *items, void *other, size_t count, size_t bytes,
                                                           pf_sort_key *key)
{
    uint64_t differs = 0;
    for (size_t i = 1; i < count; i++)
        differs |= key((const char *)items + i * bytes) ^ key(items);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t at[256] = {0};
        if (!(differs >> shift & 0xff))
            continue; /* the same everywhere */
        for (size_t i = 0; i < count; i++)
            at[key((const char *)items + i * bytes) >> shift & 0xff]++;
        for (size_t byte = 0, sum = 0; byte < 256; byte++) {
            const size_t n = at[byte];
            at[byte] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++) {
            const char *item = (const char *)items + i * bytes;
            memcpy((char *)other + at[key(item) >> shift & 0xff]++ * bytes, item, bytes);
        }
        void *sorted = other;
        other = items;
        items = sorted;
    }
    return items;
}

struct pf_sort_item {
    uint64_t word;
    uint32_t number;
};

/* Sorts by words. `spare` can hold as many items. */
void pf_sort_words(struct pf_sort_item *items, struct pf_sort_item *spare, size_t count);

/* The last of `starts`, which ascend, that is not above `value`; 0 also when none is, or there are none. */
static inline size_t pf_last_below(const uint32_t *starts, size_t count, uint32_t value)
{
    size_t at = 0;
    for (size_t left = count; left > 1;) {
        const size_t half = left / 2;
        at += starts[at + half] <= value ? half : 0; /* becomes a conditional move */
        left -= half;
    }
    return at;
}

#endif
