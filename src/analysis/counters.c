/* SPDX-License-Identifier: MIT */
#include "analysis/counters.h"

void pf_counters_open(struct pf_counters *counters, const struct perfile_allocator *allocator)
{
    *counters = (struct pf_counters){0};
    pf_map_open(&counters->ids, allocator);
    pf_map_open(&counters->positions, allocator);
}

void pf_counters_close(struct pf_counters *counters)
{
    pf_free(counters->ids.allocator, counters->last, counters->capacity * sizeof(*counters->last));
    pf_map_close(&counters->ids);
    pf_map_close(&counters->positions);
}

/* Small numbers for ids, so that an id and a thread fit one key. */
static bool number_id(struct pf_counters *counters, uint64_t id, uint64_t *number)
{
    if (pf_map_get(&counters->ids, id, number))
        return true;
    *number = counters->id_count++;
    return pf_map_put(&counters->ids, id, *number);
}

/* Where the last value of a counter is kept; NULL when out of memory. */
static uint64_t *find_counter(struct pf_counters *counters, uint64_t id, uint32_t tid)
{
    uint64_t index, number;
    if (!number_id(counters, id, &number))
        return NULL;
    const uint64_t key = number << 32 | tid;
    if (pf_map_get(&counters->positions, key, &index))
        return &counters->last[index];
    index = counters->count;
    if (!pf_grow(counters->ids.allocator, &counters->last, &counters->capacity, counters->count + 1,
                 sizeof(*counters->last)) ||
        !pf_map_put(&counters->positions, key, index))
        return NULL;
    counters->last[index] = 0;
    counters->count++;
    return &counters->last[index];
}

bool pf_counters_advance(struct pf_counters *counters, const struct pf_counter_value *now, uint64_t *since)
{
    const struct perfile_attr *attr = now->event->attr;
    const bool per_thread = attr->inherit && attr->sample_type & PERFILE_SAMPLE_TID;
    uint64_t *last = find_counter(counters, now->id, per_thread ? (uint32_t)now->tid : 0);
    if (!last)
        return false;
    *since = now->value - *last;
    *last = now->value;
    return true;
}
