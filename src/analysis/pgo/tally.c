/* SPDX-License-Identifier: MIT */
#include "analysis/pgo/tally.h"

void pf_tally_open(struct pf_tally *tally, size_t max_rows, const struct perfile_allocator *allocator)
{
    *tally = (struct pf_tally){.allocator = allocator, .max_rows = max_rows};
}

void pf_tally_close(struct pf_tally *tally)
{
    if (!tally->allocator)
        return;
    pf_free(tally->allocator, tally->rows, tally->capacity * sizeof(*tally->rows));
    pf_free(tally->allocator, tally->slots, tally->size * sizeof(*tally->slots));
    pf_tally_open(tally, tally->max_rows, tally->allocator);
}

static void position(struct pf_tally *tally, size_t index)
{
    const struct pf_tally_row *row = &tally->rows[index];
    size_t i = pf_tally_hash(tally, row->a, row->b, row->c);
    while (tally->slots[i])
        i = (i + 1) & (tally->size - 1);
    tally->slots[i] = (uint32_t)index + 1;
}

static bool grow(struct pf_tally *tally)
{
    const size_t size = tally->size ? tally->size * 2 : 1024;
    uint32_t *slots = pf_new(tally->allocator, size * sizeof(*slots));
    if (!slots)
        return false;
    pf_free(tally->allocator, tally->slots, tally->size * sizeof(*tally->slots));
    tally->seed = tally->size ? tally->seed : (uintptr_t)slots;
    tally->slots = slots;
    tally->size = size;
    tally->shift = 64 - (unsigned)__builtin_ctzll(size);
    for (size_t i = 0; i < tally->count; i++)
        position(tally, i);
    return true;
}

struct pf_tally_row *pf_tally_add(struct pf_tally *tally, uint64_t a, uint64_t b, uint64_t c)
{
    const struct pf_tally_row row = {.a = a, .b = b, .c = c};
    if (tally->count >= tally->max_rows || (tally->count * 2 >= tally->size && !grow(tally)) ||
        !PF_APPEND(tally->allocator, tally->rows, tally->count, tally->capacity, row))
        return NULL;
    position(tally, tally->count - 1);
    return &tally->rows[tally->count - 1];
}
