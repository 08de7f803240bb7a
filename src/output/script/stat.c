/* SPDX-License-Identifier: MIT */
/* `perf stat record`: at the end of each interval a table of the counters, by event, thread and processor. */
#include "output/script/script.h"

/*
 * perf prints a row of zeros where nothing was counted. A hostile map would make that endless, so there is an end to
 * rows of zeros.
 */
enum { ZERO_ROWS_MAX = 1 << 20 };

struct count {
    uint64_t value, enabled, running; /* since the start */
};

/* One counter; each interval shows what came since the last. */
struct place {
    struct count now, last;
};

struct pf_script_stat {
    const struct perfile_allocator *allocator;
    int32_t *cpus;
    size_t cpu_count, cpu_room;
    int32_t *threads;
    size_t thread_count, thread_room;
    struct pf_map index; /* event, thread and processor, by position -> index in places */
    struct place *places;
    size_t place_count, place_room;
    bool is_raw; /* STAT_CONFIG: counts are not to be scaled to the time that they were enabled */
    bool has_header;
    unsigned zero_rows;
};

static struct pf_script_stat *get_stat(struct pf_script *script)
{
    if (!script->stat) {
        script->stat = pf_new(script->out->allocator, sizeof(*script->stat));
        if (script->stat) {
            script->stat->allocator = script->out->allocator;
            pf_map_open(&script->stat->index, script->out->allocator);
        }
    }
    if (!script->stat)
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return script->stat;
}

void pf_script_stat_close(struct pf_script *script)
{
    struct pf_script_stat *stat = script->stat;
    if (!stat)
        return;
    pf_free(stat->allocator, stat->cpus, stat->cpu_room * sizeof(*stat->cpus));
    pf_free(stat->allocator, stat->threads, stat->thread_room * sizeof(*stat->threads));
    pf_free(stat->allocator, stat->places, stat->place_room * sizeof(*stat->places));
    pf_map_close(&stat->index);
    pf_free(stat->allocator, stat, sizeof(*stat));
}

/* ---- the maps ---------------------------------------------------------------------------------------------------- */

static bool add_cpu(struct pf_script_stat *stat, int32_t cpu)
{
    if (!pf_grow(stat->allocator, &stat->cpus, &stat->cpu_room, stat->cpu_count + 1, sizeof(*stat->cpus)))
        return false;
    stat->cpus[stat->cpu_count++] = cpu;
    return true;
}

static bool add_listed_cpus(struct pf_script_stat *stat, const struct perfile_cpu_set *set)
{
    bool added = true;
    for (uint32_t i = 0; i < set->count && added; i++) {
        uint16_t cpu = pf_load16(set->data + i * 2, set->swapped);
        added = add_cpu(stat, cpu == UINT16_MAX ? -1 : cpu);
    }
    return added;
}

static bool add_masked_cpus(struct pf_script_stat *stat, const struct perfile_cpu_set *set)
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

static bool add_cpu_range(struct pf_script_stat *stat, const struct perfile_cpu_set *set)
{
    bool added = !set->any_cpu || add_cpu(stat, -1);
    for (uint32_t cpu = set->start_cpu; cpu <= set->end_cpu && added; cpu++)
        added = add_cpu(stat, (int32_t)cpu);
    return added;
}

static bool keep_cpus(struct pf_script_stat *stat, const struct perfile_cpu_map *map)
{
    static bool (*const add[])(struct pf_script_stat * stat,
                               const struct perfile_cpu_set *set) = {add_listed_cpus, add_masked_cpus, add_cpu_range};
    if (stat->cpu_count || map->map.map_type >= PF_COUNT(add)) /* the first one counts */
        return true;
    return add[map->map.map_type](stat, &map->map);
}

static bool keep_threads(struct pf_script_stat *stat, const struct perfile_thread_map *map)
{
    if (stat->thread_count)
        return true;
    for (uint64_t i = 0; i < map->entries.count; i++) {
        struct perfile_thread_map_entry entry;
        perfile_thread_map_entry_at(&map->entries, i, &entry, sizeof(entry));
        if (!pf_grow(stat->allocator, &stat->threads, &stat->thread_room, stat->thread_count + 1,
                     sizeof(*stat->threads)))
            return false;
        stat->threads[stat->thread_count++] = (int32_t)entry.pid;
    }
    return true;
}

static void keep_config(struct pf_script_stat *stat, const struct perfile_stat_config *config)
{
    enum { SCALE = 2 };
    for (uint64_t i = 0; i < config->data.count; i++) {
        struct perfile_stat_config_entry entry;
        perfile_stat_config_entry_at(&config->data, i, &entry, sizeof(entry));
        if (entry.tag == SCALE)
            stat->is_raw = !entry.val;
    }
}

/* ---- the counts -------------------------------------------------------------------------------------------------- */

/* Threads and processors are few enough for 16 and 17 bits: their maps are one record each. */
static uint64_t place_key(uint64_t event, uint64_t thread, uint64_t cpu)
{
    return event << 33 | thread << 17 | cpu;
}

static bool find_cpu(const struct pf_script_stat *stat, int32_t cpu, uint64_t *position)
{
    for (*position = 0; *position < stat->cpu_count; ++*position)
        if (stat->cpus[*position] == cpu)
            return true;
    return false;
}

static bool keep_count(struct pf_script *script, struct pf_script_stat *stat, const struct perfile_stat *record)
{
    const struct perfile_event *event = perfile_event_find(script->reader, record->id);
    uint64_t cpu, index;
    if (!event || record->thread >= stat->thread_count || !find_cpu(stat, (int32_t)record->cpu, &cpu))
        return true;
    uint64_t key = place_key(event->index, record->thread, cpu);
    if (!pf_map_get(&stat->index, key, &index)) {
        index = stat->place_count;
        if (!pf_grow(stat->allocator, &stat->places, &stat->place_room, stat->place_count + 1, sizeof(*stat->places)) ||
            !pf_map_put(&stat->index, key, index))
            return false;
        stat->places[stat->place_count++] = (struct place){0};
    }
    stat->places[index].now = (struct count){record->val, record->ena, record->run};
    return true;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Counters that shared the hardware counted only a part of the time. */
static uint64_t scale(const struct pf_script_stat *stat, const struct count *count)
{
    if (stat->is_raw || count->running >= count->enabled)
        return count->value;
    double whole = count->running ? (double)count->value * (double)count->enabled / (double)count->running : 0;
    return whole < 0x1p63 ? (uint64_t)whole : UINT64_MAX;
}

static struct count take_interval(struct place *place)
{
    struct count count = {place->now.value - place->last.value, place->now.enabled - place->last.enabled,
                          place->now.running - place->last.running};
    place->last = place->now;
    return count;
}

static void put_row(struct pf_script *script, const struct perfile_event *event, size_t thread, size_t cpu,
                    uint64_t time)
{
    struct pf_script_stat *stat = script->stat;
    struct count count = {0, 0, 0};
    uint64_t index;
    if (pf_map_get(&stat->index, place_key(event->index, thread, cpu), &index))
        count = take_interval(&stat->places[index]);
    else if (stat->zero_rows++ >= ZERO_ROWS_MAX || (stat->cpus[cpu] < 0 && stat->cpu_count > 1))
        return; /* "any processor" beside real ones stands for no counter of its own */
    pf_put_format(script->out, "%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " ", stat->cpus[cpu],
                  stat->threads[thread], scale(stat, &count), count.enabled, count.running, time);
    pf_put_name(script->out, event->name);
    pf_put_char(script->out, '\n');
}

static void put_table(struct pf_script *script, struct pf_script_stat *stat, const struct perfile_stat_round *round)
{
    const struct perfile_event *event;
    if (!stat->has_header)
        pf_put_format(script->out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN", "TIME",
                      "EVENT");
    stat->has_header = true;
    for (size_t i = 0; (event = perfile_event_get(script->reader, i)) != NULL; i++)
        for (size_t thread = 0; thread < stat->thread_count && stat->zero_rows < ZERO_ROWS_MAX; thread++)
            for (size_t cpu = 0; cpu < stat->cpu_count && stat->zero_rows < ZERO_ROWS_MAX; cpu++)
                put_row(script, event, thread, cpu, round->time);
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

void pf_script_stat_record(struct pf_script *script, const struct perfile_record *record)
{
    union {
        struct perfile_cpu_map cpus;
        struct perfile_thread_map threads;
        struct perfile_stat_config config;
        struct perfile_stat stat;
        struct perfile_stat_round round;
    } body;
    struct pf_script_stat *stat = get_stat(script);
    bool kept = true;
    if (!stat || perfile_record_decode(script->reader, record, &body, sizeof(body), NULL) < 0)
        return;
    if (record->type == PERFILE_RECORD_CPU_MAP)
        kept = keep_cpus(stat, &body.cpus);
    else if (record->type == PERFILE_RECORD_THREAD_MAP)
        kept = keep_threads(stat, &body.threads);
    else if (record->type == PERFILE_RECORD_STAT_CONFIG)
        keep_config(stat, &body.config);
    else if (record->type == PERFILE_RECORD_STAT)
        kept = keep_count(script, stat, &body.stat);
    else
        put_table(script, stat, &body.round);
    if (!kept)
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
}
