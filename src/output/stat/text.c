/* SPDX-License-Identifier: MIT */
/* Counts for people, in the layout that perf stat has had for long. */
#include <inttypes.h>
#include <math.h>

#include "base/columns.h"
#include "base/locale.h"
#include "output/stat/sheet.h"

/* As in perf; on terminals the counts stand closer, and the others are as wide as what is in them. */
enum {
    UNIT_WIDTH_MIN = 4,
    COUNT_WIDTH = 18,
    COUNT_WIDTH_FITTED = 16,
    COUNT_WIDTH_NARROW = 7,
    NARROW = 60,
    NAME_WIDTH = 32,
    NAME_WIDTH_MIN = 10,
    CGROUP_WIDTH = 16,
    CGROUP_WIDTH_MIN = 12,
    METRIC_WIDTH = 38,
    METRIC_VALUE_WIDTH = 8,
    TIME_WIDTH = 17,
    SPREAD_WIDTH = 15,
    SHARE_WIDTH = 11,
    COUNTERS_WIDTH = 6,
    COMM_WIDTH = 16,
    LOCATION_BYTES = 64,
    NAME_BYTES = 512,
    TABLE_SIGNS_MAX = 1000,
};

static const uint8_t location_widths[] = {
    [PF_STAT_CPU] = 7,   [PF_STAT_ALL] = 0,     [PF_STAT_SOCKET] = 6, [PF_STAT_DIE] = 12,
    [PF_STAT_CORE] = 18, [PF_STAT_THREAD] = 25, [PF_STAT_NODE] = 6,   [PF_STAT_CACHE] = 22,
};

static unsigned unit_width(const struct pf_stat_sheet *sheet)
{
    return sheet->unit_width > UNIT_WIDTH_MIN ? sheet->unit_width : UNIT_WIDTH_MIN;
}

/* Of the terminal; 0: as perf has it. */
static size_t screen_of(const struct pf_stat_sheet *sheet)
{
    return sheet->options->report->columns;
}

static int count_width(const struct pf_stat_sheet *sheet)
{
    if (sheet->intervals && screen_of(sheet) && screen_of(sheet) < NARROW)
        return COUNT_WIDTH_NARROW;
    return screen_of(sheet) ? COUNT_WIDTH_FITTED : COUNT_WIDTH;
}

static bool is_noisy(const struct pf_stat_line *line)
{
    return pf_stats_error_percent(&line->spread) > 0;
}

static bool is_shared(const struct pf_stat_line *line)
{
    return line->running && line->running < line->enabled;
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
        [PF_STAT_CACHE] = "cache                  ctrs ",
    };
    if (pf_stat_has_only_metrics(sheet)) {
        pf_put_string(sheet->out, "#           time ");
        return;
    }
    pf_put_format(sheet->out, "#           time %s%*s %*s events\n", labels[sheet->per], count_width(sheet), "counts",
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
    if (sheet->options->stat->title) {
        pf_put_name(sheet->out, sheet->options->stat->title);
        return;
    }
    if (sheet->options->stat->flags & PERFILE_STAT_PERF_METRICS &&
        perfile_reader_file(sheet->reader)->mode == PERFILE_MODE_PIPE) {
        pf_put_string(sheet->out, "'pipe'"); /* as perf has it */
        return;
    }
    pf_put_char(sheet->out, '\'');
    if (perfile_feature_visit(sheet->reader, PERFILE_FEATURE_CMDLINE, &words, NULL) == PERFILE_ERROR_MEMORY)
        pf_memory_note_short(sheet->allocator);
    pf_put_char(sheet->out, '\'');
}

/* The text from `start` on, on terminals shortened so that the line fits. */
static void fit_title(struct pf_stat_sheet *sheet, size_t start, size_t before)
{
    char title[4 * NAME_BYTES], fitted[NAME_BYTES];
    const size_t bytes = sheet->out->used - start, left = screen_of(sheet) - pf_min(screen_of(sheet), before + 1);
    if (!screen_of(sheet) || bytes >= sizeof(title) || pf_columns(sheet->out->data + start, bytes) <= left)
        return;
    memcpy(title, sheet->out->data + start, bytes);
    title[bytes] = 0;
    const size_t used = perfile_name_fit(title, left, fitted, sizeof(fitted));
    sheet->out->used = start;
    pf_put(sheet->out, fitted, used);
}

static void begin(struct pf_stat_sheet *sheet)
{
    static const char title[] = " Performance counter stats for ";
    if (sheet->intervals) {
        put_heading(sheet);
        return;
    }
    pf_put_format(sheet->out, "\n%s", title);
    const size_t start = sheet->out->used;
    put_title(sheet);
    fit_title(sheet, start, strlen(title));
    if (sheet->options->more_count)
        pf_put_format(sheet->out, " (%zu runs)", sheet->options->more_count + 1);
    pf_put_string(sheet->out, ":\n\n");
}

/* ---- a line ------------------------------------------------------------------------------------------------------ */

static void name_location(const struct pf_stat_sheet *sheet, const struct pf_stat_line *line, char text[LOCATION_BYTES])
{
    const struct pf_stat_where *where = pf_stat_where_of(sheet, line);
    const struct pf_cpu_location *at = &where->location;
    const int comm_width = screen_of(sheet) ? 0 : COMM_WIDTH;
    *text = 0;
    switch (sheet->per) {
    case PF_STAT_CPU:
        pf_format(text, LOCATION_BYTES, "CPU%d", where->number);
        break;
    case PF_STAT_SOCKET:
        pf_format(text, LOCATION_BYTES, "S%d", at->socket);
        break;
    case PF_STAT_DIE:
        pf_format(text, LOCATION_BYTES, "S%d-D%d", at->socket, at->die);
        break;
    case PF_STAT_CORE:
        pf_format(text, LOCATION_BYTES, "S%d-D%d-C%d", at->socket, at->die, at->core);
        break;
    case PF_STAT_CACHE:
        pf_format(text, LOCATION_BYTES, "S%d-D%d-L%" PRIu32 "-ID%d", at->socket, at->die, where->level, where->number);
        break;
    case PF_STAT_NODE:
        pf_format(text, LOCATION_BYTES, "N%d", at->node);
        break;
    case PF_STAT_THREAD:
        if (sheet->stat.thread_count)
            pf_format(text, LOCATION_BYTES, "%*s-%d", comm_width, pf_stat_thread_of(sheet, line)->comm,
                      pf_stat_thread_of(sheet, line)->tid);
        break;
    case PF_STAT_ALL:
        break;
    }
}

static bool has_counters(const struct pf_stat_sheet *sheet)
{
    return sheet->per != PF_STAT_ALL && sheet->per != PF_STAT_CPU && sheet->per != PF_STAT_THREAD;
}

static void put_label(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    char location[LOCATION_BYTES];
    name_location(sheet, line, location);
    pf_put_name(sheet->out, location);
    for (size_t used = pf_columns(location, strlen(location)); used < sheet->widths.location; used++)
        pf_put_char(sheet->out, ' ');
    if (has_counters(sheet))
        pf_put_format(sheet->out, " %4" PRIu32 " ", line->cpus);
}

/* "1234567.89" as "1,234,567.89". */
static void group_digits(char text[PF_STAT_VALUE_BYTES])
{
    const size_t digits = strspn(text, "0123456789"), bytes = strlen(text), commas = digits ? (digits - 1) / 3 : 0;
    if (bytes + commas >= PF_STAT_VALUE_BYTES)
        return;
    memmove(text + digits + commas, text + digits, bytes - digits + 1);
    for (size_t left = commas, to = digits + commas, from = digits; left; left--) {
        memmove(text + (to -= 3), text + (from -= 3), 3);
        text[--to] = ',';
    }
}

static void put_count(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const char *missing = pf_stat_missing(line);
    char value[PF_STAT_VALUE_BYTES];
    pf_stat_format_value(line, floor(line->event->scale) == line->event->scale ? 0 : 2, value);
    if (screen_of(sheet) && !(sheet->options->stat->flags & PERFILE_STAT_PLAIN_NUMBERS))
        group_digits(value);
    pf_put_format(sheet->out, "%*s ", count_width(sheet), missing ? missing : value);
    pf_put_format(sheet->out, "%-*.32s ", (int)unit_width(sheet), line->event->unit ? line->event->unit : "");
}

/* The bytes of what is printed of it before its unit. */
static int format_metric(const struct pf_stat_metric *metric, char text[64])
{
    return metric->form == PF_STAT_RATIO        ? pf_format(text, 64, "%8.3f", metric->value)
           : metric->form == PF_STAT_TENTHS     ? pf_format(text, 64, "%8.1f", metric->value)
           : metric->form == PF_STAT_HUNDREDTHS ? pf_format(text, 64, "%7.2f ", metric->value)
                                                : pf_format(text, 64, "%7.2f%%", metric->value);
}

static void put_metric(struct pf_stat_sheet *sheet, const struct pf_stat_line *line, bool padded)
{
    const struct pf_stat_metric metric = pf_stat_metric_of(sheet, line);
    char text[64];
    if (!metric.unit || sheet->widths.no_metrics)
        return;
    const size_t used = 3 + (size_t)format_metric(&metric, text) + 1;
    pf_put_format(sheet->out, " # %s %-*s", text, padded ? (int)(sheet->widths.metric - used) : 0, metric.unit);
}

/* A text of this width at least, and on terminals at most. */
static void put_fitted(struct pf_stat_sheet *sheet, const char *text, size_t bytes, size_t width, bool padded)
{
    char copy[NAME_BYTES], fitted[NAME_BYTES];
    size_t columns = pf_columns(text, bytes);
    if (screen_of(sheet) && columns > width && bytes < sizeof(copy)) {
        memcpy(copy, text, bytes);
        copy[bytes] = 0;
        bytes = perfile_name_fit(copy, width, fitted, sizeof(fitted));
        text = fitted;
        columns = pf_columns(text, bytes);
    }
    pf_put_name_bytes(sheet->out, text, bytes);
    for (size_t i = columns; i < width && padded; i++)
        pf_put_char(sheet->out, ' ');
}

static void put_cgroup(struct pf_stat_sheet *sheet, const struct pf_stat_line *line, bool padded)
{
    const char *cgroup = pf_stat_name_of(sheet, line)->cgroup_text;
    pf_put_char(sheet->out, ' ');
    put_fitted(sheet, cgroup ? cgroup : "", cgroup ? strlen(cgroup) : 0, sheet->widths.cgroup, padded);
}

/* `padded`: more follows. */
static void put_name(struct pf_stat_sheet *sheet, const struct pf_stat_line *line, bool padded)
{
    const struct pf_stat_name *name = pf_stat_name_of(sheet, line);
    const bool has_cgroup = sheet->has_cgroups && (padded || name->cgroup_text);
    put_fitted(sheet, name->text, name->bytes, sheet->widths.name, padded || has_cgroup);
    if (has_cgroup)
        put_cgroup(sheet, line, padded);
}

static void put_time(struct pf_stat_sheet *sheet)
{
    if (sheet->intervals)
        pf_put_format(sheet->out, "%6" PRIu64 ".%09" PRIu64 " ", sheet->time / 1000000000, sheet->time % 1000000000);
}

static void put_line(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const bool has_metric = pf_stat_metric_of(sheet, line).unit && !sheet->widths.no_metrics,
               has_more = is_noisy(line) || is_shared(line);
    put_time(sheet);
    put_label(sheet, line);
    put_count(sheet, line);
    put_name(sheet, line, has_metric || has_more);
    put_metric(sheet, line, has_more);
    if (!has_metric && has_more)
        pf_put_format(sheet->out, "%*s", (int)sheet->widths.metric, "");
    if (is_noisy(line))
        pf_put_format(sheet->out, "  ( +-%6.2f%% )", pf_stats_error_percent(&line->spread));
    if (is_shared(line))
        pf_put_format(sheet->out, "  (%.2f%%)", pf_stat_share(line));
    pf_put_char(sheet->out, '\n');
}

/* ---- how wide it is ---------------------------------------------------------------------------------------------- */

static void measure_line(struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    struct pf_stat_widths *widths = &sheet->widths;
    const struct pf_stat_metric metric = pf_stat_metric_of(sheet, line);
    const struct pf_stat_name *name = pf_stat_name_of(sheet, line);
    char location[LOCATION_BYTES], text[64];
    name_location(sheet, line, location);
    if (!sheet->intervals && *location) /* the heading of intervals stands there already */
        widths->location =
            pf_max(widths->location, pf_columns(location, strlen(location)) + (has_counters(sheet) ? 0 : 1));
    widths->name = pf_max(widths->name, pf_columns(name->text, name->bytes));
    if (name->cgroup_text)
        widths->cgroup = pf_max(widths->cgroup, pf_columns(name->cgroup_text, strlen(name->cgroup_text)));
    if (metric.unit)
        widths->metric = pf_max(widths->metric, 3 + (size_t)format_metric(&metric, text) + 1 + strlen(metric.unit));
}

/* What lines have beside names and metrics. */
static size_t width_of_others(const struct pf_stat_sheet *sheet)
{
    bool any_noisy = false, any_shared = false;
    for (size_t i = 0; i < sheet->line_count; i++) {
        any_noisy |= is_noisy(&sheet->lines[i]);
        any_shared |= is_shared(&sheet->lines[i]);
    }
    return (sheet->intervals ? TIME_WIDTH : 0) + sheet->widths.location + (has_counters(sheet) ? COUNTERS_WIDTH : 0) +
           (size_t)count_width(sheet) + 1 + unit_width(sheet) + 1 + (any_noisy ? SPREAD_WIDTH : 0) +
           (any_shared ? SHARE_WIDTH : 0);
}

static size_t shrink(size_t width, size_t too_much, size_t min)
{
    return width > min + too_much ? width - too_much : pf_min(width, min);
}

/* Control groups are given up first: they differ at their ends, and events do all over. */
static void fit_names(struct pf_stat_widths *widths, size_t capacity)
{
    const size_t with_cgroup = widths->cgroup ? widths->cgroup + 1 : 0;
    if (widths->name + with_cgroup <= capacity)
        return;
    widths->cgroup = shrink(widths->cgroup, widths->name + with_cgroup - capacity, CGROUP_WIDTH_MIN);
    const size_t left = widths->cgroup ? widths->cgroup + 1 : 0;
    if (widths->name + left > capacity)
        widths->name = shrink(widths->name, widths->name + left - capacity, NAME_WIDTH_MIN);
}

static void measure(struct pf_stat_sheet *sheet)
{
    struct pf_stat_widths *widths = &sheet->widths;
    *widths = (struct pf_stat_widths){
        .location = location_widths[sheet->per], .name = NAME_WIDTH, .cgroup = CGROUP_WIDTH, .metric = METRIC_WIDTH};
    if (!screen_of(sheet))
        return;
    widths->name = widths->cgroup = widths->metric = 0;
    widths->location = sheet->intervals ? widths->location : 0;
    for (size_t i = 0; i < sheet->line_count; i++)
        if (!sheet->lines[i].hidden)
            measure_line(sheet, &sheet->lines[i]);
    size_t others = width_of_others(sheet) + widths->metric;
    widths->no_metrics = widths->metric && others + pf_min(widths->name, NAME_WIDTH_MIN) > screen_of(sheet);
    if (widths->no_metrics) {
        others -= widths->metric;
        widths->metric = 0;
    }
    fit_names(widths, screen_of(sheet) > others ? screen_of(sheet) - others : 0);
}

/* Where those of lines stand. */
static void put_wanted(struct pf_stat_sheet *sheet, const struct pf_stat_line *of, const struct pf_stat_wanted *wanted,
                       double value)
{
    put_time(sheet);
    put_label(sheet, of);
    pf_put_format(sheet->out, "%*s", count_width(sheet) + 1 + (int)unit_width(sheet) + 1 + (int)sheet->widths.name, "");
    if (sheet->has_cgroups)
        put_cgroup(sheet, of, true);
    pf_put_string(sheet->out, " # ");
    if (isnan(value))
        pf_put_string(sheet->out, "<not available> ");
    else
        pf_put_format(sheet->out, "%8.3f ", value);
    pf_put_name_bytes(sheet->out, wanted->name, wanted->name_bytes);
    pf_put_char(sheet->out, '\n');
}

/* ---- metrics alone ----------------------------------------------------------------------------------------------- */

static void put_names(struct pf_stat_sheet *sheet)
{
    const size_t label = sheet->widths.location + (has_counters(sheet) ? COUNTERS_WIDTH : 0);
    pf_put_format(sheet->out, "%*s", (int)label, "");
    for (size_t i = 0; i < sheet->cell_count; i++) {
        pf_put_char(sheet->out, ' ');
        pf_put_name_bytes(sheet->out, sheet->cells[i].name, sheet->cells[i].bytes);
    }
    pf_put_char(sheet->out, '\n');
}

static void put_row(struct pf_stat_sheet *sheet, const struct pf_stat_line *of)
{
    put_time(sheet);
    put_label(sheet, of);
    for (size_t i = 0; i < sheet->cell_count; i++) {
        const struct pf_stat_column *cell = &sheet->cells[i];
        char value[PF_STAT_VALUE_BYTES] = "-";
        if (!isnan(cell->value))
            pf_format(value, sizeof(value), "%.1f", cell->value);
        pf_put_format(sheet->out, " %*s", (int)pf_columns(cell->name, cell->bytes), value);
    }
    pf_put_char(sheet->out, '\n');
}

/* ---- after the counters ------------------------------------------------------------------------------------------ */

/* As perf has it: a sign for every 5 % of difference. */
static void put_table(struct pf_stat_sheet *sheet)
{
    pf_put_string(sheet->out, "\n       # Table of individual measurements:\n");
    for (size_t i = 0; i < sheet->walls.count; i++) {
        const double time = (double)sheet->times[i] / 1e9, more = time - sheet->walls.mean / 1e9;
        pf_put_format(sheet->out, " %17.9f (%+.9f) #", time, more);
        for (double left = fabs(more) / time * 20; left >= 1 && left < TABLE_SIGNS_MAX; left--)
            pf_put_char(sheet->out, '#');
        pf_put_char(sheet->out, '\n');
    }
    pf_put_string(sheet->out, "\n       # Final result:");
}

static void end(struct pf_stat_sheet *sheet)
{
    const double mean = sheet->walls.mean / 1e9;
    const double error = pf_stats_error_percent(&sheet->walls) / 100 * mean;
    if (!sheet->elapsed)
        return;
    if (sheet->walls.count > 1 && sheet->options->stat->flags & PERFILE_STAT_TABLE)
        put_table(sheet);
    if (sheet->walls.count > 1)
        pf_put_format(sheet->out, "\n %17.9f +- %.9f seconds time elapsed  ( +-%6.2f%% )\n\n", mean, error,
                      pf_stats_error_percent(&sheet->walls));
    else
        pf_put_format(sheet->out, "\n %17.9f seconds time elapsed\n\n", mean);
}

static int write_text(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    static const struct pf_stat_style style = {begin, measure, put_line, put_wanted, end, put_names, put_row};
    out->escapes = true;
    return pf_stat_write(reader, options, &style, out, error);
}

const struct pf_output pf_output_stat_text = {
    .info = {"stat", "text", "the layout of perf stat, for people"}, .write = write_text, .merges = true};
