/* SPDX-License-Identifier: MIT */
/* How long CPUs were idle, by the callchains with which the tasks before had left them. */
#ifndef PF_OUTPUT_SCHED_IDLE_STACKS_H
#define PF_OUTPUT_SCHED_IDLE_STACKS_H

#include "base/pairs.h"
#include "base/text.h"

struct pf_idle_row {
    const char *stack;
    uint32_t cpu, number; /* in the order of appearance */
    uint64_t count, sum;
};

struct pf_idle_stacks {
    const struct perfile_allocator *allocator;
    struct pf_arena arena; /* of the texts */
    struct pf_pairs index; /* hash of the text and CPU to row */
    struct pf_idle_row *rows;
    size_t count, capacity;
    uint32_t *now; /* by CPU: its row and 1, 0: none */
    size_t cpu_capacity;
};

void pf_idle_stacks_open(struct pf_idle_stacks *stacks, const struct perfile_allocator *allocator);
void pf_idle_stacks_close(struct pf_idle_stacks *stacks);
/* Notes that the CPU is idle from now on, after this callchain; NULL: none was recorded. False: out of memory. */
bool pf_idle_stacks_begin(struct pf_idle_stacks *stacks, uint32_t cpu, const char *stack);
/* Adds the time that the CPU was idle. */
void pf_idle_stacks_add(struct pf_idle_stacks *stacks, uint32_t cpu, uint64_t ns);
/* Finishes the rows of all CPUs, the longest time of each CPU first. Nothing may be added after that. */
void pf_idle_stacks_sort(struct pf_idle_stacks *stacks);

#endif
