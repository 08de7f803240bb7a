/* SPDX-License-Identifier: MIT */
/* perf mem report: the report of memory accesses. */
#include "views.h"

#include <string.h>

struct settings {
    bool phys_data, data_page_size;
};

static struct settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

static const struct pf_subview views[] = {
    {"report", "report", false, "accesses by cost: where the data came from, which code, which data"},
    {0},
};

static const char *column_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return perfile_report_column_at(index, doc);
}

static const char *format_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return pf_format_at(pf_command_find("report"), index, doc);
}

static const char *type_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const struct pf_value values[] = {
        {"load", "with the columns of loads"},
        {"store", "without weights, which stores do not have"},
        {"load,store", "with all columns; the default"},
        {0},
    };

    (void)command;
    return pf_value_of(values, index, doc);
}

/* The default of perf mem report for --sort; NULL: the default of report. */
static const char *sort_of(const struct pf_settings *settings)
{
#define LOADS "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked"
#define STORES "mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked"
    static const char *const lists[2][2][2] = {
        {{NULL, LOADS ",data_page_size"}, {LOADS ",phys_daddr", LOADS ",phys_daddr,data_page_size"}},
        {{STORES, STORES ",data_page_size"}, {STORES ",phys_daddr", STORES ",phys_daddr,data_page_size"}},
    };
    const bool stores = settings->events.classes && !strcmp(settings->events.classes, "store");

    return lists[stores][own(settings)->phys_data][own(settings)->data_page_size];
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const struct pf_subview *view = pf_subview_choose(command, settings, views);

    if (!view)
        return PF_STATUS_USAGE;
    settings->report.flags |= PERFILE_REPORT_MEMORY | PERFILE_REPORT_SAMPLES;
    if (!settings->report.sort)
        settings->report.sort = sort_of(settings);
    if (settings->report.separator && !settings->format)
        settings->format = "csv";
    settings->kind = view->view;
    return pf_run_output(command, settings);
}

#define AT(member) offsetof(struct pf_settings, member)
static const struct pf_option options[] = {
    PF_OPTION_FORMAT_OF(format_at),
    {.name = "sort",
     .first = true,
     .letter = 's',
     .kind = PF_OPTION_LIST,
     .argument = "LIST",
     .offset = AT(report.sort),
     .value_at = column_at,
     .doc = "The columns to group and sort rows by, separated by commas; perfile-report(1) lists them. +LIST adds to "
            "the default: local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,"
            "local_p_stage_cyc."},
    {.name = "fields",
     .letter = 'F',
     .kind = PF_OPTION_FIELDS,
     .argument = "LIST",
     .offset = AT(fields),
     .value_at = column_at,
     .doc = "The columns to print, in this order; rows are grouped and sorted by these, too."},
    {.name = "type",
     .letter = 't',
     .kind = PF_OPTION_CHOICE,
     .argument = "TYPE",
     .offset = AT(events.classes),
     .value_at = type_at,
     .doc = "Which columns are the default: those of loads, of stores, or of both."},
    {.name = "phys-data",
     .letter = 'p',
     .kind = PF_OPTION_FLAG,
     PF_OWN(phys_data),
     .doc = "Also by the physical address of the data."},
    {.name = "data-page-size", .kind = PF_OPTION_FLAG, PF_OWN(data_page_size), .doc = "Also by the size of its page."},
    {.name = "hide-unresolved",
     .letter = 'U',
     .kind = PF_OPTION_BITS,
     .offset = AT(report.flags),
     .bits = PERFILE_REPORT_RESOLVED,
     .doc = "Only samples with a known function."},
    {.name = "percent-limit",
     .kind = PF_OPTION_TEXT,
     .argument = "PERCENT",
     .offset = AT(report.percent_limit),
     .doc = "Hide rows below this percentage."},
    {.name = "field-separator",
     .letter = 'x',
     .kind = PF_OPTION_TEXT,
     .argument = "TEXT",
     .offset = AT(report.separator),
     .doc = "Print csv with TEXT between fields."},
    {.name = "stdio", .kind = PF_OPTION_FLAG, .offset = AT(stdio), .doc = "Print perf's text, also on a terminal."},
    PF_OPTION_NO_INLINE,
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

const struct pf_command pf_command_mem = {
    .name = "mem",
    .summary = "report memory accesses by cost: levels, latencies, data addresses",
    .doc =
        "Adds up sampled memory accesses by where the data came from, what it cost, the function and the data; it is "
        "perfile report --mem-mode, with the columns of perf mem report. perfile mem record "
        "records them if the processor supports it, with the options of perfile record.",
    .operand = "VIEW [FILE] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 2,
    .operand_at = pf_subview_at,
    .views = views,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {&group, PF_SAMPLE_GROUPS},
    .run = run,
};
