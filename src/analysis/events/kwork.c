/* SPDX-License-Identifier: MIT */
#include "analysis/events/kwork.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/advice.h"
#include "base/counted.h"
#include "platform/platform.h"

enum step { RAISE, ENTRY, EXIT };
enum { ID, NAME, FUNCTION = 1 };

enum required {
#define PF_KWORK(id, ...) id,
#include "analysis/events/events.def"
};

static const struct pf_required_event required[] = {
#define PF_KWORK PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_kwork_events = {required, PF_COUNT(required)};

static const struct {
    enum pf_kwork_class class;
    enum step step;
} meanings[PF_COUNT(required)] = {
    [IRQ_ENTRY] = {PF_KWORK_IRQ, ENTRY},         [IRQ_EXIT] = {PF_KWORK_IRQ, EXIT},
    [SOFTIRQ_RAISE] = {PF_KWORK_SOFTIRQ, RAISE}, [SOFTIRQ_ENTRY] = {PF_KWORK_SOFTIRQ, ENTRY},
    [SOFTIRQ_EXIT] = {PF_KWORK_SOFTIRQ, EXIT},   [WORK_ACTIVATE] = {PF_KWORK_WORKQUEUE, RAISE},
    [WORK_START] = {PF_KWORK_WORKQUEUE, ENTRY},  [WORK_END] = {PF_KWORK_WORKQUEUE, EXIT},
};

void pf_kwork_open(struct pf_kwork *kwork, struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    *kwork = (struct pf_kwork){.reader = reader, .allocator = allocator};
    pf_bound_events_open(&kwork->events, reader, &pf_kwork_events, allocator);
    pf_event_losses_open(&kwork->losses, allocator);
    pf_arena_open(&kwork->arena, allocator);
    pf_pairs_open(&kwork->index, allocator);
    pf_pairs_open(&kwork->raises, allocator);
}

void pf_kwork_close(struct pf_kwork *kwork)
{
    if (!kwork->reader)
        return;
    pf_free(kwork->allocator, kwork->rows, kwork->capacity * sizeof(*kwork->rows));
    pf_free(kwork->allocator, kwork->first_raises, kwork->raise_capacity * sizeof(*kwork->first_raises));
    pf_bound_events_close(&kwork->events);
    pf_event_losses_close(&kwork->losses);
    pf_arena_close(&kwork->arena);
    pf_pairs_close(&kwork->index);
    pf_pairs_close(&kwork->raises);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

const char *pf_kwork_class_name(enum pf_kwork_class class)
{
    static const char *const names[] = {"irq", "softirq", "workqueue"};
    return names[class];
}

static const char *softirq_name(uint64_t vec)
{
    static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
    return vec < PF_COUNT(names) ? names[vec] : NULL;
}

void pf_kwork_label(const struct pf_kwork_row *row, char *text, size_t capacity)
{
    static const char *const prefixes[] = {"", "(s)", "(w)"};
    if (row->class != PF_KWORK_WORKQUEUE)
        snprintf(text, capacity, "%s%s:%" PRIu64, prefixes[row->class], row->name ? row->name : "", row->id);
    else if (row->name)
        snprintf(text, capacity, "%s%s", prefixes[row->class], row->name);
    else
        snprintf(text, capacity, "%s0x%" PRIx64, prefixes[row->class], row->id);
}

static bool name_row(struct pf_kwork *kwork, struct pf_kwork_row *row, const struct pf_event_fields *event,
                     const struct perfile_bytes *raw)
{
    char text[64] = "";
    const char *name = text;
    if (row->class == PF_KWORK_SOFTIRQ) {
        row->name = softirq_name(row->id);
        return true;
    }
    if (row->class == PF_KWORK_IRQ) {
        pf_event_text(&kwork->events, event, NAME, raw, text, sizeof(text));
    } else if (pf_event_number(&kwork->events, event, FUNCTION, raw, &row->function)) {
        const uint32_t frame = pf_profile_frame_at(kwork->profile, row->function);
        const struct pf_frame_info *info = frame == PF_NO_FRAME ? NULL : pf_profile_frame(kwork->profile, frame);
        name = info && info->name ? info->name : text;
    }
    row->name = *name ? pf_arena_text(&kwork->arena, name, strlen(name)) : NULL;
    return row->name || !*name;
}

static bool is_wanted(const struct pf_kwork *kwork, enum pf_kwork_class class)
{
    const char *name = pf_kwork_class_name(class);
    for (const char *at = kwork->classes; at && *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        if (strlen(name) == length && strncmp(at, name, length) == 0)
            return true;
        at += length;
    }
    return !kwork->classes || !*kwork->classes;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static uint64_t second_key(enum pf_kwork_class class, uint32_t cpu)
{
    return (uint64_t) class << 32 | cpu;
}

/* NULL: out of memory. */
static struct pf_kwork_row *find_row(struct pf_kwork *kwork, enum pf_kwork_class class, uint64_t id, uint32_t cpu)
{
    uint32_t known;
    if (pf_pairs_get(&kwork->index, id, second_key(class, cpu), &known))
        return kwork->rows[known];
    struct pf_kwork_row *row = pf_arena_new(&kwork->arena, sizeof(*row));
    if (!row || !pf_grow(kwork->allocator, &kwork->rows, &kwork->capacity, kwork->count + 1, sizeof(*kwork->rows)) ||
        !pf_pairs_put(&kwork->index, id, second_key(class, cpu), (uint32_t)kwork->count))
        return NULL;
    row->class = class;
    row->id = id;
    row->cpu = cpu;
    kwork->rows[kwork->count++] = row;
    return row;
}

/* The first raise that is open; of works on whatever CPU. NULL: out of memory. */
static uint64_t *first_raise(struct pf_kwork *kwork, const struct pf_kwork_row *row)
{
    const uint32_t cpu = row->class == PF_KWORK_WORKQUEUE ? UINT32_MAX : row->cpu;
    uint32_t known;
    if (pf_pairs_get(&kwork->raises, row->id, second_key(row->class, cpu), &known))
        return &kwork->first_raises[known];
    if (!pf_grow(kwork->allocator, &kwork->first_raises, &kwork->raise_capacity, kwork->raise_count + 1,
                 sizeof(*kwork->first_raises)) ||
        !pf_pairs_put(&kwork->raises, row->id, second_key(row->class, cpu), (uint32_t)kwork->raise_count))
        return NULL;
    kwork->first_raises[kwork->raise_count] = 0;
    return &kwork->first_raises[kwork->raise_count++];
}

static void add(struct pf_kwork_sums *sums, uint64_t start, uint64_t end)
{
    const uint64_t time = end - pf_min(start, end);
    if (!sums->stats.count || time > sums->stats.max) {
        sums->max_start = start;
        sums->max_end = end;
    }
    pf_stats_add(&sums->stats, time);
    pf_histogram_add(&sums->histogram, time);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool take_raise(struct pf_kwork *kwork, struct pf_kwork_row *row, uint64_t time)
{
    uint64_t *first = first_raise(kwork, row);
    if (!first)
        return false;
    if (row->raise)
        kwork->raises_alone++;
    row->raise = time;
    if (!*first)
        *first = time;
    return true;
}

static bool take_entry(struct pf_kwork *kwork, struct pf_kwork_row *row, uint64_t time)
{
    if (row->entry)
        kwork->entries_alone++;
    row->entry = time;
    row->entry_order = kwork->losses.order;
    row->delayed = row->raise != 0;
    row->delay = row->delayed ? time - pf_min(row->raise, time) : 0;
    if (row->delayed)
        add(&row->delays, row->raise, time);
    else
        kwork->entries_unraised++;
    row->raise = 0;
    if (row->class == PF_KWORK_IRQ)
        return true;
    uint64_t *first = first_raise(kwork, row);
    if (!first)
        return false;
    if (*first)
        add(&row->waits, *first, time);
    *first = 0;
    return true;
}

static int take_exit(struct pf_kwork *kwork, struct pf_kwork_row *row, uint64_t time, struct pf_kwork_run *run)
{
    if (!row->entry) {
        kwork->exits_alone++;
        return 0;
    }
    add(&row->runs, row->entry, time);
    *run =
        (struct pf_kwork_run){.row = row,
                              .start = row->entry,
                              .end = time,
                              .delay = row->delay,
                              .delayed = row->delayed,
                              .uncertain = pf_event_losses_since(&kwork->losses, row->entry_order, row->cpu, row->cpu)};
    row->uncertain += run->uncertain;
    row->entry = 0;
    return 1;
}

bool pf_kwork_take_record(void *state, const struct perfile_record *record)
{
    struct pf_kwork *kwork = state;
    return pf_event_losses_take(&kwork->losses, kwork->reader, record);
}

static bool has_name(const struct pf_kwork *kwork, const struct pf_kwork_row *row)
{
    return !kwork->name || (row->name && strcmp(kwork->name, row->name) == 0);
}

static int take_event(struct pf_kwork *kwork, const struct pf_profile_sample *sample,
                      const struct pf_event_fields *event, struct pf_kwork_run *run)
{
    const enum pf_kwork_class class = meanings[event->id].class;
    const enum step step = meanings[event->id].step;
    const struct perfile_bytes *raw = &sample->decoded->raw;
    uint64_t id;
    if (!is_wanted(kwork, class) || !pf_event_number(&kwork->events, event, ID, raw, &id))
        return 0;
    struct pf_kwork_row *row = find_row(kwork, class, id, sample->cpu);
    if (!row || (!row->name && !name_row(kwork, row, event, raw)))
        return PERFILE_ERROR_MEMORY;
    if (!has_name(kwork, row))
        return 0;
    if (step != RAISE) {
        kwork->first_time = kwork->first_time ? kwork->first_time : sample->time;
        kwork->last_time = sample->time;
    }
    if (step == EXIT)
        return take_exit(kwork, row, sample->time, run);
    return (step == RAISE ? take_raise : take_entry)(kwork, row, sample->time) ? 0 : PERFILE_ERROR_MEMORY;
}

int pf_kwork_take(struct pf_kwork *kwork, const struct pf_profile_sample *sample, struct pf_kwork_run *run)
{
    const struct pf_event_fields *event = pf_events_find(&kwork->events, sample->event);
    kwork->losses.order++;
    return event ? take_event(kwork, sample, event, run) : 0;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

enum { TIME, MAXIMUM, COUNT, KEYS };

/* What rows are sorted by, of which of their sums. */
static const struct {
    struct pf_sort_names names;
    size_t sums;
} orders[] = {
    [PF_KWORK_BY_RUN] = {{{"runtime", "max", "count"}, "runtime,max,count"}, offsetof(struct pf_kwork_row, runs)},
    [PF_KWORK_BY_DELAY] = {{{"avg", "max", "count"}, "avg,max,count"}, offsetof(struct pf_kwork_row, delays)},
    [PF_KWORK_BY_WAIT] = {{{"avg", "max", "count"}, "avg,max,count"}, offsetof(struct pf_kwork_row, waits)},
};

int pf_kwork_order(struct pf_kwork *kwork, enum pf_kwork_order order, const char *keys, struct perfile_error *error)
{
    const int result = pf_sort_keys_parse(&kwork->keys, keys, &orders[order].names, error);
    kwork->order = order;
    for (size_t i = 0; i < kwork->keys.count; i++)
        kwork->keys.list[i] += KEYS * order;
    return result;
}

static double value_of(const struct pf_kwork_row *row, unsigned key)
{
    const enum pf_kwork_order order = key / KEYS;
    const struct pf_kwork_sums *sums = (const void *)((const char *)row + orders[order].sums);
    switch (key % KEYS) {
    case TIME:
        return order == PF_KWORK_BY_RUN ? (double)sums->stats.sum
               : sums->stats.count != 0 ? (double)sums->stats.sum / (double)sums->stats.count
                                        : 0;
    case MAXIMUM:
        return (double)sums->stats.max;
    default:
        return (double)sums->stats.count;
    }
}

static int by_key(unsigned key, const void *left, const void *right)
{
    return pf_sort_down_f64(value_of(left, key), value_of(right, key));
}

static int compare(const void *left, const void *right, void *context)
{
    const struct pf_kwork *kwork = context;
    const struct pf_kwork_row *a = *(struct pf_kwork_row *const *)left, *b = *(struct pf_kwork_row *const *)right;
    const int order = pf_sort_keys_compare(&kwork->keys, a, b, by_key);
    if (order)
        return order;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->id != b->id)
        return a->id > b->id ? -1 : 1; /* so perf has them */
    return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

void pf_kwork_sort(struct pf_kwork *kwork)
{
    size_t count = 0;
    for (size_t i = 0; i < kwork->count; i++)
        if (has_name(kwork, kwork->rows[i]) && (kwork->order != PF_KWORK_BY_WAIT || kwork->rows[i]->waits.stats.count))
            kwork->rows[count++] = kwork->rows[i];
    kwork->count = count;
    if (count)
        pf_platform_sort(kwork->rows, count, sizeof(*kwork->rows), compare, kwork);
}

#define RUNS "runs of interrupts, softirqs or works "

void pf_kwork_notify(struct pf_kwork *kwork, pf_on_note *notify, void *context)
{
    char text[PF_COUNTED_BYTES];
    uint64_t open = 0, uncertain = 0;
    bool any = false;
    for (size_t i = 0; i < PF_COUNT(required); i++)
        any |= meanings[i].step == EXIT && pf_events_have(&kwork->events, i);
    if (!notify)
        return;
    if (!any) {
        notify(context, "the recording has no events of interrupts, softirqs or works; record with: " PF_RECORD_KWORK);
        return;
    }
    for (size_t i = 0; i < kwork->count; i++) {
        open += kwork->rows[i]->entry != 0;
        uncertain += kwork->rows[i]->uncertain;
    }
    const struct {
        uint64_t count;
        const char *what;
    } notes[] = {{open + kwork->entries_alone, RUNS "that did not end are not counted"},
                 {kwork->exits_alone, RUNS "that ended without having started are not counted"},
                 {uncertain, RUNS "around lost events may be several"}};
    for (size_t i = 0; i < PF_COUNT(notes); i++)
        if (notes[i].count)
            notify(context, pf_count_of(notes[i].count, notes[i].what, text));
}
