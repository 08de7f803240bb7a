/* SPDX-License-Identifier: MIT */
/* Counts for scripts that were written for perf stat: its -x and its -j. */
#include <inttypes.h>
#include <math.h>

#include "base/locale.h"
#include "output/stat/sheet.h"

/* All lines of several runs have as many fields. */
static bool has_spread(const struct pf_stat_sheet *sheet)
{
    return sheet->options->more_count > 0;
}

/* ---- lines with a separator -------------------------------------------------------------------------------------- */

static const char *separator_of(const struct pf_stat_sheet *sheet)
{
    const char *separator = sheet->options->report->separator;
    return separator && *separator ? separator : ",";
}

static void put_csv_time(struct pf_stat_sheet *sheet)
{
    if (sheet->intervals)
        pf_put_format(sheet->out, "%" PRIu64 ".%09" PRIu64 "%s", sheet->time / 1000000000, sheet->time % 1000000000,
                      separator_of(sheet));
    else if (sheet->summary && !(sheet->options->stat->flags & PERFILE_STAT_PLAIN_SUMMARY))
        pf_put_format(sheet->out, "summary%s", separator_of(sheet));
}

static void put_csv_label(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const struct pf_stat_where *where = pf_stat_where_of(sheet, line);
    const struct pf_cpu_location *at = &where->location;
    const char *separator = separator_of(sheet);
    if (sheet->per == PF_STAT_CPU) {
        pf_put_format(sheet->out, "CPU%d%s", where->number, separator);
    } else if (sheet->per == PF_STAT_THREAD && sheet->stat.thread_count) {
        pf_put_name(sheet->out, pf_stat_thread_of(sheet, line)->comm);
        pf_put_format(sheet->out, "-%d%s", pf_stat_thread_of(sheet, line)->tid, separator);
    } else if (sheet->per == PF_STAT_NODE) {
        pf_put_format(sheet->out, "N%d%s%" PRIu32 "%s", at->node, separator, line->cpus, separator);
    } else if (sheet->per != PF_STAT_ALL && sheet->per != PF_STAT_THREAD) {
        pf_put_format(sheet->out, "S%d", at->socket);
        if (sheet->per != PF_STAT_SOCKET)
            pf_put_format(sheet->out, "-D%d", at->die);
        if (sheet->per == PF_STAT_CORE)
            pf_put_format(sheet->out, "-C%d", at->core);
        if (sheet->per == PF_STAT_CACHE)
            pf_put_format(sheet->out, "-L%" PRIu32 "-ID%d", where->level, where->number);
        pf_put_format(sheet->out, "%s%" PRIu32 "%s", separator, line->cpus, separator);
    }
}

static void put_csv_cgroup(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const char *cgroup = pf_stat_name_of(sheet, line)->cgroup_text;
    if (!sheet->has_cgroups)
        return;
    pf_put_string(sheet->out, separator_of(sheet));
    pf_put_name(sheet->out, cgroup ? cgroup : "");
}

static void put_csv_line(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const char *separator = separator_of(sheet), *missing = pf_stat_missing(line);
    const struct pf_stat_metric metric = pf_stat_metric_of(sheet, line);
    char value[PF_STAT_VALUE_BYTES];
    pf_stat_format_value(line, line->event->scale == 1 ? 0 : 2, value);
    put_csv_time(sheet);
    put_csv_label(sheet, line);
    pf_put_string(sheet->out, missing ? missing : value);
    pf_put_format(sheet->out, "%s%.32s%s", separator, line->event->unit ? line->event->unit : "", separator);
    pf_put_name_bytes(sheet->out, line->event->name, pf_stat_name_of(sheet, line)->bytes);
    put_csv_cgroup(sheet, line);
    if (has_spread(sheet))
        pf_put_format(sheet->out, "%s%.2f%%", separator, pf_stats_error_percent(&line->spread));
    pf_put_format(sheet->out, "%s%" PRIu64 "%s%.2f%s", separator, line->running, separator, pf_stat_share(line),
                  separator);
    if (metric.unit)
        pf_put_format(sheet->out, "%.*f",
                      metric.form == PF_STAT_RATIO    ? 3
                      : metric.form == PF_STAT_TENTHS ? 1
                                                      : 2,
                      metric.value);
    pf_put_format(sheet->out, "%s%s\n", separator, metric.unit ? metric.unit : "");
}

/* As perf does it for metrics beside the first of a line: what the line says of its event is empty. */
static void put_csv_wanted(struct pf_stat_sheet *sheet, const struct pf_stat_line *of,
                           const struct pf_stat_wanted *wanted, double value)
{
    const char *separator = separator_of(sheet);
    put_csv_time(sheet);
    put_csv_label(sheet, of);
    pf_put_format(sheet->out, "%s%s", separator, separator);
    put_csv_cgroup(sheet, of);
    for (unsigned i = 0; i < (has_spread(sheet) ? 4 : 3); i++)
        pf_put_string(sheet->out, separator);
    if (isnan(value))
        pf_put_string(sheet->out, "<not available>");
    else
        pf_put_format(sheet->out, "%f", value);
    pf_put_string(sheet->out, separator);
    pf_put_name_bytes(sheet->out, wanted->name, wanted->name_bytes);
    pf_put_char(sheet->out, '\n');
}

/* Names of the columns before those of metrics, by unit. */
static const char *const label_names[] = {
    [PF_STAT_CPU] = "cpu\0",           [PF_STAT_ALL] = "\0",
    [PF_STAT_SOCKET] = "socket\0cpus", [PF_STAT_DIE] = "die\0cpus",
    [PF_STAT_CORE] = "core\0cpus",     [PF_STAT_THREAD] = "comm-pid\0",
    [PF_STAT_NODE] = "node\0cpus",     [PF_STAT_CACHE] = "cache\0cpus",
};

static void put_csv_names(struct pf_stat_sheet *sheet)
{
    const char *separator = separator_of(sheet), *label = label_names[sheet->per],
               *counters = label + strlen(label) + 1;
    if (sheet->intervals)
        pf_put_format(sheet->out, "time%s", separator);
    if (*label)
        pf_put_format(sheet->out, "%s%s", label, separator);
    if (*label && *counters)
        pf_put_format(sheet->out, "%s%s", counters, separator);
    for (size_t i = 0; i < sheet->cell_count; i++) {
        pf_put_name_bytes(sheet->out, sheet->cells[i].name, sheet->cells[i].bytes);
        pf_put_string(sheet->out, separator);
    }
    pf_put_char(sheet->out, '\n');
}

static void put_csv_row(struct pf_stat_sheet *sheet, const struct pf_stat_line *of)
{
    put_csv_time(sheet);
    put_csv_label(sheet, of);
    for (size_t i = 0; i < sheet->cell_count; i++) {
        if (!isnan(sheet->cells[i].value))
            pf_put_format(sheet->out, "%.1f", sheet->cells[i].value);
        pf_put_string(sheet->out, separator_of(sheet));
    }
    pf_put_char(sheet->out, '\n');
}

static int write_csv(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                     struct perfile_error *error)
{
    static const struct pf_stat_style style = {
        .line = put_csv_line, .metric = put_csv_wanted, .names = put_csv_names, .row = put_csv_row};
    out->escapes = true;
    return pf_stat_write(reader, options, &style, out, error);
}

const struct pf_output pf_output_stat_perf_csv = {
    .info = {"stat", "perf-csv", "the lines of perf stat -x"}, .write = write_csv, .merges = true};

/* ---- an object on a line ----------------------------------------------------------------------------------------- */

static void put_bytes_member(struct pf_text *out, const char *name, const char *value, size_t bytes)
{
    pf_put_format(out, "\"%s\" : ", name);
    pf_put_json_string(out, value, bytes);
    pf_put_string(out, ", ");
}

static void put_text_member(struct pf_text *out, const char *name, const char *value)
{
    put_bytes_member(out, name, value, strlen(value));
}

static void put_json_cgroup(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const char *cgroup = pf_stat_name_of(sheet, line)->cgroup_text;
    if (sheet->has_cgroups)
        put_text_member(sheet->out, "cgroup", cgroup ? cgroup : "");
}

static void put_json_label(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const struct pf_stat_where *where = pf_stat_where_of(sheet, line);
    const struct pf_cpu_location *at = &where->location;
    if (sheet->per == PF_STAT_CPU)
        pf_put_format(sheet->out, "\"cpu\" : \"%d\", ", where->number);
    else if (sheet->per == PF_STAT_SOCKET)
        pf_put_format(sheet->out, "\"socket\" : \"S%d\", ", at->socket);
    else if (sheet->per == PF_STAT_DIE)
        pf_put_format(sheet->out, "\"die\" : \"S%d-D%d\", ", at->socket, at->die);
    else if (sheet->per == PF_STAT_CORE)
        pf_put_format(sheet->out, "\"core\" : \"S%d-D%d-C%d\", ", at->socket, at->die, at->core);
    else if (sheet->per == PF_STAT_CACHE)
        pf_put_format(sheet->out, "\"cache\" : \"S%d-D%d-L%" PRIu32 "-ID%d\", ", at->socket, at->die, where->level,
                      where->number);
    else if (sheet->per == PF_STAT_NODE)
        pf_put_format(sheet->out, "\"node\" : \"N%d\", ", at->node);
    else if (sheet->per == PF_STAT_THREAD && sheet->stat.thread_count) {
        char name[40];
        pf_format(name, sizeof(name), "%s-%d", pf_stat_thread_of(sheet, line)->comm,
                  pf_stat_thread_of(sheet, line)->tid);
        put_text_member(sheet->out, "thread", name);
    }
    if (sheet->per != PF_STAT_CPU && sheet->per != PF_STAT_ALL && sheet->per != PF_STAT_THREAD)
        pf_put_format(sheet->out, "\"counters\" : %" PRIu32 ", ", line->cpus);
}

static void put_json_time(struct pf_stat_sheet *sheet)
{
    if (sheet->intervals)
        pf_put_format(sheet->out, "\"interval\" : %" PRIu64 ".%09" PRIu64 ", ", sheet->time / 1000000000,
                      sheet->time % 1000000000);
}

static void put_json_wanted(struct pf_stat_sheet *sheet, const struct pf_stat_line *of,
                            const struct pf_stat_wanted *wanted, double value)
{
    pf_put_char(sheet->out, '{');
    put_json_time(sheet);
    put_json_label(sheet, of);
    put_json_cgroup(sheet, of);
    if (isnan(value))
        pf_put_string(sheet->out, "\"metric-value\" : null, \"metric-unit\" : ");
    else
        pf_put_format(sheet->out, "\"metric-value\" : %f, \"metric-unit\" : ", value);
    pf_put_json_string(sheet->out, wanted->name, wanted->name_bytes);
    pf_put_string(sheet->out, "}\n");
}

static void put_json_line(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const struct pf_stat_metric metric = pf_stat_metric_of(sheet, line);
    char value[PF_STAT_VALUE_BYTES];
    pf_put_char(sheet->out, '{');
    put_json_time(sheet);
    put_json_label(sheet, line);
    pf_stat_format_value(line, 6, value);
    put_text_member(sheet->out, "counter-value", pf_stat_missing(line) ? pf_stat_missing(line) : value);
    put_text_member(sheet->out, "unit", line->event->unit ? line->event->unit : "");
    put_bytes_member(sheet->out, "event", line->event->name, pf_stat_name_of(sheet, line)->bytes);
    put_json_cgroup(sheet, line);
    if (has_spread(sheet))
        pf_put_format(sheet->out, "\"variance\" : %.2f, ", pf_stats_error_percent(&line->spread));
    pf_put_format(sheet->out, "\"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : %.2f", line->running,
                  pf_stat_share(line));
    if (metric.unit)
        pf_put_format(sheet->out, ", \"metric-value\" : %f, \"metric-unit\" : \"%s\"", metric.value, metric.unit);
    pf_put_string(sheet->out, "}\n");
}

static void put_json_row(struct pf_stat_sheet *sheet, const struct pf_stat_line *of)
{
    pf_put_char(sheet->out, '{');
    put_json_time(sheet);
    put_json_label(sheet, of);
    for (size_t i = 0; i < sheet->cell_count; i++) {
        char value[PF_STAT_VALUE_BYTES] = "none";
        if (!isnan(sheet->cells[i].value))
            pf_format(value, sizeof(value), "%.1f", sheet->cells[i].value);
        pf_put_string(sheet->out, i ? ", " : "");
        pf_put_json_string(sheet->out, sheet->cells[i].name, sheet->cells[i].bytes);
        pf_put_format(sheet->out, " : \"%s\"", value);
    }
    pf_put_string(sheet->out, "}\n");
}

static int write_json(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    static const struct pf_stat_style style = {.line = put_json_line, .metric = put_json_wanted, .row = put_json_row};
    return pf_stat_write(reader, options, &style, out, error);
}

const struct pf_output pf_output_stat_perf_json = {
    .info = {"stat", "perf-json", "the objects of perf stat -j, one on a line"}, .write = write_json, .merges = true};
