/* SPDX-License-Identifier: MIT */
/* Interrupts, softirqs and works of the kernel: each on each CPU, and every run. */
#include "analysis/events/kwork.h"

#include "base/error.h"
#include "view/profile_source.h"

struct kwork {
    struct pf_profiled_events events; /* first */
    struct pf_kwork kwork;
    const struct pf_kwork_row *row; /* in hand */
    struct pf_kwork_run run;        /* in hand, of the view of runs */
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define IN_HAND                                                                                                        \
    const struct kwork *kwork = state;                                                                                 \
    const struct pf_kwork_row *row = kwork->row;                                                                       \
    const struct pf_kwork_run *run = &kwork->run;                                                                      \
    (void)row, (void)run
#define PUT_IF(name, set, known, value) PF_PUT_IF(name, IN_HAND, known, set, value)
#define ROW const struct pf_kwork_row *row = ((const struct kwork *)state)->row
#define PUT_QUANTILE(name, sums, percent)                                                                              \
    PF_PUT_AS(name, ROW, pf_set_quantile, &row->sums.stats, &row->sums.histogram, percent)

PUT_IF(class, pf_set_lasting, true, pf_kwork_class_name(row->class))
PUT_IF(name, pf_set_lasting, row->name, row->name)
PUT_IF(id, pf_set_u64, true, row->id)
PUT_IF(function, pf_set_u64, row->function, row->function)
PUT_IF(cpu, pf_set_u32, true, row->cpu)
PUT_IF(runs, pf_set_u64, true, row->runs.stats.count)
PUT_IF(run_total, pf_set_u64, true, row->runs.stats.sum)
PUT_IF(run_average, pf_set_u64, row->runs.stats.count, pf_stats_average(&row->runs.stats))
PUT_IF(run_max, pf_set_u64, row->runs.stats.count, row->runs.stats.max)
PUT_IF(run_max_start, pf_set_u64, row->runs.stats.count, row->runs.max_start)
PUT_IF(run_max_end, pf_set_u64, row->runs.stats.count, row->runs.max_end)
PUT_QUANTILE(run_p50, runs, 50)
PUT_QUANTILE(run_p99, runs, 99)
PUT_IF(delays, pf_set_u64, true, row->delays.stats.count)
PUT_IF(delay_total, pf_set_u64, true, row->delays.stats.sum)
PUT_IF(delay_average, pf_set_u64, row->delays.stats.count, pf_stats_average(&row->delays.stats))
PUT_IF(delay_max, pf_set_u64, row->delays.stats.count, row->delays.stats.max)
PUT_IF(delay_max_start, pf_set_u64, row->delays.stats.count, row->delays.max_start)
PUT_IF(delay_max_end, pf_set_u64, row->delays.stats.count, row->delays.max_end)
PUT_IF(waits, pf_set_u64, true, row->waits.stats.count)
PUT_IF(wait_average, pf_set_u64, row->waits.stats.count, pf_stats_average(&row->waits.stats))
PUT_IF(wait_max, pf_set_u64, row->waits.stats.count, row->waits.stats.max)
PUT_QUANTILE(wait_p50, waits, 50)
PUT_QUANTILE(wait_p99, waits, 99)
PUT_IF(open, pf_set_bool, true, row->entry != 0)
PUT_IF(raised, pf_set_bool, true, row->raise != 0)
PUT_IF(uncertain, pf_set_u64, true, row->uncertain)
PUT_IF(run_histogram, pf_set_buckets, true, &row->runs.histogram)
PUT_IF(wait_histogram, pf_set_buckets, true, &row->waits.histogram)
PUT_IF(time, pf_set_u64, true, run->start)
PUT_IF(end_time, pf_set_u64, true, run->end)
PUT_IF(duration, pf_set_u64, true, run->end - pf_min(run->start, run->end))
PUT_IF(delay, pf_set_u64, run->delayed, run->delay)
PUT_IF(run_uncertain, pf_set_bool, true, run->uncertain)

#define WHAT_COLUMNS                                                                                                   \
    PF_REQUIRED(class, TEXT, "", "irq, softirq or workqueue."),                                                        \
        PF_COLUMN(name, TEXT, "", "Of an interrupt, or a softirq, or the function of a work; null: not known."),       \
        PF_REQUIRED(cpu, U32, "", "Processor.")
#define RUN_COLUMNS                                                                                                    \
    PF_REQUIRED(runs, U64, "", "How often it ran."),                                                                   \
        PF_REQUIRED(run_total, DURATION, "ns", "How long in all; what interrupted it is a part of that."),             \
        PF_COLUMN(run_average, DURATION, "ns", "The average run."),                                                    \
        PF_COLUMN(run_max, DURATION, "ns", "The longest run."),                                                        \
        PF_COLUMN(run_p50, DURATION, "ns",                                                                             \
                  "Half of the runs are no longer than this (estimated from the histogram)."),                         \
        PF_COLUMN(run_p99, DURATION, "ns", "99 % of the runs are no longer than this (estimated from the histogram).")
#define WAIT_COLUMNS                                                                                                   \
    PF_REQUIRED(waits, U64, "",                                                                                        \
                "How often it was raised, or its work activated, on whatever CPU, and then ran here."),                \
        PF_COLUMN(wait_average, DURATION, "ns", "The average time from the first raise to the run."),                  \
        PF_COLUMN(wait_max, DURATION, "ns", "The longest of these."),                                                  \
        PF_COLUMN(wait_p50, DURATION, "ns", "Half of these are no longer than this (estimated from the histogram)."),  \
        PF_COLUMN(wait_p99, DURATION, "ns", "99 % of these are no longer than this (estimated from the histogram).")
#define OTHER_COLUMNS                                                                                                  \
    PF_REQUIRED(uncertain, U64, "", "Runs around lost events: they may be several."),                                  \
        PF_REQUIRED_EXTRA(id, U64, "", "Number of the interrupt, vector of the softirq, address of the work."),        \
        PF_EXTRA(function, ADDRESS, "", "Address of a work's function."),                                              \
        PF_EXTRA(run_max_start, TIME, "ns", "When the longest run began."),                                            \
        PF_EXTRA(run_max_end, TIME, "ns", "When the longest run ended."),                                              \
        PF_REQUIRED_EXTRA(delays, U64, "", "As perf counts: how often it ran after a raise on the same CPU."),         \
        PF_REQUIRED_EXTRA(delay_total, DURATION, "ns", "As perf counts: the time from the last raise to the run."),    \
        PF_EXTRA(delay_average, DURATION, "ns", "The average of these."),                                              \
        PF_EXTRA(delay_max, DURATION, "ns", "The longest of these."),                                                  \
        PF_EXTRA(delay_max_start, TIME, "ns", "When that began."),                                                     \
        PF_EXTRA(delay_max_end, TIME, "ns", "When that ended."),                                                       \
        PF_REQUIRED_EXTRA(open, BOOL, "", "It was running at the end; that is not among the runs."),                   \
        PF_REQUIRED_EXTRA(raised, BOOL, "", "It was raised, and still pending at the end."),                           \
        PF_EXTRA(run_histogram, ADDRESSES, "", "Histogram: how many runs took at least 2^0, 2^1, ... ns."),            \
        PF_EXTRA(wait_histogram, ADDRESSES, "", "Histogram: how many waits took at least 2^0, 2^1, ... ns.")

static const struct pf_column columns[] = {WHAT_COLUMNS, RUN_COLUMNS, WAIT_COLUMNS, OTHER_COLUMNS};
static const struct pf_column wait_columns[] = {WHAT_COLUMNS, WAIT_COLUMNS, RUN_COLUMNS, OTHER_COLUMNS};

static const struct pf_column run_columns[] = {
    PF_REQUIRED(time, TIME, "ns", "When it began."),
    PF_REQUIRED(cpu, U32, "", "Processor."),
    PF_REQUIRED(class, TEXT, "", "irq, softirq or workqueue."),
    PF_COLUMN(name, TEXT, "", "Of an interrupt, or a softirq, or the function of a work; null: not known."),
    PF_REQUIRED(duration, DURATION, "ns", "How long it ran."),
    PF_COLUMN(delay, DURATION, "ns", "The time since it was raised last on this CPU; null: it was not."),
    {.name = "uncertain",
     .type = PERFILE_COLUMN_BOOL,
     .unit = "",
     .doc = "Events were lost in between: it may be several runs.",
     .put = put_run_uncertain,
     .required = true},
    PF_REQUIRED_EXTRA(id, U64, "", "Number of the interrupt, vector of the softirq, address of the work."),
    PF_REQUIRED_EXTRA(end_time, TIME, "ns", "When it ended."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool take(void *state, const struct pf_profile_sample *sample)
{
    struct kwork *kwork = state;
    return pf_kwork_take(&kwork->kwork, sample, &kwork->run) >= 0;
}

static int next_row(void *state, struct perfile_error *error)
{
    struct kwork *kwork = state;
    if (pf_profiled_events_read(&kwork->events, take, kwork))
        pf_kwork_sort(&kwork->kwork);
    const int result = pf_table_row(kwork->events.table, pf_table_rows(kwork->events.table, kwork->kwork.count), error);
    if (result > 0)
        kwork->row = kwork->kwork.rows[kwork->events.table->all.row];
    return result;
}

static int next_run(void *state, struct perfile_error *error)
{
    struct kwork *kwork = state;
    const struct pf_profile_sample *sample;
    int result, ended;
    while ((result = pf_profile_next(kwork->events.profile, &sample, error)) > 0) {
        ended = pf_kwork_take(&kwork->kwork, sample, &kwork->run);
        if (ended < 0)
            return pf_fail_memory(error, "kernel work");
        kwork->row = kwork->run.row;
        if (ended)
            return 1;
    }
    return result;
}

static int open_kwork(struct perfile_table *table, void *state, struct perfile_error *error)
{
    const enum pf_kwork_order order = table->view->lists[0].items == wait_columns ? PF_KWORK_BY_WAIT : PF_KWORK_BY_RUN;
    struct kwork *kwork = state;
    pf_kwork_open(&kwork->kwork, table->reader, table->allocator);
    kwork->kwork.classes = table->options.events->classes;
    kwork->kwork.name = table->options.events->work;
    int result = pf_kwork_order(&kwork->kwork, order, table->options.events->sort, error);
    if (result == 0)
        result = pf_profiled_events_open(
            &kwork->events, table, &(struct pf_event_needs){&kwork->kwork.events, pf_kwork_take_record, &kwork->kwork},
            error);
    kwork->kwork.profile = kwork->events.profile;
    return result;
}

static void close_kwork(void *state)
{
    struct kwork *kwork = state;
    pf_kwork_close(&kwork->kwork);
    pf_profiled_events_close(&kwork->events);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    pf_kwork_notify(&((struct kwork *)state)->kwork, notify, context);
}

#define KWORK_VIEW(name, text, list, goes)                                                                             \
    const struct pf_view pf_view_##name = {                                                                            \
        .info = {#name, text},                                                                                         \
        .events = &pf_kwork_events,                                                                                    \
        .lists = {PF_COLUMNS(list)},                                                                                   \
        .not_filtered = PF_FILTER_EVENTS,                                                                              \
        .state_bytes = sizeof(struct kwork),                                                                           \
        .open = open_kwork,                                                                                            \
        .next = goes,                                                                                                  \
        .close = close_kwork,                                                                                          \
        .notes = notes,                                                                                                \
    }

KWORK_VIEW(kwork, "interrupts, softirqs and works of each CPU: how often and how long they ran and waited", columns,
           next_row);
KWORK_VIEW(kwork_latency, "the softirqs and works of each CPU that waited, the longest waits first", wait_columns,
           next_row);
KWORK_VIEW(kwork_timehist, "every run of an interrupt, a softirq or a work", run_columns, next_run);
