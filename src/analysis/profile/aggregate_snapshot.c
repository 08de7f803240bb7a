/* SPDX-License-Identifier: MIT */
#include "analysis/profile/aggregate_snapshot.h"

#include <time.h>

#include "base/bytes.h"

/* ---- when -------------------------------------------------------------------------------------------------------- */

enum { SAMPLES_A_LOOK = 512, USUAL_MS = 500, COST = 10 };

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t interval(const struct pf_snapshot_clock *clock)
{
    return clock->interval_ms ? clock->interval_ms : USUAL_MS;
}

bool pf_snapshot_is_due(struct pf_snapshot_clock *clock)
{
    if (PF_LIKELY(clock->next_ms && ++clock->samples < SAMPLES_A_LOOK))
        return false;
    clock->samples = 0;
    const uint64_t now = now_ms();
    if (!clock->next_ms)
        clock->next_ms = now + interval(clock);
    return now >= clock->next_ms;
}

void pf_snapshot_begin(struct pf_snapshot_clock *clock)
{
    clock->started_ms = now_ms();
}

void pf_snapshot_end(struct pf_snapshot_clock *clock)
{
    const uint64_t now = now_ms();
    clock->next_ms = now + pf_max(interval(clock), COST * (now - clock->started_ms));
}

/* ---- what -------------------------------------------------------------------------------------------------------- */

static bool copy_list(struct pf_aggregate *copy, const struct pf_aggregate *from, enum pf_aggregate_kind kind)
{
    const struct pf_aggregate_list *list = &from->profile->lists[kind];
    if (!list->count)
        return true;
    if (!pf_aggregate_reserve(copy, kind, list->count))
        return false;
    memcpy(copy->profile->lists[kind].items, list->items, list->count * pf_aggregate_bytes(kind));
    copy->profile->lists[kind].count = list->count;
    return true;
}

bool pf_aggregate_copy(struct pf_aggregate *copy, const struct pf_aggregate_named *from, bool *joined)
{
    static const enum pf_aggregate_kind kinds[] = {PF_AGGREGATE_EVENTS, PF_AGGREGATE_THREADS, PF_AGGREGATE_COMMS,
                                                   PF_AGGREGATE_TAGS,   PF_AGGREGATE_KEYS,    PF_AGGREGATE_ROWS};
    for (size_t i = 0; i < PF_COUNT(kinds); i++)
        if (!copy_list(copy, from->aggregate, kinds[i]))
            return false;
    struct pf_aggregate_named named = {copy, from->profile, from->tree, NULL, from->addresses, false};
    pf_profile_hold(from->profile);
    const bool fine = pf_aggregate_name(&named);
    pf_profile_release(from->profile);
    *joined = named.joined;
    return fine;
}
