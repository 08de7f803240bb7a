/* SPDX-License-Identifier: MIT */
/* Waits for locks of the kernel, added up by caller, by lock or by thread. */
#include "analysis/events/locks.h"

#include "base/error.h"
#include "view/profile_source.h"

struct contention {
    struct pf_profiled_events events; /* first */
    struct pf_locks locks;
    const struct pf_lock_row *row; /* in hand */
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define IN_HAND                                                                                                        \
    const struct contention *contention = state;                                                                       \
    const struct pf_lock_row *row = contention->row;                                                                   \
    const enum pf_locks_by by = contention->locks.by;                                                                  \
    (void)row, (void)by
#define PUT_IF(name, set, known, value) PF_PUT_IF(name, IN_HAND, known, set, value)
#define ROW const struct pf_lock_row *row = ((const struct contention *)state)->row
#define PUT_QUANTILE(name, percent) PF_PUT_AS(name, ROW, pf_set_quantile, &row->waits, &row->histogram, percent)

PUT_IF(caller, pf_set_lasting, by == PF_LOCKS_BY_CALLER, row->name)
PUT_IF(caller_address, pf_set_u64, by == PF_LOCKS_BY_CALLER && row->caller, row->caller)
PUT_IF(function, pf_set_lasting, by == PF_LOCKS_BY_CALLER, row->function)
PUT_IF(lock, pf_set_u64, by == PF_LOCKS_BY_LOCK, row->lock)
PUT_IF(name, pf_set_lasting, by != PF_LOCKS_BY_CALLER, row->name)
PUT_IF(type, pf_set_lasting, by != PF_LOCKS_BY_THREAD, pf_lock_type(row->flags, by == PF_LOCKS_BY_CALLER))
PUT_IF(pid, pf_set_i32, by == PF_LOCKS_BY_THREAD, row->pid)
PUT_IF(tid, pf_set_i32, by == PF_LOCKS_BY_THREAD, row->tid)
PUT_IF(comm, pf_set_text, by == PF_LOCKS_BY_THREAD, row->comm)
PUT_IF(contended, pf_set_u64, true, row->contended)
PUT_IF(acquired, pf_set_u64, true, row->waits.count)
PUT_IF(total, pf_set_u64, true, row->waits.sum)
PUT_IF(minimum, pf_set_u64, row->waits.count, row->waits.min)
PUT_IF(average, pf_set_u64, row->waits.count, pf_stats_average(&row->waits))
PUT_IF(maximum, pf_set_u64, row->waits.count, row->waits.max)
PUT_QUANTILE(p50, 50)
PUT_QUANTILE(p90, 90)
PUT_QUANTILE(p99, 99)
PUT_IF(uncertain, pf_set_u64, true, row->uncertain)
PUT_IF(open, pf_set_u64, true, row->open)
PUT_IF(open_time, pf_set_u64, row->open, row->open_ns)
PUT_IF(histogram, pf_set_buckets, true, &row->histogram)

static const struct pf_column columns[] = {
    PF_COLUMN(caller, TEXT, "", "The code that took the lock, of rows by caller."),
    PF_COLUMN(lock, ADDRESS, "", "The lock, of rows by lock."),
    PF_COLUMN(name, TEXT, "", "The lock's name, if it was recorded, or the kernel's variable that it is in."),
    PF_COLUMN(type, TEXT, "", "What kind of lock; of callers also how it was taken: R to read, W to write."),
    PF_COLUMN(pid, I32, "", "Process, where rows are of threads."),
    PF_COLUMN(tid, I32, "", "Thread, where rows are of threads."),
    PF_COLUMN(comm, TEXT, "", "Its name."),
    PF_REQUIRED(contended, U64, "", "Waits that began."),
    PF_REQUIRED(acquired, U64, "", "Waits that ended."),
    PF_REQUIRED(total, DURATION, "ns", "How long these were together."),
    PF_COLUMN(average, DURATION, "ns", "The average of these."),
    PF_COLUMN(maximum, DURATION, "ns", "The longest of these."),
    PF_COLUMN(minimum, DURATION, "ns", "The shortest of these."),
    PF_COLUMN(p50, DURATION, "ns", "Half of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(p90, DURATION, "ns", "90 % of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(p99, DURATION, "ns", "99 % of these are no longer than this (estimated from the histogram)."),
    PF_REQUIRED(uncertain, U64, "", "Of these, those around lost events: they may be several."),
    PF_REQUIRED(open, U64, "", "Waits that were pending at the end; they are not in the totals."),
    PF_EXTRA(open_time, DURATION, "ns", "How long the first of these had lasted."),
    PF_EXTRA(function, TEXT, "", "The caller's function, without the offset in it."),
    PF_EXTRA(caller_address, ADDRESS, "", "The caller's address."),
    PF_EXTRA(histogram, ADDRESSES, "", "Histogram: how many waits took at least 2^0, 2^1, ... ns."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool take(void *state, const struct pf_profile_sample *sample)
{
    struct contention *contention = state;
    return pf_locks_take(&contention->locks, sample);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct contention *contention = state;
    if (pf_profiled_events_read(&contention->events, take, contention))
        pf_locks_end(&contention->locks);
    const int result =
        pf_table_row(contention->events.table, pf_table_rows(contention->events.table, contention->locks.count), error);
    if (result > 0)
        contention->row = contention->locks.rows[contention->events.table->all.row];
    return result;
}

static int open_contention(struct perfile_table *table, void *state, struct perfile_error *error)
{
    static const char *const hidden[] = {[PF_LOCKS_BY_CALLER] = "lock,name,pid,tid,comm",
                                         [PF_LOCKS_BY_LOCK] = "caller,pid,tid,comm",
                                         [PF_LOCKS_BY_THREAD] = "caller,lock,name,type"};
    struct contention *contention = state;
    pf_locks_open(&contention->locks, table->reader, table->options.events, table->allocator);
    if (!pf_locks_by_parse(table->options.keys, &contention->locks.by))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                       "waits for locks are added up by caller, lock or thread, not by '%.40s'", table->options.keys);
    pf_table_hide(table, hidden[contention->locks.by]);
    const int sorted = pf_locks_order(&contention->locks, &pf_lock_fields, error);
    if (sorted < 0)
        return sorted;
    const int result = pf_profiled_events_open(
        &contention->events, table,
        &(struct pf_event_needs){.take_record = pf_locks_take_record, .state = &contention->locks}, error);
    pf_locks_use(&contention->locks, contention->events.profile);
    return result;
}

static void close_contention(void *state)
{
    struct contention *contention = state;
    pf_locks_close(&contention->locks);
    pf_profiled_events_close(&contention->events);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    pf_locks_notify(&((struct contention *)state)->locks, notify, context);
}

const struct pf_view pf_view_lock_contention = {
    .info = {"lock_contention", "waits for locks of the kernel: how many, how long; by caller, lock or thread"},
    .events = &pf_locks_events,
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_EVENTS,
    .state_bytes = sizeof(struct contention),
    .open = open_contention,
    .next = next_row,
    .close = close_contention,
    .notes = notes,
};
