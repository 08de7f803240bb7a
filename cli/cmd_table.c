/* SPDX-License-Identifier: MIT */
#include "help.h"
#include "message.h"
#include "rows.h"

#include <string.h>
#include <unistd.h>

/* ---- the views, which are rows, too ---- */

static const struct perfile_column *const columns[] = {PF_COLUMN("view", PERFILE_COLUMN_TEXT, "The name of a view."),
                                                       PF_COLUMN("doc", PERFILE_COLUMN_TEXT, "What its rows are.")};

static void put_cell(void *context, size_t row, size_t column, struct perfile_value *value)
{
    const struct perfile_view_info *info = perfile_view_at(row);

    (void)context;
    *value = pf_text_value(column ? info->doc : info->name);
}

static int list_views(const struct pf_command *command, const struct pf_settings *settings)
{
    struct pf_rows rows = {"views", columns, sizeof(columns) / sizeof(columns[0]), 0, put_cell, NULL};

    while (perfile_view_at(rows.row_count))
        rows.row_count++;
    return pf_rows_print(&rows, command->name, settings->output, settings->format);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (!settings->operand_count && !settings->format && !settings->output && isatty(STDOUT_FILENO))
        return pf_help_operands(command);
    if (!settings->operand_count)
        return list_views(command, settings);
    settings->view = *settings->operands++;
    settings->operand_count--;
    settings->calls = !strcmp(settings->view, "calls");
    return pf_run_output(command, settings);
}

static const struct pf_option options[] = {
    PF_OPTION_TABLE_FORMAT,
    PF_ROW(LIST, "columns", 0, "LIST", PF_AT(columns),
           "Columns to print, in order: pid,comm,symbol (+NAME adds to the default, -NAME removes from it, all: every "
           "column)."),
    PF_ROW(LIST, "sort", 's', "COLUMNS", PF_AT(report.sort),
           "functions: the columns to group rows by, as in report [dso,symbol]."),
    PF_ROW(LIST, "by", 0, "KEYS", PF_AT(keys),
           "stacks: separate samples by pid, tid, comm, cpu, cgroup, time, or several of them; stack: a row for each "
           "stack, whatever the event. frames: function: a row for each function."),
    PF_ROW(
        TEXT, "symbols", 'S', "LIST", PF_AT(report.symbols),
        "functions, instructions, lines: only these functions; compute also matches geometry::compute<int>(double)."),
    PF_ROW(TEXT, "dsos", 'd', "LIST", PF_AT(report.dsos),
           "functions, instructions, lines: only functions in these files: libc.so.6,make."),
    PF_ROW(TEXT, "source-dir", 0, "DIR[:DIR...]", PF_AT(symbols.source_dirs),
           "instructions, lines: look for source files in these folders first."),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_ITRACE,
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_table = {
    .name = "table",
    .summary = "print a recording as a table: text, csv, json, parquet, arrow",
    .doc =
        "Prints a view of the recording, with a row for each sample, function, thread and so on. Without VIEW it "
        "lists the views. json describes the columns with their types and units; numbers are exact and in base "
        "units (ns, bytes). parquet and arrow are binary, for DuckDB, ClickHouse, pyarrow and the like. perfile table "
        "VIEW record records the events of a view of events, with the options of perfile record.",
    .operand = "[VIEW [FILE]] | VIEW record [COMMAND [ARGUMENT...]]",
    .operand_max = 2,
    .usual_view = "samples",
    .operand_values = {.known = pf_view_at},
    .pages = true,
    .groups = {PF_GROUP("Options", options), PF_SAMPLE_GROUPS},
    .run = run,
};
