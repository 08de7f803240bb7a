/* SPDX-License-Identifier: MIT */
#include "output/flame/lanes.h"

#include <inttypes.h>

#include "analysis/trace/trace_format.h"

enum {
    MAX_LANES = 40,    /* of events, and of counters */
    MAX_POINTS = 2000, /* of a lane */
    MAX_TEXT = 240     /* bytes of an event's fields */
};

/* ---- opening ---- */

static bool open_lanes(struct pf_flame_lanes *lanes, struct perfile_reader *reader)
{
    lanes->is_open = true;
    pf_arena_open(&lanes->arena, lanes->allocator);
    return pf_trace_texts_open(&lanes->texts, reader, lanes->allocator) &&
           pf_text_open(&lanes->text, lanes->allocator, NULL, NULL) == 0;
}

void pf_flame_lanes_close(struct pf_flame_lanes *lanes)
{
    for (unsigned kind = 0; kind < PF_LANE_KINDS; kind++) {
        const struct pf_lane_list *list = &lanes->lists[kind];
        for (size_t i = 0; i < list->count; i++)
            pf_free(lanes->allocator, list->lanes[i].points, list->lanes[i].capacity * sizeof(*list->lanes[i].points));
        pf_free(lanes->allocator, list->lanes, list->capacity * sizeof(*list->lanes));
    }
    if (!lanes->is_open)
        return;
    pf_trace_texts_close(&lanes->texts);
    if (lanes->text.allocator)
        pf_text_close(&lanes->text);
    pf_arena_close(&lanes->arena);
}

void pf_flame_lanes_clear(struct pf_flame_lanes *lanes)
{
    for (unsigned kind = 0; kind < PF_LANE_KINDS; kind++)
        for (size_t i = 0; i < lanes->lists[kind].count; i++)
            lanes->lists[kind].lanes[i].count = 0;
}

/* ---- points ---- */

/* The lane of the event, or of the counter with these keys; NULL before it was made. */
static struct pf_lane *find_lane(const struct pf_lane_list *list, const struct pf_lane *like)
{
    for (size_t i = 0; i < list->count; i++) {
        struct pf_lane *lane = &list->lanes[i];
        if (lane->counter == like->counter && memcmp(lane->keys, like->keys, sizeof(lane->keys)) == 0 &&
            (lane->event == like->event || strcmp(lane->event->name, like->event->name) == 0))
            return lane;
    }
    return NULL;
}

/* Of a full lane every second point stays, and of those that follow, as many. */
static void thin(struct pf_lane *lane)
{
    for (size_t i = 0; i < lane->count / 2; i++)
        lane->points[i] = lane->points[2 * i];
    lane->count /= 2;
    lane->stride *= 2;
}

/* Returns whether the next point of the lane is kept. */
static bool is_kept(struct pf_lane *lane)
{
    if (lane->seen++ % lane->stride)
        return false;
    if (lane->count >= MAX_POINTS)
        thin(lane);
    return true;
}

/* The fields of the sample; NULL: out of memory. */
static const char *text_of(struct pf_flame_lanes *lanes, const struct perfile_event *event)
{
    lanes->text.used = 0;
    if (!pf_trace_texts_put(&lanes->texts, event, &lanes->sample.raw, &lanes->text))
        return lanes->texts.error.code == PERFILE_ERROR_LIMIT ? "" : NULL;
    if (lanes->text.failed)
        return NULL;
    return pf_arena_text(&lanes->arena, lanes->text.data, pf_min(lanes->text.used, MAX_TEXT));
}

/* *lane: the one of this kind, or a new one; NULL: there are too many. False: out of memory. */
static bool get_lane(struct pf_flame_lanes *lanes, const struct pf_lane *like, struct pf_lane **lane)
{
    struct pf_lane_list *list = &lanes->lists[like->counter ? PF_LANES_OF_COUNTERS : PF_LANES_OF_EVENTS];
    *lane = find_lane(list, like);
    if (*lane)
        return true;
    if (list->count == MAX_LANES) {
        lanes->events_left++;
        return true;
    }
    if (!PF_APPEND(lanes->allocator, list->lanes, list->count, list->capacity, *like))
        return false;
    *lane = &list->lanes[list->count - 1];
    return true;
}

static struct pf_lane_point point_of(const struct perfile_sample *sample)
{
    const bool has_thread = sample->present & PERFILE_SAMPLE_TID;
    return (struct pf_lane_point){.time = sample->time,
                                  .pid = has_thread ? sample->pid : -1,
                                  .tid = has_thread ? sample->tid : -1,
                                  .cpu = sample->present & PERFILE_SAMPLE_CPU ? (int32_t)sample->cpu : PF_NO_NUMBER};
}

static bool add_event(struct pf_flame_lanes *lanes, const struct perfile_event *event)
{
    struct pf_lane *lane;
    if (!get_lane(lanes, &(struct pf_lane){.event = event, .owner = -1, .stride = 1}, &lane))
        return false;
    if (!lane || !is_kept(lane))
        return true;
    struct pf_lane_point point = point_of(&lanes->sample);
    point.text = text_of(lanes, event);
    return point.text && PF_APPEND(lanes->allocator, lane->points, lane->count, lane->capacity, point);
}

/* ---- counters ---- */

enum { KEY_NAMES = 4 };

struct pf_lane_counter {
    const char *event;
    const char *value, *key; /* fields: what is counted, and of what */
    const char *space;       /* field: the number of an address space, or NULL */
    const char *is_own;      /* field: not 0 where that belongs to the thread of the sample */
    const char *unit, *label;
    const char *const *names; /* of the first keys; NULL: the label is followed by the key */
    int64_t scale;            /* of values to the unit */
    bool is_idle;             /* values are states from 0 on, or UINT32_MAX for none: shown are 1 and more, or 0 */
};

static const char *const memory_names[KEY_NAMES] = {"Memory of files", "Anonymous memory", "Swap", "Shared memory"};

static const struct pf_lane_counter counters[] = {
    {.event = "power:cpu_frequency",
     .value = "state",
     .key = "cpu_id",
     .unit = "Hz",
     .label = "Frequency of CPU",
     .scale = 1000},
    {.event = "power:cpu_idle",
     .value = "state",
     .key = "cpu_id",
     .unit = "state",
     .label = "Idle state of CPU",
     .scale = 1,
     .is_idle = true},
    {.event = "kmem:rss_stat",
     .value = "size",
     .key = "member",
     .space = "mm_id",
     .is_own = "curr",
     .unit = "bytes",
     .label = "Memory",
     .names = memory_names,
     .scale = 1},
};

const char *pf_lane_unit(const struct pf_lane *lane)
{
    return lane->counter->unit;
}

/* False: the sample does not have the field. */
static bool load(const struct pf_flame_lanes *lanes, const struct pf_trace_text *how, const char *name, uint64_t *value)
{
    const struct perfile_tracepoint_field *field = name ? pf_trace_field(how->tracepoint, name) : NULL;
    struct perfile_bytes bytes;
    if (!field || !pf_trace_bytes(field, &lanes->sample.raw, how->swap, &bytes))
        return false;
    *value = pf_trace_load(bytes.data, bytes.bytes, field->is_signed, how->swap);
    return true;
}

static const char *label_of(struct pf_flame_lanes *lanes, const struct pf_lane *lane)
{
    const struct pf_lane_counter *counter = lane->counter;
    lanes->text.used = 0;
    if (counter->names && lane->keys[0] < KEY_NAMES)
        pf_put_string(&lanes->text, counter->names[lane->keys[0]]);
    else
        pf_put_format(&lanes->text, "%s %" PRIu64, counter->label, lane->keys[0]);
    return lanes->text.failed ? NULL : pf_arena_text(&lanes->arena, lanes->text.data, lanes->text.used);
}

static bool add_value(struct pf_flame_lanes *lanes, struct pf_lane *like, int64_t value, bool is_own)
{
    struct pf_lane *lane;
    if (!get_lane(lanes, like, &lane))
        return false;
    if (!lane)
        return true;
    if (!lane->label && !(lane->label = label_of(lanes, lane)))
        return false;
    if (is_own && lane->owner < 0)
        lane->owner = lanes->sample.tid;
    if (!is_kept(lane))
        return true;
    struct pf_lane_point point = point_of(&lanes->sample);
    point.value = value;
    return PF_APPEND(lanes->allocator, lane->points, lane->count, lane->capacity, point);
}

/* What the sample says of a counter. */
static bool add_counter(struct pf_flame_lanes *lanes, const struct perfile_event *event,
                        const struct pf_lane_counter *counter)
{
    struct pf_lane like = {.event = event, .counter = counter, .owner = -1, .stride = 1};
    struct pf_trace_text how;
    uint64_t value, own = 0;
    if (!pf_trace_texts_find(&lanes->texts, event, &how))
        return lanes->texts.error.code == PERFILE_ERROR_LIMIT;
    if (!how.tracepoint || !load(lanes, &how, counter->value, &value) ||
        !load(lanes, &how, counter->key, &like.keys[0]))
        return true;
    if (counter->space && !load(lanes, &how, counter->space, &like.keys[1])) {
        like.keys[1] = (uint32_t)lanes->sample.pid;
        own = 1;
    }
    (void)load(lanes, &how, counter->is_own, &own);
    if (counter->is_idle)
        value = (uint32_t)(value + 1);
    return add_value(lanes, &like, (int64_t)(value * (uint64_t)counter->scale), own);
}

static bool add_counters(struct pf_flame_lanes *lanes, const struct perfile_event *event)
{
    for (size_t i = 0; i < PF_COUNT(counters); i++)
        if (strcmp(counters[i].event, event->name) == 0 && !add_counter(lanes, event, &counters[i]))
            return false;
    return true;
}

bool pf_flame_lanes_take(struct pf_flame_lanes *lanes, struct perfile_reader *reader,
                         const struct perfile_record *record)
{
    const struct perfile_event *event = record->event;
    if (record->type != PERFILE_RECORD_SAMPLE || !event || record->damaged ||
        event->attr->type != PERFILE_TYPE_TRACEPOINT)
        return true;
    if (!lanes->is_open && !open_lanes(lanes, reader))
        return false;
    lanes->sample.size = sizeof(lanes->sample);
    if (perfile_sample_decode(record, &lanes->sample, NULL) < 0 || !(lanes->sample.present & PERFILE_SAMPLE_TIME))
        return true;
    return add_event(lanes, event) && add_counters(lanes, event);
}
