/* SPDX-License-Identifier: MIT */
/*
 * perfile/edit.h: recordings in, recordings out (libperfile).
 *
 * Every call reads a recording that was just opened and writes one that was just opened, and neither finishes nor closes
 * the writer: look at the report first, then call perfile_writer_finish. What these calls change is said with each; all
 * else is copied byte for byte, records in the order of the file (of a directory that becomes one file: in the order of
 * time). Records that are damaged are left out and counted. Since 0.2.
 */
#ifndef PERFILE_EDIT_H
#define PERFILE_EDIT_H

#include <perfile/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of the records. Made by the library. */
struct perfile_edit_report {
    uint64_t records_kept; /* those that stand for themselves: not the containers of compressed ones */
    uint64_t samples_kept;
    uint64_t records_dropped; /* because the call was to leave them out */
    uint64_t samples_dropped;
    uint64_t records_damaged; /* left out because they cannot be read */
    uint64_t bytes_dropped;   /* of the input, that belong to no whole record */
    uint64_t records_mended;  /* repair: kept, with one number set right that made readers refuse the recording */
    uint64_t features_rebuilt;
    uint64_t features_dropped; /* that could not be read, or not be said in the output */
    /* Of perfile_convert; what it leaves out on purpose counts as dropped, too. */
    uint64_t bytes_stripped;  /* by `strip`, of samples, other records and AUX data */
    uint64_t events_changed;  /* whose attributes are other ones than before, whoever changed them */
    uint64_t records_changed; /* of records_kept, samples included: other bytes than before, whoever changed them */
    uint64_t samples_unwound; /* by `unwind` */
    uint64_t samples_without; /* by `unwind`: nothing could be unwound */
    /* Of perfile_inject. */
    uint64_t build_ids_added;
    uint64_t build_ids_missing; /* files that samples hit, whose build id is not known */
};

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
     * and features that are younger than it are left out, or said as it knows them. From 3.0 to 7.x. NULL: as it is.
     */
    const char *for_perf;
    /*
     * Makes callchains of dumped user stacks: CALLCHAIN takes the place of REGS_USER and STACK_USER. Writes the addresses
     * of the sample's user frames, innermost first, at most `room`, and returns how many; callers as perf gives them, one
     * byte before their return addresses. A negative result ends the conversion. `session` is at the sample and follows
     * mappings. perfile_unwind of <perfile/analysis.h> is one. The records are then written in the order of time.
     */
    int (*unwind)(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                  uint64_t *addresses, size_t room);
    void *unwind_context;
    const struct perfile_edit_options *edit; /* or NULL */
};
#define PERFILE_CONVERT_OPTIONS_INIT PERFILE_SIZED(struct perfile_convert_options)

/* What `strip` knows, by position; NULL behind the last. Static text. */
PERFILE_API const char *perfile_strip_part_at(size_t index, const char **doc);

/*
 * The same recording in the mode, byte order and compression of the writer, with the changes of `options` (may be NULL).
 * A file that becomes a directory has the records of every processor in a file of their own, in the order of time and
 * without FINISHED_ROUND; the copies of the kernel that a directory has go with it into another one. Errors: those of
 * reading and writing; ARGUMENT: `options`, or a mode or compression of the writer that `for_perf` does not know.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_convert(struct perfile_reader *reader, struct perfile_writer *writer,
                                                   const struct perfile_convert_options *options,
                                                   struct perfile_edit_report *report, struct perfile_error *error);

struct perfile_inject_options {
    size_t size; /* sizeof(struct perfile_inject_options) */
    /* The build ids of all files that samples and callchains hit, as entries of the feature BUILD_ID. */
    bool build_ids;
    /*
     * Of a file whose mapping does not say it: writes the build id and returns its length; 0: it is not known; negative:
     * ends the call. perfile_build_id_find of <perfile/analysis.h> is one. NULL: those of the recording only.
     */
    int (*find_build_id)(void *context, const struct perfile_map *map, uint8_t build_id[20]);
    void *find_context;
    /*
     * How long threads slept, and where: in place of a sample of sched:sched_stat_* the sample of sched:sched_switch is
     * written that its thread went to sleep with, with the time and period of the former. Other samples of
     * sched:sched_switch, and those of sched:sched_process_exit, are left out.
     */
    bool sched_stat;
    bool strip;                              /* leave AUX data out, as "aux" of perfile_convert */
    const struct perfile_edit_options *edit; /* or NULL */
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
 * All that is whole of a damaged recording, byte for byte and in order, so that readers open it which refuse the damaged
 * one. Left out are features whose content is damaged, and samples that belong to no event. Two things are set right
 * that keep perf from reading on: a sample that states more dumped stack than it has, and an id in the trailer of another
 * record that no event has. Features that are missing are made anew as far as the records tell: SAMPLE_TIME,
 * BRANCH_STACK, and a TRACING_DATA that only names the tracepoints' numbers; the writer makes EVENT_DESC and AUXTRACE.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_repair(struct perfile_reader *reader, struct perfile_writer *writer,
                                                  const struct perfile_edit_options *options,
                                                  struct perfile_edit_report *report, struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
