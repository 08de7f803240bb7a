/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <perfile/table.h>

static const char *format_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return perfile_table_format_at(index, doc);
}

static const char *view_at(const struct pf_command *command, size_t index, const char **doc)
{
    const struct perfile_view_info *info = perfile_view_at(index);

    (void)command;
    if (!info)
        return NULL;
    if (doc)
        *doc = info->doc;
    return info->name;
}

static int list_views(const struct pf_settings *settings)
{
    struct pf_stream out;
    const struct perfile_view_info *info;
    int status = pf_stream_open(&out, settings->output);

    if (status)
        return status;
    for (size_t i = 0; (info = perfile_view_at(i)); i++)
        pf_stream_print(&out, "%-12s  %s\n", info->name, info->doc);
    return pf_stream_close(&out, true);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (!settings->operand_count)
        return list_views(settings);
    settings->view = *settings->operands++;
    settings->operand_count--;
    return pf_run_output(command, settings);
}

static const struct pf_option options[] = {
    {.name = "format",
     .kind = PF_OPTION_CHOICE,
     .argument = "FORMAT",
     .offset = offsetof(struct pf_settings, format),
     .value_at = format_at,
     .doc = "The output format."},
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
     .doc = "stacks: keep samples apart by pid, tid, comm, cpu, cgroup, time, or several of them; stack: a row for each "
            "stack, whatever the event. frames: function: a row for each function."},
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
    .operand = "[VIEW [FILE]]",
    .operand_max = 2,
    .operand_at = view_at,
    .pages = true,
    .groups = {&group, &pf_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
