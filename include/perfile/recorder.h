/* SPDX-License-Identifier: MIT */
/*
 * perfile/recorder.h: recording this machine (libperfile, Linux only).
 *
 *     struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
 *     struct perfile_writer_options live = PERFILE_WRITER_OPTIONS_INIT;
 *
 *     live.live = true;                             // others can read the file while it is written
 *     options.events = "cpu-clock";
 *     options.pids = "4711";
 *     options.call_graph = "fp";
 *     if (perfile_writer_open_path("perf.data", &live, &writer, &error) < 0 ||
 *         perfile_recorder_open(&options, writer, &recorder, &error) < 0)
 *         die(error.message);                       // one sentence, with the way out
 *     if (perfile_writer_publish(writer, &error) < 0 || // from here on there is a file of that name
 *         perfile_recorder_enable(recorder, &error) < 0)
 *         die(error.message);
 *     while (perfile_recorder_drain(recorder, 100, &error) > 0)
 *         if (enough)
 *             break;
 *     if (perfile_recorder_stop(recorder, &error) < 0 ||
 *         perfile_writer_finish(writer, &error) < 0)    // now it is a file like any other
 *         die(error.message);
 *     perfile_recorder_close(recorder);
 *     perfile_writer_close(writer);
 *
 * Threads.   A recorder belongs to one thread at a time. When the writer compresses, the recorder writes records in a
 *            thread of its own, with at most 32 MiB waiting for it: the writer's functions and its allocator are then
 *            called there, too, and the caller may use the writer only after _open, _disable, _snapshot, _switch_output
 *            and _stop, until it calls _drain; `written` of the counts states its progress. The order of records is
 *            kept. The same is true with a stage (perfile_recorder_options), which writes them in an order of its own.
 */
#ifndef PERFILE_RECORDER_H
#define PERFILE_RECORDER_H

#include <perfile/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

enum perfile_recorder_flags {
    PERFILE_RECORDER_ALL_CPUS = 1 << 0,         /* -a: everything that runs */
    PERFILE_RECORDER_NO_INHERIT = 1 << 1,       /* -i: not the children of what is recorded */
    PERFILE_RECORDER_ENABLE_ON_EXEC = 1 << 2,   /* start when the (one) process of `pids` executes a program */
    PERFILE_RECORDER_ADDRESS = 1 << 3,          /* -d: data addresses */
    PERFILE_RECORDER_PHYS_ADDRESS = 1 << 4,     /* --phys-data */
    PERFILE_RECORDER_DATA_PAGE_SIZE = 1 << 5,   /* --data-page-size */
    PERFILE_RECORDER_CODE_PAGE_SIZE = 1 << 6,   /* --code-page-size */
    PERFILE_RECORDER_WEIGHT = 1 << 7,           /* -W */
    PERFILE_RECORDER_TRANSACTION = 1 << 8,      /* --transaction */
    PERFILE_RECORDER_NO_TIME = 1 << 9,          /* no times of samples */
    PERFILE_RECORDER_CPU = 1 << 10,             /* --sample-cpu */
    PERFILE_RECORDER_PERIOD = 1 << 11,          /* -P */
    PERFILE_RECORDER_STAT = 1 << 12,            /* -s: counts per thread */
    PERFILE_RECORDER_SWITCHES = 1 << 13,        /* --switch-events */
    PERFILE_RECORDER_NAMESPACES = 1 << 14,      /* --namespaces */
    PERFILE_RECORDER_CGROUPS = 1 << 15,         /* --all-cgroups */
    PERFILE_RECORDER_OVERWRITE = 1 << 16,       /* --overwrite: only the newest records, written by _snapshot */
    PERFILE_RECORDER_NO_SYNTHESIZE = 1 << 17,   /* do not say what ran before */
    PERFILE_RECORDER_TAIL_SYNTHESIZE = 1 << 18, /* say it at the end */
    PERFILE_RECORDER_RAW = 1 << 19,             /* -R: raw data of events other than tracepoints, too */
    PERFILE_RECORDER_TRACK =
        1 << 20, /* an additional event that records maps and names while the others are disabled */
    PERFILE_RECORDER_ALL_USER = 1 << 21,          /* --all-user: user space only, whatever the events say */
    PERFILE_RECORDER_ALL_KERNEL = 1 << 22,        /* --all-kernel; not with _ALL_USER */
    PERFILE_RECORDER_USER_CALLCHAINS = 1 << 23,   /* --user-callchains: without the kernel's part */
    PERFILE_RECORDER_KERNEL_CALLCHAINS = 1 << 24, /* --kernel-callchains */
    PERFILE_RECORDER_NO_BUILD_IDS = 1 << 25,      /* -B */
    PERFILE_RECORDER_NO_SAMPLES = 1 << 26,        /* -n: maps, names and tasks only */
    /* --buildid-mmap: the kernel writes the build ids, not the recorder; other recorders may suffer, see
       perfile-record(1) */
    PERFILE_RECORDER_KERNEL_BUILD_IDS = 1 << 27,
    PERFILE_RECORDER_DATA_MAPS = 1 << 28,    /* --data-mmap: mappings without code, too */
    PERFILE_RECORDER_IDENTIFIER = 1 << 29,   /* --sample-identifier: also of the only event */
    PERFILE_RECORDER_RUNNING_TIME = 1 << 30, /* --running-time: with the counts of each sample (:S) */
};

/*
 * Something that changes records on their way from the buffers to the recording, in a thread of its own.
 * perfile_unwind_stage_get of <perfile/analysis.h> is one. Used when an event has the call graph "auto".
 */
struct perfile_recorder_stage {
    size_t size; /* sizeof(struct perfile_recorder_stage) */
    void *context;
    /*
     * Starts a recording. Events, features and records that are written to *input, a writer in pipe mode, come out in
     * `writer`, changed. That is used by the stage only after something was flushed to *input.
     */
    int (*open)(void *context, struct perfile_writer *writer, struct perfile_writer **input,
                struct perfile_error *error);
    /*
     * Waits until what was flushed to `input` is consumed; until the next flush `writer` is not used. Its failures are
     * returned, also those before.
     */
    int (*settle)(void *context, struct perfile_writer *input, struct perfile_error *error);
    /* The bytes of the recording in `writer` so far. */
    uint64_t (*written)(void *context, struct perfile_writer *input);
    /* Ends `input` and releases it; then all of it is in `writer`. Called exactly once. The error may be NULL. */
    int (*close)(void *context, struct perfile_writer *input, struct perfile_error *error);
    /*
     * Of the stacks that were unwound so far: returns how many, and in *larger how many of them were cut or needed more
     * than `bytes` bytes, a power of two, of their dump. NULL: all dumps have the same size.
     */
    uint64_t (*unwound)(void *context, struct perfile_writer *input, uint64_t bytes, uint64_t *larger);
};

struct perfile_recorder_options {
    size_t size;                /* sizeof(struct perfile_recorder_options) */
    unsigned flags;             /* enum perfile_recorder_flags */
    const char *events;         /* as perf's -e: "cycles:u,{a,b}:S,sched:sched_switch"; NULL: the best there is */
    const char *const *filters; /* of tracepoints: filters[i] is for the i-th event of `events`; NULL, or with NULLs */
    size_t filter_count;
    uint64_t frequency; /* samples a second of each CPU; 0 with period 0: 4000 */
    uint64_t period;    /* or: events between samples */
    const char *pids;   /* "1,2": these processes with all their threads */
    const char *tids;
    const char *cpus; /* "0-3,7": only there */
    const char *user; /* a name or number: all processes of this user */
    const char
        *cgroup; /* path below the mount of the perf_event hierarchy or of cgroup v2; needs PERFILE_RECORDER_ALL_CPUS */
    /*
     * "fp", "dwarf", "dwarf,8192", "lbr"; NULL: none. "auto", "auto,8192": user stacks are dumped for `stage`, which
     * makes callchains of them; "fp" for events whose user registers are wanted, and where nothing unwinds.
     */
    const char *call_graph;
    const char *user_regs; /* "ip,sp"; "" all */
    const char *intr_regs;
    const char *branch_filter; /* as -j: "any,u" */
    const char *clock;    /* as -k: "monotonic", "monotonic_raw", "boottime", "realtime", "tai"; NULL: perf's own */
    uint64_t mmap_bytes;  /* of each ring buffer; 0: chosen */
    uint64_t max_stack;   /* entries of kernel callchains; 0: the system's limit */
    uint64_t delay_ms;    /* not 0: PERFILE_RECORDER_ENABLE_ON_EXEC is not heard; the caller enables, so much later */
    unsigned threads;     /* that read /proc at the start; 0: as many as processors, at most 8 */
    const char *for_perf; /* "5.10": nothing that this version of perf (from 4.1 on) does not know; NULL: the newest */
    const struct perfile_allocator *allocator;
    /* Called for what was done otherwise than asked, such as another event. May be NULL. */
    void (*note)(void *context, const char *sentence);
    void *note_context;
    const struct perfile_recorder_stage *stage; /* for the call graph "auto"; NULL means none */
    /* Of events that write a hardware trace (intel_pt//, arm_spe//, cs_etm//), which is AUX data: */
    uint64_t aux_bytes; /* of each buffer of AUX data, a power of two; 0: chosen */
    /*
     * Not 0: instead of all of it, samples of the other events of such an event's group have so many bytes of it, the
     * newest ones; at most 65400.
     */
    uint64_t aux_sample_bytes;
    unsigned aux_mode; /* enum perfile_recorder_aux */
    bool schedstat;    /* also records the scheduler's counters (/proc/schedstat) at the start and at the end */
};
/* Which AUX data is recorded. */
enum perfile_recorder_aux {
    PERFILE_RECORDER_AUX_ALL,
    PERFILE_RECORDER_AUX_SNAPSHOTS,    /* the newest, as much as its buffer holds, whenever _snapshot is called */
    PERFILE_RECORDER_AUX_LAST_SNAPSHOT /* and once more by _stop */
};
#define PERFILE_RECORDER_OPTIONS_INIT PERFILE_SIZED(struct perfile_recorder_options)

struct perfile_recorder;

/*
 * Opens the events, disabled, and writes them, this machine's features and the running processes. For tracepoints root
 * gets tracefs mounted where it is not (a note). Errors: ARGUMENT (an
 * event or list that cannot be understood: the message names it, and what is near), UNSUPPORTED (this machine cannot
 * count that), OPEN (no permission: the message says what would help), ABSENT (no such process), MEMORY, WRITE.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_open(const struct perfile_recorder_options *options,
                                                         struct perfile_writer *writer,
                                                         struct perfile_recorder **recorder,
                                                         struct perfile_error *error);
/*
 * Between _disable and _enable maps, names and the ends of threads are not recorded, unless the recorder was opened
 * with PERFILE_RECORDER_TRACK, or for what runs already and its children. OPEN.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_enable(struct perfile_recorder *recorder,
                                                           struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_disable(struct perfile_recorder *recorder,
                                                            struct perfile_error *error);
/*
 * The same for the events that have this name in the recording, as perfile_recorder_event_lost gives it. ABSENT, OPEN.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_enable_event(struct perfile_recorder *recorder, const char *name,
                                                                 struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_disable_event(struct perfile_recorder *recorder, const char *name,
                                                                  struct perfile_error *error);
/*
 * Waits until a buffer is filled enough, at most `timeout_ms`, and writes what is in all of them, and hands it to the
 * system. 1: go on; 0: all that was recorded has ended; negative: WRITE, READ. With PERFILE_RECORDER_OVERWRITE nothing
 * is written.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_drain(struct perfile_recorder *recorder, int timeout_ms,
                                                          struct perfile_error *error);
/* For a poll of the caller's own: drain when it is readable. */
PERFILE_API int perfile_recorder_fd(const struct perfile_recorder *recorder);
/*
 * Writes what is in the buffers now. With PERFILE_RECORDER_OVERWRITE these are the newest records that came since the
 * last snapshot, oldest first, followed by what runs; while they are copied nothing is recorded, which is counted as
 * lost. It needs as much memory as one buffer has. WRITE, READ, MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_snapshot(struct perfile_recorder *recorder,
                                                             struct perfile_error *error);
/*
 * Ends the recording in the writer as _stop does, but goes on in another writer, which is new and gets the events, the
 * features and what runs now: each can be read without the others, no record is lost between them, and none is in both
 * but the records of threads and mappings. Afterwards the caller has to finish the former writer. On errors (those of
 * _open and _snapshot) the recorder can only be closed, and then both writers.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_switch_output(struct perfile_recorder *recorder,
                                                                  struct perfile_writer *writer,
                                                                  struct perfile_error *error);
/*
 * Disables the events, writes what is left, and the features that are known only now. The writer is not used
 * afterwards, also after a failure. WRITE, READ, MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_recorder_stop(struct perfile_recorder *recorder,
                                                         struct perfile_error *error);
/* Does not touch the writer. NULL is allowed. */
PERFILE_API void perfile_recorder_close(struct perfile_recorder *recorder);

/* What a recorder has recorded until now. */
struct perfile_recorder_counts {
    uint64_t records;
    uint64_t samples;
    uint64_t lost;      /* samples that did not fit into the buffers */
    uint64_t throttled; /* times that the kernel held an event back */
    uint64_t wakeups;
    uint64_t bytes;
    uint64_t written;       /* bytes of the recording in the current writer, as far as they are written */
    uint64_t aux_bytes;     /* AUX data */
    uint64_t aux_truncated; /* times that AUX data did not fit into its buffer, or had gaps */
};
PERFILE_API const struct perfile_recorder_counts *perfile_recorder_counts_get(const struct perfile_recorder *recorder);
/* What was lost of the event at this position in the recording; NULL after the last. */
PERFILE_API const char *perfile_recorder_event_lost(const struct perfile_recorder *recorder, size_t index,
                                                    uint64_t *lost);

/* ---- counting --------------------------------------------------------------------------------------------------- */

/*
 * Counts events without samples, as perf stat does: what they counted since they were enabled is written whenever it is
 * asked for, as STAT records with a STAT_ROUND after them.
 *
 *     perfile_counter_open -> perfile_counter_enable -> perfile_counter_write ... -> perfile_counter_close
 */
struct perfile_counter;

struct perfile_counter_options {
    size_t size; /* sizeof(struct perfile_counter_options) */
    /*
     * Events and threads to count, by these members: flags (ALL_CPUS, NO_INHERIT, ENABLE_ON_EXEC, ALL_USER,
     * ALL_KERNEL), events (NULL: clock, switches, migrations, page faults, cycles, instructions and branches), filters,
     * pids, tids, cpus, user, cgroup, for_perf, allocator, note. With `per` "thread" and everybody to look at, these
     * are the threads that there are now. Events that this machine cannot count are written without ids and have no
     * counts.
     */
    const struct perfile_recorder_options *what;
    const char *per;      /* how readers are to add up: as perfile_output_options.per; NULL: "all" */
    uint64_t interval_ms; /* what the caller is going to do, for readers; 0: one round at the end */
    bool unscaled;        /* readers are not to scale counts to the time that they were enabled */
    uint64_t detail;      /* of `events` NULL: 1 to 3: also those of the caches, ever more of them */
    /*
     * Instead of what->cgroup: "a,b": the first event counts in the control group a, the second in b, an empty one
     * everywhere. The names of events in the recording end in " cgroup=PATH".
     */
    const char *cgroups;
    /* The same, but each event counts in each of them; regular expressions stand for all that match. */
    const char *for_each_cgroup;
};
#define PERFILE_COUNTER_OPTIONS_INIT PERFILE_SIZED(struct perfile_counter_options)

/*
 * Opens the events, disabled, and writes them and this machine's features. Errors: those of perfile_recorder_open;
 * ABSENT and OPEN also when not a single event can be counted.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_counter_open(const struct perfile_counter_options *options,
                                                        struct perfile_writer *writer, struct perfile_counter **counter,
                                                        struct perfile_error *error);
/* With ENABLE_ON_EXEC not needed. READ. */
PERFILE_API PERFILE_MUST_CHECK int perfile_counter_enable(struct perfile_counter *counter, struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_counter_disable(struct perfile_counter *counter,
                                                           struct perfile_error *error);
/*
 * What was counted so far; `since_start` in ns is the caller's own time, `last`: nothing follows. READ, and those of
 * the writer.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_counter_write(struct perfile_counter *counter, uint64_t since_start,
                                                         bool last, struct perfile_error *error);
/* Does not touch the writer. NULL is allowed. */
PERFILE_API void perfile_counter_close(struct perfile_counter *counter);

/* ---- the events of this machine ------------------------------------------------------------------------------- */

struct perfile_known_event {
    const char *name; /* as -e takes it */
    const char *kind; /* "hardware", "software", "cache", "tracepoint", "pmu", "breakpoint", "raw" */
    const char *doc;  /* or NULL */
    bool works;       /* it can be counted here and now; always true for tracepoints and terms of PMUs */
};
/*
 * Calls `each` for every event that this machine knows and that has `pattern` (NULL: all) in its name, whatever the
 * case; with one of *?[ in it, it is a glob for the complete name. Events of one kind come together: hardware,
 * software, cache, pmu, raw, breakpoint, tracepoint. The event is valid until `each` returns. Stops when `each` returns
 * non-zero, with STOPPED. OPEN, after all the others: the tracepoints cannot be read (with what to do). MEMORY,
 * ARGUMENT.
 */
PERFILE_API PERFILE_MUST_CHECK int
perfile_known_events(const char *pattern, int (*each)(void *context, const struct perfile_known_event *event),
                     void *context, struct perfile_error *error);

/* ---- the probes of this machine --------------------------------------------------------------------------------- */

/* A line of uprobe_events or kprobe_events. */
struct perfile_probe_entry {
    size_t size;
    const char *group, *event;
    const char *target;    /* "/tmp/a.out:0x0000000000001159", "vfs_read+4" */
    const char *arguments; /* "x=%di:s32"; "": none */
    bool is_return;
    bool is_kernel;
};
#define PERFILE_PROBE_ENTRY_INIT PERFILE_SIZED(struct perfile_probe_entry)

/*
 * Probes of the kernel, then those of programs. `tracefs` is the folder that it is mounted on; NULL: that of this
 * machine, which is mounted if that is possible. Errors: OPEN (not mounted, no permission: the message says what to
 * do), READ, MEMORY, STOPPED.
 */
PERFILE_API PERFILE_MUST_CHECK int
perfile_probes_list(const char *tracefs, int (*take)(void *context, const struct perfile_probe_entry *entry),
                    void *context, struct perfile_error *error);
/*
 * Writes one line to uprobe_events or kprobe_events: "p:GROUP/EVENT TARGET", "r:GROUP/EVENT TARGET", "-:GROUP/EVENT".
 * Errors: OPEN, WRITE (the kernel refuses it: the message has its reason from the error_log), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_probes_write(const char *tracefs, bool is_kernel, const char *line,
                                                        struct perfile_error *error);
/* The folder of tracefs; mounts it if that is possible. Errors: OPEN, LIMIT (`capacity`). */
PERFILE_API PERFILE_MUST_CHECK int perfile_probes_folder(char *path, size_t capacity, struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
