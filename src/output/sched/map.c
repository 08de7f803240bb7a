/* SPDX-License-Identifier: MIT */
/* `perf sched map`: which task each CPU runs, a line for each switch. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "output/sched/sched.h"

struct map {
    struct pf_sched sched;
    struct pf_text *out;
    bool compact;
    const char *tasks;     /* names of which only switches are shown; NULL: all */
    bool parts;            /* parts of names */
    struct pf_filter cpus; /* of which only switches are shown */
    char (*names)[3];      /* by the task's number; "": it has none yet */
    size_t name_capacity;
    uint64_t named;
    uint32_t *order; /* of CPUs, in which they have columns */
    size_t order_count, order_capacity;
};

static bool has_name(const char *comm, const char *name, size_t bytes, bool part)
{
    if (!part)
        return strlen(comm) == bytes && !strncmp(comm, name, bytes);
    for (; *comm; comm++)
        if (!strncmp(comm, name, bytes))
            return true;
    return false;
}

static bool is_asked_for(const struct map *map, const struct pf_sched_task *task)
{
    char text[16];
    const char *comm = task->tid ? pf_sched_task_comm(task, text) : "swapper";
    for (const char *at = map->tasks; at && *at; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        if (has_name(comm, at, length, map->parts))
            return true;
        at += length;
    }
    return !map->tasks;
}

/* A0 ... Z0, A1 ... Z9, and again. */
static void make_name(struct map *map, const struct pf_sched_task *task, char name[3])
{
    const uint64_t number = map->named;
    if (task->tid == 0 || !is_asked_for(map, task)) {
        memcpy(name, task->tid ? "- " : ". ", 3);
        return;
    }
    map->named++;
    name[0] = (char)('A' + number % 26);
    name[1] = (char)('0' + number / 26 % 10);
    name[2] = '\0';
}

/* True of one that has none yet; *name NULL: out of memory. The idle task of all CPUs has one name. */
static bool name_task(struct map *map, const struct pf_sched_task *task, char **name)
{
    const size_t number = task->tid ? (size_t)task->number + 1 : 0;
    *name = NULL;
    if (!PF_HAS_ELEMENT(map->sched.options.allocator, map->names, map->name_capacity, number))
        return false;
    *name = map->names[number];
    if (**name)
        return false;
    make_name(map, task, *name);
    return true;
}

static bool add_cpu(struct map *map, uint32_t cpu)
{
    return PF_APPEND(map->sched.options.allocator, map->order, map->order_count, map->order_capacity, cpu);
}

/* Columns up to this CPU; compact: one for each that was seen. *is_new: it was not seen before. */
static bool find_column(struct map *map, uint32_t cpu, bool *is_new)
{
    *is_new = true;
    if (!map->compact) {
        *is_new = false;
        while (map->order_count <= cpu)
            if (!add_cpu(map, (uint32_t)map->order_count))
                return false;
        return true;
    }
    for (size_t i = 0; i < map->order_count; i++)
        if (map->order[i] == cpu) {
            *is_new = false;
            return true;
        }
    return add_cpu(map, cpu);
}

/* `leaves`: with what left this CPU, not with what came. */
static bool put_columns(struct map *map, uint32_t cpu, bool leaves)
{
    pf_put_string(map->out, "  ");
    for (size_t i = 0; i < map->order_count; i++) {
        const uint32_t at = map->order[i];
        const struct pf_sched_cpu *one = at < map->sched.switches.cpu_count ? &map->sched.switches.cpus[at] : NULL;
        char *name = NULL;
        pf_put_char(map->out, at == cpu ? '*' : ' ');
        if (!one || !one->task || !one->seen) {
            pf_put_string(map->out, "   ");
            continue;
        }
        name_task(map, one->task, &name);
        if (!name)
            return false;
        pf_put(map->out, leaves && at == cpu ? "- " : name, 2);
        pf_put_char(map->out, ' ');
    }
    return true;
}

static bool put_line(struct map *map, bool leaves)
{
    const struct pf_switch *now = &map->sched.now;
    if (!put_columns(map, now->cpu, leaves))
        return false;
    pf_put_string(map->out, "  ");
    pf_put_sched_time(map->out, now->time, 12);
    pf_put_string(map->out, " secs ");
    return true;
}

static bool put_switch(struct map *map)
{
    const struct pf_switch *now = &map->sched.now;
    char *name, *before, text[16];
    bool new_cpu;
    const bool new_task = name_task(map, now->next, &name);
    if (!name || !find_column(map, now->cpu, &new_cpu))
        return false;
    if (!pf_filter_number(map->cpus.has_cpus, &map->cpus.cpus, (int32_t)now->cpu))
        return true;
    if (is_asked_for(map, now->next)) {
        if (!put_line(map, false))
            return false;
        if (new_task || (now->next->tid && now->next->renamed)) {
            name_task(map, now->next, &name);
            pf_put_format(map->out, "%s => ", name);
            pf_put_name(map->out, pf_sched_task_comm(now->next, text));
            pf_put_format(map->out, ":%" PRId32, now->next->tid);
        }
        now->next->renamed = false;
        if (map->compact && new_cpu)
            pf_put_format(map->out, " (CPU %" PRIu32 ")", now->cpu);
        pf_put_char(map->out, '\n');
    }
    if (map->tasks && is_asked_for(map, now->prev) && now->prev->in_time) {
        name_task(map, now->prev, &before);
        if (!before || !put_line(map, true))
            return false;
        pf_put_char(map->out, '\n');
    }
    return true;
}

static int put_all(struct map *map, struct perfile_error *error)
{
    int result;
    while ((result = pf_sched_next(&map->sched, error)) > 0) {
        const struct pf_switch *now = &map->sched.now;
        if (now->kind == PF_SWITCHED && now->cpu < map->sched.switches.cpu_count &&
            pf_sched_in_time(&map->sched, now->time) && pf_sched_passes(&map->sched, now->next, now->cpu) &&
            !put_switch(map))
            return pf_fail_memory(error, "map");
    }
    return result;
}

static int write_map(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                     struct perfile_error *error)
{
    struct map map = {.out = out,
                      .compact = options->events->sched & PERFILE_SCHED_COMPACT,
                      .tasks = options->events->tasks,
                      .parts = options->events->sched & PERFILE_SCHED_PARTS};
    struct perfile_filter cpus = PERFILE_FILTER_INIT;
    cpus.cpus = options->events->cpus;
    int result = pf_filter_open(&map.cpus, &cpus, NULL, options->allocator, error);
    if (result == 0)
        result = pf_sched_text_open(&map.sched, reader, options, 0, error);
    if (result == 0)
        result = put_all(&map, error);
    if (map.sched.session && result != PERFILE_ERROR_MEMORY)
        pf_put_sched_losses(out, &map.sched, 0);
    pf_free(options->allocator, map.names, map.name_capacity * sizeof(*map.names));
    pf_free(options->allocator, map.order, map.order_capacity * sizeof(*map.order));
    pf_sched_text_close(&map.sched, options);
    pf_filter_close(&map.cpus);
    return result;
}

const struct pf_output pf_output_sched_map = {
    .info = {"sched_map", "stdio", "which task each CPU runs, a line for each switch, as perf sched map prints it"},
    .write = write_map,
};
