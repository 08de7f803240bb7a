/* SPDX-License-Identifier: MIT */
/* The report as one JSON object: what was lost, then the events with their rows. */
#include "analysis/report/report.h"
#include "base/error.h"
#include "base/json.h"
#include "output/notes.h"
#include "output/output.h"
#include "output/report/tasks.h"

enum { MOST_LEVELS = 500 }; /* of a call graph: readers of JSON have limits, too */

struct page {
    struct pf_report *report;
    struct pf_json json;
    struct pf_text cell;
};

static void put_number(struct page *page, struct perfile_value value)
{
    const struct perfile_visitor visitor = pf_json_visitor(&page->json);
    (void)visitor.value(visitor.context, &value); /* what fails is kept by the text */
}

static void put_percent(struct page *page, const char *name, uint64_t part, uint64_t whole)
{
    pf_put_string(page->json.text, page->json.comma ? "," : "");
    pf_put_json_string(page->json.text, name, strlen(name));
    pf_put_format(page->json.text, ":%.9g", pf_report_percent(part, whole));
    page->json.comma = true;
}

static const struct pf_module *module_of(const struct page *page, const struct pf_frame_info *frame)
{
    return pf_symbols_module(page->report->symbols, frame->module);
}

static void put_symbol(struct page *page, const struct pf_frame_info *frame)
{
    pf_json_string(&page->json, "symbol", frame->name);
    if (!frame->name)
        pf_json_unsigned(&page->json, "address", frame->address);
    if (frame->kind == PF_FRAME_INLINED)
        pf_json_bool(&page->json, "inlined", true);
}

static void put_dso(struct page *page, const struct pf_frame_info *frame)
{
    const struct pf_module *module = module_of(page, frame);
    pf_json_string(&page->json, "dso", module ? module->name : NULL);
}

/* What a column takes of the sample, without the blanks that are for people. */
static void put_key(struct page *page, const struct pf_report_column *column, const struct pf_report_row *row)
{
    if (pf_report_column_is_number(column)) {
        const bool is_signed = column->type == PERFILE_COLUMN_I64;
        put_number(page, (struct perfile_value){.name = column->name,
                                                .kind = is_signed ? PERFILE_VALUE_SIGNED : PERFILE_VALUE_UNSIGNED,
                                                .number.u = column->value(page->report, row)});
        return;
    }
    page->cell.used = 0;
    column->text(page->report, row, &page->cell);
    pf_put_char(&page->cell, '\0');
    const char *text = page->cell.data;
    pf_json_string(&page->json, column->name,
                   column == &pf_report_columns[PF_COLUMN_comm] ? text : text + strspn(text, " "));
}

/* An entry of a hierarchy has the columns of its level, a row below it all that no entry above it has. */
static bool has_key(const struct pf_report_line *line, const struct pf_report_column *column)
{
    const size_t level = line ? pf_report_level_of(&line->levels, column) : SIZE_MAX;
    return level == SIZE_MAX ? !line || line->leaf : level == line->level;
}

static void put_keys(struct page *page, const struct pf_report_row *row, const struct pf_report_line *line)
{
    const struct pf_report *report = page->report;
    for (size_t i = 0; i < report->key_count_of; i++) {
        const struct pf_report_column *column = report->keys_of[i];
        if (!has_key(line, column))
            continue;
        if (column == &pf_report_columns[PF_COLUMN_symbol])
            put_symbol(page, pf_report_frame(report, row));
        else if (column == &pf_report_columns[PF_COLUMN_dso])
            put_dso(page, pf_report_frame(report, row));
        else
            put_key(page, column, row);
    }
}

/* ---- call graphs ---- */

static bool put_branches(struct page *page, struct pf_graph *graph, const struct pf_graph_branch *from, unsigned level)
{
    struct pf_graph_branch *branches;
    size_t count;
    if (level == MOST_LEVELS)
        return true;
    bool enough = pf_graph_expand(graph, from, &branches, &count);
    if (enough && count) {
        pf_json_begin(&page->json, from ? "next" : "graph", true);
        for (size_t i = 0; i < count && enough; i++) {
            const struct pf_frame_info *frame = pf_profile_frame(page->report->profile, branches[i].frame);
            pf_json_begin(&page->json, NULL, false);
            put_symbol(page, frame);
            put_dso(page, frame);
            pf_json_unsigned(&page->json, "period", branches[i].hits);
            enough = put_branches(page, graph, &branches[i], level + 1);
            pf_json_end(&page->json, false);
        }
        pf_json_end(&page->json, true);
    }
    return enough;
}

static bool put_graph(struct page *page, const struct pf_report_row *row)
{
    struct pf_graph graph;
    pf_graph_open(&graph, page->report, row);
    bool enough = put_branches(page, &graph, NULL, 0);
    pf_graph_close(&graph);
    return enough;
}

/* ---- rows and events ---- */

static void put_modes(struct page *page, const struct pf_report_row *row)
{
    const struct pf_report_part part = pf_report_part(page->report, row, 0);
    const uint64_t period = pf_report_event(page->report, row)->period;
    if (!page->report->by_mode)
        return;
    put_percent(page, "overhead_sys", part.sys, period);
    put_percent(page, "overhead_us", part.us, period);
    put_percent(page, "overhead_guest_sys", part.guest_sys, period);
    put_percent(page, "overhead_guest_us", part.guest_us, period);
}

/* `line`: of a hierarchy, or NULL. */
static void begin_row(struct page *page, const struct pf_report_row *row, const struct pf_report_line *line)
{
    const struct pf_report *report = page->report;
    const struct pf_report_event *event = pf_report_event(report, row);
    pf_json_begin(&page->json, NULL, false);
    if (report->children) {
        put_percent(page, "children", row->children, event->period);
        pf_json_unsigned(&page->json, "children_period", row->children);
    }
    put_percent(page, "overhead", row->self, event->period);
    pf_json_unsigned(&page->json, "period", row->self);
    pf_json_unsigned(&page->json, "samples", row->samples);
    put_modes(page, row);
    put_keys(page, row, line);
}

static bool end_row(struct page *page, const struct pf_report_event *event, const struct pf_report_row *row)
{
    const struct pf_report *report = page->report;
    bool enough = true;
    /* graphs are many times the size of the table: only when they are asked for */
    if (report->options->report->call_graph && pf_report_has_graph(report, event))
        enough = put_graph(page, row);
    pf_json_end(&page->json, false);
    pf_put_string(page->json.text, "\n");
    return enough;
}

static bool put_rows(struct page *page, const struct pf_report_event *event)
{
    bool enough = true;
    pf_json_begin(&page->json, "rows", true);
    for (size_t i = 0; i < event->row_count && enough; i++)
        if (pf_report_shows(page->report, &event->rows[i])) {
            begin_row(page, &event->rows[i], NULL);
            enough = end_row(page, event, &event->rows[i]);
        }
    pf_json_end(&page->json, true);
    return enough;
}

static void end_entry(struct page *page)
{
    pf_json_end(&page->json, true);
    pf_json_end(&page->json, false);
}

/* Entries have entries, down to the rows. */
static bool put_hierarchy(struct page *page, const struct pf_report_event *event)
{
    struct pf_report_line line;
    size_t open = 0; /* entries */
    bool enough = true;
    pf_report_open_lines(page->report, event, &line);
    pf_json_begin(&page->json, "entries", true);
    while (enough && pf_report_next_line(page->report, event, &line)) {
        for (; open > line.level; open--)
            end_entry(page);
        begin_row(page, line.row, &line);
        if (line.leaf) {
            enough = end_row(page, event, line.row);
        } else {
            pf_json_begin(&page->json, "entries", true);
            open++;
        }
    }
    for (; open; open--)
        end_entry(page);
    pf_json_end(&page->json, true);
    return enough;
}

static bool put_event(struct page *page, const struct pf_report_event *event)
{
    pf_json_begin(&page->json, NULL, false);
    pf_json_string(&page->json, "event", event->event->name);
    pf_json_unsigned(&page->json, "samples", event->samples);
    pf_json_unsigned(&page->json, "period", event->period);
    const bool enough = page->report->hierarchy ? put_hierarchy(page, event) : put_rows(page, event);
    pf_json_end(&page->json, false);
    return enough;
}

static void put_totals(struct page *page)
{
    const struct pf_profile_totals *totals = page->report->totals;
    pf_json_unsigned(&page->json, "samples", totals->samples);
    pf_json_unsigned(&page->json, "lost", totals->lost);
    pf_json_unsigned(&page->json, "unresolved", totals->unresolved);
    pf_json_unsigned(&page->json, "unmapped", totals->unmapped);
    pf_json_unsigned(&page->json, "truncated", totals->truncated);
    pf_json_unsigned(&page->json, "guessed", totals->guessed);
}

static void put_note(struct page *page, const char *note)
{
    pf_put_string(page->json.text, page->json.comma ? "," : "");
    pf_put_json_string(page->json.text, note, strlen(note));
    page->json.comma = true;
}

/* What the rows do not show, and why there are none. */
static void put_notes(struct page *page)
{
    const struct pf_report *report = page->report;
    char note[PF_NOTE_BYTES];
    pf_json_begin(&page->json, "notes", true);
    if (pf_note_aux(report->reader, note))
        put_note(page, note);
    if (!report->totals->samples && pf_note_no_samples(report->reader, report->totals->filtered, note))
        put_note(page, note);
    pf_json_end(&page->json, true);
}

/* Of branches how many of each type were taken. */
static void put_branch_types(struct page *page)
{
    const char *name;
    uint64_t count;
    if (!page->report->branches)
        return;
    pf_json_unsigned(&page->json, "without_branches", page->report->without_branches);
    pf_json_begin(&page->json, "branch_types", false);
    for (size_t i = 0; pf_report_branches_at(page->report, i, &name, &count); i++)
        if (count)
            pf_json_unsigned(&page->json, name, count);
    pf_json_end(&page->json, false);
}

static void put_modules(struct page *page)
{
    const struct pf_symbols *symbols = page->report->symbols;
    pf_json_begin(&page->json, "modules", true);
    for (uint32_t i = 0; i < pf_symbols_module_count(symbols); i++) {
        const struct pf_module *module = pf_symbols_module(symbols, i);
        pf_json_begin(&page->json, NULL, false);
        pf_json_string(&page->json, "dso", module->name);
        pf_json_string(&page->json, "file", module->path);
        pf_json_unsigned(&page->json, "addresses", module->addresses);
        pf_json_unsigned(&page->json, "resolved", module->resolved);
        pf_json_bool(&page->json, "other_build", module->build_id_differs);
        pf_json_end(&page->json, false);
    }
    pf_json_end(&page->json, true);
}

static bool put_page(struct page *page)
{
    const struct pf_report *report = page->report;
    bool enough = true;
    pf_json_begin(&page->json, NULL, false);
    put_totals(page);
    put_notes(page);
    put_branch_types(page);
    put_modules(page);
    pf_json_begin(&page->json, "events", true);
    for (size_t i = 0; i < report->event_count && enough; i++)
        if (report->events[i].samples)
            enough = put_event(page, &report->events[i]);
    pf_json_end(&page->json, true);
    pf_json_end(&page->json, false);
    pf_put_string(page->json.text, "\n");
    return enough && !page->cell.failed;
}

static int write_report(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    struct pf_report report;
    struct page page = {.report = &report, .json = {.text = out, .max_bytes = UINT64_MAX}};
    if (options->report->flags & PERFILE_REPORT_TASKS)
        return pf_tasks_write(reader, options, PF_TASKS_JSON, out, error);
    int result = pf_report_open(&report, reader, options, false, error);
    if (result == 0 || report.row_count) {
        if (pf_text_open(&page.cell, report.allocator, NULL, NULL) < 0 || !put_page(&page))
            result = pf_fail_memory(error, "report");
        pf_text_close(&page.cell);
    }
    pf_report_close(&report);
    return result;
}

const struct pf_output pf_output_report_json = {
    .info = {"report", "json", "one object: losses, modules, and the rows of each event with exact numbers"},
    .write = write_report,
};
