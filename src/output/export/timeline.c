/* SPDX-License-Identifier: MIT */
#include "output/export/timeline.h"

#include <inttypes.h>

#include "analysis/calls/calls.h"
#include "analysis/trace/trace_format.h"
#include "analysis/trace/trace_text.h"
#include "base/error.h"
#include "base/filter.h"
#include "base/sort.h"

enum { UNTIMED_STEP_NS = 1000000, EARLIER = 16 /* threads of one id are looked through */ };

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static uint64_t key_of(int32_t pid, int32_t tid)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

static struct pf_timeline_thread *find_thread(const struct pf_timeline *timeline, int32_t pid, int32_t tid)
{
    uint64_t position;
    return pf_map_get(&timeline->positions, key_of(pid, tid), &position) ? &timeline->threads[position] : NULL;
}

/* A new one, which has the ids from now on. NULL: out of memory. */
static struct pf_timeline_thread *add_thread(struct pf_timeline *timeline, int32_t pid, int32_t tid)
{
    const struct pf_timeline_thread *before = find_thread(timeline, pid, tid),
                                    *process = find_thread(timeline, pid, pid);
    struct pf_timeline_thread made = {.pid = pid,
                                      .tid = tid,
                                      .turn = before ? before->turn + 1 : 0,
                                      .pid_turn = process ? process->pid_turn : 0,
                                      .before = PF_TIMELINE_NONE,
                                      .first = UINT64_MAX,
                                      .series = PF_TIMELINE_NONE,
                                      .last_series = PF_TIMELINE_NONE};
    uint64_t last;
    if (pid == tid)
        made.pid_turn = made.turn;
    if (pf_map_get(&timeline->tids, (uint32_t)tid, &last))
        made.before = (uint32_t)last;
    const size_t position = timeline->thread_count;
    if (position >= PF_TIMELINE_NONE ||
        !pf_grow(timeline->allocator, &timeline->threads, &timeline->thread_capacity, position + 1, sizeof(made)) ||
        !pf_map_put(&timeline->positions, key_of(pid, tid), position) ||
        !pf_map_put(&timeline->tids, (uint32_t)tid, position))
        return NULL;
    timeline->threads[position] = made;
    timeline->thread_count++;
    return &timeline->threads[position];
}

/* Valid until the next call; NULL: out of memory. */
static struct pf_timeline_thread *thread_of(struct pf_timeline *timeline, int32_t pid, int32_t tid)
{
    struct pf_timeline_thread *known = find_thread(timeline, pid, tid);
    return known ? known : add_thread(timeline, pid, tid);
}

static void note_time(struct pf_timeline *timeline, struct pf_timeline_thread *thread, uint64_t time)
{
    timeline->first = pf_min(timeline->first, time);
    timeline->last = pf_max(timeline->last, time);
    if (thread) {
        thread->first = pf_min(thread->first, time);
        thread->last = pf_max(thread->last, time);
    }
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* The node of a stack; 0: out of memory. What it has in common with the one before is not looked up again. */
static uint32_t node_of(struct pf_timeline *timeline, const struct pf_profile_sample *sample)
{
    const size_t count = sample->frame_count;
    const uint32_t *top = sample->frames + count;
    size_t depth = 0;
    uint32_t node = 0;
    if (!pf_grow(timeline->allocator, &timeline->path, &timeline->path_capacity, count, sizeof(*timeline->path)))
        return 0;
    struct pf_timeline_step *path = timeline->path;
    for (; depth < pf_min(count, timeline->path_count) && path[depth].frame == *(top - 1 - depth); depth++)
        node = path[depth].node;
    for (; depth < count; depth++) {
        node = pf_tree_child(&timeline->tree, node, *(top - 1 - depth));
        if (!node)
            return 0;
        path[depth] = (struct pf_timeline_step){*(top - 1 - depth), node};
    }
    timeline->path_count = count;
    return node;
}

/* NULL: out of memory. */
static struct pf_timeline_series *series_of(struct pf_timeline *timeline, uint32_t thread,
                                            const struct perfile_event *event)
{
    uint32_t known;
    if (pf_pairs_get(&timeline->series_of, thread, (uintptr_t)event, &known))
        return &timeline->series[known];
    const uint32_t position = (uint32_t)timeline->series_count;
    bool *sampled = PF_ELEMENT(timeline->allocator, timeline->sampled, timeline->sampled_capacity, event->index);
    if (!sampled)
        return NULL;
    *sampled = true;
    if (position >= PF_TIMELINE_NONE - 1 ||
        !pf_grow(timeline->allocator, &timeline->series, &timeline->series_capacity, (size_t)position + 1,
                 sizeof(*timeline->series)) ||
        !pf_pairs_put(&timeline->series_of, thread, (uintptr_t)event, position))
        return NULL;
    struct pf_timeline_thread *of = &timeline->threads[thread];
    *(of->series == PF_TIMELINE_NONE ? &of->series : &timeline->series[of->last_series].next) = position;
    of->last_series = position;
    timeline->series[position] =
        (struct pf_timeline_series){.event = event, .thread = thread, .next = PF_TIMELINE_NONE};
    timeline->series_count++;
    return &timeline->series[position];
}

static bool add_mark(const struct pf_timeline *timeline, struct pf_timeline_marks *marks,
                     const struct pf_timeline_mark *mark)
{
    return PF_APPEND(timeline->allocator, marks->items, marks->count, marks->capacity, *mark);
}

/* The data of a tracepoint, for when all descriptions are known. */
static bool keep_data(struct pf_timeline *timeline, struct pf_timeline_thread *thread,
                      const struct pf_timeline_row *row, const struct pf_profile_sample *sample)
{
    const struct perfile_bytes *raw = &sample->decoded->raw;
    struct pf_timeline_mark mark = {.time = row->time,
                                    .kind = PF_TIMELINE_TRACE,
                                    .event = sample->event,
                                    .node = row->node,
                                    .cpu = row->cpu,
                                    .number = raw->bytes};
    void *copy = raw->bytes ? pf_arena_new(&timeline->arena, (size_t)raw->bytes) : NULL;
    if (raw->bytes && !copy)
        return false;
    if (copy)
        memcpy(copy, raw->data, (size_t)raw->bytes);
    mark.text = copy;
    return add_mark(timeline, &thread->marks, &mark);
}

static uint64_t time_of(struct pf_timeline *timeline, const struct pf_profile_sample *sample)
{
    if (sample->decoded->present & PERFILE_SAMPLE_TIME) {
        timeline->timed = true;
        return timeline->last_time = sample->time;
    }
    timeline->untimed = true;
    return timeline->last_time += timeline->timed ? 0 : UNTIMED_STEP_NS;
}

/*
 * Calls: each sample is the stack from its time on, for its period. Where the next one begins later, a row without a
 * stack is between them; there is capacity for one more row then.
 */
static bool end_stack(struct pf_timeline *timeline, struct pf_timeline_series *series, uint64_t next)
{
    const struct pf_timeline_row *last = series->count ? &series->rows[series->count - 1] : NULL;
    if (!last || last->time + last->weight >= next)
        return true;
    const struct pf_timeline_row none = {.time = last->time + last->weight, .cpu = -1};
    note_time(timeline, &timeline->threads[series->thread], none.time);
    return PF_APPEND(timeline->allocator, series->rows, series->count, series->capacity, none) &&
           pf_grow(timeline->allocator, &series->rows, &series->capacity, series->count + 1, sizeof(*series->rows));
}

/* False: out of memory. */
static bool add_sample(struct pf_timeline *timeline, const struct pf_profile_sample *sample)
{
    const struct pf_timeline_row row = {.time = time_of(timeline, sample),
                                        .weight = sample->period,
                                        .node = node_of(timeline, sample),
                                        .cpu = sample->has_cpu ? (int32_t)sample->cpu : -1};
    struct pf_timeline_thread *thread = thread_of(timeline, sample->pid, sample->tid);
    if (!row.node || !thread)
        return false;
    thread->comm = sample->comm;
    note_time(timeline, thread, row.time);
    if (sample->event->attr->type == PERFILE_TYPE_TRACEPOINT && !keep_data(timeline, thread, &row, sample))
        return false;
    struct pf_timeline_series *series = series_of(timeline, (uint32_t)(thread - timeline->threads), sample->event);
    if (!series ||
        !pf_grow(timeline->allocator, &series->rows, &series->capacity, series->count + 1, sizeof(*series->rows)))
        return false;
    if (pf_event_is_calls(series->event) && !end_stack(timeline, series, row.time))
        return false;
    series->rows[series->count++] = row;
    timeline->samples++;
    return true;
}

/* After the last stacks. */
static bool end_stacks(struct pf_timeline *timeline)
{
    bool fine = true;
    for (size_t i = 0; i < timeline->series_count && fine; i++)
        if (pf_event_is_calls(timeline->series[i].event))
            fine = end_stack(timeline, &timeline->series[i], UINT64_MAX);
    return fine;
}

/* ---- other records ----------------------------------------------------------------------------------------------- */

struct owner {
    int32_t pid, tid, cpu;
};

static struct owner owner_of(const struct pf_timeline *timeline, const struct perfile_record *record)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    struct owner owner = {PF_NO_NUMBER, PF_NO_NUMBER, PF_NO_NUMBER};
    if (perfile_sample_id_decode(timeline->reader, record, &id, NULL) < 0)
        return owner;
    if (id.present & PERFILE_SAMPLE_TID)
        owner = (struct owner){id.pid, id.tid, PF_NO_NUMBER};
    if (id.present & PERFILE_SAMPLE_CPU)
        owner.cpu = (int32_t)id.cpu;
    return owner;
}

static bool comm_passes(const struct pf_timeline *timeline, const struct owner *owner)
{
    const struct pf_filter *filter = timeline->filter;
    const struct pf_timeline_thread *thread = find_thread(timeline, owner->pid, owner->tid);
    if (!filter->has_comms || !thread || !thread->comm)
        return true;
    for (size_t i = 0; i < filter->comms.wanted.count; i++)
        if (strcmp(filter->comms.wanted.items[i], thread->comm) == 0)
            return true;
    return false;
}

/* What was filtered out of the samples is nowhere. A record without a time was there before the recording. */
static bool passes(const struct pf_timeline *timeline, const struct perfile_record *record, const struct owner *owner)
{
    const struct pf_filter *filter = timeline->filter;
    return record->time && pf_filter_time(filter, record->time) && pf_filter_cpu(filter, owner->cpu) &&
           pf_filter_number(filter->has_pids, &filter->pids, owner->pid) &&
           pf_filter_number(filter->has_tids, &filter->tids, owner->tid) && comm_passes(timeline, owner);
}

/* Adds a mark to the thread of its owner. Marks without ids belong to no thread. */
static bool mark_thread(struct pf_timeline *timeline, const struct owner *owner, const struct pf_timeline_mark *mark)
{
    struct pf_timeline_thread *thread = owner->pid == PF_NO_NUMBER ? NULL : thread_of(timeline, owner->pid, owner->tid);
    if (owner->pid == PF_NO_NUMBER)
        return true;
    if (!thread)
        return false;
    note_time(timeline, thread, mark->time);
    return add_mark(timeline, &thread->marks, mark);
}

static bool take_fork(struct pf_timeline *timeline, const struct perfile_record *record)
{
    struct perfile_fork fork;
    if (perfile_record_decode(timeline->reader, record, &fork, sizeof(fork), NULL) < 0)
        return true;
    struct pf_timeline_thread *child = find_thread(timeline, fork.pid, fork.tid);
    const bool is_new = !child || child->end || (record->time && child->first != UINT64_MAX);
    if (is_new && !(child = add_thread(timeline, fork.pid, fork.tid)))
        return false;
    const struct pf_timeline_thread *parent = find_thread(timeline, fork.ppid, fork.ptid);
    child->comm = parent && !child->comm ? parent->comm : child->comm;
    child->start = record->time ? fork.time : 0;
    const struct owner owner = {fork.ppid, fork.ptid, PF_NO_NUMBER};
    const struct pf_timeline_mark mark = {.time = record->time, .kind = PF_TIMELINE_FORK, .number = (uint32_t)fork.tid};
    return !passes(timeline, record, &owner) || mark_thread(timeline, &owner, &mark);
}

static bool take_exit(struct pf_timeline *timeline, const struct perfile_record *record)
{
    struct perfile_exit gone;
    if (perfile_record_decode(timeline->reader, record, &gone, sizeof(gone), NULL) < 0)
        return true;
    struct pf_timeline_thread *thread = find_thread(timeline, gone.pid, gone.tid);
    if (thread)
        thread->end = gone.time;
    const struct owner owner = {gone.pid, gone.tid, PF_NO_NUMBER};
    const struct pf_timeline_mark mark = {.time = record->time, .kind = PF_TIMELINE_EXIT};
    return !thread || !passes(timeline, record, &owner) || mark_thread(timeline, &owner, &mark);
}

static bool take_comm(struct pf_timeline *timeline, const struct perfile_record *record)
{
    struct perfile_comm comm;
    if (perfile_record_decode(timeline->reader, record, &comm, sizeof(comm), NULL) < 0)
        return true;
    struct pf_timeline_thread *thread = thread_of(timeline, comm.pid, comm.tid);
    const char *name = pf_map_text(&timeline->comms, &timeline->arena, comm.comm, strlen(comm.comm));
    if (!thread || !name)
        return false;
    thread->comm = name;
    const struct owner owner = {comm.pid, comm.tid, PF_NO_NUMBER};
    const struct pf_timeline_mark mark = {.time = record->time, .kind = PF_TIMELINE_EXEC, .text = name};
    return !(record->misc & PERFILE_MISC_COMM_EXEC) || !passes(timeline, record, &owner) ||
           mark_thread(timeline, &owner, &mark);
}

static bool add_switch(struct pf_timeline *timeline, struct pf_timeline_thread *thread,
                       const struct pf_timeline_switch *change)
{
    if (!thread || !pf_grow(timeline->allocator, &thread->switches, &thread->switch_capacity, thread->switch_count + 1,
                            sizeof(*thread->switches)))
        return false;
    note_time(timeline, thread, change->time);
    thread->switches[thread->switch_count++] = *change;
    timeline->has_switches = true;
    return true;
}

static bool take_switch(struct pf_timeline *timeline, const struct perfile_record *record)
{
    const struct owner owner = owner_of(timeline, record);
    const struct pf_timeline_switch change = {.time = record->time,
                                              .cpu = owner.cpu,
                                              .in = !(record->misc & PERFILE_MISC_SWITCH_OUT),
                                              .state = record->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT ? 'R' : 0};
    if (owner.pid == PF_NO_NUMBER || owner.tid == 0 ||
        !passes(timeline, record, &owner)) /* 0: idle, on any processor */
        return true;
    return add_switch(timeline, thread_of(timeline, owner.pid, owner.tid), &change);
}

/* What recorders write at the end without a time is in LOST records, too. */
static bool take_loss(struct pf_timeline *timeline, const struct perfile_record *record)
{
    const struct owner owner = owner_of(timeline, record), none = {PF_NO_NUMBER, PF_NO_NUMBER, owner.cpu};
    struct pf_timeline_mark mark = {.time = record->time, .event = record->event, .cpu = owner.cpu, .number = 0};
    struct perfile_lost lost = {0};
    struct perfile_lost_samples samples = {0};
    mark.kind = record->type == PERFILE_RECORD_THROTTLE     ? PF_TIMELINE_THROTTLE
                : record->type == PERFILE_RECORD_UNTHROTTLE ? PF_TIMELINE_UNTHROTTLE
                                                            : PF_TIMELINE_LOST;
    if (record->type == PERFILE_RECORD_LOST)
        mark.number = perfile_record_decode(timeline->reader, record, &lost, sizeof(lost), NULL) < 0 ? 0 : lost.lost;
    if (record->type == PERFILE_RECORD_LOST_SAMPLES)
        mark.number =
            perfile_record_decode(timeline->reader, record, &samples, sizeof(samples), NULL) < 0 ? 0 : samples.lost;
    if (!passes(timeline, record, &none) ||
        (timeline->filter->has_events && record->event && !pf_filter_event(timeline->filter, record->event)))
        return true;
    note_time(timeline, NULL, mark.time);
    return add_mark(timeline, &timeline->losses, &mark);
}

/* ---- perf stat record -------------------------------------------------------------------------------------------- */

static bool take_stat(struct pf_timeline *timeline, const struct perfile_record *record)
{
    struct perfile_stat stat;
    const struct perfile_event *event;
    if (perfile_record_decode(timeline->reader, record, &stat, sizeof(stat), NULL) < 0 ||
        !(event = perfile_event_find(timeline->reader, stat.id)))
        return true;
    uint64_t *sum = PF_ELEMENT(timeline->allocator, timeline->sums, timeline->sum_capacity, event->index);
    if (!sum)
        return false;
    *sum += stat.val;
    timeline->summed = true;
    return true;
}

/* Values are those since the start. */
static bool take_round(struct pf_timeline *timeline, const struct perfile_record *record)
{
    struct perfile_stat_round round;
    if (perfile_record_decode(timeline->reader, record, &round, sizeof(round), NULL) < 0)
        return true;
    for (size_t i = 0; timeline->summed && i < pf_min(timeline->sum_capacity, perfile_event_count(timeline->reader));
         i++) {
        if (!timeline->sums[i])
            continue;
        if (!PF_APPEND(
                timeline->allocator, timeline->counts, timeline->count_count, timeline->count_capacity,
                (struct pf_timeline_count){round.time, perfile_event_get(timeline->reader, i), timeline->sums[i]}))
            return false;
        timeline->sums[i] = 0;
    }
    timeline->summed = false;
    return true;
}

static bool take(void *context, const struct perfile_record *record)
{
    static const struct {
        uint32_t type;
        bool (*take)(struct pf_timeline *timeline, const struct perfile_record *record);
    } takers[] = {{PERFILE_RECORD_SWITCH, take_switch},     {PERFILE_RECORD_SWITCH_CPU_WIDE, take_switch},
                  {PERFILE_RECORD_FORK, take_fork},         {PERFILE_RECORD_EXIT, take_exit},
                  {PERFILE_RECORD_COMM, take_comm},         {PERFILE_RECORD_LOST, take_loss},
                  {PERFILE_RECORD_LOST_SAMPLES, take_loss}, {PERFILE_RECORD_THROTTLE, take_loss},
                  {PERFILE_RECORD_UNTHROTTLE, take_loss},   {PERFILE_RECORD_STAT, take_stat},
                  {PERFILE_RECORD_STAT_ROUND, take_round}};
    for (size_t i = 0; i < PF_COUNT(takers); i++)
        if (takers[i].type == record->type)
            return takers[i].take(context, record);
    return true;
}

/* ---- tracepoints ------------------------------------------------------------------------------------------------- */

const struct perfile_tracepoint *pf_timeline_tracepoint(const struct pf_timeline *timeline,
                                                        const struct perfile_event *event)
{
    const struct perfile_tracing *tracing;
    return pf_memory_check(timeline->allocator, perfile_tracing_get(timeline->reader, &tracing, NULL)) < 0
               ? NULL
               : perfile_tracepoint_find(timeline->reader, event);
}

static bool swapped(const struct pf_timeline *timeline)
{
    return perfile_reader_file(timeline->reader)->swapped;
}

void pf_timeline_fields(const struct pf_timeline *timeline, const struct pf_timeline_mark *mark,
                        pf_timeline_put_field *put, void *context)
{
    const struct perfile_tracepoint *tracepoint = pf_timeline_tracepoint(timeline, mark->event);
    const struct perfile_bytes raw = {.data = mark->text, .bytes = mark->number};
    struct perfile_bytes bytes;
    for (size_t i = 0; tracepoint && i < tracepoint->field_count; i++)
        if (!tracepoint->fields[i].is_common && pf_trace_bytes(&tracepoint->fields[i], &raw, swapped(timeline), &bytes))
            put(context, &tracepoint->fields[i], &bytes);
}

bool pf_timeline_is_number(const struct perfile_tracepoint_field *field)
{
    return !field->is_text && !field->is_array && !field->is_dynamic && !field->is_relative &&
           (field->bytes == 1 || field->bytes == 2 || field->bytes == 4);
}

void pf_timeline_put_value(const struct pf_timeline *timeline, const struct perfile_tracepoint_field *field,
                           const struct perfile_bytes *bytes, struct pf_text *scratch, struct pf_text *out)
{
    if (pf_timeline_is_number(field)) {
        pf_trace_put_value(field, bytes, swapped(timeline), out);
        return;
    }
    scratch->used = 0;
    pf_trace_put_value(field, bytes, swapped(timeline), scratch);
    pf_put_json_string(out, scratch->data, scratch->used);
}

/* What sched:sched_switch says. */
struct change {
    const struct pf_timeline *timeline;
    int32_t prev, next;
    uint64_t state;
    bool has_prev, has_next;
};

static void take_change(void *context, const struct perfile_tracepoint_field *field, const struct perfile_bytes *bytes)
{
    struct change *change = context;
    const uint64_t value = bytes->bytes == 4 || bytes->bytes == 8
                               ? pf_trace_load(bytes->data, bytes->bytes, true, swapped(change->timeline))
                               : 0;
    if (strcmp(field->name, "prev_pid") == 0) {
        change->prev = (int32_t)value;
        change->has_prev = true;
    } else if (strcmp(field->name, "next_pid") == 0) {
        change->next = (int32_t)value;
        change->has_next = true;
    } else if (strcmp(field->name, "prev_state") == 0) {
        change->state = value;
    }
}

/* The letters of TASK_REPORT in the order of their bits; since 4.14 idle threads have one of their own. */
static uint8_t state_letter(uint64_t state)
{
    static const char letters[] = "SDTtXZPI";
    const uint64_t reported = state & 0xff;
    return (uint8_t)(reported ? letters[__builtin_ctzll(reported)] : 'R');
}

/* The threads that a switch names by their thread ids alone. Those that nothing else names are processes. */
static struct pf_timeline_thread *thread_of_tid(struct pf_timeline *timeline, const struct pf_timeline_mark *mark,
                                                int32_t tid)
{
    uint64_t position;
    if (!pf_map_get(&timeline->tids, (uint32_t)tid, &position))
        return thread_of(timeline, tid, tid);
    struct pf_timeline_thread *thread = &timeline->threads[position];
    for (unsigned i = 0; i < EARLIER && mark->time < thread->start && thread->before != PF_TIMELINE_NONE; i++)
        thread = &timeline->threads[thread->before];
    return thread;
}

static bool add_change(struct pf_timeline *timeline, const struct pf_timeline_mark *mark)
{
    struct change change = {.timeline = timeline};
    pf_timeline_fields(timeline, mark, take_change, &change);
    struct pf_timeline_switch one = {.time = mark->time, .cpu = mark->cpu, .state = state_letter(change.state)};
    if (change.has_prev && change.prev != 0 && !add_switch(timeline, thread_of_tid(timeline, mark, change.prev), &one))
        return false;
    one.in = true;
    return !change.has_next || change.next == 0 ||
           add_switch(timeline, thread_of_tid(timeline, mark, change.next), &one);
}

/* Where there are no SWITCH records, the tracepoint says the same. */
static bool take_changes(struct pf_timeline *timeline)
{
    const size_t count = timeline->thread_count;
    for (size_t i = 0; i < count && !timeline->has_switches; i++)
        for (uint32_t at = timeline->threads[i].series; at != PF_TIMELINE_NONE; at = timeline->series[at].next)
            timeline->has_switches |= strcmp(timeline->series[at].event->name, "sched:sched_switch") == 0;
    for (size_t i = 0; i < count && timeline->has_switches; i++)
        for (size_t m = 0; m < timeline->threads[i].marks.count; m++) {
            const struct pf_timeline_mark mark = timeline->threads[i].marks.items[m];
            if (mark.kind == PF_TIMELINE_TRACE && strcmp(mark.event->name, "sched:sched_switch") == 0 &&
                !add_change(timeline, &mark))
                return false;
        }
    return true;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static uint64_t time_of_row(const void *row)
{
    return ((const struct pf_timeline_row *)row)->time;
}

static uint64_t time_of_mark(const void *mark)
{
    return ((const struct pf_timeline_mark *)mark)->time;
}

static uint64_t time_of_switch(const void *change)
{
    return ((const struct pf_timeline_switch *)change)->time;
}

/* Samples that waited for the rest of their stacks come late, and clocks of processors may differ. */
#define ORDER(allocator, items, count, capacity, key)                                                                  \
    do {                                                                                                               \
        const size_t bytes_ = (capacity) * sizeof(*(items));                                                           \
        if (pf_is_sorted((items), (count), sizeof(*(items)), key))                                                     \
            break;                                                                                                     \
        void *spare_ = pf_new((allocator), bytes_), *sorted_;                                                          \
        if (!spare_)                                                                                                   \
            return false;                                                                                              \
        sorted_ = pf_sort((items), spare_, (count), sizeof(*(items)), key);                                            \
        pf_free((allocator), sorted_ == spare_ ? (void *)(items) : spare_, bytes_);                                    \
        (items) = sorted_;                                                                                             \
    } while (0)

static bool order(struct pf_timeline *timeline)
{
    for (size_t i = 0; i < timeline->series_count; i++) {
        struct pf_timeline_series *series = &timeline->series[i];
        ORDER(timeline->allocator, series->rows, series->count, series->capacity, time_of_row);
    }
    for (size_t i = 0; i < timeline->thread_count; i++) {
        struct pf_timeline_thread *thread = &timeline->threads[i];
        ORDER(timeline->allocator, thread->marks.items, thread->marks.count, thread->marks.capacity, time_of_mark);
        ORDER(timeline->allocator, thread->switches, thread->switch_count, thread->switch_capacity, time_of_switch);
    }
    ORDER(timeline->allocator, timeline->losses.items, timeline->losses.count, timeline->losses.capacity, time_of_mark);
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int gather(struct pf_timeline *timeline, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(timeline->profile, &sample, error)) > 0)
        if (sample->event && !add_sample(timeline, sample))
            return pf_fail_memory(error, "export");
    return result < 0 || (end_stacks(timeline) && take_changes(timeline) && order(timeline))
               ? result
               : pf_fail_memory(error, "export");
}

int pf_timeline_open(struct pf_timeline *timeline, struct perfile_reader *reader,
                     const struct perfile_output_options *options, bool by_address, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->allocator);
    const bool of_calls = options->filter && options->filter->calls;
    struct pf_profile_options how = {.filter = options->filter,
                                     .find = pf_find_options_of(options->symbols, allocator),
                                     .unwind = options->symbols->unwind,
                                     .frames = {.inlines = !options->symbols->no_inline && !of_calls,
                                                .by_address = by_address,
                                                .joins_unnamed = !by_address},
                                     .decoded = true,
                                     .take = take,
                                     .take_context = timeline,
                                     .drive = pf_profile_drive_of(options)};
    *timeline = (struct pf_timeline){.allocator = allocator, .reader = reader, .first = UINT64_MAX};
    pf_arena_open(&timeline->arena, allocator);
    pf_map_open(&timeline->positions, allocator);
    pf_map_open(&timeline->tids, allocator);
    pf_map_open(&timeline->comms, allocator);
    pf_pairs_open(&timeline->series_of, allocator);
    int result = pf_tree_open(&timeline->tree, allocator) < 0 ? pf_fail_memory(error, "export") : 0;
    if (result == 0)
        result = pf_profile_open(reader, &how, &timeline->profile, error);
    if (result < 0)
        return result;
    timeline->filter = pf_profile_filter(timeline->profile);
    result = gather(timeline, error);
    timeline->start = timeline->first;
    if (result == 0)
        pf_profile_notify_unmatched(timeline->profile, options->unmatched, options->unmatched_context);
    return result;
}

void pf_timeline_close(struct pf_timeline *timeline)
{
    const struct perfile_allocator *allocator = timeline->allocator;
    for (size_t i = 0; i < timeline->series_count; i++)
        pf_free(allocator, timeline->series[i].rows, timeline->series[i].capacity * sizeof(*timeline->series[i].rows));
    for (size_t i = 0; i < timeline->thread_count; i++) {
        struct pf_timeline_thread *thread = &timeline->threads[i];
        pf_free(allocator, thread->marks.items, thread->marks.capacity * sizeof(*thread->marks.items));
        pf_free(allocator, thread->switches, thread->switch_capacity * sizeof(*thread->switches));
    }
    pf_free(allocator, timeline->losses.items, timeline->losses.capacity * sizeof(*timeline->losses.items));
    pf_free(allocator, timeline->counts, timeline->count_capacity * sizeof(*timeline->counts));
    pf_free(allocator, timeline->sums, timeline->sum_capacity * sizeof(*timeline->sums));
    pf_free(allocator, timeline->sampled, timeline->sampled_capacity * sizeof(*timeline->sampled));
    pf_free(allocator, timeline->series, timeline->series_capacity * sizeof(*timeline->series));
    pf_free(allocator, timeline->threads, timeline->thread_capacity * sizeof(*timeline->threads));
    pf_free(allocator, timeline->path, timeline->path_capacity * sizeof(*timeline->path));
    pf_pairs_close(&timeline->series_of);
    pf_map_close(&timeline->positions);
    pf_map_close(&timeline->tids);
    pf_map_close(&timeline->comms);
    pf_tree_close(&timeline->tree);
    pf_arena_close(&timeline->arena);
    pf_profile_close(timeline->profile);
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

uint64_t pf_timeline_wall(const struct pf_timeline *timeline, uint64_t time)
{
    enum { REALTIME = 0 };
    const struct perfile_event *event = perfile_event_get(timeline->reader, 0);
    uint64_t wall, clock;
    if (timeline->first == UINT64_MAX || timeline->untimed || time > INT64_MAX)
        return 0;
    if (event && event->attr->use_clockid && event->attr->clockid == REALTIME)
        return time;
    if (pf_memory_check(timeline->allocator, perfile_feature_number(timeline->reader, PERFILE_FEATURE_CLOCK_DATA,
                                                                    "wall_clock_ns", &wall, NULL)) < 0 ||
        pf_memory_check(timeline->allocator, perfile_feature_number(timeline->reader, PERFILE_FEATURE_CLOCK_DATA,
                                                                    "clockid_time_ns", &clock, NULL)) < 0 ||
        wall > INT64_MAX || wall + time < clock)
        return 0;
    return wall + time - clock;
}

/* ---- what things are --------------------------------------------------------------------------------------------- */

bool pf_timeline_has_samples(const struct pf_timeline *timeline, const struct perfile_event *event)
{
    return event->index < timeline->sampled_capacity && timeline->sampled[event->index];
}

bool pf_timeline_is_clock(const struct perfile_event *event)
{
    return event->attr->type == PERFILE_TYPE_SOFTWARE &&
           (event->attr->config == PERFILE_COUNT_SW_CPU_CLOCK || event->attr->config == PERFILE_COUNT_SW_TASK_CLOCK);
}

const char *pf_timeline_state(const struct pf_timeline_switch *change)
{
    static const struct {
        char letter;
        const char *name;
    } states[] = {{'R', "preempted"}, {'S', "sleeping"}, {'D', "uninterruptible"}, {'T', "stopped"}, {'t', "traced"},
                  {'X', "ended"},     {'Z', "ended"},    {'P', "parked"},          {'I', "idle"}};
    for (size_t i = 0; !change->in && i < PF_COUNT(states); i++)
        if (states[i].letter == change->state)
            return states[i].name;
    return change->in ? "running" : NULL;
}

uint64_t pf_timeline_interval(const struct perfile_event *event)
{
    const uint64_t number = event->attr->sample_period_or_freq;
    if (event->attr->freq)
        return number ? pf_max(1000000000 / number, (uint64_t)1) : 0;
    return pf_timeline_is_clock(event) ? number : 0;
}

const char *pf_timeline_text(const struct pf_timeline *timeline, uint32_t feature)
{
    const char *text = NULL;
    const int result = perfile_feature_text(timeline->reader, feature, NULL, &text, NULL);
    return pf_memory_check(timeline->allocator, result) < 0 || !text || !*text ? NULL : text;
}
