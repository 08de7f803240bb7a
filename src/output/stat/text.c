/* SPDX-License-Identifier: MIT */
/* Counts for people, in the layout that perf stat has had for long. */
#include <inttypes.h>
#include <math.h>

#include "base/locale.h"
#include "output/stat/sheet.h"

enum { UNIT_WIDTH_LEAST = 4, COUNT_WIDTH = 18, NAME_WIDTH = 32, METRIC_WIDTH = 35 };

static unsigned unit_width(const struct pf_stat_sheet *sheet)
{
    return sheet->unit_width > UNIT_WIDTH_LEAST ? sheet->unit_width : UNIT_WIDTH_LEAST;
}

/* ---- what stands before the lines -------------------------------------------------------------------------------- */

static void put_heading(struct pf_stat_sheet *sheet)
{
    static const char *const labels[] = {
        [PF_STAT_CPU] = "cpu    ",
        [PF_STAT_ALL] = "",
        [PF_STAT_SOCKET] = "socket ctrs ",
        [PF_STAT_DIE] = "die          ctrs ",
        [PF_STAT_CORE] = "core               ctrs ",
        [PF_STAT_THREAD] = "            comm-pid     ",
        [PF_STAT_NODE] = "node   ctrs ",
    };
    pf_put_format(sheet->out, "#           time %s%18s %*s events\n", labels[sheet->per], "counts",
                  (int)unit_width(sheet), "unit");
}

/* One word after the other; the first without its folder, as perf has it. */
static int put_word(void *context, const struct perfile_value *value)
{
    struct pf_stat_sheet *sheet = context;
    size_t from = value->bytes;
    if (value->kind != PERFILE_VALUE_TEXT)
        return 0;
    const bool is_first = sheet->out->data[sheet->out->used - 1] == '\''; /* the text was flushed before */
    while (from && !(is_first && value->data[from - 1] == '/'))
        from--;
    pf_put_string(sheet->out, is_first ? "" : " ");
    pf_put_name_bytes(sheet->out, value->data + from, value->bytes - from);
    return 0;
}

static int nothing(void *context, const char *name, bool list)
{
    (void)context, (void)name, (void)list;
    return 0;
}

static int end_nothing(void *context, bool list)
{
    (void)context, (void)list;
    return 0;
}

static void put_title(struct pf_stat_sheet *sheet)
{
    const struct perfile_visitor words = {
        .size = sizeof(words), .context = sheet, .begin = nothing, .end = end_nothing, .value = put_word};
    if (sheet->options->title) {
        pf_put_name(sheet->out, sheet->options->title);
        return;
    }
    pf_put_char(sheet->out, '\'');
    if (perfile_feature_visit(sheet->reader, PERFILE_FEATURE_CMDLINE, &words, NULL) == PERFILE_ERROR_MEMORY)
        pf_memory_note_short(sheet->allocator);
    pf_put_char(sheet->out, '\'');
}

static void begin(struct pf_stat_sheet *sheet)
{
    if (sheet->intervals) {
        put_heading(sheet);
        return;
    }
    pf_put_string(sheet->out, "\n Performance counter stats for ");
    put_title(sheet);
    if (sheet->options->more_count)
        pf_put_format(sheet->out, " (%zu runs)", sheet->options->more_count + 1);
    pf_put_string(sheet->out, ":\n\n");
}

/* ---- a line ------------------------------------------------------------------------------------------------------ */

static void put_label(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const struct pf_stat_group *group = &sheet->groups[line->group];
    const struct pf_cpu_place *at = &group->place;
    switch (sheet->per) {
    case PF_STAT_CPU:
        pf_put_format(sheet->out, "CPU%-4d", group->number);
        break;
    case PF_STAT_SOCKET:
        pf_put_format(sheet->out, "S%-5d %4" PRIu32 " ", at->socket, line->cpus);
        break;
    case PF_STAT_DIE:
        pf_put_format(sheet->out, "S%d-D%-8d %4" PRIu32 " ", at->socket, at->die, line->cpus);
        break;
    case PF_STAT_CORE:
        pf_put_format(sheet->out, "S%d-D%d-C%-11d %4" PRIu32 " ", at->socket, at->die, at->core, line->cpus);
        break;
    case PF_STAT_NODE:
        pf_put_format(sheet->out, "N%-5d %4" PRIu32 " ", at->node, line->cpus);
        break;
    case PF_STAT_THREAD:
        if (sheet->stat.thread_count) {
            const struct pf_stat_thread *thread = pf_stat_thread_of(sheet, line);
            for (size_t used = strlen(thread->comm); used < 16; used++)
                pf_put_char(sheet->out, ' ');
            pf_put_name(sheet->out, thread->comm);
            pf_put_format(sheet->out, "-%-8d", thread->tid);
        }
        break;
    case PF_STAT_ALL:
        break;
    }
}

static void put_count(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const double value = pf_stat_value(line);
    if (pf_stat_lack(line))
        pf_put_format(sheet->out, "%18s ", pf_stat_lack(line));
    else
        pf_put_format(sheet->out, "%18.*f ", floor(line->event->scale) == line->event->scale ? 0 : 2, value);
    pf_put_format(sheet->out, "%-*.32s ", (int)unit_width(sheet), line->event->unit ? line->event->unit : "");
}

static void put_metric(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const struct pf_stat_metric metric = pf_stat_metric_of(sheet, line);
    char text[64];
    if (!metric.unit)
        return;
    const int used = metric.form == PF_STAT_RATIO        ? pf_format(text, sizeof(text), "%8.3f", metric.value)
                     : metric.form == PF_STAT_HUNDREDTHS ? pf_format(text, sizeof(text), "%7.2f ", metric.value)
                                                         : pf_format(text, sizeof(text), "%7.2f%%", metric.value);
    pf_put_format(sheet->out, " # %s %-*s", text, METRIC_WIDTH - 3 - used - 1, metric.unit);
}

static void put_name(struct pf_stat_sheet *sheet, const struct pf_stat_line *line, bool padded)
{
    pf_put_name(sheet->out, line->event->name);
    for (size_t i = strlen(line->event->name); i < NAME_WIDTH && padded; i++)
        pf_put_char(sheet->out, ' ');
}

static void put_time(struct pf_stat_sheet *sheet)
{
    if (sheet->intervals)
        pf_put_format(sheet->out, "%6" PRIu64 ".%09" PRIu64 " ", sheet->time / 1000000000, sheet->time % 1000000000);
}

static void put_line(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const bool has_metric = pf_stat_metric_of(sheet, line).unit;
    const bool is_noisy = pf_stats_error_percent(&line->spread) > 0,
               is_shared = line->running && line->running < line->enabled;
    put_time(sheet);
    put_label(sheet, line);
    put_count(sheet, line);
    put_name(sheet, line, has_metric || is_noisy || is_shared);
    put_metric(sheet, line);
    if (!has_metric && (is_noisy || is_shared))
        pf_put_format(sheet->out, "%*s", METRIC_WIDTH, "");
    if (is_noisy)
        pf_put_format(sheet->out, "  ( +-%6.2f%% )", pf_stats_error_percent(&line->spread));
    if (is_shared)
        pf_put_format(sheet->out, "  (%.2f%%)", pf_stat_share(line));
    pf_put_char(sheet->out, '\n');
}

/* Where those of lines stand. */
static void put_wanted(struct pf_stat_sheet *sheet, const struct pf_stat_line *of, const struct pf_stat_wanted *wanted,
                       double value)
{
    put_time(sheet);
    put_label(sheet, of);
    pf_put_format(sheet->out, "%*s # ", (int)(COUNT_WIDTH + 1 + unit_width(sheet) + 1 + NAME_WIDTH), "");
    if (isnan(value))
        pf_put_string(sheet->out, "<not available> ");
    else
        pf_put_format(sheet->out, "%8.3f ", value);
    pf_put_name_bytes(sheet->out, wanted->name, wanted->name_bytes);
    pf_put_char(sheet->out, '\n');
}

/* ---- what stands behind them ------------------------------------------------------------------------------------- */

static void end(struct pf_stat_sheet *sheet)
{
    const double mean = sheet->walls.mean / 1e9;
    const double error = pf_stats_error_percent(&sheet->walls) / 100 * mean;
    if (!sheet->elapsed)
        return;
    if (sheet->walls.count > 1)
        pf_put_format(sheet->out, "\n %17.9f +- %.9f seconds time elapsed  ( +-%6.2f%% )\n\n", mean, error,
                      pf_stats_error_percent(&sheet->walls));
    else
        pf_put_format(sheet->out, "\n %17.9f seconds time elapsed\n\n", mean);
}

static int write_text(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    static const struct pf_stat_style style = {begin, put_line, put_wanted, end};
    out->escapes = true;
    return pf_stat_write(reader, options, &style, out, error);
}

const struct pf_output pf_output_stat_text = {
    .info = {"stat", "text", "the layout of perf stat, for people"}, .write = write_text, .merges = true};
