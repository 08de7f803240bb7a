/* SPDX-License-Identifier: MIT */
/*
 * The stack of a sample as addresses, leaf first: the one walk over callchains with their markers, call stacks of the
 * branch hardware, user parts that came later, and dumped stacks. What is at the addresses is for others to find.
 */
#ifndef PF_ANALYSIS_STACK_H
#define PF_ANALYSIS_STACK_H

#include "analysis/delivery.h"
#include "symbol/symbols.h"

/* How far dumped stacks are unwound: the `unwind` of struct perfile_symbol_options. */
enum pf_unwind_policy {
    PF_UNWIND_CFI, /* as perf: up to the first frame whose binary is missing */
    PF_UNWIND_FP,  /* from there on by frame pointers, which is a guess */
};

/* NULL is `otherwise`. ARGUMENT. */
int pf_unwind_policy_parse(const char *text, enum pf_unwind_policy otherwise, enum pf_unwind_policy *policy,
                           struct perfile_error *error);

struct pf_stack_options {
    struct pf_symbols *symbols; /* NULL: dumped stacks are left alone */
    const char *arch;           /* uname -m of the recording */
    enum pf_unwind_policy policy;
};

struct pf_stack_part {
    struct perfile_u64s ips;
    bool is_exact; /* callers are where their calls are, not return addresses */
    bool goes_on;  /* in the context of the part before, whose last address was called from its first */
};

enum { PF_STACK_PARTS = 4 };

struct pf_stack {
    struct pf_stack_part parts[PF_STACK_PARTS]; /* pieces of the callchain, and the user part that is not in it */
    unsigned part_count;
    bool truncated;                       /* the dumped stack was too short to unwind to its end */
    bool guessed;                         /* it was not unwound by call frame information alone */
    uint64_t leaf_caller;                 /* that the callchain does not have */
    uint64_t user_part[PF_CALLCHAIN_MAX]; /* from branches or unwinding */
};

struct pf_stack_address {
    uint64_t ip;
    unsigned mode; /* PERFILE_MISC_KERNEL or _USER; 0: a guest's or a hypervisor's, whose mappings are not known */
    bool returns;  /* a return address: the call is one byte before */
};

/* The callchain has as many frames as the kernel was asked for: the outermost callers are most likely missing. */
bool pf_stack_chain_is_full(const struct pf_delivered *item);
static inline bool pf_stack_is_full(const struct pf_delivered *item)
{
    return item->sample.callchain.count && pf_stack_chain_is_full(item);
}
/* Binaries are needed for it: to unwind a dumped stack, or to see which callers of the leaf are real. */
bool pf_stack_asks_binaries(const struct pf_delivered *item, const char *arch);
/* The stack consists of the sampled address alone. */
static inline bool pf_stack_is_leaf(const struct pf_delivered *item)
{
    const uint64_t more = PERFILE_SAMPLE_STACK_USER | PERFILE_SAMPLE_BRANCH_STACK;
    return !item->sample.callchain.count && !item->user_chain.count && !(item->sample.present & more);
}
/* The stack is the callchain as it is. */
bool pf_stack_is_plain(const struct pf_delivered *item, const char *arch);
/* Gathers the parts of the stack, which are valid as long as the item. */
void pf_stack_gather(struct pf_stack *stack, const struct pf_delivered *item, const struct pf_stack_options *options);

/* A walk over its addresses. */
struct pf_stack_walk {
    const struct pf_stack *stack;
    struct pf_callchain_walk chain;
    unsigned part;
};

static inline struct pf_callchain_walk pf_stack_start_part(const struct pf_stack_part *part)
{
    struct pf_callchain_walk walk = pf_callchain_start(&part->ips);
    walk.follows = part->goes_on;
    return walk;
}

static inline struct pf_stack_walk pf_stack_start(const struct pf_stack *stack)
{
    return (struct pf_stack_walk){.stack = stack, .chain = pf_stack_start_part(&stack->parts[0])};
}

static inline bool pf_stack_next(struct pf_stack_walk *walk, struct pf_stack_address *address)
{
    while (!pf_callchain_next(&walk->chain, &address->ip)) {
        if (walk->part + 1 >= walk->stack->part_count)
            return false;
        walk->chain = pf_stack_start_part(&walk->stack->parts[++walk->part]);
    }
    address->mode = walk->chain.mode;
    address->returns = walk->chain.calls && !walk->stack->parts[walk->part].is_exact;
    return true;
}

#endif
