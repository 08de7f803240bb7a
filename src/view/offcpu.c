/* SPDX-License-Identifier: MIT */
/* Times off CPU, added up by thread, state and stack; and how long tasks were blocked, by the thread that woke them. */
#include <stdlib.h>

#include "analysis/events/offcpu.h"
#include "analysis/profile.h"
#include "analysis/stats.h"
#include "base/error.h"
#include "view/ids.h"
#include "view/sched.h"

struct off_key {
    int32_t pid, tid;
    const char *comm;
    int32_t other_tid;      /* wakers: the thread that it woke */
    const char *other_comm; /* its name; offcpu: NULL */
    char state;
    bool preempted;
    const uint32_t *frames; /* leaf first */
    size_t frame_count;
};

struct off_row {
    struct off_key of;
    struct pf_sched_sum sum;
    uint64_t delay, delays_known;
};

struct offcpu {
    struct perfile_table *table;
    bool of_wakers;
    struct perfile_filter filter;
    struct pf_profile *profile;
    struct pf_arena arena;
    struct pf_map locations; /* hash to row */
    uint8_t *kinds;          /* of frames: enum kind */
    size_t kind_capacity;
    struct off_row *rows;
    size_t count, capacity;
    const struct off_row *row; /* in hand */
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum kind { UNKNOWN, OF_SCHEDULER, OF_OTHERS };

static enum kind kind_of(const struct pf_frame_info *frame)
{
    static const char *const names[] = {"__schedule",
                                        "schedule",
                                        "preempt_schedule_common",
                                        "preempt_schedule",
                                        "preempt_schedule_irq",
                                        "preempt_schedule_notrace",
                                        "__cond_resched",
                                        "__traceiter_sched_switch",
                                        "schedule_idle"};
    for (size_t i = 0; frame->name && i < PF_COUNT(names); i++)
        if (strcmp(frame->name, names[i]) == 0)
            return OF_SCHEDULER;
    return OF_OTHERS;
}

/* What all stacks of switches begin with. */
static bool is_of_scheduler(struct offcpu *offcpu, uint32_t number)
{
    const struct pf_frame_info *frame = pf_profile_frame(offcpu->profile, number);
    uint8_t *kind = PF_ELEMENT(offcpu->table->allocator, offcpu->kinds, offcpu->kind_capacity, number);
    if (!kind)
        return kind_of(frame) == OF_SCHEDULER;
    if (*kind == UNKNOWN)
        *kind = (uint8_t)kind_of(frame);
    return *kind == OF_SCHEDULER;
}

static struct off_key key_of(struct offcpu *offcpu, const struct pf_profile_sample *sample)
{
    struct off_key key = {.pid = sample->pid,
                          .tid = sample->tid,
                          .comm = sample->comm,
                          .frames = sample->frames,
                          .frame_count = sample->frame_count};
    if (offcpu->of_wakers) {
        key.other_tid = sample->off->task->tid;
        key.other_comm = sample->off->task->comm ? sample->off->task->comm : sample->off->task->name;
        return key;
    }
    key.state = sample->off->state;
    key.preempted = sample->off->preempted;
    while (key.frame_count > 1 && is_of_scheduler(offcpu, *key.frames)) {
        key.frames++;
        key.frame_count--;
    }
    return key;
}

static uint64_t hash_of(const struct off_key *key)
{
    uint64_t hash = pf_stack_id((uint64_t)(uint32_t)key->pid << 32 | (uint32_t)key->tid, (uintptr_t)key->comm);
    hash = pf_stack_id(hash, (uint64_t)(uint32_t)key->other_tid << 16 | (uint64_t)(unsigned char)key->state << 1 |
                                 key->preempted);
    for (size_t i = 0; i < key->frame_count; i++)
        hash = pf_stack_id(hash, key->frames[i]);
    return hash;
}

static bool is_same(const struct off_key *a, const struct off_key *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm && a->other_tid == b->other_tid &&
           a->state == b->state && a->preempted == b->preempted && a->frame_count == b->frame_count &&
           (!a->frame_count || memcmp(a->frames, b->frames, a->frame_count * sizeof(*a->frames)) == 0);
}

/* NULL when out of memory. */
static struct off_row *add_row(struct offcpu *offcpu, const struct off_key *key, uint64_t hash)
{
    const size_t bytes = key->frame_count * sizeof(*key->frames);
    uint32_t *frames = pf_arena_new(&offcpu->arena, bytes + 1);
    if (!frames ||
        !pf_grow(offcpu->table->allocator, &offcpu->rows, &offcpu->capacity, offcpu->count + 1,
                 sizeof(*offcpu->rows)) ||
        !pf_map_put(&offcpu->locations, hash, offcpu->count))
        return NULL;
    memcpy(frames, key->frames, bytes);
    offcpu->rows[offcpu->count] = (struct off_row){.of = *key};
    offcpu->rows[offcpu->count].of.frames = frames;
    return &offcpu->rows[offcpu->count++];
}

/* A hash that two rows share leads to the later one: both are shown then, and what comes goes to the later one. */
static bool add_sample(struct offcpu *offcpu, const struct pf_profile_sample *sample)
{
    const struct off_key wanted = key_of(offcpu, sample);
    const uint64_t hash = hash_of(&wanted);
    uint64_t location;
    struct off_row *row = NULL;
    if (pf_map_get(&offcpu->locations, hash, &location) && is_same(&offcpu->rows[location].of, &wanted))
        row = &offcpu->rows[location];
    if (!row)
        row = add_row(offcpu, &wanted, hash);
    if (!row)
        return false;
    pf_stats_add(&row->sum.stats, sample->period);
    pf_histogram_add(&row->sum.histogram, sample->period);
    row->delay += sample->off->delay;
    row->delays_known += sample->off->delay_known;
    return true;
}

/* The longest first. */
static int compare(const void *left, const void *right)
{
    const struct off_row *a = left, *b = right;
    if (a->sum.stats.sum != b->sum.stats.sum)
        return a->sum.stats.sum > b->sum.stats.sum ? -1 : 1;
    if (a->sum.stats.count != b->sum.stats.count)
        return a->sum.stats.count > b->sum.stats.count ? -1 : 1;
    return a->of.tid != b->of.tid ? (a->of.tid > b->of.tid) - (a->of.tid < b->of.tid) : a->of.state - b->of.state;
}

static void read_all(struct offcpu *offcpu)
{
    const struct pf_profile_sample *sample;
    struct pf_all_rows *all = &offcpu->table->all;
    all->read = true;
    while ((all->result = pf_profile_next(offcpu->profile, &sample, &all->error)) > 0)
        if (sample->off && !add_sample(offcpu, sample)) {
            all->result = pf_fail_memory(&all->error, "times off CPU");
            return;
        }
    if (offcpu->count)
        qsort(offcpu->rows, offcpu->count, sizeof(*offcpu->rows), compare);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct offcpu *offcpu = state;
    if (!offcpu->table->all.read)
        read_all(offcpu);
    const int result = pf_table_row(offcpu->table, offcpu->count, error);
    if (result > 0)
        offcpu->row = &offcpu->rows[offcpu->table->all.row];
    return result;
}

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define ROW const struct off_row *row = ((const struct offcpu *)state)->row
#define PUT_AS(name, set, ...) PF_PUT_AS(name, ROW, set, __VA_ARGS__)

static void set_known(struct pf_vector *vector, int32_t number)
{
    if (number < 0)
        pf_set_null(vector);
    else
        pf_set_i32(vector, number);
}

static void set_delay(struct pf_vector *vector, const struct off_row *row)
{
    if (row->delays_known)
        pf_set_u64(vector, row->delay);
    else
        pf_set_null(vector);
}

static void set_kind(struct pf_vector *vector, const struct off_row *row)
{
    pf_set_text(vector, row->of.preempted ? "preempted" : "blocked");
}

PUT_AS(comm, pf_set_text, row->of.comm)
PUT_AS(pid, set_known, row->of.pid)
PUT_AS(tid, set_known, row->of.tid)
PUT_AS(woken_comm, pf_set_text, row->of.other_comm)
PUT_AS(woken_tid, set_known, row->of.other_tid)
PUT_AS(kind, set_kind, row)
PUT_AS(state, pf_set_letter, row->of.state)
PUT_AS(count, pf_set_u64, row->sum.stats.count)
PUT_AS(total_ns, pf_set_u64, row->sum.stats.sum)
PUT_AS(avg_ns, pf_set_u64, pf_stats_average(&row->sum.stats))
PUT_AS(min_ns, pf_set_u64, row->sum.stats.min)
PUT_AS(max_ns, pf_set_u64, row->sum.stats.max)
PUT_AS(p50_ns, pf_set_percentile, &row->sum, 50)
PUT_AS(p99_ns, pf_set_percentile, &row->sum, 99)
PUT_AS(delay_ns, set_delay, row)
PUT_AS(histogram, pf_set_buckets, &row->sum.histogram)

PF_PUT(stack)
{
    const struct offcpu *offcpu = state;
    for (size_t i = 0; i < offcpu->row->of.frame_count; i++)
        pf_add_code(vector, pf_frame_code(offcpu->profile, offcpu->row->of.frames[i], vector));
    pf_end_list(vector);
}

#define SUMS(what)                                                                                                     \
    PF_REQUIRED(count, U64, "", "How many " what " there are."), PF_REQUIRED(total_ns, DURATION, "ns", "Their sum."),  \
        PF_REQUIRED_EXTRA(avg_ns, DURATION, "ns", "Their average."),                                                   \
        PF_REQUIRED_EXTRA(min_ns, DURATION, "ns", "The shortest of them."),                                            \
        PF_REQUIRED_EXTRA(p50_ns, DURATION, "ns",                                                                      \
                          "Half of them are no longer than this (estimated from the histogram)."),                     \
        PF_REQUIRED_EXTRA(p99_ns, DURATION, "ns", "99 % are no longer than this (estimated from the histogram)."),     \
        PF_REQUIRED(max_ns, DURATION, "ns", "The longest of them."),                                                   \
        PF_REQUIRED_EXTRA(histogram, ADDRESSES, "", "Histogram: how many took at least 2^0, 2^1, ... ns.")

static const struct pf_column off_columns[] = {
    PF_COLUMN(comm, TEXT, "", "Name of the thread."),
    PF_COLUMN(pid, I32, "", "Process; null: not known."),
    PF_COLUMN(tid, I32, "", "Thread."),
    PF_REQUIRED(kind, TEXT, "", "blocked: it could not run; preempted: it could have run on."),
    PF_COLUMN(
        state, TEXT, "",
        "The state in which it left: S sleeps, D is not interruptible (a device, a lock of the kernel ...), R could "
        "run on; null: not recorded."),
    SUMS("times off CPU"),
    PF_COLUMN(delay_ns, DURATION, "ns",
              "The part of the sum in which it could have run but had no CPU; null: not known."),
    PF_REQUIRED(stack, TEXTS, "",
                "With which it left the CPU, innermost first, without the scheduler's own functions."),
};

static const struct pf_column waker_columns[] = {
    PF_COLUMN(comm, TEXT, "", "Name of the thread that woke others; swapper is an interrupt of an idle CPU."),
    PF_COLUMN(pid, I32, "", "Its process; null: not known."),
    PF_COLUMN(tid, I32, "", "Its thread id."),
    PF_COLUMN(woken_comm, TEXT, "", "Name of the thread that it woke."),
    PF_COLUMN(woken_tid, I32, "", "Thread id of that."),
    SUMS("times that it was blocked until then"),
    PF_REQUIRED(stack, TEXTS, "",
                "Of the waker, innermost first; of an interrupt it is that of the interrupted thread."),
};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int open_profile(struct offcpu *offcpu, struct perfile_error *error)
{
    struct perfile_table *table = offcpu->table;
    struct pf_profile_options how = {
        .filter = &offcpu->filter,
        .find = pf_find_options_of(&table->complete.symbols, table->allocator),
        .unwind = table->complete.symbols.unwind,
        .decoded = true,
        .keeps_comms = true,
        .skips_offcpu_notes = true,
        .frames = {.inlines = !table->complete.symbols.no_inline},
        .drive = {table->options.threads, table->options.progress, table->options.progress_context}};
    const int result = pf_profile_open(table->reader, &how, &offcpu->profile, error);
    table->profile = offcpu->profile;
    return result;
}

static int open_view(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct offcpu *offcpu = state;
    offcpu->of_wakers = table->view->lists[0].items == waker_columns;
    offcpu->filter = *table->options.filter;
    offcpu->filter.off_cpu = offcpu->of_wakers ? "wakers" : offcpu->filter.off_cpu ? offcpu->filter.off_cpu : "all";
    pf_arena_open(&offcpu->arena, table->allocator);
    pf_map_open(&offcpu->locations, table->allocator);
    return open_profile(offcpu, error);
}

static void close_offcpu(void *state)
{
    struct offcpu *offcpu = state;
    const struct perfile_allocator *allocator = offcpu->table->allocator;
    pf_profile_close(offcpu->profile);
    pf_map_close(&offcpu->locations);
    pf_arena_close(&offcpu->arena);
    pf_free(allocator, offcpu->kinds, offcpu->kind_capacity);
    pf_free(allocator, offcpu->rows, offcpu->capacity * sizeof(*offcpu->rows));
}

static void report_notes(void *state, pf_on_note *notify, void *context)
{
    const struct offcpu *offcpu = state;
    pf_profile_report_missing(offcpu->profile, notify, context);
}

#define OFF_VIEW(id, text, columns)                                                                                    \
    const struct pf_view pf_view_##id = {                                                                              \
        .info = {#id, text},                                                                                           \
        .events = &pf_offcpu_events,                                                                                   \
        .lists = {PF_COLUMNS(columns)},                                                                                \
        .state_bytes = sizeof(struct offcpu),                                                                          \
        .open = open_view,                                                                                             \
        .next = next_row,                                                                                              \
        .close = close_offcpu,                                                                                         \
        .notes = report_notes,                                                                                         \
    }
OFF_VIEW(offcpu, "times off CPU by thread, state and stack: blocked, and waiting for a CPU", off_columns);
OFF_VIEW(wakers, "which thread woke which, with the stack of the waker, and how long these had been blocked",
         waker_columns);
