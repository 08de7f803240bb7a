/* SPDX-License-Identifier: MIT */
/*
 * perfile/writer.h: making perf.data recordings (libperfile).
 *
 *     struct perfile_writer *writer;
 *     struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
 *     struct perfile_attr attr = {.type = 1};                     // a software event ...
 *
 *     attr.sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME;
 *     event.attr = &attr;
 *     event.attr_bytes = sizeof(attr);
 *     event.name = "cpu-clock";
 *     if (perfile_writer_open_path("perf.data", NULL, &writer, &error) < 0 ||
 *         perfile_writer_add_event(writer, &event, NULL, &error) < 0)
 *         die(error.message);
 *     perfile_writer_record(writer, PERFILE_RECORD_MMAP2, 2, &mmap2, sizeof(mmap2), NULL, &error);
 *     perfile_writer_sample(writer, 0, 2, &sample, &error);        // 2: in user mode
 *     if (perfile_writer_finish(writer, &error) < 0)
 *         die(error.message);
 *     perfile_writer_close(writer);
 *
 * Order.     Events first, then features, then records. In file and directory mode events and features may come at any
 *            time; in pipe mode the stream has them where they were written.
 * Errors.    Every call: ARGUMENT (what it does not take, or not here: the message says what), MEMORY, WRITE, LIMIT
 * (what the format cannot hold), and those described with the call. A failed call changes nothing that was written
 *            before, but the failure is kept: _finish reports it again, and does not publish the recording. Check the
 *            results of all calls, or that of _finish alone.
 * Time.      Records may be written in any order; readers sort them by their times. A FINISHED_ROUND record says that
 *            nothing older than the records before the previous one will follow: it keeps the memory of readers small.
 * Threads.   A writer belongs to one thread at a time.
 */
#ifndef PERFILE_WRITER_H
#define PERFILE_WRITER_H

#include <perfile/perfile.h>

#ifdef __cplusplus
extern "C" {
#endif

enum perfile_byte_order { PERFILE_ORDER_NATIVE, PERFILE_ORDER_LITTLE, PERFILE_ORDER_BIG };

struct perfile_writer_options {
    size_t size;        /* sizeof(struct perfile_writer_options) */
    int mode;           /* enum perfile_mode */
    int byte_order;     /* enum perfile_byte_order */
    int compression;    /* zstd level of the records, 1 to 22; 0: not compressed */
    bool compressed_v1; /* COMPRESSED records (perf 5.2) instead of COMPRESSED2 (perf 6.16) */
    bool no_sync;       /* _finish does not wait until the file is on the disk */
    /*
     * File mode: for recorders. The file gets its name in perfile_writer_publish instead of _finish, and from then on
     * every prefix of it is a recording that readers open: until _finish it is a stream (pipe mode), which _finish
     * turns into a file in place. Give all events, and the features that matter, before the first record. When _finish
     * fails, or is never called, the stream stays.
     */
    bool live;
    const struct perfile_allocator *allocator;
    /* Called for what cannot be written as it was given, such as a feature too large for pipe mode. May be NULL. */
    void (*diagnostic)(void *context, const struct perfile_diagnostic *diagnostic);
    void *diagnostic_context;
    /*
     * Compression starts anew about every so many bytes of records, if it can at the end of a round: readers can begin
     * there with an index (perfile/index.h). 0: never, what comes first is the smallest.
     */
    uint64_t frame_bytes;
};
#define PERFILE_WRITER_OPTIONS_INIT PERFILE_SIZED(struct perfile_writer_options)

struct perfile_writer;

/*
 * Starts a recording. `options` may be NULL: file mode, this machine's byte order, not compressed. On success 0 and
 * *writer, which is the caller's to close.
 *   _path  a file or directory that takes its name only in _finish: until then, and when anything fails, what was there
 *          before stays as it is. "-" is standard output; devices and FIFOs are written in place.
 *   _fd    a descriptor, from its current offset on; it stays open and the caller's. File mode needs one that can seek.
 *          When the reader of a pipe or socket ends, the error is WRITE, never a SIGPIPE.
 *   _sink  the caller's function; pipe mode only
 * Errors: ARGUMENT, MEMORY, OPEN, WRITE.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_open_path(const char *path,
                                                            const struct perfile_writer_options *options,
                                                            struct perfile_writer **writer,
                                                            struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_open_fd(int fd, const struct perfile_writer_options *options,
                                                          struct perfile_writer **writer, struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_open_sink(const struct perfile_sink *sink,
                                                            const struct perfile_writer_options *options,
                                                            struct perfile_writer **writer,
                                                            struct perfile_error *error);
/*
 * Live files only: what was written so far, and all that follows, is to be seen under its name. What had the name
 * before is replaced.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_publish(struct perfile_writer *writer, struct perfile_error *error);
/* Live files and streams: hands what is gathered to the system. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_flush(struct perfile_writer *writer, struct perfile_error *error);
/* Ends the recording and gives it its name. Every error that was met since the opening comes out here again. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_finish(struct perfile_writer *writer, struct perfile_error *error);
/* Releases everything; without _finish nothing is left of the recording. NULL is allowed. */
PERFILE_API void perfile_writer_close(struct perfile_writer *writer);

/* ---- events and features -------------------------------------------------------------------------------------- */

struct perfile_event_spec {
    size_t size;                     /* sizeof(struct perfile_event_spec) */
    const struct perfile_attr *attr; /* its `size` 0: the smallest that holds all that is set, at least 112 */
    size_t attr_bytes;               /* sizeof(struct perfile_attr) */
    const uint64_t *ids; /* what its samples say in `identifier` or `id`; needed when there are several events */
    size_t id_count;
    const char *name; /* NULL: readers name it by its attr */
};
#define PERFILE_EVENT_SPEC_INIT PERFILE_SIZED(struct perfile_event_spec)

/*
 * Adds an event; perfile_writer_sample needs its *index (`index` may be NULL). Readers distinguish the events of one
 * recording by the ids, and find these only when all events have PERFILE_SAMPLE_IDENTIFIER, or all the same parts
 * before the id.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_add_event(struct perfile_writer *writer,
                                                            const struct perfile_event_spec *event, uint32_t *index,
                                                            struct perfile_error *error);
/*
 * The body of a header feature, in the recording's byte order. EVENT_DESC, AUXTRACE, DIR_FORMAT and COMPRESSED are made
 * by the writer: ARGUMENT. A second call for the same number replaces the first, not so in pipe mode. Big-endian files
 * and directories without HOSTNAME get an empty one: without it perf on other machines misses all features, or refuses
 * them.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_feature(struct perfile_writer *writer, uint32_t number,
                                                          const void *data, size_t bytes, struct perfile_error *error);
/* Features that are one text: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_feature_text(struct perfile_writer *writer, uint32_t number,
                                                               const char *text, struct perfile_error *error);
/* Features that are a list of texts: CMDLINE. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_feature_texts(struct perfile_writer *writer, uint32_t number,
                                                                const char *const *texts, size_t count,
                                                                struct perfile_error *error);
/*
 * One more entry of the feature BUILD_ID, `entry_bytes` is sizeof(*entry). `misc` has the cpumode: 1 kernel, 2 user.
 * Errors: ARGUMENT (entry_bytes), LIMIT, MEMORY, WRITE.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_build_id(struct perfile_writer *writer, uint16_t misc,
                                                           const struct perfile_header_build_id *entry,
                                                           size_t entry_bytes, struct perfile_error *error);

/* ---- records -------------------------------------------------------------------------------------------------- */

/*
 * A record from its struct of records.h, `bytes` of it (sizeof the struct); types without fields take NULL and 0. `id`
 * is the trailer of kernel records, where event 0 asks for one; NULL: zeros. Errors: ARGUMENT (unknown type, SAMPLE,
 * `bytes` less than the struct had in 0.1, members that this version does not know), LIMIT (more than 65,535 bytes),
 * WRITE.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_record(struct perfile_writer *writer, uint32_t type, uint16_t misc,
                                                         const void *record, size_t bytes,
                                                         const struct perfile_sample_id *id,
                                                         struct perfile_error *error);
/* A sample of event `index`: the parts that its sample_type names. `present` is not looked at. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_sample(struct perfile_writer *writer, uint32_t index, uint16_t misc,
                                                         const struct perfile_sample *sample,
                                                         struct perfile_error *error);
/* Complete records as they will be in the file, with their headers, in the recording's byte order; not AUXTRACE. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_records(struct perfile_writer *writer, const void *data, size_t bytes,
                                                          struct perfile_error *error);
/* One of them, of any type. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_raw(struct perfile_writer *writer, const void *data, size_t bytes,
                                                      struct perfile_error *error);
/* The bytes that follow the last AUXTRACE record, in any number of pieces. */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_payload(struct perfile_writer *writer, const void *data, size_t bytes,
                                                          struct perfile_error *error);
/* Directory mode: in which file the next records go: 0 = data, n = data.(n-1). */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_part(struct perfile_writer *writer, uint32_t part,
                                                       struct perfile_error *error);

/* ---- copying -------------------------------------------------------------------------------------------------- */

/*
 * Takes over the events and features of a recording that was just opened; those of pipe mode follow as records. The
 * writer must have no events yet. Features that the writer makes itself are left out.
 */
PERFILE_API PERFILE_MUST_CHECK int
perfile_writer_copy_header(struct perfile_writer *writer, struct perfile_reader *reader, struct perfile_error *error);
/*
 * One record with its payload, as perfile_reader_next gave it: byte for byte when both have the same byte order, else
 * with its fields swapped. What the mode of the output expresses differently (compression, and the records of pipe mode
 * that hold events and features) is converted. DAMAGED, TRUNCATED, EVENT, LIMIT, UNSUPPORTED: this record cannot be
 * copied, all others can; besides the errors of both sides.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_writer_copy(struct perfile_writer *writer, struct perfile_reader *reader,
                                                       const struct perfile_record *record,
                                                       struct perfile_error *error);

/* What was written so far. */
struct perfile_writer_counts {
    uint64_t records; /* without events, features and compressed containers */
    uint64_t samples;
    uint64_t bytes; /* of the files, as far as they are written */
};
PERFILE_API const struct perfile_writer_counts *perfile_writer_progress(const struct perfile_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
