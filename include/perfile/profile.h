/* SPDX-License-Identifier: MIT */
/*
 * perfile/profile.h: the samples of a recording with their stacks resolved to functions (libperfile-analysis), in
 * these forms: one after the other, aggregated, summed up by function and by call, and single addresses for callers
 * that read records themselves.
 *
 *     perfile_stream_open -> perfile_stream_next ... -> perfile_stream_close
 *     perfile_profile_open (-> perfile_profile_merge) -> perfile_profile_*_at ... -> perfile_profile_close
 *     perfile_calls_open -> perfile_calls_start -> perfile_calls_add ... -> perfile_calls_sum
 *         -> perfile_calls_total ...
 *     perfile_resolver_open -> perfile_resolver_stack, perfile_resolver_frames ... -> perfile_resolver_close
 *
 * ---- streams ----
 *
 * Each sample has its complete stack as frame ids: callchains of every kind, the parts that come in later records or in
 * the branches, unwound stacks, inlined functions. Equal ids are equal functions, so adding up needs no text;
 * perfile_stream_frame and perfile_stream_module describe an id. Memory grows with what is distinct, not with
 * the number of samples. `perfile flame` and `perfile report` are made of the same stream.
 */
#ifndef PERFILE_PROFILE_H
#define PERFILE_PROFILE_H

#include <perfile/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No id. */
#define PERFILE_NO_ID UINT32_MAX

enum perfile_stream_flags {
    /*
     * A frame is one address with its source line; perfile_frame.function is the id of its function. Without it a frame
     * is a function, and has no line.
     */
    PERFILE_STREAM_ADDRESSES = 1 << 0,
    PERFILE_STREAM_NO_INLINES = 1 << 1,   /* no frames for inlined functions */
    PERFILE_STREAM_JOIN_UNNAMED = 1 << 2, /* addresses without a symbol are one frame for each module, not one each */
    PERFILE_STREAM_DECODED = 1 << 3,      /* perfile_stream_sample.decoded is set; no other thread reads ahead then */
};

struct perfile_stream_options {
    size_t size;                                  /* sizeof(struct perfile_stream_options) */
    const struct perfile_filter *filter;          /* which samples; NULL: all */
    const struct perfile_symbol_options *symbols; /* where symbols are; NULL: where perf would look */
    uint32_t flags;                               /* enum perfile_stream_flags */
    unsigned threads; /* as in perfile_output_options; none but the caller's for recordings that are followed */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    /* Called at the end for filters that matched nothing. May be NULL. */
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
    /*
     * Must live as long as the stream. NULL: malloc. With more than one thread it may be called from several at a
     * time.
     */
    const struct perfile_allocator *allocator;
};
#define PERFILE_STREAM_OPTIONS_INIT PERFILE_SIZED(struct perfile_stream_options)

/* One sample; of a group of counters one for each counter that counted. Valid until the next call. */
struct perfile_stream_sample {
    size_t size;                       /* of what the library filled */
    const struct perfile_event *event; /* NULL: the recording does not say */
    uint64_t time;                     /* ns on the recording's clock; 0: not recorded */
    uint64_t period;                   /* what the event counted since the last sample, in perfile_event_unit's unit */
    int32_t pid;                       /* -1: not recorded, or of a task that was gone */
    int32_t tid;
    int32_t cpu;            /* -1: not recorded */
    uint32_t frame_count;   /* at least 1 */
    const uint32_t *frames; /* the stack, leaf first, inlined functions before those they are in */
    uint32_t leaf;          /* the function of the sampled address, never an inlined one */
    unsigned cpumode;       /* 0 unknown 1 kernel 2 user 3 hypervisor 4 guest kernel 5 guest user */
    uint64_t ip;
    const char *comm; /* name of the thread: equal names are equal pointers, valid as long as the stream */
    const struct perfile_sample *decoded; /* all that was recorded; NULL without PERFILE_STREAM_DECODED */
};

enum perfile_frame_kind {
    PERFILE_FRAME_USER,
    PERFILE_FRAME_KERNEL,
    PERFILE_FRAME_INLINED, /* in the frame that follows it in stacks */
    PERFILE_FRAME_JIT,     /* code made at run time */
    PERFILE_FRAME_UNKNOWN, /* nothing is mapped there */
};

/* The texts are valid as long as the stream. */
struct perfile_frame {
    size_t size;
    const char *name;  /* the function, demangled; NULL: no symbol */
    uint32_t module;   /* PERFILE_NO_ID: nothing is mapped there */
    uint32_t function; /* the frame that stands for the function; the frame itself unless it is an address */
    uint64_t offset;   /* bytes from the function's start to the address; without a name the address in the module */
    uint64_t address;  /* with PERFILE_STREAM_ADDRESSES: in memory; of callers the return address; else 0 */
    const char
        *file; /* with PERFILE_STREAM_ADDRESSES: the source file of the address (of callers: of the call), or NULL */
    uint32_t line;
    uint32_t kind; /* enum perfile_frame_kind */
};
#define PERFILE_FRAME_INIT PERFILE_SIZED(struct perfile_frame)

enum perfile_module_state {
    PERFILE_MODULE_NO_FILE,     /* no binary was found, or it was not looked for yet */
    PERFILE_MODULE_OTHER_BUILD, /* a file of that name is there, but its build id is another: it was not used */
    PERFILE_MODULE_NO_SYMBOLS,  /* its binary has none */
    PERFILE_MODULE_SYMBOLS,
};

enum perfile_module_kind {
    PERFILE_MODULE_FILE,          /* a program or library */
    PERFILE_MODULE_KERNEL,        /* the kernel itself, also that of guests */
    PERFILE_MODULE_KERNEL_MODULE, /* loaded into it, BPF programs among them */
    PERFILE_MODULE_VDSO,          /* the kernel's code in processes */
    PERFILE_MODULE_JIT,           /* made at run time */
};

/* A binary, the kernel, or another source of code. The texts are valid as long as the stream. */
struct perfile_module {
    size_t size;
    const char *name;        /* as perf names it: the path in the recording, "[kernel.kallsyms]", "[vdso]" */
    const char *short_name;  /* the last part of it */
    const char *path;        /* of the file whose symbols are used, or NULL */
    uint8_t build_id[20];    /* as recorded */
    uint32_t build_id_bytes; /* 0: no build id is recorded */
    uint32_t state;          /* enum perfile_module_state */
    bool kernel;
    bool jit;
    uint32_t kind; /* enum perfile_module_kind */
};
#define PERFILE_MODULE_INIT PERFILE_SIZED(struct perfile_module)

/* What a stream could not give, in samples. Final when perfile_stream_next has returned 0. */
struct perfile_losses {
    size_t size;
    uint64_t samples;    /* that were given */
    uint64_t filtered;   /* left out by the filter */
    uint64_t lost;       /* lost while recording, if the recording says so */
    uint64_t unmapped;   /* the sampled address is in no mapping */
    uint64_t unresolved; /* the sampled address has no symbol */
    uint64_t truncated;  /* the stack ends before the outermost caller: its dump, or the frames asked for */
    uint64_t guessed;    /* callers in a dumped stack were found without call frame information */
};
#define PERFILE_LOSSES_INIT PERFILE_SIZED(struct perfile_losses)

struct perfile_stream;

/*
 * The reader must be at its start; until perfile_stream_close it is the stream's. What the options point at must live
 * as long as the stream. `options` NULL: the defaults. Errors: ARGUMENT (a filter or symbol option that is invalid: the
 * message says which; the reader is not at its start), ABSENT, MEMORY, and those of perfile_session_open.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_open(struct perfile_reader *reader,
                                                       const struct perfile_stream_options *options,
                                                       struct perfile_stream **stream, struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_stream_close(struct perfile_stream *stream);
/*
 * 1 and *sample, 0 at the end, or an error: those of perfile_session_next, MEMORY. AGAIN, of a recording that is still
 * being written (perfile_open_options.follow): nothing more is there at present. Ids stay what they are; call again.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_next(struct perfile_stream *stream,
                                                       const struct perfile_stream_sample **sample,
                                                       struct perfile_error *error);
/* What a frame of a sample that was given is. ARGUMENT: no such frame, or frame->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_frame(const struct perfile_stream *stream, uint32_t id,
                                                        struct perfile_frame *frame);
/*
 * The frame as flame graphs name it: the function without the parameters at the end of its name, so that functions that
 * differ in them alone have one label; "[module]" where it has no name; and no quotes, ';' or control characters. Valid
 * as long as the stream. NULL: no such frame, or out of memory.
 */
PERFILE_API const char *perfile_stream_label(struct perfile_stream *stream, uint32_t id);
/*
 * `comm` of a sample as flame graphs name threads: no spaces, ';' or control characters. Valid as long as the stream.
 * NULL: out of memory.
 */
PERFILE_API const char *perfile_stream_comm_label(struct perfile_stream *stream, const char *comm);
/* The module of a frame of a sample that was given. ARGUMENT. Modules are numbered from 0. */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_module(const struct perfile_stream *stream, uint32_t id,
                                                         struct perfile_module *module);
/* ARGUMENT: losses->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_losses(const struct perfile_stream *stream,
                                                         struct perfile_losses *losses);

/*
 * What periods of the event count: "ns" of the clocks, "cycles" and the like of hardware events, else "events". Writes
 * at most `capacity` bytes with the NUL; returns `text`.
 */
PERFILE_API const char *perfile_event_unit(const struct perfile_event *event, char *text, size_t capacity);

/* ---- aggregated profiles ----------------------------------------------------------------------------------------- */

/*
 * The samples of a recording, or of several, added up: tables of what is distinct, each numbered from 0 without gaps.
 *
 *     recordings    where it is from
 *     events        what was counted; each has its value types
 *     value types   what a value means: samples, period, weight
 *     modules       binaries
 *     functions     of modules
 *     frames        addresses or lines in functions; without PERFILE_STREAM_ADDRESSES one for each function
 *     stacks        a prefix tree of frames: a stack is a node, with its caller's node as parent
 *     threads       that had samples
 *     tags          texts that columns of reports show of samples, where they are keys
 *     samples       the rows: a stack, the keys by which it was kept apart, a value for each value type of its event
 *
 * A profile never changes once it is made; any number of threads may read it. It needs neither the reader nor the
 * profiles that it was made from, and all texts of it are valid as long as it is. Memory grows with what is distinct,
 * not with the number of samples. Each _at fills a struct of the caller's whose `size` is set, in constant time, and
 * returns 0, or ARGUMENT: there is no such number, or size is not set.
 *
 * Everything is numbered in the order in which samples have it, so the number of threads makes no difference.
 */
struct perfile_profile;

struct perfile_profile_options {
    size_t size;                                  /* sizeof(struct perfile_profile_options) */
    const struct perfile_filter *filter;          /* which samples; NULL: all */
    const struct perfile_symbol_options *symbols; /* where symbols are; NULL: where perf would look */
    uint32_t flags;                               /* enum perfile_stream_flags, but for DECODED */
    unsigned threads;                             /* as in perfile_output_options */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    /*
     * By what samples of a stack are kept apart: a list of event (always), pid, tid (and pid), comm, cpu, cgroup, time,
     * recording, such as "comm,cpu", and of tags: columns of reports that describe samples or their addresses, such as
     * mem or srcline, and fields of tracepoints. NULL: by event alone. What is not in the list is not known of rows.
     */
    const char *keys;
    uint64_t time_quantum; /* ns, the steps of the key time; 0: 100 ms */
    const char *path;      /* of the recording, or NULL; symbols->recording, too, where that is not set */
    /* Called at the end for filters that matched nothing. May be NULL. */
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
    /*
     * Must live as long as the profile. NULL: malloc. With more than one thread it may be called from several at a
     * time.
     */
    const struct perfile_allocator *allocator;
    /*
     * Called now and then while the recording is read, by the caller's thread, with what was read so far: a profile
     * that is valid during the call, and whose recording has no more than a path and times. NULL: not needed. Making it
     * costs time and memory as the profile itself does, so the next one comes after `snapshot_ms` (0: 500) or when ten
     * times as long has passed as the last one took, whatever is longer.
     */
    void (*snapshot)(void *context, const struct perfile_profile *profile);
    void *snapshot_context;
    uint64_t snapshot_ms;
    uint64_t snapshot_rows; /* with more rows than that no more come; 0: 1,000,000 */
    uint64_t
        max_frames; /* of each stack only so many of the innermost: less memory where callers do not matter; 0: all */
};
#define PERFILE_PROFILE_OPTIONS_INIT PERFILE_SIZED(struct perfile_profile_options)

/* What may be in `keys`, by position, tags last; NULL after the last. Static text; doc may be NULL. */
PERFILE_API const char *perfile_profile_key_at(size_t index, const char **doc);

/*
 * Reads all of the recording. The reader must be at its start, and is at its end then; it is the caller's again.
 * `options` NULL: the defaults. A recording without samples gives a profile without rows. Errors: ARGUMENT (an option
 * that is invalid: the message says which; the reader is not at its start), MEMORY, and those of perfile_session_open
 * and _next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_open(struct perfile_reader *reader,
                                                        const struct perfile_profile_options *options,
                                                        struct perfile_profile **profile, struct perfile_error *error);

struct perfile_profile_merge_options {
    size_t size;                               /* sizeof(struct perfile_profile_merge_options) */
    const struct perfile_allocator *allocator; /* must live as long as the profile; NULL: malloc */
};
#define PERFILE_PROFILE_MERGE_OPTIONS_INIT PERFILE_SIZED(struct perfile_profile_merge_options)

/*
 * One profile of several; they stay as they are. Equal are
 *     events      of the same name and unit (the second of that name in a recording equals the second in others);
 *     modules     of the same build id and file name, in whatever folders, or without build ids of the same path;
 *     functions   of equal modules with the same name and address;
 *     frames      of equal functions with the same address and line, stacks of equal frames;
 *     threads     of the same pid and tid;
 *     rows        of equal stacks with the same keys, times as they are: clocks of other machines are other clocks.
 * Values, totals and losses are added. The order of the profiles decides only the numbers: first come those of the
 * first. A profile merged alone is the same again, and it makes no difference whether what is merged was merged before.
 * `options` NULL: the defaults; `count` 0: an empty profile. Errors: ARGUMENT, MEMORY (also for 2^32 of something).
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_merge(const struct perfile_profile *const *profiles, size_t count,
                                                         const struct perfile_profile_merge_options *options,
                                                         struct perfile_profile **merged, struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_profile_close(struct perfile_profile *profile);

/*
 * The profile as a file, which needs neither the recording nor its binaries to be read again: names, stacks, keys and
 * values, in lines of text, but no command lines. Errors: ARGUMENT, WRITE, MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_write(const struct perfile_profile *profile,
                                                         const struct perfile_sink *sink, struct perfile_error *error);
/* The bytes begin as such a file does. */
PERFILE_API bool perfile_profile_is_file(const void *data, size_t bytes);
/*
 * The file again; `allocator` as in perfile_profile_options. Errors: FORMAT (not such a file), TRUNCATED, DAMAGED (the
 * message says which line), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_read(const void *data, size_t bytes,
                                                        const struct perfile_allocator *allocator,
                                                        struct perfile_profile **profile, struct perfile_error *error);

/*
 * A recording that the profile is made of: of a merged one all, in order. NULL and 0 where the recording does not say.
 */
struct perfile_profile_recording {
    size_t size;
    const char *path; /* as perfile_profile_options had it */
    const char *hostname;
    const char *os_release; /* of the kernel */
    const char *arch;       /* uname -m */
    const char *cpu;        /* its name */
    const char *version;    /* of the recorder */
    const char *const *cmdline;
    size_t cmdline_count;
    uint64_t first_time; /* of its samples that are in the profile, ns on its clock; UINT64_MAX and 0 mean none */
    uint64_t last_time;
    int32_t clock; /* CLOCK_* of its times, as in Linux; -1: the recorder's own choice, which is not wall-clock time */
    uint64_t wall_time;  /* ns since 1970 when the clock was at clock_time; 0: not known */
    uint64_t clock_time; /* ns */
    uint64_t lost;       /* samples that were lost while recording */
};
#define PERFILE_PROFILE_RECORDING_INIT PERFILE_SIZED(struct perfile_profile_recording)

struct perfile_profile_event {
    size_t size;
    const char *name;
    const char *unit;     /* of periods, as perfile_event_unit says it */
    uint64_t config;      /* of its attr */
    uint32_t type;        /* of its attr: PERF_TYPE_* */
    uint32_t first_value; /* its value types: first_value, first_value + 1 ... */
    uint32_t value_count;
};
#define PERFILE_PROFILE_EVENT_INIT PERFILE_SIZED(struct perfile_profile_event)

/* The first of an event are its samples, the second its periods; the third is there where weights were recorded. */
struct perfile_profile_value_type {
    size_t size;
    const char *name; /* "samples"; the event's, of periods; "weight" */
    const char *unit; /* "count"; the event's, of periods; "count" */
    uint32_t event;
    uint64_t total; /* of all rows; modulo 2^64, as all values are */
};
#define PERFILE_PROFILE_VALUE_TYPE_INIT PERFILE_SIZED(struct perfile_profile_value_type)

struct perfile_profile_function {
    size_t size;
    const char *name;     /* demangled; NULL: no symbol */
    const char *raw_name; /* as in the symbol table or, inlined, as linked (with ADDRESSES only); NULL: not known */
    const char *label;    /* as flame graphs name it, see perfile_stream_label; never NULL */
    uint32_t module;      /* PERFILE_NO_ID: nothing is mapped there */
    uint32_t kind;        /* enum perfile_frame_kind */
    /*
     * Where it begins as its symbol table counts: for ELF files a virtual address of the file, else an address in
     * memory. Without a symbol the frame's, 0 where addresses were joined; 0 for inlined functions.
     */
    uint64_t address;
    uint64_t bytes;      /* its length; 0: not known */
    const char *file;    /* with ADDRESSES: the source of where it begins, NULL: not known ... */
    uint32_t start_line; /* ... and the line there; 0: not known */
};
#define PERFILE_PROFILE_FUNCTION_INIT PERFILE_SIZED(struct perfile_profile_function)

/* All but `function` and `kind` are 0 without PERFILE_STREAM_ADDRESSES. Callers' addresses are return addresses. */
struct perfile_profile_frame {
    size_t size;
    uint32_t function;
    uint32_t kind;        /* enum perfile_frame_kind */
    uint64_t offset;      /* from the start of the function; 0 when it has no symbol, or is inlined */
    uint64_t address;     /* as the function's counts; of inlined functions that of the code they are in */
    uint64_t file_offset; /* of that address in the binary, found or not; 0: the code is not from a file */
    const char *file;     /* the source file of the address (of callers: of the call), or NULL ... */
    uint32_t line;        /* ... and the line; of a function that others are inlined in, of their call */
};
#define PERFILE_PROFILE_FRAME_INIT PERFILE_SIZED(struct perfile_profile_frame)

/* The stack of a node is its frame, its parent's, and so on up to the outermost caller. */
struct perfile_profile_stack {
    size_t size;
    uint32_t parent; /* a smaller number; PERFILE_NO_ID: the frame has no caller */
    uint32_t frame;
};
#define PERFILE_PROFILE_STACK_INIT PERFILE_SIZED(struct perfile_profile_stack)

struct perfile_profile_thread {
    size_t size;
    int32_t pid; /* -1: not recorded */
    int32_t tid;
    const char *comm;         /* its last name that is known; :TID: none is */
    const char *const *comms; /* all that its samples have, in order */
    size_t comm_count;
    uint64_t first_time; /* of its samples; UINT64_MAX and 0: not recorded */
    uint64_t last_time;
    uint64_t samples; /* of all events */
};
#define PERFILE_PROFILE_THREAD_INIT PERFILE_SIZED(struct perfile_profile_thread)

/* A row. No two have the same stack, leaf and keys. */
struct perfile_profile_sample {
    size_t size;
    uint32_t event;
    uint32_t stack; /* the node where it ends, of its innermost frame */
    /*
     * The frame of the sampled address itself, never an inlined one: mostly the first frame of the stack that is not
     * inlined, but a callchain need not begin where the sample was taken. Reports count the sample for its function.
     */
    uint32_t leaf;
    uint32_t value_count;   /* as the event's */
    int32_t cpu;            /* -1: not recorded, or not kept apart; the same goes for all that follow */
    const uint64_t *values; /* of the event's value types, in order */
    int32_t pid;            /* -1 */
    int32_t tid;            /* -1 */
    const char *comm;       /* NULL. Equal names are equal pointers */
    uint64_t time;          /* where the step of time begins, ns; UINT64_MAX */
    const char *cgroup;     /* path of the control group, "unknown" where the recording does not name it; NULL */
    uint32_t recording;     /* its number; PERFILE_NO_ID */
    uint32_t tags;          /* the first one; PERFILE_NO_ID */
};
#define PERFILE_PROFILE_SAMPLE_INIT PERFILE_SIZED(struct perfile_profile_sample)

/* What a column of reports shows of the samples of a row, in the order of perfile_profile_options.keys. */
struct perfile_profile_tag {
    size_t size;
    const char *name; /* of the column */
    const char *text;
    uint32_t next; /* the tag of the next column; PERFILE_NO_ID after the last */
};
#define PERFILE_PROFILE_TAG_INIT PERFILE_SIZED(struct perfile_profile_tag)

/* How many there are of each; their positions are below these. */
PERFILE_API size_t perfile_profile_recording_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_event_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_value_type_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_module_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_function_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_frame_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_stack_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_thread_count(const struct perfile_profile *profile);
PERFILE_API size_t perfile_profile_sample_count(const struct perfile_profile *profile);

/*
 * 0 and what is at position `index`; texts and arrays in it are valid as long as the profile. ARGUMENT: nothing is
 * there, or `size` is not set.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_recording_at(const struct perfile_profile *profile, size_t index,
                                                                struct perfile_profile_recording *recording);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_event_at(const struct perfile_profile *profile, size_t index,
                                                            struct perfile_profile_event *event);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_value_type_at(const struct perfile_profile *profile, size_t index,
                                                                 struct perfile_profile_value_type *type);
/* As streams have them; of equal modules with several paths the first in byte order. */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_module_at(const struct perfile_profile *profile, size_t index,
                                                             struct perfile_module *module);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_function_at(const struct perfile_profile *profile, size_t index,
                                                               struct perfile_profile_function *function);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_frame_at(const struct perfile_profile *profile, size_t index,
                                                            struct perfile_profile_frame *frame);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_stack_at(const struct perfile_profile *profile, size_t index,
                                                            struct perfile_profile_stack *stack);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_thread_at(const struct perfile_profile *profile, size_t index,
                                                             struct perfile_profile_thread *thread);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_sample_at(const struct perfile_profile *profile, size_t index,
                                                             struct perfile_profile_sample *sample);
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_tag_at(const struct perfile_profile *profile, size_t index,
                                                          struct perfile_profile_tag *tag);
/* Sums over all recordings. ARGUMENT: losses->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_profile_losses(const struct perfile_profile *profile,
                                                          struct perfile_losses *losses);

/* ---- what functions and their calls weigh ------------------------------------------------------------------------ */

/*
 * Samples of a profile added up by function and by call, for tables of functions, callers and callees, call trees:
 *
 *     perfile_calls_open -> perfile_calls_start -> perfile_calls_add ... -> perfile_calls_sum -> perfile_calls_total
 * ...
 *                        -> perfile_calls_start -> perfile_calls_add ... and so on with other samples
 *
 * The caller adds the samples that it wants: those of an event, a thread, a range of time. The self weight of a
 * function is what was sampled in it (the `leaf` of samples), its total weight what was sampled in it or in anything
 * that it called. A sample counts once for each of its functions: recursion does not add to a total, and the function
 * of the sampled address counts where the stack does not have it, too. Weights are lists of perfile_calls_value_count
 * values, in the order of struct perfile_profile_sample: samples, period, and weight if an event of the profile has it.
 * Sums end at 2^64 - 1.
 *
 * The stacks are a tree of nodes, numbered from 0 so that all that a node called, and no other, comes right after it.
 * They have no addresses: a node is a function in the context of its callers.
 *
 * It is made of a profile, which may be closed then; it takes about 9 bytes for each stack of the profile and 50 for
 * each sample. Numbers that do not exist give NULL, 0 or PERFILE_NO_ID, and so do weights before the first start. One
 * thread at a time may use it, any number when none starts, adds, sums or marks.
 */
struct perfile_calls;

struct perfile_calls_options {
    size_t size; /* sizeof(struct perfile_calls_options) */
    /*
     * By function of the profile: the number of the group that it counts as, below group_count. Functions of one group
     * are one function here, as those of a file are when totals of files are asked for. NULL: each is a group of its
     * own number.
     */
    const uint32_t *groups;
    uint32_t group_count;
    const struct perfile_allocator *allocator; /* must live as long as the calls; NULL: malloc */
};
#define PERFILE_CALLS_OPTIONS_INIT PERFILE_SIZED(struct perfile_calls_options)

/*
 * `options` NULL: the defaults; `groups` is not needed afterwards. Errors: ARGUMENT (the size, a group's number),
 * MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_calls_open(const struct perfile_profile *profile,
                                                      const struct perfile_calls_options *options,
                                                      struct perfile_calls **calls, struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_calls_close(struct perfile_calls *calls);

/*
 * All weights become 0: to be called before samples are added, and before other samples are. What it costs, and what
 * sums cost, depends on what was added, so that there may be sums for each of many threads. Errors: MEMORY, the first
 * time.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_calls_start(struct perfile_calls *calls, struct perfile_error *error);
/* Adds a sample of the profile, by its number there. */
PERFILE_API void perfile_calls_add(struct perfile_calls *calls, size_t sample);
/* To be called once when the samples are added: makes the totals. */
PERFILE_API void perfile_calls_sum(struct perfile_calls *calls);

/* How many values a weight has: 2 or 3. */
PERFILE_API size_t perfile_calls_value_count(const struct perfile_calls *calls);
/* The weights of a group, valid as long as the calls: they change with what is added. */
PERFILE_API const uint64_t *perfile_calls_self(const struct perfile_calls *calls, uint32_t group);
PERFILE_API const uint64_t *perfile_calls_total(const struct perfile_calls *calls, uint32_t group);
/* The total weight of a node: of all samples with stacks that go through it. */
PERFILE_API const uint64_t *perfile_calls_node(const struct perfile_calls *calls, uint32_t node);

/* How many nodes the tree of stacks has. */
PERFILE_API size_t perfile_calls_node_count(const struct perfile_calls *calls);
/* The group of a node. */
PERFILE_API uint32_t perfile_calls_group(const struct perfile_calls *calls, uint32_t node);
/* The node that called it; PERFILE_NO_ID: it is an outermost caller. */
PERFILE_API uint32_t perfile_calls_parent(const struct perfile_calls *calls, uint32_t node);
/* Its first callee, or PERFILE_NO_ID; of PERFILE_NO_ID the first of the outermost callers. */
PERFILE_API uint32_t perfile_calls_first(const struct perfile_calls *calls, uint32_t node);
/* The next callee of the same caller, or the next of the outermost callers; PERFILE_NO_ID after the last one. */
PERFILE_API uint32_t perfile_calls_next(const struct perfile_calls *calls, uint32_t node);
/*
 * The nodes of a group that none of the same group called, directly or not: its total is the sum of theirs. Writes
 * their number to *count. Valid as long as the calls.
 */
PERFILE_API const uint32_t *perfile_calls_nodes(const struct perfile_calls *calls, uint32_t group, size_t *count);

/* The weight of a sample of the profile. */
PERFILE_API const uint64_t *perfile_calls_sample(const struct perfile_calls *calls, size_t sample);
/* Where it is: the node at which its stack ends, or PERFILE_NO_ID ... */
PERFILE_API uint32_t perfile_calls_end(const struct perfile_calls *calls, size_t sample);
/* ... and the group of the sampled address. */
PERFILE_API uint32_t perfile_calls_leaf(const struct perfile_calls *calls, size_t sample);
/* The innermost node of that group in the stack; PERFILE_NO_ID: the stack does not have it. */
PERFILE_API uint32_t perfile_calls_leaf_node(const struct perfile_calls *calls, size_t sample);
/*
 * Marks groups, for filters by what is in a stack: `marks` has 16 bits for each group, NULL: all are 0, as they are
 * before. To be called after perfile_calls_start, which leaves marks as they are.
 */
PERFILE_API void perfile_calls_mark(struct perfile_calls *calls, const uint16_t *marks);
/* The marks of all groups that the sample counts for, combined by or. */
PERFILE_API uint16_t perfile_calls_marks(const struct perfile_calls *calls, size_t sample);

/* ---- single addresses -------------------------------------------------------------------------------------------- */

/*
 * Resolves an address to names, lines and inlined functions as in streams, for callers that read the records of a
 * session. Answers are kept, so asking again is cheap; memory grows with the distinct addresses asked for.
 */
struct perfile_resolver;

enum perfile_resolve_flags {
    PERFILE_RESOLVE_RETURN = 1 << 0, /* a return address: the call is one byte before it */
};

struct perfile_resolver_options {
    size_t size;                                  /* sizeof(struct perfile_resolver_options) */
    const struct perfile_symbol_options *symbols; /* where symbols are; NULL: where perf would look */
    uint32_t flags;                               /* enum perfile_stream_flags, but for DECODED */
    const struct perfile_allocator *allocator;    /* must live as long as the resolver; NULL: malloc */
};
#define PERFILE_RESOLVER_OPTIONS_INIT PERFILE_SIZED(struct perfile_resolver_options)

/*
 * `session` is one of the reader; both must live as long as the resolver, and so must what the options point at. From
 * now on the session follows mappings: open the resolver before the session's first _next. Code of JITs is named by its
 * perf-PID.map; jitdump files are for streams. Errors: ARGUMENT, MEMORY, those of perfile_feature_visit.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_resolver_open(struct perfile_reader *reader, struct perfile_session *session,
                                                         const struct perfile_resolver_options *options,
                                                         struct perfile_resolver **resolver,
                                                         struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_resolver_close(struct perfile_resolver *resolver);

struct perfile_location {
    size_t size;      /* sizeof(struct perfile_location) */
    uint64_t address; /* in memory */
    int32_t pid;      /* whose memory; not looked at in the kernel */
    unsigned cpumode; /* as in struct perfile_stream_sample; only 1 and 2 have mappings */
    uint32_t flags;   /* enum perfile_resolve_flags */
};
#define PERFILE_LOCATION_INIT PERFILE_SIZED(struct perfile_location)

/*
 * The frames at an address at the moment of the session, that of the record it delivered last: inlined functions,
 * innermost first, then the function that contains them. Writes at most `capacity` ids and returns how many there are,
 * at least 1: a frame of its own stands for an unknown address. Errors: ARGUMENT (size is not set), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_resolver_frames(struct perfile_resolver *resolver,
                                                           const struct perfile_location *location, uint32_t *frames,
                                                           size_t capacity, struct perfile_error *error);
/*
 * The complete stack of the sample that the session delivered last, leaf first, as streams have it: the callchain with
 * its markers, the call stack of the branch hardware, the dumped stack unwound, and inlined functions. `record` is that
 * sample and `sample` what perfile_sample_decode made of it. A user part that comes in a later CALLCHAIN_DEFERRED
 * record is not in it. Writes at most `capacity` ids and returns how many there are, at least 1: without a callchain
 * the frame of the sampled address. Errors: ARGUMENT (not a sample, or its size is not set), MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_resolver_stack(struct perfile_resolver *resolver,
                                                          const struct perfile_record *record,
                                                          const struct perfile_sample *sample, uint32_t *frames,
                                                          size_t capacity, struct perfile_error *error);
/* As perfile_stream_frame, _label and _module. */
PERFILE_API PERFILE_MUST_CHECK int perfile_resolver_frame(const struct perfile_resolver *resolver, uint32_t id,
                                                          struct perfile_frame *frame);
PERFILE_API const char *perfile_resolver_label(struct perfile_resolver *resolver, uint32_t id);
PERFILE_API PERFILE_MUST_CHECK int perfile_resolver_module(const struct perfile_resolver *resolver, uint32_t id,
                                                           struct perfile_module *module);

#ifdef __cplusplus
}
#endif
#endif
