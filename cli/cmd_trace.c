/* SPDX-License-Identifier: MIT */
#include "event_filters.h"
#include "message.h"
#include "stdin.h"
#include "trace_live.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAG(option, short_option, bit, ...) PF_BITS(option, short_option, PF_AT(events.flags), bit, __VA_ARGS__)
#define OWN(member) PF_OWN_OF(struct pf_trace_settings, member)

static struct pf_trace_settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

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

static const struct pf_value faults[] = {
    {"all", "major and minor ones"},
    {"maj", "those for which the disk was read"},
    {"min", "the others"},
    {0},
};

/* ---- a recording, or what runs ----------------------------------------------------------------------------------- */

static bool is_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];

    for (size_t bytes; path && *path && !strchr(name, '/'); path += bytes + (path[bytes] == ':')) {
        bytes = strcspn(path, ":");
        if ((size_t)snprintf(file, sizeof(file), "%.*s/%s", (int)bytes, path, name) < sizeof(file) &&
            access(file, X_OK) == 0)
            return true;
    }
    return false;
}

/* The first operand is a recording, unless it can only be a program. */
static bool is_command(const char *operand)
{
    struct stat about;

    if (stat(operand, &about) < 0)
        return is_program(operand);
    return S_ISREG(about.st_mode) && access(operand, X_OK) == 0 && !pf_is_recording(operand);
}

static bool names_target(const struct pf_settings *settings)
{
    const struct perfile_recorder_options *options = &settings->record.options;

    return options->flags & PERFILE_RECORDER_ALL_CPUS || options->user || options->cgroup || settings->filter.pids ||
           settings->filter.tids || settings->filter.cpus || pf_called_perf();
}

static bool is_live(const struct pf_settings *settings)
{
    return settings->workload || (!settings->operand_count && !settings->input && names_target(settings));
}

/* Refuses a word that names neither a recording nor a command, or the default where perf.data does not exist. */
static int check_input(const struct pf_command *command, const struct pf_settings *settings)
{
    const char *word = settings->operand_count ? settings->operands[0] : NULL;

    if (word && strcmp(word, "-") != 0 && !strchr(word, '/') && access(word, F_OK) < 0)
        pf_message("%s: %s is neither a recording nor a command in PATH", command->name, word);
    else if (!word && !settings->input && access("perf.data", F_OK) < 0 && isatty(STDIN_FILENO))
        pf_message("%s: there is no perf.data; what runs is shown by: %s %s COMMAND, -p PID or -a", command->name,
                   pf_program_name(), command->name);
    else
        return PF_STATUS_OK;
    return PF_STATUS_UNREADABLE;
}

/* The summary that people look at is the table, with units and what fits the terminal; programs read perf's text. */
static bool wants_table(const struct pf_command *command, const struct pf_settings *settings)
{
    if (settings->format || settings->columns)
        return true;
    return settings->events.flags & PERFILE_EVENTS_SUMMARY && !settings->output && !settings->stdio &&
           !pf_called_perf() && pf_is_terminal(STDOUT_FILENO) && !pf_text_option_set(command, settings);
}

static int show(const struct pf_command *command, struct pf_settings *settings)
{
    const bool summary = settings->events.flags & PERFILE_EVENTS_SUMMARY;

    settings->at_once = true;
    settings->events.keys = settings->keys;
    settings->events.calls = own(settings)->calls;
    settings->events.events = settings->record.events;
    if (wants_table(command, settings))
        settings->view = summary ? "syscall_summary" : "syscalls";
    else
        settings->kind = "trace";
    return pf_run_output(command, settings);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const struct pf_option options[] = {
    PF_OPTION_TABLE_FORMAT,
    PF_OPTION_COLUMNS,
    FLAG("summary", 's', PERFILE_EVENTS_SUMMARY, "Only print how many calls of each name there were, and how long."),
    PF_VALUES(CHOICE, "summary-mode", 0, "MODE", PF_AT(keys), .table = modes,
              "The groups that the summary counts [thread]."),
    PF_ROW(NUMBER, "max-summary", 0, "N", PF_AT(events.rows), "At most N rows in each part of the summary."),
    PF_ROW(NUMBER, "max-events", 0, "N", PF_AT(events.lines), "Print N calls, then end; the summary counts all."),
    PF_OPTION_OUTPUT,
    PF_FLAG("stdio", 0, PF_AT(stdio), "Print perf's summary also on a terminal; elsewhere it is perf's anyway."),
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
    PF_FLAG("syscalls", 0, OWN(all_calls), "Also with -e of tracepoints alone: print calls, which is the default."),
    FLAG("no-syscalls", 0, PERFILE_EVENTS_NO_CALLS, "Only page faults and tracepoints of -e."),
    PF_ROW(TEXT, "call-graph", 0, "HOW", PF_AT(record.options.call_graph),
           "Without FILE: record callchains, as perfile record does: fp, dwarf, auto, lbr. Those of a recording are "
           "printed anyway."),
    PF_ROW(NUMBER, "max-stack", 0, "N", PF_AT(events.stack_depth), "Callchains of at most N functions."),
    PF_ROW(NUMBER, "min-stack", 0, "N", PF_AT(events.min_stack),
           "Only calls with a callchain of at least N functions."),
    {0},
};

static const struct pf_option filters[] = {
    PF_ROW(LINES, "expr", 'e', "LIST", OWN(calls),
           "Only these calls: openat,read*,%file. The groups are %file, %desc, %network, %process, %memory and "
           "%signal; a leading ! selects all others. Names with a colon are tracepoints, whose events get lines, too: "
           "sched:sched_switch,block:*. If there are only such names, no calls are shown.",
           .set = pf_trace_add_names, .first = true),
    PF_ROW(EVENTS, "event", 0, "LIST", PF_AT(record.events), "perf's other name for --expr.", .set = pf_trace_add_names,
           .hidden = true),
    PF_ROW(TEXT, "duration", 0, "MS", OWN(duration), "Only calls that took longer than this many milliseconds: 0.5."),
    FLAG("failure", 0, PERFILE_EVENTS_FAILED, "Only calls that failed."),
    PF_ROW(
        TEXT, "time", 0, "START,STOP", PF_AT(filter.time),
        "Only events from START to STOP, in seconds as recorded, or 10%-20%; a call that this cuts has no duration."),
    PF_ROW(TEXT, "cpu", 'C', "LIST", PF_AT(filter.cpus),
           "Only events of these CPUs: 0-3,7. Without FILE: what runs there now."),
    PF_ROW(TEXT, "pid", 'p', "LIST", PF_AT(filter.pids), "Only these processes: 1,2. Without FILE: those that run now.",
           .first = true),
    PF_ROW(TEXT, "tid", 't', "LIST", PF_AT(filter.tids), "Only these threads. Without FILE: those that run now."),
    PF_ROW(TEXT, "filter-pids", 0, "LIST", PF_AT(events.not_pids), "Leave out these processes: 1,2."),
    PF_ROW(TEXT, "comms", 'c', "LIST", PF_AT(filter.comms), "Only threads with these names: make,cc1."),
    PF_OPTIONS_SWITCH,
    {0},
};

#define RECORDED(option, short_option, bit, ...)                                                                       \
    PF_BITS(option, short_option, PF_AT(record.options.flags), bit, __VA_ARGS__)
static const struct pf_option record_options[] = {
    RECORDED("all-cpus", 'a', PERFILE_RECORDER_ALL_CPUS, "The entire system, until Ctrl-C or as long as COMMAND runs.",
             .first = true),
    PF_ROW(TEXT, "uid", 'u', "USER", PF_AT(record.options.user), "All processes of a user."),
    PF_ROW(TEXT, "cgroup", 'G', "PATH", PF_AT(record.options.cgroup), "Only processes of a cgroup; with --all-cpus."),
    RECORDED("no-inherit", 0, PERFILE_RECORDER_NO_INHERIT, "Leave out the processes that COMMAND starts."),
    PF_ROW(TEXT, "delay", 'D', "MS", PF_AT(record.delay), "Start MS milliseconds after COMMAND."),
    PF_ROW(TEXT, "filter", 0, "FILTER", PF_AT(record.filters),
           "Only events of the preceding tracepoint of -e whose fields match: 'prev_pid != 0'.",
           .set = pf_add_event_filter),
    PF_VALUES(CHOICE, "pf", 'F', "WHICH", OWN(faults), .table = faults, "Also page faults, with their addresses.",
              .usual = "maj"),
    PF_FLAG("kernel-syscall-graph", 0, OWN(kernel_stacks), "Callchains of the kernel where calls return."),
    PF_ROW(TEXT, "mmap-pages", 'm', "SIZE", PF_AT(record.ring_size),
           "The buffer size per CPU: pages, or bytes with K or M [4M]."),
    {0},
};
static const struct pf_option_group record_group = {"Recording (without FILE)", record_options};

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int show_recording(const struct pf_command *command, struct pf_settings *settings)
{
    const struct pf_option *option = pf_group_option_set(&record_group, settings);

    if (option) {
        pf_message("%s: --%s is about what is recorded: it cannot be combined with a recording", command->name,
                   option->name);
        return PF_STATUS_USAGE;
    }
    const int status = check_input(command, settings);

    if (status)
        return status;
    if (settings->record.events && !own(settings)->calls && !own(settings)->all_calls)
        settings->events.flags |= PERFILE_EVENTS_NO_CALLS;
    return show(command, settings);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (own(settings)->duration && !parse_ms(own(settings)->duration, &settings->events.minimum_ns)) {
        pf_message("%s: invalid --duration %s (milliseconds, such as 0.5)", command->name, own(settings)->duration);
        return PF_STATUS_USAGE;
    }
    if (pf_refuse_text_options(command, settings) != PF_STATUS_OK)
        return PF_STATUS_USAGE;
    return is_live(settings) ? pf_trace_live(command, settings, show) : show_recording(command, settings);
}

const struct pf_command pf_command_trace = {
    .name = "trace",
    .summary = "show system calls: as perf trace prints them, sums, tables",
    .doc = "Prints the system calls of a recording, of a command while it runs, or with -p, -t or -a of what runs "
           "already: with their arguments, results and durations, as perf trace prints them, or with -s a summary of "
           "each thread. With --format or --columns they are the tables syscalls and syscall_summary, with "
           "percentiles. Calls whose start or end is missing are counted, not guessed. perfile trace record records "
           "the events into a file, with the options of perfile record.",
    .operand = "[FILE] | [--] COMMAND [ARGUMENT...] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 1,
    .shows_command = true,
    .is_command = is_command,
    .pages = true,
    .own_bytes = sizeof(struct pf_trace_settings),
    .groups = {PF_GROUP("Options", options), PF_GROUP("Text (without --format and --columns)", text_options, true),
               PF_GROUP("Filters (all must match)", filters), &record_group, &pf_symbol_group, &pf_input_group,
               &pf_limit_group, &pf_common_group},
    .run = run,
};
