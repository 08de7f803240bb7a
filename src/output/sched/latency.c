/* SPDX-License-Identifier: MIT */
/* `perf sched latency`: how long tasks waited for a CPU. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "output/events/events.h"
#include "output/sched/sched.h"

static void put_line(struct pf_text *out, unsigned dashes)
{
    pf_put_char(out, ' ');
    pf_put_rule(out, dashes);
}

static void put_header(struct pf_text *out)
{
    pf_put_char(out, '\n');
    put_line(out, 139);
    pf_put_string(
        out, "  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | Max delay start "
             "          | Max delay end          |\n");
    put_line(out, 139);
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void put_row(struct pf_text *out, struct pf_text *name, const struct pf_latency *row)
{
    char text[16];
    name->used = 0;
    name->escapes = out->escapes;
    pf_put_name(name, pf_sched_task_comm(row->task, text));
    if (row->tasks > 1)
        pf_put_format(name, ":(%" PRIu32 ")", row->tasks);
    else
        pf_put_format(name, ":%" PRId32, row->task->tid);
    pf_put_format(out, "  %.*s%*s ", (int)name->used, name->data, name->used < 21 ? 21 - (int)name->used : 0, "");
    pf_put_format(out, "|%11.3f ms |%9" PRIu64 " | avg:%8.3f ms | max:%8.3f ms |", ms(row->runtime), row->delays.count,
                  ms(pf_stats_average(&row->delays)), ms(row->delays.max));
    pf_put_string(out, " max start: ");
    pf_put_sched_time(out, row->max_from, 12);
    pf_put_string(out, " s | max end: ");
    pf_put_sched_time(out, row->max_to, 12);
    pf_put_string(out, " s\n");
}

static void put_rows(struct pf_text *out, struct pf_text *name, const struct pf_latencies *latencies)
{
    uint64_t runtime = 0, count = 0;
    put_header(out);
    for (size_t i = 0; i < latencies->count; i++) {
        put_row(out, name, &latencies->rows[i]);
        runtime += latencies->rows[i].runtime;
        count += latencies->rows[i].delays.count;
    }
    put_line(out, 113);
    pf_put_format(out, "  TOTAL:                |%11.3f ms |%9" PRIu64 " |\n", ms(runtime), count);
    put_line(out, 51);
}

static int read_all(struct pf_latencies *latencies, struct pf_sched *sched, struct perfile_error *error)
{
    int result;
    pf_sched_read_alone(sched);
    while ((result = pf_sched_next(sched, error)) > 0)
        if (!pf_latencies_take(latencies, sched))
            return pf_fail_memory(error, "latencies");
    return result;
}

static int write_latency(struct perfile_reader *reader, const struct perfile_output_options *options,
                         struct pf_text *out, struct perfile_error *error)
{
    struct pf_sched sched;
    struct pf_latencies latencies = {.rows = NULL};
    struct pf_text name;
    int result = pf_latencies_sort(&latencies, options->events->sort, error);
    if (result < 0)
        return result;
    result = pf_sched_text_open(&sched, reader, options, 0, error);
    if (pf_text_open(&name, options->allocator, NULL, NULL) < 0 && result == 0)
        result = pf_fail_memory(error, "latencies");
    if (result == 0)
        result = read_all(&latencies, &sched, error);
    if (result != PERFILE_ERROR_MEMORY && sched.session) {
        if (pf_latencies_end(&latencies, &sched, !(options->events->sched & PERFILE_SCHED_BY_TID)))
            put_rows(out, &name, &latencies);
        else
            result = pf_fail_memory(error, "latencies");
        pf_put_sched_losses(out, &sched, latencies.wakings);
        pf_put_char(out, '\n');
    }
    pf_text_close(&name);
    pf_latencies_close(&latencies, options->allocator);
    pf_sched_text_close(&sched, options);
    return result;
}

const struct pf_output pf_output_sched_latency = {
    .info = {"sched_latency", "stdio", "how long tasks waited for a CPU, as perf sched latency prints it"},
    .write = write_latency,
};
