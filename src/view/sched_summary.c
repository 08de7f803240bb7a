/* SPDX-License-Identifier: MIT */
/* What each task, and what each CPU, did all the time. */
#include "base/error.h"
#include "view/sched.h"

struct summary {
    struct pf_sched_view view; /* first */
    struct pf_sched_lifetimes lifetimes;
    uint32_t *order; /* numbers of tasks */
    size_t order_bytes, count;
    const struct pf_sched_life *life;
    const struct pf_sched_cpu_life *cpu;
    /* of CPUs, by time: */
    uint64_t quantum; /* ns; 0: all is one row */
    uint64_t slice;   /* that is added up, from its begin on */
    size_t next;      /* the CPU whose row of it comes next */
    bool waiting;     /* the event in hand belongs to a later one */
};

#define LIFE const struct pf_sched_life *life = ((const struct summary *)state)->life
#define PUT_LIFE(name, set, ...) PF_PUT_AS(name, LIFE, set, __VA_ARGS__)
#define PUT_SUM(part, of)                                                                                              \
    PUT_LIFE(part##_ns, pf_set_u64, life->of.stats.sum)                                                                \
    PUT_LIFE(part##_min_ns, pf_set_of, &life->of, life->of.stats.min)                                                  \
    PUT_LIFE(part##_avg_ns, pf_set_of, &life->of, pf_stats_average(&life->of.stats))                                   \
    PUT_LIFE(part##_max_ns, pf_set_of, &life->of, life->of.stats.max)                                                  \
    PUT_LIFE(part##_p50_ns, pf_set_percentile, &life->of, 50)                                                          \
    PUT_LIFE(part##_p90_ns, pf_set_percentile, &life->of, 90)                                                          \
    PUT_LIFE(part##_p99_ns, pf_set_percentile, &life->of, 99)                                                          \
    PUT_LIFE(part##_histogram, pf_set_buckets, &life->of.histogram)
#define SUM_COLUMNS(part, what)                                                                                        \
    PF_REQUIRED(part##_ns, DURATION, "ns", "Sum of the times that it " what "."),                                      \
        PF_EXTRA(part##_min_ns, DURATION, "ns", "The shortest of them."),                                              \
        PF_COLUMN(part##_avg_ns, DURATION, "ns", "Their average."),                                                    \
        PF_EXTRA(part##_p50_ns, DURATION, "ns",                                                                        \
                 "Half of them are no longer than this (estimated from the histogram)."),                              \
        PF_EXTRA(part##_p90_ns, DURATION, "ns", "90 % are no longer than this."),                                      \
        PF_COLUMN(part##_p99_ns, DURATION, "ns", "99 % are no longer than this (estimated from the histogram)."),      \
        PF_COLUMN(part##_max_ns, DURATION, "ns", "The longest of them."),                                              \
        PF_REQUIRED_EXTRA(part##_histogram, ADDRESSES, "", "Histogram: how many took at least 2^0, 2^1, ... ns.")

static void set_parent(struct pf_vector *vector, const struct pf_sched_life *life)
{
    if (life->task->parent < 0)
        pf_set_null(vector);
    else
        pf_set_i32(vector, life->task->parent);
}

PUT_LIFE(comm, pf_set_task_name, life->task)
PUT_LIFE(pid, pf_set_task_pid, life->task)
PUT_LIFE(tid, pf_set_i32, life->task->tid)
PUT_LIFE(parent_tid, set_parent, life)
PUT_LIFE(ended, pf_set_bool, life->task->ended)
PUT_LIFE(runs, pf_set_u64, life->rows)
PUT_LIFE(blocked_ns, pf_set_u64, life->blocked)
PUT_LIFE(sleep_ns, pf_set_u64, life->sleep)
PUT_LIFE(iowait_ns, pf_set_u64, life->iowait)
PUT_LIFE(preempt_ns, pf_set_u64, life->preempt)
PUT_LIFE(preemptions, pf_set_u64, life->preemptions)
PUT_LIFE(migrations, pf_set_u64, life->migrations)
PUT_LIFE(moves, pf_set_u64, life->moves)
PUT_LIFE(unknown, pf_set_u64, life->unknown)
PUT_SUM(run, runs)
PUT_SUM(wait, waits)
PUT_SUM(delay, delays)

static const struct pf_column task_columns[] = {
    PF_COLUMN(comm, TEXT, "", "Its last name; swapper/N is the idle task of CPU N."),
    PF_COLUMN(pid, I32, "", "Its process; null: not known."),
    PF_REQUIRED(tid, I32, "", "Its thread id; 0: idle."),
    PF_EXTRA(parent_tid, I32, "", "Thread that started it; null: not known."),
    PF_REQUIRED_EXTRA(ended, BOOL, "", "It ended before the recording did."),
    PF_REQUIRED(runs, U64, "", "How often it left a CPU."),
    SUM_COLUMNS(run, "ran"),
    SUM_COLUMNS(delay, "waited for a CPU after it was woken or preempted"),
    SUM_COLUMNS(wait, "was not on a CPU"),
    PF_REQUIRED(sleep_ns, DURATION, "ns", "The part of wait_ns in which it slept."),
    PF_REQUIRED(iowait_ns, DURATION, "ns", "The part of wait_ns in state D: for a device, a lock of the kernel, ..."),
    PF_REQUIRED(preempt_ns, DURATION, "ns", "The part of wait_ns in which it could have run on."),
    PF_REQUIRED_EXTRA(blocked_ns, DURATION, "ns",
                      "The part of wait_ns before it was woken. run_ns, delay_ns and blocked_ns are its life from its "
                      "first run to its last, under all of its names."),
    PF_REQUIRED(preemptions, U64, "", "How often it was preempted."),
    PF_REQUIRED(migrations, U64, "", "Events sched_migrate_task of it."),
    PF_REQUIRED(moves, U64, "", "How often it left another CPU than the one before."),
    PF_REQUIRED(unknown, U64, "", "Runs and waits that are not known; no sum has them."),
};

#define CPU                                                                                                            \
    const struct summary *summary = state;                                                                             \
    const struct pf_sched_cpu_life *cpu = summary->cpu
#define PUT_CPU(name, set, ...) PF_PUT_AS(name, CPU, set, __VA_ARGS__)
PUT_CPU(cpu, pf_set_u32, (uint32_t)(cpu - summary->lifetimes.cpus))
static void put_time(void *state, struct pf_vector *vector)
{
    pf_set_u64(vector, ((const struct summary *)state)->slice);
}
PUT_CPU(switches, pf_set_u64, cpu->rows)
PUT_CPU(busy_ns, pf_set_u64, cpu->busy)
PUT_CPU(idle_ns, pf_set_u64, cpu->idle)
PUT_CPU(wakings, pf_set_u64, cpu->wakings)
PUT_CPU(cpu_preemptions, pf_set_u64, cpu->preemptions)
PUT_CPU(delays, pf_set_u64, cpu->delays.stats.count)
PUT_CPU(cpu_delay_ns, pf_set_u64, cpu->delays.stats.sum)
PUT_CPU(cpu_delay_p50_ns, pf_set_percentile, &cpu->delays, 50)
PUT_CPU(cpu_delay_p99_ns, pf_set_percentile, &cpu->delays, 99)
PUT_CPU(cpu_delay_max_ns, pf_set_of, &cpu->delays, cpu->delays.stats.max)
PUT_CPU(cpu_delay_histogram, pf_set_buckets, &cpu->delays.histogram)
PUT_CPU(lost, pf_set_u64, cpu->lost)
PUT_CPU(cpu_unknown, pf_set_u64, cpu->unknown)

static void put_idle_percent(void *state, struct pf_vector *vector)
{
    const struct pf_sched_cpu_life *cpu = ((const struct summary *)state)->cpu;
    const uint64_t all = cpu->idle + cpu->busy;
    if (all)
        pf_set_f64(vector, 100 * (double)cpu->idle / (double)all);
    else
        pf_set_null(vector);
}

#define CPU_COLUMN(field, put_by, kind, what, text, ...)                                                               \
    {                                                                                                                  \
        .name = #field, .type = PERFILE_COLUMN_##kind, .unit = what, .doc = text, .put = put_##put_by, __VA_ARGS__     \
    }
static const struct pf_column time_columns[] = {
    PF_REQUIRED(time, TIME, "ns", "When the slice of time began; runs and delays are in the one in which they end."),
};
static const struct pf_column cpu_columns[] = {
    PF_REQUIRED(cpu, U32, "", "The CPU."),
    PF_REQUIRED(switches, U64, "", "How often it changed its task."),
    PF_REQUIRED(busy_ns, DURATION, "ns", "How long it had a task."),
    PF_REQUIRED(idle_ns, DURATION, "ns", "How long it had none."),
    PF_COLUMN(idle_percent, F64, "percent", "The share of idle time; null: not known."),
    PF_REQUIRED(wakings, U64, "", "How often a task was woken on it."),
    CPU_COLUMN(preemptions, cpu_preemptions, U64, "", "How often a task was preempted on it.", .required = true),
    PF_REQUIRED(delays, U64, "", "How often a task ran on it whose delay is known."),
    CPU_COLUMN(delay_ns, cpu_delay_ns, DURATION, "ns", "How long these had waited for it in all.", .required = true),
    CPU_COLUMN(delay_p50_ns, cpu_delay_p50_ns, DURATION, "ns", "Half of them waited no longer than this."),
    CPU_COLUMN(delay_p99_ns, cpu_delay_p99_ns, DURATION, "ns", "99 % of them waited no longer than this."),
    CPU_COLUMN(delay_max_ns, cpu_delay_max_ns, DURATION, "ns", "The longest of these delays."),
    CPU_COLUMN(delay_histogram, cpu_delay_histogram, ADDRESSES, "",
               "Histogram: how many took at least 2^0, 2^1, ... ns.", .required = true, .extra = true),
    PF_REQUIRED(lost, U64, "records", "Records that were lost on it."),
    CPU_COLUMN(unknown, cpu_unknown, U64, "", "Runs on it that are not known; no sum has them.", .required = true),
};

static bool take(void *state, struct pf_sched *sched)
{
    return pf_sched_lifetimes_take(&((struct summary *)state)->lifetimes, sched);
}

static int next_task(void *state, struct perfile_error *error)
{
    struct summary *summary = state;
    if (!summary->view.table->all.read) {
        pf_sched_view_read(&summary->view, take, summary);
        summary->order = pf_sched_lifetimes_order(&summary->lifetimes, &summary->view.sched, false, &summary->count);
        summary->order_bytes = (summary->lifetimes.task_capacity + 1) * sizeof(*summary->order);
        if (!summary->order)
            return pf_fail_memory(error, "scheduler events");
    }
    const int result = pf_table_row(summary->view.table, summary->count, error);
    if (result > 0)
        summary->life = summary->lifetimes.tasks[summary->order[summary->view.table->all.row]];
    return result;
}

/* Adds up to the first event of a later slice. 1, 0: there is no more, or an error. */
static int read_slice(struct summary *summary, struct perfile_error *error)
{
    struct pf_sched_view *view = &summary->view;
    const struct pf_switch *now = &view->sched.now;
    bool any = false;
    if (summary->lifetimes.cpu_count)
        memset(summary->lifetimes.cpus, 0, summary->lifetimes.cpu_count * sizeof(*summary->lifetimes.cpus));
    while (summary->waiting || (view->table->all.result = pf_sched_next(&view->sched, error)) > 0) {
        const uint64_t time = now->kind == PF_SWITCHED ? now->end_time : now->time;
        const uint64_t slice = time - time % summary->quantum;
        if (any && slice > summary->slice) {
            summary->waiting = true;
            return 1;
        }
        summary->slice = slice;
        summary->waiting = false;
        any = true;
        if (!pf_sched_lifetimes_take(&summary->lifetimes, &view->sched))
            return view->table->all.result = pf_fail_memory(error, "scheduler events");
    }
    return any ? 1 : view->table->all.result;
}

static int next_of_slice(struct summary *summary, struct perfile_error *error)
{
    for (;;) {
        while (summary->next < summary->lifetimes.cpu_count) {
            summary->cpu = &summary->lifetimes.cpus[summary->next++];
            if (summary->cpu->rows || summary->cpu->wakings || summary->cpu->lost)
                return 1;
        }
        const int result = summary->view.table->all.read ? summary->view.table->all.result : read_slice(summary, error);
        if (result <= 0)
            return result;
        summary->view.table->all.read = !summary->waiting;
        summary->next = 0;
    }
}

/* CPUs that nothing is known of have no row. */
static int next_cpu(void *state, struct perfile_error *error)
{
    struct summary *summary = state;
    int result;
    if (summary->quantum)
        return next_of_slice(summary, error);
    pf_sched_view_read(&summary->view, take, summary);
    while ((result = pf_table_row(summary->view.table, summary->lifetimes.cpu_count, error)) > 0) {
        summary->cpu = &summary->lifetimes.cpus[summary->view.table->all.row];
        if (summary->cpu->rows || summary->cpu->wakings || summary->cpu->lost)
            return 1;
    }
    return result;
}

static int open_tasks(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct summary *summary = state;
    pf_sched_lifetimes_open(&summary->lifetimes, table->allocator);
    return pf_sched_view_open(&summary->view, table, false, error);
}

static int open_cpus(struct perfile_table *table, void *state, struct perfile_error *error)
{
    const char *keys = table->options.keys, *quantum = table->complete.report.time_quantum;
    const bool by_time = keys && strcmp(keys, "time") == 0;
    if ((by_time && !pf_table_add_all(table, time_columns, PF_COUNT(time_columns))) ||
        !pf_table_add_all(table, cpu_columns, PF_COUNT(cpu_columns)))
        return pf_fail_memory(error, "scheduler events");
    int result = open_tasks(table, state, error);
    if (result == 0 && by_time)
        result = pf_parse_duration(quantum ? quantum : "100ms", &((struct summary *)state)->quantum, error);
    return result;
}

static void close_summary(void *state)
{
    struct summary *summary = state;
    const struct perfile_allocator *allocator = summary->view.table->allocator;
    pf_free(allocator, summary->order, summary->order_bytes);
    pf_sched_lifetimes_close(&summary->lifetimes);
    pf_sched_close(&summary->view.sched);
}

#define SUMMARY_VIEW(id, text, key, opens, nexts, ...)                                                                 \
    const struct pf_view pf_view_##id = {                                                                              \
        .info = {#id, text},                                                                                           \
        .events = &pf_switches_events,                                                                                 \
        .own_key = key,                                                                                                \
        .lists = {__VA_ARGS__},                                                                                        \
        .answers = "run_ns,delay_ns,busy_ns,idle_percent",                                                             \
        .not_filtered = PF_FILTER_EVENTS,                                                                              \
        .state_bytes = sizeof(struct summary),                                                                         \
        .open = opens,                                                                                                 \
        .next = nexts,                                                                                                 \
        .close = close_summary,                                                                                        \
        .losses = pf_sched_view_losses,                                                                                \
        .unmatched = pf_sched_view_unmatched,                                                                          \
        .notes = pf_sched_view_notes,                                                                                  \
    }
SUMMARY_VIEW(sched_summary, "what each task did: how long it ran, waited for a CPU, slept; with percentiles", NULL,
             open_tasks, next_task, PF_COLUMNS(task_columns));
SUMMARY_VIEW(sched_cpu, "what each CPU did: busy and idle time, and how long tasks waited for it", "time", open_cpus,
             next_cpu, PF_COLUMNS(cpu_columns), PF_COLUMNS(time_columns));
