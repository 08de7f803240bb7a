/* SPDX-License-Identifier: MIT */
#include "control.h"
#include "address_filters.h"
#include "event_filters.h"
#include "fitting.h"
#include "message.h"
#include "options.h"
#include "presets.h"
#include "record_output.h"
#include "record_cache.h"
#include "record_page.h"
#include "record_probes.h"
#include "record_rows.h"
#include "record_repeat.h"
#include "record_show.h"
#include "sandbox.h"
#include "workload.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <perfile/analysis.h>
#include <perfile/recorder.h>

static const struct pf_option what_options[] = {
    EVENTS("The events, in perf's syntax: cycles:u, cpu-clock, sched:sched_switch, cpu/event=0x3c/, {a,b}:S. perfile "
           "list shows those of this machine. The default is the best one for sampling, which is printed."),
    PF_ROW(TEXT, "filter", 0, "FILTER", AT(filters),
           "Only record the preceding tracepoint, or all that a wildcard matches, if its fields match: 'prev_pid != "
           "0'; of a "
           "hardware trace only these functions or addresses: 'filter main @ ./prog', 'filter 0x1200/0x80@/bin/prog'.",
           .set = pf_add_event_filter),
    PF_FLAG("exclude-perf", 0, .set = pf_exclude_self, "Do not record the preceding tracepoint for perfile itself."),
    PF_ROW(LINES, "probe", 0, "[FILE:]DEFINITION", AT(probes),
           "Add this probe of a program, a library or the kernel, record it and remove it at the end: libc:malloc, "
           "'./prog:parse:3 name:string'. perfile-probe(1) describes definitions."),
    TEXT("tracefs", 0, "DIR", tracefs, "The folder to write probes to instead of tracefs.", .hidden = true),
    TEXT("freq", 'F', "N", frequency, "Take N samples per second on each CPU [4000], or max: as many as allowed.",
         .first = true),
    NUMBER("count", 'c', "N", options.period, "Take a sample every N events."),
    FLAG("all-cpus", 'a', PERFILE_RECORDER_ALL_CPUS, "Record the entire system; the default without a command.",
         .first = true),
    TEXT("cpu", 'C', "LIST", options.cpus,
         "Record what runs on these CPUs, a command or not: 0-3,7. With -p, -t and -u: only these tasks there."),
    TEXT("pid", 'p', "LIST", options.pids,
         "Record these processes with all their threads; a command sets the duration: --pid 123 -- sleep 10.",
         .first = true),
    TEXT("tid", 't', "LIST", options.tids, "Record these threads."),
    TEXT("uid", 'u', "USER", options.user, "Record all processes of a user."),
    TEXT("cgroup", 'G', "PATH", options.cgroup, "Only record the processes of a cgroup; with --all-cpus."),
    FLAG("no-inherit", 'i', PERFILE_RECORDER_NO_INHERIT, "Do not record child processes."),
    FLAG("per-thread", 0, PERFILE_RECORDER_NO_INHERIT,
         "Use a buffer per thread, not per CPU: the same as --no-inherit."),
    FLAG("all-user", 0, PERFILE_RECORDER_ALL_USER, "Only record user space, for all events."),
    FLAG("all-kernel", 0, PERFILE_RECORDER_ALL_KERNEL, "Only record the kernel, for all events."),
    FLAG("no-samples", 'n', PERFILE_RECORDER_NO_SAMPLES, "Record no samples, only forks, exits, names and mappings."),
    PF_FLAG("off-cpu", 0, AT(off_cpu),
            "Also record where threads wait: context switches and wakeups with callchains, by the tracepoints "
            "sched:sched_switch and sched:sched_waking, or where these cannot be read by context-switches."),
    TEXT("delay", 'D', "MS", delay,
         "Start MS milliseconds after the command, or with -1 when --control enables it; mappings are recorded from "
         "the start.",
         .first = true),
    TEXT("control", 0, "HOW", control,
         "Accept commands from fd:CTL[,ACK] (descriptors) or fifo:CTL[,ACK] (named pipes): enable, disable, enable "
         "NAME, disable NAME, ping, evlist, snapshot, stop; each successful one is answered with ack."),
    {0},
};

static const struct pf_option sample_options[] = {
    STACK_FRAMES(
        "Callchains: --call-graph auto, the default without --event; called perf, --call-graph fp, and no default."),
    TEXT("call-graph", 0, "HOW", options.call_graph,
         "Record callchains: auto or auto,BYTES (a copy of the stack, unwound while recording), fp (frame pointers), "
         "dwarf or dwarf,BYTES (a copy of the stack in the recording, unwound later), lbr (branches), no.",
         .first = true),
    FLAG("user-callchains", 0, PERFILE_RECORDER_USER_CALLCHAINS, "Callchains without the kernel's part."),
    FLAG("kernel-callchains", 0, PERFILE_RECORDER_KERNEL_CALLCHAINS, "Callchains without user space."),
    TEXT("user-regs", 0, "LIST", options.user_regs, "Registers of user space: ip,sp."),
    TEXT("intr-regs", 'I', "LIST", options.intr_regs, "Registers at the sampled instruction."),
    TEXT("branch-filter", 'j', "LIST", options.branch_filter, "Taken branches: any,u."),
    PF_FLAG("branch-any", 'b', AT(any_branch), "All taken branches: --branch-filter any."),
    FLAG("data", 'd', PERFILE_RECORDER_ADDRESS, "Data addresses."),
    FLAG("data-mmap", 0, PERFILE_RECORDER_DATA_MAPS, "Mappings without code, too; --data has them anyway."),
    FLAG("phys-data", 0, PERFILE_RECORDER_PHYS_ADDRESS, "Physical data addresses."),
    FLAG("data-page-size", 0, PERFILE_RECORDER_DATA_PAGE_SIZE, "The sizes of the pages of data addresses."),
    FLAG("code-page-size", 0, PERFILE_RECORDER_CODE_PAGE_SIZE, "The sizes of the pages of instructions."),
    FLAG("weight", 'W', PERFILE_RECORDER_WEIGHT, "The cost of memory accesses."),
    FLAG("transaction", 0, PERFILE_RECORDER_TRANSACTION, "Flags of hardware transactions."),
    PF_IGNORED("timestamp", 'T', NULL, "Ignored: samples always have times."),
    FLAG("period", 'P', PERFILE_RECORDER_PERIOD, "The period of each sample."),
    FLAG("sample-identifier", 0, PERFILE_RECORDER_IDENTIFIER, "The identifier of the event, also where there is one."),
    FLAG("running-time", 0, PERFILE_RECORDER_RUNNING_TIME,
         "How long the counters ran, with the counts of all events in each sample (:S)."),
    FLAG("sample-cpu", 0, PERFILE_RECORDER_CPU, "The processor of each sample."),
    FLAG("raw-samples", 'R', PERFILE_RECORDER_RAW, "Raw data of events other than tracepoints."),
    FLAG("stat", 's', PERFILE_RECORDER_STAT, "Event counts per thread."),
    FLAG("switch-events", 0, PERFILE_RECORDER_SWITCHES, "Context switches."),
    PF_FLAG("latency", 0, AT(latency),
            "Record what report --latency needs: the same, of a command or of chosen processes."),
    FLAG("namespaces", 0, PERFILE_RECORDER_NAMESPACES, "The namespaces of processes."),
    FLAG("all-cgroups", 0, PERFILE_RECORDER_CGROUPS, "The control groups of samples."),
    TEXT("clockid", 'k', "CLOCK", options.clock,
         "The clock of the times: monotonic, monotonic_raw, boottime, realtime, tai."),
    NUMBER("kernel-maxstack", 0, "N", options.max_stack, "The maximum length of callchains."),
    {0},
};

static const struct pf_option file_options[] = {
    PF_ROW(TEXT, "output", 'o', "FILE", PF_AT(output),
           "The recording [perf.data], or - for a stream to standard output; the command's own output then goes to "
           "standard error. An existing recording is renamed to FILE.old. FILE can be read at any time while it grows.",
           .first = true),
    NUMBER(
        "realtime", 'r', "PRIORITY", realtime,
        "Read the buffers with this real-time priority (SCHED_FIFO, 1 to 99), so that less is lost on busy machines; "
        "the command keeps its priority. Without it root's recordings run with the nice value -20."),
    TEXT("mmap-pages", 'm', "SIZE", ring_size,
         "The buffer size per CPU: pages, or bytes with K or M [4M, with --call-graph auto 8M; less on machines with "
         "many CPUs or little memory, and for users that may not lock more]; after a comma that of the buffers for AUX "
         "data [4M, 128K for ordinary users]."),
    PF_ROW(TEXT, "snapshot", 'S', "HOW", AT(aux_snapshot),
           "Of hardware traces only record what the buffers for AUX data hold, on SIGUSR2 and the command snapshot; e "
           "also does so at the end, and a size such as 1M is that of these buffers.",
           .usual = ""),
    PF_ROW(TEXT, "aux-sample", 0, "SIZE", AT(aux_sample),
           "Of a hardware trace only record the newest SIZE bytes with each sample of the other events of its group: "
           "{intel_pt//u,cycles:u}.",
           .usual = "4096"),
    PF_ROW(NUMBER, "compression-level", 'z', "N", PF_AT(write.level),
           "Compress the records, from 1 (fast, the default) to 22 (small).", .first = true, .usual = "1"),
    PF_ROW(SIZE, "max-size", 0, "BYTES", AT(max_bytes),
           "Stop when the recording reaches this size; the command continues."),
    PF_FLAG("dry-run", 0, AT(dry_run),
            "Only check the options and open the events: nothing runs, and nothing is recorded."),
    PF_FLAG("strict-freq", 0, AT(strict_frequency),
            "Fail if the kernel allows no such frequency, instead of using the highest that it allows."),
    TEXT("fail-on-lost", 0, "PERCENT", fail_on_lost,
         "Exit with 1 if more than this percentage of the samples was lost."),
    PF_FLAG("no-clobber", 0, AT(no_clobber), "Refuse to record if the output exists."),
    TEXT("for", 0, "VERSION", options.for_perf,
         "Record only what this version of perf can read, such as perf-5.10; from 4.1 on. For older ones see perfile "
         "convert."),
    FLAG("overwrite", 0, PERFILE_RECORDER_OVERWRITE,
         "Keep only the newest records, as many as fit in the buffers (-m), and write them at the end and on SIGUSR2."),
    PF_ROW(TEXT, "switch-output", 0, "WHEN", AT(switch_output),
           "Switch to a new file on SIGUSR2 (signal), after a size such as 100M or a time such as 30s; each becomes "
           "FILE.YYYYMMDDhhmmssNN and can be read independently.",
           .first = true, .usual = "signal"),
    PF_FLAG("timestamp-filename", 0, AT(timestamp_filename),
            "Append the time to the recording's name, as --switch-output does."),
    PF_FLAG("html", 0, AT(html),
            "Then draw the recording as FILE.html, the page of flame --format html, and open it in a browser.",
            .first = true),
    PF_FLAG("code", 0, PF_AT(print.code),
            "With --html: put the code of the functions with the most samples into the page."),
    NUMBER("switch-max-files", 0, "N", switch_max_files, "Keep only the N newest of these files."),
    FLAG("no-buildid", 'B', PERFILE_RECORDER_NO_BUILD_IDS, "Do not read the build ids of mapped files."),
    FLAG("buildid-mmap", 0, PERFILE_RECORDER_KERNEL_BUILD_IDS,
         "Let the kernel write the build ids of mapped files, which also covers short-lived processes in other mount "
         "namespaces. While such a recording runs, other recordings on this machine may have no names, and "
         "older versions of perf, such as 6.1, abort."),
    PF_FLAG("no-buildid-cache", 'N', AT(no_cache),
            "Do not add the recorded files to the build-id cache, which only happens when called perf."),
    FLAG("tail-synthesize", 0, PERFILE_RECORDER_TAIL_SYNTHESIZE,
         "Record running processes at the end, not at the start."),
    {0},
};

static const struct pf_option repeat_options[] = {
    NUMBER("repeat", 0, "N", repeat,
           "Run the command N times, a recording each: FILE.1, FILE.2 and so on, to be compared with perfile diff. "
           "Three are the minimum, five are recommended. It reports how much the runs differ, and warns if that is too "
           "much to compare."),
    TEXT("versus", 0, "COMMAND", versus,
         "With --repeat: run the shell command COMMAND and the command by turns; the recordings are FILE.before.1, "
         "FILE.after.1 and so on."),
    TEXT("warm-up", 0, "N", warm_up, "With --repeat: first run each command N times without recording it [1]."),
    {0},
};

enum { RING_BYTES_MAX = 1 << 30 };

struct run {
    struct pf_settings *settings;
    const char *verb;                /* of messages */
    struct pf_record_stream *stream; /* NULL: the recording is a file, or goes to standard output */
    struct perfile_recorder_options options;
    struct pf_workload workload;
    struct pf_record_output output;
    struct pf_control control;
    struct perfile_recorder *recorder;
    struct perfile_unwind_stage *unwinding;
    struct perfile_error error;
    int signals;          /* a signalfd */
    bool reader_left;     /* the process that reads the stream has ended: it needs no more of it */
    sigset_t mask;        /* of signals before us, which the command gets */
    int signal;           /* the signal that ends the recording; 0: none arrived */
    int failed;           /* of a command: the recording cannot go on */
    bool snapshot_wanted; /* by a signal or a command */
    bool start_disabled;  /* until a command comes */
    bool stop_wanted;     /* by a control command, which is answered when it is done */
    char pid[16];
    double lost_max;      /* percent */
    int64_t enable_at_ms; /* of CLOCK_MONOTONIC; 0: nothing to wait for */
    bool ended;           /* the recorder uses no writer any more */
    bool stopped;         /* nothing more can be written */
    bool unasked;         /* everything is recorded because nothing was named */
    bool named;           /* what runs already is recorded: a command only says how long */
    bool is_complete;     /* the recording was finished */
    uint64_t drains;      /* how often the buffers were read */
    int priority;         /* before it was raised */
};

static void note(void *context, const char *sentence)
{
    const struct run *run = context;

    if (!run->settings->quiet)
        pf_message("%s: %s", run->verb, sentence);
}

/* ---- options ---- */

static int refuse(const struct run *run, const char *option, const char *text, const char *wanted)
{
    pf_message("%s: invalid value \"%s\" for --%s: expected %s", run->verb, text, option, wanted);
    return PF_STATUS_USAGE;
}

/* Digits, and what follows them; false: there are none, or too many. */
static bool parse_integer(const char *text, const char **rest, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    *rest = *text >= '0' && *text <= '9' ? end : text;
    return *rest != text && !errno;
}

/* 0: not known. */
static uint64_t max_frequency(void)
{
    char line[32] = "";
    FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "r");

    if (file && !fgets(line, sizeof(line), file))
        line[0] = 0;
    if (file)
        fclose(file);
    return strtoull(line, NULL, 10);
}

static int read_frequency(struct run *run)
{
    const char *text = run->settings->record.frequency;
    const char *rest;

    if (!text)
        return PF_STATUS_OK;
    if (!strcmp(text, "max")) {
        run->options.frequency = max_frequency();
        return PF_STATUS_OK;
    }
    if (!parse_integer(text, &rest, &run->options.frequency) || *rest || !run->options.frequency)
        return refuse(run, "freq", text, "a number of samples per second, or max");
    const uint64_t max = run->settings->record.strict_frequency ? max_frequency() : 0;
    if (!max || run->options.frequency <= max)
        return PF_STATUS_OK;
    pf_message("record: --strict-freq: the limit, /proc/sys/kernel/perf_event_max_sample_rate, is %" PRIu64, max);
    return PF_STATUS_USAGE;
}

/* A number of units of `scale` bytes, or of bytes with a unit; false: neither, or too much. */
static bool parse_size(const char *text, uint64_t scale, const char **rest, uint64_t *bytes)
{
    static const char units[] = "BKMG";
    uint64_t number;
    const char *unit;

    if (!parse_integer(text, rest, &number) || number > RING_BYTES_MAX)
        return false;
    unit = **rest ? strchr(units, toupper((unsigned char)**rest)) : NULL;
    *rest += unit != NULL;
    *bytes = number * (unit ? 1ull << 10 * (unit - units) : scale);
    return *bytes <= RING_BYTES_MAX;
}

/* Areas of AUX data have a power of two of pages. */
static uint64_t round_up(uint64_t bytes)
{
    uint64_t power = (uint64_t)sysconf(_SC_PAGESIZE);

    while (power < bytes)
        power *= 2;
    return bytes ? power : 0;
}

static int read_ring_size(struct run *run)
{
    const char *text = run->settings->record.ring_size, *rest;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (!text)
        return PF_STATUS_OK;
    bool good = *text == ',' || (parse_size(text, page, &rest, &run->options.mmap_bytes) && run->options.mmap_bytes);
    if (*text == ',')
        rest = text;
    if (good && *rest == ',')
        good = parse_size(rest + 1, page, &rest, &run->options.aux_bytes) && run->options.aux_bytes;
    run->options.aux_bytes = round_up(run->options.aux_bytes);
    return good && !*rest ? PF_STATUS_OK
                          : refuse(run, "mmap-pages", text,
                                   "a number of pages, or of bytes with B, K, M or G, of at most 1G, and another one "
                                   "after a comma for AUX data");
}

/* "e", a size, or both: a snapshot at the end, and the size of the areas. */
static int read_snapshot(struct run *run)
{
    const char *text = run->settings->record.aux_snapshot, *rest = text;
    uint64_t bytes = 0;

    if (!text)
        return PF_STATUS_OK;
    const bool at_end = *rest == 'e';
    rest += at_end;
    if ((*rest && !parse_size(rest, 1, &rest, &bytes)) || *rest)
        return refuse(run, "snapshot", text, "e (one more at the end), a size such as 1M, or both: e1M");
    run->options.aux_mode = at_end ? PERFILE_RECORDER_AUX_LAST_SNAPSHOT : PERFILE_RECORDER_AUX_SNAPSHOTS;
    run->options.aux_bytes = bytes ? round_up(bytes) : run->options.aux_bytes;
    return PF_STATUS_OK;
}

static int read_aux_sample(struct run *run)
{
    enum { MOST = 65400 };
    const char *text = run->settings->record.aux_sample, *rest;

    if (!text)
        return PF_STATUS_OK;
    return parse_size(text, 1, &rest, &run->options.aux_sample_bytes) && !*rest && run->options.aux_sample_bytes &&
                   run->options.aux_sample_bytes <= MOST
               ? PF_STATUS_OK
               : refuse(run, "aux-sample", text, "a number of bytes of at most 65400");
}

static int read_delay(struct run *run)
{
    const char *text = run->settings->record.delay, *rest;

    if (!text)
        return PF_STATUS_OK;
    if (!strcmp(text, "-1")) {
        run->start_disabled = true;
        run->options.flags |= PERFILE_RECORDER_TRACK;
        return PF_STATUS_OK;
    }
    if (!parse_integer(text, &rest, &run->options.delay_ms) || *rest || run->options.delay_ms > INT_MAX)
        return refuse(run, "delay", text, "a number of milliseconds, or -1");
    run->options.flags |= run->options.delay_ms ? PERFILE_RECORDER_TRACK : 0;
    return PF_STATUS_OK;
}

static int read_fail_on_lost(struct run *run)
{
    const char *text = run->settings->record.fail_on_lost;
    char *end;

    if (!text)
        return PF_STATUS_OK;
    run->lost_max = strtod(text, &end);
    return *text >= '0' && *text <= '9' && !text[strspn(text, "0123456789.")] && !*end && run->lost_max <= 100
               ? PF_STATUS_OK
               : refuse(run, "fail-on-lost", text, "a percentage from 0 to 100");
}

/*
 * When all switches of the machine are recorded, they show when each thread waits. When single threads are recorded,
 * the tracepoint shows when they stop, but only SWITCH records show when they go on.
 */
static int add_off_cpu(struct run *run)
{
    struct pf_chosen_events chosen = {.count = 0};
    const char *chains = run->options.call_graph ? NULL : pf_usual_call_graph();
    struct pf_record_settings *record = &run->settings->record;

    pf_choose_events("offcpu", NULL, &chosen);
    const bool traced = !chosen.missing;
    if (!traced)
        chosen = (struct pf_chosen_events){.names = {"context-switches"}, .count = 1};
    for (size_t i = 0; i < chosen.count; i++) {
        const char *name = chosen.names[i], *before = record->events ? record->events : "cycles:P";
        char *events;

        if (record->only_off_cpu && i == 0)
            before = "";
        if (asprintf(&events, "%s%s%s/period=1,name=%s%s%s/", before, *before ? "," : "", name, name,
                     chains ? ",call-graph=" : "", chains ? chains : "") < 0)
            return pf_out_of_memory(run->verb);
        free(record->events);
        record->events = events;
    }
    run->options.events = record->events;
    if (!traced || !(run->options.flags & PERFILE_RECORDER_ALL_CPUS))
        run->options.flags |= PERFILE_RECORDER_SWITCHES;
    return PF_STATUS_OK;
}

/* Functions in address filters become addresses. */
static int read_filters(struct run *run)
{
    struct pf_record_settings *record = &run->settings->record;
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < record->filter_count && !status; i++)
        if (record->filters[i] && pf_is_address_filter(record->filters[i]))
            status = pf_resolve_address_filter(run->verb, &record->filters[i]);
    return status;
}

static int read_options(struct run *run)
{
    const struct pf_record_settings *record = &run->settings->record;
    int status;

    run->options = record->options;
    run->options.size = sizeof(run->options);
    run->options.events = record->events;
    run->options.filters = (const char *const *)record->filters;
    run->options.filter_count = record->filter_count;
    run->options.note = note;
    run->options.note_context = run;
    if (record->latency)
        run->options.flags |= PERFILE_RECORDER_SWITCHES;
    if (record->any_branch && !run->options.branch_filter)
        run->options.branch_filter = "any";
    if ((record->frame_pointers || (!record->events && !pf_called_perf())) && !run->options.call_graph)
        run->options.call_graph = pf_usual_call_graph();
    if ((status = read_frequency(run)) || (status = read_ring_size(run)) || (status = read_snapshot(run)) ||
        (status = read_aux_sample(run)) || (status = read_filters(run)) || (status = read_delay(run)) ||
        (status = read_fail_on_lost(run)))
        return status;
    run->named = run->options.pids || run->options.tids || run->options.user;
    if (run->options.cpus && !run->named)
        run->options.flags |= PERFILE_RECORDER_ALL_CPUS; /* as perf: a command says how long */
    run->unasked = !run->settings->operand_count && !run->named && !(run->options.flags & PERFILE_RECORDER_ALL_CPUS);
    run->options.flags |= run->unasked ? PERFILE_RECORDER_ALL_CPUS : 0;
    return record->off_cpu ? add_off_cpu(run) : PF_STATUS_OK;
}

/* Refuses options that contradict each other. */
static int check_choices(struct run *run)
{
    const char *why = NULL;

    if (run->options.period && run->settings->record.frequency)
        why = "--count and --freq cannot both be given: a sample every N events, or N samples a second";
    if (run->options.flags & PERFILE_RECORDER_ALL_USER && run->options.flags & PERFILE_RECORDER_ALL_KERNEL)
        why = "--all-user and --all-kernel cannot both be given";
    if (run->settings->record.latency && run->options.flags & PERFILE_RECORDER_ALL_CPUS)
        why = "--latency needs a command or chosen processes: the threads of the entire system do not wait for each "
              "other";
    if (run->start_disabled && !run->settings->record.control)
        why = "--delay -1 waits for a command: it needs --control";
    if (run->options.flags & PERFILE_RECORDER_OVERWRITE && run->output.mode == PF_SWITCH_SIZE)
        why = "--overwrite writes nothing until it is asked to: --switch-output by signal or time, not by size";
    if (run->settings->record.control)
        run->options.flags |= PERFILE_RECORDER_TRACK;
    if (run->settings->write.level && pf_record_output_streams(&run->output))
        note(run, "perf does not read compressed streams (-z with -o -), not even its own; perfile does");
    if (why)
        pf_message("%s: %s", run->verb, why);
    return why ? PF_STATUS_USAGE : PF_STATUS_OK;
}

/* ---- recording ---- */

static int failure(const struct run *run, int result)
{
    return pf_workload_failure(run->verb, result, &run->error);
}

/* A request for a snapshot may arrive before there is anything to write: the signal stays blocked until then. */
static void hold_requests(struct run *run)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &run->mask);
}

static void read_signals(struct run *run)
{
    struct signalfd_siginfo info;

    while (read(run->signals, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo == SIGUSR2)
            run->snapshot_wanted = true;
        else if (info.ssi_signo != SIGCHLD && !run->signal)
            run->signal = (int)info.ssi_signo;
}

static uint64_t written_of(const struct run *run)
{
    return perfile_recorder_counts_get(run->recorder)->written;
}

static bool is_large_enough(const struct run *run)
{
    const uint64_t max = run->settings->record.max_bytes;

    return max && pf_record_output_bytes(&run->output, written_of(run)) >= max;
}

static bool has_reader(const struct run *run)
{
    return run->stream && run->stream->reader;
}

static bool reader_has_left(struct run *run)
{
    if (has_reader(run) && !run->reader_left)
        run->reader_left = pf_record_stream_ended(run->stream);
    return run->reader_left;
}

/* Nothing more can be written: stops recording, while the command continues. */
static void give_up(struct run *run)
{
    run->stopped = true;
    run->reader_left |= has_reader(run);
    if (!run->reader_left)
        pf_message("%s: %s; recording stopped%s", run->verb, run->error.message,
                   run->workload.running ? ", the command continues" : "");
    if (!run->ended && perfile_recorder_stop(run->recorder, NULL) < 0) /* the writer is ours in any case */
        return;
}

enum { DRAIN_MS = 250 };

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* How long nothing needs to be done without a word from outside. */
static int wait_ms(const struct run *run)
{
    const int64_t times[] = {run->enable_at_ms, run->output.next_ms}; /* 0: none */
    int64_t wait = DRAIN_MS;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (times[i] && times[i] - now_ms() < wait)
            wait = times[i] - now_ms();
    return wait < 0 ? 0 : (int)wait;
}

/* Enables the events once the delay is over. */
static int enable_late(struct run *run)
{
    if (!run->enable_at_ms || now_ms() < run->enable_at_ms)
        return 0;
    run->enable_at_ms = 0;
    return perfile_recorder_enable(run->recorder, &run->error);
}

/* ", and now?", for people; of a file that they would not find by itself its name. */
static const char *what_next(const struct run *run, uint64_t samples, char *buffer, size_t capacity)
{
    const char *name = pf_record_output_name(&run->output), *file = strcmp(name, "perf.data") ? name : "", *event;
    struct pf_fitting fitting = {0};
    char views[2 * PATH_MAX];
    uint64_t lost;

    if (!samples || !isatty(STDERR_FILENO) || pf_record_output_streams(&run->output))
        return "";
    for (size_t i = 0; (event = perfile_recorder_event_lost(run->recorder, i, &lost)); i++)
        pf_fitting_take_name(&fitting, event);
    if (pf_fitting_text(&fitting, file, views, sizeof(views)))
        snprintf(buffer, capacity, "; next: %s", views);
    else
        snprintf(buffer, capacity, "; next: perfile report%s%s", *file ? " " : "", file);
    return buffer;
}

/* The lines that scripts written for perf look for. */
static void print_as_perf(const struct run *run, uint64_t samples, uint64_t bytes)
{
    fprintf(stderr, "[ perf record: Woken up %" PRIu64 " times to write data ]\n", run->drains);
    fprintf(stderr, "[ perf record: Captured and wrote %.3f MB %s (%" PRIu64 " samples) ]\n", (double)bytes / 1048576,
            pf_record_output_name(&run->output), samples);
}

/* Ends the file, and says what is in it. */
static int finish_file(struct run *run)
{
    char text[PF_COUNTED_BYTES], bytes[PF_COUNTED_BYTES], next[2 * PATH_MAX + 16];
    const uint64_t before = run->output.bytes_before, samples = perfile_writer_progress(run->output.writer)->samples;
    const int result = pf_record_output_finish(&run->output, &run->error);

    if (result < 0 || run->settings->quiet || run->stream)
        return result;
    if (pf_called_perf())
        print_as_perf(run, samples, run->output.bytes_before - before);
    else
        pf_message("%s: %s, %s%s", pf_record_output_name(&run->output), pf_counted(samples, "samples", text),
                   pf_counted(run->output.bytes_before - before, "bytes", bytes),
                   what_next(run, samples, next, sizeof(next)));
    return result;
}

/* Ends this file and goes on in the next. After a failure the recorder may still use both writers. */
static int switch_file(struct run *run)
{
    struct pf_record_output *output = &run->output;
    int result = pf_record_output_open(output, &output->next, &run->error) ? PERFILE_ERROR_WRITE : 0;

    if (result == 0)
        result = perfile_recorder_switch_output(run->recorder, output->next, &run->error);
    if (result == 0)
        result = finish_file(run);
    if (result < 0)
        return result;
    output->writer = output->next;
    output->next = NULL;
    return pf_record_output_publish(output, &run->error) ? PERFILE_ERROR_WRITE : 0;
}

/* Takes a snapshot that was requested by a signal or a command, or is due. */
static int take_snapshot(struct run *run)
{
    const bool due = pf_record_output_is_due(&run->output, written_of(run), now_ms());

    if (!due && !run->snapshot_wanted)
        return 0;
    run->snapshot_wanted = false;
    return pf_record_output_switches(&run->output) ? switch_file(run)
                                                   : perfile_recorder_snapshot(run->recorder, &run->error);
}

/* ---- commands ---- */

/* Refuses -v, -g and -F after "evlist ", which only perf has. */
static int refuse_list(struct perfile_recorder *recorder, const char *name, struct perfile_error *error)
{
    (void)recorder, (void)name;
    snprintf(error->message, sizeof(error->message), "evlist takes no arguments");
    return error->code = PERFILE_ERROR_ARGUMENT;
}

static int list_events(struct run *run)
{
    const char *name;
    uint64_t lost;

    for (size_t i = 0; (name = perfile_recorder_event_lost(run->recorder, i, &lost)); i++)
        fprintf(stderr, "%s\n", name);
    return 0;
}

static int ping(struct run *run)
{
    (void)run;
    return 0;
}

static int enable_now(struct run *run)
{
    run->enable_at_ms = 0;
    return perfile_recorder_enable(run->recorder, &run->error);
}

static int disable_now(struct run *run)
{
    run->enable_at_ms = 0;
    return perfile_recorder_disable(run->recorder, &run->error);
}

/* The answer comes when there is something to read. */
static int snapshot_now(struct run *run)
{
    run->failed = perfile_recorder_drain(run->recorder, 0, &run->error);
    run->snapshot_wanted = true;
    if (run->failed >= 0)
        run->failed = take_snapshot(run);
    return run->failed;
}

static int stop_later(struct run *run)
{
    run->stop_wanted = true;
    return 1;
}

/*
 * Runs a control command; true when it is to be answered. As in perf, a name is all that follows one blank, and text
 * after a word without a name is ignored.
 */
static bool obey(void *context, const char *command)
{
    static const struct {
        const char *word;
        int (*act)(struct run *run);
        int (*act_on)(struct perfile_recorder *recorder, const char *name, struct perfile_error *error);
    } words[] = {
        {"enable", enable_now, perfile_recorder_enable_event},
        {"disable", disable_now, perfile_recorder_disable_event},
        {"ping", ping, NULL},
        {"evlist", list_events, refuse_list},
        {"snapshot", snapshot_now, NULL},
        {"stop", stop_later, NULL},
    };
    struct run *run = context;
    const size_t bytes = strcspn(command, " ");

    if (run->failed < 0) /* the one before it was the end */
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) != bytes || memcmp(words[i].word, command, bytes) != 0)
            continue;
        const int result = command[bytes] && words[i].act_on
                               ? words[i].act_on(run->recorder, command + bytes + 1, &run->error)
                               : words[i].act(run);
        if (result < 0 && !run->failed)
            pf_message("record: %s: %s", command, run->error.message);
        return result == 0;
    }
    pf_message("record: unknown control command \"%s\" (valid: enable, disable, enable NAME, disable NAME, ping, "
               "evlist, snapshot, stop)",
               command);
    return false;
}

/* ---- the loop ---- */

static void record(struct run *run)
{
    struct pollfd fds[] = {{.fd = run->signals, .events = POLLIN},
                           {.fd = perfile_recorder_fd(run->recorder), .events = POLLIN},
                           {.fd = run->control.fd, .events = POLLIN}};
    int result = 1, status;

    while (result > 0 && !run->stopped && !run->signal && !run->stop_wanted && !reader_has_left(run)) {
        poll(fds, 3, wait_ms(run));
        read_signals(run);
        pf_control_read(&run->control, obey, run);
        fds[2].fd = run->control.fd;
        result = run->failed < 0 ? run->failed : enable_late(run);
        run->drains++;
        if (result == 0)
            result = perfile_recorder_drain(run->recorder, 0, &run->error);
        if (result > 0 && (status = take_snapshot(run)) < 0)
            result = status;
        if (run->workload.pid && pf_workload_ended(&run->workload))
            break;
        if (result > 0 && is_large_enough(run))
            break;
    }
    if (result < 0)
        give_up(run);
}

static int enable(struct run *run)
{
    return perfile_recorder_enable(run->recorder, &run->error) < 0 ? failure(run, PERFILE_ERROR_OPEN) : PF_STATUS_OK;
}

/* The recording of before is touched only when the command could be executed. */
static int start(struct run *run)
{
    const bool by_exec = run->options.flags & PERFILE_RECORDER_ENABLE_ON_EXEC;
    int status = PF_STATUS_OK;

    if (!by_exec && !run->options.delay_ms && !run->start_disabled)
        status = enable(run);
    if (!status && run->workload.pid)
        status = pf_workload_start(&run->workload);
    if (!status && pf_record_output_publish(&run->output, &run->error))
        give_up(run);
    if (run->options.delay_ms)
        run->enable_at_ms = now_ms() + (int64_t)run->options.delay_ms;
    (void)pf_record_output_is_due(&run->output, 0, now_ms()); /* its time begins now */
    if (!status && run->unasked)
        note(run, "no command or process given: recording the entire system until Ctrl-C");
    else if (!status && !run->workload.pid && pf_is_terminal(STDERR_FILENO))
        note(run,
             run->named ? "recording until Ctrl-C, or until all recorded tasks have ended" : "recording until Ctrl-C");
    return status;
}

/* ---- the end ---- */

/* If the file could not be completed, its samples are counted by reading it again. */
static uint64_t samples_in_file(const struct run *run)
{
    struct perfile_reader *reader;
    const struct perfile_record *record;
    uint64_t samples = 0;

    if (!run->output.shown || perfile_open_path(run->output.path, NULL, &reader, NULL) < 0)
        return 0;
    while (perfile_reader_next(reader, &record, NULL) > 0)
        continue;
    samples = perfile_reader_counts(reader)->samples;
    perfile_close(reader);
    return samples;
}

static void print_losses(const struct run *run, uint64_t samples)
{
    const uint64_t lost = perfile_recorder_counts_get(run->recorder)->lost;
    char text[PF_COUNTED_BYTES];
    uint64_t of_event;
    const char *name;

    pf_message("%s: %s (%.2f %%): use larger buffers (-m)%s", run->verb, pf_counted(lost, "samples LOST", text),
               100 * (double)lost / (double)(lost + samples),
               run->stream ? " or fewer events" : ", fewer events or a lower rate (-F)");
    for (size_t i = 0; (name = perfile_recorder_event_lost(run->recorder, i, &of_event)); i++)
        if (of_event && of_event != lost)
            pf_message("%s: of %s: %s", run->verb, name, pf_grouped(of_event, text));
}

/* What would help where the unwinder found no caller. */
static void print_cure_of_lost(const struct run *run)
{
    const char *name;
    bool is_made = false, is_built = false;
    uint64_t samples;

    for (size_t i = 0; (name = perfile_unwind_stage_lost(run->unwinding, PERFILE_UNWIND_LOST, i, &samples)); i++) {
        is_made |= !strcmp(name, PERFILE_GENERATED_CODE);
        is_built |= strcmp(name, PERFILE_GENERATED_CODE) != 0;
    }
    if (is_built)
        fputs("build it with -fno-omit-frame-pointer", stderr);
    if (is_made)
        fprintf(stderr, "%sJava has frame pointers with -XX:+PreserveFramePointer", is_built ? "; " : "");
}

static void print_cure_of_cut(const struct run *run)
{
    const char *how = run->options.call_graph;

    fputs(how && !strcmp(how, "auto,65528") ? "no more can be copied" : "--call-graph auto,65528 copies more", stderr);
}

static void print_cure_of_gone(const struct run *run)
{
    (void)run;
    fputs("keep them until the recording has ended", stderr);
}

/* The files in which stacks end for a reason. */
static void print_files(const struct run *run, enum perfile_unwind_reason reason)
{
    enum { FILES_MAX = 3 };
    const char *name;
    char text[PF_COUNTED_BYTES];
    uint64_t samples;
    size_t i = 0;

    for (; i < FILES_MAX && (name = perfile_unwind_stage_lost(run->unwinding, reason, i, &samples)); i++)
        fprintf(stderr, "%s%s %s", i ? ", " : "", name, pf_grouped(samples, text));
    if (i && perfile_unwind_stage_lost(run->unwinding, reason, i, &samples))
        fputs(", ...", stderr);
    if (i)
        fputs("; ", stderr);
}

/* Stacks that end before the first function of the thread, and why. */
static void print_unwinding(const struct run *run)
{
    struct perfile_unwinder_counts counts = PERFILE_UNWINDER_COUNTS_INIT;
    char all[PF_COUNTED_BYTES], some[PF_COUNTED_BYTES];

    if (perfile_unwind_stage_counts(run->unwinding, &counts) < 0 || counts.complete == counts.samples)
        return;
    const struct {
        uint64_t count;
        const char *why;
        enum perfile_unwind_reason reason;
        void (*print_cure)(const struct run *run);
    } reasons[] = {
        {counts.cut, "cut", PERFILE_UNWIND_CUT, print_cure_of_cut},
        {counts.lost, "in code without unwind tables and frame pointers", PERFILE_UNWIND_LOST, print_cure_of_lost},
        {counts.gone, "in files that were gone before they were read", PERFILE_UNWIND_GONE, print_cure_of_gone},
        {counts.limited, "with more frames than --kernel-maxstack", PERFILE_UNWIND_REASONS, NULL},
    };
    const char *separator = ":";
    fprintf(stderr, "%s: %s: %s of %s are incomplete", pf_program_name(), run->verb,
            pf_grouped(counts.samples - counts.complete, some), pf_counted(counts.samples, "user stacks", all));
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (!reasons[i].count)
            continue;
        fprintf(stderr, "%s %s %s", separator, pf_grouped(reasons[i].count, some), reasons[i].why);
        separator = ",";
        if (!reasons[i].print_cure)
            continue;
        fputs(" (", stderr);
        print_files(run, reasons[i].reason);
        reasons[i].print_cure(run);
        putc(')', stderr);
    }
    putc('\n', stderr);
}

static void print_aux(const struct run *run)
{
    const struct perfile_recorder_counts *counts = perfile_recorder_counts_get(run->recorder);
    char text[PF_COUNTED_BYTES];

    if (counts->aux_bytes)
        pf_message("%s: %s of AUX data", run->verb, pf_counted(counts->aux_bytes, "bytes", text));
    if (counts->aux_truncated)
        pf_message("%s: the kernel had AUX data with gaps %s: use larger buffers for it (-m ,SIZE), a shorter time, or "
                   "less of a trace (a filter)",
                   run->verb, pf_counted(counts->aux_truncated, "times", text));
}

static void print_summary(const struct run *run)
{
    const struct perfile_recorder_counts *counts = perfile_recorder_counts_get(run->recorder);
    char text[PF_COUNTED_BYTES];

    if (run->settings->quiet)
        return;
    const uint64_t samples = run->stopped ? samples_in_file(run) : counts->samples;
    if (run->stopped && run->output.shown)
        pf_message("%s: contains %s", run->output.path, pf_counted(samples, "samples", text));
    if (run->enable_at_ms)
        pf_message("%s: the command ended before the delay of %" PRIu64 " ms", run->verb, run->options.delay_ms);
    if (counts->throttled)
        pf_message("%s: the kernel throttled events %s: use a lower rate (-F)", run->verb,
                   pf_counted(counts->throttled, "times", text));
    if (counts->lost)
        print_losses(run, samples);
    print_aux(run);
    print_unwinding(run);
}

static int check_losses(const struct run *run)
{
    const struct perfile_recorder_counts *counts = perfile_recorder_counts_get(run->recorder);
    const double share = counts->lost ? 100 * (double)counts->lost / (double)(counts->lost + counts->samples) : 0;

    return run->settings->record.fail_on_lost && share > run->lost_max ? PF_STATUS_FINDINGS : PF_STATUS_OK;
}

static int finish(struct run *run)
{
    int result = run->stopped ? 0 : perfile_recorder_stop(run->recorder, &run->error);

    run->ended = result == 0;
    if (result == 0 && !run->stopped)
        result = finish_file(run);
    if (result < 0)
        give_up(run);
    if (run->stopped)
        pf_record_output_close(&run->output); /* cuts off incomplete records */
    print_summary(run);
    if (run->stop_wanted && !run->stopped)
        pf_control_answer(&run->control);
    return run->stopped && !run->reader_left ? PF_STATUS_OUTPUT : check_losses(run);
}

/* As in perf, ending the recording also ends the command, even when it continues without being recorded. */
static void wait_for_command(struct run *run)
{
    struct pollfd signals = {.fd = run->signals, .events = POLLIN};
    bool wanted = run->signal || run->stop_wanted || run->named;

    while (!pf_workload_ended(&run->workload)) {
        if (wanted)
            kill(run->workload.pid, SIGTERM);
        run->signal = 0;
        poll(&signals, 1, -1);
        read_signals(run);
        wanted = run->signal;
    }
}

/* The command's own status is what counts, unless the recording failed. */
static int end(struct run *run)
{
    int status = finish(run);

    (void)setpriority(PRIO_PROCESS, 0, run->priority);
    run->is_complete = status <= PF_STATUS_FINDINGS;
    if (!run->workload.pid)
        return status;
    const bool outlived = run->named && !pf_workload_ended(&run->workload);
    if (run->reader_left) /* as perf: the command goes on alone */
        return status;
    wait_for_command(run);
    if (outlived)
        return status;
    const int own = pf_workload_status(&run->workload);
    return status ? status : own;
}

/* Sets the priority of this process and its later threads, not of the command, which was forked before. */
static int take_priority(struct run *run)
{
    const uint64_t wanted = run->settings->record.realtime;
    const int max = sched_get_priority_max(SCHED_FIFO);
    const struct sched_param priority = {.sched_priority = wanted <= (uint64_t)max ? (int)wanted : 0};

    run->priority = pf_workload_go_first();
    if (!wanted || (priority.sched_priority && !sched_setscheduler(0, SCHED_FIFO, &priority)))
        return PF_STATUS_OK;
    if (priority.sched_priority)
        pf_message("record: --realtime %d: %s (it needs root, CAP_SYS_NICE or ulimit -r)", priority.sched_priority,
                   strerror(errno));
    else
        pf_message("record: --realtime %" PRIu64 ": the highest priority is %d", wanted, max);
    return priority.sched_priority ? PF_STATUS_UNREADABLE : PF_STATUS_USAGE;
}

/* The programs that are recorded are not trusted. */
static void enter_sandbox(void *settings)
{
    pf_sandbox_enter_thread(settings);
}

static int open_recorder(struct run *run)
{
    struct perfile_unwind_stage_options options = PERFILE_UNWIND_STAGE_OPTIONS_INIT;

    options.max_frames = run->options.max_stack;
    options.started = enter_sandbox;
    options.started_context = run->settings;
    const int result = perfile_unwind_stage_open(&options, &run->unwinding, &run->error);

    if (result < 0)
        return result;
    run->options.stage = perfile_unwind_stage_get(run->unwinding);
    return perfile_recorder_open(&run->options, run->output.writer, &run->recorder, &run->error);
}

static int record_all(struct run *run)
{
    int result, status;

    if (run->settings->operand_count) {
        const bool aside = run->stream ? run->stream->aside : pf_record_output_streams(&run->output);

        if ((status = pf_workload_prepare(&run->workload, run->settings->operands, aside, &run->mask)))
            return status;
        snprintf(run->pid, sizeof(run->pid), "%d", (int)run->workload.pid);
        if (!(run->options.flags & PERFILE_RECORDER_ALL_CPUS) && !run->named) {
            run->options.tids = run->pid;
            run->options.flags |= run->options.delay_ms || run->start_disabled ? 0 : PERFILE_RECORDER_ENABLE_ON_EXEC;
        }
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit on files is a failure of write(2) */
    if ((status = pf_workload_signals(run->verb, true, &run->signals)) || (status = take_priority(run)))
        return status;
    if ((status = pf_record_output_open(&run->output, &run->output.writer, &run->error))) {
        pf_message("%s: %s", run->verb, run->error.message);
        return status;
    }
    result = open_recorder(run);
    if (result < 0)
        return failure(run, result);
    if ((status = start(run)))
        return status;
    record(run);
    return end(run);
}

static int discard(void *context, const void *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return 0;
}

/* --dry-run: opens the events, for this process if no other is named, and records nothing. */
static int try_events(struct run *run)
{
    const struct perfile_sink sink = {NULL, discard};
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_writer *writer;

    how.mode = PERFILE_MODE_PIPE;
    if (!(run->options.flags & PERFILE_RECORDER_ALL_CPUS) && !run->named) {
        snprintf(run->pid, sizeof(run->pid), "%d", (int)getpid());
        run->options.tids = run->pid;
    }
    if (run->options.call_graph && !strncmp(run->options.call_graph, "auto", 4))
        run->options.call_graph = "dwarf"; /* which needs no other thread */
    int result = perfile_writer_open_sink(&sink, &how, &writer, &run->error);
    if (result == 0)
        result = perfile_recorder_open(&run->options, writer, &run->recorder, &run->error);
    const int status = result < 0 ? failure(run, result) : PF_STATUS_OK;
    perfile_recorder_close(run->recorder);
    run->recorder = NULL;
    perfile_writer_close(writer);
    return status;
}

static bool is_one_file(const struct run *run)
{
    return !pf_record_output_streams(&run->output) && !pf_record_output_switches(&run->output) &&
           !run->settings->record.timestamp_filename;
}

static bool fills_cache(const struct run *run)
{
    const struct pf_record_settings *record = &run->settings->record;

    return pf_called_perf() && run->is_complete && !run->stream && is_one_file(run) && !record->no_cache &&
           !record->dry_run && !(record->options.flags & PERFILE_RECORDER_NO_BUILD_IDS);
}

static int record_once(const struct pf_command *command, struct pf_settings *settings)
{
    struct run run = {.settings = settings,
                      .signals = -1,
                      .verb = command->name,
                      .stream = settings->record.stream,
                      .control = {.verb = command->name, .fd = -1, .ack = -1},
                      .workload = {.verb = command->name, .go = -1, .news = -1}};
    int status;

    hold_requests(&run);
    settings->operands[settings->operand_count] = NULL;
    if (!(status = read_options(&run)) && !(status = pf_record_output_prepare(&run.output, settings)) &&
        !(status = pf_record_page_check(settings, is_one_file(&run))) && !(status = check_choices(&run)) &&
        !(status = pf_control_open(&run.control, settings->record.control)))
        status = settings->record.dry_run ? try_events(&run) : record_all(&run);
    perfile_recorder_close(run.recorder);
    perfile_unwind_stage_close(run.unwinding);
    pf_record_output_close(&run.output);
    pf_control_close(&run.control);
    pf_workload_close(&run.workload);
    if (run.signals >= 0)
        close(run.signals);
    if (run.stream)
        run.stream->is_complete = run.is_complete;
    const char *path = settings->output ? settings->output : "perf.data";
    if (fills_cache(&run))
        pf_record_cache_fill(settings, path);
    if (settings->record.html && run.is_complete) {
        const int drawn = pf_record_page_show(settings, path);
        status = status ? status : drawn;
    }
    return status;
}

static int run_without_probes(const struct pf_command *command, struct pf_settings *settings)
{
    if (!pf_record_repeats(settings))
        return record_once(command, settings);
    const int status = pf_record_page_check(settings, false);
    return status ? status : pf_record_repeat(command, settings, record_once);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    struct pf_record_probes *probes;
    int status = pf_record_probes_open(settings, &probes);

    if (!status)
        status = run_without_probes(command, settings);
    pf_record_probes_close(probes);
    return status;
}

const struct pf_command pf_command_record = {
    .name = "record",
    .summary = "record a command, a process or the entire system",
    .doc = "Runs a command, or attaches to running processes or the entire system, and writes a recording that can be "
           "read at any time: if perfile is killed, the disk is full or the terminal is closed, everything written so "
           "far is there. The default is the best event for sampling, with complete callchains.",
    .operand = "[COMMAND [ARGUMENT...]]",
    .operand_max = SIZE_MAX,
    .takes_command = true,
    .groups = {PF_GROUP("What is recorded", what_options), PF_GROUP("Contents of samples", sample_options),
               PF_GROUP("The recording", file_options), PF_GROUP("Recordings to compare", repeat_options),
               &pf_common_group},
    .run = run,
};
