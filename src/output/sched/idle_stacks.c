/* SPDX-License-Identifier: MIT */
#include "output/sched/idle_stacks.h"

#include <stdlib.h>

#include "base/bytes.h"

void pf_idle_stacks_open(struct pf_idle_stacks *stacks, const struct perfile_allocator *allocator)
{
    *stacks = (struct pf_idle_stacks){.allocator = allocator};
    pf_arena_open(&stacks->arena, allocator);
    pf_pairs_open(&stacks->index, allocator);
}

void pf_idle_stacks_close(struct pf_idle_stacks *stacks)
{
    pf_arena_close(&stacks->arena);
    pf_pairs_close(&stacks->index);
    pf_free(stacks->allocator, stacks->rows, stacks->capacity * sizeof(*stacks->rows));
    pf_free(stacks->allocator, stacks->now, stacks->cpu_capacity * sizeof(*stacks->now));
}

/* False: out of memory. */
static bool find_row(struct pf_idle_stacks *stacks, uint32_t cpu, const char *stack, uint32_t *row)
{
    uint64_t hash = pf_hash_text(stack);
    for (; pf_pairs_get(&stacks->index, hash, cpu, row); hash++)
        if (strcmp(stacks->rows[*row].stack, stack) == 0)
            return true;
    const char *copy = pf_arena_text(&stacks->arena, stack, strlen(stack));
    if (!copy ||
        !pf_grow(stacks->allocator, &stacks->rows, &stacks->capacity, stacks->count + 1, sizeof(*stacks->rows)) ||
        !pf_pairs_put(&stacks->index, hash, cpu, (uint32_t)stacks->count))
        return false;
    *row = (uint32_t)stacks->count++;
    stacks->rows[*row] = (struct pf_idle_row){.stack = copy, .cpu = cpu, .number = *row};
    return true;
}

bool pf_idle_stacks_begin(struct pf_idle_stacks *stacks, uint32_t cpu, const char *stack)
{
    uint32_t row;
    if (!PF_HAS_ELEMENT(stacks->allocator, stacks->now, stacks->cpu_capacity, cpu))
        return false;
    stacks->now[cpu] = 0;
    if (!stack)
        return true;
    if (!find_row(stacks, cpu, stack, &row))
        return false;
    stacks->now[cpu] = row + 1;
    return true;
}

void pf_idle_stacks_add(struct pf_idle_stacks *stacks, uint32_t cpu, uint64_t ns)
{
    if (cpu >= stacks->cpu_capacity || !stacks->now[cpu])
        return;
    struct pf_idle_row *row = &stacks->rows[stacks->now[cpu] - 1];
    row->count++;
    row->sum += ns;
}

static int compare(const void *left, const void *right)
{
    const struct pf_idle_row *a = left, *b = right;
    return PF_COMPARE(a->cpu, b->cpu) ?: PF_COMPARE(b->sum, a->sum) ?: PF_COMPARE(a->number, b->number);
}

void pf_idle_stacks_sort(struct pf_idle_stacks *stacks)
{
    if (stacks->count)
        qsort(stacks->rows, stacks->count, sizeof(*stacks->rows), compare);
}
