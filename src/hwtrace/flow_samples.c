/* SPDX-License-Identifier: MIT */
#include "hwtrace/flow_samples.h"

#include "hwtrace/queues.h"

enum { WORDS_PER_BRANCH = 3, NO_EVENT = UINT8_MAX, STACK_MAX = 1024 };

enum phase { PHASE_INSNS, PHASE_BRANCH, PHASE_CYCLES, PHASE_EVENT, PHASE_END };

/* Where the calls that a thread is in return to. */
struct pf_flow_stack {
    struct pf_flow_stack *next; /* of another thread */
    size_t count, capacity;
    struct call {
        uint64_t target;
        bool at_end; /* made when the trace ended: it need not return */
    } * calls;
};

static unsigned event_of_letter(const struct pf_flow_samples *samples, char letter)
{
    for (unsigned i = 0; i < samples->decoder->event_count; i++)
        if (samples->itrace->events >> i & 1 && samples->decoder->events[i].letter == letter)
            return i;
    return NO_EVENT;
}

static void find_events(struct pf_flow_samples *samples)
{
    samples->branches = event_of_letter(samples, 'b');
    samples->instructions = event_of_letter(samples, 'i');
    samples->cycles_event = event_of_letter(samples, 'y');
    for (size_t i = 0; i < PF_COUNT(samples->event_of); i++)
        samples->event_of[i] = NO_EVENT;
    for (unsigned i = 0; i < samples->decoder->event_count; i++)
        if (samples->itrace->events >> i & 1 && samples->decoder->events[i].of_flow)
            samples->event_of[samples->decoder->events[i].of_flow] = i;
}

bool pf_flow_samples_open(struct pf_flow_samples *samples, const struct perfile_allocator *allocator,
                          const struct pf_aux_decoder *decoder, const struct pf_itrace *itrace,
                          const struct perfile_time_conv *clock)
{
    const size_t ring_words = (size_t)itrace->branch_count * WORDS_PER_BRANCH;
    *samples = (struct pf_flow_samples){.allocator = allocator,
                                        .decoder = decoder,
                                        .itrace = itrace,
                                        .clock = clock,
                                        .phase = PHASE_END,
                                        .skipped = itrace->skipped,
                                        .tid = -1};
    pf_map_open(&samples->stacks, allocator);
    find_events(samples);
    samples->ring = pf_new(allocator, ring_words * sizeof(uint64_t) + 1);
    samples->branch_words = pf_new(allocator, ring_words * sizeof(uint64_t) + 1);
    samples->chain_words = pf_new(allocator, ((size_t)itrace->chain_count + 2) * sizeof(uint64_t));
    return samples->ring && samples->branch_words && samples->chain_words;
}

void pf_flow_samples_close(struct pf_flow_samples *samples)
{
    const size_t ring_words = samples->itrace ? (size_t)samples->itrace->branch_count * WORDS_PER_BRANCH : 0;
    if (!samples->allocator)
        return;
    for (struct pf_flow_stack *stack = samples->all_stacks, *next; stack; stack = next) {
        next = stack->next;
        pf_free(samples->allocator, stack->calls, stack->capacity * sizeof(*stack->calls));
        pf_free(samples->allocator, stack, sizeof(*stack));
    }
    pf_map_close(&samples->stacks);
    pf_free(samples->allocator, samples->ring, ring_words * sizeof(uint64_t) + 1);
    pf_free(samples->allocator, samples->branch_words, ring_words * sizeof(uint64_t) + 1);
    pf_free(samples->allocator, samples->chain_words, ((size_t)samples->itrace->chain_count + 2) * sizeof(uint64_t));
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

void pf_flow_samples_enter(struct pf_flow_samples *samples, int32_t tid)
{
    uint64_t value;
    if (tid == samples->tid && samples->stack)
        return;
    samples->tid = tid;
    samples->stack = NULL;
    if (pf_map_get(&samples->stacks, (uint32_t)tid, &value)) {
        samples->stack = (struct pf_flow_stack *)(uintptr_t)value;
        return;
    }
    struct pf_flow_stack *stack = pf_new(samples->allocator, sizeof(*stack));
    if (!stack || !pf_map_put(&samples->stacks, (uint32_t)tid, (uintptr_t)stack)) {
        pf_free(samples->allocator, stack, sizeof(*stack));
        return;
    }
    stack->next = samples->all_stacks;
    samples->all_stacks = samples->stack = stack;
}

static void push_call(struct pf_flow_samples *samples, uint64_t target, bool at_end)
{
    struct pf_flow_stack *stack = samples->stack;
    if (stack->count == STACK_MAX) /* of an endless recursion the innermost calls matter */
        memmove(stack->calls, stack->calls + 1, --stack->count * sizeof(*stack->calls));
    (void)PF_APPEND(samples->allocator, stack->calls, stack->count, stack->capacity, (struct call){target, at_end});
}

/* Some functions do not return, and some return where they were not called. */
static void pop_call(struct pf_flow_stack *stack, uint64_t target)
{
    for (size_t i = stack->count; i > 0; i--)
        if (stack->calls[i - 1].target == target) {
            stack->count = i - 1;
            return;
        }
}

static void follow_branch(struct pf_flow_samples *samples, uint64_t after)
{
    const struct pf_flow_step *step = &samples->step;
    struct pf_flow_stack *stack = samples->stack;
    if (step->flags & PF_FLOW_IS_CALL) {
        if (after != step->to)
            push_call(samples, after, step->flags & PF_FLOW_IS_END);
    } else if (step->flags & PF_FLOW_IS_BEGIN) {
        pop_call(stack, step->to);
        while (stack->count && stack->calls[stack->count - 1].at_end)
            stack->count--;
    } else if (step->flags & PF_FLOW_IS_RETURN) {
        pop_call(stack, step->to);
    }
}

static void put_chain(struct pf_flow_samples *samples, uint64_t ip)
{
    const struct pf_flow_stack *stack = samples->stack;
    uint64_t *words = samples->chain_words;
    unsigned count = 0;
    words[count++] = ip >> 63 ? PERFILE_CONTEXT_KERNEL : PERFILE_CONTEXT_USER;
    words[count++] = ip;
    for (size_t i = stack ? stack->count : 0; i > 0 && count < samples->itrace->chain_count + 1; i--)
        words[count++] = stack->calls[i - 1].target;
    samples->made.chain = words;
    samples->made.chain_count = count;
}

/* ---- branch stacks ----------------------------------------------------------------------------------------------- */

static void note_branch(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    const unsigned capacity = samples->itrace->branch_count;
    enum { IN_TRANSACTION = 1 << 2, ABORTED = 1 << 3 };
    samples->ring_at = samples->ring_at ? samples->ring_at - 1 : capacity - 1;
    uint64_t *words = samples->ring + (size_t)samples->ring_at * WORDS_PER_BRANCH;
    words[0] = step->from;
    words[1] = step->to;
    words[2] = samples->decoder->flow->branch_bits | (step->flags & PF_FLOW_IN_TRANSACTION ? IN_TRANSACTION : 0) |
               (step->flags & PF_FLOW_IS_ABORT ? ABORTED : 0);
    samples->ring_count += samples->ring_count < capacity;
}

static void put_branches(struct pf_flow_samples *samples)
{
    const unsigned capacity = samples->itrace->branch_count;
    const unsigned first = (unsigned)pf_min(samples->ring_count, capacity - samples->ring_at);
    enum { BYTES = WORDS_PER_BRANCH * sizeof(uint64_t) };
    memcpy(samples->branch_words, samples->ring + (size_t)samples->ring_at * WORDS_PER_BRANCH, (size_t)first * BYTES);
    memcpy(samples->branch_words + (size_t)first * WORDS_PER_BRANCH, samples->ring,
           (size_t)(samples->ring_count - first) * BYTES);
    samples->made.branches = samples->branch_words;
    samples->made.branch_count = samples->ring_count;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static uint16_t mode_of(uint64_t address)
{
    return address >> 63 ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
}

/* What all samples have. */
static void put_sample(struct pf_flow_samples *samples, uint64_t ip, bool has_stacks)
{
    struct pf_aux_sample *made = &samples->made;
    made->ip = ip;
    made->addr = 0;
    made->misc = mode_of(ip);
    made->flags = made->depth = 0;
    made->insn_bytes = 0;
    made->insns = made->cycles = 0;
    made->raw_bytes = 0;
    made->period = 1;
    made->alike = 0;
    made->chain_count = made->branch_count = 0;
    if (has_stacks && samples->itrace->chains)
        put_chain(samples, ip);
    if (has_stacks && samples->itrace->branches)
        put_branches(samples);
}

/* True: this one is to be left out. */
static bool is_skipped(struct pf_flow_samples *samples)
{
    const bool skipped = samples->skipped > 0;
    samples->skipped -= skipped;
    return skipped;
}

/* Instructions and cycles since the last sample that has them, where the trace counts cycles. */
static void put_rates(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    if (!step->has_cycles || step->cycles == samples->ipc_cycles)
        return;
    samples->made.insns = samples->insns - samples->ipc_insns;
    samples->made.cycles = step->cycles - samples->ipc_cycles;
    samples->ipc_insns = samples->insns;
    samples->ipc_cycles = step->cycles;
}

/* The same since the last branch or error. */
static void put_run(struct pf_flow_samples *samples)
{
    const uint64_t cycles = samples->step.has_cycles ? samples->step.cycles : samples->run_cycles;
    samples->made.run_insns = samples->insns - samples->run_insns;
    samples->made.run_cycles = cycles - samples->run_cycles;
    samples->run_insns = samples->insns;
    samples->run_cycles = cycles;
}

static void put_instruction(struct pf_flow_samples *samples, uint64_t ip, uint32_t index)
{
    const struct pf_flow_step *step = &samples->step;
    struct pf_aux_sample *made = &samples->made;
    put_sample(samples, ip, true);
    made->period = samples->since;
    made->insn_bytes = step->block->bytes[index];
    if (step->flags && index + 1 == step->count && step->from == ip) {
        made->flags = step->flags;
        made->addr = step->to;
    }
    put_rates(samples);
    samples->since = 0;
}

/* The period that is counted in time has ended. */
static bool is_due(struct pf_flow_samples *samples)
{
    const struct pf_itrace *itrace = samples->itrace;
    const uint64_t now = itrace->unit == PF_ITRACE_TICKS ? samples->step.time : samples->time_ns;
    if (!samples->period_end)
        samples->period_end = now + itrace->every;
    if (now < samples->period_end)
        return false;
    samples->period_end = now + itrace->every;
    return true;
}

/* How many instructions of the step are left out before the next sample of one; UINT32_MAX: it has none. */
static uint32_t passed_over(struct pf_flow_samples *samples)
{
    const uint32_t left = samples->step.count - samples->index;
    const uint64_t every = samples->itrace->every;
    if (samples->itrace->unit != PF_ITRACE_RECORDS)
        return left && is_due(samples) ? 0 : UINT32_MAX;
    return samples->since + left >= every ? (uint32_t)(every > samples->since ? every - samples->since - 1 : 0)
                                          : UINT32_MAX;
}

static void pass_over(struct pf_flow_samples *samples, uint32_t count)
{
    const uint8_t *bytes = samples->step.block->bytes + samples->step.first;
    for (uint32_t i = 0; i < count; i++)
        samples->at += bytes[samples->index++];
    samples->since += count;
    samples->insns += count;
}

/* A sample of an instruction: true, or false at the end of the step's instructions. */
static bool next_instruction(struct pf_flow_samples *samples)
{
    const bool each = samples->itrace->every == 1 && samples->itrace->unit == PF_ITRACE_RECORDS;
    const struct pf_flow_step *step = &samples->step;
    while (samples->index < step->count) {
        const uint32_t over = samples->instructions == NO_EVENT ? UINT32_MAX : each ? 0 : passed_over(samples);
        if (over == UINT32_MAX)
            break;
        if (PF_UNLIKELY(over))
            pass_over(samples, over);
        const uint64_t ip = samples->at;
        const uint32_t index = samples->index;
        pass_over(samples, 1);
        if (PF_UNLIKELY(is_skipped(samples)))
            continue;
        put_instruction(samples, ip, step->first + index);
        return true;
    }
    samples->since += step->count - samples->index;
    samples->insns += step->count - samples->index;
    samples->index = step->count;
    return false;
}

/* With branch stacks, those of the instructions that ended without a sample are not lost: the last one has it. */
static bool next_rest(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    if (!step->ends || !step->count || !samples->since || !samples->itrace->branches ||
        samples->instructions == NO_EVENT || is_skipped(samples))
        return false;
    put_instruction(samples, step->block->last, step->first + step->count - 1);
    return true;
}

static bool is_wanted_branch(const struct pf_flow_samples *samples, uint32_t flags)
{
    const uint32_t kinds = samples->itrace->kinds;
    return samples->branches != NO_EVENT && (!kinds || flags & kinds);
}

static bool next_branch(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    const struct pf_flow_block *block = step->block;
    const bool by_insn = block && step->from == block->last;
    const bool wanted = is_wanted_branch(samples, step->flags) && !is_skipped(samples);
    if (wanted) {
        put_sample(samples, step->from, false);
        samples->made.addr = step->to;
        samples->made.misc = mode_of(step->from ? step->from : step->to);
        samples->made.flags = step->flags;
        samples->made.insn_bytes = by_insn ? block->bytes[block->count - 1] : 0;
        put_rates(samples);
        put_run(samples);
    }
    if (samples->itrace->branches)
        note_branch(samples);
    if (samples->stack)
        follow_branch(samples, by_insn ? block->next : step->from);
    samples->made.depth = samples->stack ? (uint32_t)samples->stack->count : 0;
    return wanted;
}

/* Cycles since the last sample of them. */
static bool next_cycles(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    if (samples->cycles_event == NO_EVENT || !step->has_cycles || step->cycles == samples->cycles_sampled ||
        !step->flags)
        return false;
    put_sample(samples, step->from ? step->from : step->to, true);
    samples->made.period = step->cycles - samples->cycles_sampled;
    samples->cycles_sampled = step->cycles;
    return true;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void add_raw(struct pf_flow_samples *samples, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        samples->raw[samples->made.raw_bytes++] = (uint8_t)(value >> (8 * i));
    samples->made.raw = samples->raw;
}

/* How often the time-stamp counter counts in a second. */
static uint64_t counter_hz(const struct perfile_time_conv *clock)
{
    enum { NS_PER_SECOND = 1000000000, MAX_SHIFT = 32 };
    return clock->time_mult && clock->time_shift <= MAX_SHIFT
               ? (uint64_t)(((unsigned __int128)NS_PER_SECOND << clock->time_shift) / clock->time_mult)
               : 0;
}

/* The ratio now and that of the time-stamp counter, and the frequency in MHz. */
static void put_ratio(struct pf_flow_samples *samples)
{
    const uint64_t khz = samples->cbr_max ? counter_hz(samples->clock) / samples->cbr_max / 1000 : 0;
    add_raw(samples, samples->step.payload | (uint64_t)samples->cbr_max << 16, 4);
    add_raw(samples, (samples->step.payload * khz + 500) / 1000, 4);
    add_raw(samples, 0, 4);
}

/* The raw data, as perf lays it out. */
static void put_raw(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    if (step->event == PF_FLOW_CBR) {
        put_ratio(samples);
    } else if (step->event == PF_FLOW_EXSTOP) {
        add_raw(samples, step->payload, 4);
    } else if (step->event != PF_FLOW_TRANSACTION) {
        add_raw(samples, step->event == PF_FLOW_PTWRITE && step->event_has_ip, 4);
        add_raw(samples, step->payload, 8);
    }
}

static bool is_wanted_error(const struct pf_flow_samples *samples)
{
    const struct pf_itrace *itrace = samples->itrace;
    const uint64_t code = samples->step.payload;
    return itrace->errors && !(itrace->no_overflows && code == PF_FLOW_ERROR_OVERFLOW) &&
           !(itrace->no_lost && code == PF_FLOW_ERROR_LOST);
}

/* The number of its event, or PF_FLOW_SAMPLE_*. */
static int next_event(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    const unsigned event = samples->event_of[step->event];
    put_sample(samples, step->event_has_ip ? step->event_ip : 0, step->event == PF_FLOW_TRANSACTION);
    if (step->event == PF_FLOW_ERROR)
        put_run(samples);
    if (step->event == PF_FLOW_ERROR)
        return is_wanted_error(samples) ? PF_FLOW_SAMPLE_ERROR : PF_FLOW_SAMPLE_NONE;
    if (event == NO_EVENT || is_skipped(samples))
        return PF_FLOW_SAMPLE_NONE;
    put_raw(samples);
    return (int)event;
}

/* ---- samples that are merged ------------------------------------------------------------------------------------- */

bool pf_flow_samples_may_merge(struct pf_flow_samples *samples)
{
    const struct pf_itrace *itrace = samples->itrace;
    const bool each = itrace->every == 1 && itrace->unit == PF_ITRACE_RECORDS;
    samples->merges = samples->decoder->flow->keeps_blocks && !itrace->branches && !itrace->chains &&
                      !itrace->skipped && samples->cycles_event == NO_EVENT &&
                      (each || samples->instructions == NO_EVENT);
    samples->ran_end = &samples->ran;
    return samples->merges;
}

void pf_flow_samples_merge_block(struct pf_flow_samples *samples, struct pf_flow_block *block, uint32_t flags)
{
    if (PF_UNLIKELY(!block->runs)) {
        block->ran_next = NULL;
        *samples->ran_end = block;
        samples->ran_end = &block->ran_next;
    }
    block->runs++;
    block->branches += flags && is_wanted_branch(samples, flags);
}

bool pf_flow_samples_merge(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    struct pf_flow_block *block = step->block;
    const bool plain = block && !step->event && !step->ends && !step->first && step->count == block->count &&
                       (!step->flags || step->from == block->last);
    if (!samples->merges || !plain)
        return false;
    pf_flow_samples_merge_block(samples, block, step->flags);
    return true;
}

static void put_merged(struct pf_flow_samples *samples, uint64_t ip, uint8_t insn_bytes, uint64_t count)
{
    put_sample(samples, ip, false);
    samples->made.insn_bytes = insn_bytes;
    samples->made.period = count;
    samples->made.alike = count - 1;
}

/* The next instruction of the first block. */
static int next_merged(struct pf_flow_samples *samples, const struct pf_flow_block *block)
{
    const uint32_t index = samples->merged_index++;
    samples->at = index ? samples->at : block->start;
    put_merged(samples, samples->at, block->bytes[index], block->runs);
    samples->at += block->bytes[index];
    return (int)samples->instructions;
}

/* After its instructions its branch. */
static int next_merged_branch(struct pf_flow_samples *samples, struct pf_flow_block *block)
{
    const uint64_t count = block->branches;
    samples->ran = block->ran_next;
    samples->ran_end = samples->ran ? samples->ran_end : &samples->ran;
    samples->merged_index = 0;
    block->runs = block->branches = 0;
    if (count)
        put_merged(samples, block->last, block->bytes[block->count - 1], count);
    return count ? (int)samples->branches : PF_FLOW_SAMPLE_NONE;
}

int pf_flow_samples_merged(struct pf_flow_samples *samples)
{
    int made = PF_FLOW_SAMPLE_NONE;
    while (samples->ran && made == PF_FLOW_SAMPLE_NONE) {
        struct pf_flow_block *block = samples->ran;
        made = samples->instructions != NO_EVENT && samples->merged_index < block->count
                   ? next_merged(samples, block)
                   : next_merged_branch(samples, block);
    }
    return made;
}

/* ---- the samples of a step --------------------------------------------------------------------------------------- */

void pf_flow_samples_begin(struct pf_flow_samples *samples)
{
    const struct pf_flow_step *step = &samples->step;
    if (samples->time_of != step->time || !samples->time_ns) {
        samples->time_of = step->time;
        samples->time_ns = pf_aux_time(samples->clock, step->time);
    }
    samples->ring_count = samples->starts_anew ? 0 : samples->ring_count;
    samples->starts_anew = step->ends;
    samples->phase = step->count ? PHASE_INSNS : PHASE_BRANCH;
    samples->index = 0;
    if (!step->block)
        return;
    samples->at = step->block->start;
    for (uint32_t i = 0; i < step->first; i++)
        samples->at += step->block->bytes[i];
}

int pf_flow_samples_next(struct pf_flow_samples *samples)
{
    int made = PF_FLOW_SAMPLE_NONE;
    if (samples->phase == PHASE_INSNS) {
        if (next_instruction(samples))
            return (int)samples->instructions;
        samples->phase++;
        if (PF_UNLIKELY(samples->step.ends) && next_rest(samples))
            return (int)samples->instructions;
    }
    while (made == PF_FLOW_SAMPLE_NONE && samples->phase < PHASE_END) {
        const unsigned phase = samples->phase++;
        if (phase == PHASE_BRANCH)
            made = samples->step.flags && next_branch(samples) ? (int)samples->branches : PF_FLOW_SAMPLE_NONE;
        else if (phase == PHASE_CYCLES)
            made = next_cycles(samples) ? (int)samples->cycles_event : PF_FLOW_SAMPLE_NONE;
        else
            made = samples->step.event ? next_event(samples) : PF_FLOW_SAMPLE_NONE;
    }
    return made;
}

bool pf_flow_samples_are_made(const struct pf_flow_samples *samples)
{
    return samples->phase == PHASE_END;
}
