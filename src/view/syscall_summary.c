/* SPDX-License-Identifier: MIT */
/* System calls added up by name: how many, how many failed and with what, how long they took. */
#include "analysis/events/syscall_stats.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "view/gathered.h"

struct summary {
    struct pf_gathered gathered; /* first */
    struct pf_syscalls syscalls;
    struct pf_syscall_stats stats;
    uint64_t last_time;
    const struct pf_syscall_row *row;       /* in hand */
    const struct pf_syscall_thread *thread; /* of it */
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define IN_HAND                                                                                                        \
    const struct summary *summary = state;                                                                             \
    const struct pf_syscall_row *row = summary->row;                                                                   \
    const struct pf_syscall_thread *thread = summary->thread;                                                          \
    const enum pf_syscall_by by = summary->stats.by;                                                                   \
    (void)row, (void)thread, (void)by
#define PUT_OF(name, set, known, value) PF_PUT_IF(name, IN_HAND, known, set, value)
#define ROW const struct pf_syscall_row *row = ((const struct summary *)state)->row
#define PUT_TIME(name, value) PF_PUT_AS(name, ROW, pf_set_stat, &row->times, value)
#define PUT_QUANTILE(name, percent) PF_PUT_AS(name, ROW, pf_set_quantile, &row->times, &row->histogram, percent)

PUT_OF(comm, pf_set_text, by <= PF_CALLS_BY_PROCESS, thread->comm)
PUT_OF(pid, pf_set_i32, by <= PF_CALLS_BY_PROCESS, thread->pid)
PUT_OF(tid, pf_set_i32, by == PF_CALLS_BY_THREAD, thread->tid)
PUT_OF(cgroup, pf_set_text, by == PF_CALLS_BY_CGROUP, row->cgroup)
PUT_OF(path, pf_set_text, by == PF_CALLS_BY_FILE, row->path)
PUT_OF(fd, pf_set_i64, by == PF_CALLS_BY_FILE && !row->path && row->fd >= 0, row->fd)
PUT_OF(abi, pf_set_lasting, true, pf_abi_name(row->abi))
PUT_OF(calls, pf_set_u64, true, row->calls)
PUT_OF(errors, pf_set_u64, true, row->errors)
PUT_OF(total, pf_set_u64, true, row->times.sum)
PUT_TIME(minimum, row->times.min)
PUT_TIME(average, pf_stats_average(&row->times))
PUT_TIME(maximum, row->times.max)
PUT_OF(stddev, pf_set_f64, row->times.count, pf_stats_error_percent(&row->times))
PUT_QUANTILE(p50, 50)
PUT_QUANTILE(p90, 90)
PUT_QUANTILE(p99, 99)
PUT_OF(untimed, pf_set_u64, true, row->alone)
PUT_OF(uncertain, pf_set_u64, true, row->uncertain)
PUT_OF(uncertain_time, pf_set_u64, true, row->uncertain_ns)
PUT_OF(open, pf_set_u64, true, row->open)
PUT_OF(open_time, pf_set_u64, row->open, row->open_ns)
PUT_OF(histogram, pf_set_buckets, true, &row->histogram)

PF_PUT(syscall)
{
    char label[32];
    const struct pf_syscall_row *row = ((const struct summary *)state)->row;
    pf_set_text(vector, pf_syscall_label(row->call, row->number, label));
}

PF_PUT(error_counts)
{
    char text[64];
    const struct pf_syscall_row *row = ((const struct summary *)state)->row;
    for (const struct pf_syscall_errors *at = row->by_error; at; at = at->next) {
        const char *name = pf_errno_name(at->number);
        const int bytes = name ? snprintf(text, sizeof(text), "%s:%" PRIu64, name, at->count)
                               : snprintf(text, sizeof(text), "%" PRIu32 ":%" PRIu64, at->number, at->count);
        pf_add_code(vector, pf_dictionary_put(&vector->dictionary, text, (size_t)bytes));
    }
    pf_end_list(vector);
}

static const struct pf_column columns[] = {
    PF_COLUMN(comm, TEXT, "", "Last name of the thread, or of the first one of a process."),
    PF_COLUMN(pid, I32, "", "Process; null: rows are of something else."),
    PF_COLUMN(tid, I32, "", "Thread; null: rows are of something else."),
    PF_COLUMN(cgroup, TEXT, "", "Control group, where rows are of these."),
    PF_COLUMN(path, TEXT, "", "File, where rows are of these; null: not known."),
    PF_COLUMN(fd, I64, "", "The file's descriptor while its path is not known; null: the call has none."),
    PF_REQUIRED(syscall, TEXT, "", "Its name, or syscall_NUMBER."),
    PF_REQUIRED(calls, U64, "", "How many returned."),
    PF_REQUIRED(errors, U64, "", "How many of these failed."),
    PF_REQUIRED(total, DURATION, "ns", "How long those took together whose start and end were seen."),
    PF_COLUMN(minimum, DURATION, "ns", "The shortest of these."),
    PF_COLUMN(average, DURATION, "ns", "The average of these."),
    PF_COLUMN(p50, DURATION, "ns", "Half of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(p90, DURATION, "ns", "90 % of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(p99, DURATION, "ns", "99 % of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(maximum, DURATION, "ns", "The longest of these."),
    PF_COLUMN(stddev, F64, "percent", "Standard error of the average, in percent of it."),
    PF_COLUMN(error_counts, TEXTS, "", "Errors and how often each was returned: ENOENT:20."),
    PF_REQUIRED(untimed, U64, "", "Of the calls, those whose start was not seen."),
    PF_REQUIRED(uncertain, U64, "", "Of the calls, those around lost events: they may be several."),
    PF_REQUIRED_EXTRA(uncertain_time, DURATION, "ns", "The part of `total` that these are."),
    PF_REQUIRED(open, U64, "", "Threads that were still in this call at the end; they are not among the calls."),
    PF_EXTRA(open_time, DURATION, "ns", "How long the first of these had been in it."),
    PF_EXTRA(abi, TEXT, "", "The binary interface of the call."),
    PF_EXTRA(histogram, ADDRESSES, "", "Histogram: how many calls took at least 2^0, 2^1, ... ns."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool take(void *state, const struct pf_delivered *item)
{
    struct summary *summary = state;
    struct pf_syscall_event event;
    if (item->is_sample)
        summary->last_time = item->sample.time;
    return pf_syscalls_take(&summary->syscalls, item, &event) == 0 && pf_syscall_stats_take(&summary->stats, &event);
}

/* Of each group. */
static void keep_first(struct pf_syscall_stats *stats, uint64_t max)
{
    size_t count = 0;
    for (size_t i = 0; max && i < stats->group_count; i++)
        for (size_t k = 0; k < stats->groups[i].count && k < max; k++)
            stats->rows[count++] = stats->rows[stats->groups[i].first + k];
    stats->count = max ? count : stats->count;
}

static int next_row(void *state, struct perfile_error *error)
{
    struct summary *summary = state;
    if (pf_gathered_read(&summary->gathered, take, summary) &&
        summary->gathered.table->all.result != PERFILE_ERROR_MEMORY) {
        if (!pf_syscall_stats_end(&summary->stats, summary->last_time))
            return pf_fail_memory(error, "system calls");
        keep_first(&summary->stats, summary->gathered.table->options.events->rows);
    }
    const int result = pf_table_row(summary->gathered.table, summary->stats.count, error);
    if (result > 0) {
        summary->row = summary->stats.rows[summary->gathered.table->all.row];
        summary->thread = &summary->syscalls.threads[summary->row->thread];
    }
    return result;
}

static int open_summary(struct perfile_table *table, void *state, struct perfile_error *error)
{
    static const char *const hidden[] = {[PF_CALLS_BY_THREAD] = "cgroup,path,fd",
                                         [PF_CALLS_BY_PROCESS] = "tid,cgroup,path,fd",
                                         [PF_CALLS_BY_CGROUP] = "comm,pid,tid,path,fd",
                                         [PF_CALLS_BY_FILE] = "comm,pid,tid,cgroup",
                                         [PF_CALLS_TOTAL] = "comm,pid,tid,cgroup,path,fd"};
    enum pf_syscall_by by;
    struct summary *summary = state;
    if (!pf_syscall_by_parse(table->options.keys, &by))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                       "system calls are added up by thread, process, cgroup, fd or total, not by '%.40s'",
                       table->options.keys);
    pf_table_hide(table, hidden[by]);
    const int result = pf_gathered_open(&summary->gathered, table, error);
    if (result < 0)
        return result;
    pf_syscalls_open(&summary->syscalls, summary->gathered.delivery, table->reader, table->allocator);
    pf_syscall_stats_open(&summary->stats, &summary->syscalls, by);
    return pf_syscalls_choose(&summary->syscalls, table->options.events, error);
}

static void close_summary(void *state)
{
    struct summary *summary = state;
    pf_syscall_stats_close(&summary->stats);
    pf_syscalls_close(&summary->syscalls);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    pf_syscalls_notify(&((const struct summary *)state)->syscalls, notify, context);
}

const struct pf_view pf_view_syscall_summary = {
    .info = {"syscall_summary", "system calls added up by thread and name: how many, how many failed, how long"},
    .answers = "syscall,total",
    .events = &pf_syscalls_events,
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_EVENTS,
    .state_bytes = sizeof(struct summary),
    .open = open_summary,
    .next = next_row,
    .close = close_summary,
    .notes = notes,
};
