/* SPDX-License-Identifier: MIT */
/*
 * Lanes of the page: the events of each tracepoint with their fields as text, and counters, which are fields of some
 * tracepoints over time.
 */
#ifndef PF_OUTPUT_FLAME_LANES_H
#define PF_OUTPUT_FLAME_LANES_H

#include "analysis/trace/trace_text.h"
#include "base/filter.h"

struct pf_lane_point {
    uint64_t time;
    const char *text; /* of an event: its fields, as long as the lanes */
    int64_t value;    /* of a counter */
    int32_t pid, tid; /* -1: not known */
    int32_t cpu;      /* PF_NO_NUMBER: not known */
    uint32_t thread;  /* since the end: its number, PF_PAGE_NONE: not known */
};

struct pf_lane {
    const struct perfile_event *event;
    const struct pf_lane_counter *counter; /* NULL: a lane of events */
    const char *label;                     /* of a counter: what it counts */
    uint64_t keys[2];                      /* of a counter: what distinguishes it from others of its event */
    int32_t owner;         /* of a counter: a thread of the process that it belongs to; -1: none, or not known */
    uint32_t owner_thread; /* since the end: its number, PF_PAGE_NONE: as above */
    struct pf_lane_point *points;
    size_t count, capacity;
    uint64_t stride, seen; /* one of so many is kept; how many there were */
};

enum pf_lane_kind { PF_LANES_OF_EVENTS, PF_LANES_OF_COUNTERS, PF_LANE_KINDS };

/* All zeros may be closed, too. */
struct pf_flame_lanes {
    const struct perfile_allocator *allocator;
    struct pf_trace_texts texts; /* since the first tracepoint */
    struct pf_arena arena;       /* of the points' texts */
    struct pf_text text;
    struct perfile_sample sample;
    struct pf_lane_list {
        struct pf_lane *lanes;
        size_t count, capacity;
    } lists[PF_LANE_KINDS];
    uint64_t events_left; /* that have no lane: there are too many lanes */
    bool is_open;
};

void pf_flame_lanes_close(struct pf_flame_lanes *lanes);
/* A sample of a tracepoint in the order of time; others are left. False: out of memory. */
bool pf_flame_lanes_take(struct pf_flame_lanes *lanes, struct perfile_reader *reader,
                         const struct perfile_record *record);
/* Of a lane of a counter. */
const char *pf_lane_unit(const struct pf_lane *lane);
/* Discards all points. */
void pf_flame_lanes_clear(struct pf_flame_lanes *lanes);

#endif
