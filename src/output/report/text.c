/* SPDX-License-Identifier: MIT */
/* The report as text, laid out as perf report --stdio does it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/columns.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/stages.h"
#include "output/header.h"
#include "output/notes.h"
#include "output/output.h"
#include "output/report/stats.h"
#include "output/report/tasks.h"

enum {
    MARGIN = 12,        /* of graphs */
    BRANCH_INDENT = 10, /* after the pipe of a branch */
    MAX_LEVELS = 256,   /* of branches in branches: deeper ones cannot be read any more */
    MAX_IN_RUN = 512,   /* frames, for the same reason */
    WIDEST = 4096,      /* column width that an option may require */
    MAX_MODULES = 6,    /* modules without symbols that are named */
    MAX_DRAWERS = 4,    /* threads that draw graphs: each but one may need 8 bytes for each node of the tree */
    DRAWER_ROWS = 8,    /* rows that are worth a thread */
    ROWS_AHEAD = 8,     /* graphs of a thread that may wait for their turn: the first ones take longest */
    LEVEL_INDENT = 3,   /* of a hierarchy */
    EMPTY_INDENT = 4,   /* of what says that nothing is shown below an entry */
};
#define ANY_WIDTH SIZE_MAX /* of the screen: nothing is shortened, and the function is the last column */

struct table {
    struct pf_report *report;
    const struct pf_report_event *event;
    struct pf_text *out;
    struct pf_text cell;                                       /* one text that is to be padded */
    struct pf_text fitted;                                     /* one that is cut, where there is a width */
    struct pf_text margin;                                     /* of the graph, as deep as it is */
    const struct pf_report_column *columns[PF_REPORT_COLUMNS]; /* of this event */
    size_t column_count;
    size_t widths[PF_REPORT_COLUMNS];
    size_t fixed[PF_REPORT_COLUMNS]; /* widths that were asked for, or 0 */
    size_t screen;                   /* columns of the terminal, or ANY_WIDTH; 0: the layout of perf */
};

static void put_spaces(struct pf_text *text, size_t count)
{
    memset(pf_text_reserve(text, count), ' ', count);
    text->used += count;
}

static void put_dots(struct pf_text *text, size_t count)
{
    for (; count; count--)
        pf_put_char(text, '.');
}

/* Wide cells are rare, but a name may have any length. */
static void pad(struct pf_text *text, size_t count)
{
    for (; count > 4096; count -= 4096)
        put_spaces(text, 4096);
    put_spaces(text, count);
}

static bool has_header(const struct table *table)
{
    return !(table->report->options->report->flags & PERFILE_REPORT_NO_HEADER);
}

static const struct pf_text *cell_of(struct table *table, const struct pf_report_column *column,
                                     const struct pf_report_row *row)
{
    table->cell.used = 0;
    column->text(table->report, row, &table->cell);
    pf_text_escape(&table->cell, 0);
    return &table->cell;
}

/* Shortens "0x00000000000011a0" to "0x11a0" in narrow columns. */
static void drop_zeros(struct pf_text *cell, size_t mark)
{
    char *digits = cell->data + mark + 2;
    if (cell->used < mark + 3 || digits[-2] != '0' || digits[-1] != 'x')
        return;
    const size_t zeros = pf_min(strspn(digits, "0"), strlen(digits) - 1);
    memmove(digits, digits + zeros, cell->used - mark - 2 - zeros);
    cell->used -= zeros;
}

static void shorten_kernel(struct pf_text *cell, size_t columns)
{
    static const char name[] = "[kernel.kallsyms]";
    if (cell->used == sizeof(name) - 1 && columns < cell->used && memcmp(cell->data, name, cell->used) == 0) {
        cell->used = 0;
        pf_put_string(cell, "[kernel]");
    }
}

/* What stands in the cell, in that many columns. "[k] " and the like before a name stay. */
static const struct pf_text *fit_cell(struct table *table, size_t columns)
{
    struct pf_text *from = &table->cell, *to = &table->fitted;
    const size_t mark = from->used > 4 && from->data[0] == '[' && from->data[3] == ' ' ? 4 : 0;
    to->used = 0;
    shorten_kernel(from, columns);
    pf_put_char(from, '\0');
    if (!from->failed)
        drop_zeros(from, mark);
    if (!from->failed && table->screen == ANY_WIDTH)
        from->used--;                   /* the NUL */
    pf_put(to, from->data, from->used); /* the fitted text is not longer */
    if (!from->failed && !to->failed && table->screen != ANY_WIDTH)
        to->used =
            mark + perfile_name_fit(from->data + mark, columns == SIZE_MAX ? columns : columns - pf_min(columns, mark),
                                    to->data + mark, to->capacity - mark);
    return to;
}

static bool is_value(const struct table *table, size_t i)
{
    return table->columns[i]->of == PF_COLUMN_OF_VALUE;
}

static const struct pf_text *fitted_cell(struct table *table, size_t i, const struct pf_report_row *row, size_t columns)
{
    const struct pf_text *cell = cell_of(table, table->columns[i], row);
    return table->screen && !is_value(table, i) ? fit_cell(table, columns) : cell;
}

/* ---- what is honest to say first ---- */

/* Why, and what may help. */
static const char *const reasons[PF_MISSING_COUNT] = {
    [PF_MISSING_FILE] = "not on this machine (see --symfs, --archive, DEBUGINFOD_URLS)",
    [PF_MISSING_BUILD] = "the file has a different build id (see --symfs, --archive, DEBUGINFOD_URLS)",
    [PF_MISSING_NAMES] = "stripped, or without symbols there (see DEBUGINFOD_URLS, or install the debug files)",
    [PF_MISSING_KERNEL] = "no symbols of this kernel found (see --kallsyms, --vmlinux, --archive)",
    [PF_MISSING_JIT] = "generated code without a usable perf-PID.map or jitdump file (see --symfs)",
};

/* NULL: all is well with the module. */
static const struct pf_module *module_without(const struct table *table, uint32_t number, enum pf_missing missing)
{
    const struct pf_module *module = pf_symbols_module(table->report->symbols, number);
    return pf_module_is_missing(module) && pf_module_missing_kind(module) == missing ? module : NULL;
}

static void put_builds(struct pf_text *out, const struct pf_module *module)
{
    enum { DIGITS = 12 };
    if (module->other_build_id && module->build_id)
        pf_put_format(out, " (build %.*s, recorded %.*s)", DIGITS,
                      *module->other_build_id ? module->other_build_id : "unknown", DIGITS, module->build_id);
}

static void put_missing(struct table *table, enum pf_missing missing)
{
    const size_t count = pf_symbols_module_count(table->report->symbols);
    size_t named = 0, more = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct pf_module *module = module_without(table, i, missing);
        if (module && named == MAX_MODULES)
            more++;
        if (!module || named == MAX_MODULES)
            continue;
        pf_put_string(table->out, named++ ? ", " : "# No symbols found for ");
        pf_put_name(table->out, module->short_name);
        if (missing == PF_MISSING_BUILD)
            put_builds(table->out, module);
    }
    if (more)
        pf_put_format(table->out, " and %zu more", more);
    if (named)
        pf_put_format(table->out, ": %s\n", reasons[missing]);
}

static void put_modules_without_symbols(struct table *table)
{
    for (unsigned missing = 0; missing < PF_MISSING_COUNT; missing++)
        put_missing(table, (enum pf_missing)missing);
}

/* What is in no row, whatever the filters. */
static void put_unread(struct table *table)
{
    char note[PF_NOTE_BYTES], count[PF_COUNTED_BYTES];
    if (pf_note_aux(table->report->reader, note))
        pf_put_format(table->out, "# %s\n", note);
    if (table->report->branching.without)
        pf_put_format(
            table->out, "# %s\n",
            pf_count_of(table->report->branching.without, "samples have no branches and are not shown", count));
}

static void put_stack_losses(struct table *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    char count[PF_COUNTED_BYTES];
    if (totals->truncated)
        pf_put_format(table->out, "# Stack dumps of %s are too short: callers are missing\n",
                      pf_count_of(totals->truncated, "samples", count));
    if (totals->full)
        pf_put_format(table->out, "# Callchains of %s have all frames that were asked for: callers are missing\n",
                      pf_count_of(totals->full, "samples", count));
    if (totals->guessed)
        pf_put_format(table->out, "# Callers in the stack dumps of %s come from frame pointers and may be wrong\n",
                      pf_count_of(totals->guessed, "samples", count));
}

/* Of a text that is not about code it may not be known, and nothing in it suffers. */
static void put_code_losses(struct table *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    char count[PF_COUNTED_BYTES];
    if (!table->report->settings.about_code)
        return;
    if (totals->unresolved)
        pf_put_format(table->out, "# %.2f%% of %s no symbol, %.2f%% lie in no mapping\n",
                      pf_report_percent(totals->unresolved, totals->samples),
                      pf_count_of(totals->samples, "samples have", count),
                      pf_report_percent(totals->unmapped, totals->samples));
    put_stack_losses(table);
    put_modules_without_symbols(table);
}

static void put_losses(struct table *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    pf_put_string(table->out, "#\n");
    put_code_losses(table);
    put_unread(table);
    if (totals->lost)
        pf_put_format(table->out, "# %.2f%% of all events were lost while recording\n",
                      pf_report_percent(totals->lost, totals->lost + totals->samples + totals->filtered));
    pf_put_format(table->out, "# Total Lost Samples: %" PRIu64 "\n#\n", totals->lost);
}

/* The same in few lines, without what is as it should be. */
static void put_screen_losses(struct table *table)
{
    const struct pf_profile_totals *totals = table->report->totals;
    char count[PF_COUNTED_BYTES];
    if (totals->unresolved && table->report->settings.about_code)
        pf_put_format(table->out, "# %.2f%% of the samples have no symbol, %.2f%% lie in no mapping\n",
                      pf_report_percent(totals->unresolved, totals->samples),
                      pf_report_percent(totals->unmapped, totals->samples));
    put_stack_losses(table);
    put_unread(table);
    if (totals->lost)
        pf_put_format(table->out, "# %s: %.2f%%\n", pf_count_of(totals->lost, "samples lost while recording", count),
                      pf_report_percent(totals->lost, totals->lost + totals->samples + totals->filtered));
}

static void put_hidden(struct table *table, const char *what, const struct pf_names_filter *filter)
{
    if (filter->wanted.count == 1) {
        pf_put_format(table->out, "# %s: ", what);
        pf_put_name(table->out, filter->wanted.items[0]);
        pf_put_string(table->out, "\n");
    }
}

/* Filters on one name hide its column. */
static void put_filters(struct table *table)
{
    const struct pf_report *report = table->report;
    put_hidden(table, "dso", &report->filters.dsos);
    put_hidden(table, "comm", &report->filters.threads.comms);
    put_hidden(table, "symbol", &report->filters.names);
}

/* ---- the head of an event's table ---- */

/* "cpu-clock", "anon group { cpu-clock, page-faults }". */
static void put_event_names(struct table *table)
{
    const struct pf_report_group *group = table->event->group;
    const uint32_t shown = pf_report_shown(table->event);
    if (group && group->name) {
        pf_put_name(table->out, group->name);
        pf_put_string(table->out, " { ");
    }
    for (uint32_t i = 0; i < shown; i++) {
        pf_put_string(table->out, i ? ", " : "");
        pf_put_name(table->out, pf_report_member(table->report, table->event, i)->event->name);
    }
    if (group && group->name)
        pf_put_string(table->out, " }");
}

/* What was asked for stands beside the sums, as in perf. */
static void put_totals(struct table *table, uint64_t period)
{
    const struct pf_report *report = table->report;
    const struct perfile_output_options *options = report->options;
    if (options->filter->time) {
        pf_put_string(table->out, " (time slices: ");
        pf_put_string(table->out, options->filter->time);
        pf_put_char(table->out, ')');
    }
    pf_put_format(table->out, "\n# %s: %" PRIu64 "\n",
                  report->settings.by_weight ? "Total weight " : "Event count (approx.)", period);
    if (report->settings.by_weight && report->layout.sort_order) {
        pf_put_string(table->out, "# Sort order   : ");
        pf_put_string(table->out, report->layout.sort_order);
        pf_put_char(table->out, '\n');
    }
    pf_put_string(table->out, "#\n");
}

static void sum_members(const struct table *table, uint64_t *samples, uint64_t *period)
{
    const uint32_t shown = pf_report_shown(table->event);
    *samples = *period = 0;
    for (uint32_t i = 0; i < shown; i++) {
        const struct pf_report_event *member = pf_report_member(table->report, table->event, i);
        *samples += member->samples;
        *period += member->period;
    }
}

/* "# 1251 samples of cpu-clock, event count 312750000" */
static void put_screen_title(struct table *table)
{
    const struct perfile_output_options *options = table->report->options;
    uint64_t samples, period;
    char text[PF_COUNTED_BYTES];
    sum_members(table, &samples, &period);
    pf_put_format(table->out, "# %s of ", pf_count_of(samples, "samples", text));
    put_event_names(table);
    pf_put_format(table->out, ", %s %" PRIu64, table->report->settings.by_weight ? "total weight" : "event count",
                  period);
    if (options->filter->time) {
        pf_put_string(table->out, ", time ");
        pf_put_string(table->out, options->filter->time);
    }
    pf_put_char(table->out, '\n');
}

static void put_title(struct table *table)
{
    static const char units[] = " KMG";
    uint64_t samples, period;
    size_t unit = 0;
    sum_members(table, &samples, &period);
    for (; samples > 1000 && unit < sizeof(units) - 2; unit++)
        samples /= 1000;
    pf_put_format(table->out, "# Samples: %" PRIu64 "%c of event%s '", samples, units[unit],
                  table->event->group ? "s" : "");
    put_event_names(table);
    pf_put_char(table->out, '\'');
    put_totals(table, period);
}

static const char *header_of(const struct table *table, const struct pf_report_column *column)
{
    if (table->report->settings.children && column == &pf_report_columns[PF_COLUMN_overhead])
        return "Self";
    return pf_report_header(table->report, column);
}

/* How many numbers stand in a cell. */
static size_t events_in(const struct table *table, const struct pf_report_column *column)
{
    return column->of == PF_COLUMN_OF_VALUE ? pf_report_shown(table->event) : 1;
}

static void fit(size_t *width, size_t wanted)
{
    *width = *width > wanted ? *width : wanted;
}

/* Rows stand in another order than their frames. */
static void prefetch(const struct table *table, const struct pf_report_row *row)
{
    enum { AHEAD = 12 };
    const size_t left = table->event->row_count - (size_t)(row - table->event->rows);
    if (left > AHEAD)
        __builtin_prefetch(pf_report_frame(table->report, row + AHEAD));
}

static size_t width_of(const struct table *table, const struct pf_text *text)
{
    return table->screen ? pf_columns(text->data, text->used) : text->used;
}

/* Returns how important a column is when not all fit: functions are more important than files and threads. */
static size_t importance(const struct table *table, size_t i)
{
    const struct pf_report_column *column = table->columns[i];
    const bool is_name = column == &pf_report_columns[PF_COLUMN_symbol] || column->position == PF_VALUE_trace ||
                         column->position == PF_VALUE_symbol_from || column->position == PF_VALUE_symbol_to;
    return is_value(table, i) ? 0 : is_name && (column->kept || column->of == PF_COLUMN_OF_FRAME) ? 3 : 1;
}

/* Columns of texts that are narrower than their share have what they need, and leave the rest to the others. */
static void share_screen(struct table *table)
{
    enum { MIN = 12 };
    bool settled[PF_REPORT_COLUMNS] = {false};
    size_t shares = 0, left = table->screen - pf_min(table->screen, 2 * table->column_count);
    for (size_t i = 0; i < table->column_count; i++) {
        settled[i] = table->fixed[i] || is_value(table, i);
        shares += settled[i] ? 0 : importance(table, i);
        left -= settled[i] ? pf_min(left, table->widths[i]) : 0;
    }
    for (bool more = true; more && shares;) {
        more = false;
        for (size_t i = 0; i < table->column_count && !more; i++) {
            more = !settled[i] && table->widths[i] <= left * importance(table, i) / shares;
            settled[i] |= more;
            left -= more ? table->widths[i] : 0;
            shares -= more ? importance(table, i) : 0;
        }
    }
    for (size_t i = 0; i < table->column_count; i++)
        if (!settled[i])
            table->widths[i] = pf_max(left * importance(table, i) / shares, MIN);
}

/* As wide as what stands in them, also in rows that are not shown. */
static void fit_columns(struct table *table)
{
    size_t asked[PF_REPORT_COLUMNS], count = 0; /* columns whose cells have to be looked at */
    for (size_t i = 0; i < table->column_count; i++) {
        const struct pf_report_column *column = table->columns[i];
        table->widths[i] = table->fixed[i] * events_in(table, column);
        if (table->widths[i])
            continue;
        table->widths[i] = strlen(header_of(table, column));
        fit(&table->widths[i], (size_t)column->width * events_in(table, column));
        if (column->of != PF_COLUMN_OF_VALUE)
            asked[count++] = i;
    }
    for (size_t r = 0; r < table->event->row_count && count; r++) {
        const struct pf_report_row *row = &table->event->rows[r];
        prefetch(table, row);
        if (table->screen && !pf_report_shows(table->report, row))
            continue;
        for (size_t i = 0; i < count; i++) {
            const struct pf_report_column *column = table->columns[asked[i]];
            fit(&table->widths[asked[i]], width_of(table, fitted_cell(table, asked[i], row, SIZE_MAX)));
            if (column->min && !table->screen)
                fit(&table->widths[asked[i]], column->min(table->report, row));
        }
    }
    if (table->screen && table->screen != ANY_WIDTH)
        share_screen(table);
}

/* The text in the width of the column; to the left, nothing follows the last one. */
static void put_padded(struct table *table, size_t i, const char *text, size_t bytes, bool right, bool last)
{
    if ((table->fixed[i] || table->screen) && !is_value(table, i) && bytes > table->widths[i])
        bytes = table->screen ? pf_head_bytes(text, bytes, table->widths[i]) : table->widths[i];
    const size_t wide = table->screen ? pf_columns(text, bytes) : bytes;
    const size_t blanks = table->widths[i] > wide ? table->widths[i] - wide : 0;
    if (right)
        pad(table->out, blanks);
    pf_put(table->out, text, bytes);
    if (!right && !last)
        pad(table->out, blanks);
}

static void put_cell(struct table *table, size_t i, const struct pf_text *cell, bool last)
{
    if (i)
        pf_put_string(table->out, "  ");
    put_padded(table, i, cell->data, cell->used, table->columns[i]->right, last);
}

static void parse_widths(struct table *table)
{
    const char *list = table->report->options->report->widths;
    char *end;
    for (size_t i = 0; list && i < PF_REPORT_COLUMNS; i++) {
        const unsigned long width = strtoul(list, &end, 10);
        table->fixed[i] = width <= WIDEST ? width : WIDEST;
        if (*end != ',')
            break;
        list = end + 1;
    }
}

static void move_last(struct table *table, const struct pf_report_column *column)
{
    for (size_t i = 0; i + 1 < table->column_count; i++)
        if (table->columns[i] == column) {
            table->columns[i] = table->columns[i + 1];
            table->columns[i + 1] = column;
        }
}

static void choose_columns(struct table *table)
{
    const struct pf_report *report = table->report;
    table->column_count = 0;
    for (size_t i = 0; i < report->layout.column_count; i++)
        if (pf_report_column_applies(report, report->layout.columns[i], table->event->event))
            table->columns[table->column_count++] = report->layout.columns[i];
    if (table->screen == ANY_WIDTH)
        move_last(table, &pf_report_columns[PF_COLUMN_symbol]);
}

static void put_column_header(struct table *table, size_t i)
{
    const char *header = header_of(table, table->columns[i]);
    put_padded(table, i, header, strlen(header), table->columns[i]->right,
               table->screen && i + 1 == table->column_count);
}

static void put_header(struct table *table)
{
    pf_put_string(table->out, "# ");
    for (size_t i = 0; i < table->column_count; i++) {
        pf_put_string(table->out, i ? "  " : "");
        put_column_header(table, i);
    }
    pf_put_string(table->out, table->screen ? "\n" : "\n# ");
    for (size_t i = 0; i < table->column_count && !table->screen; i++) {
        pf_put_string(table->out, i ? "  " : "");
        put_dots(table->out, table->widths[i]);
    }
    pf_put_string(table->out, table->screen ? "" : "\n#\n");
}

/* ---- call graphs ---- */

static const char *color_of(const struct table *table, double percent)
{
    if (!table->report->options->color)
        return NULL;
    return percent >= 5.0 ? PF_RED : percent >= 0.5 ? PF_GREEN : NULL;
}

static void put_margin(struct table *table)
{
    pf_put(table->out, table->margin.data, table->margin.used);
}

static void put_module(struct pf_text *out, const struct pf_module *module)
{
    pf_put_name_bytes(out, module->short_name, strnlen(module->short_name, 200));
    pf_put_char(out, '+');
}

/* In what the margin and a share leave of the line. */
static void put_fitted_name(struct table *table, const struct pf_frame_info *frame)
{
    enum { SHARE = 12, MIN = 40 };
    const size_t used = table->margin.used + SHARE;
    table->cell.used = 0;
    pf_report_put_name(frame, &table->cell);
    pf_text_escape(&table->cell, 0);
    const struct pf_text *name = fit_cell(table, pf_max(table->screen - pf_min(table->screen, used), MIN));
    pf_put(table->out, name->data, name->used);
}

static void put_frame(struct table *table, uint32_t number)
{
    const struct pf_frame_info *frame = pf_profile_frame(table->report->profile, number);
    if (frame->name && table->screen) {
        put_fitted_name(table, frame);
    } else if (frame->name) {
        pf_report_put_name(frame, table->out);
    } else {
        const struct pf_module *module = pf_symbols_module(table->report->symbols, frame->module);
        if (module && !module->kernel) /* the address is one in the file */
            put_module(table->out, module);
        pf_put_format(table->out, "%#" PRIx64, frame->address); /* as perf: 0 is "0" */
    }
    pf_put_string(table->out, "\n");
}

static void put_share(struct table *table, uint64_t hits, uint64_t total)
{
    const double percent = pf_report_percent(hits, total);
    const char *color = color_of(table, percent);
    pf_put_string(table->out, "--");
    pf_put_string(table->out, color ? color : "");
    pf_put_hundredths(table->out, percent, 0);
    pf_put_char(table->out, '%');
    pf_put_string(table->out, color ? PF_PLAIN : "");
    pf_put_string(table->out, "--");
}

/* Frames from here on that all have the same weight, one a line; *branch becomes the last, *next what follows it. */
static bool put_run(struct table *table, struct pf_graph *graph, struct pf_graph_branch *branch,
                    struct pf_graph_branch **next, size_t *next_count)
{
    for (size_t i = 0; i < MAX_IN_RUN; i++) {
        if (!pf_graph_expand(graph, branch, next, next_count))
            return false;
        if (!*next_count || (*next)[0].hits != branch->hits)
            return true;
        *branch = (*next)[0];
        put_margin(table);
        put_frame(table, branch->frame);
    }
    put_margin(table);
    pf_put_string(table->out, "[...]\n");
    *next_count = 0;
    return true;
}

static bool put_branches(struct table *table, struct pf_graph *graph, struct pf_graph_branch *branches, size_t count,
                         uint64_t total, unsigned level);

/* "|--62.50%--middle_a", what it calls below it. The pipe goes on while there are further branches. */
static bool put_branch(struct table *table, struct pf_graph *graph, struct pf_graph_branch *branch, uint64_t total,
                       unsigned level, bool last)
{
    struct pf_graph_branch *next;
    size_t next_count;
    put_margin(table);
    pf_put_char(table->out, last ? ' ' : '|');
    put_share(table, branch->hits, total);
    put_frame(table, branch->frame);
    pf_put_char(&table->margin, last ? ' ' : '|');
    pad(&table->margin, BRANCH_INDENT);
    bool enough = put_run(table, graph, branch, &next, &next_count) &&
                  put_branches(table, graph, next, next_count,
                               table->report->settings.fractal ? graph->level_hits : total, level + 1);
    table->margin.used -= BRANCH_INDENT + 1;
    return enough;
}

static void put_separator(struct table *table)
{
    put_margin(table);
    pf_put_char(table->out, '|');
    pad(table->out, BRANCH_INDENT);
    pf_put_char(table->out, '\n');
}

static bool put_branches(struct table *table, struct pf_graph *graph, struct pf_graph_branch *branches, size_t count,
                         uint64_t total, unsigned level)
{
    uint64_t shown = 0;
    bool rest = false, enough = true;
    for (size_t i = 0; i < count; i++)
        shown += branches[i].hits;
    if (table->report->settings.fractal && count)
        rest = shown < total;
    for (size_t i = 0; i < count && enough && level < MAX_LEVELS; i++) {
        put_separator(table);
        enough = put_branch(table, graph, &branches[i], total, level, i + 1 == count && !rest);
    }
    if (rest) {
        put_margin(table);
        pf_put_char(table->out, ' ');
        put_share(table, total - shown, total);
        pf_put_string(table->out, "[...]\n");
    }
    return enough;
}

/* One branch that holds all of the row: its frames are a list, and the graph begins where they part. */
static bool put_trunk(struct table *table, struct pf_graph *graph, struct pf_graph_branch *trunk, uint64_t total)
{
    struct pf_graph_branch *next;
    size_t next_count;
    if (table->report->layout.skip_first) { /* the row says it */
        if (!pf_graph_expand(graph, trunk, &next, &next_count))
            return false;
        if (!next_count || next[0].hits != trunk->hits)
            return put_branches(table, graph, next, next_count, total, 0);
        trunk = next;
    }
    put_margin(table);
    pf_put_string(table->out, "|\n");
    put_margin(table);
    pf_put_string(table->out, "---");
    pad(&table->margin, 3);
    put_frame(table, trunk->frame);
    return put_run(table, graph, trunk, &next, &next_count) && put_branches(table, graph, next, next_count, total, 0);
}

static bool put_graph(struct table *table, const struct pf_report_row *row, uint64_t *marks)
{
    const uint64_t weight = pf_report_weight(table->report, row);
    const uint64_t total = table->report->settings.fractal ? weight : table->event->period;
    const size_t used = table->out->used;
    struct pf_graph graph;
    struct pf_graph_branch *branches;
    size_t count;
    table->margin.used = 0;
    pad(&table->margin, MARGIN);
    pf_graph_open_apart(&graph, table->report, row, marks);
    bool enough = pf_graph_expand(&graph, NULL, &branches, &count);
    if (enough && count == 1 && branches[0].hits == weight)
        enough = put_trunk(table, &graph, branches, total);
    else if (enough)
        enough = put_branches(table, &graph, branches, count, total, 0);
    pf_graph_close(&graph);
    if (table->out->used != used)
        pf_put_string(table->out, "\n");
    return enough;
}

/* ---- the graphs of a table, drawn ahead of their rows by several threads ---- */

struct drawing {
    const struct pf_report_row *row; /* NULL: there are no more */
    struct table table;              /* writes to `text` */
    struct pf_text text;
    bool enough;
};

struct drawers {
    const struct table *table;
    size_t next; /* row to look at */
    struct drawing *drawings;
    unsigned drawing_count;
    uint64_t *marks[MAX_DRAWERS]; /* by worker; NULL: not needed yet */
    pthread_mutex_t lock;
    uint32_t keys[MAX_DRAWERS]; /* by worker, plus one: of the row whose graph has the tree's own marks; 0: none */
    struct pf_stages *stages;
};

static bool open_texts(struct table *table)
{
    const struct perfile_allocator *allocator = table->report->allocator;
    bool enough = pf_text_open(&table->cell, allocator, NULL, NULL) == 0;
    enough = pf_text_open(&table->fitted, allocator, NULL, NULL) == 0 && enough;
    return pf_text_open(&table->margin, allocator, NULL, NULL) == 0 && enough;
}

/* False: memory was short. */
static bool close_texts(struct table *table)
{
    const bool enough = !table->cell.failed && !table->fitted.failed && !table->margin.failed;
    pf_text_close(&table->cell);
    pf_text_close(&table->fitted);
    pf_text_close(&table->margin);
    return enough;
}

static bool has_graph(const struct table *table, const struct pf_report_row *row)
{
    return pf_report_shows(table->report, row) && !pf_graph_is_empty(table->report, row);
}

static bool choose_row(void *context, void *item, unsigned worker)
{
    struct drawers *drawers = context;
    struct drawing *drawing = item;
    const struct pf_report_event *event = drawers->table->event;
    (void)worker;
    while (drawers->next < event->row_count && !has_graph(drawers->table, &event->rows[drawers->next]))
        drawers->next++;
    drawing->row = drawers->next < event->row_count ? &event->rows[drawers->next++] : NULL;
    return drawing->row;
}

/*
 * Rows of two keys have no node in common: the tree's own marks, which stand where a graph looks anyway, serve one of
 * each. False when out of memory.
 */
static bool take_marks(struct drawers *drawers, unsigned worker, uint32_t key, uint64_t **marks)
{
    const struct pf_report *report = drawers->table->report;
    bool taken = false;
    pthread_mutex_lock(&drawers->lock);
    for (unsigned i = 0; i < MAX_DRAWERS; i++)
        taken |= drawers->keys[i] == key + 1;
    if (!taken)
        drawers->keys[worker] = key + 1;
    pthread_mutex_unlock(&drawers->lock);
    if (taken && !drawers->marks[worker])
        drawers->marks[worker] = pf_new(report->allocator, report->chains.tree.count * sizeof(uint64_t));
    *marks = taken ? drawers->marks[worker] : NULL;
    return !taken || *marks;
}

static void release_marks(struct drawers *drawers, unsigned worker)
{
    pthread_mutex_lock(&drawers->lock);
    drawers->keys[worker] = 0;
    pthread_mutex_unlock(&drawers->lock);
}

static bool draw(void *context, void *item, unsigned worker)
{
    struct drawers *drawers = context;
    struct drawing *drawing = item;
    uint64_t *marks;
    drawing->text.used = 0;
    if (!drawing->row)
        return true;
    drawing->enough = take_marks(drawers, worker, drawing->row->key, &marks) &&
                      put_graph(&drawing->table, drawing->row, marks) && !drawing->text.failed &&
                      !drawing->table.margin.failed && !drawing->table.cell.failed && !drawing->table.fitted.failed;
    release_marks(drawers, worker);
    return true;
}

static void close_drawers(struct drawers *drawers)
{
    const struct pf_report *report = drawers->table->report;
    pf_stages_close(drawers->stages);
    for (unsigned i = 0; i < drawers->drawing_count; i++) {
        pf_text_close(&drawers->drawings[i].text);
        close_texts(&drawers->drawings[i].table);
    }
    pf_free(report->allocator, drawers->drawings, drawers->drawing_count * sizeof(*drawers->drawings));
    for (size_t i = 0; i < MAX_DRAWERS; i++)
        pf_free(report->allocator, drawers->marks[i], report->chains.tree.count * sizeof(uint64_t));
    pthread_mutex_destroy(&drawers->lock);
}

static unsigned drawer_count(const struct table *table)
{
    size_t graphs = 0, max = pf_min(table->report->options->threads, MAX_DRAWERS);
    for (size_t i = 0; i < table->event->row_count && graphs / DRAWER_ROWS < max; i++)
        graphs += has_graph(table, &table->event->rows[i]);
    return (unsigned)(graphs / DRAWER_ROWS);
}

static bool open_drawers(struct drawers *drawers, const struct table *table)
{
    static const struct pf_stage stages[] = {{.work = choose_row}, {.work = draw, .parallel = true}};
    const struct perfile_allocator *allocator = table->report->allocator;
    const unsigned threads = drawer_count(table);
    const unsigned count = pf_stages_items(threads > 1 ? threads * ROWS_AHEAD : 1);
    *drawers = (struct drawers){.table = table, .drawings = pf_new(allocator, count * sizeof(*drawers->drawings))};
    drawers->drawing_count = drawers->drawings ? count : 0;
    pthread_mutex_init(&drawers->lock, NULL);
    pf_graphs_prepare(table->report);
    bool enough = drawers->drawings;
    for (unsigned i = 0; i < drawers->drawing_count; i++) {
        struct drawing *drawing = &drawers->drawings[i];
        drawing->table = (struct table){
            .report = table->report, .event = table->event, .out = &drawing->text, .screen = table->screen};
        enough = pf_text_open(&drawing->text, allocator, NULL, NULL) == 0 && enough;
        drawing->text.escapes = table->out->escapes;
        enough = open_texts(&drawing->table) && enough;
    }
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = threads,
                                        .context = drawers,
                                        .items = drawers->drawings,
                                        .item_bytes = sizeof(*drawers->drawings),
                                        .item_count = count};
    drawers->stages = enough ? pf_stages_open(&plan, allocator) : NULL;
    return drawers->stages;
}

/* The graph of a row that has one. */
static bool put_drawing(struct table *table, struct drawers *drawers, const struct pf_report_row *row)
{
    const struct drawing *drawing;
    do
        drawing = pf_stages_next(drawers->stages);
    while (drawing && drawing->enough && drawing->row != row); /* of rows that are hidden with their entry */
    if (!drawing || !drawing->enough)
        return false;
    pf_put(table->out, drawing->text.data, drawing->text.used);
    return true;
}

/* ---- rows ---- */

static uint64_t part_of(const struct pf_report_column *column, const struct pf_report_row *row)
{
    return column == &pf_report_columns[PF_COLUMN_overhead_children] ? row->children : row->self;
}

static const char *row_color(const struct table *table, const struct pf_report_column *column,
                             const struct pf_report_row *row)
{
    if (column != &pf_report_columns[PF_COLUMN_overhead] && column != &pf_report_columns[PF_COLUMN_overhead_children])
        return NULL;
    return color_of(table, pf_report_percent(part_of(column, row), table->event->period));
}

static void put_row(struct table *table, const struct pf_report_row *row)
{
    pf_put_string(table->out, "  ");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct pf_text *cell = fitted_cell(table, i, row, table->widths[i]);
        const char *color = row_color(table, table->columns[i], row);
        pf_put_string(table->out, color ? color : "");
        put_cell(table, i, cell, i + 1 == table->column_count);
        pf_put_string(table->out, color ? PF_PLAIN : "");
    }
    pf_put_string(table->out, "\n");
}

static bool put_rows(struct table *table, struct drawers *drawers)
{
    bool enough = true;
    fit_columns(table);
    if (has_header(table))
        put_header(table);
    for (size_t i = 0; i < table->event->row_count && enough; i++) {
        const struct pf_report_row *row = &table->event->rows[i];
        prefetch(table, row);
        if (!pf_report_shows(table->report, row))
            continue;
        put_row(table, row);
        if (drawers && has_graph(table, row))
            enough = put_drawing(table, drawers, row);
    }
    return enough;
}

/* ---- hierarchies: what rows weigh, then the columns of one level each ---- */

/* Returns how far the levels are moved to the right, so that the numbers of the innermost one fit. */
static size_t indent_of(const struct pf_report_levels *levels)
{
    return levels->count ? (levels->count - 1) * LEVEL_INDENT : 0;
}

static size_t value_widths(const struct table *table)
{
    size_t width = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (is_value(table, i))
            width += table->widths[i] + (width ? 2 : 0);
    return width;
}

/* "Command / Shared Object+Symbol". Returns the width of that, or of the longest level below it. */
static size_t put_level_headers(struct table *table, const struct pf_report_levels *levels)
{
    size_t used = 0, width = 0, max = 0;
    for (size_t i = 0, j = 0; i < table->column_count; i++) {
        if (is_value(table, i))
            continue;
        const bool joins = j && levels->level_of[j] == levels->level_of[j - 1];
        const char *before = joins ? "+" : j ? " / " : "";
        const char *header = table->columns[i]->header + strspn(table->columns[i]->header, " ");
        pf_put_string(table->out, before);
        pf_put_string(table->out, header);
        used += strlen(before) + strlen(header);
        width = table->widths[i] + (joins ? width + 1 : (size_t)levels->level_of[j] * LEVEL_INDENT);
        fit(&max, width);
        j++;
    }
    fit(&max, used);
    return max;
}

static void put_hierarchy_header(struct table *table, const struct pf_report_levels *levels)
{
    pf_put_string(table->out, "# ");
    pad(table->out, indent_of(levels));
    for (size_t i = 0; i < table->column_count; i++)
        if (is_value(table, i)) {
            put_column_header(table, i);
            pf_put_string(table->out, "  ");
        }
    const size_t width = put_level_headers(table, levels);
    pf_put_string(table->out, "\n");
    if (table->screen)
        return;
    pf_put_string(table->out, "# ");
    put_dots(table->out, indent_of(levels) + value_widths(table));
    pf_put_string(table->out, "  ");
    put_dots(table->out, width);
    pf_put_string(table->out, "\n#\n");
}

static void put_values(struct table *table, const struct pf_report_row *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (!is_value(table, i))
            continue;
        const struct pf_text *cell = cell_of(table, table->columns[i], row);
        const char *color = row_color(table, table->columns[i], row);
        pf_put_string(table->out, "  ");
        pf_put_string(table->out, color ? color : "");
        put_padded(table, i, cell->data, cell->used, true, false);
        pf_put_string(table->out, color ? PF_PLAIN : "");
    }
}

/* Of the columns those of the line's level, all to the left. */
static void put_level(struct table *table, const struct pf_report_line *line)
{
    const struct pf_report_levels *levels = &line->levels;
    for (size_t i = 0, j = 0; i < table->column_count; i++) {
        if (is_value(table, i) || levels->level_of[j++] != line->level)
            continue;
        const bool last = j == levels->column_count || levels->level_of[j] != line->level;
        const struct pf_text *cell = fitted_cell(table, i, line->row, table->widths[i]);
        size_t blanks = 0;
        while (blanks < cell->used && cell->data[blanks] == ' ')
            blanks++;
        pf_put_string(table->out, "  ");
        put_padded(table, i, cell->data + blanks, cell->used - blanks, false, last);
    }
}

/* Everything below an entry of this level is below the limit. */
static void put_nothing(struct table *table, const struct pf_report_levels *levels, size_t level)
{
    pad(table->out, value_widths(table) + EMPTY_INDENT + (levels->count + level) * LEVEL_INDENT);
    pf_put_string(table->out, "no entry >= ");
    pf_put_hundredths(table->out, table->report->settings.limit_percent, 0);
    pf_put_string(table->out, "%\n");
}

static bool put_hierarchy(struct table *table, struct drawers *drawers)
{
    struct pf_report_line line;
    size_t empty = SIZE_MAX; /* level of the entry that nothing was shown below of yet */
    bool enough = true;
    pf_report_open_lines(table->report, table->event, &line);
    fit_columns(table);
    if (has_header(table))
        put_hierarchy_header(table, &line.levels);
    while (enough && pf_report_next_line(table->report, table->event, &line)) {
        if (empty != SIZE_MAX && line.level <= empty)
            put_nothing(table, &line.levels, empty);
        pad(table->out, line.level * LEVEL_INDENT);
        put_values(table, line.row);
        pad(table->out, indent_of(&line.levels));
        put_level(table, &line);
        pf_put_string(table->out, "\n");
        empty = line.leaf ? SIZE_MAX : line.level;
        if (line.leaf && drawers && has_graph(table, line.row))
            enough = put_drawing(table, drawers, line.row);
    }
    if (empty != SIZE_MAX)
        put_nothing(table, &line.levels, empty);
    return enough;
}

static void put_left_out(struct table *table)
{
    const size_t count = table->event->left_out;
    char text[PF_COUNTED_BYTES];
    if (count && table->screen && has_header(table))
        pf_put_format(table->out, "# and %s%s\n", pf_count_of(count, "more rows", text),
                      table->screen == ANY_WIDTH ? " (--all-rows)" : "");
}

static bool put_table(struct table *table)
{
    const bool graphs = pf_report_has_graph(table->report, table->event);
    struct drawers drawers;
    bool enough = !graphs || open_drawers(&drawers, table);
    choose_columns(table);
    if (has_header(table))
        (table->screen ? put_screen_title : put_title)(table);
    if (enough)
        enough = (table->report->settings.hierarchy ? put_hierarchy : put_rows)(table, graphs ? &drawers : NULL);
    if (graphs)
        close_drawers(&drawers);
    put_left_out(table);
    pf_put_string(table->out, table->screen ? "\n" : "\n\n");
    return enough;
}

static void put_no_samples(struct table *table)
{
    char why[PF_NOTE_BYTES];
    pf_put_string(table->out, "# There are no samples.\n");
    if (pf_note_no_samples(table->report->reader, table->report->totals->filtered, why))
        pf_put_format(table->out, "# %s.\n", why);
}

static void put_branches_by_type(struct table *table)
{
    const struct pf_report *report = table->report;
    const char *name;
    uint64_t count;
    pf_put_string(table->out, "#\n# Branch Statistics:\n#\n");
    for (size_t i = 0; pf_report_branches_at(report, i, &name, &count); i++)
        if (count)
            pf_put_format(table->out, "%8s: %5.1f%%\n", name, pf_report_percent(count, report->branching.counts.all));
}

static void put_head(struct table *table)
{
    table->screen = (size_t)pf_min(table->report->options->report->columns, SIZE_MAX);
    parse_widths(table);
    if (!has_header(table))
        return;
    put_filters(table);
    if (table->screen)
        put_screen_losses(table);
    else
        put_losses(table);
}

static bool put_report(struct table *table)
{
    const struct pf_report *report = table->report;
    bool enough = open_texts(table);
    if (enough)
        put_head(table);
    for (size_t i = 0; i < report->events.count && enough; i++) {
        table->event = &report->events.items[i];
        const struct pf_report_group *group = table->event->group;
        if (group ? group->first == i : table->event->samples != 0)
            enough = put_table(table);
    }
    if (enough && !report->totals->samples && has_header(table))
        put_no_samples(table);
    if (enough && report->branching.counts.all)
        put_branches_by_type(table);
    return close_texts(table) && enough;
}

static int write_report(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    const struct pf_header_options header = {.path = options->symbols->recording,
                                             .full = options->header & PERFILE_HEADER_FULL};
    struct pf_report report;
    struct table table = {.report = &report, .out = out};
    if (options->header & PERFILE_HEADER_ONLY)
        return pf_header_put_only(reader, &header, out, error);
    if (options->report->flags & PERFILE_REPORT_STATS)
        return pf_stats_write(reader, options, out, error);
    if (options->report->flags & PERFILE_REPORT_TASKS)
        return pf_tasks_write(reader, out, error);
    int result = pf_report_open(&report, reader, options, true, error);
    const int headed =
        options->header & PERFILE_HEADER_FIRST && has_header(&table) ? pf_header_put(reader, &header, out, error) : 0;
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
