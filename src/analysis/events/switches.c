/* SPDX-License-Identifier: MIT */
#include "analysis/events/switches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/events/advice.h"
#include "base/bytes.h"
#include "base/counted.h"

enum { NOTE_BYTES = 320 };

enum required {
#define PF_SWITCHES(id, ...) id,
#include "analysis/events/events.def"
};
enum switch_field { PREV_COMM, PREV_PID, PREV_STATE, NEXT_COMM, NEXT_PID, PREV_PRIORITY, NEXT_PRIORITY };
enum wake_field { WAKE_COMM, WAKE_PID };
enum migrate_field { MIGRATE_COMM, MIGRATE_PID, MIGRATE_FROM, MIGRATE_TO };
enum runtime_field { RUNTIME_COMM, RUNTIME_PID, RUNTIME_NS };

static const struct pf_required_event required[] = {
#define PF_SWITCHES PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_switches_events = {required, PF_COUNT(required)};

void pf_switches_open(struct pf_switches *switches, struct perfile_reader *reader,
                      const struct perfile_allocator *allocator)
{
    struct pf_switch_reading *reading = &switches->reading;
    *switches = (struct pf_switches){.allocator = allocator, .window = {0, UINT64_MAX}, .reading.reader = reader};
    pf_bound_events_open(&reading->events, reader, &pf_switches_events, allocator);
    pf_arena_open(&reading->arena, allocator);
    pf_map_open(&reading->comms, allocator);
    pf_arena_open(&switches->arena, allocator);
    pf_map_open(&switches->others, allocator);
}

void pf_switches_close(struct pf_switches *switches)
{
    if (!switches->reading.reader)
        return;
    pf_bound_events_close(&switches->reading.events);
    pf_map_close(&switches->reading.comms);
    pf_arena_close(&switches->reading.arena);
    pf_map_close(&switches->others);
    for (size_t i = 0; i < PF_COUNT(switches->pages); i++)
        pf_free(switches->allocator, switches->pages[i], PF_SCHED_PAGE_TASKS * sizeof(*switches->pages[i]));
    pf_free(switches->allocator, switches->tasks, switches->task_capacity * sizeof(struct pf_sched_task *));
    pf_free(switches->allocator, switches->cpus, switches->cpu_capacity * sizeof(*switches->cpus));
    pf_arena_close(&switches->arena);
}

/* ---- tasks and CPUs ---------------------------------------------------------------------------------------------- */

/* Keys of tasks: thread ids, and above them the idle tasks by CPU. */
#define IDLE_KEY (1ull << 32)

/* NULL when out of memory. */
static struct pf_sched_task *add_task(struct pf_switches *switches, uint64_t key)
{
    struct pf_sched_task *task = pf_arena_new(&switches->arena, sizeof(*task));
    if (!task || !pf_grow(switches->allocator, &switches->tasks, &switches->task_capacity, switches->task_count + 1,
                          sizeof(struct pf_sched_task *)))
        return NULL;
    *task = (struct pf_sched_task){
        .number = (uint32_t)switches->task_count, .pid = -1, .parent = -1, .in_priority = PF_NO_PRIORITY};
    if (key < IDLE_KEY)
        task->tid = (int32_t)key;
    else
        task->idle_cpu = (uint32_t)key;
    switches->tasks[switches->task_count++] = task;
    return task;
}

/* Where the task with a thread id that kernels give is noted. NULL when out of memory. */
static struct pf_sched_task **position_of(struct pf_switches *switches, uint64_t tid)
{
    struct pf_sched_task ***page = &switches->pages[tid / PF_SCHED_PAGE_TASKS];
    if (PF_UNLIKELY(!*page))
        *page = pf_new(switches->allocator, PF_SCHED_PAGE_TASKS * sizeof(**page));
    return *page ? &(*page)[tid % PF_SCHED_PAGE_TASKS] : NULL;
}

/* NULL when out of memory. */
static struct pf_sched_task *begin_task(struct pf_switches *switches, uint64_t key)
{
    struct pf_sched_task *task = add_task(switches, key), **position = NULL;
    if (key < PF_SCHED_MAX_TIDS && (position = position_of(switches, key)))
        return *position = task;
    return task && key >= PF_SCHED_MAX_TIDS && pf_map_put(&switches->others, key, task->number) ? task : NULL;
}

static struct pf_sched_task *known_task(struct pf_switches *switches, uint64_t key)
{
    uint64_t number;
    if (PF_LIKELY(key < PF_SCHED_MAX_TIDS)) {
        struct pf_sched_task **page = switches->pages[key / PF_SCHED_PAGE_TASKS];
        return page ? page[key % PF_SCHED_PAGE_TASKS] : NULL;
    }
    return pf_map_get(&switches->others, key, &number) ? switches->tasks[number] : NULL;
}

/* NULL when out of memory. */
static struct pf_sched_task *find_task(struct pf_switches *switches, uint64_t key)
{
    struct pf_sched_task *task = known_task(switches, key);
    return PF_LIKELY(task) ? task : begin_task(switches, key);
}

struct pf_sched_task *pf_switches_task(struct pf_switches *switches, int32_t pid, int32_t tid)
{
    struct pf_sched_task *task = find_task(switches, (uint32_t)tid);
    if (task && pid > 0)
        task->pid = pid;
    return task;
}

void pf_switches_set_window(struct pf_switches *switches, const struct pf_filter *filter)
{
    const struct pf_ranges *times = &filter->times;
    if (!filter->has_times || !times->count)
        return;
    switches->window = times->items[0];
    for (size_t i = 1; i < times->count; i++)
        switches->window.last = pf_max(switches->window.last, times->items[i].last);
}

/* NULL when out of memory, or there are too many. */
static struct pf_sched_cpu *cpu_of(struct pf_switches *switches, uint32_t cpu)
{
    if (cpu >= PF_SCHED_MAX_CPUS) {
        switches->foreign_count++;
        return NULL;
    }
    struct pf_sched_cpu *at = PF_ELEMENT(switches->allocator, switches->cpus, switches->cpu_capacity, cpu);
    if (at)
        switches->cpu_count = pf_max(switches->cpu_count, (size_t)cpu + 1);
    return at;
}

/* The task with this thread id; the idle one is the CPU's. NULL when out of memory. */
static struct pf_sched_task *task_on(struct pf_switches *switches, int32_t tid, struct pf_sched_cpu *on, uint32_t cpu)
{
    if (tid || !on)
        return find_task(switches, tid ? (uint32_t)tid : IDLE_KEY | cpu);
    if (!on->idle)
        on->idle = find_task(switches, IDLE_KEY | cpu);
    return on->idle;
}

static const char *text_of(const char *comm, int32_t tid, char text[16])
{
    if (comm)
        return comm;
    snprintf(text, 16, ":%" PRId32, tid);
    return text;
}

const char *pf_sched_task_comm(const struct pf_sched_task *task, char text[16])
{
    return task->tid == 0 ? "swapper" : text_of(task->comm, task->tid, text);
}

const char *pf_sched_task_name(const struct pf_sched_task *task, char text[16])
{
    if (task->tid == 0)
        snprintf(text, 16, "swapper/%" PRIu32, task->idle_cpu);
    return task->tid == 0 ? text : !task->comm && *task->name ? task->name : pf_sched_task_comm(task, text);
}

/* ---- names and lifetimes ---------------------------------------------------------------------------------------- */

/* Records that a recorder writes for threads that exist already have no time, and do not start a new task. */
static int join_fork(struct pf_switches *switches, const struct pf_sched_fact *fact)
{
    struct pf_sched_task *task = find_task(switches, (uint32_t)fact->tid);
    if (task && (task->busy || task->ended))
        task = begin_task(switches, (uint32_t)fact->tid);
    const struct pf_sched_task *parent = fact->other ? find_task(switches, (uint32_t)fact->other) : NULL;
    if (!task || (fact->other && !parent))
        return PERFILE_ERROR_MEMORY;
    task->pid = fact->pid;
    task->parent = fact->other;
    task->started = fact->time;
    task->comm = parent && parent->comm ? parent->comm : task->comm;
    return 0;
}

static int join_comm(struct pf_switches *switches, const struct pf_sched_fact *fact)
{
    struct pf_sched_task *task = find_task(switches, (uint32_t)fact->tid);
    if (!task)
        return PERFILE_ERROR_MEMORY;
    task->pid = fact->pid;
    task->comm = fact->comm;
    task->renamed = fact->other == task->tid;
    return 0;
}

static void join_exit(struct pf_switches *switches, const struct pf_sched_fact *fact)
{
    struct pf_sched_task *task = known_task(switches, (uint32_t)fact->tid);
    if (task)
        task->ended = true;
}

/* ---- switches ---------------------------------------------------------------------------------------------------- */

static bool was_lost_since(const struct pf_switches *switches, uint32_t cpu, uint64_t time)
{
    return cpu < switches->cpu_count && switches->cpus[cpu].lost_time && switches->cpus[cpu].lost_time >= time;
}

/* How much of a wait is in the window. */
static uint64_t inside(const struct pf_switches *switches, uint64_t from, uint64_t to)
{
    from = pf_max(from, switches->window.first);
    to = pf_min(to, switches->window.last);
    return to > from ? to - from : 0;
}

/* The wait of `prev` before its run, and the run. */
static void end_run(struct pf_switches *switches, const struct pf_sched_cpu *cpu, struct pf_switch *out)
{
    const struct pf_sched_task *prev = out->prev;
    const bool seen = cpu->task == prev, lost = was_lost_since(switches, out->cpu, cpu->last_time);
    const uint64_t last = out->last_time;
    out->mismatched = cpu->task && !seen;
    out->moved = prev->out_time && prev->out_cpu != out->cpu;
    if (!last)
        return;
    out->run = out->end_time - last;
    out->run_known = seen && !lost;
    out->cut = lost;
    if (prev->out_time && prev->out_time <= last) {
        out->wait = last - prev->out_time;
        out->wait_known = seen && !prev->wait_cut;
        out->wait_state = prev->state;
        out->wait_preempted = prev->preempted;
        out->cut |= prev->wait_cut;
    }
    if (prev->ready_time && prev->ready_time <= last) {
        out->delay = last - prev->ready_time;
        out->delay_known = seen && !prev->wait_cut;
    }
    out->wait_inside = inside(switches, prev->out_time, cpu->last_time);
    out->delay_inside = inside(switches, prev->ready_time, cpu->last_time);
    if (prev->ready_time && prev->migrate_time > prev->ready_time && prev->migrate_time < last)
        out->pre_migration = prev->migrate_time - prev->ready_time;
    if (!seen)
        out->cut |= lost;
    switches->cut_count += out->cut;
}

/* Whether the row is in the window, and what of it. */
static void clip(struct pf_switches *switches, struct pf_switch *out)
{
    const struct pf_range *window = &switches->window;
    const bool ends = window->last != UINT64_MAX;
    if (out->last_time)
        out->last_time = pf_max(out->last_time, window->first);
    else if (window->first && ends)
        out->last_time = 0;
    out->end_time = pf_min(out->time, window->last);
    out->shown = out->time >= window->first && !(ends && (!out->last_time || out->last_time > window->last));
    if (!out->shown || out->last_time > out->end_time)
        out->last_time = out->shown ? 0 : out->last_time;
}

static void note_span(struct pf_switches *switches, const struct pf_switch *out)
{
    if (out->time < switches->window.first)
        return;
    if (!switches->first_time)
        switches->first_time = out->time;
    if (out->shown || out->time <= switches->window.last)
        switches->last_time = out->end_time;
}

static void leave_cpu(struct pf_sched_task *task, const struct pf_switch *out)
{
    task->out_time = out->time;
    task->out_cpu = out->cpu;
    task->off = true;
    task->state = out->state;
    task->preempted = out->preempted;
    task->ready_time = out->state == 'R' ? out->time : 0;
    task->migrate_time = 0;
    task->waker = NULL;
    task->busy = true;
}

static void come_to_cpu(const struct pf_switches *switches, struct pf_sched_task *task, struct pf_switch *out)
{
    const uint64_t from = task->out_time;
    task->wait_cut = from && (!task->off || was_lost_since(switches, out->cpu, from) ||
                              was_lost_since(switches, task->out_cpu, from));
    task->in_time = out->time;
    task->in_cpu = out->cpu;
    task->busy = true;
    out->off_time = task->off ? from : 0;
    task->off = false;
    out->off_cpu = task->out_cpu;
    out->off_state = task->state;
    out->off_preempted = task->preempted;
    out->off_cut = task->wait_cut;
    out->off_ready_time = task->ready_time;
    out->off_waker = task->waker;
}

static void name_task(struct pf_sched_task *task, const char name[16])
{
    if (task->tid && *name)
        memcpy(task->name, name, sizeof(task->name));
}

/* The records say when it comes and goes; only its run is known, and why it goes. */
static int join_switch_of_thread(struct pf_switches *switches, struct pf_switch *out)
{
    out->last_time = out->prev->in_time;
    clip(switches, out);
    note_span(switches, out);
    switches->switch_count++;
    out->prev->state = out->state;
    out->prev->busy = true;
    out->run_known = out->last_time;
    out->run = out->last_time ? out->end_time - out->last_time : 0;
    return 1;
}

static int join_switch(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out)
{
    struct pf_sched_cpu *cpu = cpu_of(switches, out->cpu);
    out->kind = PF_SWITCHED;
    out->prev = task_on(switches, fact->task, cpu, out->cpu);
    out->next = task_on(switches, fact->other, cpu, out->cpu);
    if (!cpu || !out->prev || !out->next)
        return out->cpu >= PF_SCHED_MAX_CPUS ? 0 : PERFILE_ERROR_MEMORY;
    name_task(out->prev, fact->names[0]);
    name_task(out->next, fact->names[1]);
    if (fact->tid == out->prev->tid && fact->pid > 0)
        out->prev->pid = fact->pid;
    out->state = fact->state;
    out->preempted = fact->preempted;
    out->priority = fact->priority;
    out->in_priority = out->prev->in_priority;
    out->prev->in_priority = PF_NO_PRIORITY; /* until it comes again */
    out->next->in_priority = fact->other_priority;
    if (switches->by_records)
        return join_switch_of_thread(switches, out);
    out->last_time = cpu->last_time;
    clip(switches, out);
    end_run(switches, cpu, out);
    note_span(switches, out);
    switches->switch_count++;
    switches->mismatch_count += out->mismatched;
    out->idle_after = out->prev->tid ? NULL : cpu->before;
    cpu->before = out->prev->tid ? out->prev : NULL;
    leave_cpu(out->prev, out);
    come_to_cpu(switches, out->next, out);
    cpu->last_time = out->time;
    cpu->task = out->next;
    cpu->seen = true;
    return 1;
}

/* ---- other events ------------------------------------------------------------------------------------------------ */

/* Returns the task that an event names. NULL when out of memory. */
static struct pf_sched_task *task_of_fact(struct pf_switches *switches, const struct pf_sched_fact *fact)
{
    struct pf_sched_task *task = find_task(switches, (uint32_t)fact->task);
    if (!task)
        return NULL;
    name_task(task, fact->names[0]);
    task->busy = true;
    return task;
}

/* Returns the current task, of the sample or, while a task is ending, of the CPU. NULL: not known, or out of memory. */
static struct pf_sched_task *current_task(struct pf_switches *switches, const struct pf_sched_fact *fact)
{
    struct pf_sched_cpu *cpu = fact->cpu < switches->cpu_count ? &switches->cpus[fact->cpu] : NULL;
    if (fact->tid >= 0)
        return task_on(switches, fact->tid, cpu, fact->cpu);
    return cpu ? cpu->task : NULL;
}

static int join_waking(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out)
{
    out->next = task_of_fact(switches, fact);
    if (!out->next)
        return PERFILE_ERROR_MEMORY;
    out->prev = current_task(switches, fact);
    if (out->prev && out->prev->tid && fact->pid > 0)
        out->prev->pid = fact->pid;
    out->kind = PF_WOKEN;
    if (!out->next->ready_time) {
        out->next->ready_time = out->time;
        out->next->waker = out->prev;
        out->shown = true;
    }
    return 1;
}

static int join_migration(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out)
{
    out->next = task_of_fact(switches, fact);
    if (!out->next)
        return PERFILE_ERROR_MEMORY;
    out->prev = current_task(switches, fact);
    out->kind = PF_MIGRATED;
    out->from_cpu = fact->from_cpu;
    out->to_cpu = fact->to_cpu;
    out->next->migrate_time = out->time;
    return 1;
}

static int join_runtime(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out)
{
    out->kind = PF_RAN;
    out->next = task_of_fact(switches, fact);
    out->value = fact->value;
    return out->next ? 1 : PERFILE_ERROR_MEMORY;
}

/* Without a CPU it may have been any of them. */
static int join_loss(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out)
{
    switches->lost_count += fact->value;
    switches->lost_chunks++;
    out->kind = PF_LOST_HERE;
    out->value = fact->value;
    if (fact->where) {
        struct pf_sched_cpu *cpu = cpu_of(switches, fact->cpu);
        if (cpu)
            cpu->lost_time = fact->time;
        return cpu || fact->cpu >= PF_SCHED_MAX_CPUS ? 1 : PERFILE_ERROR_MEMORY;
    }
    for (size_t i = 0; out->time != UINT64_MAX && i < switches->cpu_count; i++)
        switches->cpus[i].lost_time = out->time;
    return 1;
}

/* Records of threads say more exactly than samples when these came and went. */
static void begin_records(struct pf_switches *switches)
{
    switches->by_records = true;
    for (size_t i = 0; i < switches->task_count; i++)
        switches->tasks[i]->out_time = 0;
}

static int join_switch_record(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out)
{
    if (!switches->by_records)
        begin_records(switches);
    struct pf_sched_task *task = find_task(switches, (uint32_t)fact->tid);
    if (!task)
        return PERFILE_ERROR_MEMORY;
    if (fact->pid > 0)
        task->pid = fact->pid;
    if (fact->kind == PF_FACT_OUT) {
        out->kind = PF_SWITCHED_OUT;
        out->prev = task;
        out->preempted = fact->preempted;
        out->state = out->preempted ? 'R' : task->state;
        leave_cpu(task, out);
        return 1;
    }
    out->kind = PF_SWITCHED_IN;
    out->next = task;
    come_to_cpu(switches, task, out);
    task->state = 0;
    return 1;
}

/*
 * Clears in pieces, for which compilers make a few stores; for all of it at once they make a loop that is slower to
 * start.
 */
static inline void clear(struct pf_switch *out)
{
    enum { PIECE = 64, REST = sizeof(*out) - 2 * PIECE };
    _Static_assert(sizeof(*out) >= 2 * PIECE, "a rest is left");
    uint8_t *at = (uint8_t *)out;
    memset(at, 0, PIECE);
    memset(at + PIECE, 0, PIECE);
    memset(at + 2 * PIECE, 0, REST);
}

/* Only switches have so much: clearing all of it would be a third of the time for the others. */
static void begin(struct pf_switch *out, const struct pf_sched_fact *fact)
{
    out->time = fact->time;
    out->cpu = fact->cpu;
    out->prev = out->next = NULL;
    out->value = 0;
    out->shown = false;
}

int pf_switches_join(struct pf_switches *switches, const struct pf_sched_fact *fact, struct pf_switch *out)
{
    if (fact->kind == PF_FACT_SWITCH || fact->kind == PF_FACT_IN || fact->kind == PF_FACT_OUT)
        clear(out);
    begin(out, fact);
    switch (fact->kind) {
    case PF_FACT_SWITCH:
        return join_switch(switches, fact, out);
    case PF_FACT_WAKING:
        return join_waking(switches, fact, out);
    case PF_FACT_MIGRATION:
        return join_migration(switches, fact, out);
    case PF_FACT_RUNTIME:
        return join_runtime(switches, fact, out);
    case PF_FACT_LOSS:
        return join_loss(switches, fact, out);
    case PF_FACT_IN:
    case PF_FACT_OUT:
        return join_switch_record(switches, fact, out);
    case PF_FACT_COMM:
        return join_comm(switches, fact);
    case PF_FACT_FORK:
        return join_fork(switches, fact);
    case PF_FACT_EXIT:
        join_exit(switches, fact);
        return 0;
    }
    return 0;
}

/* ---- contents of samples ----------------------------------------------------------------------------------------- */

/* {0x01,"S"} of the format's text; without any the bits since 4.14. */
static void read_letters(struct pf_switch_reading *reading, const struct perfile_event *event)
{
    static const char usual[] = "SDTtXZPI";
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(reading->reader, event);
    bool found = false;
    reading->letters_known = true;
    for (const char *at = tracepoint ? tracepoint->print_fmt : NULL; at && (at = strchr(at, '{'));) {
        char *end;
        const uint64_t bit = strtoull(++at, &end, 0);
        end += strspn(end, ", ");
        if (end[0] != '"' || !end[1] || !bit || bit & (bit - 1))
            continue;
        reading->letters[(unsigned)__builtin_ctzll(bit)] = end[1];
        found = true;
    }
    if (!found)
        memcpy(reading->letters, usual, sizeof(usual) - 1);
}

static char letter_of(const struct pf_switch_reading *reading, uint64_t state, bool *preempted)
{
    bool beyond = false;
    for (uint64_t left = state & ~(UINT64_C(1) << 63); left; left &= left - 1) {
        const char letter = reading->letters[__builtin_ctzll(left)];
        if (letter) {
            *preempted = false;
            return letter;
        }
        beyond = true;
    }
    *preempted = beyond;
    return 'R';
}

static int32_t priority_of(const struct pf_switch_reading *reading, const struct pf_event_fields *event, size_t field)
{
    uint64_t priority;
    return reading->priorities && pf_event_number(&reading->events, event, field, &reading->sample.raw, &priority)
               ? (int32_t)priority
               : PF_NO_PRIORITY;
}

static int read_switch(struct pf_switch_reading *reading, const struct pf_event_fields *event,
                       struct pf_sched_fact *fact)
{
    uint64_t prev, next, state = 0;
    const struct perfile_bytes *raw = &reading->sample.raw;
    if (!pf_event_number(&reading->events, event, PREV_PID, raw, &prev) ||
        !pf_event_number(&reading->events, event, NEXT_PID, raw, &next))
        return 0;
    const bool has_state = pf_event_number(&reading->events, event, PREV_STATE, raw, &state);
    fact->kind = PF_FACT_SWITCH;
    fact->task = (int32_t)prev;
    fact->other = (int32_t)next;
    fact->preempted = false;
    fact->state = has_state ? letter_of(reading, state, &fact->preempted) : 0;
    fact->priority = priority_of(reading, event, PREV_PRIORITY);
    fact->other_priority = priority_of(reading, event, NEXT_PRIORITY);
    pf_event_name(&reading->events, event, PREV_COMM, raw, fact->names[0]);
    pf_event_name(&reading->events, event, NEXT_COMM, raw, fact->names[1]);
    return 1;
}

/* Reads the task that an event names in its fields 0 and 1. Returns 0 when there is none. */
static int read_task(const struct pf_switch_reading *reading, const struct pf_event_fields *event,
                     enum pf_sched_fact_kind kind, struct pf_sched_fact *fact)
{
    uint64_t tid;
    if (!pf_event_number(&reading->events, event, WAKE_PID, &reading->sample.raw, &tid) || !(uint32_t)tid)
        return 0;
    fact->kind = kind;
    fact->task = (int32_t)tid;
    pf_event_name(&reading->events, event, WAKE_COMM, &reading->sample.raw, fact->names[0]);
    return 1;
}

static int read_migration(const struct pf_switch_reading *reading, const struct pf_event_fields *event,
                          struct pf_sched_fact *fact)
{
    uint64_t from = 0, to = 0;
    (void)pf_event_number(&reading->events, event, MIGRATE_FROM, &reading->sample.raw, &from);
    (void)pf_event_number(&reading->events, event, MIGRATE_TO, &reading->sample.raw, &to);
    fact->from_cpu = (uint32_t)from;
    fact->to_cpu = (uint32_t)to;
    return read_task(reading, event, PF_FACT_MIGRATION, fact);
}

static int read_event(struct pf_switch_reading *reading, const struct perfile_record *record,
                      const struct pf_event_fields *event, struct pf_sched_fact *fact)
{
    switch ((enum required)event->id) {
    case SWITCH:
        reading->have.switches = true;
        if (!reading->letters_known)
            read_letters(reading, record->event);
        return read_switch(reading, event, fact);
    case WAKING:
    case WAKEUP_NEW:
        reading->have.wakings |= event->id == WAKING;
        return read_task(reading, event, PF_FACT_WAKING, fact);
    case WAKEUP:
        reading->have.wakeups = true;
        return reading->has_wakings ? 0 : read_task(reading, event, PF_FACT_WAKING, fact);
    case MIGRATE:
        reading->have.migrations = true;
        return read_migration(reading, event, fact);
    case RUNTIME:
        reading->have.runtimes = true;
        return pf_event_number(&reading->events, event, RUNTIME_NS, &reading->sample.raw, &fact->value)
                   ? read_task(reading, event, PF_FACT_RUNTIME, fact)
                   : 0;
    }
    return 0;
}

static int read_sample(struct pf_switch_reading *reading, const struct perfile_record *record,
                       struct pf_sched_fact *fact)
{
    enum { NEEDED = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU };
    const struct pf_event_fields *event = pf_events_find(&reading->events, record->event);
    struct perfile_sample *sample = &reading->sample;
    sample->size = sizeof(*sample);
    if (!event || record->damaged || perfile_sample_decode(record, sample, NULL) < 0 ||
        (sample->present & NEEDED) != NEEDED)
        return 0;
    fact->time = sample->time;
    fact->cpu = sample->cpu;
    fact->pid = sample->pid;
    fact->tid = sample->present & PERFILE_SAMPLE_TID ? sample->tid : -1;
    return read_event(reading, record, event, fact);
}

/* ---- contents of records ----------------------------------------------------------------------------------------- */

static int read_comm(struct pf_switch_reading *reading, const struct perfile_record *record, struct pf_sched_fact *fact)
{
    struct perfile_comm comm;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    if (perfile_record_decode(reading->reader, record, &comm, sizeof(comm), NULL) < 0 || !comm.tid)
        return 0;
    const bool reported_by =
        perfile_sample_id_decode(reading->reader, record, &id, NULL) == 0 && id.present & PERFILE_SAMPLE_TID;
    fact->kind = PF_FACT_COMM;
    fact->other = reported_by ? id.tid : comm.tid;
    fact->pid = comm.pid;
    fact->tid = comm.tid;
    fact->comm = pf_map_text(&reading->comms, &reading->arena, comm.comm, strlen(comm.comm));
    return fact->comm ? 1 : PERFILE_ERROR_MEMORY;
}

static int read_fork(const struct pf_switch_reading *reading, const struct perfile_record *record,
                     struct pf_sched_fact *fact)
{
    struct perfile_fork fork;
    if (perfile_record_decode(reading->reader, record, &fork, sizeof(fork), NULL) < 0 || !fork.tid)
        return 0;
    fact->kind = PF_FACT_FORK;
    fact->pid = fork.pid;
    fact->tid = fork.tid;
    fact->other = fork.ptid;
    fact->time = fork.time;
    return 1;
}

static int read_exit(const struct pf_switch_reading *reading, const struct perfile_record *record,
                     struct pf_sched_fact *fact)
{
    struct perfile_exit gone;
    if (perfile_record_decode(reading->reader, record, &gone, sizeof(gone), NULL) < 0)
        return 0;
    fact->kind = PF_FACT_EXIT;
    fact->tid = gone.tid;
    return 1;
}

static int read_loss(const struct pf_switch_reading *reading, const struct perfile_record *record, uint64_t lost,
                     struct pf_sched_fact *fact)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    enum { NEEDED = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU };
    fact->kind = PF_FACT_LOSS;
    fact->where =
        perfile_sample_id_decode(reading->reader, record, &id, NULL) >= 0 && (id.present & NEEDED) == NEEDED && id.time;
    fact->time = fact->where ? id.time : record->time;
    fact->cpu = fact->where ? id.cpu : UINT32_MAX;
    fact->value = lost;
    return 1;
}

static int read_losses(const struct pf_switch_reading *reading, const struct perfile_record *record,
                       struct pf_sched_fact *fact)
{
    struct perfile_lost lost;
    struct perfile_lost_samples samples;
    if (record->type == PERFILE_RECORD_LOST)
        return perfile_record_decode(reading->reader, record, &lost, sizeof(lost), NULL) < 0
                   ? 0
                   : read_loss(reading, record, lost.lost, fact);
    return perfile_record_decode(reading->reader, record, &samples, sizeof(samples), NULL) < 0
               ? 0
               : read_loss(reading, record, samples.lost, fact);
}

static int read_switch_record(const struct pf_switch_reading *reading, const struct perfile_record *record,
                              struct pf_sched_fact *fact)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    enum { NEEDED = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_TID };
    if (perfile_sample_id_decode(reading->reader, record, &id, NULL) < 0 || (id.present & NEEDED) != NEEDED || !id.tid)
        return 0;
    fact->kind = record->misc & PERFILE_MISC_SWITCH_OUT ? PF_FACT_OUT : PF_FACT_IN;
    fact->pid = id.pid;
    fact->tid = id.tid;
    fact->time = id.time;
    fact->cpu = id.present & PERFILE_SAMPLE_CPU ? id.cpu : UINT32_MAX;
    fact->preempted = record->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT;
    return 1;
}

int pf_switches_read(struct pf_switches *switches, const struct perfile_record *record, struct pf_sched_fact *fact)
{
    struct pf_switch_reading *reading = &switches->reading;
    if (!reading->record_count++)
        reading->has_wakings = pf_events_have(&reading->events, WAKING);
    switch (record->type) {
    case PERFILE_RECORD_SAMPLE:
        return read_sample(reading, record, fact);
    case PERFILE_RECORD_COMM:
        return read_comm(reading, record, fact);
    case PERFILE_RECORD_FORK:
        return read_fork(reading, record, fact);
    case PERFILE_RECORD_EXIT:
        return read_exit(reading, record, fact);
    case PERFILE_RECORD_LOST:
    case PERFILE_RECORD_LOST_SAMPLES:
        return read_losses(reading, record, fact);
    case PERFILE_RECORD_SWITCH_CPU_WIDE:
        reading->have.switch_records = true;
        return reading->have.switches ? 0 : read_switch_record(reading, record, fact);
    case PERFILE_RECORD_SWITCH:
        reading->have.switch_records = true;
        return read_switch_record(reading, record, fact);
    default:
        return 0;
    }
}

int pf_switches_take(struct pf_switches *switches, const struct perfile_record *record, struct pf_switch *out)
{
    struct pf_sched_fact fact;
    const int result = pf_switches_read(switches, record, &fact);
    return result > 0 ? pf_switches_join(switches, &fact, out) : result;
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

uint64_t pf_switches_machine_cpus(struct pf_switches *switches)
{
    uint64_t count;
    const int result =
        perfile_feature_number(switches->reading.reader, PERFILE_FEATURE_NRCPUS, "nr_cpus_online", &count, NULL);
    return pf_memory_check(switches->allocator, result) == 0 ? pf_min(count, PF_SCHED_MAX_CPUS) : 0;
}

/* Only tasks of the recorder's choice left CPUs, and came from nowhere. */
static bool seems_per_task(const struct pf_switches *switches)
{
    return switches->by_records ||
           (switches->switch_count > 1 && switches->mismatch_count * 4 > switches->switch_count);
}

/* An event that is recorded on a CPU has an id for it, whether anything happens there or not. 0: not known. */
static size_t recorded_cpus(const struct pf_switches *switches)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(switches->reading.reader, i)); i++)
        if (strcmp(event->name, "sched:sched_switch") == 0)
            return event->id_count;
    return 0;
}

void pf_switches_notify_cpus(struct pf_switches *switches, pf_on_note *notify, void *context)
{
    char text[NOTE_BYTES];
    const uint64_t there = pf_switches_machine_cpus(switches), recorded = recorded_cpus(switches);
    uint64_t seen = 0;
    for (size_t i = 0; i < switches->cpu_count; i++)
        seen += switches->cpus[i].seen;
    if (!seen || !recorded || recorded >= there || seen > recorded || seems_per_task(switches))
        return;
    snprintf(text, sizeof(text),
             "the recording covers %" PRIu64 " of %" PRIu64
             " CPUs: what tasks did on others is not known, and waits may "
             "be runs there; record with: " PF_RECORD_SCHED,
             recorded, there);
    notify(context, text);
}

void pf_switches_notify(struct pf_switches *switches, pf_on_note *notify, void *context)
{
    char text[NOTE_BYTES], count[PF_COUNTED_BYTES];
    if (!notify)
        return;
    if (!switches->reading.have.switches)
        notify(context, "the recording has no events sched:sched_switch; record with: " PF_RECORD_SCHED);
    else if (!switches->reading.have.wakings && !switches->reading.have.wakeups)
        notify(context,
               "the recording has no events sched:sched_waking: how long tasks waited for a CPU after they were "
               "woken is not known; record with: " PF_RECORD_SCHED);
    if (switches->reading.have.switches && seems_per_task(switches))
        notify(context,
               "the recording is not of all CPUs: when tasks came to a CPU, and which tasks woke them, is mostly not "
               "known; record with: " PF_RECORD_SCHED);
    pf_switches_notify_cpus(switches, notify, context);
    if (switches->cut_count) {
        snprintf(text, sizeof(text), "%s: records were lost, or an event is missing",
                 pf_count_of(switches->cut_count, "intervals have an unknown length and are in no sum", count));
        notify(context, text);
    }
    if (switches->mismatch_count && switches->reading.have.switches && !seems_per_task(switches)) {
        snprintf(text, sizeof(text), "%s the one before on their CPU (events were lost): the times there are left out",
                 pf_part_of(switches->mismatch_count, switches->switch_count, "switches do not match", count));
        notify(context, text);
    }
    if (switches->foreign_count) {
        snprintf(text, sizeof(text), "%s of CPUs with a number above %d, and left out",
                 pf_count_of(switches->foreign_count, "events are", count), PF_SCHED_MAX_CPUS - 1);
        notify(context, text);
    }
}
