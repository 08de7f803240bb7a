/* SPDX-License-Identifier: MIT */
/* How long tasks waited for a CPU, by their names, or one by one. */
#include "base/error.h"
#include "view/sched.h"

struct latency {
    struct pf_sched_view view; /* first */
    struct pf_latencies latencies;
    const struct pf_latency *row;
};

#define ROW const struct pf_latency *row = ((const struct latency *)state)->row
#define PUT_AS(name, set, value) PF_PUT_AS(name, ROW, set, value)

static void set_tid(struct pf_vector *vector, const struct pf_latency *row)
{
    if (row->tasks == 1)
        pf_set_i32(vector, row->task->tid);
    else
        pf_set_null(vector);
}

static void set_percentile(struct pf_vector *vector, const struct pf_latency *row, double percent)
{
    pf_set_u64(vector, pf_histogram_percentile(&row->histogram, &row->delays, percent));
}

PUT_AS(comm, pf_set_task_name, row->task)
PUT_AS(tid, set_tid, row)
PUT_AS(tasks, pf_set_u32, row->tasks)
PUT_AS(runtime_ns, pf_set_u64, row->runtime)
PUT_AS(count, pf_set_u64, row->delays.count)
PUT_AS(total_ns, pf_set_u64, row->delays.sum)
PUT_AS(avg_ns, pf_set_u64, pf_stats_average(&row->delays))
PUT_AS(max_ns, pf_set_u64, row->delays.max)
PUT_AS(max_start, pf_set_u64, row->max_from)
PUT_AS(max_end, pf_set_u64, row->max_to)
PUT_AS(unknown, pf_set_u64, row->cut)
PUT_AS(histogram, pf_set_buckets, &row->histogram)
#define PUT_PERCENTILE(name, percent)                                                                                  \
    PF_PUT(name)                                                                                                       \
    {                                                                                                                  \
        set_percentile(vector, ((const struct latency *)state)->row, percent);                                         \
    }
PUT_PERCENTILE(p50_ns, 50)
PUT_PERCENTILE(p90_ns, 90)
PUT_PERCENTILE(p99_ns, 99)

static const struct pf_column columns[] = {
    PF_COLUMN(comm, TEXT, "", "Name of the tasks, the last one they had."),
    PF_COLUMN(tid, I32, "", "The thread id, if it is one task."),
    PF_REQUIRED(tasks, U32, "", "How many tasks."),
    PF_REQUIRED(runtime_ns, DURATION, "ns", "How long they ran, as the events sched_stat_runtime say; 0 without them."),
    PF_REQUIRED(count, U64, "", "How often they came to a CPU after they were woken, preempted or first seen."),
    PF_REQUIRED(avg_ns, DURATION, "ns", "The average of these delays."),
    PF_REQUIRED(max_ns, DURATION, "ns", "The longest delay."),
    PF_REQUIRED(total_ns, DURATION, "ns", "Their sum."),
    PF_REQUIRED(p50_ns, DURATION, "ns", "Half of the delays are no longer than this (estimated from the histogram)."),
    PF_REQUIRED(p90_ns, DURATION, "ns", "90 % of the delays are no longer than this (estimated from the histogram)."),
    PF_REQUIRED(p99_ns, DURATION, "ns", "99 % of the delays are no longer than this (estimated from the histogram)."),
    PF_REQUIRED(max_start, TIME, "ns", "When the longest one began; 0: none was above 0."),
    PF_REQUIRED(max_end, TIME, "ns", "When it ended."),
    PF_REQUIRED(unknown, U64, "", "Delays that a loss of records may have cut; they are not among the others."),
    PF_REQUIRED_EXTRA(histogram, ADDRESSES, "", "Histogram: how many delays took at least 2^0, 2^1, ... ns."),
};

static bool take(void *state, struct pf_sched *sched)
{
    return pf_latencies_take(&((struct latency *)state)->latencies, sched);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct latency *latency = state;
    const char *keys = latency->view.table->options.keys;
    if (!latency->view.table->all.read) {
        pf_sched_read_alone(&latency->view.sched);
        pf_sched_view_read(&latency->view, take, latency);
        if (latency->view.table->all.result != PERFILE_ERROR_MEMORY &&
            !pf_latencies_end(&latency->latencies, &latency->view.sched, !keys || strcmp(keys, "tid") != 0))
            return pf_fail_memory(error, "latencies");
    }
    const int result = pf_table_row(latency->view.table, latency->latencies.count, error);
    if (result > 0)
        latency->row = &latency->latencies.rows[latency->view.table->all.row];
    return result;
}

static int open_latency(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct latency *latency = state;
    const int result = pf_sched_view_open(&latency->view, table, false, error);
    return result < 0 ? result : pf_latencies_sort(&latency->latencies, table->options.events->sort, error);
}

static void close_latency(void *state)
{
    struct latency *latency = state;
    pf_latencies_close(&latency->latencies, latency->view.table->allocator);
    pf_sched_close(&latency->view.sched);
}

const struct pf_view pf_view_sched_latency = {
    .info = {"sched_latency", "how long the tasks of each name waited for a CPU after they were woken or preempted"},
    .events = &pf_switches_events,
    .own_key = "tid",
    .not_filtered = PF_FILTER_EVENTS,
    .lists = {PF_COLUMNS(columns)},
    .answers = "avg_ns,max_ns",
    .state_bytes = sizeof(struct latency),
    .open = open_latency,
    .next = next_row,
    .close = close_latency,
    .losses = pf_sched_view_losses,
    .unmatched = pf_sched_view_unmatched,
    .notes = pf_sched_view_notes,
};
