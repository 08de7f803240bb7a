/* SPDX-License-Identifier: MIT */
/*
 * The rows of `perfile report`: for each event the functions, or whatever rows are asked for, with what they weigh. The
 * first columns are the report's own (src/analysis/report/columns.def).
 */
#include "analysis/describe.h"
#include "analysis/report/report.h"
#include "base/error.h"
#include "view/view.h"

struct functions {
    struct perfile_table *table;
    struct perfile_output_options options;
    struct perfile_report_options rows_by;
    struct pf_report report;
    bool open;                        /* the report and the cell */
    size_t event, next;               /* the row behind the one in hand */
    const struct pf_report_event *of; /* of the row in hand */
    const struct pf_report_row *row;
    struct pf_text cell;
};

#define PUT(name) static void put_##name(void *state, struct pf_vector *vector)

/* ---- what rows are of -------------------------------------------------------------------------------------------- */

PUT(event)
{
    const struct functions *functions = state;
    pf_set_lasting(vector, functions->of->event->name);
}

static const struct pf_frame_info *frame_of(const struct functions *functions)
{
    return functions->report.by_frame ? pf_report_frame(&functions->report, functions->row) : NULL;
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
    column->text(&functions->report, functions->row, &functions->cell);
    const char *text = functions->cell.data, *end = text + functions->cell.used;
    while (column != &pf_report_columns[PF_COLUMN_comm] && text < end && *text == ' ')
        text++;
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, text, (size_t)(end - text)));
}

/* Functions by their names, and modules by their paths: for programs. */
PUT(key)
{
    struct functions *functions = state;
    const struct pf_report_column *column = functions->report.keys_of[vector->column.index];
    if (column->value) {
        pf_set_u64(vector, column->value(&functions->report, functions->row));
    } else if (column == &pf_report_columns[PF_COLUMN_symbol]) {
        pf_set_lasting(vector, frame_of(functions)->name);
    } else if (column == &pf_report_columns[PF_COLUMN_dso]) {
        const struct pf_module *module = module_of(functions);
        pf_set_lasting(vector, module ? module->name : NULL);
    } else {
        put_text(functions, column, vector);
    }
}

PUT(build_id)
{
    const struct pf_module *module = module_of(state);
    pf_set_lasting(vector, module && *module->build_id ? module->build_id : NULL);
}

/* Of rows without a name: what tells them apart. */
PUT(address)
{
    const struct pf_frame_info *frame = frame_of(state);
    if (frame && !frame->name)
        pf_set_u64(vector, frame->address);
    else
        pf_set_null(vector);
}

PUT(kind)
{
    const struct pf_frame_info *frame = frame_of(state);
    pf_set_lasting(vector, frame ? pf_describe_kind(frame->kind) : NULL);
}

/* ---- what they weigh --------------------------------------------------------------------------------------------- */

PUT(samples)
{
    const struct functions *functions = state;
    pf_set_u64(vector, functions->row->samples);
}

PUT(self)
{
    const struct functions *functions = state;
    pf_set_u64(vector, functions->row->self);
}

PUT(total)
{
    const struct functions *functions = state;
    pf_set_u64(vector, pf_report_weight(&functions->report, functions->row));
}

PUT(unit)
{
    const struct functions *functions = state;
    char unit[64];
    pf_set_text(vector, perfile_event_unit(functions->of->event, unit, sizeof(unit)));
}

static const struct pf_column event_column = {.name = "event",
                                              .type = PERFILE_COLUMN_TEXT,
                                              .unit = "",
                                              .doc = "Name of the event.",
                                              .put = put_event,
                                              .required = true};
static const struct pf_column frame_columns[] = {
    {.name = "kind",
     .type = PERFILE_COLUMN_TEXT,
     .unit = "",
     .doc = "Where it ran: user, kernel, inlined, jit, unknown.",
     .put = put_kind},
    {.name = "address",
     .type = PERFILE_COLUMN_ADDRESS,
     .unit = "",
     .doc = "Of code without a symbol, its address in the file.",
     .put = put_address,
     .extra = true},
    {.name = "build_id",
     .type = PERFILE_COLUMN_TEXT,
     .unit = "",
     .doc = "Build id of the file as the recording has it, in hexadecimal.",
     .put = put_build_id},
};
static const struct pf_column weights[] = {
    {.name = "samples",
     .type = PERFILE_COLUMN_U64,
     .unit = "samples",
     .doc = "Samples that were in it.",
     .put = put_samples,
     .required = true},
    {.name = "self",
     .type = PERFILE_COLUMN_U64,
     .unit = "",
     .doc = "Period of these samples, in the unit of the event.",
     .put = put_self,
     .required = true},
    {.name = "total",
     .type = PERFILE_COLUMN_U64,
     .unit = "",
     .doc = "Period of the samples that have it anywhere in their stack; without stacks, as self.",
     .put = put_total,
     .required = true},
    {.name = "unit",
     .type = PERFILE_COLUMN_TEXT,
     .unit = "",
     .doc = "What the periods count: ns, cycles, events ...",
     .put = put_unit,
     .required = true},
};

static bool add_key(struct functions *functions, uint32_t index)
{
    const struct pf_report_column *key = functions->report.keys_of[index];
    const struct pf_column column = {.name = key->name,
                                     .alias = key->alias,
                                     .type = key->type,
                                     .unit = "",
                                     .doc = key->doc,
                                     .put = put_key,
                                     .index = index};
    return pf_table_add(functions->table, &column);
}

static bool add_columns(struct functions *functions)
{
    const struct pf_report *report = &functions->report;
    bool enough = pf_table_add(functions->table, &event_column);
    for (uint32_t i = 0; i < report->key_count_of && enough; i++)
        enough = add_key(functions, i);
    if (report->by_frame)
        enough = enough && pf_table_add_all(functions->table, frame_columns, PF_COUNT(frame_columns));
    return enough && pf_table_add_all(functions->table, weights, PF_COUNT(weights));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int next_row(void *state, struct perfile_error *error)
{
    struct functions *functions = state;
    const struct pf_report *report = &functions->report;
    (void)error;
    for (; functions->event < report->event_count; functions->event++, functions->next = 0) {
        functions->of = &report->events[functions->event];
        while (functions->next < functions->of->row_count) {
            functions->row = &functions->of->rows[functions->next++];
            if (pf_report_shows(report, functions->row))
                return 1;
        }
    }
    return 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static struct perfile_output_options options_of(const struct perfile_table *table,
                                                struct perfile_report_options *report)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    *report = *table->options.report;
    if (!report->sort)
        report->sort = "dso,symbol";
    report->call_graph = "none";
    options.filter = table->options.filter;
    options.symbols = table->options.symbols;
    options.report = report;
    options.threads = table->options.threads;
    options.progress = table->options.progress;
    options.progress_context = table->options.progress_context;
    options.unmatched = table->options.unmatched;
    options.unmatched_context = table->options.unmatched_context;
    options.allocator = table->allocator;
    return options;
}

static int open_functions(struct perfile_table *table, void **state, struct perfile_error *error)
{
    struct functions *functions = pf_new(table->allocator, sizeof(*functions));
    *state = functions;
    if (!functions)
        return pf_fail_memory(error, "functions");
    functions->table = table;
    functions->options = options_of(table, &functions->rows_by);
    if (pf_text_open(&functions->cell, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "functions");
    functions->open = true;
    const int result = pf_report_open(&functions->report, table->reader, &functions->options, false, error);
    if (result < 0)
        return result;
    return add_columns(functions) ? 0 : pf_fail_memory(error, "functions");
}

static void close_functions(void *state)
{
    struct functions *functions = state;
    if (!functions)
        return;
    if (functions->open) {
        pf_report_close(&functions->report);
        pf_text_close(&functions->cell);
    }
    pf_free(functions->table->allocator, functions, sizeof(*functions));
}

static void losses(const void *state, struct perfile_losses *losses)
{
    const struct functions *functions = state;
    pf_profile_losses(functions->report.profile, losses);
}

const struct pf_view pf_view_functions = {
    .info = {"functions", "for each event the functions, with the samples that were in them and in what they called"},
    .open = open_functions,
    .next = next_row,
    .close = close_functions,
    .losses = losses,
};
