/* SPDX-License-Identifier: MIT */
#include "analysis/events/offcpu.h"

#include <inttypes.h>
#include <perfile/analysis.h>
#include <stdio.h>

#include "analysis/delivered.h"
#include "analysis/events/advice.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"

enum required {
#define PF_OFFCPU(id, ...) id,
#include "analysis/events/events.def"
};
static const struct pf_required_event required[] = {
#define PF_OFFCPU PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_offcpu_events = {required, PF_COUNT(required)};

/* A copy of a record. */
struct kept {
    struct perfile_record record;
    uint8_t *data;
    size_t capacity;
    bool valid;
};

struct pf_offcpu {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct pf_switches switches;
    enum pf_offcpu_what what;
    struct kept *kept; /* by the task's number */
    size_t kept_capacity;
    struct perfile_sample sample;
    bool has_switch_event; /* only samples of such events have the stacks */
    bool looked;
    struct perfile_event event;
    struct perfile_attr attr;
    uint64_t on; /* samples of clocks */
    uint64_t delivered, cut, without_stack, without_waker;
    struct {
        bool waits;                          /* to be given */
        const struct perfile_record *record; /* with the stack, or what says that the time ended */
        bool has_stack;
        struct pf_off off; /* `to` is 0: a time on CPU */
    } next;
    struct perfile_sample bare; /* of a time without a stack */
    struct pf_off now;          /* of the sample that was given last */
};

_Static_assert(sizeof(struct pf_off) <= PF_SYNTHESIZED_NOTE * sizeof(uint64_t), "it is kept with samples that wait");

static const struct {
    const char *name, *doc;
} whats[] = {
    [PF_OFFCPU_BLOCKED] = {"blocked", "times in which a task could not run, until it came back to a CPU; the default"},
    [PF_OFFCPU_ALL] = {"all", "also times in which it was preempted"},
    [PF_OFFCPU_BOTH] = {"both",
                        "these, and the times on CPU, of which cpu-clock or task-clock must have been recorded"},
    [PF_OFFCPU_WAKERS] = {"wakers", "how long tasks were blocked until they were woken, by the stack of the waker"},
};

const char *perfile_off_cpu_at(size_t index, const char **doc)
{
    if (index >= PF_COUNT(whats))
        return NULL;
    if (doc)
        *doc = whats[index].doc;
    return whats[index].name;
}

int pf_offcpu_parse(const char *text, enum pf_offcpu_what *what, struct perfile_error *error)
{
    for (unsigned i = 0; i < PF_COUNT(whats); i++)
        if (strcmp(whats[i].name, text) == 0) {
            *what = (enum pf_offcpu_what)i;
            return 0;
        }
    return pf_about(error, text, strlen(text),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter",
                            "unknown times off CPU '%.40s'; valid: blocked, all, both, wakers", text));
}

struct pf_offcpu *pf_offcpu_open(struct perfile_reader *reader, enum pf_offcpu_what what,
                                 const struct perfile_allocator *allocator)
{
    struct pf_offcpu *offcpu = pf_new(allocator, sizeof(*offcpu));
    if (!offcpu)
        return NULL;
    offcpu->allocator = allocator;
    offcpu->reader = reader;
    offcpu->what = what;
    pf_switches_open(&offcpu->switches, reader, allocator);
    return offcpu;
}

void pf_offcpu_close(struct pf_offcpu *offcpu)
{
    if (!offcpu)
        return;
    for (size_t i = 0; i < offcpu->kept_capacity; i++)
        pf_free(offcpu->allocator, offcpu->kept[i].data, offcpu->kept[i].capacity);
    pf_free(offcpu->allocator, offcpu->kept, offcpu->kept_capacity * sizeof(*offcpu->kept));
    pf_switches_close(&offcpu->switches);
    pf_free(offcpu->allocator, offcpu, sizeof(*offcpu));
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

bool pf_offcpu_is_switch_event(const struct perfile_event *event)
{
    const struct perfile_attr *attr = event->attr;
    return strcmp(event->name, "sched:sched_switch") == 0 ||
           (attr->type == PERFILE_TYPE_SOFTWARE && attr->config == PERFILE_COUNT_SW_CONTEXT_SWITCHES);
}

static const struct perfile_event *find_switch_event(const struct pf_offcpu *offcpu)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(offcpu->reader, i)); i++)
        if (pf_offcpu_is_switch_event(event))
            return event;
    return NULL;
}

/* Those of a stream are known when its first samples come. */
static void look_at_events(struct pf_offcpu *offcpu)
{
    const struct perfile_event *event = find_switch_event(offcpu);
    offcpu->has_switch_event = event;
    event = event ? event : perfile_event_get(offcpu->reader, 0);
    if (!event)
        return;
    offcpu->looked = true;
    offcpu->attr = *event->attr;
    offcpu->attr.type = PERFILE_TYPE_SOFTWARE;
    offcpu->attr.config = PERFILE_COUNT_SW_TASK_CLOCK; /* counts ns */
    offcpu->event = *event;
    offcpu->event.attr = &offcpu->attr;
    offcpu->event.name = offcpu->what == PF_OFFCPU_WAKERS ? "blocked-by-waker"
                         : offcpu->what == PF_OFFCPU_BOTH ? "on-and-off-cpu"
                                                          : "off-cpu";
    offcpu->event.unit = NULL;
    offcpu->event.scale = 1;
}

/* What all its samples belong to: its name says what is measured, its unit is ns. NULL: the recording has no events. */
static const struct perfile_event *event_of(struct pf_offcpu *offcpu)
{
    if (!offcpu->looked)
        look_at_events(offcpu);
    return offcpu->looked ? &offcpu->event : NULL;
}

/* A sample of a clock, which is wanted beside the times off CPU. */
static bool is_on(const struct pf_offcpu *offcpu, const struct perfile_record *record)
{
    const bool is_sample = record->type == PERFILE_RECORD_SAMPLE;
    const struct perfile_attr *attr = is_sample && record->event ? record->event->attr : NULL;
    return offcpu->what == PF_OFFCPU_BOTH && attr && attr->type == PERFILE_TYPE_SOFTWARE &&
           (attr->config == PERFILE_COUNT_SW_CPU_CLOCK || attr->config == PERFILE_COUNT_SW_TASK_CLOCK);
}

/* ---- records that are kept --------------------------------------------------------------------------------------- */

/* NULL when out of memory. */
static struct kept *kept_of(struct pf_offcpu *offcpu, const struct pf_sched_task *task)
{
    return PF_ELEMENT(offcpu->allocator, offcpu->kept, offcpu->kept_capacity, task->number);
}

static bool keep(struct pf_offcpu *offcpu, const struct pf_sched_task *task, const struct perfile_record *record)
{
    struct kept *kept = kept_of(offcpu, task);
    if (!kept || !pf_grow(offcpu->allocator, &kept->data, &kept->capacity, record->bytes, 1))
        return false;
    memcpy(kept->data, record->data, record->bytes);
    kept->record = *record;
    kept->record.data = kept->data;
    kept->valid = true;
    return true;
}

/* The task that a sample of another event names; NULL: none, or out of memory. */
static const struct pf_sched_task *task_of_sample(struct pf_offcpu *offcpu, const struct perfile_record *record)
{
    if (!record->event || record->damaged || (offcpu->has_switch_event && !pf_offcpu_is_switch_event(record->event)))
        return NULL;
    offcpu->sample.size = sizeof(offcpu->sample);
    if (perfile_sample_decode(record, &offcpu->sample, NULL) < 0 || !(offcpu->sample.present & PERFILE_SAMPLE_TID) ||
        offcpu->sample.tid <= 0)
        return NULL;
    return pf_switches_task(&offcpu->switches, offcpu->sample.pid, offcpu->sample.tid);
}

/* False: out of memory. */
static bool keep_stack(struct pf_offcpu *offcpu, const struct perfile_record *record, const struct pf_switch *now,
                       bool notify)
{
    const struct pf_sched_task *task;
    if (record->type != PERFILE_RECORD_SAMPLE)
        return true;
    if (offcpu->what == PF_OFFCPU_WAKERS)
        return !notify || now->kind != PF_WOKEN || !now->shown || keep(offcpu, now->next, record);
    if (notify)
        return now->kind != PF_SWITCHED || !now->prev->tid || keep(offcpu, now->prev, record);
    task = task_of_sample(offcpu, record);
    return !task || keep(offcpu, task, record);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

static void fill(const struct pf_offcpu *offcpu, const struct pf_switch *now, struct pf_off *off)
{
    const struct pf_range *window = &offcpu->switches.window;
    const uint64_t ready = now->off_ready_time;
    const bool could_run = now->off_state == 'R';
    const uint64_t end = offcpu->what == PF_OFFCPU_WAKERS ? ready : now->time;
    *off = (struct pf_off){.from = pf_max(now->off_time, window->first),
                           .to = pf_min(end, window->last),
                           .preempted = now->off_preempted || could_run,
                           .state = now->off_state,
                           .task = now->next,
                           .waker = could_run ? NULL : now->off_waker};
    if (!ready || off->from >= off->to)
        return;
    off->delay_known = true;
    off->delay = ready < off->to ? off->to - pf_max(ready, off->from) : 0;
}

static bool is_wanted(struct pf_offcpu *offcpu, const struct pf_switch *now, const struct pf_off *off)
{
    if (!now->next->tid || !now->off_time || off->to < off->from)
        return false;
    if (now->off_cut) {
        offcpu->cut++;
        return false;
    }
    if (offcpu->what == PF_OFFCPU_ALL || offcpu->what == PF_OFFCPU_BOTH)
        return true;
    if (off->preempted)
        return false;
    if (offcpu->what == PF_OFFCPU_WAKERS && !now->off_ready_time) {
        offcpu->without_waker++;
        return false;
    }
    return true;
}

int pf_offcpu_take(struct pf_offcpu *offcpu, const struct perfile_record *record, struct pf_off *off,
                   const struct perfile_record **sample, struct perfile_error *error)
{
    struct pf_switch now;
    int result = 0;
    if (PF_UNLIKELY(!offcpu->looked) && record->type == PERFILE_RECORD_SAMPLE)
        look_at_events(offcpu);
    offcpu->on += is_on(offcpu, record);
    const int notify = pf_switches_take(&offcpu->switches, record, &now);
    if (notify < 0)
        return pf_fail_memory(error, "times off CPU");
    const bool comes = notify && (now.kind == PF_SWITCHED_IN || (now.kind == PF_SWITCHED && now.off_time));
    *sample = NULL;
    if (comes) {
        struct kept *kept = kept_of(offcpu, now.next);
        if (!kept)
            return pf_fail_memory(error, "times off CPU");
        fill(offcpu, &now, off);
        if (is_wanted(offcpu, &now, off)) {
            *sample = kept->valid ? &kept->record : NULL;
            offcpu->without_stack += !kept->valid;
            offcpu->delivered++;
            result = 1;
        }
        kept->valid = false;
    }
    if (!keep_stack(offcpu, record, &now, notify))
        return pf_fail_memory(error, "times off CPU");
    /* the tasks may have become more, and what is kept of this one is elsewhere */
    if (result && *sample)
        *sample = &offcpu->kept[now.next->number].record;
    return result;
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

void pf_offcpu_report_missing(struct pf_offcpu *offcpu, pf_on_note *notify, void *notify_context)
{
    const struct pf_switches_have *have = &offcpu->switches.reading.have;
    char text[PF_COUNTED_BYTES];
    if (!notify)
        return;
    if (!have->switches && !have->switch_records)
        notify(notify_context, "the recording does not say when tasks left their CPUs; record with: " PF_RECORD_OFFCPU);
    else if (!have->switches && !offcpu->has_switch_event)
        notify(notify_context,
               "times off CPU are right for each thread, but not for each stack: stacks are those of the last "
               "sample before, which is mostly another one; record with: " PF_RECORD_OFFCPU);
    else if (offcpu->what == PF_OFFCPU_WAKERS && !have->wakings && !have->wakeups)
        notify(notify_context, "the recording does not say which task woke which; record with: " PF_RECORD_OFFCPU);
    pf_switches_notify_cpus(&offcpu->switches, notify, notify_context);
    if (offcpu->has_switch_event && offcpu->attr.freq)
        notify(notify_context,
               "switches were recorded at a frequency: not all stacks are there, and nothing is scaled; record with "
               "-c 1");
    if (offcpu->what == PF_OFFCPU_BOTH && !offcpu->on)
        notify(notify_context,
               "the recording has no samples of cpu-clock or task-clock: the times on CPU are missing; record "
               "with: " PF_RECORD_BOTH);
    if (offcpu->without_stack) {
        notify(notify_context,
               pf_part_of(offcpu->without_stack, offcpu->delivered, "times off CPU have no stack", text));
    }
    if (offcpu->without_waker) {
        notify(notify_context, pf_count_of(offcpu->without_waker, "times off CPU were ended by an unknown task", text));
    }
    if (offcpu->cut) {
        notify(notify_context,
               pf_count_of(offcpu->cut, "times off CPU are left out: unknown length because of lost records", text));
    }
}

/* ---- as samples -------------------------------------------------------------------------------------------------- */

static void report_missing(void *context, pf_on_note *notify, void *notify_context)
{
    pf_offcpu_report_missing(context, notify, notify_context);
}

static int take_record(void *context, const struct perfile_record *record, struct perfile_error *error)
{
    struct pf_offcpu *offcpu = context;
    const struct perfile_record *stack = NULL;
    const int ended = pf_offcpu_take(offcpu, record, &offcpu->next.off, &stack, error);
    if (ended < 0)
        return ended;
    const bool on = !ended && is_on(offcpu, record);
    if (!ended && !on)
        return 0;
    offcpu->next.waits = true;
    offcpu->next.record = stack ? stack : record;
    offcpu->next.has_stack = stack || on;
    offcpu->next.off.to = ended ? offcpu->next.off.to : 0;
    return 1;
}

static int give_next(void *context, uint64_t time, struct pf_synthesized *made, struct perfile_error *error)
{
    struct pf_offcpu *offcpu = context;
    const struct pf_sched_task *task = offcpu->next.off.task;
    (void)time, (void)error;
    if (!offcpu->next.waits)
        return 0;
    offcpu->next.waits = false;
    made->sample = NULL;
    made->record = offcpu->next.record;
    memcpy(made->note, &offcpu->next.off, sizeof(offcpu->next.off));
    if (offcpu->next.has_stack)
        return 1;
    offcpu->bare = (struct perfile_sample){.size = sizeof(offcpu->bare),
                                           .present = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME,
                                           .pid = task->pid,
                                           .tid = task->tid,
                                           .cpu = UINT32_MAX};
    made->sample = &offcpu->bare;
    return 1;
}

/* Of a time off CPU the sample has the stack; of a time on CPU it counts what it counted. */
static void complete(void *context, const uint64_t *note, struct pf_delivered *item)
{
    struct pf_offcpu *offcpu = context;
    const struct perfile_event *event = event_of(offcpu);
    memcpy(&offcpu->now, note, sizeof(offcpu->now));
    item->event = event ? event : item->event;
    item->sample.present &= ~(uint64_t)PERFILE_SAMPLE_READ;
    if (!offcpu->now.to)
        return;
    item->off = &offcpu->now;
    item->sample.present |= PERFILE_SAMPLE_TIME;
    item->sample.time = offcpu->now.to;
    item->sample.period = offcpu->now.to - offcpu->now.from;
}

static void close_context(void *context)
{
    pf_offcpu_close(context);
}

int pf_offcpu_synthesizer(struct pf_synthesizer *synthesizer, struct perfile_reader *reader, const char *what,
                          const struct pf_filter *filter, const struct perfile_allocator *allocator,
                          struct perfile_error *error)
{
    enum pf_offcpu_what parsed = PF_OFFCPU_BLOCKED;
    const int result = pf_offcpu_parse(what, &parsed, error);
    if (result < 0)
        return result;
    struct pf_offcpu *offcpu = pf_offcpu_open(reader, parsed, allocator);
    if (!offcpu)
        return pf_fail_memory(error, "samples");
    pf_switches_set_window(&offcpu->switches, filter);
    *synthesizer = (struct pf_synthesizer){.context = offcpu,
                                           .replaces = true,
                                           .take = take_record,
                                           .next = give_next,
                                           .complete = complete,
                                           .report_missing = report_missing,
                                           .close = close_context};
    return 0;
}
