/* SPDX-License-Identifier: MIT */
/* Calls of a decoded hardware trace: one row for each, when it ended. */
#include "analysis/calls/calls.h"

#include "analysis/profile.h"
#include "hwtrace/flow.h"
#include "view/view.h"

struct calls {
    struct perfile_table *table;
    struct perfile_filter filter;
    struct pf_profile *profile;
    const struct pf_profile_sample *sample; /* in hand */
    const struct pf_call *call;
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define CALL const struct pf_call *call = ((const struct calls *)state)->call
#define CALLS const struct calls *calls = state

static bool has_time(const struct calls *calls)
{
    return calls->sample->decoded->present & PERFILE_SAMPLE_TIME;
}

/* What is not a call has a name in brackets. */
static const char *symbol_of(const struct calls *calls)
{
    static const char *const others[PF_CALL_GAP + 1] = {
        [PF_CALL_OUTSIDE] = "[not traced]", [PF_CALL_GAP] = "[trace lost]"};
    const char *other = others[calls->call->kind];
    return other ? other : pf_profile_frame(calls->profile, calls->sample->leaf)->name;
}

static const char *dso_of(const struct calls *calls)
{
    const struct pf_frame_info *leaf = pf_profile_frame(calls->profile, calls->sample->leaf);
    const struct pf_module *module =
        calls->call->address ? pf_symbols_module(pf_profile_symbols(calls->profile), leaf->module) : NULL;
    return module ? module->name : NULL;
}

static const char *kind_of(const struct pf_call *call)
{
    static const char *const names[] = {
        [PF_CALL_BEFORE] = "before",      [PF_CALL_CALL] = "call",           [PF_CALL_TAIL] = "tail call",
        [PF_CALL_SYSTEM] = "system call", [PF_CALL_INTERRUPT] = "interrupt", [PF_CALL_OUTSIDE] = "not traced",
        [PF_CALL_GAP] = "trace lost"};
    return names[call->kind];
}

static const char *ending_of(const struct pf_call *call)
{
    static const char *const names[] = {[PF_CALL_RETURNED] = "return",           [PF_CALL_LEFT] = "tail call",
                                        [PF_CALL_UNWOUND] = "unwound",           [PF_CALL_LOST] = "trace lost",
                                        [PF_CALL_THREAD_ENDED] = "thread ended", [PF_CALL_TRACE_ENDED] = "trace ended",
                                        [PF_CALL_TOO_DEEP] = "too deep"};
    return names[call->ending];
}

PF_PUT_AS(call, CALL, pf_set_u64, call->number)
PF_PUT_IF(parent, CALL, call->parent, pf_set_u64, call->parent)
PF_PUT_AS(comm, CALLS, pf_set_lasting, calls->sample->comm)
PF_PUT_IF(pid, CALL, call->pid >= 0, pf_set_i32, call->pid)
PF_PUT_IF(tid, CALL, call->tid >= 0, pf_set_i32, call->tid)
PF_PUT_AS(symbol, CALLS, pf_set_lasting, symbol_of(calls))
PF_PUT_AS(dso, CALLS, pf_set_lasting, dso_of(calls))
PF_PUT_IF(begin, CALLS, has_time(calls), pf_set_u64, calls->call->begin)
PF_PUT_IF(end, CALLS, has_time(calls), pf_set_u64, calls->call->end)
PF_PUT_IF(duration, CALLS, has_time(calls), pf_set_u64, calls->call->end - calls->call->begin)
PF_PUT_AS(depth, CALL, pf_set_u32, call->depth)
PF_PUT_IF(instructions, CALL, call->insns, pf_set_u64, call->insns)
PF_PUT_IF(cycles, CALL, call->cycles, pf_set_u64, call->cycles)
PF_PUT_AS(began, CALL, pf_set_lasting, kind_of(call))
PF_PUT_AS(ended, CALL, pf_set_lasting, ending_of(call))
PF_PUT_IF(error, CALL, call->error, pf_set_lasting, pf_flow_error_text(call->error))
PF_PUT_IF(address, CALL, call->address, pf_set_u64, call->address)

static const struct pf_column columns[] = {
    PF_REQUIRED(call, U64, "", "Its number: calls are numbered as they begin, rows come as they end."),
    PF_COLUMN(parent, U64, "", "Number of the call that it was made in; null: that began before the trace."),
    PF_COLUMN(comm, TEXT, "", "Name of the thread."),
    PF_COLUMN(pid, I32, "", "Process; null: not known."),
    PF_COLUMN(tid, I32, "", "Thread; null: not known."),
    PF_REQUIRED(depth, U32, "", "How many calls are open around it."),
    PF_COLUMN(symbol, TEXT, "",
              "The function; [not traced]: a system call, or time off the CPU; [trace lost]: not a call, but a gap."),
    PF_COLUMN(dso, TEXT, "", "Its binary, as the recording names it."),
    PF_COLUMN(begin, TIME, "ns", "When it began; null: the trace has no times."),
    PF_EXTRA(end, TIME, "ns", "When it ended."),
    PF_COLUMN(duration, DURATION, "ns", "The time between them, with what it called."),
    PF_COLUMN(instructions, U64, "", "That were executed, with what it called; null: the trace does not say."),
    PF_COLUMN(cycles, U64, "", "Of the processor, with what it called; null: the trace does not count them."),
    PF_REQUIRED(began, TEXT, "",
                "call, tail call (by a jump), system call, interrupt (also exceptions, signals), before (it was open "
                "when it was seen first), not traced, trace lost."),
    PF_REQUIRED(ended, TEXT, "",
                "return, tail call, unwound (an exception, longjmp), trace lost, thread ended, trace ended, too deep "
                "(of more than 1024 calls in each other)."),
    PF_COLUMN(error, TEXT, "", "Why the trace was lost; null: it was not."),
    PF_EXTRA(address, ADDRESS, "", "Where it was entered, or seen first; null: not traced."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int next_call(void *state, struct perfile_error *error)
{
    struct calls *calls = state;
    int result;
    while ((result = pf_profile_next(calls->profile, &calls->sample, error)) > 0)
        if ((calls->call = pf_profile_item(calls->profile)->traced.call))
            break;
    return result;
}

static int open_calls(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct calls *calls = state;
    calls->filter = *table->options.filter;
    calls->filter.calls = "each";
    const struct pf_profile_options how = {.filter = &calls->filter,
                                           .find = pf_find_options_of(&table->complete.symbols, table->allocator),
                                           .decoded = true,
                                           .skips_offcpu_notes = true,
                                           .drive = {1, table->options.progress, table->options.progress_context}};
    const int result = pf_profile_open(table->reader, &how, &calls->profile, error);
    table->profile = calls->profile;
    return result;
}

static void close_calls(void *state)
{
    pf_profile_close(((struct calls *)state)->profile);
}

static void report_notes(void *state, pf_on_note *notify, void *context)
{
    pf_profile_report_missing(((const struct calls *)state)->profile, notify, context);
}

const struct pf_view pf_view_calls = {
    .info = {"calls", "calls of a hardware trace: function, begin, end, depth, caller, instructions and cycles"},
    .lists = {PF_COLUMNS(columns)},
    .reads_aux = true,
    .answers = "duration,instructions",
    .state_bytes = sizeof(struct calls),
    .open = open_calls,
    .next = next_call,
    .close = close_calls,
    .notes = report_notes,
};
