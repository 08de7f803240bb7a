/* SPDX-License-Identifier: MIT */
/* `perf stat record`: at the end of each interval a table of the counters, by event, thread and processor. */
#include "analysis/stat.h"
#include "output/script/script.h"

/*
 * perf prints a row of zeros where nothing was counted. A hostile map would make that endless, so there is an end to
 * rows of zeros.
 */
enum { ZERO_ROWS_MAX = 1 << 20 };

struct pf_script_stat {
    struct pf_stat counts;
    bool has_header;
    unsigned zero_rows;
};

static struct pf_script_stat *get_stat(struct pf_script *script)
{
    if (!script->stat) {
        script->stat = pf_new(script->out->allocator, sizeof(*script->stat));
        if (script->stat)
            pf_stat_open(&script->stat->counts, script->out->allocator);
    }
    if (!script->stat)
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return script->stat;
}

void pf_script_stat_close(struct pf_script *script)
{
    if (!script->stat)
        return;
    const struct perfile_allocator *allocator = script->stat->counts.allocator;
    pf_stat_close(&script->stat->counts);
    pf_free(allocator, script->stat, sizeof(*script->stat));
}

static void put_row(struct pf_script *script, const struct perfile_event *event, size_t thread, size_t cpu)
{
    struct pf_script_stat *stat = script->stat;
    const struct pf_stat *counts = &stat->counts;
    const struct pf_stat_cell *location = pf_stat_at(counts, event->index, thread, counts->cpus[cpu]);
    struct pf_stat_count count = {0, 0, 0};
    if (location)
        count = pf_stat_added(location);
    else if (stat->zero_rows++ >= ZERO_ROWS_MAX || (counts->cpus[cpu] < 0 && counts->cpu_count > 1))
        return; /* "any processor" beside real ones stands for no counter of its own */
    pf_put_format(script->out, "%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " ", counts->cpus[cpu],
                  counts->threads[thread].tid, pf_stat_scaled(counts, &count), count.enabled, count.running,
                  counts->round.time);
    pf_put_name(script->out, event->name);
    pf_put_char(script->out, '\n');
}

static void put_table(struct pf_script *script, struct pf_script_stat *stat)
{
    const struct pf_stat *counts = &stat->counts;
    const struct perfile_event *event;
    if (!stat->has_header)
        pf_put_format(script->out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN", "TIME",
                      "EVENT");
    stat->has_header = true;
    for (size_t i = 0; (event = perfile_event_get(script->reader, i)) != NULL; i++)
        for (size_t thread = 0; thread < counts->thread_count && stat->zero_rows < ZERO_ROWS_MAX; thread++)
            for (size_t cpu = 0; cpu < counts->cpu_count && stat->zero_rows < ZERO_ROWS_MAX; cpu++)
                put_row(script, event, thread, cpu);
}

void pf_script_stat_record(struct pf_script *script, const struct perfile_record *record)
{
    struct pf_script_stat *stat = get_stat(script);
    struct perfile_error error;
    if (!stat)
        return;
    const int consumed = pf_stat_take(&stat->counts, script->reader, record, &error);
    if (consumed < 0)
        pf_script_fail(script, consumed, "script", "out of memory");
    else if (consumed)
        put_table(script, stat);
}
