/* SPDX-License-Identifier: MIT */
/* Every thread that records or samples name: when it lived, whose it was, how often it was sampled. */
#include <stdlib.h>

#include "analysis/tasks.h"
#include "base/error.h"
#include "view/reading.h"
#include "platform/platform.h"

struct threads {
    struct pf_reading reading; /* first */
    struct pf_tasks tasks;
    struct pf_task none; /* for samples without a thread */
    uint32_t *order;     /* numbers of tasks, by process and thread; the number of tasks: `none` */
    size_t count, capacity;
    const struct pf_task *task; /* in hand */
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define THREADS const struct threads *threads = state
#define TASK const struct pf_task *task = ((const struct threads *)state)->task
#define PUT_KNOWN(name, set, known, value) PF_PUT_IF(name, TASK, known, set, value)

static bool is_unknown(const struct threads *threads)
{
    return threads->task == &threads->none;
}

PF_PUT_IF(pid, THREADS, !(is_unknown(threads)), pf_set_i32, threads->task->pid)
PF_PUT_IF(tid, THREADS, !(is_unknown(threads)), pf_set_i32, threads->task->tid)

PUT_KNOWN(comm, pf_set_lasting, true, task->comm)
PUT_KNOWN(first_comm, pf_set_lasting, task->first_comm != task->comm, task->first_comm)
PUT_KNOWN(parent_pid, pf_set_i32, task->ppid != -1, task->parent_pid)
PUT_KNOWN(parent_tid, pf_set_i32, task->ppid != -1, task->ppid)
PUT_KNOWN(start_time, pf_set_u64, task->start, task->start)
PUT_KNOWN(end_time, pf_set_u64, task->end, task->end)
PUT_KNOWN(first_time, pf_set_u64, task->timed, task->first_time)
PUT_KNOWN(last_time, pf_set_u64, task->timed, task->last_time)
PUT_KNOWN(samples, pf_set_u64, true, task->samples)
PUT_KNOWN(lost, pf_set_u64, true, task->lost)

static const struct pf_column columns[] = {
    PF_COLUMN(pid, I32, "", "Process; null: what the samples of this row do not say."),
    PF_COLUMN(tid, I32, "", "Thread. One that has the id of an earlier one is another thread."),
    PF_COLUMN(comm, TEXT, "", "Its last name; null: not known."),
    PF_COLUMN(first_comm, TEXT, "", "Its first name, if that is another one."),
    PF_COLUMN(parent_pid, I32, "", "Process that started it; null: not known."),
    PF_COLUMN(parent_tid, I32, "", "Thread that started it; null: not known."),
    PF_COLUMN(start_time, TIME, "ns", "When it started; null: before the recording, or not known."),
    PF_COLUMN(end_time, TIME, "ns", "When it ended; null: after the recording, or not known."),
    PF_COLUMN(first_time, TIME, "ns", "Its first sample."),
    PF_COLUMN(last_time, TIME, "ns", "Its last sample."),
    PF_REQUIRED(samples, U64, "", "Its samples."),
    PF_REQUIRED(lost, U64, "records", "What was lost while it ran, as records say: its own or that of others."),
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* NULL when out of memory. */
static struct pf_task *task_of(struct threads *threads, const struct perfile_sample_id *id)
{
    return id->present & PERFILE_SAMPLE_TID ? pf_tasks_of(&threads->tasks, id->pid, id->tid) : &threads->none;
}

static void count_sample(struct pf_task *task, const struct perfile_sample_id *id)
{
    task->samples++;
    if (!(id->present & PERFILE_SAMPLE_TIME))
        return;
    task->first_time = task->timed ? pf_min(task->first_time, id->time) : id->time;
    task->last_time = pf_max(task->last_time, id->time);
    task->timed = true;
}

static bool take_sample(struct threads *threads, const struct perfile_record *record)
{
    struct perfile_sample_id id;
    pf_reading_decode_id(&threads->reading, record, &id);
    struct pf_task *task = task_of(threads, &id);
    if (!task)
        return false;
    const struct pf_filter_subject subject = pf_reading_subject(&threads->reading, &id, record->event);
    if (pf_reading_passes(&threads->reading, &subject))
        count_sample(task, &id);
    return true;
}

/* Counts losses for their task. What perf counts at the end has no time, and belongs to no thread. */
static bool take_lost(struct threads *threads, const struct perfile_record *record)
{
    struct perfile_reader *reader = threads->reading.table->reader;
    struct perfile_lost lost = {0};
    struct perfile_lost_samples dropped = {0};
    struct perfile_sample_id id;
    if (record->type == PERFILE_RECORD_LOST && perfile_record_decode(reader, record, &lost, sizeof(lost), NULL) < 0)
        return true;
    if (record->type == PERFILE_RECORD_LOST_SAMPLES &&
        perfile_record_decode(reader, record, &dropped, sizeof(dropped), NULL) < 0)
        return true;
    pf_reading_decode_id(&threads->reading, record, &id);
    if (!(id.present & PERFILE_SAMPLE_TIME) || !id.time)
        id.present = 0;
    struct pf_task *task = task_of(threads, &id);
    if (task)
        task->lost += lost.lost + dropped.lost;
    return task;
}

static int take_record(void *state, const struct perfile_record *record, struct perfile_error *error)
{
    struct threads *threads = state;
    bool enough = true;
    if (record->damaged)
        return 0; /* the reader counts it */
    if (record->type == PERFILE_RECORD_SAMPLE)
        enough = take_sample(threads, record);
    else if (record->type == PERFILE_RECORD_LOST || record->type == PERFILE_RECORD_LOST_SAMPLES)
        enough = take_lost(threads, record);
    else
        enough = pf_tasks_take(&threads->tasks, record);
    return enough ? 0 : pf_fail_memory(error, "threads");
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* By process, thread, and the order in which those of one id lived. */
static int compare(const void *left, const void *right, void *context)
{
    const struct threads *threads = context;
    const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const struct pf_task *a = &threads->tasks.tasks[i], *b = &threads->tasks.tasks[k];
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->earlier != b->earlier)
        return a->earlier ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* The filter asks for samples, but one that names a thread without any has not asked in vain. */
static bool passes(struct pf_filter *filter, const struct pf_task *task, const char *comm)
{
    const struct pf_filter_subject subject = {PF_NO_TIME, PF_NO_NUMBER, task->pid, task->tid, comm, NULL};
    const unsigned unmatched = filter->unmatched;
    const size_t known = filter->comms.known.count;
    const bool events = filter->has_events;
    if (filter->has_comms && !comm)
        return false;
    filter->unmatched = 0;
    filter->has_events = false; /* threads have none */
    const bool passed = pf_filter_passes(filter, &subject);
    filter->has_events = events;
    filter->unmatched = unmatched;
    if (passed && unmatched)
        pf_filter_note(filter, &subject);
    filter->unmatched |= unmatched & (PF_FILTER_TIMES | PF_FILTER_CPUS); /* a thread has none */
    filter->comms.known.count = known;
    return passed;
}

/* A thread whose samples passed, or that the filter names. */
static bool is_shown(struct threads *threads, const struct pf_task *task)
{
    struct pf_filter *filter = &threads->reading.filter;
    if (task == threads->tasks.tasks && !threads->tasks.idle_reported)
        return false; /* no record reports it */
    return task->samples || !filter->active || passes(filter, task, task->comm) ||
           passes(filter, task, task->first_comm);
}

static int list_threads(struct threads *threads, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = threads->reading.table->allocator;
    const struct pf_tasks *tasks = &threads->tasks;
    if (!pf_grow(allocator, &threads->order, &threads->capacity, tasks->count + 1, sizeof(*threads->order)))
        return pf_fail_memory(error, "threads");
    for (uint32_t i = 0; i < tasks->count; i++)
        if (is_shown(threads, &tasks->tasks[i]))
            threads->order[threads->count++] = i;
    pf_platform_sort(threads->order, threads->count, sizeof(*threads->order), compare, threads);
    if (threads->none.samples || threads->none.lost)
        threads->order[threads->count++] = (uint32_t)tasks->count;
    return 0;
}

static int next_thread(void *state, struct perfile_error *error)
{
    struct threads *threads = state;
    if (!threads->reading.table->all.read) {
        pf_reading_all(&threads->reading, take_record, threads);
        const int listed = list_threads(threads, error);
        if (listed < 0)
            return listed;
    }
    const int result = pf_table_row(threads->reading.table, threads->count, error);
    if (result > 0) {
        const uint32_t location = threads->order[threads->reading.table->all.row];
        threads->task = location < threads->tasks.count ? &threads->tasks.tasks[location] : &threads->none;
    }
    return result;
}

static int open_threads(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct threads *threads = state;
    threads->none.ppid = -1;
    if (!pf_tasks_begin(&threads->tasks, table->reader, table->allocator))
        return pf_fail_memory(error, "threads");
    return pf_reading_open(&threads->reading, table, PF_BY_TIME, error);
}

static void close_threads(void *state)
{
    struct threads *threads = state;
    const struct perfile_allocator *allocator = threads->reading.table->allocator;
    pf_tasks_close(&threads->tasks);
    pf_reading_close(&threads->reading);
    pf_free(allocator, threads->order, threads->capacity * sizeof(*threads->order));
}

const struct pf_view pf_view_threads = {
    .info = {"threads", "all threads with a name: when they lived, their parents, how often they were sampled"},
    .lists = {PF_COLUMNS(columns)},
    .state_bytes = sizeof(struct threads),
    .open = open_threads,
    .next = next_thread,
    .close = close_threads,
    .losses = pf_reading_losses,
    .unmatched = pf_reading_unmatched,
};
