/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

void pf_heap_open(struct pf_heap *heap, const struct perfile_allocator *allocator)
{
    *heap = (struct pf_heap){.allocator = allocator};
}

void pf_heap_close(struct pf_heap *heap)
{
    pf_free(heap->allocator, heap->items, heap->capacity * sizeof(*heap->items));
    pf_heap_open(heap, heap->allocator);
}

static bool is_before(const struct pf_heap_item *a, const struct pf_heap_item *b)
{
    return a->time < b->time || (a->time == b->time && a->number < b->number);
}

bool pf_heap_put(struct pf_heap *heap, const struct pf_heap_item *item)
{
    if (!pf_grow(heap->allocator, &heap->items, &heap->capacity, heap->count + 1, sizeof(*heap->items)))
        return false;
    size_t at = heap->count++;
    for (; at && is_before(item, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = *item;
    return true;
}

/* Puts an item in the place of the first. */
static void replace_first(struct pf_heap *heap, const struct pf_heap_item item)
{
    struct pf_heap_item *items = heap->items;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        child += child + 1 < heap->count && is_before(&items[child + 1], &items[child]);
        if (is_before(&item, &items[child]))
            break;
        items[at] = items[child];
    }
    items[at] = item;
}

void pf_heap_take(struct pf_heap *heap)
{
    if (--heap->count)
        replace_first(heap, heap->items[heap->count]);
}

void pf_heap_move_first(struct pf_heap *heap, uint64_t time)
{
    struct pf_heap_item first = heap->items[0];
    first.time = time;
    replace_first(heap, first);
}
