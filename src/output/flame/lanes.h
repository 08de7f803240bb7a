/* SPDX-License-Identifier: MIT */
/* Lanes of the page: the events of each tracepoint with their fields as text. */
#ifndef PF_OUTPUT_FLAME_LANES_H
#define PF_OUTPUT_FLAME_LANES_H

#include "analysis/trace/trace_text.h"
#include "base/filter.h"

struct pf_lane_point {
    uint64_t time;
    const char *text; /* the fields, as long as the lanes */
    int32_t pid, tid; /* -1: not known */
    int32_t cpu;      /* PF_NO_NUMBER: not known */
    uint32_t thread;  /* since the end: its number, PF_PAGE_NONE: not known */
};

struct pf_lane {
    const struct perfile_event *event;
    struct pf_lane_point *points;
    size_t count, capacity;
    uint64_t stride, seen; /* one of so many is kept; how many there were */
};

/* All zeros may be closed, too. */
struct pf_flame_lanes {
    const struct perfile_allocator *allocator;
    struct pf_trace_texts texts; /* since the first tracepoint */
    struct pf_arena arena;       /* of the points' texts */
    struct pf_text text;
    struct perfile_sample sample;
    struct pf_lane *lanes;
    size_t count, capacity;
    uint64_t events_left; /* of tracepoints that have no lane: there are too many of them */
    bool is_open;
};

void pf_flame_lanes_close(struct pf_flame_lanes *lanes);
/* A sample of a tracepoint in the order of time; others are left. False: out of memory. */
bool pf_flame_lanes_take(struct pf_flame_lanes *lanes, struct perfile_reader *reader,
                         const struct perfile_record *record);
/* Discards all points. */
void pf_flame_lanes_clear(struct pf_flame_lanes *lanes);

#endif
