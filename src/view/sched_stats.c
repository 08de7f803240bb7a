/* SPDX-License-Identifier: MIT */
/* The counters of /proc/schedstat, a row for each of every CPU and domain. */
#include "analysis/events/schedstat.h"

#include "base/error.h"
#include "view/reading.h"

struct sched_stats {
    struct pf_reading reading; /* first */
    struct pf_schedstat stats, before;
    size_t next_row, next_counter;
    const struct pf_schedstat_row *row; /* in hand, with ... */
    const struct pf_schedstat_counter *counter;
    uint64_t total, count_before; /* of the counter that it is a part of; in the recording to compare with */
    bool has_total, has_before;
};

#define IN_HAND                                                                                                        \
    const struct sched_stats *view = state;                                                                            \
    const struct pf_schedstat_row *row = view->row;                                                                    \
    const struct pf_schedstat_counter *counter = view->counter;                                                        \
    (void)row, (void)counter
#define PUT_IF(name, set, known, value) PF_PUT_IF(name, IN_HAND, known, set, value)

PUT_IF(cpu, pf_set_u32, true, row->cpu)
PUT_IF(domain, pf_set_i32, row->domain >= 0, row->domain)
PUT_IF(domain_name, pf_set_lasting, row->name, row->name)
PUT_IF(domain_cpus, pf_set_lasting, row->cpus, row->cpus)
PUT_IF(category, pf_set_lasting, true, pf_schedstat_category_name(counter->kind->category))
PUT_IF(counter, pf_set_lasting, true, counter->kind->name)
PUT_IF(count, pf_set_u64, true, counter->count)
PUT_IF(percent, pf_set_f64, view->has_total && view->total, (double)counter->count * 100 / (double)view->total)
PUT_IF(interval, pf_set_f64, counter->kind->is_rare && counter->count, (double)row->elapsed / (double)counter->count)
PUT_IF(elapsed, pf_set_u64, true, row->elapsed)
PUT_IF(doc, pf_set_lasting, true, counter->kind->doc)
PUT_IF(before, pf_set_u64, view->has_before, view->count_before)
PUT_IF(change, pf_set_f64, view->has_before && view->count_before,
       ((double)counter->count - (double)view->count_before) * 100 / (double)view->count_before)

static const struct pf_column columns[] = {
    PF_REQUIRED(cpu, U32, "", "The CPU."),
    PF_COLUMN(domain, I32, "", "Level of its scheduling domain; null: the CPU itself."),
    PF_COLUMN(domain_name, TEXT, "", "Name of the domain: SMT, MC; null: not known."),
    PF_EXTRA(domain_cpus, TEXT, "", "The CPUs of the domain."),
    PF_REQUIRED(
        category, TEXT, "",
        "What the counter is about: cpu; balancing load while busy, idle, newidle; active, exec, fork; wakeup."),
    PF_REQUIRED(counter, TEXT, "", "Its name."),
    PF_REQUIRED(count, U64, "", "What it counted from the first record to the last."),
    PF_COLUMN(percent, F64, "percent", "Its share of the counter that it is a part of."),
    PF_COLUMN(interval, F64, "", "Jiffies from one to the next, on average."),
    PF_REQUIRED_EXTRA(elapsed, U64, "", "Jiffies from the first record to the last."),
    PF_REQUIRED_EXTRA(doc, TEXT, "", "What is counted."),
};
/* Of a comparison. */
static const struct pf_column compared[] = {
    PF_COLUMN(before, U64, "", "What it counted in the recording to compare with; null: that has no such counter."),
    PF_COLUMN(change, F64, "percent", "How much more it counted than in that one."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void read_all(struct sched_stats *view)
{
    struct perfile_table *table = view->reading.table;
    struct pf_all_rows *all = &table->all;
    struct perfile_reader *before = table->options.events->before;
    if (all->read)
        return;
    all->read = true;
    all->result = pf_schedstat_read(&view->stats, &view->reading.filter, &all->error);
    if (all->result >= 0 && before)
        all->result = pf_schedstat_read(&view->before, &view->reading.filter, &all->error);
}

static void compare_row(struct sched_stats *view)
{
    const struct pf_schedstat_kind *kind = view->counter->kind;
    const struct pf_schedstat_row *other =
        view->before.reader ? pf_schedstat_find(&view->before, view->row->cpu, view->row->domain) : NULL;
    view->has_total = kind->part_of && pf_schedstat_number(&view->stats, view->row, kind->part_of, &view->total);
    view->has_before = other && pf_schedstat_number(&view->before, other, kind->name, &view->count_before);
}

static int next_counter(void *state, struct perfile_error *error)
{
    struct sched_stats *view = state;
    read_all(view);
    const int result = pf_table_row(view->reading.table, view->stats.counter_count, error);
    if (result <= 0)
        return result;
    while (view->next_counter == view->stats.rows[view->next_row].counter_count) {
        view->next_row++;
        view->next_counter = 0;
    }
    view->row = &view->stats.rows[view->next_row];
    view->counter = &view->stats.counters[view->row->first_counter + view->next_counter++];
    compare_row(view);
    return 1;
}

static int open_view(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct sched_stats *view = state;
    struct perfile_reader *before = table->options.events->before;
    pf_schedstat_open(&view->stats, table->reader, table->allocator);
    if (before)
        pf_schedstat_open(&view->before, before, table->allocator);
    if (!pf_table_add_all(table, columns, PF_COUNT(columns)) ||
        (before && !pf_table_add_all(table, compared, PF_COUNT(compared))))
        return pf_fail_memory(error, "counters of the scheduler");
    return pf_reading_open(&view->reading, table, PF_BY_FILE, error);
}

static void close_view(void *state)
{
    struct sched_stats *view = state;
    pf_schedstat_close(&view->stats);
    pf_schedstat_close(&view->before);
    pf_reading_close(&view->reading);
}

static void report_notes(void *state, pf_on_note *notify, void *context)
{
    pf_schedstat_notify(&((struct sched_stats *)state)->stats, notify, context);
}

const struct pf_view pf_view_sched_stats = {
    .info = {"sched_stats", "what the scheduler counted of each CPU and scheduling domain (perf sched stats record)"},
    .lists = {PF_COLUMNS(columns), PF_COLUMNS(compared)},
    .answers = "count,percent",
    .not_filtered = PF_FILTER_TIMES | PF_FILTER_PIDS,
    .state_bytes = sizeof(struct sched_stats),
    .open = open_view,
    .next = next_counter,
    .close = close_view,
    .losses = pf_reading_losses,
    .unmatched = pf_reading_unmatched,
    .notes = report_notes,
};
