/* SPDX-License-Identifier: MIT */
#include "control.h"
#include "count.h"
#include "event_filters.h"
#include "help.h"
#include "message.h"
#include "stat_metrics.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { RUNS_MAX = 10000, SUMMARIES = PERFILE_STAT_SUMMARY | PERFILE_STAT_PLAIN_SUMMARY };

static struct pf_stat_settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

#define OWN(member) PF_OWN_OF(struct pf_stat_settings, member)
#define FLAG(option, short_option, member, ...) PF_FLAG(option, short_option, OWN(member), __VA_ARGS__)
#define BITS(option, short_option, bit, ...)                                                                           \
    PF_BITS(option, short_option, PF_AT(record.options.flags), bit, __VA_ARGS__)
#define PRINT(option, short_option, bit, ...) PF_BITS(option, short_option, PF_AT(stat.flags), bit, __VA_ARGS__)
#define TEXT(option, short_option, value, where, ...) PF_ROW(TEXT, option, short_option, value, where, __VA_ARGS__)

/* -dd is more than -d. */
static int add_detail(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    (void)option, (void)text;
    own(settings)->detail++;
    return PF_STATUS_OK;
}

/*
 * As in perf, one name applies to all events before it; of several names the first applies to the first event, and so
 * on.
 */
static int add_cgroups(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    struct pf_stat_settings *stat = own(settings);
    const size_t events = pf_count_events(settings->record.events), before = pf_count_events(stat->cgroups);
    const size_t times = strchr(text, ',') || events <= before + 1 ? 1 : events - before;
    int status = PF_STATUS_OK;

    (void)option;
    for (size_t i = 0; i < times && !status; i++)
        status = pf_text_join(&stat->cgroups, ",", text);
    stat->cgroup_events = events;
    return status;
}

/* A single name applies to all events: also to those after it, if there were none before it. */
static int end_cgroups(struct pf_settings *settings)
{
    char **cgroups = &own(settings)->cgroups;
    const bool is_alone = *cgroups && !strchr(*cgroups, ',') && own(settings)->cgroup_events == 1;

    return is_alone && pf_count_events(settings->record.events) > 1 ? pf_text_join(cgroups, ",", "") : PF_STATUS_OK;
}

/* "NAME=EXPRESSION", or names of metrics. */
static int add_metrics(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    (void)option;
    return pf_stat_metrics_add(&own(settings)->metrics, text);
}

static const struct pf_option what_options[] = {
    PF_ROW(EVENTS, "event", 'e', "LIST", PF_AT(record.events),
           "The events, in perf's syntax. The default is clock, context switches, migrations, page faults, cycles, "
           "instructions, branches and branch misses.",
           .first = true),
    PF_ROW(TEXT, "filter", 0, "FILTER", PF_AT(record.filters),
           "Only count the preceding tracepoint, or all that a wildcard matches, if its fields match: 'fd == 1'.",
           .set = pf_add_event_filter),
    PF_FLAG(
        "detailed", 'd', .set = add_detail,
        "Without --event also count loads and misses of the L1 data cache and of the last level; -dd: also of the L1 "
        "instruction cache and of TLBs; -ddd: also prefetches."),
    PRINT("null", 'n', PERFILE_STAT_NO_COUNTS, "Count nothing: only print the elapsed time."),
    BITS("all-cpus", 'a', PERFILE_RECORDER_ALL_CPUS, "Count on the entire system; the default without a command.",
         .first = true),
    TEXT("cpu", 'C', "LIST", PF_AT(record.options.cpus), "Only count on these CPUs: 0-3,7."),
    TEXT("pid", 'p', "LIST", PF_AT(record.options.pids), "Count these processes with all their threads.",
         .first = true),
    TEXT("tid", 't', "LIST", PF_AT(record.options.tids), "Count these threads."),
    TEXT("uid", 'u', "USER", PF_AT(record.options.user), "Count all processes of a user."),
    PF_ROW(LINES, "cgroup", 'G', "PATH[,...]", OWN(cgroups),
           "Only count the processes of a cgroup; with --all-cpus. The first of several applies to the first event, "
           "and so on; an empty one counts everything.",
           .set = add_cgroups),
    TEXT("for-each-cgroup", 0, "PATH[,...]", OWN(for_each_cgroup),
         "Count every event in each of these cgroups; a regular expression stands for all whose paths it matches."),
    BITS("no-inherit", 'i', PERFILE_RECORDER_NO_INHERIT, "Do not count child processes."),
    BITS("all-user", 0, PERFILE_RECORDER_ALL_USER, "Only count user space, for all events."),
    BITS("all-kernel", 0, PERFILE_RECORDER_ALL_KERNEL, "Only count the kernel, for all events."),
    TEXT("delay", 'D', "MS", OWN(delay),
         "Start MS milliseconds after the command, or with -1 when --control enables it."),
    PF_ROW(NUMBER, "timeout", 0, "MS", OWN(timeout_ms), "Stop after MS milliseconds."),
    TEXT("control", 0, "HOW", OWN(control),
         "Listen for commands on fd:CTL[,ACK] or fifo:CTL[,ACK], one on a line: enable, disable, ping, stop. Each is "
         "answered with \"ack\" when it is done."),
    TEXT("repeat", 'r', "N", OWN(repeat_text),
         "Run the command N times, and print means and standard errors; 0: repeat until Ctrl-C, printing each "
         "run separately.",
         .first = true),
    TEXT("pre", 0, "COMMAND", OWN(pre), "Run this shell command before each run; if it fails, nothing is counted."),
    TEXT("post", 0, "COMMAND", OWN(post), "Run this shell command after each run."),
    FLAG("sync", 'S', syncs, "Write cached data to the disks before each run, as sync(1)."),
    PRINT("table", 0, PERFILE_STAT_TABLE, "With --repeat also print how long each run took."),
    {0},
};

static const struct pf_option how_options[] = {
    PF_ROW(NUMBER, "interval-print", 'I', "MS", OWN(interval_ms), "Print what was counted every MS milliseconds.",
           .first = true),
    PF_ROW(NUMBER, "interval-count", 0, "N", OWN(interval_count), "Stop after N intervals."),
    PRINT("interval-clear", 0, PERFILE_STAT_CLEAR, "On a terminal print each interval over the previous one."),
    FLAG("no-scale", 0, unscaled, "Do not scale counts of events that shared the hardware."),
    FLAG("per-cluster", 0, per_cluster,
         "Add up counts by die, on machines whose dies have no clusters of cores. Others are refused: recordings do "
         "not say what their clusters are."),
    TEXT("output", 'o', "FILE", PF_AT(output),
         "Write to FILE, - for standard output, not to standard error. record: the recording [perf.data].",
         .first = true),
    FLAG("append", 0, appends, "With --output: add to FILE."),
    TEXT("log-fd", 0, "FD", OWN(log_fd), "Write to this descriptor: --log-fd 3 3>>FILE adds to a file."),
    {0},
};

static const struct pf_option print_options[] = {
    FLAG("no-aggr", 'A', no_aggregation, "Print each CPU separately.", .first = true),
    FLAG("no-merge", 0, no_aggregation, "The same."),
    FLAG("per-socket", 0, per_socket, "Add up counts by socket."),
    FLAG("per-die", 0, per_die, "Add up counts by die."),
    PF_ROW(TEXT, "per-cache", 0, "LEVEL", OWN(per_cache),
           "Add up counts by cache, L1 to L4; without LEVEL the last level.", .usual = "cache"),
    FLAG("per-core", 0, per_core, "Add up counts by core."),
    FLAG("per-node", 0, per_node, "Add up counts by memory node."),
    FLAG("per-thread", 0, per_thread, "Print each thread of --pid or --tid separately."),
    PF_ROW(TEXT, "field-separator", 'x', "SEPARATOR", PF_AT(report.separator),
           "Print lines with this between the fields, as perf stat -x does.", .first = true),
    PF_ROW(LINES, "metrics", 'M', "NAME=EXPRESSION", OWN(metrics),
           "Also print metrics of counts, such as ipc=instructions/cycles: numbers, the counted events by their "
           "names, and duration_time (elapsed seconds), with arithmetic signs, parentheses, min(a,b), max(a,b), "
           "d_ratio(a,b) and 'a if c else b'. Can be given several times. A NAME alone also counts its events: "
           "insn_per_cycle, branch_miss_rate and others, which perfile-stat(1) lists.",
           .set = add_metrics),
    PF_ROW(TEXT, "metrics-from", 0, "DIR", OWN(metrics_from),
           "Names of --metrics are also those of metrics, and of groups of metrics, that the sources of Linux have for "
           "a processor in DIR, such as tools/perf/pmu-events/arch/x86/skylake. Their events are counted."),
    FLAG("topdown", 0, topdown,
         "Also print what the slots of the processor were used for, in percent: retiring, bad speculation, frontend "
         "bound and backend bound. Counts the events of the PMU for it; not all processors have them."),
    PF_ROW(NUMBER, "td-level", 0, "N", OWN(topdown_level), "With --topdown: the level; only 1 is supported."),
    PRINT("metric-only", 0, PERFILE_STAT_METRICS_ONLY,
          "Print only metrics, a column for each: those of perf for the counted events, and --metrics."),
    PF_IGNORED("big-num", 'B', NULL, "The default on terminals: numbers with commas; elsewhere they have none."),
    PRINT("no-big-num", 0, PERFILE_STAT_PLAIN_NUMBERS, "On terminals, too, print numbers without commas."),
    PRINT("summary", 0, PERFILE_STAT_SUMMARY, "After intervals also print what was counted in all of them."),
    PRINT("no-csv-summary", 0, PERFILE_STAT_PLAIN_SUMMARY,
          "The same, and with -x its lines do not begin with \"summary\"."),
    FLAG("json-output", 'j', as_json, "Print an object on a line for each count, as perf stat -j does."),
    PF_OPTION_FORMAT,
    {0},
};
static const struct pf_option_group print_group = {"What is printed", print_options};

struct runs {
    struct pf_settings *settings;
    struct pf_control control;
    struct pf_count *counts;
    struct perfile_reader **readers;
    size_t count, capacity;
    struct pf_stream stream;
    int fd; /* without a file: where it is printed */
};

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static int put_nothing(void *context, const void *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return 0;
}

/* A pager or a file is not in the way of the command's own output. */
static int put_fd(void *context, const void *data, size_t bytes)
{
    for (const char *at = data; bytes;) {
        const ssize_t written = write(*(const int *)context, at, bytes);
        if (written <= 0)
            return -1;
        at += written;
        bytes -= (size_t)written;
    }
    return 0;
}

static void choose_format(struct pf_settings *settings)
{
    if (settings->report.separator && !strcmp(settings->report.separator, "\\t"))
        settings->report.separator = "\t"; /* as perf has it */
    if (settings->format && strcmp(settings->format, "text") != 0)
        return;
    settings->format = own(settings)->as_json ? "perf-json" : settings->report.separator ? "perf-csv" : "text";
}

/* Tables hold what one run counted; the other formats add up, and have means of several. */
static bool is_table(const struct pf_settings *settings)
{
    static const char *const others[] = {"text", "perf-csv", "perf-json"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!strcmp(settings->format, others[i]))
            return false;
    return true;
}

static int check_metrics(const struct pf_settings *settings)
{
    const bool has_only_metrics = settings->stat.flags & PERFILE_STAT_METRICS_ONLY;

    if ((!settings->stat.metrics && !has_only_metrics) || !is_table(settings))
        return PF_STATUS_OK;
    pf_message("stat: --metrics and --metric-only need the format text, -x or -j: tables hold what was counted");
    return PF_STATUS_USAGE;
}

static const char *per_of(const struct pf_stat_settings *stat)
{
    return stat->no_aggregation ? "cpu"
           : stat->per_socket   ? "socket"
           : stat->per_die      ? "die"
           : stat->per_cache    ? stat->per_cache
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

static bool shows_times(const struct runs *runs)
{
    const struct pf_settings *settings = runs->settings;

    return runs->count == 1 && runs->counts[0].workload.pid && !runs->counts[0].targets &&
           (!own(settings)->interval_ms || settings->stat.flags & SUMMARIES) && !strcmp(settings->format, "text");
}

static void print_times(const struct pf_count *count, const struct perfile_sink *sink)
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
    (void)sink->write(sink->context, text, (size_t)bytes);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

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

/* The sink for the printed counts. */
static struct perfile_sink sink_of(struct runs *runs)
{
    const struct pf_settings *settings = runs->settings;

    if (settings->quiet)
        return (struct perfile_sink){NULL, put_nothing};
    return settings->output ? (struct perfile_sink){&runs->stream, pf_stream_write}
                            : (struct perfile_sink){&runs->fd, put_fd};
}

static int write_counts(struct runs *runs, const char *title)
{
    struct pf_settings *settings = runs->settings;
    const struct perfile_sink sink = sink_of(runs);
    struct perfile_error error;

    if (!settings->output && isatty(runs->fd))
        settings->report.columns = pf_terminal_columns(runs->fd);
    settings->stat.title = title;
    settings->print.more = runs->readers + 1;
    settings->print.more_count = runs->count - 1;
    const int result =
        perfile_output_write(runs->readers[0], "stat", settings->format, &settings->print, &sink, &error);
    if (result < 0 && !(result == PERFILE_ERROR_WRITE && settings->output)) {
        pf_message("stat: %s", error.message);
        return result == PERFILE_ERROR_WRITE ? PF_STATUS_OUTPUT : pf_status_of_error(result, PF_STATUS_USAGE);
    }
    if (shows_times(runs) && result >= 0) {
        pf_count_end(&runs->counts[0]);
        print_times(&runs->counts[0], &sink);
    }
    return PF_STATUS_OK;
}

static int print(struct runs *runs)
{
    const bool to_file = runs->settings->output && !runs->settings->quiet;
    char *title = title_of(runs->settings);
    int status = !title    ? PF_STATUS_MEMORY
                 : to_file ? pf_stream_open(&runs->stream, runs->settings->output)
                           : PF_STATUS_OK;

    if (!status) {
        status = write_counts(runs, title);
        const int closed = to_file ? pf_stream_close(&runs->stream, !status) : PF_STATUS_OK;
        status = status ? status : closed;
    }
    free(title);
    return status;
}

/* A shell command around a run. */
static int run_shell(const char *option, const char *command)
{
    const int result = command ? system(command) : 0;

    if (result)
        pf_message("stat: --%s %s: failed", option, command);
    return result ? PF_STATUS_FINDINGS : PF_STATUS_OK;
}

static int prepare_run(const struct pf_settings *settings)
{
    const int status = run_shell("pre", own(settings)->pre);

    if (!status && own(settings)->syncs)
        sync();
    return status;
}

/* Runs the command repeatedly. A single run is read while it continues. */
static int run_all(struct runs *runs)
{
    struct pf_settings *settings = runs->settings;
    int status = PF_STATUS_OK, command = PF_STATUS_OK;

    for (; runs->count < runs->capacity && !status; runs->count++) {
        if (!(status = prepare_run(settings)))
            status = pf_count_start(&runs->counts[runs->count], settings, &runs->control, NULL);
        settings->record.options.note = NULL; /* it would say the same of each */
        if (!status)
            status = open_reader(runs, runs->count);
        if (!status && runs->capacity > 1)
            status = pf_count_wait(&runs->counts[runs->count]);
        if (!status && runs->capacity > 1)
            status = run_shell("post", own(settings)->post);
        if (!status && runs->counts[runs->count].signal)
            runs->capacity = runs->count + 1; /* the user has seen enough */
    }
    if (status || (status = print(runs)) || (runs->count == 1 && (status = run_shell("post", own(settings)->post))))
        return status;
    for (size_t i = 0; i < runs->count && !command; i++)
        command = pf_count_status(&runs->counts[i]);
    return command;
}

/* `runs` times, whose mean is printed. *ended: by a signal. */
static int count_runs(struct pf_settings *settings, struct pf_control *control, size_t capacity, bool *ended)
{
    struct runs runs = {.settings = settings, .capacity = capacity, .control = *control, .fd = STDERR_FILENO};
    int status = PF_STATUS_MEMORY;

    if (own(settings)->log_fd)
        runs.fd = atoi(own(settings)->log_fd);
    if (own(settings)->output_fd)
        runs.fd = own(settings)->output_fd;
    runs.counts = calloc(runs.capacity, sizeof(*runs.counts));
    runs.readers = calloc(runs.capacity, sizeof(struct perfile_reader *));
    for (size_t i = 0; runs.counts && i < runs.capacity; i++)
        runs.counts[i] = PF_COUNT_INIT;
    if (runs.counts && runs.readers)
        status = run_all(&runs);
    for (size_t i = 0; runs.counts && runs.readers && i <= runs.count && i < runs.capacity; i++) {
        *ended |= runs.counts[i].signal != 0;
        perfile_close(runs.readers[i]);
        pf_count_close(&runs.counts[i]);
    }
    *control = runs.control;
    free(runs.counts);
    free(runs.readers);
    return status;
}

static int count(struct pf_settings *settings, struct pf_control *control)
{
    bool ended = false;
    int status = count_runs(settings, control, own(settings)->repeat ? (size_t)own(settings)->repeat : 1, &ended);

    while (own(settings)->forever && !status && !ended)
        status = count_runs(settings, control, 1, &ended);
    return status;
}

static void report_recorded(const struct pf_settings *settings, const char *path, uint64_t intervals)
{
    const char *show = settings->output ? path : "";
    char number[PF_COUNTED_BYTES];

    if (!settings->quiet && !pf_stream_is_standard(path))
        pf_message("%s: %s; shown by %s stat report%s%s", path, pf_counted(intervals, "intervals of counts", number),
                   pf_program_name(), *show ? " " : "", show);
}

static int record(struct pf_settings *settings, struct pf_control *control)
{
    const char *path = settings->output ? settings->output : "perf.data";
    struct pf_count count;
    int status;

    if ((status = pf_stream_check_recording("stat", path)))
        return status;
    status = pf_count_start(&count, settings, control, path);
    if (!status && !(status = pf_count_wait(&count))) {
        report_recorded(settings, path, count.intervals);
        status = pf_count_status(&count);
    }
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

/* "-1", or a number of at most `most`. */
static bool read_number(const char *text, uint64_t max, uint64_t *number, bool *is_minus_one)
{
    char *end;

    *is_minus_one = !strcmp(text, "-1");
    if (*is_minus_one)
        return true;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && *number <= max;
}

/* Parses options whose values are numbers or words. NULL: all are valid. */
static const char *read_texts(struct pf_stat_settings *stat)
{
    uint64_t fd;
    bool is_minus_one = false;

    if (stat->delay && !read_number(stat->delay, INT_MAX, &stat->delay_ms, &stat->start_disabled))
        return "--delay needs a number of milliseconds, or -1";
    if (stat->repeat_text && (!read_number(stat->repeat_text, RUNS_MAX, &stat->repeat, &is_minus_one) || is_minus_one))
        return "--repeat needs a number of at most 10000 runs, or 0: until Ctrl-C";
    stat->forever = stat->repeat_text && !stat->repeat;
    if (stat->log_fd &&
        (!read_number(stat->log_fd, INT_MAX, &fd, &is_minus_one) || is_minus_one || fcntl((int)fd, F_GETFD) < 0))
        return "--log-fd needs the number of a descriptor that is open";
    if (stat->start_disabled && !stat->control)
        return "--delay -1 waits for a command: it needs --control";
    return NULL;
}

static const char *check_units(const struct pf_settings *settings)
{
    const struct pf_stat_settings *stat = own(settings);
    const struct perfile_recorder_options *what = &settings->record.options;
    const bool by_cpu = what->cpus || what->flags & PERFILE_RECORDER_ALL_CPUS;

    if (stat->no_aggregation + stat->per_socket + stat->per_die + (stat->per_cache != NULL) + stat->per_core +
            stat->per_node + stat->per_thread >
        1)
        return "counts can be added up in one way only: use one of -A, --per-socket, --per-die, --per-cache, "
               "--per-core, --per-node, --per-thread";
    if (per_of(stat) && !stat->per_thread && !by_cpu)
        return "counts of CPUs need --all-cpus or --cpu: a process is counted wherever it runs";
    if (stat->per_thread && (what->cpus || !(by_cpu || what->pids || what->tids || what->user)))
        return "--per-thread needs --pid, --tid, --uid or --all-cpus: the threads of a command do not exist yet";
    if (stat->cgroups && stat->for_each_cgroup)
        return "--cgroup and --for-each-cgroup cannot be combined";
    if ((stat->cgroups || stat->for_each_cgroup) && !by_cpu)
        return "--cgroup needs --all-cpus or --cpu: the processes of a cgroup are counted wherever they run";
    if ((stat->cgroups || stat->for_each_cgroup) && stat->per_thread)
        return "--per-thread counts the threads that there are now: those of a cgroup come and go";
    return NULL;
}

static const char *check_runs(const struct pf_settings *settings)
{
    const struct pf_stat_settings *stat = own(settings);

    if (settings->stat.flags & PERFILE_STAT_NO_COUNTS && settings->record.events)
        return "--null counts nothing: it is not for --event";
    if (stat->repeat_text && !settings->operand_count)
        return "--repeat needs a command";
    if (settings->stat.flags & PERFILE_STAT_TABLE && stat->repeat < 2)
        return "--table needs --repeat with two runs or more";
    if (settings->stat.flags & PERFILE_STAT_CLEAR && (!stat->interval_ms || settings->output || stat->log_fd))
        return "--interval-clear needs --interval-print MS, and the terminal: it is not for --output or --log-fd";
    if (stat->repeat > 1 && stat->interval_ms)
        return "--repeat prints no intervals";
    if (stat->repeat > 1 && is_table(settings))
        return "--repeat needs the format text, -x or -j, which have means of several runs: a table has one run";
    if (stat->interval_count && !stat->interval_ms)
        return "--interval-count needs --interval-print MS";
    if (settings->stat.flags & SUMMARIES && !stat->interval_ms)
        return "--summary needs --interval-print MS: without intervals that is all that is printed";
    if (stat->log_fd && settings->output)
        return "--output and --log-fd cannot be combined";
    return NULL;
}

/* Lines for scripts have no others among them; what they cannot say is in them: "<not supported>", ":u". */
static bool is_for_scripts(const struct pf_settings *settings)
{
    return !strncmp(settings->format, "perf-", 5) && !settings->output && !own(settings)->log_fd &&
           !own(settings)->output_fd;
}

/* "duration_time" is perf's own: an event without a count, which gets the time. */
static int choose_events(struct pf_settings *settings)
{
    char **events = &settings->record.events;
    int status = pf_stat_metrics_add_events(events, own(settings)->metrics);

    if (!status && own(settings)->topdown)
        status = pf_stat_topdown_add_events(events);
    if (status)
        return status;
    char *old = *events;
    *events = NULL;
    for (char *at = old, *next; at && !status; at = next) {
        next = strchr(at, ',');
        if (next)
            *next++ = 0;
        status = pf_text_join(events, ",", strcmp(at, "duration_time") ? at : "dummy/name=duration_time/");
    }
    free(old);
    return status;
}

static int check(struct pf_settings *settings, bool records)
{
    struct perfile_recorder_options *what = &settings->record.options;
    const char *why = read_texts(own(settings));

    what->size = sizeof(*what);
    what->events = settings->stat.flags & PERFILE_STAT_NO_COUNTS ? "dummy:u" : settings->record.events;
    what->filters = (const char *const *)settings->record.filters;
    what->filter_count = settings->record.filter_count;
    what->note = records || !is_for_scripts(settings) ? note : NULL;
    what->note_context = settings;
    settings->symbols.note = what->note; /* nothing among lines for scripts */
    settings->symbols.note_context = settings;
    if (!settings->operand_count && !what->pids && !what->tids && !what->user)
        what->flags |= PERFILE_RECORDER_ALL_CPUS;
    if (own(settings)->per_thread)
        what->flags |= PERFILE_RECORDER_NO_INHERIT;
    if (why || (why = check_units(settings)) || (why = check_runs(settings)))
        pf_message("stat: %s", why);
    return why ? PF_STATUS_USAGE : PF_STATUS_OK;
}

/* The file is written to where it ends. */
static int open_appended(struct pf_settings *settings)
{
    const char *path = settings->output;

    if (!own(settings)->appends)
        return PF_STATUS_OK;
    if (!path || pf_stream_is_standard(path)) {
        pf_message("stat: --append needs --output FILE");
        return PF_STATUS_USAGE;
    }
    own(settings)->output_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (own(settings)->output_fd < 0)
        pf_message("stat: %s: %s", path, strerror(errno));
    settings->output = NULL;
    return own(settings)->output_fd < 0 ? PF_STATUS_OUTPUT : PF_STATUS_OK;
}

static int run_controlled(struct pf_settings *settings, bool records)
{
    struct pf_control control = {.verb = "stat"};
    int status = pf_control_open(&control, own(settings)->control);

    if (!status)
        status = records ? record(settings, &control) : count(settings, &control);
    pf_control_close(&control);
    return status;
}

/* Whether the kernel knows clusters of cores: it says 65535 or -1 where it does not. */
static bool has_clusters(void)
{
    char path[80], line[16] = "";
    bool found = false;

    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && !found; cpu++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/topology/cluster_id", cpu);
        FILE *file = fopen(path, "re");
        found = file && fgets(line, sizeof(line), file) && *line != '-' && strcmp(line, "65535\n") != 0;
        if (file)
            fclose(file);
    }
    return found;
}

static int choose_cluster(struct pf_stat_settings *stat)
{
    if (!stat->per_cluster)
        return PF_STATUS_OK;
    stat->per_die = true;
    if (!has_clusters())
        return PF_STATUS_OK;
    pf_message("stat: --per-cluster: recordings do not say what the clusters of this machine are; --per-die and "
               "--per-core are possible");
    return PF_STATUS_USAGE;
}

/* "L2", "l2". */
static int check_level(struct pf_stat_settings *stat)
{
    static const char *const levels[] = {"cache", "L1", "L2", "L3", "L4"};

    for (size_t i = 0; stat->per_cache && i < sizeof(levels) / sizeof(levels[0]); i++)
        if (!strcasecmp(levels[i], stat->per_cache)) {
            stat->per_cache = levels[i];
            return PF_STATUS_OK;
        }
    if (stat->per_cache)
        pf_message("stat: --per-cache needs a level, L1 to L4, or none for the last");
    return stat->per_cache ? PF_STATUS_USAGE : PF_STATUS_OK;
}

static int choose_topdown(struct pf_stat_settings *stat)
{
    if (stat->topdown_level > 1) {
        pf_message("stat: --td-level: only level 1 is supported");
        return PF_STATUS_USAGE;
    }
    return stat->topdown ? pf_stat_topdown_add(&stat->metrics) : PF_STATUS_OK;
}

static int choose_print(struct pf_settings *settings)
{
    struct pf_stat_settings *stat = own(settings);
    int status = check_level(stat);

    if (!status && stat->metrics_from)
        status = pf_stat_library_resolve(stat->metrics_from, &stat->metrics, &settings->record.events);
    choose_format(settings);
    if (pf_called_perf())
        settings->stat.flags |= PERFILE_STAT_PERF_METRICS;
    settings->stat.per = per_of(stat);
    if (!status)
        status = choose_topdown(stat);
    settings->stat.metrics = stat->metrics;
    return status ? status : check_metrics(settings);
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
    if ((status = choose_cluster(own(settings))) || (status = choose_print(settings)) ||
        (status = choose_events(settings)) || (status = end_cgroups(settings)) || (status = check(settings, records)))
        return status;
    if (!records && (status = open_appended(settings)))
        return status;
    return run_controlled(settings, records);
}

static int run_report(const struct pf_command *command, struct pf_settings *settings)
{
    const int status = choose_print(settings);
    return status ? status : pf_run_output(command, settings);
}

static const struct pf_option report_options[] = {
    PF_OPTION_OUTPUT,
    PF_OPTION_FAIL_EMPTY,
    {0},
};

static const struct pf_command report_command = {
    .name = "stat",
    .summary = "print what perf stat record counted",
    .doc = "Prints the counts of a recording of `perfile stat record` or `perf stat record`; of several recordings the "
           "means and standard errors.",
    .operand = "[FILE...]",
    .operand_max = SIZE_MAX,
    .pages = true,
    .groups = {&print_group, PF_GROUP("Options", report_options), &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run_report,
};

const struct pf_command pf_command_stat = {
    .name = "stat",
    .summary = "count events of a command, a process or the entire system",
    .doc = "Runs a command, or looks at running processes or the entire system, and prints what was counted, in the "
           "layout of perf stat, on standard error. `perfile stat record COMMAND` writes a recording instead, and "
           "`perfile stat report [FILE...]` prints what is in one, or the means of several.",
    .operand = "[record | report] [COMMAND [ARGUMENT...]]",
    .operand_max = SIZE_MAX,
    .takes_command = true,
    .own_bytes = sizeof(struct pf_stat_settings),
    .groups = {PF_GROUP("What is counted", what_options), &print_group,
               PF_GROUP("When and where it is printed", how_options), &pf_common_group},
    .run = run,
};
