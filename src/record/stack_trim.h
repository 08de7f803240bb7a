/* SPDX-License-Identifier: MIT */
/* Dumped user stacks have the size that was asked for, however little was copied: the rest is cut off. */
#ifndef PF_RECORD_STACK_TRIM_H
#define PF_RECORD_STACK_TRIM_H

#include "format/plan.h"
#include "record/event_list.h"

struct pf_stack_trim {
    const struct perfile_allocator *allocator;
    struct pf_plan *plans; /* of each event; NULL: nothing is trimmed */
    size_t count;
};

/* False when out of memory. */
bool pf_stack_trim_open(struct pf_stack_trim *trim, const struct pf_event_list *chosen);
void pf_stack_trim_close(struct pf_stack_trim *trim);
/* A copy of the sample of an event without the unused end of its stack; its size. 0: there is nothing to cut off. */
size_t pf_stack_trim_sample(const struct pf_stack_trim *trim, size_t event, const uint8_t *record, uint8_t *copy);

#endif
