/* SPDX-License-Identifier: MIT */
#include "symbol/unwind/callchain.h"

/* ---- call stacks of the branch hardware ---- */

bool pf_callchain_has_branches(const struct perfile_attr *attr)
{
    const uint64_t both = PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_BRANCH_STACK;
    return (attr->sample_type & both) == both && attr->branch_sample_type & PERFILE_SAMPLE_BRANCH_CALL_STACK;
}

uint64_t pf_callchain_user_part(const struct perfile_u64s *chain)
{
    uint64_t at = 0;
    while (at < chain->count && perfile_u64_at(chain, at) != PERFILE_CONTEXT_USER)
        at++;
    return at;
}

size_t pf_callchain_branches(const struct perfile_sample *sample, struct perfile_u64s *chain, uint64_t *addresses,
                             size_t capacity)
{
    const struct perfile_branch_stack *stack = &sample->branch_stack;
    const uint64_t kernel = pf_callchain_user_part(chain);
    size_t count = 0;
    if (kernel == chain->count || !stack->count || !capacity)
        return 0;
    chain->count = kernel;
    addresses[count++] = sample->ip;
    for (uint64_t i = 0; i < stack->count && count < capacity; i++) {
        struct perfile_branch branch;
        perfile_branch_at(stack, i, &branch, sizeof(branch));
        addresses[count++] = branch.from;
    }
    return count;
}

/* ---- callchains whose user part comes later ---- */

bool pf_held_take_cookie(struct perfile_u64s *ips, uint64_t *cookie)
{
    if (ips->count < 2 || perfile_u64_at(ips, ips->count - 2) != PERFILE_CONTEXT_USER_DEFERRED)
        return false;
    *cookie = perfile_u64_at(ips, ips->count - 1);
    ips->count -= 2;
    return true;
}

void pf_held_open(struct pf_held_list *list, const struct perfile_allocator *allocator)
{
    *list = (struct pf_held_list){.allocator = allocator, .end = &list->first};
}

void pf_held_close(struct pf_held_list *list)
{
    while (list->first)
        pf_held_free(list, pf_held_take(list, NULL));
}

struct pf_held *pf_held_add(struct pf_held_list *list, const struct perfile_record *record, int32_t tid,
                            uint64_t cookie)
{
    const size_t bytes = sizeof(struct pf_held) + record->bytes;
    struct pf_held *held = pf_new(list->allocator, bytes);
    if (!held)
        return NULL;
    held->bytes = bytes;
    held->record = *record;
    held->record.data = (uint8_t *)(held + 1);
    memcpy(held + 1, record->data, record->bytes);
    held->tid = tid;
    held->cookie = cookie;
    *list->end = held;
    list->end = &held->next;
    list->bytes += bytes;
    return held;
}

struct pf_held *pf_held_take(struct pf_held_list *list, const int32_t *tid)
{
    struct pf_held **link = &list->first;
    while (*link && tid && (*link)->tid != *tid)
        link = &(*link)->next;
    struct pf_held *held = *link;
    if (!held)
        return NULL;
    *link = held->next;
    if (!held->next)
        list->end = link;
    list->bytes -= held->bytes;
    return held;
}

void pf_held_free(struct pf_held_list *list, struct pf_held *held)
{
    pf_free(list->allocator, held, held->bytes);
}
