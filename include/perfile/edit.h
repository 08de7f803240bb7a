/* SPDX-License-Identifier: MIT */
/*
 * perfile/edit.h: recordings in, recordings out (libperfile).
 *
 * Every call reads a recording that was just opened and writes one that was just opened, and neither finishes nor
 * closes the writer: look at the report first, then call perfile_writer_finish. What a call changes is described with
 * it; all else is copied byte for byte, records in the order of the file (of a directory that becomes one file: in the
 * order of time). Records that are damaged are left out and counted.
 *
 * Errors "of reading and writing" are those of perfile_reader_next, perfile_session_open and of the writer; ARGUMENT is
 * also a size that is not set. `options` and `report` may be NULL, but for the options of perfile_merge and `split`.
 */
#ifndef PERFILE_EDIT_H
#define PERFILE_EDIT_H

#include <perfile/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of the records. Filled also when a call fails, as far as it came. */
struct perfile_edit_report {
    size_t size;           /* sizeof(struct perfile_edit_report) */
    uint64_t records_kept; /* without the containers of compressed records */
    uint64_t samples_kept;
    uint64_t records_dropped; /* because the call was to leave them out */
    uint64_t samples_dropped;
    /*
     * Left out because they cannot be read; and samples of a stream whose events never came, which only perfile_repair
     * leaves out: the others copy them, since it is known at the end.
     */
    uint64_t records_damaged;
    uint64_t bytes_dropped; /* of the input, that belong to no complete record */
    /* repair: kept, with one number set right, or filled up to 8 bytes, since readers refused the recording */
    uint64_t records_mended;
    uint64_t features_rebuilt;
    uint64_t features_dropped; /* that could not be read, or not be expressed in the output */
    uint64_t samples_unscaled; /* of samples_kept: they also represent dropped ones, but have no period to scale */
    /* Of perfile_convert; what it leaves out on purpose counts as dropped, too. */
    uint64_t bytes_stripped;  /* by `strip`, of samples, other records and AUX data */
    uint64_t events_changed;  /* whose attributes are other ones than before, whoever changed them */
    uint64_t records_changed; /* of records_kept, samples included: other bytes than before, whoever changed them */
    uint64_t samples_unwound; /* by `unwind` */
    uint64_t samples_without; /* by `unwind`: nothing could be unwound */
    /* Of perfile_inject. */
    uint64_t build_ids_added;
    uint64_t build_ids_missing; /* files that samples hit, whose build id is not known */
    uint64_t code_added;        /* mappings of code that JIT compilers made */
    uint64_t maps_added;        /* mappings placed before their first sample */
    uint64_t samples_added;     /* made of a hardware trace */
};
#define PERFILE_EDIT_REPORT_INIT PERFILE_SIZED(struct perfile_edit_report)

/* What all calls take. */
struct perfile_edit_options {
    size_t size; /* sizeof(struct perfile_edit_options) */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};
#define PERFILE_EDIT_OPTIONS_INIT PERFILE_SIZED(struct perfile_edit_options)

/* What perfile_convert changes besides the container. */
struct perfile_convert_options {
    size_t size; /* sizeof(struct perfile_convert_options) */
    /*
     * "stack,regs": parts of samples to be left out, by the names of perfile_strip_part_at. "aux" also leaves out the
     * records of AUX areas with all their data. NULL: none.
     */
    const char *strip;
    /*
     * "6.1": nothing in the output that perf of this version refuses or misreads: attributes, parts of samples, records
     * and features newer than it are left out, or converted to its form. From 3.0 to 7.x. NULL: as it is.
     */
    const char *for_perf;
    /*
     * Unwinds dumped user stacks into callchains: CALLCHAIN replaces REGS_USER and STACK_USER. Writes the addresses
     * of the sample's user frames, innermost first, at most `capacity`, and returns how many; callers as perf gives
     * them, one byte before their return addresses. A negative result ends the conversion. The session has delivered
     * the sample last, and follows mappings. perfile_unwind of <perfile/analysis.h> is such a function. The records are
     * then written in the order of time.
     */
    int (*unwind)(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                  uint64_t *addresses, size_t capacity);
    void *unwind_context;
    const struct perfile_edit_options *edit; /* or NULL */
    uint64_t unwind_frames;                  /* at most so many user frames of a sample; 0: 127, at most 4096 */
};
#define PERFILE_CONVERT_OPTIONS_INIT PERFILE_SIZED(struct perfile_convert_options)

/* What `strip` knows, by position; NULL after the last. Static text. */
PERFILE_API const char *perfile_strip_part_at(size_t index, const char **doc);

/*
 * The same recording in the mode, byte order and compression of the writer, with the changes of `options` (may be
 * NULL). A file that becomes a directory has the records of every processor in a file of their own, in the order of
 * time and without FINISHED_ROUND; the copies of the kernel that a directory has go with it into another one. Errors:
 * those of reading and writing; ARGUMENT: `options`, or a mode or compression of the writer that `for_perf` does not
 * know.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_convert(struct perfile_reader *reader, struct perfile_writer *writer,
                                                   const struct perfile_convert_options *options,
                                                   struct perfile_edit_report *report, struct perfile_error *error);

/* Build ids in the records of mappings, which MMAP2 records have since perf 5.12. */
enum perfile_map_build_ids {
    PERFILE_MAP_BUILD_IDS_NONE, /* as it is */
    PERFILE_MAP_BUILD_IDS_ALL,  /* in all records of mappings whose files' build ids are known, which become MMAP2 */
    /*
     * The same, and mappings of processes are placed only before the first sample that hits them, or whose callchain,
     * branches or address do; those that nothing hits are left out. Recordings with dumped user stacks, deferred
     * callchains or traces keep all: they need them.
     */
    PERFILE_MAP_BUILD_IDS_HIT,
};

struct perfile_inject_options {
    size_t size; /* sizeof(struct perfile_inject_options) */
    /* The build ids of all files that samples and callchains hit, as entries of the feature BUILD_ID. */
    bool build_ids;
    /*
     * Of a file whose mapping does not say it: writes the build id and returns its length; 0: it is not known;
     * negative: ends the call. perfile_build_id_find of <perfile/analysis.h> is one. NULL: those of the recording only.
     */
    int (*find_build_id)(void *context, const struct perfile_map *map, uint8_t build_id[20]);
    void *find_context;
    /*
     * How long threads slept, and where: instead of a sample of sched:sched_stat_* the sample of sched:sched_switch is
     * written that its thread went to sleep with, with the time and period of the former. Other samples of
     * sched:sched_switch, and those of sched:sched_process_exit, are left out.
     */
    bool sched_stat;
    bool strip; /* leave AUX data out, as "aux" of perfile_convert */
    /*
     * Code generated by JIT compilers, which has no records. Called with every record but samples, in the order of
     * time; calls `add` for each piece of code that is known then, as perfile_session_add_map takes it: its mapping is
     * written as an MMAP2 record at its time, and its build id is in the feature BUILD_ID when samples hit it. Returns
     * 1 when the record announced code: it is left out, and so are the mappings of anonymous memory of processes with
     * code from then on, which would cover it. 0: it did not; negative: ends the call. `add` takes at most 2^20 pieces,
     * then LIMIT. perfile_jit_follow of <perfile/analysis.h> is one. NULL: no code.
     */
    int (*follow_code)(void *context, const struct perfile_record *record,
                       int (*add)(void *adder, uint64_t time, const struct perfile_map *map,
                                  struct perfile_error *error),
                       void *adder, struct perfile_error *error);
    void *code_context;
    bool all_build_ids;                      /* as build_ids, of all files that are mapped */
    int map_build_ids;                       /* enum perfile_map_build_ids */
    const struct perfile_edit_options *edit; /* or NULL */
    /* As in perfile_convert_options: callchains instead of dumped user stacks. NULL: as they are. */
    int (*unwind)(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                  uint64_t *addresses, size_t capacity);
    void *unwind_context;
    /*
     * Samples instead of a hardware trace, of Arm SPE, Intel BTS and PT, s390 or POWER: letters as those of perf's
     * --itrace, "" for the usual ones; NULL: the trace stays. Of a file, which is read twice; a stream is ABSENT.
     * UNSUPPORTED: another trace.
     */
    const char *itrace;
    /*
     * The code that a process (-1: the kernel) had at an address at that time: copies up to `bytes` bytes, and returns
     * how many there were. Traces of the flow of a program are decoded with it. perfile_code_read of
     * <perfile/analysis.h> is one. NULL: inject reads no code.
     */
    size_t (*read_code)(void *context, struct perfile_session *session, int32_t pid, uint64_t address, void *to,
                        size_t bytes);
    void *read_code_context;
};
#define PERFILE_INJECT_OPTIONS_INIT PERFILE_SIZED(struct perfile_inject_options)

/*
 * The same recording, in the order of time, with what the options add. Errors: those of reading and writing; ABSENT
 * (sched_stat: no such events).
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_inject(struct perfile_reader *reader, struct perfile_writer *writer,
                                                  const struct perfile_inject_options *options,
                                                  struct perfile_edit_report *report, struct perfile_error *error);

/*
 * All valid records of a damaged recording, byte for byte and in order, so that readers open it which refuse the
 * damaged one. Left out are features whose content is damaged, and samples that belong to no event. Three things are
 * set right that keep perf from reading on: a sample that states more dumped stack than it has, an id in the trailer of
 * another record that no event has, and a size that is not a multiple of 8 (zeros come before the trailer). Features
 * that are missing are rebuilt from the records: SAMPLE_TIME, BRANCH_STACK, and a TRACING_DATA that only names the
 * tracepoints' numbers; the writer makes EVENT_DESC, AUXTRACE, and of big-endian files an empty HOSTNAME. A recording
 * whose events are lost has a placeholder that counts nothing (software event DUMMY), because perf needs an event.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_repair(struct perfile_reader *reader, struct perfile_writer *writer,
                                                  const struct perfile_edit_options *options,
                                                  struct perfile_edit_report *report, struct perfile_error *error);

/* ---- cut -------------------------------------------------------------------------------------------------------- */

/* Which samples to keep; all members that are set must match. */
struct perfile_cut_options {
    size_t size; /* sizeof(struct perfile_cut_options) */
    /* Relative times and percentages work without the feature SAMPLE_TIME, too. NULL: all samples. */
    const struct perfile_filter *filter;
    const char *cgroups; /* paths as in CGROUP records: "/system.slice,/user.slice"; all below them too */
    uint64_t every;      /* of these, every Nth of each event; 0 and 1: all */
    uint64_t samples;    /* at most so many, spread evenly; 0: all. Not together with `every` */
    const struct perfile_edit_options *edit; /* or NULL */
    /* Called at the end for filters that matched nothing. May be NULL. */
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
};
#define PERFILE_CUT_OPTIONS_INIT PERFILE_SIZED(struct perfile_cut_options)

/*
 * Keeps some of the samples, and what readers need to understand them.
 *   Maps, names, namespaces, kernel symbols ... stay when they are older than the end of the time range. Of cuts by
 *   process, thread or comm those of processes that have no sample go, except those of their parents.
 *   LOST, THROTTLE, AUX, SWITCH and so on belong to the time, CPU and event that they describe.
 *   AUXTRACE data goes when its processor or thread is not wanted; it cannot be cut by time.
 *   Other records of the recorder stay.
 *   `every` and `samples` add the periods of what is left out to the next sample of the same event that is kept, so
 * that the totals stay. Events whose samples have no period are counted in samples_unscaled. The feature SAMPLE_TIME is
 * corrected; the events stay, also those without samples. When all samples are wanted the output is the input. Names
 * and cgroups, `every` and `samples` need the recording to be read before: ABSENT when it is a stream. Errors: those of
 * filters, reading and writing.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_cut(struct perfile_reader *reader, struct perfile_writer *writer,
                                               const struct perfile_cut_options *options,
                                               struct perfile_edit_report *report, struct perfile_error *error);

/* What makes a part of a recording. */
enum perfile_split_by {
    PERFILE_SPLIT_TIME, /* windows of `step` ns from the first sample on */
    PERFILE_SPLIT_SIZE, /* `step` bytes of uncompressed records in the order of the file, maps and names not counted */
    PERFILE_SPLIT_PID,
    PERFILE_SPLIT_TID,
    PERFILE_SPLIT_CPU,
    PERFILE_SPLIT_EVENT,
    PERFILE_SPLIT_COMM,
};

/* One part. Made by the library. */
struct perfile_split_part {
    size_t index;     /* in order of the values, of comms in order of the names */
    int by;           /* enum perfile_split_by */
    uint64_t value;   /* number of the window or piece from 0 on, pid, tid, cpu, index of the event or comm;
                         UINT64_MAX: samples that do not say, or a recording without samples */
    const char *name; /* of the event or thread, else NULL */
};

struct perfile_split_options {
    size_t size;          /* sizeof(struct perfile_split_options) */
    int by;               /* enum perfile_split_by */
    uint64_t step;        /* of TIME and SIZE */
    uint64_t limit_parts; /* 0: 65536, and what several parts have is limited, too; more is LIMIT */
    uint64_t limit_open; /* parts written at the same time, 0: 64; a writer takes 400 KB, a compressing one 1 MB more */
    void *context;
    /* A new writer for a part; a negative result ends all. */
    int (*open)(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                struct perfile_error *error);
    /* The part is `complete`: the callee finishes the writer, and closes it in any case. */
    int (*close)(void *context, const struct perfile_split_part *part, struct perfile_writer *writer, bool complete,
                 struct perfile_error *error);
};
#define PERFILE_SPLIT_OPTIONS_INIT PERFILE_SIZED(struct perfile_split_options)

/*
 * The samples that `cut` (may be NULL: all) keeps, each in one of several recordings. Every part has what it needs as
 * with perfile_cut; what belongs to no part in particular is in all of them, but that of processes without samples is
 * in the first one. When there are more than limit_open parts, the recording is read again for each limit_open of them.
 * Counts in the report are those of the recording. Errors: as perfile_cut; ABSENT for streams, LIMIT (too many parts),
 * and those of the callbacks.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_split(struct perfile_reader *reader, const struct perfile_cut_options *cut,
                                                 const struct perfile_split_options *split,
                                                 struct perfile_edit_report *report, struct perfile_error *error);
/* ---- several recordings into one ------------------------------------------------------------------------------ */

enum perfile_merge_clock {
    PERFILE_MERGE_CLOCK_AUTO,  /* align when all have CLOCK_DATA and come from different hosts or boots */
    PERFILE_MERGE_CLOCK_ALIGN, /* ABSENT when a recording has no CLOCK_DATA */
    PERFILE_MERGE_CLOCK_KEEP
};

/* Something that could not be kept as it was in one of the inputs, or that the reader of the output should know. */
struct perfile_merge_note {
    size_t input;        /* position of the reader */
    const char *rule;    /* stable id: "feature-differs", "clock-aligned"; static text */
    uint32_t feature;    /* number of the header feature it is about; 0: none */
    const char *message; /* one sentence, valid during the call only */
};

struct perfile_merge_options {
    size_t size; /* sizeof(struct perfile_merge_options) */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    struct perfile_reader *const *readers; /* just opened; the caller's to close */
    size_t reader_count;                   /* 1 or more */
    const char *const *names;              /* of the inputs, for messages; NULL: "input 1" ... */
    int clock;                             /* enum perfile_merge_clock */
    /*
     * Processes of different hosts (by the feature HOSTNAME) are kept apart: to pids and tids of the second host
     * 4194304 is added, to those of the third twice as much, and so on; the names of threads become HOST:COMM.
     */
    bool separate_hosts;
    void (*note)(void *context, const struct perfile_merge_note *note); /* may be NULL */
    void *note_context;
    /*
     * An empty file, open for reading and writing, into which the records of more than 128 recordings are sorted first.
     * 0: one is made in the folder of the output, or else in $TMPDIR. For processes that cannot make files there. The
     * caller closes it.
     */
    int temporary_fd;
};
#define PERFILE_MERGE_OPTIONS_INIT PERFILE_SIZED(struct perfile_merge_options)

/* What it points to is made by the library, and lives until the writer is closed. */
struct perfile_merge_report {
    size_t size; /* sizeof(struct perfile_merge_report) */
    const struct perfile_edit_report *total;
    const struct perfile_edit_report *const *inputs; /* one per reader */
    size_t input_count;
    uint64_t events;          /* of the output */
    uint64_t events_unified;  /* of the inputs, that are the same event as one of an earlier input */
    uint64_t ids_renumbered;  /* event ids that are other ones in the output */
    uint64_t records_unified; /* sideband that several parts of one recording have: written once, counted as dropped */
    uint64_t stacks_trimmed;  /* samples whose user stack was cut: an id did not fit into the record beside all of it */
    uint64_t unordered;       /* records that are older than one before them in the output */
    bool reshaped;            /* events got ids or other parts that all events of a recording must share */
    bool clocks_aligned;
};
#define PERFILE_MERGE_REPORT_INIT PERFILE_SIZED(struct perfile_merge_report)

/*
 * Several recordings as one, its records in the order of time: of any hosts, times, events, modes and byte orders.
 * Events with the same attributes and the same name become one. Ids that collide are renumbered, in samples and all
 * else. When the events differ in what all events of one recording must share (position of the id, sample_id_all,
 * read_format), it is added to their attributes and records. Sideband that several parts of one recording have alike
 * (same host, command, events and ids) is written as often as the part with the most has it; samples never get lost.
 * Header features: those that differ are the first input's, but for BUILD_ID, GROUP_DESC, TRACING_DATA (all of both),
 * TOTAL_MEM (the greater), NRCPUS and CPU_TOPOLOGY (of the input with the most CPUs), SAMPLE_TIME (first to last). One
 * reader: the same recording in the order of time. Errors: those of reading and writing; ARGUMENT; ABSENT (clock);
 * UNSUPPORTED: what one recording cannot hold, such as the AUX data of two, or one tracepoint id with two meanings.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_merge(struct perfile_writer *writer,
                                                 const struct perfile_merge_options *options,
                                                 struct perfile_merge_report *report, struct perfile_error *error);

/* ---- recordings for strangers --------------------------------------------------------------------------------- */

/* A category of anonymized data, and what was done with it. Made by the library. */
struct perfile_anonymized {
    const char *name; /* "comms" */
    const char *doc;
    const char *action; /* what was to be done: "keep", "change", "drop" */
    uint64_t changed;   /* how often it was replaced */
    uint64_t removed;
    uint64_t kept; /* how often it was kept: by request, or because it is a well-known word */
};

/*
 * What it points to is made by the library, and lives until the writer is closed; NULL and 0 when the call fails early.
 */
struct perfile_anonymize_report {
    size_t size; /* sizeof(struct perfile_anonymize_report) */
    const struct perfile_edit_report *edit;
    const struct perfile_anonymized *const *categories;
    size_t category_count;
};
#define PERFILE_ANONYMIZE_REPORT_INIT PERFILE_SIZED(struct perfile_anonymize_report)

struct perfile_anonymize_options {
    size_t size;     /* sizeof(struct perfile_anonymize_options) */
    const void *key; /* what names are derived from: the same key, the same names. NULL: a random one, discarded */
    size_t key_bytes;
    const char *keep; /* names of categories, separated by commas, that stay as they are; NULL: none */
    const char *change;
    const char *drop;
    bool strict;                             /* no word of a path and no tracepoint stays because it is well known */
    const struct perfile_edit_options *edit; /* or NULL */
    /*
     * The kernel, its modules and the libraries of the system's own folders keep their paths and build ids, so that
     * their functions can be named by whoever reads the recording.
     */
    bool keep_public;
};
#define PERFILE_ANONYMIZE_OPTIONS_INIT PERFILE_SIZED(struct perfile_anonymize_options)

/*
 * Anonymizes a recording so that it can be shared and is still useful: names, files, addresses, stacks and tracepoint
 * data are replaced by names and numbers that depend on the key, or left out; what each sample hit, relative to its
 * mapping, stays. Records come in the order of time. What is not understood is left out and counted. Errors: ARGUMENT
 * (a category that is unknown, or that cannot be treated like that), and those of reading and writing.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_anonymize(struct perfile_reader *reader, struct perfile_writer *writer,
                                                     const struct perfile_anonymize_options *options,
                                                     struct perfile_anonymize_report *report,
                                                     struct perfile_error *error);
/* The categories by position: name, and what they are about (`doc` may be NULL). NULL after the last. */
PERFILE_API const char *perfile_anonymize_category(size_t index, const char **doc);
/* The well-known words, which are kept, by position; NULL after the last. */
PERFILE_API const char *perfile_anonymize_word(size_t index);

#ifdef __cplusplus
}
#endif
#endif
