/* SPDX-License-Identifier: MIT */
/* Every system call: its thread, when, how long, with which arguments, and its result. */
#include "analysis/events/syscalls.h"

#include "base/ahead.h"
#include "base/error.h"
#include "view/gathered.h"

/* A row, as it goes from the thread that reads to the caller. */
struct row {
    struct pf_syscall_call call;
    int32_t pid, tid;
    const char *comm, *cgroup; /* as long as the engine */
};

struct syscalls {
    struct pf_gathered gathered; /* first; of the thread that reads, as all up to the rows that it reads ahead */
    struct pf_syscalls syscalls;
    struct pf_syscall_event event;
    bool both; /* the second of the two calls of the event is still to be delivered */
    struct pf_ahead ahead;
    const struct row *row; /* in hand */
    struct row open;       /* the same, after the end: a call that had not returned */
    bool at_end;
    size_t next_thread; /* whose open call is asked for next */
    uint64_t rows;      /* that were delivered */
    struct pf_text text;
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define CALL const struct pf_syscall_call *call = &((const struct syscalls *)state)->row->call
#define PUT_IF(name, set, known, value) PF_PUT_IF(name, CALL, known, set, value)
#define THREAD const struct row *thread = ((const struct syscalls *)state)->row
#define PUT_OF(name, set, value) PF_PUT_AS(name, THREAD, set, value)

static uint64_t failure(const struct pf_syscall_call *call)
{
    enum { ERRORS = 4095 };
    return call->left && call->result < 0 && call->result >= -ERRORS ? (uint64_t)-call->result : 0;
}

PUT_IF(time, pf_set_u64, call->entered, call->start)
PUT_IF(end_time, pf_set_u64, call->left, call->end)
PUT_IF(duration, pf_set_u64, call->entered && call->left, call->end - call->start)
PUT_OF(pid, pf_set_i32, thread->pid)
PUT_OF(tid, pf_set_i32, thread->tid)
PUT_OF(comm, pf_set_text, thread->comm)
PUT_OF(cgroup, pf_set_text, thread->cgroup)
PUT_IF(cpu, pf_set_u32, (call->entered ? call->start_cpu : call->end_cpu) != UINT32_MAX,
       call->entered ? call->start_cpu : call->end_cpu)
PUT_IF(number, pf_set_i64, true, (int64_t)call->number)
PUT_IF(abi, pf_set_lasting, true, pf_abi_name(call->abi))
PUT_IF(result, pf_set_i64, call->left, call->result)
PUT_IF(error, pf_set_lasting, failure(call), pf_errno_name(failure(call)))
PUT_IF(uncertain, pf_set_bool, true, call->uncertain)

PF_PUT(syscall)
{
    char label[32];
    CALL;
    pf_set_text(vector, pf_syscall_label(call->call, call->number, label));
}

PF_PUT(arguments)
{
    struct syscalls *calls = state;
    const struct pf_syscall_call *call = &calls->row->call;
    if (!call->entered) {
        pf_set_null(vector);
        return;
    }
    calls->text.used = 0;
    pf_syscall_put_arguments(&calls->text, call->abi, call->call, call->arguments, &call->names);
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, calls->text.data, calls->text.used));
}

PF_PUT(values)
{
    CALL;
    if (!call->entered) {
        pf_set_null(vector);
        return;
    }
    for (unsigned i = 0; i < PF_SYSCALL_ARGUMENTS; i++)
        pf_add_address(vector, call->arguments[i]);
    pf_end_list(vector);
}

PF_PUT(path)
{
    CALL;
    const char *path = NULL;
    for (unsigned i = 0; i < PF_SYSCALL_ARGUMENTS && !path; i++)
        path = call->names.of[i];
    pf_set_text(vector, path);
}

static const struct pf_column columns[] = {
    PF_COLUMN(time, TIME, "ns", "When it was entered; null: that was not seen."),
    PF_COLUMN(duration, DURATION, "ns", "How long it took; null: its start or its end was not seen."),
    PF_COLUMN(comm, TEXT, "", "Name of the thread."),
    PF_REQUIRED(pid, I32, "", "Process."),
    PF_REQUIRED(tid, I32, "", "Thread."),
    PF_COLUMN(cpu, U32, "", "Processor on which it was entered, or left if that is all that was seen."),
    PF_REQUIRED(syscall, TEXT, "", "Its name, or syscall_NUMBER."),
    PF_COLUMN_AS(arguments, TEXT, "", "Its arguments; those that are 0 are left out where 0 says nothing.",
                 .fresh = true),
    PF_COLUMN(result, I64, "", "What it returned; null: it did not."),
    PF_COLUMN(error, TEXT, "", "Name of the error that it returned."),
    PF_REQUIRED(uncertain, BOOL, "", "Events were lost between its start and its end: it may be several calls."),
    PF_EXTRA(end_time, TIME, "ns", "When it returned; null: that was not seen."),
    PF_REQUIRED_EXTRA(number, I64, "", "Its number."),
    PF_EXTRA(abi, TEXT, "", "The binary interface that the number belongs to."),
    PF_EXTRA(values, ADDRESSES, "", "The six arguments as numbers; those that the call does not have are meaningless."),
    PF_EXTRA(path, TEXT, "", "The file that it is about, as far as events reported it."),
    PF_EXTRA(cgroup, TEXT, "", "Control group of the thread."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool passes(const struct syscalls *calls, const struct pf_syscall_call *call)
{
    const struct perfile_event_options *events = calls->gathered.table->options.events;
    if (events->flags & PERFILE_EVENTS_FAILED && !failure(call))
        return false;
    return !events->minimum_ns || (call->entered && call->left && call->end - call->start > events->minimum_ns);
}

static void put_in_row(const struct syscalls *calls, const struct pf_syscall_call *call, size_t thread, struct row *row)
{
    const struct pf_syscall_thread *of = &calls->syscalls.threads[thread];
    *row = (struct row){.call = *call, .pid = of->pid, .tid = of->tid, .comm = of->comm, .cgroup = of->cgroup};
}

/* 1: a call ended, 0 at the end, or an error. */
static int next_ended(void *context, void *row, struct perfile_error *error)
{
    struct syscalls *calls = context;
    struct pf_syscall_event *event = &calls->event;
    int result;
    if (calls->both) {
        calls->both = false;
        put_in_row(calls, &event->call, event->thread, row);
        return 1;
    }
    while ((result = pf_delivery_next(calls->gathered.delivery, &calls->gathered.item, error)) > 0) {
        if (pf_syscalls_take(&calls->syscalls, &calls->gathered.item, event) < 0)
            return pf_fail_memory(error, "system calls");
        if (!event->has_unfinished && event->step != PF_SYSCALL_LEFT)
            continue;
        calls->both = event->has_unfinished && event->step == PF_SYSCALL_LEFT;
        put_in_row(calls, event->has_unfinished ? &event->unfinished : &event->call, event->thread, row);
        return 1;
    }
    return result;
}

/* Calls that had not returned at the end. */
static int next_open(struct syscalls *calls)
{
    while (calls->next_thread < calls->syscalls.thread_count) {
        const size_t i = calls->next_thread++;
        const struct pf_syscall_thread *thread = &calls->syscalls.threads[i];
        if (thread->is_open) {
            put_in_row(calls, &thread->open, i, &calls->open);
            calls->row = &calls->open;
            return 1;
        }
    }
    return 0;
}

static int next_any(struct syscalls *calls, struct perfile_error *error)
{
    void *row;
    const int result = calls->at_end ? 0 : pf_ahead_next(&calls->ahead, &row, error);
    if (result > 0)
        calls->row = row;
    calls->at_end |= result == 0;
    return result ? result : next_open(calls);
}

static int next_call(void *state, struct perfile_error *error)
{
    struct syscalls *calls = state;
    const uint64_t max = calls->gathered.table->options.events->lines;
    int result;
    if (max && calls->rows == max)
        return 0;
    while ((result = next_any(calls, error)) > 0 && !passes(calls, &calls->row->call))
        continue;
    calls->rows += result > 0;
    return result;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static struct pf_ahead_counts count_losses(const void *context)
{
    const struct syscalls *calls = context;
    struct perfile_losses losses;
    pf_table_count_losses(calls->gathered.table, pf_delivery_filtered(calls->gathered.delivery), &losses);
    return (struct pf_ahead_counts){.lost = losses.lost, .filtered = losses.filtered};
}

static int open_calls(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct syscalls *calls = state;
    if (pf_text_open(&calls->text, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "system calls");
    const int result = pf_gathered_open(&calls->gathered, table, error);
    if (result < 0)
        return result;
    pf_ahead_open(&calls->ahead, &(struct pf_ahead_plan){.next = next_ended,
                                                         .count = count_losses,
                                                         .context = calls,
                                                         .item_bytes = sizeof(struct row),
                                                         .threads = table->options.threads,
                                                         .one_by_one = table->options.events->lines,
                                                         .allocator = table->allocator});
    pf_syscalls_open(&calls->syscalls, calls->gathered.delivery, table->reader, table->allocator);
    return pf_syscalls_choose(&calls->syscalls, table->options.events, error);
}

static void close_calls(void *state)
{
    struct syscalls *calls = state;
    pf_ahead_close(&calls->ahead);
    pf_text_close(&calls->text);
    pf_syscalls_close(&calls->syscalls);
}

static void losses(const void *state, struct perfile_losses *losses)
{
    const struct pf_ahead_counts *counts = &((const struct syscalls *)state)->ahead.counts;
    *losses = (struct perfile_losses){.lost = counts->lost, .filtered = counts->filtered};
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    pf_syscalls_notify(&((const struct syscalls *)state)->syscalls, notify, context);
}

const struct pf_view pf_view_syscalls = {
    .info = {"syscalls", "every system call: its thread, when, how long, its arguments and what it returned"},
    .events = &pf_syscalls_events,
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_EVENTS,
    .state_bytes = sizeof(struct syscalls),
    .open = open_calls,
    .next = next_call,
    .close = close_calls,
    .losses = losses,
    .notes = notes,
};
