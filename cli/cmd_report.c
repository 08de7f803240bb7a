/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "options.h"
#include "picture.h"
#include "profile_file.h"
#include "profile_table.h"
#include "sandbox.h"
#include "tui/tui.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) PF_AT(report.member)
#define FLAG(option, short_option, bit, ...) PF_BITS(option, short_option, AT(flags), bit, __VA_ARGS__)
#define HEADER(option, short_option, bit, text) PF_BITS(option, short_option, PF_AT(print.header), bit, text)
#define TEXT(option, short_option, value, member, ...)                                                                 \
    PF_ROW(TEXT, option, short_option, value, AT(member), __VA_ARGS__)

static const struct pf_value percentages[] = {
    {"absolute", "of all samples of the event, including those that filters leave out; the default"},
    {"relative", "of the samples that pass the filters"},
    {0},
};

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    PF_VALUES(LIST, "sort", 's', "LIST", AT(sort), .known = perfile_report_column_at,
              "The columns to group and sort rows by, separated by commas; perfile-report(1) lists them. +LIST adds to "
              "the default, which is comm,dso,symbol, or trace if all events are tracepoints. Rows are sorted by "
              "overhead first, unless the list has overhead itself.",
              .first = true),
    PF_VALUES(
        FIELDS, "fields", 'F', "LIST", PF_AT(fields), .known = perfile_report_column_at,
        "The columns to print, in this order; rows are grouped and sorted by these, too. +LIST adds to the default."),
    PF_OPTIONS_SWITCH,
    PF_OPTION_OFF_CPU,
    FLAG("group", 0, PERFILE_REPORT_GROUP,
         "text: show all events side by side in one table. The default for events that were recorded as a group."),
    FLAG("no-group", 0, PERFILE_REPORT_NO_GROUP, "text: a table for each event, even in groups."),
    FLAG(
        "latency", 0, PERFILE_REPORT_LATENCY,
        "Sort by latency, and show it beside the overhead: a sample weighs its period divided by the number of threads "
        "that ran, which is its share in the time that passed. For recordings of record --latency."),
    TEXT("parallelism", 0, "LIST", parallelism,
         "Only samples at whose time so many recorded threads ran: 1 or 1,3-5. For recordings of record --latency."),
    FLAG("show-nr-samples", 'n', PERFILE_REPORT_SAMPLES, "Also show the number of samples."),
    FLAG("show-total-period", 0, PERFILE_REPORT_PERIOD, "Also show the sum of the periods."),
    FLAG("show-cpu-utilization", 0, PERFILE_REPORT_MODES, "Also show the percentages of kernel and user space."),
    PF_VALUES(CHOICE, "percentage", 0, "HOW", AT(percentage), .table = percentages,
              "What percentages are relative to."),
    TEXT("percent-limit", 0, "PERCENT", percent_limit, "Hide rows and call graph branches below this percentage.",
         .first = true),
    TEXT("dsos", 'd', "LIST", dsos, "Only samples in these files: libc.so.6,make.", .first = true),
    TEXT("symbols", 'S', "LIST", symbols,
         "Only samples in these functions, or where they are inlined; compute also matches "
         "geometry::compute<int>(double), and * and ? stand for any text and character.",
         .first = true),
    TEXT("symbol-filter", 0, "TEXT", symbol_filter,
         "Only samples in functions, inlined ones included, whose names contain this text."),
    FLAG("hide-unresolved", 'U', PERFILE_REPORT_RESOLVED, "Only samples and callers with a symbol."),
    TEXT("time-quantum", 0, "TIME", time_quantum, "The resolution of the column time, such as 1s or 20us [100ms]."),
    TEXT("parent", 'p', "REGEX", parent,
         "Add the column parent, which shows the first caller that matches this extended regular expression "
         "[^sys_|^do_page_fault]."),
    FLAG("exclude-other", 'x', PERFILE_REPORT_ONLY_PARENT, "Only samples with a parent that matches --parent."),
    PF_FLAG("ns", 0, PF_AT(print.nanoseconds), "Show times in nanoseconds."),
    FLAG("branch-stack", 'b', PERFILE_REPORT_BRANCHES,
         "Aggregate the taken branches of the samples, each counted as 1, by "
         "comm,dso_from,symbol_from,symbol_to,cycles. The default where branches were recorded."),
    FLAG(
        "branch-history", 0, PERFILE_REPORT_HISTORY,
        "Aggregate the samples, by srcline,symbol,dso, with the branches before them as the beginning of their stacks: "
        "how the program came to them."),
    FLAG("no-branch-stack", 0, PERFILE_REPORT_NO_BRANCHES, "Aggregate the samples even where branches were recorded."),
    FLAG("mem-mode", 0, PERFILE_REPORT_MEMORY,
         "Aggregate memory accesses, weighted by their cost, by local_weight,mem,symbol,dso,dso_daddr,snoop,tlb,locked,"
         "blocked."),
    FLAG("hierarchy", 'H', PERFILE_REPORT_HIERARCHY,
         "Print a tree with a level for each column of --sort; each entry sums up what is below it. {a,b} in --sort "
         "makes one level of several columns."),
    FLAG("total-cycles", 0, PERFILE_REPORT_BLOCKS,
         "Print the cycles of basic blocks instead, where branch stacks have cycles, the most expensive first."),
    FLAG("tasks", 0, PERFILE_REPORT_TASKS,
         "Print all processes and threads of the recording instead, each below its parent."),
    FLAG("mmaps", 0, PERFILE_REPORT_MMAPS,
         "The same with the mappings that each process had at last. For programs: table maps."),
    FLAG("stats", 0, PERFILE_REPORT_STATS,
         "Print the number of records of each type instead, and of samples by event."),
    HEADER("header", 0, PERFILE_HEADER_FIRST, "text: print the header of the recording first, as perf does."),
    HEADER("header-only", 0, PERFILE_HEADER_ONLY, "text: print only the header."),
    HEADER("show-info", 'I', PERFILE_HEADER_FULL, "With the header: processors, caches and memory in full."),
    PF_OPTION_DUMP,
    PF_OPTION_ITRACE,
    PF_OPTION_STDIO_COLOR,
    TEXT("column-widths", 'w', "LIST", widths, "text: fixed column widths, such as 8,20; longer texts are truncated."),
    PF_ROW(
        NUMBER, "fit", 0, "N", AT(columns),
        "text: fit the table into N columns, as on a terminal: names are shortened, the summary is short, and call "
        "graphs are printed with -g only. The default on a terminal is its width, elsewhere any width, with complete "
        "names and the function last, unless there is --column-widths."),
    PF_ROW(NUMBER, "top", 0, "N", AT(top),
           "Only the first N rows of each event; of a hierarchy, the first N entries of the outermost level. The "
           "default of text in a pipe or file is 30."),
    PF_FLAG("all-rows", 0, PF_AT(all_rows),
            "Print all rows also in a pipe or file, or on a terminal without a cursor."),
    PF_OPTION_FAIL_EMPTY,
    TEXT("field-separator", 't', "TEXT", separator, "csv: the field separator [,]."),
    PF_OPTION_OUTPUT,
    PF_FLAG("open", 0, PF_AT(shows),
            "html: open the file in a browser: $BROWSER, or what xdg-open finds. Without --output it is report.html in "
            "the current folder, as it is when standard output is a terminal; a file that is there is renamed to "
            "report.html.old."),
    PF_OPTION_CODE,
    PF_OPTION_SOURCE_DIR,
    PF_OPTIONS_PREFIX,
    PF_FLAG("full-source-path", 0, PF_AT(symbols.full_source_path),
            "In the columns of source lines, print files with their directories."),
    PF_IGNORED("disassembler-style", 'M', "STYLE", "Ignored, for compatibility with perf: it is for annotate."),
    PF_FLAG("stdio", 0, PF_AT(stdio),
            "Print perf's text, with all rows and call graphs, also on a terminal. The default when called perf."),
    PF_FLAG("tui", 0, PF_AT(tui),
            "Show the interactive view, which is the default on a terminal, unless an option requires text; an error "
            "if it cannot be shown."),
    {0},
};

static const struct pf_option graphs[] = {
    FLAG("children", 0, PERFILE_REPORT_CHILDREN,
         "Add each sample to all functions in its stack, not only to the one that was running. The default if there "
         "are callchains.",
         .first = true),
    FLAG("no-children", 0, PERFILE_REPORT_NO_CHILDREN, "Only count the functions that were running.", .first = true),
    PF_ROW(TEXT, "call-graph", 'g', "[HOW]", AT(call_graph),
           "The call graph below each row: none; caller (from callers to callees; the default with --children) or "
           "callee (from the function to its callers); graph, fractal (percentages relative to the parent branch), "
           "flat (a list of stacks) or folded (a line for each stack); function, address or srcline (what makes a "
           "branch); percent, period or count (its number); a percentage below which branches are hidden [0.5], and "
           "after it how many branches of each level are shown. Several are separated by commas; the default HOW is "
           "graph,0.5,caller. json: adds graphs, a list for each row.",
           .first = true, .usual = "graph,0.5,caller"),
    FLAG("inverted", 'G', PERFILE_REPORT_INVERTED, "The same as --call-graph caller."),
    PF_ROW(NUMBER, "max-stack", 0, "N", AT(max_stack), "Only use the N innermost frames of a stack."),
    PF_ROW(NUMBER, "max-nodes", 0, "N", AT(max_nodes),
           "Keep at most N nodes in call graphs (functions below their callers), about 56 bytes each. Samples with "
           "further callers are then counted without these, and a note says how many. The default is as many as fit "
           "into three quarters of the machine's memory."),
    TEXT("ignore-callees", 0, "REGEX", ignore_callees,
         "Count samples below a function that matches this extended regular expression as its own: what it calls is "
         "left out."),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_STITCH,
    {0},
};

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* Every other option needs the samples of a recording. */
static bool asks_for_samples(const struct pf_settings *settings)
{
    const struct perfile_report_options *report = &settings->report;
    const unsigned known = PERFILE_REPORT_SAMPLES | PERFILE_REPORT_CHILDREN | PERFILE_REPORT_NO_CHILDREN |
                           PERFILE_REPORT_NO_GROUP | PERFILE_REPORT_NO_HEADER;
    const char *const others[] = {settings->print.fields, settings->output,      report->dsos,
                                  report->symbols,        report->symbol_filter, report->parent,
                                  report->call_graph,     report->time_quantum,  report->percent_limit,
                                  report->ignore_callees, report->parallelism};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i])
            return true;
    return report->flags & ~known || settings->dumps || settings->print.header ||
           (settings->format && strcmp(settings->format, "text") != 0);
}

static bool has_callers(const struct perfile_profile *profile)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;

    for (size_t i = 0; perfile_profile_stack_at(profile, i, &stack) == 0; i++)
        if (stack.parent != PERFILE_NO_ID)
            return true;
    return false;
}

static bool has_names(const struct perfile_profile *profile)
{
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;

    return perfile_profile_sample_at(profile, 0, &sample) == 0 && sample.comm;
}

static int print_profile(const struct pf_settings *settings, const struct perfile_profile *profile)
{
    enum { USUAL_ROWS = 30 };
    const struct perfile_report_options *report = &settings->report;
    const struct pf_profile_table table = {"report", "",
                                           report->top          ? report->top
                                           : settings->all_rows ? UINT64_MAX
                                                                : USUAL_ROWS};
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    struct pf_profile_columns columns;
    int status = pf_profile_columns_choose(&columns, "report",
                                           report->sort         ? report->sort
                                           : has_names(profile) ? "comm,dso,symbol"
                                                                : "dso,symbol",
                                           profile);

    columns.children = !(report->flags & PERFILE_REPORT_NO_CHILDREN) && has_callers(profile);
    columns.samples = report->flags & PERFILE_REPORT_SAMPLES;
    for (uint32_t i = 0; !status && perfile_profile_event_at(profile, i, &event) == 0; i++)
        if (!settings->filter.events || !strcmp(settings->filter.events, event.name))
            status = pf_profile_table_print(profile, i, &columns, &table);
    free(columns.names);
    if (status || (fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE)
        return status;
    pf_message("report: cannot write: %s", strerror(errno));
    return PF_STATUS_OUTPUT;
}

static int report_nothing(void *context)
{
    (void)context;
    return PF_STATUS_OK;
}

/* In the interactive view. */
static int show_profile(const struct pf_command *command, struct pf_settings *settings,
                        const struct perfile_profile *profile)
{
    const struct pf_tui_end end = {report_nothing, NULL};
    struct pf_input input = {
        .command = command, .settings = settings, .name = settings->operands[0], .chosen = true, .profile = profile};
    const int status = pf_tui_run(&input, &end);

    pf_message_release(); /* when the view could not begin */
    return status;
}

static int report_profile(const struct pf_command *command, struct pf_settings *settings)
{
    struct perfile_profile *profile;
    int status = pf_profile_check_filter(command, settings);

    if (status)
        return status;
    if (asks_for_samples(settings)) {
        pf_message(
            "report: a profile can only be shown as text, with --sort, --event, --top, --all-rows, --no-children and "
            "--show-nr-samples; everything else needs a recording");
        return PF_STATUS_USAGE;
    }
    if (settings->tui)
        pf_tui_prepare();
    pf_sandbox_enter(command, settings);
    status = pf_profile_load(settings->operands[0], &profile);
    if (status) {
        pf_message_release();
        return status;
    }
    status = settings->tui ? show_profile(command, settings, profile) : print_profile(settings, profile);
    perfile_profile_close(profile);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int report(const struct pf_command *command, struct pf_settings *settings)
{
    if (settings->operand_count && pf_is_profile(settings->operands[0]))
        return report_profile(command, settings);
    const int status = pf_picture_choose(command, settings);

    if (status)
        return status;
    if (!settings->report.max_nodes)
        settings->report.max_nodes = pf_nodes_that_fit(PERFILE_REPORT_NODE_BYTES);
    settings->advises_views = !settings->dumps;
    return pf_picture_notify(settings, pf_run_output(command, settings));
}

const struct pf_command pf_command_report = {
    .name = "report",
    .summary = "report functions, files and threads by overhead",
    .doc = "Sums up the samples of each event by thread, file and function (or as --sort says) and prints the rows by "
           "overhead, with their call graphs if callchains were recorded. Percentages are relative to all samples of "
           "the event in the selected time and on the selected CPUs, even when other filters leave some of them out.",
    PF_ONE_RECORDING,
    .pages = true,
    .interactive = true,
    .groups = {PF_GROUP("Options", options), PF_GROUP("Callchains", graphs), PF_SAMPLE_GROUPS},
    .run = report,
};
