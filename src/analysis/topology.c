/* SPDX-License-Identifier: MIT */
#include "analysis/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

enum { CPUS_MAX = 1 << 16, LISTED_MAX = 1 << 20 };

/* A visit of one of the features: which member the values belong to, and to which processor. */
struct walk {
    struct pf_topology *topology;
    char list; /* 'c' cpus, 'd' die_id, 'n' nodes, 'l' caches; 0: another one */
    size_t cpu;
    size_t listed; /* processors of nodes so far: lists may name them again and again */
    int32_t node;
    uint32_t level;      /* of a cache ... */
    bool is_instruction; /* ... that others stand for */
    bool is_short;       /* of memory */
};

/* NULL: no such processor, or out of memory. */
static struct pf_cpu_location *location_of(struct walk *walk, size_t cpu)
{
    struct pf_topology *topology = walk->topology;
    if (cpu >= CPUS_MAX)
        return NULL;
    if (!pf_grow(topology->allocator, &topology->cpus, &topology->capacity, cpu + 1, sizeof(*topology->cpus))) {
        walk->is_short = true;
        return NULL;
    }
    while (topology->count <= cpu)
        topology->cpus[topology->count++] = PF_NOWHERE;
    return &topology->cpus[cpu];
}

static int begin(void *context, const char *name, bool list)
{
    struct walk *walk = context;
    if (name && list) {
        walk->list = !strcmp(name, "cpus") ? 'c' : !strcmp(name, "die_id") ? 'd' : 0;
        walk->cpu = 0;
    }
    if (name && !strcmp(name, "NUMA_TOPOLOGY"))
        walk->list = 'n';
    if (name && list && !strcmp(name, "levels"))
        walk->list = 'l';
    return 0;
}

static int end(void *context, bool list)
{
    struct walk *walk = context;
    walk->cpu += !list && walk->list == 'c';
    return 0;
}

/* "0-3,7": these are of the node, or share the cache. */
static void put_listed(struct walk *walk, const char *list)
{
    const int32_t cache = (int32_t)strtoul(list, NULL, 10);
    while (*list >= '0' && *list <= '9') {
        char *after;
        unsigned long first = strtoul(list, &after, 10), last = first;
        if (*after == '-')
            last = strtoul(after + 1, &after, 10);
        for (; first <= last && first < CPUS_MAX && walk->listed < LISTED_MAX; first++, walk->listed++) {
            struct pf_cpu_location *location = location_of(walk, first);
            if (!location)
                return;
            if (walk->list == 'n')
                location->node = walk->node;
            else
                location->caches[walk->level - 1] = cache;
        }
        list = after + (*after == ',');
    }
}

static void take_list(struct walk *walk, const struct perfile_value *value, const char *name)
{
    char list[4096];
    if (value->kind != PERFILE_VALUE_TEXT || !value->name || strcmp(value->name, name) != 0 ||
        value->bytes >= sizeof(list))
        return;
    memcpy(list, value->data, value->bytes);
    list[value->bytes] = 0;
    put_listed(walk, list);
}

static void take_node(struct walk *walk, const struct perfile_value *value)
{
    if (value->kind == PERFILE_VALUE_UNSIGNED && value->name && !strcmp(value->name, "nodenr"))
        walk->node = (int32_t)value->number.u;
    take_list(walk, value, "cpus");
}

/* Of L1 there are two, that of instructions and the other. */
static void take_cache(struct walk *walk, const struct perfile_value *value)
{
    static const char instruction[] = "Instruction";
    if (value->kind == PERFILE_VALUE_UNSIGNED && value->name && !strcmp(value->name, "level"))
        walk->level = value->number.u <= PF_CACHE_LEVELS ? (uint32_t)value->number.u : 0;
    if (value->kind == PERFILE_VALUE_TEXT && value->name && !strcmp(value->name, "type"))
        walk->is_instruction =
            value->bytes == sizeof(instruction) - 1 && !memcmp(value->data, instruction, value->bytes);
    if (walk->level && !walk->is_instruction)
        take_list(walk, value, "map");
}

static void take_cpu(struct walk *walk, const struct perfile_value *value)
{
    struct pf_cpu_location *location = value->kind == PERFILE_VALUE_UNSIGNED ? location_of(walk, walk->cpu) : NULL;
    if (!location)
        return;
    const int32_t number = (int32_t)value->number.u;
    if (walk->list == 'd') {
        location->die = number;
        walk->cpu++;
    } else if (value->name && !strcmp(value->name, "core_id")) {
        location->core = number;
    } else if (value->name && !strcmp(value->name, "socket_id")) {
        location->socket = number;
    }
}

static int take_value(void *context, const struct perfile_value *value)
{
    struct walk *walk = context;
    if (walk->list == 'n')
        take_node(walk, value);
    else if (walk->list == 'l')
        take_cache(walk, value);
    else if (walk->list)
        take_cpu(walk, value);
    return walk->is_short;
}

int pf_topology_open(struct pf_topology *topology, struct perfile_reader *reader,
                     const struct perfile_allocator *allocator, struct perfile_error *error)
{
    static const uint32_t features[] = {PERFILE_FEATURE_CPU_TOPOLOGY, PERFILE_FEATURE_NUMA_TOPOLOGY,
                                        PERFILE_FEATURE_CACHE};
    *topology = (struct pf_topology){.allocator = allocator};
    for (size_t i = 0; i < PF_COUNT(features); i++) {
        struct walk walk = {.topology = topology};
        const struct perfile_visitor visitor = {
            .size = sizeof(visitor), .context = &walk, .begin = begin, .end = end, .value = take_value};
        const int result = perfile_feature_visit(reader, features[i], &visitor, error);
        if (result == PERFILE_ERROR_MEMORY || walk.is_short)
            return pf_fail_memory(error, "topology");
    }
    return 0;
}

void pf_topology_close(struct pf_topology *topology)
{
    if (!topology->allocator)
        return;
    pf_free(topology->allocator, topology->cpus, topology->capacity * sizeof(*topology->cpus));
    *topology = (struct pf_topology){0};
}

struct pf_cpu_location pf_topology_at(const struct pf_topology *topology, int32_t cpu)
{
    return cpu >= 0 && (size_t)cpu < topology->count ? topology->cpus[cpu] : PF_NOWHERE;
}
