/* SPDX-License-Identifier: MIT */
/* The callchains and branch stacks of samples as addresses of the binary, for struct pf_pgo_contexts. */
#include "analysis/pgo/pgo_parts.h"
#include "symbol/unwind/callchain.h"

#define OUTSIDE PERFILE_PGO_OUTSIDE

/* The instruction of the binary at an address of the process; OUTSIDE when the address is not in the binary. */
static uint64_t address_of(struct perfile_pgo *pgo, uint64_t address)
{
    const uint64_t location = pf_pgo_locate(&pgo->modules, address);
    const struct pf_pgo_part *part = pf_pgo_part_of(&pgo->modules, location);
    uint64_t delta;
    if (!part || !pf_pgo_segment_delta(&pgo->own, part->pgoff, &delta))
        return OUTSIDE;
    const uint64_t found = (location & PF_OFFSET_MASK) + delta;
    return pf_pgo_is_instruction(pgo->contexts.code, found) ? found : OUTSIDE;
}

static bool add_frame(struct pf_pgo_contexts *contexts, uint64_t address)
{
    return PF_APPEND(contexts->allocator, contexts->frames, contexts->frame_count, contexts->frame_capacity, address);
}

/* Other code is one frame, however many it has. The stack ends where a return address is not after a call. */
static bool take_frame(struct perfile_pgo *pgo, uint64_t ip, bool is_user, bool *goes_on)
{
    struct pf_pgo_contexts *contexts = &pgo->contexts;
    uint64_t address = is_user ? address_of(pgo, ip) : OUTSIDE;
    const size_t count = contexts->frame_count;
    if (address == OUTSIDE && count && contexts->frames[count - 1] == OUTSIDE)
        return true;
    if (address != OUTSIDE && count)
        address = pf_pgo_call_before(contexts->code, address);
    *goes_on = address || !count;
    return !*goes_on || add_frame(contexts, address);
}

/* False: out of memory. */
static bool take_frames(struct perfile_pgo *pgo, const struct pf_delivered *item)
{
    const struct perfile_u64s *chains[] = {&item->sample.callchain, &item->user_chain};
    bool goes_on = true;
    uint64_t ip;
    pgo->contexts.frame_count = 0;
    for (size_t i = 0; i < PF_COUNT(chains) && goes_on; i++)
        for (struct pf_callchain_walk walk = pf_callchain_start(chains[i]); goes_on && pf_callchain_next(&walk, &ip);)
            if (!take_frame(pgo, ip, walk.mode == PERFILE_MISC_USER, &goes_on))
                return false;
    if (pgo->contexts.frame_count > 1 && pgo->contexts.frames[pgo->contexts.frame_count - 1] == OUTSIDE)
        pgo->contexts.frame_count--;
    return true;
}

static bool take_steps(struct perfile_pgo *pgo, const struct perfile_branch_stack *stack)
{
    struct pf_pgo_contexts *contexts = &pgo->contexts;
    contexts->step_count = 0;
    for (uint64_t i = 0; i < stack->count; i++) {
        if (pf_pgo_is_wrong_path(perfile_u64_at(&stack->entries, i * 3 + 2), stack->big_endian))
            continue;
        const struct pf_pgo_step step = {address_of(pgo, perfile_u64_at(&stack->entries, i * 3)),
                                         address_of(pgo, perfile_u64_at(&stack->entries, i * 3 + 1))};
        if ((step.from != OUTSIDE || step.to != OUTSIDE) &&
            !PF_APPEND(contexts->allocator, contexts->steps, contexts->step_count, contexts->step_capacity, step))
            return false;
    }
    return true;
}

/*
 * The first two and last two instructions of a function: the frame of its caller may not be in the chain there, or not
 * any more.
 */
static bool is_between_frames(const struct pf_pgo_code *code, uint64_t address)
{
    const struct pf_pgo_function *function = pf_pgo_function_before(code, address);
    const unsigned bytes = pf_pgo_instruction_bytes(code, address);
    uint64_t before;
    if (pf_pgo_flow_at(code, address) == PF_INSN_RETURN || pf_pgo_flow_at(code, address + bytes) == PF_INSN_RETURN)
        return true;
    return function && (function->start == address ||
                        (pf_pgo_previous_instruction(code, address, &before) && function->start == before));
}

bool pf_pgo_collect_contexts(struct perfile_pgo *pgo, const struct pf_delivered *item)
{
    struct pf_pgo_contexts *contexts = &pgo->contexts;
    if (!take_frames(pgo, item) || !take_steps(pgo, &item->sample.branch_stack))
        return false;
    if (!contexts->step_count)
        return true;
    const bool has_callers = contexts->frame_count;
    const bool is_between =
        has_callers && contexts->frames[0] != OUTSIDE && is_between_frames(contexts->code, contexts->frames[0]);
    contexts->counts.samples_without_callers += !has_callers;
    contexts->counts.samples_between_frames += is_between;
    return !has_callers || is_between || pf_pgo_contexts_count(contexts);
}
