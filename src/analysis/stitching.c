/* SPDX-License-Identifier: MIT */
#include "analysis/stitching.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/unwind/callchain.h"

enum { REGISTERS_MAX = 1024 /* more than any processor has */, BRANCH_WORDS = 3 };

struct pf_stitched {
    uint64_t *words; /* of the branches, newest first, and then the callers */
    size_t capacity;
    uint64_t branches, callers;
    uint64_t newest; /* the register of the newest branch */
};

void pf_stitching_open(struct pf_stitching *stitching, const struct perfile_filter *wanted,
                       const struct perfile_allocator *allocator)
{
    *stitching = (struct pf_stitching){.allocator = allocator, .active = wanted->stitches_calls};
    pf_map_open(&stitching->numbers, allocator);
}

void pf_stitching_close(struct pf_stitching *stitching)
{
    for (size_t i = 0; i < stitching->count; i++)
        pf_free(stitching->allocator, stitching->threads[i].words, stitching->threads[i].capacity * sizeof(uint64_t));
    pf_free(stitching->allocator, stitching->threads, stitching->capacity * sizeof(*stitching->threads));
    pf_map_close(&stitching->numbers);
}

/* ---- how many registers there are -------------------------------------------------------------------------------- */

struct caps {
    uint64_t registers; /* UINT64_MAX: those of several PMUs, which differ */
    bool is_next;       /* the next value is their number */
};

static int take_cap(void *context, const struct perfile_value *value)
{
    struct caps *caps = context;
    if (value->kind != PERFILE_VALUE_TEXT)
        return 0;
    if (caps->is_next) {
        char text[8] = "";
        memcpy(text, value->data, pf_min(value->bytes, sizeof(text) - 1));
        const uint64_t number = strtoul(text, NULL, 10);
        caps->registers = !caps->registers || caps->registers == number ? number : UINT64_MAX;
    }
    caps->is_next = value->bytes == strlen("branches") && !memcmp(value->data, "branches", value->bytes);
    return 0;
}

/* False: out of memory. */
static bool find_registers(struct pf_stitching *stitching, struct perfile_reader *reader)
{
    static const uint32_t features[] = {PERFILE_FEATURE_CPU_PMU_CAPS, PERFILE_FEATURE_PMU_CAPS};
    struct caps caps = {0};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &caps, .value = take_cap};
    stitching->knows_registers = true;
    for (size_t i = 0; i < PF_COUNT(features) && !caps.registers; i++)
        if (perfile_feature_visit(reader, features[i], &visitor, NULL) == PERFILE_ERROR_MEMORY)
            return false;
    stitching->registers = caps.registers <= REGISTERS_MAX ? caps.registers : 0;
    return true;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct pf_stitched *find_thread(struct pf_stitching *stitching, int32_t tid)
{
    uint64_t number;
    if (pf_map_get(&stitching->numbers, (uint32_t)tid, &number))
        return &stitching->threads[number];
    if (!PF_APPEND(stitching->allocator, stitching->threads, stitching->count, stitching->capacity,
                   (struct pf_stitched){0}) ||
        !pf_map_put(&stitching->numbers, (uint32_t)tid, stitching->count - 1))
        return NULL;
    return &stitching->threads[stitching->count - 1];
}

static bool is_usable(const struct pf_stitching *stitching, const struct perfile_branch_stack *stack)
{
    return stack->has_hw_idx && stack->count && stack->count <= stitching->registers &&
           stack->hw_idx < stitching->registers;
}

/* Whether the branch `at` of the sample before is the oldest one of the stack. */
static bool is_same_call(const struct pf_stitched *before, uint64_t at, const struct perfile_branch_stack *stack)
{
    for (uint64_t i = 0; i < BRANCH_WORDS; i++)
        if (before->words[at * BRANCH_WORDS + i] !=
            perfile_u64_at(&stack->entries, (stack->count - 1) * BRANCH_WORDS + i))
            return false;
    return true;
}

/* How many branches of the sample before are newer than callers of the stack, or in it. 0: the stacks share none. */
static uint64_t shared_with(const struct pf_stitching *stitching, const struct pf_stitched *before,
                            const struct perfile_branch_stack *stack)
{
    const uint64_t count = stitching->registers, oldest = stack->hw_idx + count + 1 - stack->count;
    const uint64_t at = (before->newest + 2 * count - oldest) % count;
    return at < before->branches && is_same_call(before, at, stack) ? at + 1 : 0;
}

/* Keeps the branches of the stack, and after them the callers, if branches are shared. False: out of memory. */
static bool replace(struct pf_stitching *stitching, struct pf_stitched *thread,
                    const struct perfile_branch_stack *stack, uint64_t shared)
{
    uint64_t callers[PF_CALLCHAIN_MAX], count = 0;
    for (uint64_t i = shared; shared && i < thread->branches && count < PF_CALLCHAIN_MAX; i++)
        callers[count++] = thread->words[i * BRANCH_WORDS];
    for (uint64_t i = 0; shared && i < thread->callers && count < PF_CALLCHAIN_MAX; i++)
        callers[count++] = thread->words[thread->branches * BRANCH_WORDS + i];
    const uint64_t words = stack->count * BRANCH_WORDS;
    if (!pf_grow(stitching->allocator, &thread->words, &thread->capacity, words + count, sizeof(*thread->words)))
        return false;
    for (uint64_t i = 0; i < words; i++)
        thread->words[i] = perfile_u64_at(&stack->entries, i);
    memcpy(thread->words + words, callers, count * sizeof(*callers));
    thread->branches = stack->count;
    thread->callers = count;
    thread->newest = stack->hw_idx;
    return true;
}

bool pf_stitching_take(struct pf_stitching *stitching, struct perfile_reader *reader, struct pf_delivered *item)
{
    const struct perfile_event *event = item->record->event;
    const struct perfile_branch_stack *stack = &item->sample.branch_stack;
    item->user_chain.count = 0;
    if (!event || !pf_callchain_has_branches(event->attr) ||
        pf_callchain_user_part(&item->sample.callchain) == item->sample.callchain.count)
        return true;
    if (!stitching->knows_registers && !find_registers(stitching, reader))
        return false;
    struct pf_stitched *thread = find_thread(stitching, item->sample.tid);
    if (!thread)
        return false;
    if (!is_usable(stitching, stack)) {
        thread->branches = thread->callers = 0;
        return true;
    }
    if (!replace(stitching, thread, stack, shared_with(stitching, thread, stack)))
        return false;
    const uint64_t *callers = thread->words + thread->branches * BRANCH_WORDS;
    item->user_chain = (struct perfile_u64s){(const uint8_t *)callers, thread->callers};
    stitching->stitched |= thread->callers > 0;
    return true;
}

void pf_stitching_notify(const struct pf_stitching *stitching, perfile_on_unmatched *notify, void *context)
{
    const char *why = !stitching->knows_registers ? "no sample has a call stack of the branch hardware"
                      : !stitching->registers     ? "the recording does not say how many registers branches have"
                                                  : "no call stack continues one before it";
    if (notify && stitching->active && !stitching->stitched)
        notify(context, &(struct perfile_unmatched){.filter = "stitches_calls", .value = why});
}
