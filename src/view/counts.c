/* SPDX-License-Identifier: MIT */
/* What `perf stat record` counted: a row for each round, event, thread and processor. */
#include <stdlib.h>

#include "analysis/stat.h"
#include "base/error.h"
#include "base/event_name.h"
#include "view/reading.h"
#include "platform/platform.h"

struct counts {
    struct pf_reading reading; /* first */
    struct pf_stat stat;
    uint32_t *order; /* positions in the current round, by event, thread and processor */
    size_t count, next, capacity;
    const struct pf_stat_cell *position; /* in hand */
    const struct perfile_event *event;
    struct pf_stat_count added;
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define COUNTS const struct counts *counts = state
#define PUT(name, set, value) PF_PUT_AS(name, COUNTS, set, value)
#define THREAD (&counts->stat.threads[counts->position->thread])

PUT(round, pf_set_u64, counts->stat.round_count)
PUT(since_start, pf_set_u64, counts->stat.round.time)
PUT(last, pf_set_bool, counts->stat.round.round_type != 0)
PUT(unit, pf_set_text, counts->event->unit)
PUT(count, pf_set_u64, pf_stat_scaled(&counts->stat, &counts->added))
PUT(counted, pf_set_u64, counts->added.value)
PUT(enabled, pf_set_u64, counts->added.enabled)
PUT(running, pf_set_u64, counts->added.running)
PUT(total, pf_set_u64, counts->position->now.value)

PF_PUT_AS(event, COUNTS, pf_set_text_bytes, counts->event->name, pf_event_name_bytes(counts->event->name))
PF_PUT_AS(cgroup, COUNTS, pf_set_text, pf_event_name_cgroup(counts->event->name))
PF_PUT_IF(value, COUNTS, counts->added.running, pf_set_f64,
          (double)pf_stat_scaled(&counts->stat, &counts->added) * counts->event->scale)
PF_PUT_IF(cpu, COUNTS, counts->position->cpu >= 0, pf_set_i32, counts->position->cpu)
PF_PUT_IF(tid, COUNTS, THREAD->tid >= 0, pf_set_i32, THREAD->tid)
PF_PUT_AS(comm, COUNTS, pf_set_text, *THREAD->comm ? THREAD->comm : NULL)

static const struct pf_column columns[] = {
    PF_REQUIRED(round, U64, "", "Which interval, from 1."),
    PF_REQUIRED(since_start, DURATION, "ns", "When the interval ended, from the start of counting."),
    PF_REQUIRED_EXTRA(last, BOOL, "", "It is what was counted up to the end."),
    PF_REQUIRED(event, TEXT, "", "Event."),
    PF_COLUMN(cpu, I32, "", "Processor; null: any."),
    PF_COLUMN(tid, I32, "", "Thread; null: all."),
    PF_COLUMN(comm, TEXT, "", "Its name when counting began; null: not known."),
    PF_COLUMN(cgroup, TEXT, "",
              "Control group that alone was counted; null: everything was, or the recording does not say it."),
    PF_COLUMN(value, F64, "", "What was counted in this interval, in the event's unit; null: the counter never ran."),
    PF_COLUMN(unit, TEXT, "", "The event's unit; null: a number of events."),
    PF_REQUIRED(
        count, U64, "",
        "The same without a unit, scaled to the time that it was enabled where the counter shared the hardware."),
    PF_REQUIRED_EXTRA(counted, U64, "", "The same, not scaled."),
    PF_REQUIRED(enabled, DURATION, "ns", "How long the counter was to count."),
    PF_REQUIRED(running, DURATION, "ns", "How long it did."),
    PF_REQUIRED_EXTRA(total, U64, "", "What was counted since the start, not scaled."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right, void *context)
{
    const struct pf_stat *stat = context;
    const struct pf_stat_cell *a = &stat->positions[*(const uint32_t *)left];
    const struct pf_stat_cell *b = &stat->positions[*(const uint32_t *)right];
    return PF_COMPARE(a->event, b->event) ?: PF_COMPARE(a->thread, b->thread) ?: PF_COMPARE(a->cpu, b->cpu);
}

static bool passes(struct counts *counts, const struct pf_stat_cell *position)
{
    const struct pf_stat_thread *thread = &counts->stat.threads[position->thread];
    const struct pf_filter_subject subject = {.time = PF_NO_TIME,
                                              .cpu = position->cpu >= 0 ? position->cpu : PF_NO_NUMBER,
                                              .pid = PF_NO_NUMBER,
                                              .tid = thread->tid >= 0 ? thread->tid : PF_NO_NUMBER,
                                              .comm = thread->tid >= 0 && *thread->comm ? thread->comm : NULL,
                                              .event =
                                                  perfile_event_get(counts->reading.table->reader, position->event)};
    return pf_reading_passes(&counts->reading, &subject);
}

static int list_round(struct counts *counts, struct perfile_error *error)
{
    const struct pf_stat *stat = &counts->stat;
    counts->count = counts->next = 0;
    if (!pf_grow(counts->reading.table->allocator, &counts->order, &counts->capacity, stat->position_count,
                 sizeof(*counts->order)))
        return pf_fail_memory(error, "counts");
    for (uint32_t i = stat->first_delivered; i != UINT32_MAX; i = stat->positions[i].next_delivered)
        if (passes(counts, &stat->positions[i]))
            counts->order[counts->count++] = i;
    if (counts->count)
        pf_platform_sort(counts->order, counts->count, sizeof(*counts->order), compare, &counts->stat);
    return 0;
}

static int next_count(void *state, struct perfile_error *error)
{
    struct counts *counts = state;
    const struct perfile_record *record;
    struct perfile_reader *reader = counts->reading.table->reader;
    while (counts->next == counts->count) {
        int result = pf_reading_next(&counts->reading, &record, error);
        if (result <= 0)
            return result;
        result = record->damaged ? 0 : pf_stat_take(&counts->stat, reader, record, error);
        if (result > 0)
            result = list_round(counts, error);
        if (result < 0)
            return result;
    }
    counts->position = &counts->stat.positions[counts->order[counts->next++]];
    counts->event = perfile_event_get(reader, counts->position->event);
    counts->added = pf_stat_added(counts->position);
    return 1;
}

static int open_counts(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct counts *counts = state;
    pf_stat_open(&counts->stat, table->allocator);
    return pf_reading_open(&counts->reading, table, PF_BY_FILE, error);
}

static void close_counts(void *state)
{
    struct counts *counts = state;
    const struct perfile_allocator *allocator = counts->reading.table->allocator;
    pf_stat_close(&counts->stat);
    pf_reading_close(&counts->reading);
    pf_free(allocator, counts->order, counts->capacity * sizeof(*counts->order));
}

const struct pf_view pf_view_counts = {
    .info = {"counts", "what was counted without samples (perf stat record): by interval, event, thread and processor"},
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_TIMES | PF_FILTER_PIDS,
    .state_bytes = sizeof(struct counts),
    .open = open_counts,
    .next = next_count,
    .close = close_counts,
    .losses = pf_reading_losses,
    .unmatched = pf_reading_unmatched,
};
