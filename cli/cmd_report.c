/* SPDX-License-Identifier: MIT */
#include "options.h"

#define AT(member) offsetof(struct pf_settings, report.member)
#define FLAG(option, short_option, bit, text)                                                                          \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_BITS, .offset = AT(flags), .bits = bit, .doc = text  \
    }
#define TEXT(option, short_option, value, member, text)                                                                \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_TEXT, .argument = value, .offset = AT(member),       \
        .doc = text                                                                                                    \
    }

static const char *column_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return perfile_report_column_at(index, doc);
}

static const char *percentage_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const char *const values[][2] = {
        {"absolute", "of all samples of the event, also of those that filters leave out; the default"},
        {"relative", "of the samples that filters let pass"},
    };

    (void)command;
    if (index >= sizeof(values) / sizeof(values[0]))
        return NULL;
    *doc = values[index][1];
    return values[index][0];
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    {.name = "sort",
     .letter = 's',
     .kind = PF_OPTION_LIST,
     .argument = "LIST",
     .offset = AT(sort),
     .value_at = column_at,
     .doc =
         "The columns that rows are made by and sorted by, separated by commas; perfile-report(1) has them all. +LIST "
         "adds to the default, which is comm,dso,symbol, and trace where all events are tracepoints. By the weight "
         "of rows first, unless the list has overhead, too."},
    {.name = "fields",
     .letter = 'F',
     .kind = PF_OPTION_FIELDS,
     .argument = "LIST",
     .offset = offsetof(struct pf_settings, fields),
     .value_at = column_at,
     .doc = "The columns to print, in this order; rows are made by and sorted by these, too. +LIST adds to what is "
            "printed anyway."},
    FLAG("group", 0, PERFILE_REPORT_GROUP,
         "text: show all events side by side in one table. Events that were recorded as a group are anyway."),
    FLAG("no-group", 0, PERFILE_REPORT_NO_GROUP, "text: a table for each event, also of groups."),
    FLAG("show-nr-samples", 'n', PERFILE_REPORT_SAMPLES, "Show the number of samples, too."),
    FLAG("show-total-period", 0, PERFILE_REPORT_PERIOD, "Show the sum of the periods, too."),
    FLAG("show-cpu-utilization", 0, PERFILE_REPORT_MODES, "Show the shares of kernel and user space, too."),
    {.name = "percentage",
     .kind = PF_OPTION_CHOICE,
     .argument = "HOW",
     .offset = AT(percentage),
     .value_at = percentage_at,
     .doc = "What shares are of."},
    TEXT("percent-limit", 0, "PERCENT", percent_limit,
         "Leave out rows, and branches of call graphs, below this share."),
    TEXT("dsos", 'd', "LIST", dsos, "Only samples in these files: libc.so.6,make."),
    TEXT("symbols", 'S', "LIST", symbols,
         "Only samples in these functions; compute is also geometry::compute<int>(double)."),
    TEXT("symbol-filter", 0, "TEXT", symbol_filter, "Only samples in functions whose names have this text in them."),
    FLAG("hide-unresolved", 'U', PERFILE_REPORT_RESOLVED, "Only samples and callers that have a symbol."),
    TEXT("time-quantum", 0, "TIME", time_quantum, "The steps of the column time, such as 1s or 20us [100ms]."),
    TEXT("parent", 'p', "REGEX", parent,
         "What the column parent looks for in stacks, an extended regular expression [^sys_|^do_page_fault]. Adds the "
         "column."),
    FLAG("exclude-other", 'x', PERFILE_REPORT_ONLY_PARENT, "Only samples with such a parent."),
    {.name = "ns",
     .kind = PF_OPTION_FLAG,
     .offset = offsetof(struct pf_settings, print.nanoseconds),
     .doc = "Show times in nanoseconds."},
    FLAG("branch-stack", 'b', PERFILE_REPORT_BRANCHES,
         "Sum up the taken branches of the samples: each weighs 1, by comm,dso_from,symbol_from,symbol_to,cycles. The "
         "default where branches were recorded."),
    FLAG("no-branch-stack", 0, PERFILE_REPORT_NO_BRANCHES, "Sum up the samples, also where branches were recorded."),
    FLAG("mem-mode", 0, PERFILE_REPORT_MEMORY,
         "Sum up memory accesses: each weighs what it cost, by local_weight,mem,symbol,dso,dso_daddr,snoop,tlb,locked,"
         "blocked."),
    FLAG("hierarchy", 'H', PERFILE_REPORT_HIERARCHY,
         "A tree with a level for each column of --sort: each entry has the sums of what is below it. {a,b} in --sort "
         "makes one level of several columns."),
    FLAG("tasks", 0, PERFILE_REPORT_TASKS,
         "Print no rows, but all processes and threads of the recording, each below the one that started it."),
    TEXT("column-widths", 'w', "LIST", widths,
         "text: fixed widths of the columns, such as 8,20; longer texts are cut."),
    TEXT("field-separator", 't', "TEXT", separator, "csv: what stands between two fields [,]."),
    PF_OPTION_OUTPUT,
    {.name = "stdio", .kind = PF_OPTION_IGNORE, .doc = "Accepted because perf has it: the output is always text."},
    {0},
};
static const struct pf_option_group group = {"Options", options};

static const struct pf_option graphs[] = {
    FLAG("children", 0, PERFILE_REPORT_CHILDREN,
         "Have a row for every function that is anywhere in a stack, with the sum of what it called. The default where "
         "there are callchains."),
    FLAG("no-children", 0, PERFILE_REPORT_NO_CHILDREN, "Have rows for the functions only that were running."),
    {.name = "call-graph",
     .letter = 'g',
     .kind = PF_OPTION_TEXT,
     .argument = "[HOW]",
     .usual = "graph,0.5,caller",
     .offset = AT(call_graph),
     .doc = "The graph below each row: none; caller (from the caller to what it called; the default with children), "
            "callee (from the function to who called it); fractal (shares of the branch above instead of all); a "
            "percentage below which branches are left out [0.5]. Several are separated by commas; without HOW it is "
            "graph,0.5,caller. In json: print the graphs at all."},
    FLAG("inverted", 'G', PERFILE_REPORT_INVERTED, "The same as --call-graph caller."),
    {.name = "max-stack",
     .kind = PF_OPTION_NUMBER,
     .argument = "N",
     .offset = AT(max_stack),
     .doc = "Look at the N innermost frames of a stack only."},
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    {0},
};
static const struct pf_option_group graph_group = {"Callchains", graphs};

const struct pf_command pf_command_report = {
    .name = "report",
    .summary = "where the samples are: functions, files, threads by their share",
    .doc = "Sums up the samples of each event by thread, file and function (or what --sort says) and prints the rows "
           "by their share, with the call graph of each where callchains were recorded. Shares are of all samples of "
           "the event in the chosen time, on the chosen processors, also when other filters leave some of them out.",
    .operand = "[FILE]",
    .operand_max = 1,
    .pages = true,
    .groups = {&group, &graph_group, &pf_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group,
               &pf_common_group},
    .run = pf_run_output,
};
