/* SPDX-License-Identifier: MIT */
/* Processors, caches, memory, PMUs. */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/error.h"
#include "output/header_walk.h"

#define PUT(...) pf_put_format(walk->out, __VA_ARGS__)
#define NUMBER(name) pf_header_number(walk, name)

static void put_text(struct pf_header_walk *walk, const char *name)
{
    pf_header_put_text(walk, walk->out, name);
}

/* ---- which processor is where ------------------------------------------------------------------------------------ */

struct location {
    uint32_t core, socket, die;
};

struct topology {
    const char *list, *label; /* what is printed in this pass */
    struct location *locations;
    size_t count, capacity;
    size_t dies; /* for as many of them the die is known */
    bool is_short;
};

static void put_siblings(struct pf_header_walk *walk, const char *list, const struct perfile_value *value)
{
    const struct topology *topology = walk->context;
    if (strcmp(list, topology->list) != 0)
        return;
    PUT("# %s : ", topology->label);
    pf_header_put_value(walk->out, value);
    PUT("\n");
}

static void take_position(struct pf_header_walk *walk, const char *list)
{
    struct topology *topology = walk->context;
    if (strcmp(list, "cpus") != 0)
        return;
    if (!pf_grow(walk->out->allocator, &topology->locations, &topology->capacity, topology->count + 1,
                 sizeof(*topology->locations))) {
        topology->is_short = true;
        return;
    }
    topology->locations[topology->count++] =
        (struct location){.core = (uint32_t)NUMBER("core_id"), .socket = (uint32_t)NUMBER("socket_id")};
}

static void take_die(struct pf_header_walk *walk, const char *list, const struct perfile_value *value)
{
    struct topology *topology = walk->context;
    if (strcmp(list, "die_id") == 0 && topology->dies < topology->count)
        topology->locations[topology->dies++].die = (uint32_t)value->number.u;
}

static void put_positions(struct pf_header_walk *walk, const struct topology *topology)
{
    if (!topology->count)
        PUT("# Core ID and Socket ID information is not available\n");
    for (size_t i = 0; i < topology->count; i++) {
        const struct location *location = &topology->locations[i];
        PUT("# CPU %zu: Core ID %" PRId32, i, (int32_t)location->core);
        if (topology->dies)
            PUT(", Die ID %" PRId32, (int32_t)location->die);
        PUT(", Socket ID %" PRId32 "\n", (int32_t)location->socket);
    }
}

/* perf prints the lists in another order than they have in the file. */
int pf_header_put_topology(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const char *const passes[][2] = {{"sibling_cores", "sibling sockets"},
                                            {"sibling_dies", "sibling dies   "},
                                            {"sibling_threads", "sibling threads"}};
    static const struct pf_header_rows siblings = {.item = put_siblings};
    static const struct pf_header_rows locations = {.object = take_position, .item = take_die};
    struct pf_text *out = walk->out;
    struct topology topology = {0};
    int result = 0;
    walk->context = &topology;
    for (size_t i = 0; i < PF_COUNT(passes) && result == 0; i++) {
        topology.list = passes[i][0];
        topology.label = passes[i][1];
        result = pf_header_walk(walk, feature, &siblings, error);
    }
    if (result == 0)
        result = pf_header_walk(walk, feature, &locations, error);
    if (result == 0 && topology.is_short)
        result = pf_fail_memory(error, "header");
    if (result == 0)
        put_positions(walk, &topology);
    pf_free(out->allocator, topology.locations, topology.capacity * sizeof(*topology.locations));
    return result;
}

/* ---- memory and caches ------------------------------------------------------------------------------------------- */

static void put_node(struct pf_header_walk *walk, const char *list)
{
    const uint64_t node = NUMBER("nodenr");
    (void)list;
    PUT("# node%" PRIu64 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n", node, NUMBER("mem_total"),
        NUMBER("mem_free"));
    PUT("# node%" PRIu64 " cpu list : ", node);
    put_text(walk, "cpus");
    PUT("\n");
}

int pf_header_put_numa(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.object = put_node};
    return pf_header_walk(walk, feature, &rows, error);
}

/* In columns, though the values are texts. */
static void put_padded(struct pf_header_walk *walk, const char *name, int width, bool left)
{
    struct pf_text *scratch = &walk->scratch;
    scratch->used = 0;
    pf_header_put_text(walk, scratch, name);
    const int pad = width - (int)pf_min(scratch->used, (size_t)width);
    PUT("%*s", left ? 0 : pad, "");
    pf_put(walk->out, scratch->data, scratch->used);
    PUT("%*s", left ? pad : 0, "");
}

static void put_cache_level(struct pf_header_walk *walk, const char *list)
{
    if (strcmp(list, "levels") != 0)
        return;
    PUT("#  L%" PRIu64 " ", NUMBER("level"));
    put_padded(walk, "type", 15, true);
    PUT(" ");
    put_padded(walk, "size", 8, false);
    PUT(" [");
    put_text(walk, "map");
    PUT("]\n");
}

int pf_header_put_cache(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.object = put_cache_level};
    PUT("# CPU cache info:\n");
    return pf_header_walk(walk, feature, &rows, error);
}

/* Numbers of set bits, as ranges. */
struct ranges {
    uint64_t next; /* bit */
    uint64_t first;
    uint64_t set_count;
    bool open;
};

static void end_range(struct pf_header_walk *walk, struct ranges *ranges)
{
    if (!ranges->open)
        return;
    pf_put_format(&walk->scratch, "%s%" PRIu64, walk->scratch.used ? "," : "", ranges->first);
    if (ranges->next - 1 > ranges->first)
        pf_put_format(&walk->scratch, "-%" PRIu64, ranges->next - 1);
    ranges->open = false;
}

/* 64 bits as 16 digits. */
static void take_bits(struct pf_header_walk *walk, const char *list, const struct perfile_value *value)
{
    struct ranges *ranges = walk->context;
    uint64_t word = 0;
    (void)list;
    for (size_t i = 0; i < value->bytes; i++)
        word = word << 4 | (uint64_t)(value->data[i] <= '9' ? value->data[i] - '0' : value->data[i] - 'a' + 10);
    for (int bit = 0; bit < 64; bit++, ranges->next++) {
        const bool set = word >> bit & 1;
        if (!set)
            end_range(walk, ranges);
        else if (!ranges->open)
            ranges->first = ranges->next;
        ranges->open = set;
        ranges->set_count += set;
    }
}

static void put_memory_node(struct pf_header_walk *walk, const char *list)
{
    static const char units[] = "BKMGTPE";
    struct ranges *ranges = walk->context;
    uint64_t bytes;
    size_t unit = 0;
    if (strcmp(list, "nodes") != 0)
        return;
    if (!pf_multiply(NUMBER("block_size_bytes"), ranges->set_count, &bytes))
        bytes = UINT64_MAX;
    for (; bytes / 1024 > 1 && units[unit + 1]; unit++)
        bytes /= 1024;
    end_range(walk, ranges);
    PUT("#  %3" PRIu64 " [%" PRIu64 "%c]: ", NUMBER("node_id"), bytes, units[unit]);
    pf_put(walk->out, walk->scratch.data, walk->scratch.used);
    PUT("\n");
    walk->scratch.used = 0;
    *ranges = (struct ranges){0};
}

static void count_objects(struct pf_header_walk *walk, const char *list)
{
    walk->count += strcmp(list, "nodes") == 0;
}

int pf_header_put_memory(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows count = {.object = count_objects};
    static const struct pf_header_rows rows = {.object = put_memory_node, .item = take_bits};
    struct ranges ranges = {0};
    uint64_t block = 0;
    if (pf_header_walk(walk, feature, &count, error) < 0 ||
        perfile_feature_number(walk->reader, feature, "block_size_bytes", &block, error) == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "header");
    PUT("# memory nodes (nr %" PRIu64 ", block size %#" PRIx64 "):\n", walk->count, block);
    walk->context = &ranges;
    return pf_header_walk(walk, feature, &rows, error);
}

/* ---- PMUs -------------------------------------------------------------------------------------------------------- */

static void put_pmu(struct pf_header_walk *walk, const char *list)
{
    (void)list;
    PUT("%s", walk->count++ ? ", " : "# pmu mappings: ");
    put_text(walk, "name");
    PUT(" = %" PRIu64, NUMBER("type"));
}

int pf_header_put_pmus(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.object = put_pmu};
    const int result = pf_header_walk(walk, feature, &rows, error);
    PUT(walk->count ? "\n" : "# pmu mappings: not available\n");
    return result;
}

/* Puts a capability. Its name and value are two rows of the walk; the name of the PMU follows all of them. */
static void put_cap(struct pf_header_walk *walk, const char *list, const struct perfile_value *value)
{
    (void)list;
    pf_put_string(&walk->scratch, walk->count % 2 ? "=" : walk->count ? ", " : "");
    pf_header_put_value(&walk->scratch, value);
    walk->count++;
}

static void put_caps(struct pf_header_walk *walk)
{
    if (walk->count) {
        PUT(" pmu capabilities: ");
        pf_put(walk->out, walk->scratch.data, walk->scratch.used);
        PUT("\n");
    } else {
        PUT(" pmu capabilities: not available\n");
    }
    walk->count = walk->scratch.used = 0;
}

int pf_header_put_cpu_caps(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.item = put_cap};
    const int result = pf_header_walk(walk, feature, &rows, error);
    PUT("# cpu");
    put_caps(walk);
    return result;
}

static void put_caps_of_pmu(struct pf_header_walk *walk, const char *list)
{
    (void)list;
    PUT("# ");
    put_text(walk, "pmu_name");
    put_caps(walk);
}

int pf_header_put_pmu_caps(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.object = put_caps_of_pmu, .item = put_cap};
    return pf_header_walk(walk, feature, &rows, error);
}

static void put_hybrid(struct pf_header_walk *walk, const char *list)
{
    (void)list;
    PUT("# ");
    put_text(walk, "pmu_name");
    PUT(" cpu list : ");
    put_text(walk, "cpus");
    PUT("\n");
}

int pf_header_put_hybrid(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.object = put_hybrid};
    PUT("# hybrid cpu system:\n");
    return pf_header_walk(walk, feature, &rows, error);
}

/* ---- scheduling domains ------------------------------------------------------------------------------------------ */

static void put_domain_text(struct pf_header_walk *walk, const char *label, const char *name)
{
    pf_put_string(&walk->scratch, label);
    pf_header_put_text(walk, &walk->scratch, name);
    pf_put_char(&walk->scratch, '\n');
}

static void put_domain(struct pf_header_walk *walk)
{
    walk->count++;
    pf_put_format(&walk->scratch, "# Domain\t\t: %" PRIu64 "\n", NUMBER("domain"));
    if (NUMBER("schedstat_version") >= 17)
        put_domain_text(walk, "# Domain name      : ", "dname");
    put_domain_text(walk, "# Domain cpu map   : ", "cpumask");
    put_domain_text(walk, "# Domain cpu list  : ", "cpulist");
}

static void put_domains_of_cpu(struct pf_header_walk *walk)
{
    PUT("# cpu\t\t: %" PRIu64 "\n# nr_domains\t: %" PRIu64 "\n", NUMBER("cpu"), walk->count);
    pf_put(walk->out, walk->scratch.data, walk->scratch.used);
    walk->count = walk->scratch.used = 0;
}

static void begin_domains(struct pf_header_walk *walk, const char *name)
{
    if (strcmp(name, "cpus") == 0)
        PUT("# schedstat version\t: %" PRIu64 "\n# Maximum sched domains\t: %" PRIu64 "\n", NUMBER("schedstat_version"),
            NUMBER("max_sched_domains"));
}

static void end_domain(struct pf_header_walk *walk, const char *list)
{
    if (strcmp(list, "domains") == 0)
        put_domain(walk);
    else if (strcmp(list, "cpus") == 0)
        put_domains_of_cpu(walk);
}

int pf_header_put_domains(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.begin = begin_domains, .object = end_domain};
    return pf_header_walk(walk, feature, &rows, error);
}
