/* SPDX-License-Identifier: MIT */
#include "analysis/stat.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

enum { TAG_PER, TAG_INTERVAL, TAG_SCALE, TAG_LEVEL };

void pf_stat_open(struct pf_stat *stat, const struct perfile_allocator *allocator)
{
    *stat = (struct pf_stat){.allocator = allocator, .first_delivered = UINT32_MAX};
    pf_map_open(&stat->known_cpus, allocator);
    pf_map_open(&stat->index, allocator);
}

void pf_stat_close(struct pf_stat *stat)
{
    if (!stat->allocator)
        return;
    pf_free(stat->allocator, stat->cpus, stat->cpu_capacity * sizeof(*stat->cpus));
    pf_free(stat->allocator, stat->threads, stat->thread_capacity * sizeof(*stat->threads));
    pf_free(stat->allocator, stat->positions, stat->position_capacity * sizeof(*stat->positions));
    pf_map_close(&stat->known_cpus);
    pf_map_close(&stat->index);
    *stat = (struct pf_stat){0};
}

/* ---- the maps ---------------------------------------------------------------------------------------------------- */

static bool add_cpu(struct pf_stat *stat, int32_t cpu)
{
    if (!pf_grow(stat->allocator, &stat->cpus, &stat->cpu_capacity, stat->cpu_count + 1, sizeof(*stat->cpus)) ||
        !pf_map_put(&stat->known_cpus, (uint32_t)cpu, 1))
        return false;
    stat->cpus[stat->cpu_count++] = cpu;
    return true;
}

static bool add_listed_cpus(struct pf_stat *stat, const struct perfile_cpu_set *set)
{
    bool added = true;
    for (uint32_t i = 0; i < set->count && added; i++) {
        uint16_t cpu = pf_load16(set->data + i * 2, set->swapped);
        added = add_cpu(stat, cpu == UINT16_MAX ? -1 : cpu);
    }
    return added;
}

static bool add_masked_cpus(struct pf_stat *stat, const struct perfile_cpu_set *set)
{
    bool added = true;
    unsigned bits = set->long_size * 8u;
    for (uint32_t i = 0; i < set->count; i++) {
        const uint8_t *at = set->data + i * set->long_size;
        uint64_t word = set->long_size == 4 ? pf_load32(at, set->swapped) : pf_load64(at, set->swapped);
        for (unsigned bit = 0; bit < bits && added; bit++)
            if (word >> bit & 1)
                added = add_cpu(stat, (int32_t)(i * bits + bit));
    }
    return added;
}

static bool add_cpu_range(struct pf_stat *stat, const struct perfile_cpu_set *set)
{
    bool added = !set->any_cpu || add_cpu(stat, -1);
    for (uint32_t cpu = set->start_cpu; cpu <= set->end_cpu && added; cpu++)
        added = add_cpu(stat, (int32_t)cpu);
    return added;
}

static bool keep_cpus(struct pf_stat *stat, const struct perfile_cpu_map *map)
{
    static bool (*const add[])(struct pf_stat * stat,
                               const struct perfile_cpu_set *set) = {add_listed_cpus, add_masked_cpus, add_cpu_range};
    if (stat->cpu_count || map->map.map_type >= PF_COUNT(add)) /* the first one counts */
        return true;
    return add[map->map.map_type](stat, &map->map);
}

static bool keep_threads(struct pf_stat *stat, const struct perfile_thread_map *map)
{
    if (stat->thread_count)
        return true;
    for (uint64_t i = 0; i < map->entries.count; i++) {
        struct perfile_thread_map_entry entry;
        perfile_thread_map_entry_at(&map->entries, i, &entry, sizeof(entry));
        if (!pf_grow(stat->allocator, &stat->threads, &stat->thread_capacity, stat->thread_count + 1,
                     sizeof(*stat->threads)))
            return false;
        struct pf_stat_thread *thread = &stat->threads[stat->thread_count++];
        thread->tid = (int32_t)entry.pid;
        memcpy(thread->comm, entry.comm, sizeof(thread->comm));
    }
    return true;
}

static void keep_config(struct pf_stat *stat, const struct perfile_stat_config *config)
{
    for (uint64_t i = 0; i < config->data.count; i++) {
        struct perfile_stat_config_entry entry;
        perfile_stat_config_entry_at(&config->data, i, &entry, sizeof(entry));
        if (entry.tag == TAG_PER)
            stat->per = entry.val;
        else if (entry.tag == TAG_INTERVAL)
            stat->interval_ms = entry.val;
        else if (entry.tag == TAG_SCALE)
            stat->is_raw = !entry.val;
        else if (entry.tag == TAG_LEVEL)
            stat->level = entry.val;
        stat->has_config |= entry.tag == TAG_PER;
    }
}

/*
 * The numbers of what counts are added up by: 6.5 put caches before cores, 6.9 clusters before these. Clusters are not
 * in the topology of a recording, and counts are then shown for all processors together.
 */
enum pf_stat_per pf_stat_per_of(const struct pf_stat *stat, struct perfile_reader *reader)
{
    static const uint8_t numbers[][10] = {
        {PF_STAT_CPU, PF_STAT_ALL, PF_STAT_SOCKET, PF_STAT_DIE, PF_STAT_CORE, PF_STAT_THREAD, PF_STAT_ALL, PF_STAT_NODE,
         PF_STAT_ALL, PF_STAT_ALL},
        {PF_STAT_CPU, PF_STAT_ALL, PF_STAT_SOCKET, PF_STAT_DIE, PF_STAT_CACHE, PF_STAT_CORE, PF_STAT_THREAD,
         PF_STAT_ALL, PF_STAT_NODE, PF_STAT_ALL},
        {PF_STAT_CPU, PF_STAT_ALL, PF_STAT_SOCKET, PF_STAT_DIE, PF_STAT_ALL, PF_STAT_CACHE, PF_STAT_CORE,
         PF_STAT_THREAD, PF_STAT_ALL, PF_STAT_NODE},
    };
    const char *version;
    unsigned major = 0, minor = 0, age = 2;
    if (!stat->has_config)
        return PF_STAT_ALL;
    if (perfile_feature_text(reader, PERFILE_FEATURE_VERSION, NULL, &version, NULL) == 0 &&
        pf_take_version(version, &major, &minor) && major)
        age = major < 6 || (major == 6 && minor < 5) ? 0 : major == 6 && minor < 9 ? 1 : 2;
    return stat->per < PF_COUNT(numbers[0]) ? (enum pf_stat_per)numbers[age][stat->per] : PF_STAT_ALL;
}

/* ---- the counts -------------------------------------------------------------------------------------------------- */

/* Threads and processors are few enough for 16 and 17 bits: their maps are one record each. */
static uint64_t position_key(uint64_t event, uint64_t thread, int32_t cpu)
{
    return event << 33 | thread << 17 | (uint64_t)(uint32_t)(cpu + 1);
}

const struct pf_stat_cell *pf_stat_at(const struct pf_stat *stat, uint64_t event, uint64_t thread, int32_t cpu)
{
    uint64_t index;
    return pf_map_get(&stat->index, position_key(event, thread, cpu), &index) ? &stat->positions[index] : NULL;
}

static bool keep_count(struct pf_stat *stat, const struct perfile_reader *reader, const struct perfile_stat *record)
{
    const struct perfile_event *event = perfile_event_find(reader, record->id);
    const int32_t cpu = (int32_t)record->cpu;
    uint64_t index;
    if (!event || record->thread >= stat->thread_count || !pf_map_get(&stat->known_cpus, record->cpu, &index))
        return true;
    const uint64_t key = position_key(event->index, record->thread, cpu);
    if (!pf_map_get(&stat->index, key, &index)) {
        index = stat->position_count;
        if (!pf_grow(stat->allocator, &stat->positions, &stat->position_capacity, stat->position_count + 1,
                     sizeof(*stat->positions)) ||
            !pf_map_put(&stat->index, key, index))
            return false;
        stat->positions[stat->position_count++] =
            (struct pf_stat_cell){.event = event->index, .thread = record->thread, .cpu = cpu};
    }
    struct pf_stat_cell *position = &stat->positions[index];
    position->now = (struct pf_stat_count){record->val, record->ena, record->run};
    if (!position->delivered) {
        position->delivered = true;
        position->next_delivered = stat->first_delivered;
        stat->first_delivered = (uint32_t)index;
    }
    return true;
}

struct pf_stat_count pf_stat_added(const struct pf_stat_cell *position)
{
    return (struct pf_stat_count){position->now.value - position->last.value,
                                  position->now.enabled - position->last.enabled,
                                  position->now.running - position->last.running};
}

uint64_t pf_stat_scaled(const struct pf_stat *stat, const struct pf_stat_count *count)
{
    if (stat->is_raw || count->running >= count->enabled)
        return count->value;
    double total = count->running ? (double)count->value * (double)count->enabled / (double)count->running : 0;
    return total < 0x1p63 ? (uint64_t)total : UINT64_MAX;
}

/* The next record belongs to the next round. */
static void begin_round(struct pf_stat *stat)
{
    while (stat->first_delivered != UINT32_MAX) {
        struct pf_stat_cell *position = &stat->positions[stat->first_delivered];
        stat->first_delivered = position->next_delivered;
        position->last = position->now;
        position->delivered = false;
    }
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

int pf_stat_take(struct pf_stat *stat, const struct perfile_reader *reader, const struct perfile_record *record,
                 struct perfile_error *error)
{
    union {
        struct perfile_cpu_map cpus;
        struct perfile_thread_map threads;
        struct perfile_stat_config config;
        struct perfile_stat stat;
        struct perfile_stat_round round;
    } body;
    bool kept = true;
    if (record->type < PERFILE_RECORD_THREAD_MAP || record->type > PERFILE_RECORD_STAT_ROUND ||
        perfile_record_decode(reader, record, &body, sizeof(body), NULL) < 0)
        return 0;
    if (stat->round_ended)
        begin_round(stat);
    stat->round_ended = record->type == PERFILE_RECORD_STAT_ROUND;
    if (record->type == PERFILE_RECORD_CPU_MAP)
        kept = keep_cpus(stat, &body.cpus);
    else if (record->type == PERFILE_RECORD_THREAD_MAP)
        kept = keep_threads(stat, &body.threads);
    else if (record->type == PERFILE_RECORD_STAT_CONFIG)
        keep_config(stat, &body.config);
    else if (record->type == PERFILE_RECORD_STAT)
        kept = keep_count(stat, reader, &body.stat);
    else
        stat->round = body.round;
    if (!kept)
        return pf_fail_memory(error, "counts");
    stat->round_count += stat->round_ended;
    return stat->round_ended;
}
