/* SPDX-License-Identifier: MIT */
#include "analysis/calls/stacks.h"

#include "base/bytes.h"
#include "hwtrace/flow.h"

/* Of an endless recursion the innermost calls matter. */
enum { MAX_DEPTH = 1024 };
#define NONE SIZE_MAX

/* ---- threads ----------------------------------------------------------------------------------------------------- */

void pf_call_stacks_open(struct pf_call_stacks *stacks, const struct perfile_allocator *allocator)
{
    *stacks = (struct pf_call_stacks){.allocator = allocator};
    stacks->last = &stacks->first;
    pf_map_open(&stacks->threads, allocator);
}

void pf_call_stacks_close(struct pf_call_stacks *stacks)
{
    for (struct pf_call_thread *thread = stacks->first, *next; thread; thread = next) {
        next = thread->next;
        pf_free(stacks->allocator, thread->frames, thread->capacity * sizeof(*thread->frames));
        pf_free(stacks->allocator, thread, sizeof(*thread));
    }
    pf_free(stacks->allocator, stacks->ended, stacks->ended_capacity * sizeof(*stacks->ended));
    pf_map_close(&stacks->threads);
}

struct pf_call_thread *pf_call_stacks_thread(struct pf_call_stacks *stacks, int32_t pid, int32_t tid)
{
    uint64_t value;
    if (pf_map_get(&stacks->threads, (uint32_t)tid, &value)) {
        struct pf_call_thread *known = (struct pf_call_thread *)(uintptr_t)value;
        known->pid = known->count ? known->pid : pid;
        return known;
    }
    struct pf_call_thread *thread = pf_new(stacks->allocator, sizeof(*thread));
    if (!thread || !pf_map_put(&stacks->threads, (uint32_t)tid, (uintptr_t)thread)) {
        pf_free(stacks->allocator, thread, sizeof(*thread));
        return NULL;
    }
    thread->pid = pid;
    thread->tid = tid;
    *stacks->last = thread;
    stacks->last = &thread->next;
    return thread;
}

/* ---- what a branch does ------------------------------------------------------------------------------------------ */

static bool holds(const struct pf_call_function *function, uint64_t address)
{
    return function->start <= address && address < function->end;
}

static const struct pf_call_frame *top_of(const struct pf_call_thread *thread)
{
    return thread->count ? &thread->frames[thread->count - 1] : NULL;
}

/* The innermost call that returns to the address, or NONE. */
static size_t find_return(const struct pf_call_thread *thread, uint64_t to)
{
    for (size_t i = thread->count; i > 0; i--)
        if (thread->frames[i - 1].can_return && thread->frames[i - 1].returns_to == to)
            return i - 1;
    return NONE;
}

/* The innermost call of the function that has the address, or NONE. */
static size_t find_function(const struct pf_call_thread *thread, uint64_t to)
{
    for (size_t i = thread->count; i > 0; i--)
        if (holds(&thread->frames[i - 1].function, to))
            return i - 1;
    return NONE;
}

/* It returns where the call around it does. */
static bool is_tail(const struct pf_call_frame *frame)
{
    return frame->call.kind == PF_CALL_TAIL || (frame->call.kind == PF_CALL_OUTSIDE && !frame->can_return);
}

/* The call that the tail calls at the top go back to: the outermost one that ends when they return. */
static size_t base_of(const struct pf_call_thread *thread)
{
    size_t i = thread->count - 1;
    while (i > 0 && is_tail(&thread->frames[i]))
        i--;
    return i;
}

static struct pf_call_change keep(size_t count)
{
    return (struct pf_call_change){.keep = count};
}

static struct pf_call_change push(struct pf_call_change change, enum pf_call_kind kind, uint64_t address)
{
    change.pushes = true;
    change.kind = (uint8_t)kind;
    change.address = address;
    return change;
}

/* All end, and a function is open from here on that was entered before. */
static struct pf_call_change start_over(const struct pf_call_thread *thread, uint64_t to)
{
    struct pf_call_change change = push(keep(0), PF_CALL_BEFORE, to);
    change.is_return = thread->count && base_of(thread) == 0;
    return change;
}

/* A jump to the start of a function. Where it was called so before, these calls would never end. */
static struct pf_call_change jump_to(const struct pf_call_thread *thread, uint64_t to)
{
    const size_t base = base_of(thread);
    struct pf_call_change change = keep(thread->count);
    for (size_t i = base; i < thread->count; i++)
        if (thread->frames[i].function.start == to && thread->frames[i].function.end) {
            change.keep = i == base ? base + 1 : i;
            change.ending = PF_CALL_LEFT;
            break;
        }
    return push(change, PF_CALL_TAIL, to);
}

/* Where the kernel is left, its calls end. */
static size_t without_kernel(const struct pf_call_thread *thread)
{
    size_t count = thread->count;
    while (count && thread->frames[count - 1].call.address >> 63)
        count--;
    return count;
}

static struct pf_call_change plan_return(const struct pf_call_thread *thread, const struct pf_call_branch *branch,
                                         const struct pf_call_function *function)
{
    const uint64_t to = branch->to;
    const size_t at = find_return(thread, to), in = find_function(thread, to);
    if (at != NONE)
        return (struct pf_call_change){.keep = at, .is_return = true};
    if (branch->from >> 63 && !(to >> 63)) {
        const size_t left = without_kernel(thread);
        return left ? keep(left) : start_over(thread, to);
    }
    if (in != NONE)
        return keep(in + 1);
    if (function->end && to == function->start && top_of(thread) && thread->frames[thread->count - 1].can_return)
        return jump_to(thread, to); /* it was called by a return, as retpolines do */
    return start_over(thread, to);
}

static struct pf_call_change plan_outside(const struct pf_call_thread *thread, uint64_t returns_to, bool by_call)
{
    const struct pf_call_frame *top = top_of(thread);
    if (!top || top->call.kind == PF_CALL_OUTSIDE)
        return keep(thread->count);
    struct pf_call_change change = push(keep(thread->count), PF_CALL_OUTSIDE, 0);
    change.returns_to = returns_to;
    change.can_return = true;
    change.by_call = by_call;
    return change;
}

/* An interrupt that is not traced, or a jump to something: that returns where this function would. */
static struct pf_call_change plan_end(const struct pf_call_thread *thread, const struct pf_call_branch *branch)
{
    const bool is_jump = !(branch->flags & (PF_FLOW_IS_ASYNC | PF_FLOW_IS_INTERRUPT | PF_FLOW_IS_SYSTEM));
    struct pf_call_change change = plan_outside(thread, branch->from, is_jump);
    change.can_return = change.can_return && !is_jump;
    return change;
}

/* A return to something that is not traced. */
static struct pf_call_change plan_return_outside(const struct pf_call_thread *thread)
{
    return thread->count ? (struct pf_call_change){.keep = base_of(thread), .is_return = true} : keep(0);
}

static enum pf_call_kind kind_of(uint32_t flags)
{
    return flags & (PF_FLOW_IS_ASYNC | PF_FLOW_IS_INTERRUPT) ? PF_CALL_INTERRUPT
           : flags & PF_FLOW_IS_SYSTEM                       ? PF_CALL_SYSTEM
                                                             : PF_CALL_CALL;
}

static struct pf_call_change plan_call(const struct pf_call_thread *thread, const struct pf_call_branch *branch,
                                       const struct pf_call_function *function)
{
    const enum pf_call_kind kind = kind_of(branch->flags);
    const uint64_t after = branch->flags & PF_FLOW_IS_ASYNC ? branch->from : branch->from + branch->insn_bytes;
    const bool is_inside = kind == PF_CALL_CALL && holds(function, branch->from) && branch->to != function->start;
    if (!branch->to)
        return plan_outside(thread, after, kind == PF_CALL_CALL);
    if (after == branch->to || is_inside) /* it only finds its own address, or prepares a return */
        return keep(thread->count);
    struct pf_call_change change = push(keep(thread->count), kind, branch->to);
    change.returns_to = after;
    change.can_return = true;
    change.caller = thread->count ? 0 : branch->from;
    return change;
}

/* It goes on where it ended, further out, in a function that was called from outside or by a signal, or elsewhere. */
static struct pf_call_change plan_begin(const struct pf_call_thread *thread, uint64_t to,
                                        const struct pf_call_function *function)
{
    const struct pf_call_frame *top = top_of(thread);
    const size_t at = find_return(thread, to), in = find_function(thread, to);
    const bool is_outside = top && top->call.kind == PF_CALL_OUTSIDE;
    if (at != NONE)
        return (struct pf_call_change){.keep = at, .is_return = true};
    if (is_outside && function->end && to == function->start)
        return push(keep(thread->count), top->by_call ? PF_CALL_CALL : PF_CALL_INTERRUPT, to);
    if (in != NONE)
        return (struct pf_call_change){.keep = in + 1, .is_return = is_outside && in + 2 == thread->count};
    if (thread->count > is_outside && !function->end)
        return (struct pf_call_change){.keep = thread->count - is_outside, .is_return = true};
    return start_over(thread, to);
}

static struct pf_call_change plan_jump(const struct pf_call_thread *thread, uint64_t to,
                                       const struct pf_call_function *function)
{
    const size_t in = find_function(thread, to);
    if (function->end && to == function->start)
        return jump_to(thread, to);
    return keep(in == NONE ? thread->count : in + 1);
}

struct pf_call_change pf_call_stacks_plan(struct pf_call_stacks *stacks, const struct pf_call_thread *thread,
                                          const struct pf_call_branch *branch)
{
    const struct pf_call_frame *top = top_of(thread);
    const uint32_t flags = branch->flags;
    const bool is_plain = !(flags & (PF_FLOW_IS_CALL | PF_FLOW_IS_RETURN | PF_FLOW_IS_BEGIN | PF_FLOW_IS_END));
    if (is_plain && top && holds(&top->function, branch->to))
        return keep(thread->count);
    const struct pf_call_function function =
        branch->to ? stacks->function(stacks->context, branch->pid, branch->to) : (struct pf_call_function){0};
    if (flags & PF_FLOW_IS_CALL)
        return plan_call(thread, branch, &function);
    if (flags & PF_FLOW_IS_BEGIN)
        return plan_begin(thread, branch->to, &function);
    if (flags & PF_FLOW_IS_RETURN)
        return branch->to ? plan_return(thread, branch, &function) : plan_return_outside(thread);
    if (!branch->to)
        return plan_end(thread, branch);
    return top ? plan_jump(thread, branch->to, &function) : start_over(thread, branch->to);
}

/* ---- doing it ---------------------------------------------------------------------------------------------------- */

static bool give(struct pf_call_stacks *stacks, const struct pf_call_thread *thread, struct pf_call call,
                 enum pf_call_ending ending)
{
    call.end = pf_max(thread->time, call.begin);
    call.insns = thread->insns - call.insns;
    call.cycles = thread->cycles - call.cycles;
    call.ending = (uint8_t)ending;
    return PF_APPEND(stacks->allocator, stacks->ended, stacks->ended_count, stacks->ended_capacity, call);
}

/* The calls that go: those that only tail calls were inside of have returned with them. */
static bool pop(struct pf_call_stacks *stacks, struct pf_call_thread *thread, const struct pf_call_change *change)
{
    bool returned = true, fine = true;
    while (thread->count > change->keep && fine) {
        const struct pf_call_frame *frame = &thread->frames[--thread->count];
        returned = returned && is_tail(frame);
        const bool is_last = change->is_return && thread->count == change->keep;
        const bool fine_end = change->ending || returned || is_last;
        fine = give(stacks, thread, frame->call, fine_end ? (enum pf_call_ending)change->ending : PF_CALL_UNWOUND);
    }
    return fine;
}

/* The outermost half ends. */
static bool make_shallow(struct pf_call_stacks *stacks, struct pf_call_thread *thread)
{
    enum { HALF = MAX_DEPTH / 2 };
    bool fine = true;
    if (thread->count < MAX_DEPTH)
        return true;
    for (size_t i = HALF; i > 0 && fine; i--)
        fine = give(stacks, thread, thread->frames[i - 1].call, PF_CALL_TOO_DEEP);
    thread->count -= HALF;
    memmove(thread->frames, thread->frames + HALF, thread->count * sizeof(*thread->frames));
    return fine;
}

static bool open_call(struct pf_call_stacks *stacks, struct pf_call_thread *thread, const struct pf_call_frame *made)
{
    const struct pf_call_frame *outer = top_of(thread);
    struct pf_call_frame frame = *made;
    frame.call.number = ++stacks->numbers;
    frame.call.parent = outer ? outer->call.number : 0;
    frame.call.depth = outer ? outer->call.depth + 1 : 0;
    frame.call.begin = thread->time;
    frame.call.insns = thread->insns;
    frame.call.cycles = thread->cycles;
    frame.call.pid = thread->pid;
    frame.call.tid = thread->tid;
    if (frame.call.address)
        frame.function = stacks->function(stacks->context, thread->pid, frame.call.address);
    return make_shallow(stacks, thread) &&
           PF_APPEND(stacks->allocator, thread->frames, thread->count, thread->capacity, frame);
}

/* It lasted until now. */
static bool end_gap(struct pf_call_stacks *stacks, struct pf_call_thread *thread, enum pf_call_ending ending)
{
    const struct pf_call gap = {.number = thread->gap ? ++stacks->numbers : 0,
                                .begin = thread->gap_begin,
                                .insns = thread->insns,
                                .cycles = thread->cycles,
                                .pid = thread->pid,
                                .tid = thread->tid,
                                .kind = PF_CALL_GAP,
                                .error = thread->gap};
    const bool any = thread->gap;
    thread->gap = 0;
    return !any || give(stacks, thread, gap, ending);
}

bool pf_call_stacks_apply(struct pf_call_stacks *stacks, struct pf_call_thread *thread,
                          const struct pf_call_branch *branch, const struct pf_call_change *change)
{
    thread->time = pf_max(thread->time, branch->time);
    thread->insns += branch->insns;
    thread->cycles += branch->cycles;
    if (!end_gap(stacks, thread, PF_CALL_RETURNED) || !pop(stacks, thread, change))
        return false;
    thread->pid = thread->count ? thread->pid : branch->pid;
    const struct pf_call_frame caller = {.call = {.address = change->caller, .kind = PF_CALL_BEFORE}};
    const struct pf_call_frame frame = {.call = {.address = change->address, .kind = change->kind},
                                        .returns_to = change->returns_to,
                                        .can_return = change->can_return,
                                        .by_call = change->by_call};
    return (!change->caller || open_call(stacks, thread, &caller)) &&
           (!change->pushes || open_call(stacks, thread, &frame));
}

bool pf_call_stacks_end(struct pf_call_stacks *stacks, struct pf_call_thread *thread, uint64_t time,
                        enum pf_call_ending ending)
{
    thread->time = pf_max(thread->time, time);
    const struct pf_call_change change = {.ending = (uint8_t)ending};
    return end_gap(stacks, thread, ending) && pop(stacks, thread, &change);
}

/* Further errors are in the same gap. */
bool pf_call_stacks_lose(struct pf_call_stacks *stacks, struct pf_call_thread *thread, uint64_t time, unsigned error)
{
    if (thread->gap)
        return true;
    const size_t first = stacks->ended_count;
    const bool fine = pf_call_stacks_end(stacks, thread, time, PF_CALL_LOST);
    for (size_t i = first; i < stacks->ended_count; i++)
        stacks->ended[i].error = (uint8_t)error;
    thread->gap = (uint8_t)error;
    thread->gap_begin = thread->time;
    return fine;
}
