/* SPDX-License-Identifier: MIT */
/* perf mem report: the report of memory accesses. */
#include "message.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    bool phys_data, data_page_size, type_profile;
};

static const struct pf_subview views[] = {
    {"report", "report", false, "accesses by cost: where the data came from, which code, which data"},
    {0},
};

static const char *format_at(size_t index, const char **doc)
{
    return pf_format_at(pf_command_find("report"), index, doc);
}

static const struct pf_value types[] = {
    {"load", "with the columns of loads"},
    {"store", "without weights, which stores do not have"},
    {"load,store", "with all columns; the default"},
    {0},
};

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

    return lists[stores][pf_own(settings)->phys_data][pf_own(settings)->data_page_size];
}

/* The list of --sort, or the shorter default, and what is always added to them; NULL when out of memory. */
static char *sort_by_type(const struct pf_settings *settings)
{
    const char *asked = settings->report.sort ? settings->report.sort : "mem,snoop,tlb";
    char *list;
    const int length = asprintf(&list, "%s,type%s%s", asked, pf_own(settings)->phys_data ? ",phys_daddr" : "",
                                pf_own(settings)->data_page_size ? ",data_page_size" : "");
    return length < 0 ? NULL : list;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const struct pf_subview *view = pf_subview_choose(command, settings, views);

    char *by_type = pf_own(settings)->type_profile ? sort_by_type(settings) : NULL;

    settings->report.flags |= PERFILE_REPORT_MEMORY | PERFILE_REPORT_SAMPLES;
    if (pf_own(settings)->type_profile && !by_type) {
        pf_message("mem: out of memory");
        return PF_STATUS_MEMORY;
    }
    if (by_type || !settings->report.sort)
        settings->report.sort = by_type ? by_type : sort_of(settings);
    if (settings->report.separator && !settings->format)
        settings->format = "csv";
    settings->kind = view->view;
    const int status = pf_run_view(command, settings);
    free(by_type);
    return status;
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT_OF(.known = format_at),
    PF_VALUES(LIST, "sort", 's', "LIST", PF_AT(report.sort), .known = perfile_report_column_at,
              "The columns to group and sort rows by, separated by commas; perfile-report(1) lists them. +LIST adds to "
              "the default: local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,"
              "local_p_stage_cyc.",
              .first = true),
    PF_VALUES(FIELDS, "fields", 'F', "LIST", PF_AT(fields), .known = perfile_report_column_at,
              "The columns to print, in this order; rows are grouped and sorted by these, too."),
    PF_VALUES(CHOICE, "type", 't', "TYPE", PF_AT(events.classes), .table = types,
              "Which columns are the default: those of loads, of stores, or of both."),
    PF_FLAG("phys-data", 'p', PF_OWN(phys_data), "Also by the physical address of the data."),
    PF_FLAG("type-profile", 'T', PF_OWN(type_profile),
            "Also by the type of the data. Without --sort, rows are of mem,snoop,tlb,type."),
    PF_FLAG("data-page-size", 0, PF_OWN(data_page_size), "Also by the size of its page."),
    PF_BITS("hide-unresolved", 'U', PF_AT(report.flags), PERFILE_REPORT_RESOLVED,
            "Only samples with a known function."),
    PF_ROW(TEXT, "percent-limit", 0, "PERCENT", PF_AT(report.percent_limit), "Hide rows below this percentage."),
    PF_ROW(TEXT, "field-separator", 'x', "TEXT", PF_AT(report.separator), "Print csv with TEXT between fields."),
    PF_FLAG("stdio", 0, PF_AT(stdio), "Print perf's text, also on a terminal."),
    PF_OPTION_NO_INLINE,
    PF_OPTION_ITRACE,
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_mem = {
    .name = "mem",
    .summary = "report memory accesses by cost: levels, latencies, addresses",
    .doc =
        "Adds up sampled memory accesses by where the data came from, what it cost, the function and the data; it is "
        "perfile report --mem-mode, with the columns of perf mem report. perfile mem record "
        "records them if the processor supports it, with the options of perfile record. "
        "VIEW may be left out: report." PF_SHOWS_COMMAND,
    PF_SUBVIEWS_USUAL(views, 2, "report"),
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), PF_SAMPLE_GROUPS},
    .run = run,
};
