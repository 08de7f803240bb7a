/* SPDX-License-Identifier: MIT */
#include "analysis/stack.h"

#include "base/bytes.h"
#include "base/error.h"
#include "symbol/unwind/unwind_arch.h"

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
    return pf_about(error, text, strlen(text),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "unwind",
                            "unknown policy '%.40s' (cfi or fp)", text));
}

static bool has_branches(const struct pf_delivered *item)
{
    return item->record->event && pf_callchain_has_branches(item->record->event->attr) &&
           item->sample.branch_stack.count;
}

/* The user part of the callchain came later. */
static bool is_deferred(const struct pf_delivered *item)
{
    return item->user_chain.count && item->record->event->attr->defer_callchain;
}

static bool unwinds(const struct pf_delivered *item)
{
    return item->sample.present & PERFILE_SAMPLE_STACK_USER && !item->user_chain.count && !has_branches(item);
}

static void add_part(struct pf_stack *stack, const struct perfile_u64s *ips, bool is_exact, bool goes_on)
{
    if (ips->count)
        stack->parts[stack->part_count++] = (struct pf_stack_part){*ips, is_exact, goes_on};
}

/* ---- the leaf's caller ------------------------------------------------------------------------------------------- */

/*
 * A chain of frame pointers begins with the frame of the leaf. If the leaf has no frame yet, or never makes one, its
 * caller is in the link register. The kernel of arm64 omits the register, and perf record has it recorded. That of
 * ppc64 always writes it second in the chain, where it is not a caller once it was stored; before that, the third
 * address is any value in the memory where it will be stored. The call frame information of the binary decides.
 */
enum leaf { LEAF_IS_RIGHT, LEAF_WITHOUT_CALLER, LEAF_HAS_MORE };

static enum leaf leaf_of(const struct pf_delivered *item, const char *arch)
{
    if (!arch || !item->sample.callchain.count || item->sample.present & PERFILE_SAMPLE_STACK_USER)
        return LEAF_IS_RIGHT;
    if (strcmp(arch, "aarch64") == 0)
        return item->sample.present & PERFILE_SAMPLE_REGS_USER ? LEAF_WITHOUT_CALLER : LEAF_IS_RIGHT;
    return strncmp(arch, "ppc64", 5) == 0 ? LEAF_HAS_MORE : LEAF_IS_RIGHT;
}

/* The position of the leaf of the user part in the chain; the count of the chain when no leaf has a caller after it. */
static uint64_t find_user_leaf(const struct perfile_u64s *chain)
{
    const uint64_t at = pf_callchain_user_part(chain);
    const bool has_caller = at + 2 < chain->count && perfile_u64_at(chain, at + 1) < PERFILE_CONTEXT_MAX &&
                            perfile_u64_at(chain, at + 2) < PERFILE_CONTEXT_MAX;
    return has_caller ? at + 1 : chain->count;
}

static bool link_register(const struct pf_delivered *item, const char *arch, uint64_t *value)
{
    const struct perfile_regs *regs = &item->sample.regs_user;
    const struct pf_unwind_arch *of = regs->abi ? pf_unwind_arch_find(arch, regs->abi) : NULL;
    uint64_t index = 0;
    for (uint64_t left = of ? regs->mask : 0; left && index < regs->values.count; left &= left - 1, index++) {
        const int bit = __builtin_ctzll(left);
        if (bit < of->perf_count && of->perf_slots[bit] == of->ra) {
            *value = perfile_u64_at(&regs->values, index) & of->address_mask;
            return true;
        }
    }
    return false;
}

/* The addresses of the chain from `first` up to `end`. */
static struct perfile_u64s slice(const struct perfile_u64s *chain, uint64_t first, uint64_t end)
{
    struct perfile_u64s part = *chain;
    part.data += first * sizeof(uint64_t);
    part.count = end - first;
    return part;
}

/* Inserts the caller that is missing in the chain. */
static bool add_caller(struct pf_stack *stack, const struct pf_delivered *item, const struct pf_stack_options *options)
{
    const struct perfile_u64s *chain = &item->sample.callchain, caller = {(const uint8_t *)&stack->leaf_caller, 1};
    const uint64_t leaf = find_user_leaf(chain);
    if (leaf == chain->count || !link_register(item, options->arch, &stack->leaf_caller) ||
        stack->leaf_caller == perfile_u64_at(chain, leaf + 1) || !stack->leaf_caller)
        return false;
    const enum pf_return_at at = pf_symbols_return_at(options->symbols, item->user_space, perfile_u64_at(chain, leaf));
    if (at != PF_RETURN_IN_REGISTER && at != PF_RETURN_IN_REGISTER_STILL)
        return false;
    const struct perfile_u64s before = slice(chain, 0, leaf + 1), after = slice(chain, leaf + 1, chain->count);
    stack->leaf_caller--; /* where the call is, as perf prints it */
    add_part(stack, &before, false, false);
    add_part(stack, &caller, true, true);
    add_part(stack, &after, false, true);
    return true;
}

/* Removes the address that is not a caller. */
static bool drop_caller(struct pf_stack *stack, const struct pf_delivered *item, const struct pf_stack_options *options)
{
    const struct perfile_u64s *chain = &item->sample.callchain;
    const uint64_t leaf = find_user_leaf(chain);
    if (leaf == chain->count)
        return false;
    const enum pf_return_at at = pf_symbols_return_at(options->symbols, item->user_space, perfile_u64_at(chain, leaf));
    if (at != PF_RETURN_ON_STACK && at != PF_RETURN_IN_REGISTER_STILL)
        return false;
    const uint64_t drop = at == PF_RETURN_ON_STACK ? leaf + 1 : leaf + 2;
    const struct perfile_u64s before = slice(chain, 0, pf_min(drop, chain->count)),
                              after = slice(chain, pf_min(drop + 1, chain->count), chain->count);
    add_part(stack, &before, false, false);
    add_part(stack, &after, false, true);
    return true;
}

static void add_callchain(struct pf_stack *stack, const struct pf_delivered *item,
                          const struct pf_stack_options *options)
{
    const enum leaf leaf = options->symbols ? leaf_of(item, options->arch) : LEAF_IS_RIGHT;
    if ((leaf == LEAF_WITHOUT_CALLER && add_caller(stack, item, options)) ||
        (leaf == LEAF_HAS_MORE && drop_caller(stack, item, options)))
        return;
    add_part(stack, &item->sample.callchain, false, false);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

bool pf_stack_chain_is_full(const struct pf_delivered *item)
{
    enum { USUAL_MAX = 127 };
    const struct perfile_event *event = item->record->event;
    const struct perfile_u64s *chain = &item->sample.callchain;
    const uint64_t max = event && event->attr->sample_max_stack ? event->attr->sample_max_stack : USUAL_MAX;
    uint64_t count = 0;
    if (PF_LIKELY(chain->count < max))
        return false;
    for (uint64_t i = 0; i < chain->count; i++)
        count += perfile_u64_at(chain, i) < PERFILE_CONTEXT_MAX;
    return count == max;
}

bool pf_stack_asks_binaries(const struct pf_delivered *item, const char *arch)
{
    return unwinds(item) || leaf_of(item, arch) != LEAF_IS_RIGHT;
}

bool pf_stack_is_plain(const struct pf_delivered *item, const char *arch)
{
    const uint64_t more = PERFILE_SAMPLE_STACK_USER | PERFILE_SAMPLE_BRANCH_STACK;
    if (PF_UNLIKELY(item->user_chain.count || (item->sample.present & more && (unwinds(item) || has_branches(item)))))
        return false;
    return !item->sample.callchain.count || leaf_of(item, arch) == LEAF_IS_RIGHT;
}

static void add_unwound(struct pf_stack *stack, const struct pf_delivered *item, const struct pf_stack_options *options)
{
    struct pf_unwound unwound = {.addresses = stack->user_part, .capacity = PF_CALLCHAIN_MAX};
    const struct pf_unwinding how = {
        .space = item->user_space, .arch = options->arch, .only_known = options->policy == PF_UNWIND_CFI};
    const int end = pf_symbols_unwind(options->symbols, &item->sample, &how, &unwound);
    stack->truncated = end == PF_UNWIND_TRUNCATED;
    stack->guessed = unwound.guessed;
    add_part(stack, &(struct perfile_u64s){(const uint8_t *)stack->user_part, unwound.count}, true, false);
}

/* The user part that is in the branches, and callers of those of the sample before; false: it is not. */
static bool add_branches(struct pf_stack *stack, const struct pf_delivered *item)
{
    struct perfile_u64s chain = item->sample.callchain;
    const size_t count = pf_callchain_branches(&item->sample, &chain, stack->user_part, PF_CALLCHAIN_MAX);
    if (!count)
        return false;
    add_part(stack, &chain, false, false);
    add_part(stack, &(struct perfile_u64s){(const uint8_t *)stack->user_part, count}, true, false);
    add_part(stack, &item->user_chain, true, true);
    return true;
}

void pf_stack_gather(struct pf_stack *stack, const struct pf_delivered *item, const struct pf_stack_options *options)
{
    stack->part_count = 0;
    stack->truncated = stack->guessed = false;
    stack->parts[0] = (struct pf_stack_part){.is_exact = false}; /* also read when the stack has no parts */
    if (has_branches(item) && !is_deferred(item) && add_branches(stack, item))
        return;
    add_callchain(stack, item, options);
    add_part(stack, &item->user_chain, false, false);
    if (options->symbols && unwinds(item))
        add_unwound(stack, item, options);
}
