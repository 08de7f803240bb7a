/* SPDX-License-Identifier: MIT */
/* Reports for programs: tables of the view `functions`, or of threads, in the formats of tables. */
#include "analysis/report/graph.h"
#include "output/notes.h"
#include "output/output.h"
#include "output/table/format.h"
#include "view/functions.h"

/* ---- JSON: what stands beside the rows --------------------------------------------------------------------------- */

static void put_event(struct pf_json *json, const struct pf_report_event *event)
{
    pf_json_begin(json, NULL, false);
    pf_json_string(json, "event", event->event->name);
    pf_json_unsigned(json, "samples", event->samples);
    pf_json_unsigned(json, "period", event->period);
    pf_json_end(json, false);
}

/* What percentages are of. */
static void put_events(struct pf_json *json, const struct pf_report *report)
{
    pf_json_begin(json, "events", true);
    for (size_t i = 0; i < report->events.count; i++)
        if (report->events.items[i].samples)
            put_event(json, &report->events.items[i]);
    pf_json_end(json, true);
}

/* Of branches how many of each type were taken. */
static void put_branch_types(struct pf_json *json, const struct pf_report *report)
{
    const char *name;
    uint64_t count;
    if (!report->branching.active)
        return;
    pf_json_unsigned(json, "without_branches", report->branching.without);
    pf_json_begin(json, "branch_types", false);
    for (size_t i = 0; pf_report_branches_at(report, i, &name, &count); i++)
        if (count)
            pf_json_unsigned(json, name, count);
    pf_json_end(json, false);
}

static void put_module(struct pf_json *json, const struct pf_module *module)
{
    pf_json_begin(json, NULL, false);
    pf_json_string(json, "dso", module->name);
    pf_json_string(json, "file", module->path);
    pf_json_unsigned(json, "addresses", module->addresses);
    pf_json_unsigned(json, "resolved", module->resolved);
    pf_json_bool(json, "other_build", module->build_id_differs);
    pf_json_end(json, false);
}

static void put_modules(struct pf_json *json, const struct pf_symbols *symbols)
{
    pf_json_begin(json, "modules", true);
    for (uint32_t i = 0; i < pf_symbols_module_count(symbols); i++)
        put_module(json, pf_symbols_module(symbols, i));
    pf_json_end(json, true);
}

/* ---- JSON: call graphs ------------------------------------------------------------------------------------------- */

enum { MAX_LEVELS = 500 }; /* readers of JSON have limits, too */

static void put_frame(struct pf_json *json, const struct pf_report *report, uint32_t number)
{
    const struct pf_frame_info *frame = pf_profile_frame(report->profile, number);
    const struct pf_module *module = pf_symbols_module(report->symbols, frame->module);
    pf_json_string(json, "symbol", frame->name);
    if (!frame->name)
        pf_json_unsigned(json, "address", frame->address);
    if (frame->kind == PF_FRAME_INLINED)
        pf_json_bool(json, "inlined", true);
    pf_json_string(json, "dso", module ? module->name : NULL);
}

/* What fails is out of memory, and the table knows. */
static void put_branches(struct pf_json *json, struct pf_graph *graph, const struct pf_graph_branch *from,
                         unsigned level)
{
    struct pf_graph_branch *branches;
    size_t count;
    if (level == MAX_LEVELS || !pf_graph_expand(graph, from, &branches, &count) || !(count || !from))
        return;
    pf_json_begin(json, from ? "next" : NULL, true);
    for (size_t i = 0; i < count; i++) {
        pf_json_begin(json, NULL, false);
        put_frame(json, graph->report, branches[i].frame);
        pf_json_unsigned(json, "period", branches[i].hits);
        put_branches(json, graph, &branches[i], level + 1);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

/* One for each row, in their order; of what sums up rows, and of what has no callers, it is empty. */
static void put_graphs(struct pf_json *json, struct pf_report *report)
{
    struct pf_functions_location position = {0};
    struct pf_graph graph;
    pf_json_begin(json, "graphs", true);
    while (pf_functions_next(report, &position)) {
        if ((report->settings.hierarchy && !position.line.leaf) || !pf_report_has_graph(report, position.of)) {
            pf_json_begin(json, NULL, true);
            pf_json_end(json, true);
            continue;
        }
        pf_graph_open(&graph, report, position.row);
        put_branches(json, &graph, NULL, 0);
        pf_graph_close(&graph);
        pf_put_string(json->text, "\n");
    }
    pf_json_end(json, true);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_members(struct perfile_table *table, struct pf_json *json)
{
    struct pf_report *report = pf_functions_report(table);
    pf_json_unsigned(json, "samples", report->totals->samples);
    put_events(json, report);
    put_branch_types(json, report);
    put_modules(json, report->symbols);
    if (report->options->report
            ->call_graph) /* they are many times the size of the table: only when they are asked for */
        put_graphs(json, report);
}

/* Why there are no rows. */
static void put_notes(struct perfile_table *table, struct pf_json *json)
{
    const struct pf_profile_totals *totals = pf_functions_report(table)->totals;
    char note[PF_NOTE_BYTES];
    if (!totals->samples && pf_note_no_samples(table->reader, totals->filtered, note))
        pf_json_string(json, NULL, note);
}

int pf_report_write_table(const struct pf_output *output, struct perfile_reader *reader,
                          const struct perfile_output_options *options, struct pf_text *out,
                          struct perfile_error *error)
{
    const struct pf_table_output rows = {.view = "functions",
                                         .format = output->info.format,
                                         .style = {.put_members = put_members, .put_notes = put_notes}};
    const struct pf_table_output threads = {.view = "threads", .format = output->info.format};
    const struct pf_table_output blocks = {.view = "blocks", .format = output->info.format};
    const struct pf_table_output maps = {.view = "maps", .format = output->info.format};
    const unsigned flags = options->report->flags;
    return pf_table_output_write(flags & PERFILE_REPORT_MMAPS    ? &maps
                                 : flags & PERFILE_REPORT_TASKS  ? &threads
                                 : flags & PERFILE_REPORT_BLOCKS ? &blocks
                                                                 : &rows,
                                 reader, options, out, error);
}
