/* SPDX-License-Identifier: MIT */
#include "base/sort.h"

enum { FEW = 48 };

static void insert(struct pf_sort_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct pf_sort_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].word > item.word; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static uint64_t word_of(const void *item)
{
    return ((const struct pf_sort_item *)item)->word;
}

void pf_sort_words(struct pf_sort_item *items, struct pf_sort_item *spare, size_t count)
{
    if (count < FEW) {
        insert(items, count);
        return;
    }
    const struct pf_sort_item *sorted = pf_sort(items, spare, count, sizeof(*items), word_of);
    if (sorted != items)
        memcpy(items, sorted, count * sizeof(*items));
}
