/* SPDX-License-Identifier: MIT */
#include "analysis/events/switches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/events/advice.h"
#include "base/bytes.h"

enum { NOTE_BYTES = 320 };

enum wish { SWITCH, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, RUNTIME };
enum switch_field { PREV_COMM, PREV_PID, PREV_STATE, NEXT_COMM, NEXT_PID };
enum wake_field { WAKE_COMM, WAKE_PID };
enum migrate_field { MIGRATE_COMM, MIGRATE_PID, MIGRATE_FROM, MIGRATE_TO };
enum runtime_field { RUNTIME_COMM, RUNTIME_PID, RUNTIME_NS };

static const struct pf_event_wish wishes[] = {
    [SWITCH] = {"sched", "sched_switch", {"prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"}},
    [WAKING] = {"sched", "sched_waking", {"comm", "pid"}},
    [WAKEUP] = {"sched", "sched_wakeup", {"comm", "pid"}},
    [WAKEUP_NEW] = {"sched", "sched_wakeup_new", {"comm", "pid"}},
    [MIGRATE] = {"sched", "sched_migrate_task", {"comm", "pid", "orig_cpu", "dest_cpu"}},
    [RUNTIME] = {"sched", "sched_stat_runtime", {"comm", "pid", "runtime"}},
};

void pf_switches_open(struct pf_switches *switches, struct perfile_reader *reader,
                      const struct perfile_allocator *allocator)
{
    *switches = (struct pf_switches){.reader = reader, .allocator = allocator, .window = {0, UINT64_MAX}};
    pf_bound_events_open(&switches->events, reader, wishes, PF_COUNT(wishes), allocator);
    pf_arena_open(&switches->arena, allocator);
    pf_map_open(&switches->tids, allocator);
    pf_map_open(&switches->comms, allocator);
}

void pf_switches_close(struct pf_switches *switches)
{
    if (!switches->reader)
        return;
    pf_bound_events_close(&switches->events);
    pf_map_close(&switches->tids);
    pf_map_close(&switches->comms);
    pf_free(switches->allocator, switches->tasks, switches->task_room * sizeof(struct pf_sched_task *));
    pf_free(switches->allocator, switches->cpus, switches->cpu_room * sizeof(*switches->cpus));
    pf_arena_close(&switches->arena);
}

/* ---- tasks and CPUs ---------------------------------------------------------------------------------------------- */

#define IDLE_KEY (1ull << 32)

/* NULL when out of memory. */
static struct pf_sched_task *add_task(struct pf_switches *switches, uint64_t key)
{
    struct pf_sched_task *task = pf_arena_new(&switches->arena, sizeof(*task));
    if (!task ||
        !pf_grow(switches->allocator, &switches->tasks, &switches->task_room, switches->task_count + 1,
                 sizeof(struct pf_sched_task *)) ||
        !pf_map_put(&switches->tids, key, switches->task_count))
        return NULL;
    *task = (struct pf_sched_task){.number = (uint32_t)switches->task_count, .pid = -1, .parent = -1};
    if (key < IDLE_KEY)
        task->tid = (int32_t)key;
    else
        task->idle_cpu = (uint32_t)key;
    switches->tasks[switches->task_count++] = task;
    return task;
}

static struct pf_sched_task *find_task(struct pf_switches *switches, uint64_t key)
{
    uint64_t number;
    return pf_map_get(&switches->tids, key, &number) ? switches->tasks[number] : add_task(switches, key);
}

/* NULL when out of memory. */
static struct pf_sched_task *task_of(struct pf_switches *switches, int32_t tid, uint32_t cpu)
{
    return find_task(switches, tid ? (uint32_t)tid : IDLE_KEY | cpu);
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
    const size_t room = switches->cpu_room;
    if (cpu >= PF_SCHED_MOST_CPUS) {
        switches->foreign_count++;
        return NULL;
    }
    if (cpu >= room) {
        if (!pf_grow(switches->allocator, &switches->cpus, &switches->cpu_room, (size_t)cpu + 1,
                     sizeof(*switches->cpus)))
            return NULL;
        memset(switches->cpus + room, 0, (switches->cpu_room - room) * sizeof(*switches->cpus));
    }
    switches->cpu_count = pf_max(switches->cpu_count, (size_t)cpu + 1);
    return &switches->cpus[cpu];
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

/* ---- names and lives --------------------------------------------------------------------------------------------- */

/* Each name once. NULL when out of memory. */
static const char *keep_comm(struct pf_switches *switches, const char *comm)
{
    const uint64_t hash = pf_hash_text(comm);
    uint64_t known;
    if (pf_map_get(&switches->comms, hash, &known) && strcmp((const char *)(uintptr_t)known, comm) == 0)
        return (const char *)(uintptr_t)known;
    const char *copy = pf_arena_text(&switches->arena, comm, strlen(comm));
    return copy && pf_map_put(&switches->comms, hash, (uintptr_t)copy) ? copy : NULL;
}

static bool take_comm(struct pf_switches *switches, const struct perfile_record *record)
{
    struct perfile_comm comm;
    if (perfile_record_decode(switches->reader, record, &comm, sizeof(comm), NULL) < 0 || !comm.tid)
        return true;
    struct pf_sched_task *task = find_task(switches, (uint32_t)comm.tid);
    if (!task)
        return false;
    task->pid = comm.pid;
    task->comm = keep_comm(switches, comm.comm);
    task->renamed = true;
    return task->comm;
}

/* What a recorder tells of threads that are there already has no time, and is no new life. */
static bool take_fork(struct pf_switches *switches, const struct perfile_record *record)
{
    struct perfile_fork fork;
    if (perfile_record_decode(switches->reader, record, &fork, sizeof(fork), NULL) < 0 || !fork.tid)
        return true;
    struct pf_sched_task *task = find_task(switches, (uint32_t)fork.tid);
    if (task && (task->busy || task->ended))
        task = add_task(switches, (uint32_t)fork.tid);
    const struct pf_sched_task *parent = fork.ptid ? find_task(switches, (uint32_t)fork.ptid) : NULL;
    if (!task || (fork.ptid && !parent))
        return false;
    task->pid = fork.pid;
    task->parent = fork.ptid;
    task->started = fork.time;
    task->comm = parent && parent->comm ? parent->comm : task->comm;
    return true;
}

static void take_exit(struct pf_switches *switches, const struct perfile_record *record)
{
    struct perfile_exit gone;
    uint64_t number;
    if (perfile_record_decode(switches->reader, record, &gone, sizeof(gone), NULL) >= 0 &&
        pf_map_get(&switches->tids, (uint32_t)gone.tid, &number))
        switches->tasks[number]->ended = true;
}

/* ---- switches ---------------------------------------------------------------------------------------------------- */

/* {0x01,"S"} of the format's text; without any the bits since 4.14. */
static void read_letters(struct pf_switches *switches, const struct perfile_event *event)
{
    static const char usual[] = "SDTtXZPI";
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(switches->reader, event);
    bool found = false;
    switches->letters_known = true;
    for (const char *at = tracepoint ? tracepoint->print_fmt : NULL; at && (at = strchr(at, '{'));) {
        char *end;
        const uint64_t bit = strtoull(++at, &end, 0);
        end += strspn(end, ", ");
        if (end[0] != '"' || !end[1] || !bit || bit & (bit - 1))
            continue;
        switches->letters[(unsigned)__builtin_ctzll(bit)] = end[1];
        found = true;
    }
    if (!found)
        memcpy(switches->letters, usual, sizeof(usual) - 1);
}

static char letter_of(const struct pf_switches *switches, uint64_t state, bool *preempted)
{
    bool beyond = false;
    for (unsigned i = 0; state >> i && i < 63; i++) {
        if (!(state >> i & 1))
            continue;
        if (switches->letters[i]) {
            *preempted = false;
            return switches->letters[i];
        }
        beyond = true;
    }
    *preempted = beyond;
    return 'R';
}

static bool was_lost_since(const struct pf_switches *switches, uint32_t cpu, uint64_t time)
{
    return cpu < switches->cpu_count && switches->cpus[cpu].lost_time && switches->cpus[cpu].lost_time >= time;
}

/* How much of a wait is in the window. */
static uint64_t inside(const struct pf_switches *switches, uint64_t from, uint64_t to)
{
    from = pf_max(from, switches->window.first);
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

static bool name_tasks(const struct pf_switches *switches, const struct pf_event_fields *event,
                       const struct perfile_bytes *raw, const struct pf_switch *out)
{
    if (out->prev->tid && !out->prev->comm)
        pf_event_text(&switches->events, event, PREV_COMM, raw, out->prev->name, sizeof(out->prev->name));
    if (out->next->tid && !out->next->comm)
        pf_event_text(&switches->events, event, NEXT_COMM, raw, out->next->name, sizeof(out->next->name));
    return true;
}

/* The records say when it comes and goes; only its run is known, and why it goes. */
static int take_switch_of_thread(struct pf_switches *switches, struct pf_switch *out)
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

static int take_switch(struct pf_switches *switches, const struct pf_event_fields *event,
                       const struct perfile_sample *sample, struct pf_switch *out)
{
    uint64_t prev, next, state = 0;
    const struct perfile_bytes *raw = &sample->raw;
    if (!pf_event_number(&switches->events, event, PREV_PID, raw, &prev) ||
        !pf_event_number(&switches->events, event, NEXT_PID, raw, &next))
        return 0;
    const bool has_state = pf_event_number(&switches->events, event, PREV_STATE, raw, &state);
    struct pf_sched_cpu *cpu = cpu_of(switches, out->cpu);
    out->kind = PF_SWITCHED;
    out->prev = task_of(switches, (int32_t)prev, out->cpu);
    out->next = task_of(switches, (int32_t)next, out->cpu);
    if (!cpu || !out->prev || !out->next)
        return out->cpu >= PF_SCHED_MOST_CPUS ? 0 : PERFILE_ERROR_MEMORY;
    name_tasks(switches, event, raw, out);
    if (sample->tid == out->prev->tid && sample->pid > 0)
        out->prev->pid = sample->pid;
    out->state = has_state ? letter_of(switches, state, &out->preempted) : 0;
    if (switches->by_records)
        return take_switch_of_thread(switches, out);
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

/* The task that an event tells of, named by its fields at 0 and 1. NULL: none, or out of memory. */
static struct pf_sched_task *told_task(struct pf_switches *switches, const struct pf_event_fields *event,
                                       const struct perfile_sample *sample)
{
    uint64_t tid;
    if (!pf_event_number(&switches->events, event, WAKE_PID, &sample->raw, &tid) || !(uint32_t)tid)
        return NULL;
    struct pf_sched_task *task = find_task(switches, (uint32_t)tid);
    if (task && !task->comm)
        pf_event_text(&switches->events, event, WAKE_COMM, &sample->raw, task->name, sizeof(task->name));
    if (task)
        task->busy = true;
    return task;
}

/* Who is current says the sample, but of a task that is ending; NULL: not known. */
static struct pf_sched_task *current_task(struct pf_switches *switches, const struct perfile_sample *sample,
                                          uint32_t cpu)
{
    if (sample->present & PERFILE_SAMPLE_TID && sample->tid >= 0)
        return task_of(switches, sample->tid, cpu);
    return cpu < switches->cpu_count ? switches->cpus[cpu].task : NULL;
}

static int take_waking(struct pf_switches *switches, const struct pf_event_fields *event,
                       const struct perfile_sample *sample, struct pf_switch *out)
{
    out->next = told_task(switches, event, sample);
    out->prev = current_task(switches, sample, out->cpu);
    if (!out->next)
        return 0;
    if (out->prev && out->prev->tid && sample->pid > 0)
        out->prev->pid = sample->pid;
    out->kind = PF_WOKEN;
    if (!out->next->ready_time) {
        out->next->ready_time = out->time;
        out->next->waker = out->prev;
        out->shown = true; /* the first one since it slept */
    }
    return 1;
}

static int take_migration(struct pf_switches *switches, const struct pf_event_fields *event,
                          const struct perfile_sample *sample, struct pf_switch *out)
{
    uint64_t from = 0, to = 0;
    out->next = told_task(switches, event, sample);
    out->prev = current_task(switches, sample, out->cpu);
    if (!out->next)
        return 0;
    (void)pf_event_number(&switches->events, event, MIGRATE_FROM, &sample->raw, &from);
    (void)pf_event_number(&switches->events, event, MIGRATE_TO, &sample->raw, &to);
    out->kind = PF_MIGRATED;
    out->from_cpu = (uint32_t)from;
    out->to_cpu = (uint32_t)to;
    out->next->migrate_time = out->time;
    return 1;
}

static int take_runtime(struct pf_switches *switches, const struct pf_event_fields *event,
                        const struct perfile_sample *sample, struct pf_switch *out)
{
    out->kind = PF_RAN;
    out->next = told_task(switches, event, sample);
    return out->next && pf_event_number(&switches->events, event, RUNTIME_NS, &sample->raw, &out->value);
}

static int take_sample(struct pf_switches *switches, const struct perfile_record *record,
                       const struct perfile_sample *sample, struct pf_switch *out)
{
    const struct pf_event_fields *event = pf_events_find(&switches->events, record->event);
    if (!event)
        return 0;
    if (!sample) {
        sample = &switches->sample;
        switches->sample.size = sizeof(switches->sample);
        if (record->damaged || perfile_sample_decode(record, &switches->sample, NULL) < 0)
            return 0;
    }
    enum { NEEDED = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU };
    if ((sample->present & NEEDED) != NEEDED)
        return 0;
    out->time = sample->time;
    out->cpu = sample->cpu;
    switch ((enum wish)event->wish) {
    case SWITCH:
        switches->have.switches = true;
        if (!switches->letters_known)
            read_letters(switches, record->event);
        return take_switch(switches, event, sample, out);
    case WAKING:
    case WAKEUP_NEW:
        switches->have.wakings |= event->wish == WAKING;
        return take_waking(switches, event, sample, out);
    case WAKEUP:
        switches->have.wakeups = true;
        return switches->has_wakings ? 0 : take_waking(switches, event, sample, out);
    case MIGRATE:
        switches->have.migrations = true;
        return take_migration(switches, event, sample, out);
    case RUNTIME:
        switches->have.runtimes = true;
        return take_runtime(switches, event, sample, out);
    }
    return 0;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Without a CPU it may have been any of them. */
static int take_lost(struct pf_switches *switches, const struct perfile_record *record, uint64_t lost,
                     struct pf_switch *out)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    enum { NEEDED = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU };
    const bool where = perfile_sample_id_decode(switches->reader, record, &id, NULL) >= 0 &&
                       (id.present & NEEDED) == NEEDED && id.time;
    switches->lost_count += lost;
    switches->lost_chunks++;
    out->kind = PF_LOST_HERE;
    out->time = where ? id.time : record->time;
    out->cpu = where ? id.cpu : UINT32_MAX;
    out->value = lost;
    if (where) {
        struct pf_sched_cpu *cpu = cpu_of(switches, id.cpu);
        if (cpu)
            cpu->lost_time = id.time;
        return cpu || id.cpu >= PF_SCHED_MOST_CPUS ? 1 : PERFILE_ERROR_MEMORY;
    }
    for (size_t i = 0; out->time != UINT64_MAX && i < switches->cpu_count; i++)
        switches->cpus[i].lost_time = out->time;
    return 1;
}

static int take_losses(struct pf_switches *switches, const struct perfile_record *record, struct pf_switch *out)
{
    struct perfile_lost lost;
    struct perfile_lost_samples samples;
    if (record->type == PERFILE_RECORD_LOST)
        return perfile_record_decode(switches->reader, record, &lost, sizeof(lost), NULL) < 0
                   ? 0
                   : take_lost(switches, record, lost.lost, out);
    return perfile_record_decode(switches->reader, record, &samples, sizeof(samples), NULL) < 0
               ? 0
               : take_lost(switches, record, samples.lost, out);
}

/* Records of threads say more exactly than samples when these came and went. */
static void begin_records(struct pf_switches *switches)
{
    switches->by_records = true;
    for (size_t i = 0; i < switches->task_count; i++)
        switches->tasks[i]->out_time = 0;
}

static int take_switch_record(struct pf_switches *switches, const struct perfile_record *record, struct pf_switch *out)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    enum { NEEDED = PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_TID };
    if (perfile_sample_id_decode(switches->reader, record, &id, NULL) < 0 || (id.present & NEEDED) != NEEDED || !id.tid)
        return 0;
    if (!switches->by_records)
        begin_records(switches);
    struct pf_sched_task *task = find_task(switches, (uint32_t)id.tid);
    if (!task)
        return PERFILE_ERROR_MEMORY;
    if (id.pid > 0)
        task->pid = id.pid;
    out->time = id.time;
    out->cpu = id.present & PERFILE_SAMPLE_CPU ? id.cpu : UINT32_MAX;
    if (record->misc & PERFILE_MISC_SWITCH_OUT) {
        out->kind = PF_SWITCHED_OUT;
        out->prev = task;
        out->preempted = record->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT;
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

int pf_switches_take(struct pf_switches *switches, const struct perfile_record *record,
                     const struct perfile_sample *sample, struct pf_switch *out)
{
    *out = (struct pf_switch){.cpu = UINT32_MAX};
    if (!switches->record_count++)
        switches->has_wakings = pf_events_have(&switches->events, WAKING);
    switch (record->type) {
    case PERFILE_RECORD_SAMPLE:
        return take_sample(switches, record, sample, out);
    case PERFILE_RECORD_COMM:
        return take_comm(switches, record) ? 0 : PERFILE_ERROR_MEMORY;
    case PERFILE_RECORD_FORK:
        return take_fork(switches, record) ? 0 : PERFILE_ERROR_MEMORY;
    case PERFILE_RECORD_EXIT:
        take_exit(switches, record);
        return 0;
    case PERFILE_RECORD_LOST:
    case PERFILE_RECORD_LOST_SAMPLES:
        return take_losses(switches, record, out);
    case PERFILE_RECORD_SWITCH_CPU_WIDE:
        switches->have.switch_records = true;
        return switches->have.switches ? 0 : take_switch_record(switches, record, out);
    case PERFILE_RECORD_SWITCH:
        switches->have.switch_records = true;
        return take_switch_record(switches, record, out);
    default:
        return 0;
    }
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

uint64_t pf_switches_machine_cpus(struct pf_switches *switches)
{
    uint64_t count;
    const int result = perfile_feature_number(switches->reader, PERFILE_FEATURE_NRCPUS, "nr_cpus_online", &count, NULL);
    return pf_memory_heed(switches->allocator, result) == 0 ? pf_min(count, PF_SCHED_MOST_CPUS) : 0;
}

/* Only tasks of the recorder's choice left CPUs, and came from nowhere. */
static bool seems_per_task(const struct pf_switches *switches)
{
    return switches->by_records ||
           (switches->switch_count > 1 && switches->mismatch_count * 4 > switches->switch_count);
}

void pf_switches_tell(struct pf_switches *switches, pf_switches_told *told, void *context)
{
    char text[NOTE_BYTES];
    if (!told)
        return;
    if (!switches->have.switches)
        told(context, "the recording has no events sched:sched_switch; record with: " PF_RECORD_SCHED);
    else if (!switches->have.wakings && !switches->have.wakeups)
        told(context, "the recording has no events sched:sched_waking: how long tasks waited for a CPU after they were "
                      "woken is not known; record with: " PF_RECORD_SCHED);
    if (switches->have.switches && seems_per_task(switches))
        told(context, "the recording is not of all CPUs: when tasks came to a CPU, and who woke them, is mostly not "
                      "known; record with: " PF_RECORD_SCHED);
    if (switches->cut_count) {
        snprintf(text, sizeof(text),
                 "%" PRIu64 " intervals span a loss of records, or an event that is missing: how long they were is not "
                 "known, and no sum has them",
                 switches->cut_count);
        told(context, text);
    }
    if (switches->foreign_count) {
        snprintf(text, sizeof(text), "%" PRIu64 " events are of CPUs with a number above %d, and left out",
                 switches->foreign_count, PF_SCHED_MOST_CPUS - 1);
        told(context, text);
    }
}
