/* SPDX-License-Identifier: MIT */
#include "analysis/stack.h"

#include "base/error.h"

int pf_unwind_policy_parse(const char *text, enum pf_unwind_policy otherwise, enum pf_unwind_policy *policy,
                           struct perfile_error *error)
{
    static const char *const names[] = {[PF_UNWIND_CFI] = "cfi", [PF_UNWIND_FP] = "fp"};
    *policy = otherwise;
    if (!text)
        return 0;
    for (unsigned i = 0; i < PF_COUNT(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *policy = i;
            return 0;
        }
    }
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "unwind", "unknown policy '%.40s' (cfi or fp)",
                   text);
}

static bool has_branches(const struct pf_delivered *item)
{
    return item->record->event && pf_callchain_has_branches(&item->record->event->attr) &&
           item->sample.branch_stack.count;
}

bool pf_stack_unwinds(const struct pf_delivered *item)
{
    return item->sample.present & PERFILE_SAMPLE_STACK_USER && !item->user_chain.count && !has_branches(item);
}

static void unwind(struct pf_stack *stack, const struct pf_delivered *item, const struct pf_stack_options *options)
{
    struct pf_stack_part *part = &stack->parts[1];
    struct pf_unwound unwound = {.addresses = stack->user_part, .room = PF_CALLCHAIN_MAX};
    const struct pf_unwinding how = {
        .space = item->user_space, .arch = options->arch, .only_known = options->policy == PF_UNWIND_CFI};
    const int end = pf_symbols_unwind(options->symbols, &item->sample, &how, &unwound);
    stack->truncated = end == PF_UNWIND_TRUNCATED;
    stack->guessed = unwound.guessed;
    *part = (struct pf_stack_part){{.data = (const uint8_t *)stack->user_part, .count = unwound.count}, true};
}

void pf_stack_gather(struct pf_stack *stack, const struct pf_delivered *item, const struct pf_stack_options *options)
{
    stack->parts[0] = (struct pf_stack_part){.ips = item->sample.callchain};
    stack->parts[1] = (struct pf_stack_part){.ips = item->user_chain};
    stack->truncated = stack->guessed = false;
    if (item->user_chain.count)
        return;
    size_t count = has_branches(item)
                       ? pf_callchain_branches(&item->sample, &stack->parts[0].ips, stack->user_part, PF_CALLCHAIN_MAX)
                       : 0;
    if (count)
        stack->parts[1] = (struct pf_stack_part){{.data = (const uint8_t *)stack->user_part, .count = count}, true};
    else if (options->symbols && item->sample.present & PERFILE_SAMPLE_STACK_USER)
        unwind(stack, item, options);
}
