/* SPDX-License-Identifier: MIT */
/* The report as text, laid out as perf report --stdio does it. */
#include "base/counted.h"
#include "base/error.h"
#include "output/header.h"
#include "output/output.h"
#include "output/report/lists.h"
#include "output/report/text.h"

enum {
    LEVEL_INDENT = 3, /* of a hierarchy */
    EMPTY_INDENT = 4, /* of what says that nothing is shown below an entry */
};

/* ---- rows ---- */

static uint64_t part_of(const struct pf_report_column *column, const struct pf_report_row *row)
{
    return column == &pf_report_columns[PF_COLUMN_overhead_children] ? row->children : row->self;
}

static const char *row_color(const struct pf_report_text *table, const struct pf_report_column *column,
                             const struct pf_report_row *row)
{
    if (column != &pf_report_columns[PF_COLUMN_overhead] && column != &pf_report_columns[PF_COLUMN_overhead_children])
        return NULL;
    return pf_report_text_color(table, pf_report_percent(part_of(column, row), table->event->period));
}

static void put_row(struct pf_report_text *table, const struct pf_report_row *row)
{
    pf_put_string(table->out, "  ");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct pf_text *cell = pf_report_text_fitted_cell(table, i, row, table->widths[i]);
        const char *color = row_color(table, table->columns[i], row);
        pf_put_string(table->out, color ? color : "");
        pf_report_text_put_cell(table, i, cell, i + 1 == table->column_count);
        pf_put_string(table->out, color ? PF_PLAIN : "");
    }
    pf_put_string(table->out, "\n");
}

static bool put_rows(struct pf_report_text *table, struct pf_report_drawers *drawers)
{
    bool enough = true;
    pf_report_text_fit_columns(table);
    if (pf_report_text_has_header(table))
        pf_report_text_put_header(table);
    for (size_t i = 0; i < table->event->row_count && enough; i++) {
        const struct pf_report_row *row = &table->event->rows[i];
        pf_report_text_prefetch(table, row);
        if (!pf_report_shows(table->report, row))
            continue;
        put_row(table, row);
        if (drawers && pf_report_text_has_graph(table, row))
            enough = pf_report_text_put_drawing(table, drawers, row);
    }
    return enough;
}

/* ---- hierarchies: what rows weigh, then the columns of one level each ---- */

/* Returns how far the levels are moved to the right, so that the numbers of the innermost one fit. */
static size_t indent_of(const struct pf_report_levels *levels)
{
    return levels->count ? (levels->count - 1) * LEVEL_INDENT : 0;
}

static size_t value_widths(const struct pf_report_text *table)
{
    size_t width = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (pf_report_text_is_weight(table, i))
            width += table->widths[i] + (width && !pf_report_text_is_joined(table, i) ? 2 : 0);
    return width;
}

/* "Command / Shared Object+Symbol". Returns the width of that, or of the longest level below it. */
static size_t put_level_headers(struct pf_report_text *table, const struct pf_report_levels *levels)
{
    size_t used = 0, width = 0, max = 0;
    for (size_t i = 0, j = 0; i < table->column_count; i++) {
        if (pf_report_text_is_weight(table, i))
            continue;
        const bool joins = j && levels->level_of[j] == levels->level_of[j - 1];
        const char *before = joins ? "+" : j ? " / " : "";
        const char *header = table->columns[i]->header + strspn(table->columns[i]->header, " ");
        pf_put_string(table->out, before);
        pf_put_string(table->out, header);
        used += strlen(before) + strlen(header);
        width = table->widths[i] + (joins ? width + 1 : (size_t)levels->level_of[j] * LEVEL_INDENT);
        pf_report_text_widen(&max, width);
        j++;
    }
    pf_report_text_widen(&max, used);
    return max;
}

static void put_hierarchy_header(struct pf_report_text *table, const struct pf_report_levels *levels)
{
    pf_put_string(table->out, "# ");
    pf_report_text_put_titles(table, indent_of(levels));
    pf_report_text_pad(table->out, indent_of(levels));
    for (size_t i = 0; i < table->column_count; i++)
        if (pf_report_text_is_weight(table, i)) {
            pf_report_text_put_gap(table, i);
            pf_report_text_put_column_header(table, i);
        }
    pf_put_string(table->out, "  ");
    const size_t width = put_level_headers(table, levels);
    pf_put_string(table->out, "\n");
    if (table->screen)
        return;
    pf_put_string(table->out, "# ");
    pf_report_text_dots(table->out, indent_of(levels) + value_widths(table));
    pf_put_string(table->out, "  ");
    pf_report_text_dots(table->out, width);
    pf_put_string(table->out, "\n#\n");
}

static void put_values(struct pf_report_text *table, const struct pf_report_row *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (!pf_report_text_is_weight(table, i))
            continue;
        const struct pf_text *cell = pf_report_text_cell(table, table->columns[i], row);
        const char *color = row_color(table, table->columns[i], row);
        pf_put_string(table->out, i ? "" : "  ");
        pf_report_text_put_gap(table, i);
        pf_put_string(table->out, color ? color : "");
        pf_report_text_put_padded(table, i, cell->data, cell->used, true, false);
        pf_put_string(table->out, color ? PF_PLAIN : "");
    }
}

/* Of the columns those of the line's level, all to the left. */
static void put_level(struct pf_report_text *table, const struct pf_report_line *line)
{
    const struct pf_report_levels *levels = &line->levels;
    for (size_t i = 0, j = 0; i < table->column_count; i++) {
        if (pf_report_text_is_weight(table, i) || levels->level_of[j++] != line->level)
            continue;
        const bool last = j == levels->column_count || levels->level_of[j] != line->level;
        const struct pf_text *cell = pf_report_text_fitted_cell(table, i, line->row, table->widths[i]);
        size_t blanks = 0;
        while (blanks < cell->used && cell->data[blanks] == ' ')
            blanks++;
        pf_put_string(table->out, "  ");
        pf_report_text_put_padded(table, i, cell->data + blanks, cell->used - blanks, false, last);
    }
}

/* Everything below an entry of this level is below the limit. */
static void put_nothing(struct pf_report_text *table, const struct pf_report_levels *levels, size_t level)
{
    pf_report_text_pad(table->out, value_widths(table) + EMPTY_INDENT + (levels->count + level) * LEVEL_INDENT);
    pf_put_string(table->out, "no entry >= ");
    pf_put_hundredths(table->out, table->report->settings.limit_percent, 0);
    pf_put_string(table->out, "%\n");
}

static bool put_hierarchy(struct pf_report_text *table, struct pf_report_drawers *drawers)
{
    struct pf_report_line line;
    size_t empty = SIZE_MAX; /* level of the entry that nothing was shown below of yet */
    bool enough = true;
    pf_report_open_lines(table->report, table->event, &line);
    pf_report_text_fit_columns(table);
    if (pf_report_text_has_header(table))
        put_hierarchy_header(table, &line.levels);
    while (enough && pf_report_next_line(table->report, table->event, &line)) {
        if (empty != SIZE_MAX && line.level <= empty)
            put_nothing(table, &line.levels, empty);
        pf_report_text_pad(table->out, line.level * LEVEL_INDENT);
        put_values(table, line.row);
        pf_report_text_pad(table->out, indent_of(&line.levels));
        put_level(table, &line);
        pf_put_string(table->out, "\n");
        empty = line.leaf ? SIZE_MAX : line.level;
        if (line.leaf && drawers && pf_report_text_has_graph(table, line.row))
            enough = pf_report_text_put_drawing(table, drawers, line.row);
    }
    if (empty != SIZE_MAX)
        put_nothing(table, &line.levels, empty);
    return enough;
}

static void put_left_out(struct pf_report_text *table)
{
    const size_t count = table->event->left_out;
    char text[PF_COUNTED_BYTES];
    if (count && table->screen && pf_report_text_has_header(table))
        pf_put_format(table->out, "# and %s (--all-rows)\n", pf_count_of(count, "more rows", text));
}

static bool put_table(struct pf_report_text *table)
{
    const bool graphs = pf_report_has_graph(table->report, table->event);
    struct pf_report_drawers *drawers = graphs ? pf_report_text_open_drawers(table) : NULL;
    bool enough = !graphs || drawers;
    pf_report_text_choose_columns(table);
    if (pf_report_text_has_header(table))
        (table->screen ? pf_report_text_put_screen_title : pf_report_text_put_title)(table);
    if (enough)
        enough = (table->report->settings.hierarchy ? put_hierarchy : put_rows)(table, drawers);
    pf_report_text_close_drawers(drawers);
    put_left_out(table);
    pf_report_text_put_omitted(table);
    pf_put_string(table->out, table->screen ? "\n" : "\n\n");
    return enough;
}

static bool put_report(struct pf_report_text *table)
{
    const struct pf_report *report = table->report;
    bool enough = pf_report_text_open(table);
    table->screen = (size_t)pf_min(report->options->report->columns, SIZE_MAX);
    pf_report_text_parse_widths(table);
    if (enough)
        pf_report_text_put_head(table);
    for (size_t i = 0; i < report->events.count && enough; i++) {
        table->event = &report->events.items[i];
        const struct pf_report_group *group = table->event->group;
        if (group ? group->first == i : table->event->samples != 0)
            enough = put_table(table);
    }
    if (enough && !report->totals->samples && pf_report_text_has_header(table))
        pf_report_text_put_no_samples(table);
    if (enough && report->branching.counts.all)
        pf_report_text_put_branch_types(table);
    return pf_report_text_close(table) && enough;
}

static int write_report(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    const struct pf_header_options header = {.path = options->symbols->recording,
                                             .full = options->header & PERFILE_HEADER_FULL};
    struct pf_report report;
    struct pf_report_text table = {.report = &report, .out = out};
    if (options->header & PERFILE_HEADER_ONLY)
        return pf_header_put_only(reader, &header, out, error);
    const bool is_list = options->report->flags &
                         (PERFILE_REPORT_STATS | PERFILE_REPORT_TASKS | PERFILE_REPORT_MMAPS | PERFILE_REPORT_BLOCKS);
    if (is_list && options->header & PERFILE_HEADER_FIRST) {
        const int headed_list = pf_header_put(reader, &header, out, error);
        if (headed_list < 0)
            return headed_list;
    }
    if (options->report->flags & PERFILE_REPORT_STATS)
        return pf_stats_write(reader, options, out, error);
    if (options->report->flags & PERFILE_REPORT_BLOCKS)
        return pf_blocks_write(reader, options, out, error);
    if (options->report->flags & (PERFILE_REPORT_TASKS | PERFILE_REPORT_MMAPS))
        return pf_tasks_write(reader, options->report->flags & PERFILE_REPORT_MMAPS, out, error);
    int result = pf_report_open(&report, reader, options, true, error);
    const int headed = options->header & PERFILE_HEADER_FIRST && pf_report_text_has_header(&table)
                           ? pf_header_put(reader, &header, out, error)
                           : 0;
    if (headed < 0)
        result = headed;
    else if (result == 0 || report.rows.count)
        result = put_report(&table) ? result : pf_fail_memory(error, "report");
    pf_report_close(&report);
    return result;
}

const struct pf_output pf_output_report_text = {
    .info = {"report", "text", "a table, as perf report --stdio prints it"},
    .write = write_report,
};
