/* SPDX-License-Identifier: MIT */
/*
 * The rows of `perfile report`: for each event the functions, or whatever rows are asked for, with what they weigh. The
 * first columns are the report's own (src/analysis/report/columns.def).
 */
#include "view/functions.h"

#include "analysis/describe.h"
#include "base/error.h"

struct functions {
    struct perfile_table *table;
    struct perfile_output_options options;
    struct perfile_report_options rows_by;
    struct pf_report report;
    bool open; /* the report and the cell */
    struct pf_functions_location location;
    struct pf_text cell;
    int result; /* how the reading ended: rows that are known by then come before an error */
    struct perfile_error error;
};

struct pf_report *pf_functions_report(const struct perfile_table *table)
{
    return &((struct functions *)table->state)->report;
}

/* ---- what rows are of -------------------------------------------------------------------------------------------- */

#define FUNCTIONS struct functions *functions = state
PF_PUT_AS(event, FUNCTIONS, pf_set_lasting, functions->location.of->event->name)
PF_PUT_AS(level, FUNCTIONS, pf_set_u32, (uint32_t)functions->location.line.level + 1)

/* An entry of a hierarchy has the columns of its level and of those above it. */
static bool has_cell(const struct functions *functions, const struct pf_report_column *column)
{
    const struct pf_report_line *line = &functions->location.line;
    return !functions->report.settings.hierarchy || line->leaf || column->of == PF_COLUMN_OF_VALUE ||
           pf_report_level_of(&line->levels, column) <= line->level;
}

static const struct pf_frame_info *frame_of(const struct functions *functions)
{
    return functions->report.layout.by_frame ? pf_report_frame(&functions->report, functions->location.row) : NULL;
}

/* NULL: nothing is mapped there. */
static const struct pf_module *module_of(const struct functions *functions)
{
    const struct pf_frame_info *frame = frame_of(functions);
    return frame ? pf_symbols_module(functions->report.symbols, frame->module) : NULL;
}

/* The text of a column, without the blanks that are for people. */
static void put_text(struct functions *functions, const struct pf_report_column *column, struct pf_vector *vector)
{
    functions->cell.used = 0;
    column->text(&functions->report, functions->location.row, &functions->cell);
    const char *text = functions->cell.data, *end = text + functions->cell.used;
    while (column != &pf_report_columns[PF_COLUMN_comm] && text < end && *text == ' ')
        text++;
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, text, (size_t)(end - text)));
}

/* Functions by their names, and modules by their paths: for programs. */
static void put_cell(struct functions *functions, const struct pf_report_column *column, struct pf_vector *vector)
{
    const struct pf_report *report = &functions->report;
    if (!has_cell(functions, column)) {
        pf_set_null(vector);
    } else if (column->value) {
        pf_set_u64(vector, column->value(report, functions->location.row));
    } else if (column->real) {
        pf_set_f64(vector, column->real(report, functions->location.row));
    } else if (column == &pf_report_columns[PF_COLUMN_symbol]) {
        pf_set_lasting(vector, frame_of(functions)->name);
    } else if (column == &pf_report_columns[PF_COLUMN_dso]) {
        const struct pf_module *module = module_of(functions);
        pf_set_lasting(vector, module ? module->name : NULL);
    } else {
        put_text(functions, column, vector);
    }
}

PF_PUT(column)
{
    struct functions *functions = state;
    put_cell(functions, functions->report.layout.columns[vector->column.index], vector);
}

PF_PUT(key)
{
    struct functions *functions = state;
    put_cell(functions, functions->report.layout.keys[vector->column.index], vector);
}

PF_PUT(build_id)
{
    const struct functions *functions = state;
    const struct pf_module *module = module_of(functions);
    const bool has = module && *module->build_id && has_cell(functions, &pf_report_columns[PF_COLUMN_dso]);
    pf_set_lasting(vector, has ? module->build_id : NULL);
}

/* Puts the address, which distinguishes rows without a name. */
PF_PUT(address)
{
    const struct functions *functions = state;
    const struct pf_frame_info *frame = frame_of(functions);
    if (frame && !frame->name && has_cell(functions, &pf_report_columns[PF_COLUMN_symbol]))
        pf_set_u64(vector, frame->address);
    else
        pf_set_null(vector);
}

PF_PUT(kind)
{
    const struct functions *functions = state;
    const struct pf_frame_info *frame = frame_of(functions);
    const bool has = frame && has_cell(functions, &pf_report_columns[PF_COLUMN_symbol]);
    pf_set_lasting(vector, has ? pf_describe_kind(frame->kind) : NULL);
}

/* ---- what they weigh --------------------------------------------------------------------------------------------- */

PF_PUT_AS(samples, FUNCTIONS, pf_set_u64, functions->location.row->samples)
PF_PUT_AS(self, FUNCTIONS, pf_set_u64, functions->location.row->self)
PF_PUT_AS(total, FUNCTIONS, pf_set_u64, pf_report_weight(&functions->report, functions->location.row))

PF_PUT(unit)
{
    const struct functions *functions = state;
    char unit[64];
    pf_set_text(vector, perfile_event_unit(functions->location.of->event, unit, sizeof(unit)));
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const struct pf_column event_column = PF_REQUIRED(event, TEXT, "", "Name of the event.");
static const struct pf_column level_column =
    PF_REQUIRED(level, U32, "", "Of a hierarchy, from 1 on: the row sums up the deeper ones after it.");
static const struct pf_column kind_column =
    PF_COLUMN(kind, TEXT, "", "Where it ran: user, kernel, inlined, jit, unknown.");
/* It distinguishes functions without a name. */
static const struct pf_column address_column =
    PF_COLUMN(address, ADDRESS, "", "Of code without a symbol, its address in the file.");
static const struct pf_column build_id_column =
    PF_COLUMN(build_id, TEXT, "", "Build id of the file as the recording has it, in hexadecimal.");
static const struct pf_column weights[] = {
    PF_REQUIRED(samples, U64, "samples", "Samples that were in it."),
    PF_REQUIRED(self, U64, "", "Period of these samples, in the unit of the event."),
    PF_REQUIRED(total, U64, "", "Period of the samples that have it anywhere in their stack; without stacks, as self."),
    PF_REQUIRED(unit, TEXT, "", "What the periods count: ns, cycles, events ..."),
};

/* Returns whether the options choose exactly these columns; otherwise the others can be chosen later. */
static bool is_strict(const struct functions *functions)
{
    const char *fields = functions->options.fields;
    return fields && *fields && *fields != '+';
}

static void describe(const struct pf_report_column *of, struct pf_column *column)
{
    column->name = of->name;
    column->alias = of->alias;
    column->type = of->type;
    column->unit = of->unit ? of->unit : "";
    column->doc = of->doc ? of->doc : "";
    column->required = of->of == PF_COLUMN_OF_VALUE;
}

static bool add(struct functions *functions, const struct pf_report_column *of, struct pf_column column)
{
    describe(of, &column);
    return pf_table_add(functions->table, &column);
}

/* Those of the view itself, and what reports can sort by and print. */
static bool column_at(size_t index, struct pf_column *column)
{
    static const struct pf_column *const own[] = {&event_column,   &level_column,    &kind_column,
                                                  &address_column, &build_id_column, &weights[0],
                                                  &weights[1],     &weights[2],      &weights[3]};
    if (index < PF_COUNT(own)) {
        *column = *own[index];
        return true;
    }
    if (index - PF_COUNT(own) >= PF_COLUMN_COUNT)
        return false;
    *column = (struct pf_column){.extra = true};
    describe(&pf_report_columns[index - PF_COUNT(own)], column);
    return true;
}

static bool is_printed(const struct pf_report *report, const struct pf_report_column *column)
{
    for (size_t i = 0; i < report->layout.column_count; i++)
        if (report->layout.columns[i] == column)
            return true;
    return false;
}

/* What the report prints, in its order, then keys that it does not print. */
static bool add_report_columns(struct functions *functions)
{
    const struct pf_report *report = &functions->report;
    bool enough = true;
    for (uint32_t i = 0; i < report->layout.column_count && enough; i++)
        enough = add(functions, report->layout.columns[i], (struct pf_column){.put = put_column, .index = i});
    for (uint32_t i = 0; i < report->layout.key_count && enough; i++)
        if (!is_printed(report, report->layout.keys[i]))
            enough = add(functions, report->layout.keys[i],
                         (struct pf_column){.put = put_key, .index = i, .extra = is_strict(functions)});
    return enough;
}

static bool add_one(struct functions *functions, struct pf_column column, bool extra)
{
    column.extra = extra;
    return pf_table_add(functions->table, &column);
}

static bool add_frame_columns(struct functions *functions, bool strict)
{
    const struct pf_report *report = &functions->report;
    return !report->layout.by_frame || (add_one(functions, kind_column, strict && !report->layout.by_symbol) &&
                                        (!report->layout.by_symbol || add_one(functions, address_column, false)) &&
                                        add_one(functions, build_id_column, strict));
}

static bool add_columns(struct functions *functions)
{
    const struct pf_report *report = &functions->report;
    const bool strict = is_strict(functions);
    bool enough = pf_table_add(functions->table, &event_column) &&
                  (!report->settings.hierarchy || pf_table_add(functions->table, &level_column)) &&
                  add_report_columns(functions);
    enough = enough && add_frame_columns(functions, strict);
    for (size_t i = 0; i < PF_COUNT(weights) && enough; i++)
        enough = add_one(functions, weights[i], strict);
    return enough;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool next_of_event(const struct pf_report *report, struct pf_functions_location *location)
{
    while (location->next_row < location->of->row_count) {
        location->row = &location->of->rows[location->next_row++];
        if (pf_report_shows(report, location->row))
            return true;
    }
    return false;
}

static bool next_of_hierarchy(const struct pf_report *report, struct pf_functions_location *location)
{
    if (!location->of->row_count)
        return false;
    if (!location->in_event)
        pf_report_open_lines(report, location->of, &location->line);
    location->in_event = pf_report_next_line(report, location->of, &location->line);
    location->row = location->line.row;
    return location->in_event;
}

bool pf_functions_next(const struct pf_report *report, struct pf_functions_location *location)
{
    for (; location->event < report->events.count; location->event++, location->next_row = 0) {
        location->of = &report->events.items[location->event];
        if (report->settings.hierarchy ? next_of_hierarchy(report, location) : next_of_event(report, location))
            return true;
    }
    return false;
}

static int next_row(void *state, struct perfile_error *error)
{
    struct functions *functions = state;
    if (pf_functions_next(&functions->report, &functions->location))
        return 1;
    if (functions->result < 0)
        *error = functions->error;
    return functions->result;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void set_options(struct functions *functions)
{
    const struct perfile_table *table = functions->table;
    struct perfile_output_options *options = &functions->options;
    functions->rows_by = *table->options.report;
    *options = table->verb ? *table->verb : (struct perfile_output_options)PERFILE_OUTPUT_OPTIONS_INIT;
    if (!table->verb) {
        functions->rows_by.sort = functions->rows_by.sort ? functions->rows_by.sort : "dso,symbol";
        functions->rows_by.call_graph = "none";
    }
    options->filter = table->options.filter;
    options->symbols = table->options.symbols;
    options->report = &functions->rows_by;
    options->threads = table->options.threads;
    options->progress = table->options.progress;
    options->progress_context = table->options.progress_context;
    options->unmatched = table->options.unmatched;
    options->unmatched_context = table->options.unmatched_context;
    options->allocator = table->allocator;
}

static int open_functions(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct functions *functions = state;
    set_options(functions);
    if (pf_text_open(&functions->cell, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "functions");
    functions->open = true;
    functions->result =
        pf_report_open(&functions->report, table->reader, &functions->options, false, &functions->error);
    if (functions->result < 0 && !functions->report.rows.count) {
        if (error)
            *error = functions->error;
        return functions->result;
    }
    return add_columns(functions) ? 0 : pf_fail_memory(error, "functions");
}

static void close_functions(void *state)
{
    struct functions *functions = state;
    if (functions->open) {
        pf_report_close(&functions->report);
        pf_text_close(&functions->cell);
    }
}

static void losses(const void *state, struct perfile_losses *losses)
{
    const struct functions *functions = state;
    pf_profile_losses(functions->report.profile, losses);
}

const struct pf_view pf_view_functions = {
    .info = {"functions", "for each event the functions, with the samples that were in them and in what they called"},
    .answers = "overhead_children,symbol",
    .column_at = column_at,
    .state_bytes = sizeof(struct functions),
    .open = open_functions,
    .next = next_row,
    .close = close_functions,
    .losses = losses,
};
