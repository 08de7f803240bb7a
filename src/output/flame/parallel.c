/* SPDX-License-Identifier: MIT */
#include "output/flame/parallel.h"

#include <perfile/records.h>

#include "base/bytes.h"

enum { MAX_PIECES = 4096, FIRST_WIDTH = 1024 };

void pf_flame_parallel_open(struct pf_flame_parallel *parallel, struct perfile_reader *reader,
                            const struct perfile_allocator *allocator)
{
    *parallel = (struct pf_flame_parallel){.reader = reader};
    pf_map_open(&parallel->threads, allocator);
}

void pf_flame_parallel_close(struct pf_flame_parallel *parallel)
{
    if (!parallel->threads.allocator)
        return;
    pf_free(parallel->threads.allocator, parallel->weights, parallel->capacity * sizeof(*parallel->weights));
    pf_map_close(&parallel->threads);
}

/* ---- pieces ---- */

static void join_pairs(struct pf_flame_parallel *parallel)
{
    for (size_t i = 0; i < parallel->count; i += 2) {
        const double second = i + 1 < parallel->count ? parallel->weights[i + 1] : 0;
        parallel->weights[i / 2] = parallel->weights[i] + second;
    }
    parallel->count = (parallel->count + 1) / 2;
    parallel->width *= 2;
}

/* As many as now run from the last switch until `time`. */
static bool advance(struct pf_flame_parallel *parallel, uint64_t time)
{
    const struct perfile_allocator *allocator = parallel->threads.allocator;
    if (time <= parallel->until)
        return true;
    while ((time - parallel->from) / parallel->width >= MAX_PIECES)
        join_pairs(parallel);
    while (parallel->until < time) {
        const uint64_t done = parallel->until - parallel->from;
        const size_t piece = (size_t)(done / parallel->width);
        const uint64_t part = pf_min(time - parallel->until, parallel->width - done % parallel->width);
        if (piece >= parallel->count &&
            !PF_APPEND(allocator, parallel->weights, parallel->count, parallel->capacity, 0.0))
            return false;
        parallel->weights[piece] += (double)parallel->running * (double)part;
        parallel->until += part;
    }
    return true;
}

/* ---- threads ---- */

/* A thread that is not known yet ran from the beginning on when it stops. */
static bool set_runs(struct pf_flame_parallel *parallel, int32_t tid, bool runs, uint64_t time)
{
    uint64_t ran = 0;
    const bool known = pf_map_get(&parallel->threads, (uint32_t)tid, &ran);
    if (known && ran == runs)
        return true;
    if (!parallel->width) {
        parallel->from = parallel->until = time;
        parallel->width = FIRST_WIDTH;
    }
    if (!advance(parallel, time))
        return false;
    parallel->running += runs ? 1 : -1;
    parallel->from_start += !known && !runs;
    return pf_map_put(&parallel->threads, (uint32_t)tid, runs);
}

/* It begins with a switch of its own. */
static bool take_fork(struct pf_flame_parallel *parallel, const struct perfile_record *record, uint64_t time)
{
    struct perfile_fork fork;
    uint64_t ran = 0;
    if (perfile_record_decode(parallel->reader, record, &fork, sizeof(fork), NULL) < 0)
        return true;
    if (pf_map_get(&parallel->threads, (uint32_t)fork.tid, &ran)) /* the end of another with its number was lost */
        return set_runs(parallel, fork.tid, false, time);
    return pf_map_put(&parallel->threads, (uint32_t)fork.tid, 0);
}

/* It leaves its processor without a switch. */
static bool take_exit(struct pf_flame_parallel *parallel, const struct perfile_record *record, uint64_t time)
{
    struct perfile_exit end;
    uint64_t ran = 0;
    if (perfile_record_decode(parallel->reader, record, &end, sizeof(end), NULL) < 0 ||
        !pf_map_get(&parallel->threads, (uint32_t)end.tid, &ran))
        return true;
    return set_runs(parallel, end.tid, false, time);
}

bool pf_flame_parallel_take(struct pf_flame_parallel *parallel, const struct perfile_record *record)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    const bool is_switch = record->type == PERFILE_RECORD_SWITCH || record->type == PERFILE_RECORD_SWITCH_CPU_WIDE;
    const bool is_other = record->type == PERFILE_RECORD_FORK || record->type == PERFILE_RECORD_EXIT;
    if ((!is_switch && !is_other) || record->damaged ||
        perfile_sample_id_decode(parallel->reader, record, &id, NULL) < 0 || !(id.present & PERFILE_SAMPLE_TIME) ||
        !id.time)
        return true;
    if (record->type == PERFILE_RECORD_FORK)
        return take_fork(parallel, record, id.time);
    if (record->type == PERFILE_RECORD_EXIT)
        return take_exit(parallel, record, id.time);
    if (!(id.present & PERFILE_SAMPLE_TID) || id.tid <= 0)
        return true;
    return set_runs(parallel, id.tid, !(record->misc & PERFILE_MISC_SWITCH_OUT), id.time);
}

/* ---- the end ---- */

bool pf_flame_parallel_end(struct pf_flame_parallel *parallel, uint64_t time)
{
    return !parallel->width || advance(parallel, time);
}

static uint64_t processors_of(const struct pf_flame_parallel *parallel)
{
    uint64_t cpus = 0;
    (void)pf_memory_check(parallel->threads.allocator, perfile_feature_number(parallel->reader, PERFILE_FEATURE_NRCPUS,
                                                                              "nr_cpus_available", &cpus, NULL));
    return cpus ? pf_min(cpus, UINT32_MAX) : UINT32_MAX;
}

uint64_t pf_flame_parallel_at(const struct pf_flame_parallel *parallel, size_t piece)
{
    const uint64_t begin = piece * parallel->width, covered = parallel->until - parallel->from - begin;
    const double mean = parallel->weights[piece] / (double)pf_min(covered, parallel->width);
    const double thousandfold = (mean + (double)parallel->from_start) * 1000 + 0.5;
    return thousandfold > 0 ? pf_min((uint64_t)thousandfold, processors_of(parallel) * 1000) : 0;
}
