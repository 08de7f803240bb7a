/* SPDX-License-Identifier: MIT */
/*
 * Samples that carry the values of counters (PERF_SAMPLE_READ): each counter is a sample of its own event, and its
 * period is what was counted since the last value, as in perf. Otherwise members of a group would have no
 * samples.
 */
#ifndef PF_ANALYSIS_COUNTERS_H
#define PF_ANALYSIS_COUNTERS_H

#include <perfile/perfile.h>

#include "base/map.h"

struct pf_counters {
    struct pf_map ids;       /* id to a small number */
    struct pf_map positions; /* number and thread to the position in `last` */
    uint64_t id_count;
    uint64_t *last;
    size_t count, capacity;
};

void pf_counters_open(struct pf_counters *counters, const struct perfile_allocator *allocator);
void pf_counters_close(struct pf_counters *counters);

struct pf_counter_value {
    const struct perfile_event *event;
    uint64_t id;
    int32_t tid; /* of the sample */
    uint64_t value;
};
/*
 * Sets *since to what the counter counted since its last value. An inherited counter counts each thread separately.
 * False when out of memory.
 */
bool pf_counters_advance(struct pf_counters *counters, const struct pf_counter_value *now, uint64_t *since);

#endif
