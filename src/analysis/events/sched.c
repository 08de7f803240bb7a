/* SPDX-License-Identifier: MIT */
#include "analysis/events/sched.h"

#include <stdlib.h>

#include "analysis/delivery.h"
#include "base/error.h"
#include "platform/platform.h"

enum { PROGRESS_RECORDS = 4096 };

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* Events of a stream are not known before they come. */
static bool has_stacks(struct perfile_reader *reader)
{
    const struct perfile_event *event;
    size_t count = 0;
    for (; (event = perfile_event_get(reader, count)); count++)
        if (strcmp(event->name, "sched:sched_switch") == 0 && event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN)
            return true;
    return !count;
}

/* A record on its way to the profile. */
static bool watch(void *context, const struct perfile_record *record)
{
    struct pf_sched *sched = context;
    struct pf_sched_stacks *stacks = &sched->stacks;
    if (!pf_grow(sched->options.allocator, &stacks->events, &stacks->capacity, stacks->count + 1,
                 sizeof(*stacks->events)))
        return false;
    const int fact = pf_switches_take(&sched->switches, record, &stacks->events[stacks->count]);
    stacks->count += fact > 0;
    stacks->of_sample = fact > 0 && record->type == PERFILE_RECORD_SAMPLE;
    return fact >= 0;
}

static int open_stacks(struct pf_sched *sched, struct perfile_error *error)
{
    const struct pf_sched_options *options = &sched->options;
    struct pf_profile_options how = {.stacks_of = "sched:sched_switch",
                                     .max_frames = options->max_frames,
                                     .find = pf_find_options_of(options->symbols, options->allocator),
                                     .unwind = options->symbols->unwind,
                                     .decoded = true,
                                     .watch = watch,
                                     .watch_context = sched,
                                     .never_waits = true,
                                     .drive = {1, options->progress, options->progress_context}};
    sched->stacks.result = 1;
    return pf_profile_open(sched->reader, &how, &sched->stacks.profile, error);
}

/* Reads the events of the records up to the next sample. Samples without a callchain have a frame, too. */
static void read_sample(struct pf_sched_stacks *stacks)
{
    const struct pf_profile_sample *sample;
    stacks->next = stacks->count = stacks->sample_frame_count = 0;
    stacks->of_sample = false;
    stacks->result = pf_profile_next(stacks->profile, &sample, &stacks->error);
    if (stacks->result <= 0 || !stacks->of_sample)
        return;
    stacks->frames = sample->frames;
    if (sample->frame_count > 1 || sample->decoded->callchain.count)
        stacks->sample_frame_count = sample->frame_count;
}

/* 1 and sched->now, 0 at the end, or an error. */
static int next_with_stack(struct pf_sched *sched, struct perfile_error *error)
{
    struct pf_sched_stacks *stacks = &sched->stacks;
    while (stacks->next == stacks->count) {
        if (stacks->result > 0)
            read_sample(stacks);
        if (stacks->next < stacks->count && stacks->result != PERFILE_ERROR_MEMORY)
            break;
        if (stacks->result <= 0) {
            if (error)
                *error = stacks->error;
            return stacks->result;
        }
    }
    sched->now = stacks->events[stacks->next++];
    stacks->frame_count = stacks->next == stacks->count ? stacks->sample_frame_count : 0;
    return 1;
}

const char *pf_sched_function(const struct pf_sched *sched, size_t index)
{
    return pf_profile_frame(sched->stacks.profile, sched->stacks.frames[index])->name;
}

uint64_t pf_sched_address(const struct pf_sched *sched, size_t index)
{
    const struct pf_frame_info *frame = pf_profile_frame(sched->stacks.profile, sched->stacks.frames[index]);
    return frame->module == PF_NO_SYMBOL && frame->symbol == PF_NO_SYMBOL ? frame->address : 0;
}

bool pf_sched_is_own(const char *function)
{
    switch (*function) { /* of every frame of every stack */
    case '_':
        return strcmp(function, "__schedule") == 0;
    case 's':
        return strcmp(function, "schedule") == 0;
    case 'p':
        return strcmp(function, "preempt_schedule") == 0;
    default:
        return false;
    }
}

/* ---- priorities -------------------------------------------------------------------------------------------------- */

/* "0-99" or "120" at *text, up to the next comma. False: it is something else. */
static bool take_priorities(const char **text, bool *priorities)
{
    char *end;
    const unsigned long first = strtoul(*text, &end, 10);
    unsigned long last = first;
    if (**text < '0' || **text > '9')
        return false;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        last = strtoul(end + 1, &end, 10);
    if ((*end && *end != ',') || first > last || last >= PF_SCHED_PRIORITIES)
        return false;
    for (unsigned long i = first; i <= last; i++)
        priorities[i] = true;
    *text = end + (*end == ',');
    return true;
}

static int open_priorities(struct pf_sched *sched, const char *list, struct perfile_error *error)
{
    sched->priorities = pf_new(sched->options.allocator, PF_SCHED_PRIORITIES);
    if (!sched->priorities)
        return pf_fail_memory(error, "scheduler events");
    memset(sched->priorities, 0, PF_SCHED_PRIORITIES);
    do {
        const char *at = list;
        if (!take_priorities(&list, sched->priorities))
            return pf_about(error, at, strcspn(at, ","),
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "priorities",
                                    "priority '%.*s' is neither a number nor FIRST-LAST, up to %d",
                                    (int)pf_min(strcspn(at, ","), 40), at, PF_SCHED_PRIORITIES - 1));
    } while (*list);
    return 0;
}

bool pf_sched_passes_run(struct pf_sched *sched)
{
    const struct pf_switch *now = &sched->now;
    if (!pf_sched_passes(sched, now->prev, now->cpu))
        return false;
    if (!sched->priorities)
        return true;
    const int32_t priority = now->in_priority >= 0 ? now->in_priority : now->priority;
    const bool passes = priority < 0 || (priority < PF_SCHED_PRIORITIES && sched->priorities[priority]);
    sched->filtered += !passes;
    return passes;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void report_progress(struct pf_sched *sched)
{
    sched->until_progress = PROGRESS_RECORDS;
    if (sched->options.progress)
        sched->options.progress(sched->options.progress_context, perfile_reader_counts(sched->reader)->data_bytes,
                                perfile_reader_file(sched->reader)->file_bytes);
}

/* Returns 1 and *fact, 0 at the end, or an error. */
static int read_fact(void *context, void *fact, struct perfile_error *error)
{
    struct pf_sched *sched = context;
    const struct perfile_record *record;
    int result;
    while ((result = perfile_session_next(sched->session, &record, error)) > 0) {
        if (PF_UNLIKELY(sched->until_progress-- == 0))
            report_progress(sched);
        const int read = pf_switches_read(&sched->switches, record, fact);
        if (PF_LIKELY(read))
            return read < 0 ? pf_fail_memory(error, "scheduler events") : 1;
    }
    return result;
}

static struct pf_ahead_counts count_losses(const void *context)
{
    const struct perfile_counts *counts = perfile_reader_counts(((const struct pf_sched *)context)->reader);
    return (struct pf_ahead_counts){.lost = counts->lost_samples ? counts->lost_samples : counts->lost_events};
}

uint64_t pf_sched_lost(const struct pf_sched *sched)
{
    return sched->stacks.profile ? count_losses(sched).lost : sched->facts.counts.lost;
}

static int open_facts(struct pf_sched *sched, struct perfile_error *error)
{
    pf_ahead_open(&sched->facts, &(struct pf_ahead_plan){.next = read_fact,
                                                         .count = count_losses,
                                                         .context = sched,
                                                         .item_bytes = sizeof(struct pf_sched_fact),
                                                         .threads = sched->options.threads,
                                                         .allocator = sched->options.allocator});
    return perfile_session_open(sched->reader, &sched->session, error);
}

int pf_sched_open(struct pf_sched *sched, struct perfile_reader *reader, const struct pf_sched_options *options,
                  struct perfile_error *error)
{
    int result = 0;
    *sched = (struct pf_sched){.options = *options, .reader = reader};
    if (options->filter)
        result = pf_recording_filter(reader, options->filter, options->allocator, &sched->filter, error);
    pf_switches_open(&sched->switches, reader, options->allocator);
    pf_switches_set_window(&sched->switches, &sched->filter);
    sched->switches.reading.priorities = options->with_priorities || options->priorities;
    if (result == 0 && options->priorities)
        result = open_priorities(sched, options->priorities, error);
    if (result < 0)
        return result;
    return options->symbols && has_stacks(reader) ? open_stacks(sched, error) : open_facts(sched, error);
}

void pf_sched_read_alone(struct pf_sched *sched)
{
    sched->facts.plan.threads = 1;
}

void pf_sched_close(struct pf_sched *sched)
{
    pf_ahead_stop(&sched->facts);
    pf_profile_close(sched->stacks.profile);
    pf_free(sched->options.allocator, sched->stacks.events, sched->stacks.capacity * sizeof(*sched->stacks.events));
    pf_ahead_close(&sched->facts);
    perfile_session_close(sched->session);
    pf_filter_close(&sched->filter);
    pf_switches_close(&sched->switches);
    pf_free(sched->options.allocator, sched->priorities, PF_SCHED_PRIORITIES);
}

void pf_sched_stop(struct pf_sched *sched)
{
    pf_ahead_stop(&sched->facts);
}

/* Rows are of intervals, which the filter does not know: pf_sched_passes asks it for no times. */
static void note_time(struct pf_sched *sched)
{
    const struct pf_switch *now = &sched->now;
    sched->timed |= now->kind == PF_SWITCHED ? now->shown : pf_sched_in_time(sched, now->time);
}

int pf_sched_next(struct pf_sched *sched, struct perfile_error *error)
{
    if (sched->stacks.profile) {
        const int result = next_with_stack(sched, error);
        if (result > 0)
            note_time(sched);
        return result;
    }
    void *fact;
    int result;
    while ((result = pf_ahead_next(&sched->facts, &fact, error)) > 0) {
        const int joined = pf_switches_join(&sched->switches, fact, &sched->now);
        if (joined > 0) {
            note_time(sched);
            return 1;
        }
        if (joined < 0)
            return pf_fail_memory(error, "scheduler events");
    }
    return result;
}

bool pf_sched_passes(struct pf_sched *sched, const struct pf_sched_task *task, uint32_t cpu)
{
    struct pf_filter *filter = &sched->filter;
    if (PF_LIKELY(!filter->active))
        return true;
    const char *comm = !task || task->tid == 0 ? "swapper" : task->comm ? task->comm : *task->name ? task->name : NULL;
    if (filter->has_comms && !comm)
        return false;
    filter->has_events = false; /* rows are of tasks */
    const struct pf_filter_subject subject = {.time = PF_NO_TIME,
                                              .cpu = (int32_t)cpu,
                                              .pid = !task || (task->tid && task->pid < 0) ? PF_NO_NUMBER
                                                     : task->tid                           ? task->pid
                                                                                           : 0,
                                              .tid = task ? task->tid : PF_NO_NUMBER,
                                              .comm = comm};
    const bool passes = pf_filter_passes(filter, &subject);
    sched->filtered += !passes;
    return passes;
}

bool pf_sched_in_time(const struct pf_sched *sched, uint64_t time)
{
    return time >= sched->switches.window.first && time <= sched->switches.window.last;
}

void pf_sched_notify_unmatched(const struct pf_sched *sched, perfile_on_unmatched *fact, void *context)
{
    struct pf_filter filter = sched->filter;
    if (!filter.active)
        return;
    filter.timed_out = true;
    filter.unmatched &= ~(unsigned)PF_FILTER_TIMES;
    filter.unmatched |= filter.has_times && !sched->timed ? PF_FILTER_TIMES : 0;
    pf_filter_notify_unmatched(&filter, sched->reader, perfile_event_get, fact, context);
}

/* ---- latency ----------------------------------------------------------------------------------------------------- */

/* NULL when out of memory. */
static __attribute__((noinline)) struct pf_latency *
begin_latency(struct pf_latencies *latencies, const struct pf_sched *sched, const struct pf_sched_task *task)
{
    if (!PF_HAS_ELEMENT(sched->options.allocator, latencies->rows, latencies->capacity, task->number))
        return NULL;
    latencies->count = pf_max(latencies->count, (size_t)task->number + 1);
    latencies->rows[task->number].task = task;
    return &latencies->rows[task->number];
}

static inline struct pf_latency *latency_of(struct pf_latencies *latencies, const struct pf_sched *sched,
                                            const struct pf_sched_task *task)
{
    struct pf_latency *known = task->number < latencies->count ? &latencies->rows[task->number] : NULL;
    return PF_LIKELY(known && known->task) ? known : begin_latency(latencies, sched, task);
}

static void wait_from(struct pf_latency *latency, uint64_t time)
{
    latency->state = PF_LATENCY_WAITS;
    latency->since = time;
}

static void add_delay(struct pf_latency *latency, uint64_t from, uint64_t to)
{
    const uint64_t delay = to - from;
    if (delay > latency->delays.max) {
        latency->max_from = from;
        latency->max_to = to;
    }
    pf_stats_add(&latency->delays, delay);
    pf_histogram_add(&latency->histogram, delay);
}

static bool take_in(struct pf_latencies *latencies, struct pf_sched *sched)
{
    const struct pf_switch *now = &sched->now;
    struct pf_latency *in = latency_of(latencies, sched, now->next);
    if (!in)
        return false;
    if (in->state == PF_LATENCY_NEW)
        wait_from(in, now->time);
    if (in->state != PF_LATENCY_WAITS || now->time < in->since)
        return true;
    const struct pf_range *window = &sched->switches.window;
    const uint64_t from = pf_max(in->since, window->first), to = pf_min(now->time, window->last);
    const bool inside = from < to || (in->since == now->time && pf_sched_in_time(sched, now->time));
    const bool cut = now->off_cut && in->since < now->time;
    const bool counts = inside && pf_sched_passes(sched, now->next, now->cpu);
    in->state = PF_LATENCY_RUNS;
    in->cut += cut && counts;
    if (counts && !cut)
        add_delay(in, from, to);
    return true;
}

static bool take_switched(struct pf_latencies *latencies, struct pf_sched *sched)
{
    const struct pf_switch *now = &sched->now;
    struct pf_latency *out = latency_of(latencies, sched, now->prev);
    if (!out)
        return false;
    out->state = PF_LATENCY_SLEEPS;
    out->since = now->time;
    if (now->state == 'R')
        wait_from(out, now->time);
    return take_in(latencies, sched);
}

static bool take_woken(struct pf_latencies *latencies, const struct pf_sched *sched)
{
    struct pf_latency *woken = latency_of(latencies, sched, sched->now.next);
    if (woken && (woken->state == PF_LATENCY_SLEEPS || woken->state == PF_LATENCY_NEW)) {
        wait_from(woken, sched->now.time);
        latencies->wakings++;
    }
    return woken;
}

static bool take_ran(struct pf_latencies *latencies, struct pf_sched *sched)
{
    struct pf_latency *ran = latency_of(latencies, sched, sched->now.next);
    if (!ran)
        return false;
    if (ran->state == PF_LATENCY_NEW)
        wait_from(ran, sched->now.time);
    if (pf_sched_in_time(sched, sched->now.time) && pf_sched_passes(sched, sched->now.next, sched->now.cpu))
        ran->runtime += sched->now.value;
    return true;
}

bool pf_latencies_take(struct pf_latencies *latencies, struct pf_sched *sched)
{
    switch (sched->now.kind) {
    case PF_SWITCHED:
        return take_switched(latencies, sched);
    case PF_WOKEN:
        return take_woken(latencies, sched);
    case PF_RAN:
        return take_ran(latencies, sched);
    default:
        return true;
    }
}

static const char *merge_name(const struct pf_latency *row, char text[16])
{
    return pf_sched_task_comm(row->task, text);
}

static void add_latency(struct pf_latency *to, const struct pf_latency *from)
{
    if (from->delays.max > to->delays.max) {
        to->max_from = from->max_from;
        to->max_to = from->max_to;
    }
    to->delays.max = pf_max(to->delays.max, from->delays.max);
    if (from->delays.count)
        to->delays.min = to->delays.count ? pf_min(to->delays.min, from->delays.min) : from->delays.min;
    to->delays.sum += from->delays.sum;
    to->delays.count += from->delays.count;
    to->runtime += from->runtime;
    to->cut += from->cut;
    to->tasks += from->tasks;
    for (unsigned i = 0; i < PF_HISTOGRAM_BUCKETS; i++)
        to->histogram.buckets[i] += from->histogram.buckets[i];
}

/* Descending. */
static int compare_tids(const void *left, const void *right)
{
    const struct pf_latency *a = left, *b = right;
    return a->task->tid != b->task->tid ? (a->task->tid < b->task->tid) - (a->task->tid > b->task->tid)
                                        : (a->task->number < b->task->number) - (a->task->number > b->task->number);
}

enum latency_key { AVERAGE, MAXIMUM, SWITCH, COUNT, RUNTIME, PID };
static const struct pf_sort_names latency_names = {{[AVERAGE] = "avg",
                                                    [MAXIMUM] = "max",
                                                    [SWITCH] = "switch",
                                                    [COUNT] = "count",
                                                    [RUNTIME] = "runtime",
                                                    [PID] = "pid"},
                                                   "avg,max,switch,runtime"};

int pf_latencies_sort(struct pf_latencies *latencies, const char *keys, struct perfile_error *error)
{
    return pf_sort_keys_parse(&latencies->keys, keys, &latency_names, error);
}

static uint64_t latency_value(const struct pf_latency *row, unsigned key)
{
    switch (key) {
    case AVERAGE:
        return pf_stats_average(&row->delays);
    case MAXIMUM:
        return row->delays.max;
    case RUNTIME:
        return row->runtime;
    case PID:
        return (uint32_t)row->task->tid;
    default:
        return row->delays.count;
    }
}

static int by_latency_key(unsigned key, const void *left, const void *right)
{
    return pf_sort_down(latency_value(left, key), latency_value(right, key));
}

/* All by descending values, those of equal ones by name, or by thread id where names are apart, as perf has them. */
static int compare_latencies(const void *left, const void *right, void *context)
{
    const struct pf_latencies *latencies = context;
    const struct pf_latency *a = left, *b = right;
    char text[16], other[16];
    int order = pf_sort_keys_compare(&latencies->keys, left, right, by_latency_key);
    if (!order && latencies->merged)
        order = strcmp(merge_name(b, other), merge_name(a, text));
    return order ? order : compare_tids(a, b);
}

/* Rows of one name go to the first of them. False: out of memory. */
static bool merge_names(struct pf_latencies *latencies, const struct perfile_allocator *allocator)
{
    struct pf_map positions;
    size_t kept = 0;
    bool enough = true;
    pf_map_open(&positions, allocator);
    for (size_t i = 0; enough && i < latencies->count; i++) {
        char text[16], other[16];
        const char *name = merge_name(&latencies->rows[i], text);
        const uint64_t hash = pf_hash_text(name);
        uint64_t position;
        if (pf_map_get(&positions, hash, &position) && !strcmp(merge_name(&latencies->rows[position], other), name)) {
            add_latency(&latencies->rows[position], &latencies->rows[i]);
            continue;
        }
        enough = pf_map_put(&positions, hash, kept);
        latencies->rows[kept++] = latencies->rows[i];
    }
    latencies->count = kept;
    pf_map_close(&positions);
    return enough;
}

bool pf_latencies_end(struct pf_latencies *latencies, const struct pf_sched *sched, bool merge)
{
    size_t kept = 0;
    latencies->merged = merge;
    for (size_t i = 0; i < latencies->count; i++) {
        const struct pf_latency *row = &latencies->rows[i];
        if (!row->task || row->task->tid == 0)
            continue;
        latencies->rows[kept] = *row;
        latencies->rows[kept++].tasks = 1;
    }
    latencies->count = kept;
    if (kept)
        qsort(latencies->rows, kept, sizeof(*latencies->rows), compare_tids);
    if (merge && !merge_names(latencies, sched->options.allocator))
        return false;
    kept = 0;
    for (size_t i = 0; i < latencies->count; i++)
        if (latencies->rows[i].delays.count)
            latencies->rows[kept++] = latencies->rows[i];
    latencies->count = kept;
    if (kept)
        pf_platform_sort(latencies->rows, kept, sizeof(*latencies->rows), compare_latencies, latencies);
    return true;
}

void pf_latencies_close(struct pf_latencies *latencies, const struct perfile_allocator *allocator)
{
    pf_free(allocator, latencies->rows, latencies->capacity * sizeof(*latencies->rows));
}

/* ---- lifetimes -------------------------------------------------------------------------------------------------- */

void pf_sched_lifetimes_open(struct pf_sched_lifetimes *lifetimes, const struct perfile_allocator *allocator)
{
    *lifetimes = (struct pf_sched_lifetimes){.tasks = NULL};
    pf_arena_open(&lifetimes->arena, allocator);
}

void pf_sched_lifetimes_close(struct pf_sched_lifetimes *lifetimes)
{
    const struct perfile_allocator *allocator = lifetimes->arena.allocator;
    if (!allocator)
        return;
    pf_free(allocator, lifetimes->tasks, lifetimes->task_capacity * sizeof(struct pf_sched_life *));
    pf_free(allocator, lifetimes->cpus, lifetimes->cpu_capacity * sizeof(*lifetimes->cpus));
    pf_arena_close(&lifetimes->arena);
}

/* NULL when out of memory. */
static struct pf_sched_life *life_of(struct pf_sched_lifetimes *lifetimes, const struct pf_sched_task *task)
{
    struct pf_sched_life **life =
        PF_ELEMENT(lifetimes->arena.allocator, lifetimes->tasks, lifetimes->task_capacity, task->number);
    if (!life)
        return NULL;
    if (!*life)
        *life = pf_arena_new(&lifetimes->arena, sizeof(**life));
    if (*life)
        (*life)->task = task;
    return *life;
}

/* NULL when out of memory. */
static struct pf_sched_cpu_life *cpu_life_of(struct pf_sched_lifetimes *lifetimes, uint32_t cpu)
{
    struct pf_sched_cpu_life *life =
        PF_ELEMENT(lifetimes->arena.allocator, lifetimes->cpus, lifetimes->cpu_capacity, cpu);
    if (life)
        lifetimes->cpu_count = pf_max(lifetimes->cpu_count, (size_t)cpu + 1);
    return life;
}

static void add_sum(struct pf_sched_sum *sum, uint64_t value)
{
    pf_stats_add(&sum->stats, value);
    pf_histogram_add(&sum->histogram, value);
}

static void add_wait(struct pf_sched_life *life, const struct pf_switch *now)
{
    add_sum(&life->waits, now->wait_inside);
    life->blocked += now->wait_inside - (now->delay_known ? pf_min(now->delay_inside, now->wait_inside) : 0);
    if (now->wait_state == 'R')
        life->preempt += now->wait_inside;
    else if (now->wait_state == 'D')
        life->iowait += now->wait_inside;
    else
        life->sleep += now->wait_inside;
}

/*
 * A part of an interval counts when it is in the window, however short it is; an interval without a length counts when
 * it is shown. So the slices of time add up to the total.
 */
static bool is_inside(const struct pf_sched_lifetimes *lifetimes, const struct pf_switch *now, uint64_t all,
                      uint64_t inside)
{
    return lifetimes->as_perf ? now->shown : inside || (!all && now->shown);
}

static bool has_wait(const struct pf_sched_lifetimes *lifetimes, const struct pf_switch *now)
{
    return now->wait_known && is_inside(lifetimes, now, now->wait, now->wait_inside);
}

static bool has_delay(const struct pf_sched_lifetimes *lifetimes, const struct pf_switch *now)
{
    return now->delay_known && is_inside(lifetimes, now, now->delay, now->delay_inside);
}

static void add_run(struct pf_sched_life *life, const struct pf_switch *now)
{
    life->rows++;
    if (now->run_known || !now->last_time)
        pf_stats_add(&life->run_as_perf, now->run);
    if (now->run_known)
        add_sum(&life->runs, now->run);
    life->preemptions += now->preempted;
    life->unknown += !now->run_known;
    life->unknown += now->wait_state && !now->wait_known;
    life->moves += now->moved;
}

static void add_cpu_run(struct pf_sched_cpu_life *cpu, const struct pf_switch *now)
{
    const bool idle = now->prev->tid == 0;
    cpu->rows++;
    cpu->idle_rows += idle;
    cpu->preemptions += now->preempted;
    if (!now->run_known)
        cpu->unknown++;
    else if (idle)
        cpu->idle += now->run;
    else
        cpu->busy += now->run;
}

/* Adds a run of the idle task to the task that ran before it. Returns false when out of memory. */
static bool add_idle(struct pf_sched_lifetimes *lifetimes, const struct pf_switch *now)
{
    struct pf_sched_life *life = life_of(lifetimes, now->idle_after);
    if (!life)
        return false;
    life->idle_rows++;
    if (now->run_known)
        pf_stats_add(&life->idle, now->run);
    return true;
}

/* The run may be after the window while the wait before it is inside. */
static bool take_row(struct pf_sched_lifetimes *lifetimes, struct pf_sched *sched)
{
    const struct pf_switch *now = &sched->now;
    const bool waited = has_wait(lifetimes, now), delayed = has_delay(lifetimes, now);
    if ((!now->shown && !waited && !delayed) || !pf_sched_passes_run(sched))
        return true;
    struct pf_sched_life *life = life_of(lifetimes, now->prev);
    struct pf_sched_cpu_life *cpu = cpu_life_of(lifetimes, now->cpu);
    if (!life || !cpu)
        return false;
    if (waited)
        add_wait(life, now);
    if (delayed)
        add_sum(&life->delays, now->delay_inside);
    if (delayed && now->prev->tid)
        add_sum(&cpu->delays, now->delay_inside);
    if (!now->shown)
        return true;
    add_run(life, now);
    add_cpu_run(cpu, now);
    return !now->idle_after || add_idle(lifetimes, now);
}

static bool take_migration(struct pf_sched_lifetimes *lifetimes, struct pf_sched *sched)
{
    if (!pf_sched_in_time(sched, sched->now.time) || !pf_sched_passes(sched, sched->now.next, sched->now.cpu))
        return true;
    struct pf_sched_life *life = life_of(lifetimes, sched->now.next);
    if (life)
        life->migrations++;
    return life;
}

static bool count_on_cpu(struct pf_sched_lifetimes *lifetimes, const struct pf_sched *sched)
{
    if (sched->now.cpu >= PF_SCHED_MAX_CPUS)
        return true;
    struct pf_sched_cpu_life *cpu = cpu_life_of(lifetimes, sched->now.cpu);
    if (!cpu)
        return false;
    cpu->wakings += sched->now.kind == PF_WOKEN;
    cpu->lost += sched->now.kind == PF_LOST_HERE ? sched->now.value : 0;
    return true;
}

bool pf_sched_lifetimes_take(struct pf_sched_lifetimes *lifetimes, struct pf_sched *sched)
{
    switch (sched->now.kind) {
    case PF_SWITCHED:
        return take_row(lifetimes, sched);
    case PF_MIGRATED:
        return take_migration(lifetimes, sched);
    case PF_WOKEN:
    case PF_LOST_HERE:
        return !pf_sched_in_time(sched, sched->now.time) || count_on_cpu(lifetimes, sched);
    default:
        return true;
    }
}

static int compare_lifetimes(const void *left, const void *right, void *context)
{
    const struct pf_sched_lifetimes *lifetimes = context;
    const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const struct pf_sched_task *a = lifetimes->tasks[i]->task, *b = lifetimes->tasks[k]->task;
    return PF_COMPARE(a->tid, b->tid) ?: PF_COMPARE(i, k);
}

uint32_t *pf_sched_lifetimes_order(const struct pf_sched_lifetimes *lifetimes, const struct pf_sched *sched, bool idle,
                                   size_t *count)
{
    uint32_t *order = pf_new(lifetimes->arena.allocator, (lifetimes->task_capacity + 1) * sizeof(*order));
    *count = 0;
    for (uint32_t i = 0; order && i < lifetimes->task_capacity; i++) {
        const struct pf_sched_life *life = lifetimes->tasks[i];
        const bool waited = life && !lifetimes->as_perf && life->waits.stats.count + life->delays.stats.count;
        if (life && (life->rows || waited || (idle && life->idle_rows)))
            order[(*count)++] = i;
    }
    (void)sched;
    if (*count)
        pf_platform_sort(order, *count, sizeof(*order), compare_lifetimes, (void *)(uintptr_t)lifetimes);
    return order;
}
