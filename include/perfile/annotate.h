/* SPDX-License-Identifier: MIT */
/*
 * perfile/annotate.h: which instructions and source lines samples were taken at (libperfile-analysis).
 *
 *     perfile_annotation_open -> _function_at ... -> perfile_annotation_listing -> perfile_listing_line_at ...
 *     -> perfile_listing_close -> perfile_annotation_close
 *
 * One pass over the recording adds up the sampled addresses; callchains are not looked at, and no debug info is read
 * for that. The code of a function is disassembled when it is asked for. `perfile annotate` is made of this.
 */
#ifndef PERFILE_ANNOTATE_H
#define PERFILE_ANNOTATE_H

#include <perfile/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfile_annotation;

struct perfile_annotation_options {
    size_t size;                                  /* sizeof(struct perfile_annotation_options) */
    const struct perfile_filter *filter;          /* which samples; NULL: all */
    const struct perfile_symbol_options *symbols; /* where binaries are; NULL: where perf would look */
    unsigned threads;                             /* as in perfile_output_options */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    /* Called at the end for filters that matched nothing. May be NULL. */
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
    /* Must live as long as the annotation. NULL: malloc. */
    const struct perfile_allocator *allocator;
    const char *syntax;               /* of x86 instructions: "att", "intel"; NULL: "att" */
    perfile_disassemble *disassemble; /* instead of capstone, which does not know all machines; NULL: capstone */
    void *disassemble_context;
    bool data_types; /* lines of listings state what their instructions access */
};
#define PERFILE_ANNOTATION_OPTIONS_INIT PERFILE_SIZED(struct perfile_annotation_options)

/*
 * Reads all of the recording. The reader must be at its start, and is the annotation's until perfile_annotation_close,
 * as is what the options point at. `options` NULL: the defaults. A recording without samples gives an annotation
 * without functions. Not for several threads at a time. Errors: ARGUMENT (an option that is invalid: the message says
 * which; the reader is not at its start), MEMORY, and those of perfile_session_open and _next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_annotation_open(struct perfile_reader *reader,
                                                           const struct perfile_annotation_options *options,
                                                           struct perfile_annotation **annotation,
                                                           struct perfile_error *error);
/* After all listings of it. NULL is allowed. */
PERFILE_API void perfile_annotation_close(struct perfile_annotation *annotation);

/* ---- what was sampled -------------------------------------------------------------------------------------------- */

/* An event that has samples. Texts are valid as long as the annotation, here and below. */
struct perfile_annotation_event {
    size_t size;
    const char *name;
    const char *unit; /* of periods, as perfile_event_unit says it */
    uint64_t samples; /* all that the filter let pass, whether they have a function or not */
    uint64_t period;
};
#define PERFILE_ANNOTATION_EVENT_INIT PERFILE_SIZED(struct perfile_annotation_event)

/* The samples of one event at one address or source line. */
struct perfile_weight {
    size_t size;
    uint64_t samples;
    uint64_t period;
};
#define PERFILE_WEIGHT_INIT PERFILE_SIZED(struct perfile_weight)

/*
 * A function with samples of its own, or what a module has outside of all functions, or all that is in no module.
 * Inlined functions are parts of those that they are in. Weights are those of `report`'s rows of functions, its self
 * weights.
 */
struct perfile_annotation_function {
    size_t size;
    const char *name;     /* demangled; NULL: no symbol */
    const char *raw_name; /* as in the symbol table; NULL: no symbol */
    const char *label;    /* as flame graphs name it, see perfile_stream_label; never NULL */
    uint32_t module;      /* PERFILE_NO_ID: nothing is mapped there */
    uint32_t kind;        /* enum perfile_frame_kind, but for INLINED */
    uint64_t address;     /* where it begins as its symbol table counts: of ELF files a virtual address of the file */
    uint64_t bytes;       /* its length; 0: not known */
    uint32_t rank;        /* its number: 0 is the hottest by the first event */
};
#define PERFILE_ANNOTATION_FUNCTION_INIT PERFILE_SIZED(struct perfile_annotation_function)

/* How many events and functions there are; their positions are below these. */
PERFILE_API size_t perfile_annotation_event_count(const struct perfile_annotation *annotation);
PERFILE_API size_t perfile_annotation_function_count(const struct perfile_annotation *annotation);
/*
 * ARGUMENT: there is no such number, or size is not set, here and below. Events are in the order of the recording,
 * functions in that of their periods of the first event, then of their samples, then of their first samples.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_annotation_event_at(const struct perfile_annotation *annotation,
                                                               size_t index, struct perfile_annotation_event *event);
/* MEMORY, too. */
PERFILE_API PERFILE_MUST_CHECK int perfile_annotation_function_at(struct perfile_annotation *annotation, size_t index,
                                                                  struct perfile_annotation_function *function);
PERFILE_API PERFILE_MUST_CHECK int perfile_annotation_weight(const struct perfile_annotation *annotation,
                                                             size_t function, size_t event,
                                                             struct perfile_weight *weight);
/* The module of a function. */
PERFILE_API PERFILE_MUST_CHECK int perfile_annotation_module(const struct perfile_annotation *annotation,
                                                             uint32_t module, struct perfile_module *found);
/*
 * The first function from number `from` on that is called so: its name demangled or as linked, or as people type it
 * ("compute" for "double geometry::compute<int>(double)"), or a pattern with * and ? of these. When none is, the first
 * one that has a function of that name inlined at a sampled address. PERFILE_NO_ID: none.
 */
PERFILE_API uint32_t perfile_annotation_find(struct perfile_annotation *annotation, const char *name, size_t from);
PERFILE_API PERFILE_MUST_CHECK int perfile_annotation_losses(const struct perfile_annotation *annotation,
                                                             struct perfile_losses *losses);

/* ---- code -------------------------------------------------------------------------------------------------------- */

/* The instructions of one function, in the order of their addresses. */
struct perfile_listing;

enum perfile_listing_state {
    PERFILE_LISTING_READY,       /* all of it was disassembled */
    PERFILE_LISTING_NO_SYMBOL,   /* it is not a function */
    PERFILE_LISTING_NO_FILE,     /* the binary was not found */
    PERFILE_LISTING_OTHER_BUILD, /* what is found under its name is another build */
    PERFILE_LISTING_NO_KERNEL,   /* the kernel's code is not there, or must not be read */
    PERFILE_LISTING_NOT_KEPT,    /* code made at run time that was not written down */
    PERFILE_LISTING_NO_BYTES,    /* the file is there, but has no code at this address */
    PERFILE_LISTING_NO_MACHINE,  /* instructions of this machine cannot be disassembled */
    PERFILE_LISTING_TOO_LONG,    /* more than 16 MiB */
};

enum perfile_listing_kind {
    PERFILE_LISTING_JUMP = 1 << 0, /* leaves for elsewhere, conditionally or not */
    PERFILE_LISTING_CALL = 1 << 1,
    PERFILE_LISTING_RETURN = 1 << 2,
    PERFILE_LISTING_CONDITIONAL = 1 << 3, /* a jump that may not be taken */
};

/*
 * One instruction. Where the code is not available there is one for each sampled address, without bytes and text. Valid
 * as long as the listing.
 */
struct perfile_listing_line {
    size_t size;
    uint64_t address;      /* as the function's */
    const uint8_t *bytes;  /* as they lie in the binary */
    uint32_t byte_count;   /* 0: not known */
    uint32_t kind;         /* enum perfile_listing_kind */
    const char *text;      /* mnemonic and operands, "call memcpy@plt", "jne spin+0x20"; NULL: not known */
    uint32_t target;       /* the line that it jumps to; PERFILE_NO_ID: none of this function */
    uint32_t line;         /* in the source; 0: not known */
    const char *file;      /* its source file as the debug info names it; NULL: not known */
    uint32_t frame_count;  /* source frames at it: inlined functions, and the one that they are in; 0: not known */
    uint32_t jump_count;   /* jumps of this function that lead here */
    uint64_t taken;        /* branches from here, of all that were recorded with samples */
    uint64_t mispredicted; /* of these */
    uint64_t reached;      /* branches to here */
    uint64_t cycles;       /* between the branches to here and the next ones, where they were counted: a sum ... */
    uint64_t cycle_count;  /* ... of so many */
    /* What the instruction accesses: "struct node +0x14 (in.y)"; NULL: not known, or not asked for. */
    const char *data_type;
};
#define PERFILE_LISTING_LINE_INIT PERFILE_SIZED(struct perfile_listing_line)

/* A source frame of an instruction. */
struct perfile_listing_frame {
    size_t size;
    const char *name; /* the function, demangled; NULL: not known */
    const char *file; /* NULL: not known */
    uint32_t line;    /* of a function that others are inlined in, of their call; 0: not known */
    bool inlined;     /* into the next one */
};
#define PERFILE_LISTING_FRAME_INIT PERFILE_SIZED(struct perfile_listing_frame)

/* Errors: ARGUMENT (there is no such function), MEMORY. Missing code is not an error: see perfile_listing_state. */
PERFILE_API PERFILE_MUST_CHECK int perfile_annotation_listing(struct perfile_annotation *annotation, size_t function,
                                                              struct perfile_listing **listing,
                                                              struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_listing_close(struct perfile_listing *listing);
/* enum perfile_listing_state */
PERFILE_API int perfile_listing_state(const struct perfile_listing *listing);
/* Why there are no instructions, and what would help: a sentence without its full stop; NULL: they are there. */
PERFILE_API const char *perfile_listing_missing(const struct perfile_listing *listing);
PERFILE_API size_t perfile_listing_line_count(const struct perfile_listing *listing);
PERFILE_API PERFILE_MUST_CHECK int perfile_listing_line_at(const struct perfile_listing *listing, size_t index,
                                                           struct perfile_listing_line *line);
/* What was sampled at the instruction. All of them add up to the function's. */
PERFILE_API PERFILE_MUST_CHECK int perfile_listing_weight(const struct perfile_listing *listing, size_t line,
                                                          size_t event, struct perfile_weight *weight);
/* The `frame`-th source frame of the line, innermost first. */
PERFILE_API PERFILE_MUST_CHECK int perfile_listing_frame_at(const struct perfile_listing *listing, size_t line,
                                                            size_t frame, struct perfile_listing_frame *found);
/*
 * A line of a source file as lines and frames name it, without its line end, valid as long as the annotation. NULL: the
 * file was not found, or has no such line; or out of memory.
 */
PERFILE_API const char *perfile_listing_source(struct perfile_listing *listing, const char *file, uint32_t line);
/* Where the source file was found, or NULL. *newer: it was changed after the binary was made. */
PERFILE_API const char *perfile_listing_source_path(struct perfile_listing *listing, const char *file, bool *newer);

#ifdef __cplusplus
}
#endif
#endif
