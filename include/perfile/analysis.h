/* SPDX-License-Identifier: MIT */
/*
 * perfile/analysis.h: what is made of a recording (libperfile-analysis, on top of libperfile).
 *
 * An output turns a reader into a stream of text. Outputs are named by kind and format: perfile_output_at() lists them.
 * The same rules as in perfile.h hold for results, lifetimes and threads; see also perfile_output_options.threads.
 * Since 0.1.
 */
#ifndef PERFILE_ANALYSIS_H
#define PERFILE_ANALYSIS_H

#include <perfile/perfile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the text goes. `write` returns 0, or non-zero to stop with PERFILE_ERROR_WRITE. Pieces may have any size. */
struct perfile_sink {
    void *context;
    int (*write)(void *context, const void *data, size_t bytes);
};

/* Which records are wanted. NULL members let everything pass; all that are given must match. */
struct perfile_filter {
    const char *time; /* "START,STOP" in seconds.fraction, either may be empty; "10%-20%", "30%/2" (the 2nd 30 %) */
    const char *cpus; /* "0-3,7" */
    const char *pids; /* "1,2" */
    const char *tids;
    const char *comms;  /* "make,cc1" */
    const char *events; /* "cycles,sched:sched_switch" */
};

/* Record groups that `script` prints between the samples, as perf's --show-NAME-events does. */
enum perfile_show {
    PERFILE_SHOW_TASK = 1 << 0,      /* COMM, FORK, EXIT */
    PERFILE_SHOW_MMAP = 1 << 1,      /* MMAP, MMAP2 */
    PERFILE_SHOW_SWITCH = 1 << 2,    /* SWITCH, SWITCH_CPU_WIDE */
    PERFILE_SHOW_NAMESPACE = 1 << 3, /* NAMESPACES */
    PERFILE_SHOW_LOST = 1 << 4,      /* LOST, LOST_SAMPLES */
    PERFILE_SHOW_ROUND = 1 << 5,     /* FINISHED_ROUND */
    PERFILE_SHOW_BPF = 1 << 6,       /* KSYMBOL, BPF_EVENT */
    PERFILE_SHOW_CGROUP = 1 << 7,    /* CGROUP */
    PERFILE_SHOW_TEXT_POKE = 1 << 8, /* TEXT_POKE */
};

/* Where the binaries and symbols of the recording are. NULL members: where perf would look. */
struct perfile_symbol_options {
    const char *symfs;       /* a folder that holds the file system of the recording's machine */
    const char *vmlinux;     /* the kernel with its symbols */
    const char *kallsyms;    /* a copy of /proc/kallsyms of the recording's machine */
    const char *buildid_dir; /* perf's build-id cache; NULL: ~/.debug */
    bool no_inline;          /* leave out inlined functions, and do not read debug info for them */
};

/* How the bottom of a stack is named, and so which threads become one. */
enum perfile_flame_threads {
    PERFILE_FLAME_BY_COMM, /* "make" */
    PERFILE_FLAME_BY_PID,  /* "make-12" */
    PERFILE_FLAME_BY_TID,  /* "make-12/13" */
};

struct perfile_flame_options {
    unsigned threads;   /* enum perfile_flame_threads */
    bool count_samples; /* every sample weighs 1, not its period */
    bool inverted;      /* svg: the root on top */
    bool reverse;       /* svg: leaves at the root */
    bool annotate;      /* folded: _[k], _[i], _[j] behind kernel, inlined and JIT frames */
    const char *event;  /* folded, svg: which event; NULL: the one with the most samples */
    const char *title;  /* NULL: made from the recording */
};

/* How `report` looks at the samples. */
enum perfile_report_flags {
    PERFILE_REPORT_CHILDREN = 1 << 0,    /* a row for every function in a stack; the default with callchains */
    PERFILE_REPORT_NO_CHILDREN = 1 << 1, /* rows for the functions that were running */
    PERFILE_REPORT_INVERTED = 1 << 2,    /* call graphs from the caller */
    PERFILE_REPORT_SAMPLES = 1 << 3,     /* a column with the number of samples */
    PERFILE_REPORT_COLOR = 1 << 4,       /* text: colours */
};

struct perfile_report_options {
    unsigned flags;            /* enum perfile_report_flags */
    const char *sort;          /* columns: "comm,dso,symbol"; "+cpu" adds to that, which is the default */
    const char *call_graph;    /* as perf's -g: "none", "caller", "callee,fractal,2" */
    const char *dsos;          /* only samples in these files, "libc.so.6,make" */
    const char *symbols;       /* only samples in these functions */
    const char *percent_limit; /* "0.5": rows and branches below it are left out */
    const char *separator;     /* csv; NULL: "," */
    uint64_t max_stack;        /* the innermost frames that are looked at; 0: all */
};

/* The columns of reports by position; NULL behind the last. Static text; doc may be NULL. */
PERFILE_API const char *perfile_report_column_at(size_t index, const char **doc);

struct perfile_output_options {
    size_t size; /* sizeof(struct perfile_output_options) */
    struct perfile_filter filter;
    const char *fields; /* script: as perf's -F: "comm,tid,ip", "+addr", "-period", "EVENTTYPE:LIST"; NULL: default */
    bool nanoseconds;   /* script: 9 digits instead of 6 */
    unsigned show;      /* script: enum perfile_show */
    uint64_t max_bytes; /* dump: longer byte strings become length and CRC-32; 0 = 4096, UINT64_MAX = never */
    bool count;         /* info: walk the records and count them */
    bool header_only;   /* dump: no records */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    struct perfile_symbol_options symbols; /* script, report, flame */
    struct perfile_flame_options flame;
    struct perfile_report_options report;
    /*
     * report, flame: threads that may be used, the caller's included; 0 and 1: no other. What is written is the same for
     * every number. The sink is called from the caller's thread only. With more than one, `progress` and what the reader
     * was opened with (its allocator, `diagnostic`) may be called from another one, but never two of these at a time.
     * Other threads block all signals, and are gone when the call returns.
     */
    unsigned threads;
};
#define PERFILE_OUTPUT_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(struct perfile_output_options), {NULL, NULL, NULL, NULL, NULL, NULL}, NULL, false, 0, 0, false, false,  \
            NULL, NULL, {NULL, NULL, NULL, NULL, false}, {0, false, false, false, false, NULL, NULL},                  \
            {0, NULL, NULL, NULL, NULL, NULL, NULL, 0}, 0                                                              \
    }

struct perfile_output_info {
    const char *kind;   /* "dump", "script", "info", "check", "flame" */
    const char *format; /* "text", "json", "folded", "svg", "html" */
    const char *doc;    /* one sentence */
};
/* The outputs of this build by position; NULL behind the last. Static. */
PERFILE_API const struct perfile_output_info *perfile_output_at(size_t index);

/*
 * Writes one output of the recording. The reader must be at its start. `format` NULL is the kind's first format.
 * Returns 0, or 1 when the output itself is a finding (check found something); errors: ARGUMENT (unknown kind, format,
 * field or filter: the message lists what there is), WRITE, and those of perfile_reader_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_output_write(struct perfile_reader *reader, const char *kind,
                                                        const char *format,
                                                        const struct perfile_output_options *options,
                                                        const struct perfile_sink *sink, struct perfile_error *error);

/* The fields that script's -F knows, by position; NULL behind the last. Static text. */
PERFILE_API const char *perfile_script_field_at(size_t index, const char **doc);

#ifdef __cplusplus
}
#endif
#endif
