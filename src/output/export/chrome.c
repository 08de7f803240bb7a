/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace events: a timeline. Where threads ran and why they did not, processors, counters and tracepoints are
 * as recorded. Stacks are not: a sample is a moment, and a slice a span, so a slice is what lies between samples that
 * have the frame.
 *
 * Events come in the order of their times: each source (the stacks of a thread, its states ...) gives its own by time,
 * and a heap picks the next.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/calls/calls.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/heap.h"
#include "output/export/export.h"
#include "output/export/timeline.h"
#include "view/ids.h"

/* Tracks of no process have numbers that no process has. */
#define CPUS_PID ((uint64_t)1 << 31)
#define EVENTS_PID (CPUS_PID + 1) /* and the number of the event */
#define LATER_TID CPUS_PID        /* and the number of the thread: of those whose ids were used before */

/*
 * Processes of several recordings are others: those of the second have numbers from 10,000,000 on, which no process
 * has, and so on; all of them are numbers of 32 bits, which readers have.
 */
enum { MAX_RECORDINGS = 200, NEXT_PIDS = 10000000, NEXT_EVENTS = 1 << 20 };

static const uint64_t ns_per_us = 1000, quantum_ns = 100000000, quanta = 1000;

/* What a sample stands for: from `start` to its time. */
struct slice {
    uint64_t start;
    uint32_t common; /* frames from the root that go on from the sample before */
};

struct run {
    uint64_t time, end;
    uint32_t thread;
    int32_t cpu;
};

struct rate {
    uint64_t time, value;
    int32_t cpu;
};

enum { STATES, MARKS, SLICES, MOMENTS, VALUES, RUNS, RATES, LOSSES, COUNTS };

/* What comes first of equal times: slices end from the inside, and begin from the outside. */
enum { STACK_ENDS, STATE_ENDS, STATE_BEGINS, OTHER, STACK_BEGINS };

/* Gives events by time. */
struct source {
    uint8_t kind;
    uint8_t order;  /* of the next event */
    bool open;      /* the event at `at` has started, and has not ended */
    uint32_t index; /* of a thread, a series, or the first run of a processor */
    size_t at;
    uint64_t sum;
};

struct chrome {
    struct pf_timeline timeline;
    struct pf_text *out;
    struct pf_text scratch;
    const char *name;      /* of the recording, one of several; NULL: the only one */
    unsigned number;       /* so many recordings are before it */
    uint64_t origin;       /* where times count from, modulo 2^64 */
    uint32_t *depths;      /* by node */
    struct slice **slices; /* by series; NULL: it has none */
    bool *further;         /* by series: its stacks stand on a track of their own */
    size_t slices_capacity;
    uint32_t *path; /* of the stack that is put: nodes, by depth */
    size_t path_capacity;
    bool failed; /* out of memory */
    struct run *runs;
    size_t run_count, run_capacity;
    struct rate *rates;
    size_t rate_count, rate_capacity;
    struct source *sources;
    size_t source_count, source_capacity;
    struct pf_heap heap;
    bool comma;
    bool has_calls; /* of a trace: slices are these */
};

/* ---- pieces of JSON ---------------------------------------------------------------------------------------------- */

static void put(struct chrome *chrome, const char *text)
{
    pf_put_string(chrome->out, text);
}

static void put_text(struct chrome *chrome, const char *text)
{
    pf_put_json_string(chrome->out, text, strlen(text));
}

/* ns as microseconds, exactly. */
static void put_us(struct chrome *chrome, uint64_t ns)
{
    char digits[40], *end = pf_digits(digits, ns / ns_per_us);
    if (ns % ns_per_us) {
        *end++ = '.';
        end = pf_digits_fixed(end, ns % ns_per_us, 3);
        while (end[-1] == '0')
            end--;
    }
    pf_put(chrome->out, digits, (size_t)(end - digits));
}

struct where {
    int64_t pid, tid;
};

/* Up to the name, which follows. */
static void begin_event(struct chrome *chrome, char phase, struct where where, const char *category)
{
    const int64_t shift = (int64_t)chrome->number * (where.pid < (int64_t)CPUS_PID ? NEXT_PIDS : NEXT_EVENTS);
    put(chrome, chrome->comma ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    pf_put_char(chrome->out, phase);
    put(chrome, "\",\"pid\":");
    pf_put_signed(chrome->out, where.pid + shift);
    put(chrome, ",\"tid\":");
    pf_put_signed(chrome->out, where.tid);
    if (category) {
        put(chrome, ",\"cat\":\"");
        put(chrome, category);
        pf_put_char(chrome->out, '"');
    }
    chrome->comma = true;
}

static void put_time(struct chrome *chrome, uint64_t time)
{
    put(chrome, ",\"ts\":");
    put_us(chrome, time - chrome->origin);
}

static void put_name(struct chrome *chrome, const char *name)
{
    put(chrome, ",\"name\":");
    put_text(chrome, name);
}

/*
 * A slice begins or ends; its name follows. (Complete events, X, have a start and a length, which their readers add up:
 * the sum is not quite what the next slice begins with.)
 */
static void put_edge(struct chrome *chrome, bool begins, struct where where, const char *category, uint64_t time)
{
    begin_event(chrome, begins ? 'B' : 'E', where, begins ? category : NULL);
    put_time(chrome, time);
}

/* A function without a name is its module, in brackets. */
static void put_function(struct chrome *chrome, uint32_t node)
{
    struct pf_profile *profile = chrome->timeline.profile;
    struct pf_arena arena;
    pf_arena_open(&arena, chrome->timeline.allocator);
    const char *text = pf_frame_text(&arena, profile, chrome->timeline.tree.nodes[node].frame);
    put_text(chrome, text ? text : "[unknown]"); /* NULL: the allocator reports that memory was short */
    pf_arena_close(&arena);
}

/* ---- where things stand ------------------------------------------------------------------------------------------ */

static struct where where_of_thread(const struct chrome *chrome, uint32_t index)
{
    const struct pf_timeline_thread *thread = &chrome->timeline.threads[index];
    return (struct where){thread->pid, thread->turn ? (int64_t)(LATER_TID + index) : thread->tid};
}

/* Samples of a count of something that takes time: they stand for the time since the one before. */
static bool is_in_time(const struct perfile_event *event)
{
    switch (event->attr->type) {
    case PERFILE_TYPE_TRACEPOINT:
    case PERFILE_TYPE_BREAKPOINT:
        return false;
    case PERFILE_TYPE_SOFTWARE:
        return pf_timeline_is_clock(event);
    default:
        return true;
    }
}

/* The first such event of a thread stands on its own track, others on further ones. */
static void find_further(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    for (size_t i = 0; i < timeline->thread_count; i++) {
        bool found = false;
        for (uint32_t at = timeline->threads[i].series; at != PF_TIMELINE_NONE; at = timeline->series[at].next) {
            chrome->further[at] = found && is_in_time(timeline->series[at].event);
            found |= is_in_time(timeline->series[at].event);
        }
    }
}

static struct where where_of_series(const struct chrome *chrome, uint32_t index)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[index];
    if (!chrome->further[index])
        return where_of_thread(chrome, series->thread);
    return (struct where){(int64_t)(EVENTS_PID + series->event->index), (int64_t)series->thread + 1};
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* How long before its time a sample's span begins, where there is no sample before. */
static uint64_t interval_of(const struct pf_timeline_series *series, size_t row)
{
    const uint64_t stated = pf_timeline_interval(series->event);
    if (pf_timeline_is_clock(series->event))
        return pf_max(series->rows[row].weight, (uint64_t)1);
    if (stated)
        return stated;
    const uint64_t span = series->rows[series->count - 1].time - series->rows[0].time;
    return series->count > 1 && span / (series->count - 1) ? span / (series->count - 1) : ns_per_us;
}

/* How many frames from the root two stacks have in common. */
static uint32_t common_of(const struct chrome *chrome, uint32_t a, uint32_t b)
{
    const struct pf_tree_node *nodes = chrome->timeline.tree.nodes;
    while (a != b) {
        const bool deeper = chrome->depths[a] >= chrome->depths[b];
        if (deeper && chrome->depths[a] == chrome->depths[b])
            b = nodes[b].parent;
        *(deeper ? &a : &b) = nodes[deeper ? a : b].parent;
    }
    return chrome->depths[a];
}

/* The last time before `time` that the thread came or went; `at` goes up with the times. 0 means none. */
static uint64_t change_before(const struct pf_timeline_thread *thread, size_t *at, uint64_t time)
{
    while (*at < thread->switch_count && thread->switches[*at].time < time)
        ++*at;
    return *at ? thread->switches[*at - 1].time : 0;
}

/*
 * Samples that are less than two intervals apart are joined, since timers are late. A slice does not start before a
 * switch.
 */
static void make_slice(const struct chrome *chrome, const struct pf_timeline_series *series, struct slice *slices,
                       size_t row, uint64_t change)
{
    const uint64_t time = series->rows[row].time, interval = interval_of(series, row);
    const uint64_t before = row ? series->rows[row - 1].time : 0;
    const bool elsewhere = row && series->rows[row - 1].cpu != series->rows[row].cpu &&
                           !chrome->timeline.threads[series->thread].tid; /* the idle threads have one id */
    const bool is_exact = pf_event_is_calls(series->event);
    const bool near = row && (is_exact ? before == time - series->rows[row].weight
                                       : (time - before) / 2 < interval && change < before && !elsewhere);
    const uint64_t start = pf_max(before, pf_max(change, time - pf_min(time, interval)));
    slices[row].start = near ? before : start;
    slices[row].common = near ? common_of(chrome, series->rows[row - 1].node, series->rows[row].node) : 0;
}

static bool make_slices(struct chrome *chrome, uint32_t index)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[index];
    const struct pf_timeline_thread *thread = &chrome->timeline.threads[series->thread];
    struct slice *slices = pf_new(chrome->timeline.allocator, series->count * sizeof(*slices));
    chrome->slices[index] = slices;
    if (!slices)
        return false;
    const bool is_exact = pf_event_is_calls(series->event);
    for (size_t row = 0; is_exact && row < series->count; row++) /* a slice ends at the time of its row */
        series->rows[row].time += series->rows[row].weight;
    for (size_t row = 0, at = 0; row < series->count; row++)
        make_slice(chrome, series, slices, row, is_exact ? 0 : change_before(thread, &at, series->rows[row].time));
    chrome->has_calls |= is_exact;
    chrome->timeline.start = pf_min(chrome->timeline.start, slices[0].start);
    return true;
}

/*
 * How many frames are open where a sample's span begins. Samples of no length, of the same moment as the one before,
 * open none: what they have in common with those that follow begins there.
 */
static uint32_t open_at(const struct chrome *chrome, uint32_t index, size_t row)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[index];
    const struct slice *slices = chrome->slices[index];
    uint32_t open = slices[row].common;
    for (; row && open && slices[row - 1].start == series->rows[row - 1].time; row--)
        open = slices[row - 1].common < open ? slices[row - 1].common : open;
    return open;
}

/* The next sample of some length; the number of rows where there is none. */
static size_t next_long(const struct chrome *chrome, uint32_t index, size_t row)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[index];
    while (row < series->count && chrome->slices[index][row].start == series->rows[row].time)
        row++;
    return row;
}

/* How many frames are open where the sample's span ends, and go on. */
static uint32_t kept_after(const struct chrome *chrome, uint32_t index, size_t row)
{
    const size_t next = next_long(chrome, index, row + 1);
    return next < chrome->timeline.series[index].count ? open_at(chrome, index, next) : 0;
}

/* The next sample at which frames begin or end. */
static bool next_slice(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[source->index];
    for (;; source->at += source->open, source->open = !source->open) {
        source->at = source->open ? source->at : next_long(chrome, source->index, source->at);
        if (source->at == series->count)
            return false;
        const uint32_t others =
            source->open ? kept_after(chrome, source->index, source->at) : open_at(chrome, source->index, source->at);
        if (others == chrome->depths[series->rows[source->at].node])
            continue;
        *time = source->open ? series->rows[source->at].time : chrome->slices[source->index][source->at].start;
        source->order = source->open ? STACK_ENDS : STACK_BEGINS;
        return true;
    }
}

/* The nodes of the sample's stack. */
static bool find_path(struct chrome *chrome, const struct source *source)
{
    uint32_t node = chrome->timeline.series[source->index].rows[source->at].node;
    if (!pf_grow(chrome->timeline.allocator, &chrome->path, &chrome->path_capacity, (size_t)chrome->depths[node] + 1,
                 sizeof(*chrome->path)))
        return false;
    for (; node; node = chrome->timeline.tree.nodes[node].parent)
        chrome->path[chrome->depths[node]] = node;
    return true;
}

static void put_frame(struct chrome *chrome, const struct source *source, uint32_t depth)
{
    const struct pf_timeline_row *row = &chrome->timeline.series[source->index].rows[source->at];
    put_edge(chrome, !source->open, where_of_series(chrome, source->index), "stack",
             source->open ? row->time : chrome->slices[source->index][source->at].start);
    put(chrome, ",\"name\":");
    put_function(chrome, chrome->path[depth]);
    put(chrome, "}");
}

static void put_frames(struct chrome *chrome, struct source *source)
{
    const uint32_t deepest = chrome->depths[chrome->timeline.series[source->index].rows[source->at].node];
    const uint32_t others =
        source->open ? kept_after(chrome, source->index, source->at) : open_at(chrome, source->index, source->at);
    chrome->failed |= !find_path(chrome, source);
    for (uint32_t i = others; i < deepest && !chrome->failed; i++)
        put_frame(chrome, source, source->open ? deepest - (i - others) : i + 1);
    source->at += source->open;
    source->open = !source->open;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* Up to the next change; the last one goes on as long as anything is known of the thread. */
static uint64_t end_of_state(const struct pf_timeline_thread *thread, size_t at)
{
    return at + 1 < thread->switch_count ? thread->switches[at + 1].time
                                         : pf_max(thread->last, thread->switches[at].time);
}

static bool next_state(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    const struct pf_timeline_thread *thread = &chrome->timeline.threads[source->index];
    while (source->at < thread->switch_count && end_of_state(thread, source->at) == thread->switches[source->at].time)
        source->at++;
    if (source->at == thread->switch_count)
        return false;
    *time = source->open ? end_of_state(thread, source->at) : thread->switches[source->at].time;
    source->order = source->open ? STATE_ENDS : STATE_BEGINS;
    return true;
}

static void put_state(struct chrome *chrome, struct source *source)
{
    const struct pf_timeline_thread *thread = &chrome->timeline.threads[source->index];
    const struct pf_timeline_switch *change = &thread->switches[source->at];
    put_edge(chrome, !source->open, where_of_thread(chrome, source->index), "state",
             source->open ? end_of_state(thread, source->at) : change->time);
    const char *state = pf_timeline_state(change);
    put_name(chrome, state ? state : "off CPU");
    put(chrome, "}");
    source->at += source->open;
    source->open = !source->open;
}

/* ---- marks ------------------------------------------------------------------------------------------------------- */

static bool next_mark(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    const struct pf_timeline_marks *marks = &chrome->timeline.threads[source->index].marks;
    if (source->at == marks->count)
        return false;
    *time = marks->items[source->at].time;
    return true;
}

static void put_field(void *context, const struct perfile_tracepoint_field *field, const struct perfile_bytes *bytes)
{
    struct chrome *chrome = context;
    put(chrome, chrome->comma ? "," : "");
    put_text(chrome, field->name);
    put(chrome, ":");
    pf_timeline_put_value(&chrome->timeline, field, bytes, &chrome->scratch, chrome->out);
    chrome->comma = true;
}

static void put_mark(struct chrome *chrome, struct source *source)
{
    static const char *const names[PF_TIMELINE_KINDS] = {
        [PF_TIMELINE_FORK] = "fork", [PF_TIMELINE_EXEC] = "exec", [PF_TIMELINE_EXIT] = "exit"};
    const struct pf_timeline_mark *mark = &chrome->timeline.threads[source->index].marks.items[source->at++];
    begin_event(chrome, 'i', where_of_thread(chrome, source->index), mark->event ? "tracepoint" : "task");
    put_time(chrome, mark->time);
    put(chrome, ",\"s\":\"t\"");
    put_name(chrome, mark->event ? mark->event->name : names[mark->kind]);
    put(chrome, ",\"args\":{");
    chrome->comma = false;
    if (mark->kind == PF_TIMELINE_TRACE)
        pf_timeline_fields(&chrome->timeline, mark, put_field, chrome);
    if (mark->kind == PF_TIMELINE_FORK)
        pf_put_format(chrome->out, "\"thread\":%d", (int)(int32_t)mark->number);
    if (mark->kind == PF_TIMELINE_EXEC) {
        put(chrome, "\"name\":");
        put_text(chrome, mark->text);
    }
    put(chrome, "}}");
    chrome->comma = true;
}

/* ---- samples that are moments, and values that come with samples ------------------------------------------------- */

static bool next_row(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[source->index];
    if (source->at == series->count)
        return false;
    *time = series->rows[source->at].time;
    return true;
}

static void put_moment(struct chrome *chrome, struct source *source)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[source->index];
    const struct pf_timeline_row *row = &series->rows[source->at++];
    begin_event(chrome, 'i', where_of_thread(chrome, series->thread), "sample");
    put_time(chrome, row->time);
    put(chrome, ",\"s\":\"t\"");
    put_name(chrome, series->event->name);
    put(chrome, ",\"args\":{\"function\":");
    put_function(chrome, row->node);
    put(chrome, ",\"period\":");
    pf_put_unsigned(chrome->out, row->weight);
    put(chrome, "}}");
}

/* What a counter has counted up to the sample. */
static void put_value(struct chrome *chrome, struct source *source)
{
    const struct pf_timeline_series *series = &chrome->timeline.series[source->index];
    const struct pf_timeline_row *row = &series->rows[source->at++];
    const struct pf_timeline_thread *thread = &chrome->timeline.threads[series->thread];
    struct pf_text *scratch = &chrome->scratch;
    source->sum += row->weight;
    begin_event(chrome, 'C', where_of_thread(chrome, series->thread), "counter");
    put_time(chrome, row->time);
    scratch->used = 0;
    pf_put_string(scratch, series->event->name);
    pf_put_format(scratch, " of thread %d", (int)thread->tid);
    put(chrome, ",\"name\":");
    pf_put_json_string(chrome->out, scratch->data, scratch->used);
    pf_put_format(chrome->out, ",\"args\":{\"count\":%" PRIu64 "}}", source->sum);
}

/* ---- processors -------------------------------------------------------------------------------------------------- */

static bool add_run(struct chrome *chrome, uint32_t index, size_t at)
{
    const struct pf_timeline_thread *thread = &chrome->timeline.threads[index];
    const struct run run = {thread->switches[at].time, end_of_state(thread, at), index, thread->switches[at].cpu};
    if (!thread->switches[at].in || run.cpu < 0)
        return true;
    return PF_APPEND(chrome->timeline.allocator, chrome->runs, chrome->run_count, chrome->run_capacity, run);
}

static int compare_runs(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return PF_COMPARE(x->cpu, y->cpu) ?: PF_COMPARE(x->time, y->time) ?: PF_COMPARE(x->thread, y->thread);
}

static bool is_first_run(const struct chrome *chrome, size_t run)
{
    return !run || chrome->runs[run - 1].cpu != chrome->runs[run].cpu;
}

/* By processor, one thread at a time: where its end was lost, the next one ends it. */
static bool make_runs(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    for (uint32_t i = 0; i < timeline->thread_count; i++)
        for (size_t at = 0; at < timeline->threads[i].switch_count; at++)
            if (!add_run(chrome, i, at))
                return false;
    if (chrome->run_count)
        qsort(chrome->runs, chrome->run_count, sizeof(*chrome->runs), compare_runs);
    for (size_t i = 1; i < chrome->run_count; i++)
        if (!is_first_run(chrome, i))
            chrome->runs[i - 1].end = pf_min(chrome->runs[i - 1].end, chrome->runs[i].time);
    return true;
}

static bool next_run(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    const struct run *runs = chrome->runs;
    size_t at = pf_max(source->at, (size_t)source->index);
    while (at < chrome->run_count && runs[at].cpu == runs[source->index].cpu && runs[at].end == runs[at].time)
        at++;
    source->at = at;
    if (at == chrome->run_count || runs[at].cpu != runs[source->index].cpu)
        return false;
    *time = source->open ? runs[at].end : runs[at].time;
    source->order = source->open ? STATE_ENDS : STATE_BEGINS;
    return true;
}

static void put_run(struct chrome *chrome, struct source *source)
{
    const struct run *run = &chrome->runs[source->at];
    const struct pf_timeline_thread *thread = &chrome->timeline.threads[run->thread];
    struct pf_text *scratch = &chrome->scratch;
    put_edge(chrome, !source->open, (struct where){(int64_t)CPUS_PID, run->cpu}, "cpu",
             source->open ? run->end : run->time);
    scratch->used = 0;
    pf_put_string(scratch, thread->comm ? thread->comm : "unknown");
    pf_put_format(scratch, " (%d)", (int)thread->tid);
    put(chrome, ",\"name\":");
    pf_put_json_string(chrome->out, scratch->data, scratch->used);
    put(chrome, "}");
    source->at += source->open;
    source->open = !source->open;
}

/* ---- samples a second -------------------------------------------------------------------------------------------- */

static uint64_t quantum_of(const struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    return timeline->samples ? pf_max(quantum_ns, (timeline->last - timeline->first) / quanta + 1) : quantum_ns;
}

static bool count_row(struct chrome *chrome, struct pf_pairs *positions, const struct pf_timeline_row *row)
{
    const uint64_t quantum = quantum_of(chrome), piece = (row->time - chrome->timeline.first) / quantum;
    uint32_t position;
    if (row->cpu < 0)
        return true;
    if (pf_pairs_get(positions, piece, (uint32_t)row->cpu, &position)) {
        chrome->rates[position].value++;
        return true;
    }
    if (chrome->rate_count >= UINT32_MAX - 1 ||
        !pf_grow(chrome->timeline.allocator, &chrome->rates, &chrome->rate_capacity, chrome->rate_count + 1,
                 sizeof(*chrome->rates)) ||
        !pf_pairs_put(positions, piece, (uint32_t)row->cpu, (uint32_t)chrome->rate_count))
        return false;
    chrome->rates[chrome->rate_count++] =
        (struct rate){.time = chrome->timeline.first + piece * quantum, .value = 1, .cpu = row->cpu};
    return true;
}

/* Ends the rates: adds a rate of 0 for each piece of time without samples that follows one with samples. */
static bool end_rates(struct chrome *chrome, const struct pf_pairs *positions)
{
    const uint64_t quantum = quantum_of(chrome);
    const size_t count = chrome->rate_count;
    uint32_t position;
    for (size_t i = 0; i < count; i++) {
        const struct rate rate = chrome->rates[i];
        const uint64_t next = (rate.time - chrome->timeline.first) / quantum + 1;
        uint64_t end;
        chrome->rates[i].value = (uint64_t)((double)rate.value * 1e9 / (double)quantum + 0.5);
        if (pf_pairs_get(positions, next, (uint32_t)rate.cpu, &position) || !pf_add(rate.time, quantum, &end))
            continue;
        if (!PF_APPEND(chrome->timeline.allocator, chrome->rates, chrome->rate_count, chrome->rate_capacity,
                       (struct rate){.time = end, .cpu = rate.cpu}))
            return false;
    }
    return true;
}

static int compare_rates(const void *a, const void *b)
{
    const struct rate *x = a, *y = b;
    return PF_COMPARE(x->time, y->time) ?: PF_COMPARE(x->cpu, y->cpu);
}

static bool make_rates(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    struct pf_pairs positions;
    bool fine = true;
    pf_pairs_open(&positions, timeline->allocator);
    for (size_t i = 0; fine && i < timeline->series_count; i++)
        for (size_t row = 0; fine && row < timeline->series[i].count; row++)
            fine = count_row(chrome, &positions, &timeline->series[i].rows[row]);
    fine = fine && end_rates(chrome, &positions);
    pf_pairs_close(&positions);
    if (chrome->rate_count)
        qsort(chrome->rates, chrome->rate_count, sizeof(*chrome->rates), compare_rates);
    return fine;
}

static bool next_rate(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    if (source->at == chrome->rate_count)
        return false;
    *time = chrome->rates[source->at].time;
    return true;
}

static void begin_count(struct chrome *chrome, uint64_t time)
{
    begin_event(chrome, 'C', (struct where){(int64_t)CPUS_PID, 0}, "counter");
    put_time(chrome, time);
}

static void put_rate(struct chrome *chrome, struct source *source)
{
    const struct rate *rate = &chrome->rates[source->at++];
    begin_count(chrome, rate->time);
    pf_put_format(chrome->out, ",\"name\":\"samples a second on CPU %d\",\"args\":{\"samples\":%" PRIu64 "}}",
                  (int)rate->cpu, rate->value);
}

/* ---- losses, and the counts of perf stat ------------------------------------------------------------------------- */

static bool next_loss(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    if (source->at == chrome->timeline.losses.count)
        return false;
    *time = chrome->timeline.losses.items[source->at].time;
    return true;
}

static void put_loss(struct chrome *chrome, struct source *source)
{
    const struct pf_timeline_mark *mark = &chrome->timeline.losses.items[source->at++];
    if (mark->kind == PF_TIMELINE_LOST) {
        source->sum += mark->number;
        begin_count(chrome, mark->time);
        pf_put_format(chrome->out, ",\"name\":\"lost records\",\"args\":{\"records\":%" PRIu64 "}}", source->sum);
        return;
    }
    begin_event(chrome, 'i', (struct where){(int64_t)CPUS_PID, mark->cpu < 0 ? 0 : mark->cpu}, "loss");
    put_time(chrome, mark->time);
    pf_put_format(chrome->out, ",\"s\":\"t\",\"name\":\"%s\"}",
                  mark->kind == PF_TIMELINE_THROTTLE ? "throttled" : "unthrottled");
}

static bool next_count(const struct chrome *chrome, struct source *source, uint64_t *time)
{
    if (source->at == chrome->timeline.count_count)
        return false;
    *time = chrome->timeline.start + pf_min(chrome->timeline.counts[source->at].time, UINT64_MAX / 2 - 1);
    return true;
}

static void put_count(struct chrome *chrome, struct source *source)
{
    uint64_t time = 0;
    next_count(chrome, source, &time);
    const struct pf_timeline_count *count = &chrome->timeline.counts[source->at++];
    begin_count(chrome, time);
    put_name(chrome, count->event->name);
    pf_put_format(chrome->out, ",\"args\":{\"count\":%" PRIu64 "}}", count->value);
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static const struct {
    /* When the next event is, and its order; false at the end. */
    bool (*next)(const struct chrome *chrome, struct source *source, uint64_t *time);
    void (*put)(struct chrome *chrome, struct source *source);
} kinds[] = {[STATES] = {next_state, put_state}, [MARKS] = {next_mark, put_mark},  [SLICES] = {next_slice, put_frames},
             [MOMENTS] = {next_row, put_moment}, [VALUES] = {next_row, put_value}, [RUNS] = {next_run, put_run},
             [RATES] = {next_rate, put_rate},    [LOSSES] = {next_loss, put_loss}, [COUNTS] = {next_count, put_count}};

static bool add_source(struct chrome *chrome, uint8_t kind, uint32_t index)
{
    return PF_APPEND(chrome->timeline.allocator, chrome->sources, chrome->source_count, chrome->source_capacity,
                     (struct source){.kind = kind, .order = OTHER, .index = index});
}

static bool add_series(struct chrome *chrome, uint32_t index)
{
    const struct perfile_event *event = chrome->timeline.series[index].event;
    if (is_in_time(event) && !(make_slices(chrome, index) && add_source(chrome, SLICES, index)))
        return false;
    if (!is_in_time(event) && event->attr->type != PERFILE_TYPE_TRACEPOINT && !add_source(chrome, MOMENTS, index))
        return false;
    return !(event->attr->sample_type & PERFILE_SAMPLE_READ) || add_source(chrome, VALUES, index);
}

static bool add_sources(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    for (uint32_t i = 0; i < timeline->thread_count; i++)
        if (!add_source(chrome, STATES, i) || !add_source(chrome, MARKS, i))
            return false;
    for (uint32_t i = 0; i < timeline->series_count; i++)
        if (!add_series(chrome, i))
            return false;
    for (uint32_t i = 0; i < chrome->run_count; i++)
        if (is_first_run(chrome, i) && !add_source(chrome, RUNS, i))
            return false;
    return add_source(chrome, RATES, 0) && add_source(chrome, LOSSES, 0) && add_source(chrome, COUNTS, 0);
}

/* The next event of a source waits for its time. False: out of memory. */
static bool wait_for(struct chrome *chrome, size_t number)
{
    struct source *source = &chrome->sources[number];
    struct pf_heap_item item = {.value = number};
    if (!kinds[source->kind].next(chrome, source, &item.time))
        return true;
    item.number = (uint64_t)source->order << 56 | number;
    return pf_heap_put(&chrome->heap, &item);
}

static bool put_events(struct chrome *chrome)
{
    bool fine = true;
    for (size_t i = 0; fine && i < chrome->source_count; i++)
        fine = wait_for(chrome, i);
    for (const struct pf_heap_item *first; fine && (first = pf_heap_first(&chrome->heap)) && !chrome->out->failed;) {
        const size_t number = first->value;
        kinds[chrome->sources[number].kind].put(chrome, &chrome->sources[number]);
        pf_heap_take(&chrome->heap);
        fine = wait_for(chrome, number);
    }
    return fine;
}

/* ---- names of tracks --------------------------------------------------------------------------------------------- */

static void put_track_name(struct chrome *chrome, struct where where, const char *what, const char *name)
{
    begin_event(chrome, 'M', where, NULL);
    pf_put_format(chrome->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    put_text(chrome, name);
    put(chrome, "}}");
}

static bool is_shown(const struct pf_timeline_thread *thread)
{
    return thread->series != PF_TIMELINE_NONE || thread->marks.count || thread->switch_count;
}

/*
 * Returns "name [samples of cycles]" for the slices of an event, since these suggest more than samples show. With
 * several recordings the name of a process ends with "(PATH)".
 */
static const char *text_of(struct chrome *chrome, const char *name, const struct perfile_event *event,
                           const char *recording)
{
    struct pf_text *scratch = &chrome->scratch;
    scratch->used = 0;
    pf_put_string(scratch, name);
    if (event && !pf_event_is_calls(event)) {
        pf_put_string(scratch, " [samples of ");
        pf_put_string(scratch, event->name);
        pf_put_string(scratch, "]");
    }
    if (recording) {
        pf_put_string(scratch, " (");
        pf_put_string(scratch, recording);
        pf_put_string(scratch, ")");
    }
    pf_put_char(scratch, '\0');
    return scratch->failed ? "" : scratch->data;
}

static const struct perfile_event *sliced_event(const struct pf_timeline *timeline,
                                                const struct pf_timeline_thread *thread)
{
    for (uint32_t at = thread->series; at != PF_TIMELINE_NONE; at = timeline->series[at].next)
        if (is_in_time(timeline->series[at].event))
            return timeline->series[at].event;
    return NULL;
}

static const char *name_of(const struct pf_timeline_thread *thread)
{
    return thread->comm ? thread->comm : "unknown";
}

/* The process has the name of its main thread, else that of the first. */
static bool name_processes(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    struct pf_map seen;
    uint64_t known;
    bool fine = true;
    pf_map_open(&seen, timeline->allocator);
    for (uint32_t i = 0; fine && i < timeline->thread_count; i++) {
        const struct pf_timeline_thread *thread = &timeline->threads[i];
        if (!is_shown(thread) || pf_map_get(&seen, (uint32_t)thread->pid, &known))
            continue;
        const uint64_t main = (uint64_t)(uint32_t)thread->pid << 32 | (uint32_t)thread->pid;
        const bool has_main = pf_map_get(&timeline->positions, main, &known);
        fine = pf_map_put(&seen, (uint32_t)thread->pid, i);
        put_track_name(chrome, (struct where){thread->pid, thread->pid}, "process_name",
                       text_of(chrome, name_of(has_main ? &timeline->threads[known] : thread), NULL, chrome->name));
    }
    pf_map_close(&seen);
    return fine;
}

static void name_threads(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    for (uint32_t i = 0; i < timeline->thread_count; i++) {
        const struct pf_timeline_thread *thread = &timeline->threads[i];
        if (is_shown(thread))
            put_track_name(chrome, where_of_thread(chrome, i), "thread_name",
                           text_of(chrome, name_of(thread), sliced_event(timeline, thread), NULL));
    }
}

/* Tracks of further events. */
static void name_events(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    const struct perfile_event *last = NULL;
    for (uint32_t i = 0; i < timeline->series_count; i++) {
        const struct pf_timeline_series *series = &timeline->series[i];
        const struct pf_timeline_thread *thread = &timeline->threads[series->thread];
        const struct where where = where_of_series(chrome, i);
        if (where.pid < (int64_t)EVENTS_PID)
            continue;
        if (last != series->event)
            put_track_name(chrome, where, "process_name",
                           text_of(chrome, "further samples", series->event, chrome->name));
        put_track_name(chrome, where, "thread_name", text_of(chrome, name_of(thread), series->event, NULL));
        last = series->event;
    }
}

static void name_cpus(struct chrome *chrome)
{
    char name[32];
    put_track_name(chrome, (struct where){(int64_t)CPUS_PID, 0}, "process_name",
                   text_of(chrome, "CPUs", NULL, chrome->name));
    begin_event(chrome, 'M', (struct where){(int64_t)CPUS_PID, 0}, NULL);
    put(chrome, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":-1}}");
    for (size_t i = 0; i < chrome->run_count; i++) {
        if (!is_first_run(chrome, i))
            continue;
        snprintf(name, sizeof(name), "CPU %d", (int)chrome->runs[i].cpu);
        put_track_name(chrome, (struct where){(int64_t)CPUS_PID, chrome->runs[i].cpu}, "thread_name", name);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void put_fact(struct chrome *chrome, const char *name, const char *text)
{
    if (!text)
        return;
    pf_put_format(chrome->out, ",\"%s\":", name);
    put_text(chrome, text);
}

/* Of one recording. */
static void put_facts(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    pf_put_format(chrome->out, "\"start_ns\":\"%" PRIu64 "\"", timeline->start);
    put_fact(chrome, "recording", chrome->name);
    put_fact(chrome, "hostname", pf_timeline_text(timeline, PERFILE_FEATURE_HOSTNAME));
    put_fact(chrome, "os_release", pf_timeline_text(timeline, PERFILE_FEATURE_OSRELEASE));
    put_fact(chrome, "cpu", pf_timeline_text(timeline, PERFILE_FEATURE_CPUDESC));
}

/* All recordings: each has processes of its own. */
struct document {
    struct chrome *parts;
    size_t count;
};

static void put_head(const struct document *document)
{
    struct chrome *first = document->parts;
    pf_put_format(first->out,
                  "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"perfile %s\","
                  "\"slices\":\"%s\",",
                  perfile_version(),
                  first->has_calls ? "calls of a hardware trace"
                                   : "stacks are known at samples: slices reach back to the sample before");
    if (document->count == 1)
        put_facts(first);
    put(first, document->count > 1 ? "\"recordings\":[" : "");
    for (size_t i = 0; document->count > 1 && i < document->count; i++) {
        put(first, i ? ",{" : "{");
        put_facts(&document->parts[i]);
        put(first, "}");
    }
    put(first, document->count > 1 ? "]},\"traceEvents\":[" : "},\"traceEvents\":[");
}

static bool make_depths(struct chrome *chrome)
{
    const struct pf_tree *tree = &chrome->timeline.tree;
    chrome->depths = pf_new(chrome->timeline.allocator, tree->count * sizeof(*chrome->depths));
    for (size_t i = 1; chrome->depths && i < tree->count; i++)
        chrome->depths[i] = chrome->depths[tree->nodes[i].parent] + 1;
    return chrome->depths;
}

static bool make_part(void *part)
{
    struct chrome *chrome = part;
    const struct pf_timeline *timeline = &chrome->timeline;
    pf_heap_open(&chrome->heap, timeline->allocator);
    chrome->slices_capacity = timeline->series_count;
    chrome->slices = pf_new(timeline->allocator, (chrome->slices_capacity + 1) * sizeof(*chrome->slices));
    chrome->further = pf_new(timeline->allocator, chrome->slices_capacity + 1);
    if (chrome->further)
        find_further(chrome);
    return chrome->slices && chrome->further && pf_text_open(&chrome->scratch, timeline->allocator, NULL, NULL) == 0 &&
           make_depths(chrome) && make_runs(chrome) && make_rates(chrome) && add_sources(chrome);
}

static bool put_part(struct chrome *chrome)
{
    const struct pf_timeline *timeline = &chrome->timeline;
    chrome->origin = timeline->start - timeline->offset;
    if (!name_processes(chrome))
        return false;
    name_threads(chrome);
    name_events(chrome);
    name_cpus(chrome);
    return put_events(chrome) && !chrome->failed && !chrome->scratch.failed;
}

static bool put_parts(void *parts, size_t count, uint64_t wall, const struct perfile_output_options *options)
{
    const struct document document = {parts, count};
    bool fine = true;
    (void)wall;
    for (size_t i = 0; i < count; i++) /* nothing in it has a time */
        if (document.parts[i].timeline.first == UINT64_MAX)
            document.parts[i].timeline.start = 0;
    put_head(&document);
    for (size_t i = 0; fine && i < count; i++) {
        document.parts[i].comma = i;
        fine = put_part(&document.parts[i]);
    }
    put(document.parts, "\n]}\n");
    if (fine)
        pf_export_notify(options, "chrome cannot hold weights, lines and build ids%s",
                         document.parts->has_calls ? ""
                                                   : "; when functions began and ended is guessed from the samples");
    return fine;
}

static void begin_part(void *part, struct pf_text *out, unsigned number, const char *name)
{
    struct chrome *chrome = part;
    chrome->out = out;
    chrome->number = number;
    chrome->name = name;
}

static void close_part(void *part)
{
    struct chrome *chrome = part;
    const struct pf_timeline *timeline = &chrome->timeline;
    const struct perfile_allocator *allocator = timeline->allocator;
    for (size_t i = 0; chrome->slices && i < chrome->slices_capacity; i++)
        pf_free(allocator, chrome->slices[i], timeline->series[i].count * sizeof(**chrome->slices));
    pf_free(allocator, chrome->slices, (chrome->slices_capacity + 1) * sizeof(*chrome->slices));
    pf_free(allocator, chrome->further, chrome->slices_capacity + 1);
    pf_free(allocator, chrome->path, chrome->path_capacity * sizeof(*chrome->path));
    pf_free(allocator, chrome->depths, timeline->tree.count * sizeof(*chrome->depths));
    pf_free(allocator, chrome->runs, chrome->run_capacity * sizeof(*chrome->runs));
    pf_free(allocator, chrome->rates, chrome->rate_capacity * sizeof(*chrome->rates));
    pf_free(allocator, chrome->sources, chrome->source_capacity * sizeof(*chrome->sources));
    pf_heap_close(&chrome->heap);
    if (chrome->scratch.allocator)
        pf_text_close(&chrome->scratch);
    pf_timeline_close(&chrome->timeline);
}

static int write_chrome(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    static const struct pf_timelines_format format = {
        .part_bytes = sizeof(struct chrome),
        .begin = begin_part,
        .make = make_part,
        .put = put_parts,
        .close = close_part,
    };
    if (options->more_count >= MAX_RECORDINGS)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "chrome",
                       "at most %d recordings can be shown together", MAX_RECORDINGS);
    return pf_timelines_write(&format, reader, options, out, error);
}

const struct pf_output pf_output_export_chrome = {
    .info = {"export", "chrome", "trace events, a timeline: Perfetto, chrome://tracing, speedscope"},
    .write = write_chrome,
    .merges = true,
    .reports_omissions = true,
};
