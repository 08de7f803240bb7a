/* SPDX-License-Identifier: MIT */
/* A binary heap of what waits for its time: the earliest comes out first, of equal times that of the lowest number. */
#ifndef PF_BASE_HEAP_H
#define PF_BASE_HEAP_H

#include "base/memory.h"

struct pf_heap_item {
    uint64_t time;
    uint64_t number;
    uintptr_t value; /* a pointer or a number */
};

struct pf_heap {
    const struct perfile_allocator *allocator;
    struct pf_heap_item *items; /* each is not later than those at twice its index plus 1 and 2 */
    size_t count;
    size_t capacity;
};

void pf_heap_open(struct pf_heap *heap, const struct perfile_allocator *allocator);
void pf_heap_close(struct pf_heap *heap);
/* False when out of memory; the heap then is as before. */
bool pf_heap_put(struct pf_heap *heap, const struct pf_heap_item *item);
/* The first, of which there must be one: takes it out; gives it another time. */
void pf_heap_take(struct pf_heap *heap);
void pf_heap_move_first(struct pf_heap *heap, uint64_t time);

/* NULL: it is empty. Holds until the heap changes. */
static inline const struct pf_heap_item *pf_heap_first(const struct pf_heap *heap)
{
    return heap->count ? heap->items : NULL;
}

/* The earliest time of all items but the first; UINT64_MAX: there are no others. */
static inline uint64_t pf_heap_second_time(const struct pf_heap *heap)
{
    uint64_t time = UINT64_MAX;
    for (size_t i = 1; i < 3 && i < heap->count; i++)
        time = heap->items[i].time < time ? heap->items[i].time : time;
    return time;
}

#endif
