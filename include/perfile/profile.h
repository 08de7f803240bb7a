/* SPDX-License-Identifier: MIT */
/*
 * perfile/profile.h: the samples of a recording with their stacks resolved to functions (libperfile-analysis).
 *
 *     perfile_stream_open -> perfile_stream_next ... -> perfile_stream_close
 *
 * Each sample has its complete stack as frame ids: callchains of every kind, the parts that come in later records or in the
 * branches, unwound stacks, inlined functions. Equal ids are equal functions, so who adds up needs no text;
 * perfile_stream_frame and perfile_stream_module tell what an id stands for. Memory grows with what is distinct, not with
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
     * A frame is one address with its source line; perfile_frame.function is the id of its function. Without it a frame is
     * a function, and has no line.
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
    unsigned threads;                             /* as in perfile_output_options */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
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
    uint32_t build_id_bytes; /* 0: it does not */
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
    uint64_t truncated;  /* the dumped stack ends before the outermost caller */
    uint64_t guessed;    /* callers in a dumped stack were found without call frame information */
};
#define PERFILE_LOSSES_INIT PERFILE_SIZED(struct perfile_losses)

struct perfile_stream;

/*
 * The reader must be at its start; until perfile_stream_close it is the stream's. What the options point at must live as
 * long as the stream. `options` NULL: the defaults. Errors: ARGUMENT (a filter or symbol option that is invalid: the message
 * says which; the reader is not at its start), ABSENT, MEMORY, and those of perfile_session_open.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_open(struct perfile_reader *reader,
                                                       const struct perfile_stream_options *options,
                                                       struct perfile_stream **stream, struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_stream_close(struct perfile_stream *stream);
/* 1 and *sample, 0 at the end, or an error: those of perfile_session_next, MEMORY. */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_next(struct perfile_stream *stream,
                                                       const struct perfile_stream_sample **sample,
                                                       struct perfile_error *error);
/* What a frame of a sample that was given is. ARGUMENT: no such frame, or frame->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_frame(const struct perfile_stream *stream, uint32_t id,
                                                        struct perfile_frame *frame);
/*
 * The frame as flame graphs name it: the function without its arguments, "[module]" where it has no name, and no ';' or
 * control characters. Valid as long as the stream. NULL: no such frame, or out of memory.
 */
PERFILE_API const char *perfile_stream_label(struct perfile_stream *stream, uint32_t id);
/* The module of a frame of a sample that was given. ARGUMENT. Modules are numbered from 0. */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_module(const struct perfile_stream *stream, uint32_t id,
                                                         struct perfile_module *module);
/* ARGUMENT: losses->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_stream_losses(const struct perfile_stream *stream,
                                                         struct perfile_losses *losses);

/*
 * What periods of the event count: "ns" of the clocks, "cycles" and the like of hardware events, else "events". Writes at
 * most `room` bytes with the NUL; returns `text`.
 */
PERFILE_API const char *perfile_event_unit(const struct perfile_event *event, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
