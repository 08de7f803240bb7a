/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>

struct settings {
    const char *duration; /* NULL: not given */
};

#define FLAG(option, short_option, bit, text) PF_BITS(option, short_option, PF_AT(events.flags), bit, text)

/* Milliseconds with a fraction, whatever the locale. */
static bool parse_ms(const char *text, uint64_t *ns)
{
    uint64_t value = 0, scale = 1000000;
    bool fraction = false;

    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (*text < '0' || *text > '9' || value > UINT64_MAX / 100)
            return false;
        if (fraction && scale == 1)
            continue;
        value = value * 10 + (uint64_t)(*text - '0');
        scale = fraction ? scale / 10 : scale;
    }
    if (value > UINT64_MAX / scale)
        return false;
    *ns = value * scale;
    return true;
}

static const struct pf_value modes[] = {
    {"thread", "for each thread"},
    {"process", "for each process"},
    {"cgroup", "for each control group, if it was recorded"},
    {"fd", "for each file, by its path if the recording has it"},
    {"total", "all together"},
    {0},
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const bool summary = settings->events.flags & PERFILE_EVENTS_SUMMARY;

    if (pf_own(settings)->duration && !parse_ms(pf_own(settings)->duration, &settings->events.minimum_ns)) {
        pf_message("%s: invalid --duration %s (milliseconds, such as 0.5)", command->name, pf_own(settings)->duration);
        return PF_STATUS_USAGE;
    }
    if (pf_refuse_text_options(command, settings) != PF_STATUS_OK)
        return PF_STATUS_USAGE;
    settings->events.keys = settings->keys;
    if (settings->format || settings->columns)
        settings->view = summary ? "syscall_summary" : "syscalls";
    else
        settings->kind = "trace";
    return pf_run_output(command, settings);
}

static const struct pf_option options[] = {
    PF_OPTION_TABLE_FORMAT,
    PF_OPTION_COLUMNS,
    FLAG("summary", 's', PERFILE_EVENTS_SUMMARY, "Only print how many calls of each name there were, and how long."),
    PF_VALUES(CHOICE, "summary-mode", 0, "MODE", PF_AT(keys), .table = modes,
              "The groups that the summary counts [thread]."),
    PF_ROW(NUMBER, "max-summary", 0, "N", PF_AT(events.rows), "At most N rows in each part of the summary."),
    PF_ROW(NUMBER, "max-events", 0, "N", PF_AT(events.lines), "Print N calls, then end; the summary counts all."),
    PF_OPTION_OUTPUT,
    PF_IGNORED("stdio", 0, NULL, "Ignored, for compatibility with the other views: the text is always that of perf."),
    {0},
};

static const struct pf_option text_options[] = {
    FLAG("with-summary", 'S', PERFILE_EVENTS_WITH_SUMMARY, "Print the summary after the calls."),
    FLAG("errno-summary", 0, PERFILE_EVENTS_ERRORS, "In the summary, also print how often each error was returned."),
    FLAG("time-of-day", 'T', PERFILE_EVENTS_FULL_TIME,
         "Print times of the recording's clock, not since the first event (perf's -T, --time)."),
    PF_IGNORED("comm", 0, NULL, "Ignored, for compatibility with perf: threads have their names."),
    FLAG("no-comm", 0, PERFILE_EVENTS_NO_COMM, "Print threads without their names."),
    FLAG("show-cpu", 0, PERFILE_EVENTS_CPU, "Print the CPU of each line."),
    FLAG("no-call-graph", 0, PERFILE_EVENTS_NO_STACKS, "Without callchains and page faults, if they were recorded."),
    FLAG("no-syscalls", 0, PERFILE_EVENTS_NO_CALLS, "Only page faults, if they were recorded."),
    PF_IGNORED("call-graph", 0, "HOW",
               "Ignored, for compatibility with perf: callchains are printed where they were recorded."),
    PF_ROW(NUMBER, "max-stack", 0, "N", PF_AT(events.stack_depth), "Callchains of at most N functions."),
    PF_ROW(NUMBER, "min-stack", 0, "N", PF_AT(events.min_stack),
           "Only calls with a callchain of at least N functions."),
    {0},
};

static const struct pf_option filters[] = {
    PF_ROW(
        TEXT, "expr", 'e', "CALLS", PF_AT(events.calls),
        "Only these calls: openat,read*,%file. The groups are %file, %desc, %network, %process, %memory and %signal; "
        "a leading ! selects all others."),
    PF_ROW(TEXT, "duration", 0, "MS", PF_OWN(duration),
           "Only calls that took longer than this many milliseconds: 0.5."),
    FLAG("failure", 0, PERFILE_EVENTS_FAILED, "Only calls that failed."),
    PF_ROW(
        TEXT, "time", 0, "START,STOP", PF_AT(filter.time),
        "Only events from START to STOP, in seconds as recorded, or 10%-20%; a call that this cuts has no duration."),
    PF_ROW(TEXT, "cpu", 'C', "LIST", PF_AT(filter.cpus), "Only events of these CPUs: 0-3,7."),
    PF_ROW(TEXT, "pid", 'p', "LIST", PF_AT(filter.pids), "Only these processes: 1,2."),
    PF_ROW(TEXT, "tid", 't', "LIST", PF_AT(filter.tids), "Only these threads."),
    PF_ROW(TEXT, "comms", 'c', "LIST", PF_AT(filter.comms), "Only threads with these names: make,cc1."),
    {0},
};

const struct pf_command pf_command_trace = {
    .name = "trace",
    .summary = "show system calls: as perf trace prints them, sums, tables",
    .doc = "Prints the system calls of a recording with their arguments, results and durations, as perf trace prints "
           "them, or with -s a summary of each thread. With --format or --columns they are the tables syscalls and "
           "syscall_summary, with percentiles. Calls whose start or end is missing are counted, not guessed. perfile "
           "trace record records the events, with the options of perfile record.",
    .operand = "[FILE] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 1,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), PF_GROUP("Text (without --format and --columns)", text_options, true),
               PF_GROUP("Filters (all must match)", filters), &pf_symbol_group, &pf_input_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
