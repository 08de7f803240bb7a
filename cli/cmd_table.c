/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "stream.h"

#include <perfile/table.h>

/* ---- the views, which are rows, too ---- */

#define COLUMN(what, text)                                                                                             \
    &(const struct perfile_column)                                                                                     \
    {                                                                                                                  \
        .size = sizeof(struct perfile_column), .name = what, .type = PERFILE_COLUMN_TEXT, .doc = text                  \
    }
static const struct perfile_column *const columns[] = {COLUMN("view", "The name of a view."),
                                                       COLUMN("doc", "What its rows are.")};

static int next_view(void *context, struct perfile_error *error)
{
    size_t *next = context;

    (void)error;
    return perfile_view_at(*next) && ++*next;
}

static void put_cell(void *context, size_t column, struct perfile_value *value)
{
    const struct perfile_view_info *info = perfile_view_at(*(const size_t *)context - 1);
    const char *text = column ? info->doc : info->name;

    *value = (struct perfile_value){.kind = PERFILE_VALUE_TEXT, .data = (const uint8_t *)text, .bytes = strlen(text)};
}

static int list_views(const struct pf_command *command, const struct pf_settings *settings)
{
    size_t next = 0;
    struct perfile_rows rows = PERFILE_ROWS_INIT;
    struct pf_stream out;
    int status = pf_stream_open(&out, settings->output), written;

    if (status)
        return status;
    rows.view = "views";
    rows.columns = columns;
    rows.column_count = sizeof(columns) / sizeof(columns[0]);
    rows.next = next_view;
    rows.value = put_cell;
    rows.context = &next;
    status = pf_stream_put_rows(&out, command->name, &rows, settings->format);
    written = pf_stream_close(&out, !status);
    return written ? written : status;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (!settings->operand_count)
        return list_views(command, settings);
    settings->view = *settings->operands++;
    settings->operand_count--;
    return pf_run_output(command, settings);
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT_OF(pf_table_format_at),
    {.name = "columns",
     .kind = PF_OPTION_LIST,
     .argument = "LIST",
     .offset = offsetof(struct pf_settings, columns),
     .doc = "The columns, in this order: pid,comm,symbol. +NAME adds to the default, -NAME removes from it, all "
            "selects every column."},
    {.name = "sort",
     .letter = 's',
     .kind = PF_OPTION_LIST,
     .argument = "COLUMNS",
     .offset = offsetof(struct pf_settings, report.sort),
     .doc = "functions: what rows are of, as in report [dso,symbol]."},
    {.name = "by",
     .kind = PF_OPTION_LIST,
     .argument = "KEYS",
     .offset = offsetof(struct pf_settings, keys),
     .doc =
         "stacks: keep samples apart by pid, tid, comm, cpu, cgroup, time, or several of them; stack: a row for each "
         "stack, whatever the event. frames: function: a row for each function."},
    {.name = "symbols",
     .letter = 'S',
     .kind = PF_OPTION_TEXT,
     .argument = "LIST",
     .offset = offsetof(struct pf_settings, report.symbols),
     .doc =
         "functions, instructions, lines: only these functions; compute also matches geometry::compute<int>(double)."},
    {.name = "dsos",
     .letter = 'd',
     .kind = PF_OPTION_TEXT,
     .argument = "LIST",
     .offset = offsetof(struct pf_settings, report.dsos),
     .doc = "functions, instructions, lines: only functions in these files: libc.so.6,make."},
    {.name = "source-dir",
     .kind = PF_OPTION_TEXT,
     .argument = "DIR[:DIR...]",
     .offset = offsetof(struct pf_settings, symbols.source_dirs),
     .doc = "instructions, lines: look for source files in these folders first."},
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

const struct pf_command pf_command_table = {
    .name = "table",
    .summary = "print a recording as a table of typed columns: text, csv, json, jsonl, parquet, arrow",
    .doc = "Prints a view of the recording, with a row for each sample, function, thread and so on. Without VIEW it "
           "lists the views. json describes the columns with their types and units; numbers are exact and in base "
           "units (ns, bytes). parquet and arrow are binary, for DuckDB, ClickHouse, pyarrow and the like.",
    .examples = "table\n"
                "table samples --format csv perf.data\n"
                "table functions --format parquet -o functions.parquet perf.data",
    .operand = "[VIEW [FILE]]",
    .operand_max = 2,
    .operand_at = pf_view_at,
    .pages = true,
    .groups = {&group, &pf_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
