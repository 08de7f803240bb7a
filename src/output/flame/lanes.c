/* SPDX-License-Identifier: MIT */
#include "output/flame/lanes.h"

enum {
    MAX_LANES = 40,
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
    for (size_t i = 0; i < lanes->count; i++)
        pf_free(lanes->allocator, lanes->lanes[i].points, lanes->lanes[i].capacity * sizeof(*lanes->lanes[i].points));
    pf_free(lanes->allocator, lanes->lanes, lanes->capacity * sizeof(*lanes->lanes));
    if (!lanes->is_open)
        return;
    pf_trace_texts_close(&lanes->texts);
    if (lanes->text.allocator)
        pf_text_close(&lanes->text);
    pf_arena_close(&lanes->arena);
}

void pf_flame_lanes_clear(struct pf_flame_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++)
        lanes->lanes[i].count = 0;
}

/* ---- points ---- */

/* The lane of an event; NULL: there is none yet. */
static struct pf_lane *find_lane(const struct pf_flame_lanes *lanes, const struct perfile_event *event)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->lanes[i].event == event || strcmp(lanes->lanes[i].event->name, event->name) == 0)
            return &lanes->lanes[i];
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

static bool add_event(struct pf_flame_lanes *lanes, const struct perfile_event *event)
{
    const struct perfile_sample *sample = &lanes->sample;
    struct pf_lane *lane = find_lane(lanes, event);
    if (!lane && lanes->count == MAX_LANES) {
        lanes->events_left++;
        return true;
    }
    if (!lane) {
        if (!PF_APPEND(lanes->allocator, lanes->lanes, lanes->count, lanes->capacity,
                       ((struct pf_lane){.event = event, .stride = 1})))
            return false;
        lane = &lanes->lanes[lanes->count - 1];
    }
    if (!is_kept(lane))
        return true;
    const bool has_thread = sample->present & PERFILE_SAMPLE_TID;
    const struct pf_lane_point point = {.time = sample->time,
                                        .text = text_of(lanes, event),
                                        .pid = has_thread ? sample->pid : -1,
                                        .tid = has_thread ? sample->tid : -1,
                                        .cpu =
                                            sample->present & PERFILE_SAMPLE_CPU ? (int32_t)sample->cpu : PF_NO_NUMBER};
    return point.text && PF_APPEND(lanes->allocator, lane->points, lane->count, lane->capacity, point);
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
    return add_event(lanes, event);
}
