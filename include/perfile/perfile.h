/* SPDX-License-Identifier: MIT */
/*
 * perfile: reading Linux perf.data recordings.
 *
 * This header is the manual. Programs that include it are compiled with
 *
 *     cc example.c $(pkg-config --cflags --libs perfile)
 *
 * and with perfile-analysis instead of perfile when they include a header of libperfile-analysis: its first lines say
 * so. A first look:
 *
 *     struct perfile_reader *reader;
 *     struct perfile_error error;
 *     const struct perfile_record *record;
 *
 *     if (perfile_open_path("perf.data", NULL, &reader, &error) < 0)
 *         die(error.message);
 *     while (perfile_reader_next(reader, &record, &error) > 0)
 *         printf("%s at %" PRIu64 "\n", perfile_record_name(record->type), record->offset);
 *     perfile_close(reader);
 *
 * Results.     Every call that can fail returns an int: negative is a value of enum perfile_code, and the caller's
 *              struct perfile_error (which may be NULL) says what, where and why. Nothing is printed, errno is not
 *              part of the interface, and no call ends the process.
 * Damage.      By default everything readable is read; what could not be read is reported as diagnostics, with
 *              offsets. With `strict` the first error ends reading.
 * Lifetimes.   | what                                            | valid until                                       |
 *              | records, and everything decoded from a record,  | the next _next or _rewind, or the close           |
 *              | also while their payloads are read              |                                                   |
 *              | a piece of a payload                            | the next _payload, _visit, _next, _rewind or close|
 *              | events, features, names, files of a reader      | the close (an event's name may be refined earlier)|
 *              | a comm, the path of a control group, a space,   | the close of the session                          |
 *              | its maps                                        |                                                   |
 * Threads.     A reader and all that hangs on it belongs to one thread at a time. Different readers are independent.
 *              But other threads may, while one reads on, decode and visit copies of records of the kernel (type below
 *              PERFILE_RECORD_HEADER_ATTR): perfile_sample_decode, perfile_record_decode and perfile_record_visit look
 *              only at the record and at what does not change.
 * NULL.        Allowed only where the text of a call allows it, and always for `error`, for `options` of a call that
 *              opens or edits (the defaults), for callbacks in options, and as the argument of a _close. A call may end
 *              the process when another pointer is NULL.
 * Growth.      Structs grow at their end only, and hold by value nothing that grows.
 *              - Those that begin with `size`, which callers make: set it to their sizeof, with the PERFILE_*_INIT
 *                initialisers. Members that the caller's header does not know have their defaults, or are left out of
 *                results. Options that the library does not know must be zero, and such results are zeroed. ARGUMENT
 *                says that the size is not set, or that an option is too new.
 *              - Those of records.h without `size` (what stands in a recording: its records, their elements,
 *                attributes) and perfile_branch and perfile_read_value: the same rules, and their sizeof is an argument
 *                of the call.
 *              - Those that the library makes and gives out by pointer: read them there, and do not copy the struct. A
 *                program that may run with a library older than the header calls perfile_version_number before it reads
 *                members that are younger than that.
 *              - perfile_error, _allocator, _sink, _section, _value, what stands in arrays (_event_type, _tracepoint,
 *                _tracepoint_field), and the shapes that decoded records are made of never grow.
 * Since.       Everything in these headers: 0.1, unless it says a later version.
 */
#ifndef PERFILE_PERFILE_H
#define PERFILE_PERFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What the PERFILE_*_INIT are made of: a struct with its size set and every other member zero. Neither language warns
 * about the members that are not named, and new members need no change here. Bindings, which do not see the macros,
 * make each of them in this way: zeros, and the size of the struct in `size`, its first member.
 */
#ifdef __cplusplus
extern "C++" template <typename Struct> inline Struct perfile_sized()
{
    Struct made = {};
    made.size = sizeof(made);
    return made;
}
#define PERFILE_SIZED(type) perfile_sized<type>()
#else
#define PERFILE_SIZED(type)                                                                                            \
    {                                                                                                                  \
        .size = sizeof(type)                                                                                           \
    }
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PERFILE_API __attribute__((visibility("default")))
#define PERFILE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define PERFILE_API
#define PERFILE_MUST_CHECK
#endif

/* The version of this header; PERFILE_VERSION is 1002003 for 1.2.3: `#if PERFILE_VERSION >= 1002003`. */
#define PERFILE_VERSION_MAJOR 0
#define PERFILE_VERSION_MINOR 1
#define PERFILE_VERSION_PATCH 0
#define PERFILE_VERSION (PERFILE_VERSION_MAJOR * 1000000 + PERFILE_VERSION_MINOR * 1000 + PERFILE_VERSION_PATCH)

/* "X.Y.Z" of the library that is linked. Static text. */
PERFILE_API const char *perfile_version(void);
/* The same as a number, which can be compared with PERFILE_VERSION. Since 0.1. */
PERFILE_API uint32_t perfile_version_number(void);

/*
 * A text of a recording as people may see it: threads, files and events can be called anything, and a terminal obeys
 * control characters. Bytes that are not UTF-8, and control characters, line breaks and characters that reorder text
 * (U+2028 to U+202E, U+2066 to U+2069), become \xNN, four characters a byte; the rest stays as it is. Writes at most
 * `capacity` bytes to `to`, with the NUL at the end; no character is split by the limit. Returns the number of bytes
 * without the NUL. With a `capacity` of 4 * bytes + 1 everything fits.
 */
PERFILE_API size_t perfile_text_escape(const void *text, size_t bytes, char *to, size_t capacity);

/* ---- errors ------------------------------------------------------------------------------------------------- */

enum perfile_code {
    PERFILE_OK = 0,
    PERFILE_ERROR_ARGUMENT = -1,     /* the caller broke a rule of this header */
    PERFILE_ERROR_MEMORY = -2,       /* the allocator returned NULL */
    PERFILE_ERROR_OPEN = -3,         /* the path cannot be opened; the message holds the system's words */
    PERFILE_ERROR_READ = -4,         /* the system failed to read */
    PERFILE_ERROR_WRITE = -5,        /* the caller's sink, or the system, failed to write */
    PERFILE_ERROR_FORMAT = -6,       /* not a perf.data at all */
    PERFILE_ERROR_DAMAGED = -7,      /* bytes that contradict the format */
    PERFILE_ERROR_TRUNCATED = -8,    /* the input ends too early */
    PERFILE_ERROR_COMPRESSION = -9,  /* a compressed stream that cannot be decompressed */
    PERFILE_ERROR_LIMIT = -10,       /* a limit of the options was reached; the message names the option */
    PERFILE_ERROR_UNSUPPORTED = -11, /* valid, but not supported by this version or build */
    PERFILE_ERROR_ABSENT = -12,      /* the recording does not hold what was asked for */
    PERFILE_ERROR_EVENT = -13,       /* the event of a record cannot be determined */
    PERFILE_ERROR_STOPPED = -14,     /* a callback of the caller returned non-zero, or perfile_reader_stop was called */
    PERFILE_ERROR_AGAIN = -15,       /* nothing more has been written yet: call again later; only with options.follow */
};

/* The offset of what has no position in the file. */
#define PERFILE_NO_OFFSET 0xffffffffffffffff

/* Filled by the call that failed, owned by the caller. Needs no initialisation and no release. */
struct perfile_error {
    int code;          /* enum perfile_code */
    uint64_t offset;   /* bytes from the start of the file or stream, or PERFILE_NO_OFFSET */
    char what[48];     /* the part in question: "MMAP2 record", "feature NUMA_TOPOLOGY" */
    char message[256]; /* one complete sentence without a newline, including `what` and the offset */
    /*
     * Of what the caller gave: the word that is wrong or that nothing has, such as an event, a field, a column, a value
     * of a filter; its first 63 bytes. "": it is not a word.
     */
    char token[64];
};

/* The name of a code: "damaged". Static text; "unknown" for other numbers. */
PERFILE_API const char *perfile_code_name(int code);

/* Something odd that did not stop the reading. */
enum perfile_severity {
    PERFILE_NOTE,    /* unusual, harmless: an unknown record type */
    PERFILE_WARNING, /* the recording itself says that data was lost, or contradicts itself */
    PERFILE_LOSS,    /* bytes of the file could not be used */
};

struct perfile_diagnostic {
    const char *rule;    /* stable id: "record-size", "data-size-zero"; static text */
    int severity;        /* enum perfile_severity */
    uint64_t offset;     /* where, in bytes of the file (or stream, see perfile_record) */
    uint64_t length;     /* number of bytes concerned; 0: unknown, or not about bytes */
    const char *file;    /* NULL, or the file of a directory ("data.3") */
    const char *message; /* one sentence; in a callback valid during the call only */
};

/* ---- opening ------------------------------------------------------------------------------------------------ */

/*
 * Memory for a reader and all that belongs to it. `resize(context, NULL, 0, n)` allocates, `resize(context, p, o, 0)`
 * frees and returns NULL; `old` is the size given before. Alignment as malloc's. NULL instead of one means malloc.
 * It is called from the thread that uses the reader; outputs with threads of their own (perfile/analysis.h) may call it
 * from one of these, never two at a time.
 *
 * Here and in all other options it is for everything but: what the C library takes (open streams and folders, sorting,
 * threads) and other libraries do (capstone, zstd, liblzma, libarchive; the C++ runtime for a readable name,
 * which is copied and freed at once); a question to debuginfod with its answer, since the thread that asks may outlive
 * the allocator; and functions that are given neither an allocator nor something that has one, such as
 * perfile_elf_build_id.
 */
struct perfile_allocator {
    void *context;
    void *(*resize)(void *context, void *pointer, size_t old, size_t size);
};

struct perfile_open_options {
    size_t size; /* sizeof(struct perfile_open_options) */
    bool strict; /* stop at the first error instead of continuing */
    const struct perfile_allocator *allocator;
    /* Called for each diagnostic, from within the calls of the reader. May be NULL. */
    void (*diagnostic)(void *context, const struct perfile_diagnostic *diagnostic);
    void *diagnostic_context;
    /* Limits against hostile files; 0 means the default in brackets. */
    uint64_t limit_events;        /* attrs of one recording [65536] */
    uint64_t limit_ids;           /* ids of one event [2^24] */
    uint64_t limit_feature_bytes; /* size of a feature that is kept in memory [256 MiB] */
    uint64_t limit_queue_bytes;   /* records held to put them in time order [512 MiB] */
    uint64_t limit_record_bytes;  /* inflated bytes of one compressed record [256 MiB] */
    /*
     * An empty file, open for reading and writing, that a file-mode recording which comes through a pipe is copied to;
     * 0: one is made in $TMPDIR. For processes that cannot make files. It stays the caller's, and must stay open until
     * the close.
     */
    int temporary_fd;
    /*
     * The recording is still being written: called when all that is there has been read.
     *   1   look again; the callback has waited for more, or for a moment
     *   0   the writer is done: what is there now is all
     *   -1  do not wait: the call that reads returns PERFILE_ERROR_AGAIN, after which it can be called again
     * Records come as from the finished recording, each once. An incomplete record is waited for, and so is what
     * follows a record that is odd or of an unknown type, as far as it has to be looked at; missing bytes are damage
     * only when the writer is done. In file mode the header, which recorders rewrite last, is read before each call:
     * when it states how long the data is, the callback is no longer needed; the features, and names that only they
     * have, are available when _next has returned 0. The file must only be appended to, except for its header. The
     * callback must find out by itself that a recorder was killed.
     * Sessions deliver as far as they know the order: two rounds of the recorder's ring buffers later. Compressed
     * records are read when they are complete. A stream must not be opened with -1 before its first 104 bytes are
     * there; descriptors of streams may be non-blocking. UNSUPPORTED: directories, memory, a file-mode recording that
     * comes through a stream.
     */
    int (*follow)(void *context);
    void *follow_context;
    /* A stream is copied to the temporary file, so that it can be rewound. Not of one that is followed. */
    bool rereads;
};
#define PERFILE_OPEN_OPTIONS_INIT PERFILE_SIZED(struct perfile_open_options)

/* Where output goes. `write` returns 0, or non-zero to stop with PERFILE_ERROR_WRITE. Pieces may have any size. */
struct perfile_sink {
    void *context;
    int (*write)(void *context, const void *data, size_t bytes);
};

/*
 * Input that is not a file of the system: a part of an archive, the body of a network request, a decompressor.
 *
 * `read` puts at most `bytes` bytes, as many as it likes but at least one, into `to` and returns how many; 0 at the
 * end; negative when it fails, which becomes PERFILE_ERROR_READ with the number in the message. It repeats by itself
 * what was interrupted. Without `seek` and `bytes` this is a stream: it is read once, in order, as a pipe is. With
 * both, `seek` goes to `offset` bytes from the start of the recording (0, or non-zero when it cannot) before the first
 * read and whenever the next read is to be elsewhere, and `bytes` returns the size of the recording, or a negative
 * number when it fails; of a recording that is followed (perfile_open_options) it is called again when the writer is
 * done. A wrong size does no harm: the reader reports what is missing, and does not read what is beyond it.
 *
 * The callbacks are called from within the calls of the reader, by the thread that makes these; outputs with threads of
 * their own (perfile/analysis.h) may call them from one of these, never two at a time. They must not call the reader.
 */
struct perfile_source {
    size_t size; /* sizeof(struct perfile_source) */
    void *context;
    int64_t (*read)(void *context, void *to, size_t bytes);
    int (*seek)(void *context, uint64_t offset);
    int64_t (*bytes)(void *context);
};
#define PERFILE_SOURCE_INIT PERFILE_SIZED(struct perfile_source)

struct perfile_reader;

/*
 * Opens a recording. `options` may be NULL. On success 0 and *reader; it is the caller's to close.
 *   _path    a file, a FIFO, a directory recording, or "-" for standard input
 *   _fd      any readable descriptor, read from its current offset on; stays open and stays the caller's.
 *            A file-mode recording that comes through a pipe is first copied to an unlinked temporary file ($TMPDIR, or
 *            options->temporary_fd).
 *   _memory  `bytes` must stay unchanged until the close
 *   _source  the caller's callbacks; the struct is copied, its context must stay valid until the close. A file-mode
 *            recording that comes from a stream is copied as with _fd.
 * Errors: ARGUMENT, MEMORY, OPEN, READ, FORMAT, LIMIT; with strict also DAMAGED, TRUNCATED.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_open_path(const char *path, const struct perfile_open_options *options,
                                                     struct perfile_reader **reader, struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_open_fd(int fd, const struct perfile_open_options *options,
                                                   struct perfile_reader **reader, struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_open_memory(const void *bytes, size_t size,
                                                       const struct perfile_open_options *options,
                                                       struct perfile_reader **reader, struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_open_source(const struct perfile_source *source,
                                                       const struct perfile_open_options *options,
                                                       struct perfile_reader **reader, struct perfile_error *error);
/* Releases everything. NULL is allowed. */
PERFILE_API void perfile_close(struct perfile_reader *reader);

/* ---- the container ------------------------------------------------------------------------------------------ */

enum perfile_mode { PERFILE_MODE_FILE, PERFILE_MODE_PIPE, PERFILE_MODE_DIRECTORY };

struct perfile_section {
    uint64_t offset; /* bytes from the start of the file */
    uint64_t bytes;
};

/* The name of an event by its attr.config, as recorders wrote until 3.11. */
struct perfile_event_type {
    uint64_t event_id;
    const char *name;
};

/* The header of the container, as in the file. */
struct perfile_file {
    int mode;            /* enum perfile_mode */
    int version;         /* 2, or 1 for PERFFILE */
    bool big_endian;     /* byte order of the recording */
    bool swapped;        /* the recording's byte order is not this machine's */
    bool finished;       /* the writer came to its end; false: killed, cut off, or followed and still at work */
    uint64_t file_bytes; /* size of the file (of `data` in a directory); 0 for streams until their end */
    uint64_t header_size;
    uint64_t attr_size;
    struct perfile_section attrs;
    struct perfile_section data; /* as in the file; bytes is 0 in an unfinished recording */
    struct perfile_section event_types;
    const struct perfile_event_type *event_type_entries;
    size_t event_type_count;
    uint64_t feature_bits[4]; /* bit n of word n/64 = feature n; in native order */
    bool feature_words_32;    /* the bitmap was made of 32-bit big-endian words */
    const char *const *parts; /* names of the further files of a directory: "data.0"; NULL-terminated */
    const char *path;         /* as perfile_open_path had it; NULL: opened otherwise */
    bool followed;            /* perfile_open_options.follow is set: it is read while it is written */
};
PERFILE_API const struct perfile_file *perfile_reader_file(const struct perfile_reader *reader);
/* What the reader was opened with, or malloc's. */
PERFILE_API const struct perfile_allocator *perfile_reader_allocator(const struct perfile_reader *reader);

/* ---- shapes that decoded records are made of ------------------------------------------------------------------ */

/* A row of 64-bit numbers as in the recording; read them with perfile_u64_at. */
struct perfile_u64s {
    const uint8_t *data;
    uint64_t count;
    bool swapped;
};

/* The number at `index` < numbers->count. */
static inline uint64_t perfile_u64_at(const struct perfile_u64s *numbers, uint64_t index)
{
    uint64_t value, swapped = 0;
    memcpy(&value, numbers->data + index * sizeof(value), sizeof(value));
    if (!numbers->swapped)
        return value;
    for (int i = 0; i < 8; i++)
        swapped |= (value >> 8 * i & 0xff) << (56 - 8 * i);
    return swapped;
}
/*
 * The same for bindings, which do not have inline functions: copies at most `capacity` numbers from `first` on. Returns
 * how many there are from there on.
 */
PERFILE_API uint64_t perfile_u64s_copy(const struct perfile_u64s *numbers, uint64_t first, uint64_t *to,
                                       uint64_t capacity);

struct perfile_bytes {
    const uint8_t *data;
    uint64_t bytes;
};

/* A row of equal structs; read them with the perfile_ELEMENT_at function of the element. */
struct perfile_list {
    const uint8_t *data;
    uint64_t count;
    bool swapped;
};

/* Counter values; the bits of `format` say which members are valid. Read them with perfile_read_at. */
struct perfile_read {
    uint64_t format;       /* attr.read_format: PERFILE_FORMAT_* */
    uint64_t count;        /* number of values; 1 without PERFILE_FORMAT_GROUP */
    uint64_t time_enabled; /* ns */
    uint64_t time_running;
    const uint8_t *values;
    uint32_t stride; /* bytes from one value to the next */
    bool swapped;
};

struct perfile_regs {
    uint64_t abi;               /* PERFILE_SAMPLE_REGS_ABI_* */
    uint64_t mask;              /* bit n = register n of the recording's architecture is there */
    struct perfile_u64s values; /* in ascending bit order; empty when abi is 0 */
};

/* Read the entries with perfile_branch_at. */
struct perfile_branch_stack {
    uint64_t count;
    bool has_hw_idx;
    bool big_endian;
    uint64_t hw_idx;
    struct perfile_u64s entries;  /* 3 words each: from, to, flags */
    struct perfile_u64s counters; /* one word each, or empty */
};

struct perfile_stack {
    const uint8_t *data;
    uint64_t bytes;    /* that the record has for it */
    uint64_t used;     /* how many of them are valid */
    uint64_t dyn_size; /* the record's value for it, not to be trusted */
};

/* CPU numbers, as in the recording. */
struct perfile_cpu_set {
    uint16_t map_type; /* PERFILE_CPU_MAP_*: list, mask or range */
    bool any_cpu;      /* range: also "any CPU" (-1) */
    uint16_t start_cpu, end_cpu;
    uint16_t long_size;  /* mask: bytes of a word */
    const uint8_t *data; /* list: u16 each; mask: words */
    uint32_t count;      /* of these */
    bool swapped;
};

/* Counters of a scheduling domain; names by perfile_record_visit. */
struct perfile_schedstat_counters {
    const uint8_t *data; /* u32 each */
    uint32_t count;
    bool swapped;
};

/* Body of a pipe-mode feature: decode it with perfile_record_visit or the feature calls. */
struct perfile_feature_body {
    const uint8_t *data;
    uint64_t bytes;
};

#include <perfile/records.h>

/* ---- records ------------------------------------------------------------------------------------------------ */

struct perfile_event;

/* One record as in the recording. Made by the library. */
struct perfile_record {
    uint32_t type;         /* PERF_RECORD_*: see perfile_record_name */
    uint16_t misc;         /* MMAP2 without PERFILE_MISC_MMAP_BUILD_ID where that is set over device and inode */
    bool compressed;       /* it came out of a compressed record: offset counts in the decompressed stream */
    bool damaged;          /* its content contradicts its event or its size; `bytes` are what the file holds */
    uint32_t bytes;        /* how much of it there is, with the 8-byte header, without an outside payload */
    uint32_t stated_bytes; /* the size in its header; differs from `bytes` only in damaged records */
    uint32_t part;         /* directory: 0 = data, n = parts[n - 1] */
    uint64_t offset;       /* bytes from the start of the file, or of the stream after its 16-byte header plus 16 */
    uint64_t container;    /* offset of the compressed record it came from, else PERFILE_NO_OFFSET */
    const uint8_t *data;   /* all `bytes`, in the byte order of the file, starting with the header */
    const struct perfile_event *event; /* the event it belongs to, or NULL (user records, unknown id) */
    uint64_t time;                     /* ns on the recording's clock, 0 when it has none */
    uint64_t payload_offset;           /* AUXTRACE, TRACING_DATA: where the bytes outside the record begin */
    uint64_t payload_bytes; /* of a damaged record that does not fit: how many bytes there are from its offset on */
};

/* Bits of a record's misc; their meaning depends on the type. */
enum perfile_misc {
    PERFILE_MISC_CPUMODE_MASK = 7,           /* enum perfile_cpumode */
    PERFILE_MISC_PROC_MAP_TIMEOUT = 1 << 12, /* MMAP2 */
    PERFILE_MISC_MMAP_DATA = 1 << 13,        /* MMAP, MMAP2: not executable */
    PERFILE_MISC_COMM_EXEC = 1 << 13,        /* COMM: by exec */
    PERFILE_MISC_FORK_EXEC = 1 << 13,        /* FORK: written by the recorder */
    PERFILE_MISC_SWITCH_OUT = 1 << 13,       /* SWITCH, SWITCH_CPU_WIDE */
    PERFILE_MISC_EXACT_IP = 1 << 14,         /* SAMPLE */
    PERFILE_MISC_SWITCH_OUT_PREEMPT = 1 << 14,
    PERFILE_MISC_MMAP_BUILD_ID = 1 << 14,    /* MMAP2: build id instead of device and inode */
    PERFILE_MISC_BUILD_ID_SIZE = 1 << 15,    /* build-id record: its size byte is valid */
    PERFILE_MISC_LOST_SAMPLES_BPF = 1 << 15, /* LOST_SAMPLES: a BPF filter left them out, nothing was lost */
};

/*
 * The next record in the order of the file (a directory: data, then data.0 ...). 1 and *record, 0 at the end, negative:
 * MEMORY, READ, LIMIT; with strict DAMAGED, TRUNCATED, COMPRESSION, EVENT. After an error the reader is at its end, but
 * for AGAIN: a recording that is followed (perfile_open_options) has nothing more at present. ARGUMENT while a session
 * drives the reader.
 */
PERFILE_API PERFILE_MUST_CHECK int
perfile_reader_next(struct perfile_reader *reader, const struct perfile_record **record, struct perfile_error *error);
/*
 * Back before the first record. ABSENT when the input is a stream that cannot be read twice, ARGUMENT while a session
 * drives the reader.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_reader_rewind(struct perfile_reader *reader, struct perfile_error *error);
/*
 * Sets whether the callback `diagnostic` is called: for callers that read a recording several times and report its
 * damage once. Diagnostics are counted and kept all the same.
 */
PERFILE_API void perfile_reader_mute(struct perfile_reader *reader, bool mute);
/*
 * When the samples are, ns on the recording's clock: as the header says (feature SAMPLE_TIME) or, when it does not, by
 * reading the complete recording, without diagnostics. The reader must be at its start, and is there again. 1 and the
 * times; 0: they are not known, because samples have no times, or the input is a stream that cannot be read twice, or a
 * recording that is followed. Errors: ARGUMENT, MEMORY, and those of perfile_reader_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_reader_span(struct perfile_reader *reader, uint64_t *first, uint64_t *last,
                                                       struct perfile_error *error);
/*
 * From now on every call that reads, whoever makes it, ends with STOPPED: a session, a table, a profile, an edit ...
 * For callbacks such as `progress`, called from within the call that is to end, and between calls. Until _rewind.
 */
PERFILE_API void perfile_reader_stop(struct perfile_reader *reader);
/* Nothing was read since the opening or the last _rewind, and no session drives the reader. */
PERFILE_API bool perfile_reader_is_at_start(const struct perfile_reader *reader);

/*
 * The bytes outside the record that _next gave last, piece by piece: 1 and a piece, 0 when all was given. What is not
 * fetched is skipped by the next _next. Errors: READ, TRUNCATED.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_reader_payload(struct perfile_reader *reader, const uint8_t **data,
                                                          size_t *bytes, struct perfile_error *error);

/*
 * Reads up to `bytes` bytes of the recording as they are in the file `part` of it, from `offset` on, both as records
 * have them (payload_offset): *got is less only at the end. For payloads of records that were read before; what the
 * reader gives next stays the same. ABSENT: the recording is a stream; READ.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_reader_read_at(struct perfile_reader *reader, uint32_t part, uint64_t offset,
                                                          void *to, size_t bytes, size_t *got,
                                                          struct perfile_error *error);

/* What has been read so far. */
struct perfile_counts {
    uint64_t records; /* complete records, including those inside compressed records */
    uint64_t samples;
    uint64_t damaged; /* records whose content could not be decoded */
    uint64_t unknown; /* records of unknown type */
    uint64_t notes;   /* diagnostics by severity */
    uint64_t warnings;
    uint64_t losses;
    uint64_t bytes_lost; /* bytes that belong to no complete record */
    /*
     * Lost while recording: what LOST records state, or the count that perf reads of each event at the end when it is
     * higher, and what the kernel's own LOST_SAMPLES records state.
     */
    uint64_t lost_events;
    uint64_t data_bytes; /* bytes of the record area that were walked */
    uint64_t inflated_bytes;
    uint64_t lost_samples;  /* what all LOST_SAMPLES records state */
    uint64_t lost_reported; /* what LOST records state */
    uint64_t lost_counted;  /* of lost_samples: perf's records at the end, without a time, already in LOST records */
    uint64_t aux_bytes;     /* AUX data (instruction traces and the like), which is not decoded */
    uint32_t aux_type;     /* what it is, see perfile_enum_name("auxtrace_type", type); 0: the recording does not say */
    uint64_t stat_counts;  /* STAT records: the values of `perf stat record` */
    uint64_t unread_bytes; /* of the record area, after the requested times: nothing there was counted */
};
PERFILE_API const struct perfile_counts *perfile_reader_counts(const struct perfile_reader *reader);

/*
 * The diagnostics so far, by position: the first 4096, all are counted. NULL after the last one that is kept.
 */
PERFILE_API const struct perfile_diagnostic *perfile_diagnostic_get(const struct perfile_reader *reader, size_t index);

/* ---- events ------------------------------------------------------------------------------------------------- */

/*
 * Adds an event that the recording does not have: its samples are made of other data. The attr, the ids and the name
 * are copied; *event lives as long as the reader. MEMORY, LIMIT.
 */
PERFILE_API PERFILE_MUST_CHECK int
perfile_reader_add_event(struct perfile_reader *reader, const struct perfile_attr *attr, const struct perfile_u64s *ids,
                         const char *name, const struct perfile_event **event, struct perfile_error *error);
/*
 * Something that belongs to the reader from now on, instead of what was there before. `close` is called with it when
 * the reader is closed, before anything of the reader is freed.
 */
PERFILE_API void perfile_reader_attach(struct perfile_reader *reader, void *attachment,
                                       void (*close)(void *attachment));
/* NULL: there is nothing. */
PERFILE_API void *perfile_reader_attachment(const struct perfile_reader *reader);

/* One event of the recording: its attributes, its ids, its name. Made by the library. */
struct perfile_event {
    uint32_t index;                  /* position in the file; what `event` is in JSON */
    const struct perfile_attr *attr; /* fields that the file does not have are 0 */
    uint64_t attr_offset;            /* its offset in the file */
    const uint8_t *attr_data;        /* attr_bytes bytes as in the file */
    uint32_t attr_bytes;
    struct perfile_section ids_section; /* as in the file; zeros in pipe mode */
    const uint64_t *ids;
    size_t id_count;
    const char *name;      /* as `perf script` prints it; made from the attr when the file has no name. Never NULL */
    const char *file_name; /* the name as in the file, or NULL */
    const char *unit;      /* EVENT_UPDATE, or NULL */
    double scale;          /* EVENT_UPDATE, or 1 */
};
PERFILE_API size_t perfile_event_count(const struct perfile_reader *reader);
/* NULL when there is no such index. In pipe mode events appear as their records are read. */
PERFILE_API const struct perfile_event *perfile_event_get(const struct perfile_reader *reader, size_t index);
/* By an id of a record or of a read value; NULL when no event has it. */
PERFILE_API const struct perfile_event *perfile_event_find(const struct perfile_reader *reader, uint64_t id);

/* ---- decoding ----------------------------------------------------------------------------------------------- */

/*
 * Decodes a record into the struct of its type in records.h: `struct perfile_mmap2` for MMAP2 ... `out_bytes` is the
 * size of that struct in the caller's build; what is missing in the record is 0. Errors: ARGUMENT (out_bytes is less
 * than the struct had in 0.1), UNSUPPORTED (no struct for this type; SAMPLE has its own call), DAMAGED, TRUNCATED.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_record_decode(const struct perfile_reader *reader,
                                                         const struct perfile_record *record, void *out,
                                                         size_t out_bytes, struct perfile_error *error);

#define PERFILE_SAMPLE_ID_INIT PERFILE_SIZED(struct perfile_sample_id)
/*
 * The id trailer that kernel records carry when attr.sample_id_all is set. Errors: ABSENT (the record has none),
 * ARGUMENT (out->size is not set).
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_sample_id_decode(const struct perfile_reader *reader,
                                                            const struct perfile_record *record,
                                                            struct perfile_sample_id *out, struct perfile_error *error);

struct perfile_read_value {
    uint64_t value;
    uint64_t id;   /* 0 without PERFILE_FORMAT_ID */
    uint64_t lost; /* 0 without PERFILE_FORMAT_LOST */
};
/* The value at `index` < read->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_read_at(const struct perfile_read *read, uint64_t index, struct perfile_read_value *out,
                                 size_t out_bytes);

/* struct perfile_sample is in records.h; `present` has the sample_type bits that the record really has. */
#define PERFILE_SAMPLE_INIT PERFILE_SIZED(struct perfile_sample)

/*
 * Bytes after the known parts, in samples of kernels newer than this library, are ignored.
 * Errors: ARGUMENT (not a SAMPLE, or sample->size is not set), EVENT, DAMAGED (the parts do not fit into the record).
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_sample_decode(const struct perfile_record *record,
                                                         struct perfile_sample *sample, struct perfile_error *error);

/* A branch; its flags have the same bits whatever the byte order of the recording. */
struct perfile_branch {
    uint64_t from, to;
    bool mispred, predicted, in_tx, abort;
    uint16_t cycles;
    uint8_t type, spec, new_type, priv; /* see perfile_enum_name("branch_type", type) */
    uint64_t reserved;
};
/* The branch at `index` < stack->count; `out_bytes` is sizeof(*out). */
PERFILE_API void perfile_branch_at(const struct perfile_branch_stack *stack, uint64_t index, struct perfile_branch *out,
                                   size_t out_bytes);

/* ---- header features ---------------------------------------------------------------------------------------- */

struct perfile_feature {
    uint32_t number;
    const char *name;               /* "HOSTNAME", or NULL for an unknown one */
    struct perfile_section section; /* as in the table; in pipe mode the record's payload */
    bool readable;                  /* false: the section is outside the file */
};
/* The features of the recording by position, in the order of the table (pipe mode: of their records). */
PERFILE_API size_t perfile_feature_count(const struct perfile_reader *reader);
PERFILE_API const struct perfile_feature *perfile_feature_get(const struct perfile_reader *reader, size_t index);
/* The bytes of a feature. Errors: ABSENT, READ, TRUNCATED, LIMIT, MEMORY. */
PERFILE_API PERFILE_MUST_CHECK int perfile_feature_bytes(struct perfile_reader *reader, uint32_t number,
                                                         const uint8_t **data, size_t *bytes,
                                                         struct perfile_error *error);
/*
 * One text or number of a feature by its name in JSON: ("HOSTNAME", NULL), ("NRCPUS", "nr_cpus_online").
 * Errors: ABSENT (the recording does not have the feature, or the feature not the member), DAMAGED, and those of
 * perfile_feature_bytes.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_feature_text(struct perfile_reader *reader, uint32_t number,
                                                        const char *member, const char **text,
                                                        struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_feature_number(struct perfile_reader *reader, uint32_t number,
                                                          const char *member, uint64_t *value,
                                                          struct perfile_error *error);

/* ---- tracepoints -------------------------------------------------------------------------------------------- */

/* One field of a tracepoint's raw data, from the `format` text in the recording. */
struct perfile_tracepoint_field {
    const char *name;
    const char *type;       /* the C type as the kernel wrote it: "char", "unsigned long", "__data_loc char[]" */
    uint32_t offset;        /* bytes from the start of the raw data */
    uint32_t bytes;         /* of the field itself; of the pointer word for dynamic fields */
    uint32_t element_bytes; /* array: bytes of one element; else bytes */
    bool is_signed;
    bool is_array;
    bool is_text;     /* char array or __data_loc char[] */
    bool is_dynamic;  /* __data_loc */
    bool is_relative; /* __rel_loc */
    bool is_common;   /* common_type, common_pid ... */
};
struct perfile_tracepoint {
    uint32_t id; /* attr.config of its events */
    const char *system;
    const char *name;
    const char *format;    /* the complete text */
    const char *print_fmt; /* the text after "print fmt: ", or NULL */
    const struct perfile_tracepoint_field *fields;
    size_t field_count;
};
/* The properties that all tracepoints of the recording share. */
struct perfile_tracing {
    const char *version;
    bool big_endian;
    uint8_t long_bytes; /* sizeof(long) on the recording machine */
    uint32_t page_bytes;
    const struct perfile_tracepoint *tracepoints;
    size_t tracepoint_count;
    const char *kallsyms; /* text, may be empty */
    size_t kallsyms_bytes;
    const char *printk_formats;
    size_t printk_formats_bytes;
    const char *saved_cmdlines;
    size_t saved_cmdlines_bytes;
};
/* NULL with ABSENT when the recording has none (in pipe mode: yet). Other errors: DAMAGED, READ, MEMORY, LIMIT. */
PERFILE_API PERFILE_MUST_CHECK int
perfile_tracing_get(struct perfile_reader *reader, const struct perfile_tracing **tracing, struct perfile_error *error);
/* The tracepoint of an event, or NULL. */
PERFILE_API const struct perfile_tracepoint *perfile_tracepoint_find(struct perfile_reader *reader,
                                                                     const struct perfile_event *event);

/* ---- visiting: every field of anything, by name --------------------------------------------------------------- */

enum perfile_value_kind {
    PERFILE_VALUE_UNSIGNED, /* number.u */
    PERFILE_VALUE_SIGNED,   /* number.s */
    PERFILE_VALUE_DOUBLE,   /* number.d */
    PERFILE_VALUE_BOOL,     /* number.u is 0 or 1 */
    PERFILE_VALUE_TEXT,     /* data, bytes: raw bytes of a name, not necessarily UTF-8, without its NUL */
    PERFILE_VALUE_BYTES,    /* data, bytes */
    PERFILE_VALUE_NULL,
};

/* What a number means; decides how people want to see it. */
enum perfile_meaning {
    PERFILE_MEANS_NUMBER,
    PERFILE_MEANS_ID,  /* event id */
    PERFILE_MEANS_PID, /* -1 = all or kernel */
    PERFILE_MEANS_CPU,
    PERFILE_MEANS_ADDRESS,  /* hexadecimal */
    PERFILE_MEANS_BYTES,    /* a size */
    PERFILE_MEANS_INSTANT,  /* ns on the clock of the records, or on the one that the name says */
    PERFILE_MEANS_DURATION, /* ns */
    PERFILE_MEANS_JIFFIES,  /* an instant in ticks of the kernel */
    PERFILE_MEANS_FLAGS,    /* hexadecimal */
    PERFILE_MEANS_REGISTER, /* hexadecimal */
};

struct perfile_value {
    const char *name; /* NULL inside a list */
    int kind;         /* enum perfile_value_kind */
    int meaning;      /* enum perfile_meaning */
    union {
        uint64_t u;
        int64_t s;
        double d;
    } number;
    const uint8_t *data;
    size_t bytes;
};

/*
 * Called in the order of the fields; members that are NULL are not called. A non-zero result ends the visit with
 * PERFILE_ERROR_STOPPED.
 */
struct perfile_visitor {
    size_t size; /* sizeof(struct perfile_visitor) */
    void *context;
    int (*begin)(void *context, const char *name, bool list); /* an object or a list; name is NULL inside a list */
    int (*end)(void *context, bool list);
    int (*value)(void *context, const struct perfile_value *value);
    bool leaves_payload; /* the payload is not fetched: the value that it makes is left out */
};

/*
 * The body of a record, field by field under the kernel's names. What cannot be decoded ends with a value "error"
 * (text); undecoded bytes that are not zero come as "__extra". Returns 0 also then. Errors: STOPPED, ARGUMENT
 * (visitor), MEMORY. An outside payload is fetched only by AUXTRACE's "auxtrace_crc32" and TRACING_DATA's "tracing".
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_record_visit(struct perfile_reader *reader,
                                                        const struct perfile_record *record,
                                                        const struct perfile_visitor *visitor,
                                                        struct perfile_error *error);
/*
 * One feature as a value, object or list called by its name. Errors: as perfile_feature_bytes, STOPPED, ARGUMENT
 * (visitor).
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_feature_visit(struct perfile_reader *reader, uint32_t number,
                                                         const struct perfile_visitor *visitor,
                                                         struct perfile_error *error);
/* The members of an attr that the file has, as one object called "attr". Errors: STOPPED, ARGUMENT (visitor). */
PERFILE_API PERFILE_MUST_CHECK int perfile_attr_visit(const struct perfile_event *event,
                                                      const struct perfile_visitor *visitor,
                                                      struct perfile_error *error);

/* ---- names (all static text) ---------------------------------------------------------------------------------- */

/* "MMAP2"; NULL for an unknown type. The types in ascending order: perfile_record_type_at(0 ...), 0 after the last. */
PERFILE_API const char *perfile_record_name(uint32_t type);
PERFILE_API uint32_t perfile_record_type_at(size_t index);
/* "HOSTNAME"; NULL for an unknown number. perfile_feature_number_at(0 ...), 0 after the last. */
PERFILE_API const char *perfile_feature_name(uint32_t number);
PERFILE_API uint32_t perfile_feature_number_at(size_t index);
/* What a type or feature is for, in one sentence; NULL for unknown ones. */
PERFILE_API const char *perfile_record_doc(uint32_t type);
PERFILE_API const char *perfile_feature_doc(uint32_t number);
/* The name of one sample_type bit: "callchain"; NULL for an unknown bit. */
PERFILE_API const char *perfile_sample_field_name(uint64_t bit);
/*
 * Names of values of an enum of the schema, e.g. ("branch_type", PERFILE_BR_CALL) = "CALL"; NULL when unknown. `which`
 * is the tag of the enum in records.h without "perfile_", or "callchain_context"; doc/format.md lists all.
 */
PERFILE_API const char *perfile_enum_name(const char *which, uint64_t value);
/*
 * The same value as the kernel's header names it, without "PERF_": ("software_event", 6) = "COUNT_SW_PAGE_FAULTS_MAJ";
 * also of bits of "sample_type".
 */
PERFILE_API const char *perfile_enum_constant(const char *which, uint64_t value);
/* The name of register `number` on `arch` (uname -m of the recording): "SP"; NULL when unknown. */
PERFILE_API const char *perfile_register_name(const char *arch, unsigned number);

/* ---- filters -------------------------------------------------------------------------------------------------- */

/*
 * Selects records. A NULL member selects everything; all other members must match. Samples pass a member for which they
 * have no value: without TIME in sample_type any time matches.
 */
struct perfile_filter {
    size_t size; /* sizeof(struct perfile_filter) */
    /*
     * "START,STOP" in seconds.fraction, either may be empty, "+1.5,+3" counts from the first sample; "10%-20%", "30%/2"
     * (the 2nd 30 %); "2026-11-28 03:43:03,2026-11-28 03:43:05.5" in the local time zone, with the feature CLOCK_DATA
     */
    const char *time;
    const char *cpus; /* "0-3,7" */
    const char *pids; /* "1,2" */
    const char *tids;
    const char *comms;  /* "make,cc1" */
    const char *events; /* "cycles,sched:sched_switch" */
    /*
     * Instead of the samples times off CPU, one for each time that a task came back to a CPU; the period is in ns.
     * "blocked": by the stack with which it left one; "all": also when it was preempted; "both": and the samples of
     * clocks; "wakers": by the stack of the task that woke it, until then. From sched:sched_switch of all CPUs, or
     * SWITCH records; the analysis library only, of streams, profiles and what is made of them, not of `script` and the
     * view `samples`.
     */
    const char *off_cpu;
    /*
     * Instead of the samples the calls of a hardware trace of the flow (Intel PT, Intel BTS, CoreSight), of a file.
     * "each": one for each call, when it ended; "stacks": one for each time in which a thread had the same stack of
     * calls, at its begin. The period is in ns. Since 0.1.
     */
    const char *calls;
    /*
     * Lists as `events`: samples count from a sample of the first list on, until one of the second, and so on; those of
     * other times do not switch. Without the first list they count from the start. What the other members leave out
     * does switch. The analysis library only, of samples, without off_cpu and calls.
     */
    const char *switch_on;
    const char *switch_off;
    bool shows_switches; /* the samples that switch count, too */
    bool *counting;      /* whether samples count at the start, and then at the end: for recordings that follow each
                            other; NULL: at the start they count without switch_on */
    /*
     * Call stacks of the branch hardware (perf record --call-graph lbr) get the callers for which it had no registers
     * left, from the samples before of the same thread. Wrong for programs that leave functions without returning. Of
     * recordings with the register of each branch, hw_idx, and their number in CPU_PMU_CAPS; the analysis library only.
     */
    bool stitches_calls;
};
#define PERFILE_FILTER_INIT PERFILE_SIZED(struct perfile_filter)

/* A part of a filter that no sample matched. Made by the library; members are added at the end. */
struct perfile_unmatched {
    /*
     * The member that asked for it: "time", "cpus", "pids", "tids", "comms", "events", "cgroups", and those of
     * perfile_report_options, "dsos", "symbols", "symbol_filter", and of perfile_script_options, "stop_at",
     * "graph_function"; "switch_on": no sample switched; "stitches_calls": no stack got callers,
     * and `value` says why; NULL: each part matched some sample, but none matched all
     */
    const char *filter;
    const char *value; /* what was asked for: one name of a list of names, or all of the text; NULL without filter */
    /*
     * Of names: some that samples have, in the order of the recording; at most 4,096. Event names: those of the events.
     */
    const char *const *known;
    size_t known_count;
    bool blocks_all; /* no value of the member matched, or no sample matched all parts: no sample passes the filter */
};
/* Called at the end, once for each such part; its argument is valid during the call. */
typedef void perfile_on_unmatched(void *context, const struct perfile_unmatched *unmatched);

/* ---- sessions: threads, maps and names over time ---------------------------------------------------------------- */

struct perfile_session;

/*
 * Delivers the records of a reader in time order and follows the names of threads. The reader must be at its start, and
 * is driven by the session, one at a time, until that is closed. Memory: the records of the last two rounds of the
 * recording's ring buffers, at most limit_queue_bytes. Errors: ARGUMENT (the reader is not at its start, or another
 * session drives it), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_session_open(struct perfile_reader *reader, struct perfile_session **session,
                                                        struct perfile_error *error);
/* Does not close the reader. NULL is allowed. */
PERFILE_API void perfile_session_close(struct perfile_session *session);
/*
 * Of the samples only those that pass are delivered, and all other records. To be called before the first _next; what
 * the filter points at is copied. Times that are relative to those of the recording are looked up as
 * perfile_reader_span does. Errors: ARGUMENT (the message names the faulty part, or the events that there are; a filter
 * was given before), ABSENT (relative times, and the recording's are not known), MEMORY, and those of
 * perfile_reader_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_session_filter(struct perfile_session *session,
                                                          const struct perfile_filter *filter,
                                                          struct perfile_error *error);
/*
 * As perfile_reader_next, but by time. Records without a time keep their position in the file. Errors: those of
 * perfile_reader_next, MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_session_next(struct perfile_session *session,
                                                        const struct perfile_record **record,
                                                        struct perfile_error *error);
/*
 * The name of a thread at the time of the record that was delivered last; never NULL: ":TID" when the recording does
 * not say. Raw bytes without a NUL inside.
 */
PERFILE_API const char *perfile_session_comm(struct perfile_session *session, int32_t pid, int32_t tid);
/*
 * Of a thread that had no name yet when perfile_session_comm gave ":TID" for it: the first name that it has got since,
 * which perf report shows for its earlier samples, too. `comm` itself for all other texts. The name lives as long as
 * the session.
 */
PERFILE_API const char *perfile_session_later_comm(const struct perfile_session *session, const char *comm);
/*
 * The path of the control group that samples name by this id (perfile_sample.cgroup), below the mount of its hierarchy,
 * as of the record that was delivered last; NULL when no record has named it. Equal ids give equal pointers until a
 * record names another path. From the records CGROUP.
 */
PERFILE_API const char *perfile_session_cgroup(const struct perfile_session *session, uint64_t id);
/* From now on threads keep their names when they end, as in perf report; by default they do not, as in perf script. */
PERFILE_API void perfile_session_keep_comms(struct perfile_session *session);
/* One mapping of a process or of the kernel. Those that the library gives out live as long as the session. */
struct perfile_map {
    size_t size;    /* sizeof(struct perfile_map) */
    uint64_t start; /* first address */
    uint64_t end;   /* first address after it */
    uint64_t pgoff; /* offset of `start` in the file; of the kernel itself: the address of the symbol in its name */
    const char *filename;
    int32_t pid;
    uint32_t id;          /* counts the mappings of the recording; the pieces of one that was cut share it */
    uint32_t prot;        /* PROT_* bits; 0 when the recording does not say */
    uint32_t flags;       /* MAP_* bits */
    uint8_t build_id[20]; /* what the recording says: the record, or else the feature BUILD_ID for files of that name */
    uint8_t build_id_bytes; /* 0: it does not */
    bool kernel;
    bool data;     /* not executable */
    bool symbol;   /* a KSYMBOL: filename is the name of the symbol */
    uint32_t code; /* what perfile_session_add_map was given; 0: the map is a record's */
    /*
     * Of memory without a file that was put over a part of one file's code, as programs do that move themselves to
     * large pages: that part as it was mapped before. NULL: it was not. It is valid as long as this map.
     */
    const struct perfile_map *replaced;
    uint64_t inode; /* of the file, and its device; 0: the recording does not say */
    uint32_t device_major;
    uint32_t device_minor;
    uint64_t executed; /* when its process executed its program (ns); 0: before the recording, or not known */
};
#define PERFILE_MAP_INIT PERFILE_SIZED(struct perfile_map)

/* Call it before the first _next of the session when mappings are wanted; their memory grows with their number. */
PERFILE_API void perfile_session_follow_maps(struct perfile_session *session);

/*
 * Adds a mapping that has no record, such as code from a jitdump file: it is valid from `time` on (ns on the
 * recording's clock; a time that has passed: from the next record with a time on) and covers what was there. Of `map`
 * all members count but `id`; `filename` is copied. Records of anonymous memory of that process are passed over from
 * now on: a JIT changes the protection of memory that holds its code. Errors: ARGUMENT (empty, or its size is not set),
 * LIMIT (2^19 of them), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_session_add_map(struct perfile_session *session, uint64_t time,
                                                           const struct perfile_map *map, struct perfile_error *error);

/*
 * An address space at one moment: immutable, and the same pointer as long as nothing is mapped. NULL: nothing is
 * mapped. `pid` -1 is the kernel's. As of the record that was delivered last.
 */
struct perfile_space;
PERFILE_API const struct perfile_space *perfile_session_space(struct perfile_session *session, int32_t pid);
/* A number that this state of an address space keeps when it is moved, and that no other gets; 0 of NULL. */
PERFILE_API uint64_t perfile_space_id(const struct perfile_space *space);
/* The mapping that holds the address, or NULL. */
PERFILE_API const struct perfile_map *perfile_space_find(const struct perfile_space *space, uint64_t address);

/* The mapping that starts last before or at the address, whether it holds it or not; NULL when there is none. */
PERFILE_API const struct perfile_map *perfile_space_below(const struct perfile_space *space, uint64_t address);

/*
 * Only samples from `first` to `last` are wanted, ns on the recording's clock; to be called before the first _next.
 * Samples before `first` may be left out, all other records come. The session ends where the order of the recording so
 * far (its rounds; in a directory its files) says that nothing up to `last` can follow: what is left of it is
 * perfile_counts.unread_bytes. Never so of a stream or a recording that is followed, of one with damage or with records
 * out of order, with AUX data, nor for the last MiB; and with perfile_session_keep_comms not while a thread that was
 * asked for may still get its name. With an index (perfile/index.h) the session begins shortly before `first`. Nothing
 * happens when not all samples have times.
 */
PERFILE_API void perfile_session_limit(struct perfile_session *session, uint64_t first, uint64_t last);
/* How many samples were left out so far because of it. */
PERFILE_API uint64_t perfile_session_left_out(const struct perfile_session *session);
/*
 * For callers that do not need samples in order; to be called before the first _next. `take` is called with each record
 * as it is read, earlier than its turn by time and before the threads and mappings that it reports are known; the
 * record is valid until it returns. Returns true for a sample that has a time: the caller consumed it, and it is not
 * delivered again. Records of directories are not passed to it.
 */
PERFILE_API void perfile_session_preview(struct perfile_session *session,
                                         bool (*take)(void *context, const struct perfile_record *record),
                                         void *context);
/*
 * Frees the memory of mappings that cannot be asked for any more: others have replaced them, or their processes ended
 * a while ago. Call it as often as you like; it acts when enough can be freed. Returns true when it did: then all
 * spaces and maps are new, and those that were given out before are valid until it acts again. Without this call they
 * are valid until the session is closed.
 */
PERFILE_API bool perfile_session_trim(struct perfile_session *session);

/* How many records came later than their time allowed; they were delivered all the same. */
PERFILE_API uint64_t perfile_session_unordered(const struct perfile_session *session);

#ifdef __cplusplus
}
#endif
#endif
