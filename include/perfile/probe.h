/* SPDX-License-Identifier: MIT */
/*
 * perfile/probe.h: what probes mean (libperfile-analysis).
 *
 *     perfile_probe_define -> a line for perfile_probes_write of recorder.h
 *
 * A probe is a tracepoint that is put into a program, a library or the kernel while they run. These functions read
 * files only; those of recorder.h named perfile_probes_ read and write tracefs. `perfile probe` is made of both.
 */
#ifndef PERFILE_PROBE_H
#define PERFILE_PROBE_H

#include <perfile/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PERFILE_PROBES_MAX = 128 }; /* addresses of one definition, unless max_probes is set */

struct perfile_probe_options {
    size_t size;                                  /* sizeof(struct perfile_probe_options) */
    const char *file;                             /* a program or a library, a full path; NULL: the kernel */
    const struct perfile_symbol_options *symbols; /* where debug files and the kernel are; NULL: where perf looks */
    const char *module;                           /* of the kernel, by its name; NULL: the kernel itself */
    uint64_t max_probes;                          /* 0: PERFILE_PROBES_MAX */
    bool no_inlines;                              /* copies of inlined functions get no probes */
    const struct perfile_allocator *allocator;    /* NULL: malloc */
    /* A sentence about what the probe does not do. May be NULL. */
    void (*note)(void *context, const char *sentence);
    void *note_context;
};
#define PERFILE_PROBE_OPTIONS_INIT PERFILE_SIZED(struct perfile_probe_options)

/* A probe at one address. Texts are valid during the call that delivers it. */
struct perfile_probe {
    size_t size;
    const char *group;     /* "probe_libc", or as given */
    const char *event;     /* "malloc", or as given */
    const char *point;     /* as given, without arguments: "malloc%return" */
    const char *arguments; /* as given; "": none */
    const char *target;    /* "/tmp/a.out:0x1159 x=%di:s32": what follows the name in uprobe_events and kprobe_events */
    bool is_return;
    bool is_kernel; /* of kprobe_events */
};
#define PERFILE_PROBE_INIT PERFILE_SIZED(struct perfile_probe)

/*
 * The probes that a definition of perf's language means: [[GROUP:]EVENT=]FUNC[@FILE][+OFFSET|%return|:LINE] [ARG...],
 * or FILE:LINE [ARG...]; arguments are [NAME=]VARIABLE[.MEMBER|->MEMBER|[INDEX]...][:TYPE], $vars, $params, and
 * what the kernel evaluates itself (%REGISTER, $retval, $stackN, @ADDRESS ...). `take` returns 0 to go on. Errors:
 * ARGUMENT (not such a definition), ABSENT (no such function or line, no debug info), UNSUPPORTED, LIMIT
 * (options->max_probes), OPEN, FORMAT, MEMORY, STOPPED.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_probe_define(const struct perfile_probe_options *options,
                                                        const char *definition,
                                                        int (*take)(void *context, const struct perfile_probe *probe),
                                                        void *context, struct perfile_error *error);
/* The names of functions that probes can be put into, by name. Errors: as above. */
PERFILE_API PERFILE_MUST_CHECK int perfile_probe_functions(const struct perfile_probe_options *options,
                                                           int (*take)(void *context, const char *name), void *context,
                                                           struct perfile_error *error);

/* A variable that is known at an address of a probe. */
struct perfile_probe_variable {
    size_t size;
    const char *point;  /* the address: "leaf+4" */
    const char *name;   /* NULL: none is known at this address */
    const char *type;   /* "struct out*" */
    const char *ranges; /* bytes from the start of the function where it has a value: "0-29,29-52"; "": everywhere */
    bool is_external;   /* of no function */
};
#define PERFILE_PROBE_VARIABLE_INIT PERFILE_SIZED(struct perfile_probe_variable)
/* Of each address that the definition (without arguments) means; `externs`: with those of no function. */
PERFILE_API PERFILE_MUST_CHECK int
perfile_probe_variables(const struct perfile_probe_options *options, const char *definition, bool externs,
                        int (*take)(void *context, const struct perfile_probe_variable *variable), void *context,
                        struct perfile_error *error);

/* The lines that probes can be put on. */
struct perfile_probe_listing {
    size_t size;
    const char *file;      /* the path, as in the debug info */
    const char *function;  /* NULL: the lines of a file were asked for */
    uint64_t first;        /* of the function; 0 for files */
    uint64_t from, to;     /* what was asked for, in the file; to: INT32_MAX is the end */
    const uint64_t *lines; /* in the file, ascending */
    size_t line_count;
};
#define PERFILE_PROBE_LISTING_INIT PERFILE_SIZED(struct perfile_probe_listing)
/* Of FUNC[@FILE][:FROM[-TO|+COUNT]] or FILE[:FROM[-TO|+COUNT]]. Errors: as perfile_probe_define. */
PERFILE_API PERFILE_MUST_CHECK int perfile_probe_lines(const struct perfile_probe_options *options, const char *range,
                                                       int (*take)(void *context,
                                                                   const struct perfile_probe_listing *lines),
                                                       void *context, struct perfile_error *error);
/*
 * Where the probe at an offset in options->file is: "leaf+4@/src/a.c", "deep:3@/src/a.c"; without debug info
 * "leaf+4". Its length; 0: not known. What does not fit in `capacity` bytes is cut off.
 */
PERFILE_API size_t perfile_probe_describe(const struct perfile_probe_options *options, uint64_t offset, char *text,
                                          size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
