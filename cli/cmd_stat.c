/* SPDX-License-Identifier: MIT */
#include "count.h"
#include "help.h"
#include "message.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(struct pf_settings, member)
#define FLAG(option, short_option, member, text)                                                                       \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_FLAG, .offset = AT(stat.member), .doc = text         \
    }
#define BITS(option, short_option, bit, text)                                                                          \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_BITS, .offset = AT(record.options.flags),            \
        .bits = bit, .doc = text                                                                                       \
    }
#define TEXT(option, short_option, value, member, text)                                                                \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_TEXT, .argument = value,                             \
        .offset = AT(record.options.member), .doc = text                                                               \
    }
#define NUMBER(option, short_option, value, member, text)                                                              \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_NUMBER, .argument = value,                           \
        .offset = AT(stat.member), .doc = text                                                                         \
    }

static const struct pf_option what_options[] = {
    {.name = "event",
     .letter = 'e',
     .kind = PF_OPTION_EVENTS,
     .argument = "LIST",
     .offset = AT(record.events),
     .doc = "The events, in perf's syntax. The default is clock, context switches, migrations, page faults, cycles, "
            "instructions, branches and branch misses."},
    BITS("all-cpus", 'a', PERFILE_RECORDER_ALL_CPUS, "Count on the whole system; the default without a command."),
    TEXT("cpu", 'C', "LIST", cpus, "Only count on these CPUs: 0-3,7."),
    TEXT("pid", 'p', "LIST", pids, "Count these processes with all their threads."),
    TEXT("tid", 't', "LIST", tids, "Count these threads."),
    TEXT("uid", 'u', "USER", user, "Count all processes of a user."),
    TEXT("for-each-cgroup", 'G', "PATH", cgroup, "Only count the processes of a cgroup; with --all-cpus."),
    BITS("no-inherit", 'i', PERFILE_RECORDER_NO_INHERIT, "Do not count child processes."),
    BITS("all-user", 0, PERFILE_RECORDER_ALL_USER, "Only count user space, for all events."),
    BITS("all-kernel", 0, PERFILE_RECORDER_ALL_KERNEL, "Only count the kernel, for all events."),
    NUMBER("delay", 'D', "MS", delay_ms, "Start MS milliseconds after the command."),
    NUMBER("timeout", 0, "MS", timeout_ms, "Stop after MS milliseconds."),
    NUMBER("repeat", 'r', "N", repeat, "Run the command N times, and print means and standard errors."),
    {0},
};
static const struct pf_option_group what_group = {"What is counted", what_options};

static const struct pf_option how_options[] = {
    NUMBER("interval-print", 'I', "MS", interval_ms, "Print what was counted every MS milliseconds."),
    NUMBER("interval-count", 0, "N", interval_count, "Stop after N intervals."),
    FLAG("no-scale", 0, unscaled, "Do not scale counts of events that shared the hardware."),
    {.name = "big-num", .letter = 'B', .kind = PF_OPTION_IGNORE, .doc = "Ignored: numbers are never grouped."},
    {.name = "output",
     .letter = 'o',
     .kind = PF_OPTION_TEXT,
     .argument = "FILE",
     .offset = AT(output),
     .doc = "Write to FILE, - for standard output, not to standard error. record: the recording [perf.data]."},
    {0},
};
static const struct pf_option_group how_group = {"When and where it is printed", how_options};

static const struct pf_option print_options[] = {
    FLAG("no-aggr", 'A', no_aggregation, "Print each CPU separately."),
    FLAG("per-socket", 0, per_socket, "Add up counts by socket."),
    FLAG("per-die", 0, per_die, "Add up counts by die."),
    FLAG("per-core", 0, per_core, "Add up counts by core."),
    FLAG("per-node", 0, per_node, "Add up counts by memory node."),
    FLAG("per-thread", 0, per_thread, "Print each thread of --pid or --tid separately."),
    {.name = "field-separator",
     .letter = 'x',
     .kind = PF_OPTION_TEXT,
     .argument = "SEPARATOR",
     .offset = AT(report.separator),
     .doc = "Print lines with this between the fields, as perf stat -x does."},
    {.name = "metrics",
     .letter = 'M',
     .kind = PF_OPTION_LINES,
     .argument = "NAME=EXPRESSION",
     .offset = AT(stat.metrics),
     .doc = "Also print what counts make together, such as ipc=instructions/cycles: numbers, the events that are "
            "counted by their names, and duration_time (the seconds that passed), with the signs of arithmetic, "
            "parentheses, min(a,b), max(a,b), d_ratio(a,b) and 'a if c else b'. Can be given several times."},
    FLAG("json-output", 'j', as_json, "Print an object on a line for each count, as perf stat -j does."),
    PF_OPTION_FORMAT,
    {0},
};
static const struct pf_option_group print_group = {"What is printed", print_options};

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* A pager or a file is not in the way of the command's own output. */
static int put_error(void *context, const void *data, size_t bytes)
{
    (void)context;
    for (const char *at = data; bytes;) {
        const ssize_t written = write(STDERR_FILENO, at, bytes);
        if (written <= 0)
            return -1;
        at += written;
        bytes -= (size_t)written;
    }
    return 0;
}

static void choose_format(struct pf_settings *settings)
{
    if (settings->format && strcmp(settings->format, "text") != 0)
        return;
    settings->format = settings->stat.as_json ? "perf-json" : settings->report.separator ? "perf-csv" : "text";
}

/* Metrics stand behind what is added up; tables hold what was counted. */
static int check_metrics(const struct pf_settings *settings)
{
    static const char *const formats[] = {"text", "perf-csv", "perf-json"};

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!settings->stat.metrics || !strcmp(settings->format, formats[i]))
            return PF_STATUS_OK;
    pf_message("stat: --metrics needs the format text, -x or -j: tables hold what was counted");
    return PF_STATUS_USAGE;
}

static const char *per_of(const struct pf_stat_settings *stat)
{
    return stat->no_aggregation ? "cpu"
           : stat->per_socket   ? "socket"
           : stat->per_die      ? "die"
           : stat->per_core     ? "core"
           : stat->per_node     ? "node"
           : stat->per_thread   ? "thread"
                                : NULL;
}

/* "'make all'", "process id '4711'", "system wide", as perf says it. */
static char *title_of(const struct pf_settings *settings)
{
    const struct perfile_recorder_options *what = &settings->record.options;
    char *title = NULL;
    size_t bytes;
    FILE *text = open_memstream(&title, &bytes);

    if (!text)
        return NULL;
    if (what->pids)
        fprintf(text, "process id '%s'", what->pids);
    else if (what->tids)
        fprintf(text, "thread id '%s'", what->tids);
    else if (what->user)
        fprintf(text, "user '%s'", what->user);
    else if (what->cpus)
        fprintf(text, "'CPU(s) %s'", what->cpus);
    else if (what->flags & PERFILE_RECORDER_ALL_CPUS)
        fputs("'system wide'", text);
    else
        for (size_t i = 0; i < settings->operand_count; i++)
            fprintf(text, "%s%s", i ? " " : "'", settings->operands[i]);
    if (!what->pids && !what->tids && !what->user && !what->cpus && !(what->flags & PERFILE_RECORDER_ALL_CPUS))
        fputc('\'', text);
    return fclose(text) == 0 ? title : NULL;
}

static void print_times(const struct pf_count *count)
{
    struct rusage now;

    getrusage(RUSAGE_CHILDREN, &now);
    const long user = now.ru_utime.tv_sec - count->before.ru_utime.tv_sec,
               user_us = now.ru_utime.tv_usec - count->before.ru_utime.tv_usec,
               sys = now.ru_stime.tv_sec - count->before.ru_stime.tv_sec,
               sys_us = now.ru_stime.tv_usec - count->before.ru_stime.tv_usec;
    char text[160];
    const int bytes =
        snprintf(text, sizeof(text), " %7ld.%06ld000 seconds user\n %7ld.%06ld000 seconds sys\n\n\n",
                 user - (user_us < 0), (user_us + 1000000) % 1000000, sys - (sys_us < 0), (sys_us + 1000000) % 1000000);
    put_error(NULL, text, (size_t)bytes);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

struct runs {
    struct pf_settings *settings;
    struct pf_count *counts;
    struct perfile_reader **readers;
    size_t count, room;
    struct pf_stream stream;
};

static int open_reader(struct runs *runs, size_t index)
{
    struct perfile_source source = PERFILE_SOURCE_INIT;
    struct perfile_error error;

    source.context = &runs->counts[index];
    source.read = pf_count_read;
    const int result = perfile_open_source(&source, NULL, &runs->readers[index], &error);
    if (result < 0)
        pf_message("stat: %s", error.message);
    return result < 0 ? pf_status_of_error(result, PF_STATUS_UNREADABLE) : PF_STATUS_OK;
}

static int print(struct runs *runs)
{
    struct pf_settings *settings = runs->settings;
    const struct perfile_sink to_file = {&runs->stream, pf_stream_write}, to_error = {NULL, put_error};
    struct perfile_error error;
    char *title = title_of(settings);
    int status = settings->output ? pf_stream_open(&runs->stream, settings->output) : PF_STATUS_OK;

    if (status || !title) {
        free(title);
        return status ? status : PF_STATUS_MEMORY;
    }
    settings->print.title = title;
    settings->print.more = runs->readers + 1;
    settings->print.more_count = runs->count - 1;
    const int result = perfile_output_write(runs->readers[0], "stat", settings->format, &settings->print,
                                            settings->output ? &to_file : &to_error, &error);
    if (result < 0 && !(result == PERFILE_ERROR_WRITE && settings->output)) {
        pf_message("stat: %s", error.message);
        status = result == PERFILE_ERROR_WRITE ? PF_STATUS_OUTPUT : pf_status_of_error(result, PF_STATUS_USAGE);
    }
    if (settings->output) {
        const int closed = pf_stream_close(&runs->stream, result >= 0);
        status = status ? status : closed;
    }
    free(title);
    return status;
}

/* One run after the other; the last, if it is the only one, is read while it goes on. */
static int run_all(struct runs *runs)
{
    struct pf_settings *settings = runs->settings;
    int status = PF_STATUS_OK, own = PF_STATUS_OK;

    for (; runs->count < runs->room && !status; runs->count++) {
        status = pf_count_start(&runs->counts[runs->count], settings, NULL);
        if (!status)
            status = open_reader(runs, runs->count);
        if (!status && runs->room > 1)
            status = pf_count_wait(&runs->counts[runs->count]);
        if (!status && runs->counts[runs->count].signal)
            runs->room = runs->count + 1; /* the user has seen enough */
    }
    if (status || (status = print(runs)))
        return status;
    for (size_t i = 0; i < runs->count && !own; i++)
        own = pf_count_status(&runs->counts[i]);
    if (runs->room == 1 && runs->counts[0].workload.pid && !runs->counts[0].targets && !settings->stat.interval_ms &&
        !settings->output && !strcmp(settings->format, "text"))
        print_times(&runs->counts[0]);
    return own;
}

static int count(struct pf_settings *settings)
{
    struct runs runs = {.settings = settings, .room = settings->stat.repeat ? (size_t)settings->stat.repeat : 1};
    int status = PF_STATUS_MEMORY;

    runs.counts = calloc(runs.room, sizeof(*runs.counts));
    runs.readers = calloc(runs.room, sizeof(struct perfile_reader *));
    for (size_t i = 0; runs.counts && i < runs.room; i++)
        runs.counts[i] = PF_COUNT_INIT;
    if (runs.counts && runs.readers)
        status = run_all(&runs);
    for (size_t i = 0; runs.counts && runs.readers && i <= runs.count && i < runs.room; i++) {
        perfile_close(runs.readers[i]);
        pf_count_close(&runs.counts[i]);
    }
    free(runs.counts);
    free(runs.readers);
    return status;
}

static int record(struct pf_settings *settings)
{
    const char *path = settings->output ? settings->output : "perf.data";
    struct pf_count count;
    int status;

    if ((status = pf_stream_check_recording("stat", path)))
        return status;
    status = pf_count_start(&count, settings, path);
    if (!status)
        status = pf_count_wait(&count);
    if (!status)
        status = pf_count_status(&count);
    pf_count_close(&count);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static void note(void *context, const char *sentence)
{
    const struct pf_settings *settings = context;

    if (!settings->quiet)
        pf_message("stat: %s", sentence);
}

static int check(struct pf_settings *settings)
{
    const struct pf_stat_settings *stat = &settings->stat;
    struct perfile_recorder_options *what = &settings->record.options;
    const char *why = NULL;

    what->size = sizeof(*what);
    what->events = settings->record.events;
    what->note = note;
    what->note_context = settings;
    if (!settings->operand_count && !what->pids && !what->tids && !what->user)
        what->flags |= PERFILE_RECORDER_ALL_CPUS;
    if (stat->per_thread)
        what->flags |= PERFILE_RECORDER_NO_INHERIT;
    const bool by_cpu = what->cpus || what->flags & PERFILE_RECORDER_ALL_CPUS;
    if (stat->no_aggregation + stat->per_socket + stat->per_die + stat->per_core + stat->per_node + stat->per_thread >
        1)
        why = "counts are added up in one way: give one of -A, --per-socket, --per-die, --per-core, --per-node, "
              "--per-thread";
    else if (per_of(stat) && !stat->per_thread && !by_cpu)
        why = "counts of CPUs need --all-cpus or --cpu: a process is counted wherever it runs";
    else if (stat->per_thread && by_cpu)
        why = "--per-thread needs --pid or --tid";
    else if (stat->repeat > 1 && (!settings->operand_count || stat->interval_ms))
        why = "--repeat needs a command, and prints no intervals";
    else if (stat->repeat > 10000)
        why = "--repeat allows at most 10000 runs";
    if (why)
        pf_message("stat: %s", why);
    return why ? PF_STATUS_USAGE : PF_STATUS_OK;
}

static const struct pf_command report_command;
extern const struct pf_command pf_command_stat;

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    char **operands = settings->operands;
    int status;

    (void)command;
    operands[settings->operand_count] = NULL;
    if (settings->operand_count && !strcmp(*operands, "report")) {
        char **arguments = operands + 1;
        settings->operand_count = 0;
        if ((status = pf_options_parse(&report_command, arguments, settings)))
            return status;
        return settings->help ? pf_help_verb(&report_command, settings->all)
                              : report_command.run(&report_command, settings);
    }
    const bool records = settings->operand_count && !strcmp(*operands, "record");
    if (records) {
        settings->operand_count = 0;
        if ((status = pf_options_parse(&pf_command_stat, operands + 1, settings)))
            return status;
        settings->operands[settings->operand_count] = NULL;
    }
    choose_format(settings);
    settings->print.per = per_of(&settings->stat);
    settings->print.metrics = settings->stat.metrics;
    if ((status = check_metrics(settings)) || (status = check(settings)))
        return status;
    return records ? record(settings) : count(settings);
}

static int run_report(const struct pf_command *command, struct pf_settings *settings)
{
    choose_format(settings);
    settings->print.per = per_of(&settings->stat);
    settings->print.metrics = settings->stat.metrics;
    const int status = check_metrics(settings);
    return status ? status : pf_run_output(command, settings);
}

static const struct pf_option report_options[] = {
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group report_group = {"Options", report_options};

static const struct pf_command report_command = {
    .name = "stat",
    .summary = "print what perf stat record counted",
    .doc = "Prints the counts of a recording of `perfile stat record` or `perf stat record`; of several recordings the "
           "means and standard errors.",
    .operand = "[FILE...]",
    .operand_max = SIZE_MAX,
    .pages = true,
    .groups = {&print_group, &report_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run_report,
};

const struct pf_command pf_command_stat = {
    .name = "stat",
    .summary = "count events of a command, a process or the whole system",
    .doc =
        "Runs a command, or looks at running processes or the whole system, and prints what was counted, in the layout "
        "of perf stat, on standard error. `perfile stat record COMMAND` writes a recording instead, and `perfile stat "
        "report [FILE...]` prints what is in one, or the means of several.",
    .operand = "[record | report] [COMMAND [ARGUMENT...]]",
    .operand_max = SIZE_MAX,
    .takes_command = true,
    .groups = {&what_group, &print_group, &how_group, &pf_common_group},
    .run = run,
};
