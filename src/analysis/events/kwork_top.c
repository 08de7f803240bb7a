/* SPDX-License-Identifier: MIT */
#include "analysis/events/kwork_top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/events/advice.h"
#include "platform/platform.h"

enum { MAX_CPUS = 8192 }; /* as many as kernels are built for */

enum required {
#define PF_KWORK_TOP(id, ...) id,
#include "analysis/events/events.def"
};
enum { PREV_PID, NEXT_PID, PREV_COMM, NEXT_COMM };

static const struct pf_required_event required[] = {
#define PF_KWORK_TOP PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_kwork_top_events = {required, PF_COUNT(required)};

void pf_kwork_top_open(struct pf_kwork_top *top, struct perfile_reader *reader,
                       const struct perfile_allocator *allocator)
{
    *top = (struct pf_kwork_top){.reader = reader, .allocator = allocator};
    pf_bound_events_open(&top->events, reader, &pf_kwork_top_events, allocator);
    pf_pairs_open(&top->index, allocator);
    pf_pairs_open(&top->part_index, allocator);
}

void pf_kwork_top_close(struct pf_kwork_top *top)
{
    if (!top->reader)
        return;
    pf_bound_events_close(&top->events);
    pf_pairs_close(&top->index);
    pf_pairs_close(&top->part_index);
    pf_free(top->allocator, top->tasks, top->capacity * sizeof(*top->tasks));
    pf_free(top->allocator, top->parts, top->part_capacity * sizeof(*top->parts));
    pf_free(top->allocator, top->cpus, top->cpu_capacity * sizeof(*top->cpus));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct pf_kwork_top_cpu *cpu_of(struct pf_kwork_top *top, uint32_t cpu)
{
    struct pf_kwork_top_cpu *at = PF_ELEMENT(top->allocator, top->cpus, top->cpu_capacity, cpu);
    if (at)
        top->cpu_count = pf_max(top->cpu_count, (size_t)cpu + 1);
    return at;
}

/* Returns the index of the task plus 1; 0 when out of memory. */
static uint32_t find_task(struct pf_kwork_top *top, int32_t tid, uint32_t cpu)
{
    const uint32_t of_cpu = tid ? UINT32_MAX : cpu;
    uint32_t position;
    if (pf_pairs_get(&top->index, (uint32_t)tid, of_cpu, &position))
        return position + 1;
    if (top->count >= UINT32_MAX - 1 ||
        !pf_grow(top->allocator, &top->tasks, &top->capacity, top->count + 1, sizeof(*top->tasks)) ||
        !pf_pairs_put(&top->index, (uint32_t)tid, of_cpu, (uint32_t)top->count))
        return 0;
    top->tasks[top->count] = (struct pf_kwork_task){.tid = tid, .cpu = of_cpu};
    return (uint32_t)++top->count;
}

/* NULL: out of memory. */
static struct pf_kwork_part *find_part(struct pf_kwork_top *top, uint32_t task, uint32_t cpu)
{
    uint32_t position;
    if (pf_pairs_get(&top->part_index, task, cpu, &position))
        return &top->parts[position];
    if (!pf_grow(top->allocator, &top->parts, &top->part_capacity, top->part_count + 1, sizeof(*top->parts)) ||
        !pf_pairs_put(&top->part_index, task, cpu, (uint32_t)top->part_count))
        return NULL;
    top->parts[top->part_count] = (struct pf_kwork_part){.task = task, .cpu = cpu};
    return &top->parts[top->part_count++];
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* The time since the last event of the run. */
static void count_time(struct pf_kwork_top_cpu *cpu, uint64_t time)
{
    const enum pf_kwork_use use = cpu->in_irq ? PF_KWORK_IN_IRQ : cpu->in_softirq ? PF_KWORK_IN_SOFTIRQ : PF_KWORK_TASK;
    cpu->run[use] += time - pf_min(cpu->since, time);
    cpu->since = time;
}

/* False: out of memory. */
static bool add_run(struct pf_kwork_top *top, struct pf_kwork_top_cpu *cpu, uint32_t number)
{
    struct pf_kwork_task *task = &top->tasks[cpu->row - 1];
    struct pf_kwork_part *part = find_part(top, cpu->row - 1, number);
    if (!part)
        return false;
    for (unsigned i = 0; i < PF_KWORK_USES; i++) {
        task->times[i] += cpu->run[i];
        cpu->times[i] += cpu->run[i];
    }
    part->run += cpu->run[PF_KWORK_TASK];
    cpu->idle += task->tid ? 0 : cpu->run[PF_KWORK_TASK];
    return true;
}

static void begin_run(struct pf_kwork_top_cpu *cpu, uint32_t row, uint64_t time)
{
    cpu->row = row;
    cpu->since = time;
    cpu->in_irq = cpu->in_softirq = false;
    memset(cpu->run, 0, sizeof(cpu->run));
}

static void name_task(struct pf_kwork_top *top, uint32_t row, const struct pf_event_fields *event, size_t field,
                      const struct perfile_bytes *raw)
{
    struct pf_kwork_task *task = &top->tasks[row - 1];
    if (!task->tid)
        snprintf(task->name, sizeof(task->name), "swapper/%" PRIu32, task->cpu);
    else
        pf_event_text(&top->events, event, field, raw, task->name, sizeof(task->name));
}

/* Nothing is known of a run that does not end with the task that it began with, or within an interrupt. */
static bool take_switch(struct pf_kwork_top *top, const struct pf_delivered *item, const struct pf_event_fields *event)
{
    const struct perfile_bytes *raw = &item->sample.raw;
    const uint32_t number = item->sample.cpu;
    uint64_t prev, next;
    if (!pf_event_number(&top->events, event, PREV_PID, raw, &prev) ||
        !pf_event_number(&top->events, event, NEXT_PID, raw, &next))
        return true;
    const uint32_t left = find_task(top, (int32_t)prev, number), came = find_task(top, (int32_t)next, number);
    struct pf_kwork_top_cpu *cpu = left && came ? cpu_of(top, number) : NULL;
    if (!cpu)
        return false;
    name_task(top, left, event, PREV_COMM, raw);
    name_task(top, came, event, NEXT_COMM, raw);
    count_time(cpu, item->sample.time);
    const bool matches = cpu->row == left && !cpu->in_irq && !cpu->in_softirq;
    top->mismatches += cpu->row && !matches;
    if (matches && !add_run(top, cpu, number))
        return false;
    begin_run(cpu, came, item->sample.time);
    return true;
}

static void take_interrupt(struct pf_kwork_top *top, uint32_t number, uint64_t time, enum required event)
{
    struct pf_kwork_top_cpu *cpu = number < top->cpu_count ? &top->cpus[number] : NULL;
    if (!cpu || !cpu->row)
        return;
    count_time(cpu, time);
    if (event == IRQ_ENTRY || event == IRQ_EXIT)
        cpu->in_irq = event == IRQ_ENTRY && pf_events_have(&top->events, IRQ_EXIT);
    else
        cpu->in_softirq = event == SOFTIRQ_ENTRY && pf_events_have(&top->events, SOFTIRQ_EXIT);
}

/* Without a CPU it may have been any of them. */
static void take_loss(struct pf_kwork_top *top, const struct perfile_record *record)
{
    struct perfile_lost lost;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    if (record->type != PERFILE_RECORD_LOST || record->damaged ||
        perfile_record_decode(top->reader, record, &lost, sizeof(lost), NULL) < 0)
        return;
    const bool notify =
        perfile_sample_id_decode(top->reader, record, &id, NULL) >= 0 && id.present & PERFILE_SAMPLE_CPU;
    top->lost += lost.lost;
    for (size_t i = 0; i < top->cpu_count; i++)
        if (!notify || i == id.cpu)
            top->cpus[i].row = 0;
}

static bool is_wanted(const struct pf_kwork_top *top, const char *class)
{
    const size_t bytes = strlen(class);
    for (const char *at = top->classes; at && *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        if (length == bytes && strncmp(at, class, bytes) == 0)
            return true;
        at += length;
    }
    return !top->classes || !*top->classes;
}

bool pf_kwork_top_take(struct pf_kwork_top *top, const struct pf_delivered *item)
{
    if (!item->is_sample) {
        take_loss(top, item->record);
        return true;
    }
    const struct pf_event_fields *event = pf_events_find(&top->events, item->event);
    if (!event || !is_wanted(top, required[event->id].event.kind))
        return true;
    if (!(item->sample.present & PERFILE_SAMPLE_CPU) || item->sample.cpu >= MAX_CPUS) {
        top->foreign++;
        return true;
    }
    if (event->id == SWITCH)
        return take_switch(top, item, event);
    take_interrupt(top, item->sample.cpu, item->sample.time, (enum required)event->id);
    return true;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

enum key { RATE, RUNTIME, TID };
static const struct pf_sort_names key_names = {{[RATE] = "rate", [RUNTIME] = "runtime", [TID] = "tid"}, "rate,runtime"};

int pf_kwork_top_order(struct pf_kwork_top *top, const char *keys, struct perfile_error *error)
{
    return pf_sort_keys_parse(&top->keys, keys, &key_names, error);
}

static int by_key(unsigned key, const void *left, const void *right)
{
    const struct pf_kwork_task *a = left, *b = right;
    switch ((enum key)key) {
    case RATE:
        return pf_sort_down(a->share, b->share);
    case RUNTIME:
        return pf_sort_down(a->times[PF_KWORK_TASK], b->times[PF_KWORK_TASK]);
    default:
        return (a->tid > b->tid) - (a->tid < b->tid);
    }
}

static int compare(const void *left, const void *right, void *keys)
{
    const struct pf_kwork_task *a = left, *b = right;
    int order = pf_sort_keys_compare(keys, left, right, by_key);
    order = order ? order : by_key(TID, left, right);
    return order ? order : (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void share_out(struct pf_kwork_top *top)
{
    for (size_t i = 0; i < top->part_count; i++) {
        const struct pf_kwork_part *part = &top->parts[i];
        struct pf_kwork_task *task = &top->tasks[part->task];
        struct pf_kwork_top_cpu *cpu = &top->cpus[part->cpu];
        const uint64_t total = pf_kwork_top_total(cpu);
        task->left_out = top->name && strcmp(task->name, top->name) != 0;
        task->share += total ? (uint64_t)((double)part->run * 10000 / (double)total) : 0;
        cpu->load += task->tid && !task->left_out ? part->run : 0;
    }
}

/* Those that ran. */
static size_t keep_rows(struct pf_kwork_top *top)
{
    size_t count = 0;
    for (size_t i = 0; i < top->count; i++)
        if (!top->tasks[i].left_out && top->tasks[i].times[PF_KWORK_TASK])
            top->tasks[count++] = top->tasks[i];
    return count;
}

void pf_kwork_top_sort(struct pf_kwork_top *top)
{
    share_out(top);
    top->count = keep_rows(top);
    if (top->count)
        pf_platform_sort(top->tasks, top->count, sizeof(*top->tasks), compare, &top->keys);
}

void pf_kwork_top_notify(struct pf_kwork_top *top, pf_on_note *notify, void *context)
{
    char text[256];
    if (!notify)
        return;
    if (!pf_events_have(&top->events, SWITCH)) {
        notify(context, "the recording has no events sched:sched_switch; record with: " PF_RECORD_KWORK);
        return;
    }
    if (!pf_events_have(&top->events, IRQ_EXIT) || !pf_events_have(&top->events, SOFTIRQ_EXIT))
        notify(context, "without events of interrupts and softirqs their time is that of the tasks around them; record "
                        "with: " PF_RECORD_KWORK);
    const struct {
        uint64_t count;
        const char *text;
    } notes[] = {{top->mismatches, "runs of tasks have no end, because events are missing: they are not counted"},
                 {top->lost, "records were lost: what ran on their CPUs then is not counted"},
                 {top->foreign, "events have no CPU, or one above 8191, and are left out"}};
    for (size_t i = 0; i < PF_COUNT(notes); i++)
        if (notes[i].count) {
            snprintf(text, sizeof(text), "%" PRIu64 " %s", notes[i].count, notes[i].text);
            notify(context, text);
        }
}
