/* SPDX-License-Identifier: MIT */
/*
 * perfile/analysis.h: what is made of a recording (libperfile-analysis, on top of libperfile).
 *
 * An output turns a reader into a stream of text. Outputs are named by kind and format: perfile_output_at() lists them.
 * The same rules as in perfile.h hold for results, lifetimes and threads; see also perfile_output_options.threads.
 */
#ifndef PERFILE_ANALYSIS_H
#define PERFILE_ANALYSIS_H

#include <perfile/perfile.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Causes of missing names, files or callers in outputs. */
enum perfile_trouble_kind {
    PERFILE_TROUBLE_NO_FILE, /* of a module: it was not found; `name` is its path, `count` addresses of all `total` */
    PERFILE_TROUBLE_OTHER_BUILD, /* the file of that name is another build: both build ids are given */
    PERFILE_TROUBLE_NO_NAMES,    /* its file has no symbols for the addresses, and no debug file has any */
    PERFILE_TROUBLE_NO_KERNEL,   /* nothing knows the symbols of this kernel */
    PERFILE_TROUBLE_NO_JIT_MAP,  /* code that was made at run time, without a perf-PID.map or jitdump file */
    /* callchains soon leave all mappings, after one in the module: `count` samples of `total` with callers */
    PERFILE_TROUBLE_BROKEN_STACKS,
    PERFILE_TROUBLE_CUT_STACKS,  /* stack dumps end before the outermost caller: `count` samples of all `total` */
    PERFILE_TROUBLE_FULL_STACKS, /* callchains have as many frames as the kernel was asked for: likewise */
};

/* Made by the library; members are added at the end. */
struct perfile_trouble {
    unsigned kind;              /* enum perfile_trouble_kind */
    const char *name;           /* of the module; NULL: the trouble does not belong to one */
    const char *short_name;     /* its last part */
    const char *path;           /* of the file that was read, or NULL */
    const char *build_id;       /* recorded, as hexadecimal digits; "": not recorded */
    const char *other_build_id; /* of the file that is another build; "": it has none. NULL: there is no such file */
    uint64_t count, total;
    const char *recording; /* perfile_symbol_options.recording, or NULL */
};

/* A file that symbols, lines or unwinding use. Made by the library; members are added at the end. */
struct perfile_used_file {
    /*
     * "elf", "debug", "dwz" (what debug files share), "kallsyms", "process" (perf-PID.map and jitdump files) or
     * "source".
     */
    const char *kind;
    const char *name;     /* as the recording or the debug info has it */
    const char *path;     /* where it was found; NULL: nowhere */
    const char *build_id; /* that was looked for, as hexadecimal digits; "": it is found by its name alone */
    int64_t pid;          /* process: the process that wrote it */
};

/* Where the binaries and symbols of the recording are. NULL members: where perf would look. */
struct perfile_symbol_options {
    size_t size;             /* sizeof(struct perfile_symbol_options) */
    const char *symfs;       /* a folder with the file system of the recording's machine, maybe with proc and sys */
    const char *vmlinux;     /* the kernel with its symbols */
    const char *kallsyms;    /* a copy of /proc/kallsyms of the recording's machine */
    const char *buildid_dir; /* perf's build-id cache; NULL: ~/.debug */
    const char *archive;     /* a file of `perf archive`, or a folder as it unpacks */
    /* Its path, where symbols may lie, too: kcore_dir/ in it, jitdump files beside it; NULL: perfile_file.path. */
    const char *recording;
    uint64_t debuginfod_seconds; /* how long debuginfod may take in all; 0: 90 s. 20 s for one file */
    uint64_t debuginfod_bytes;   /* of the largest file that is downloaded; 0: 2 GiB. Four times that in all */
    bool no_inline;              /* leave out inlined functions, and do not read debug info for them */
    bool full_source_path;       /* script: the files of source lines with their directories */
    /*
     * Called with what a user should know: of the search, and of data that the output does not show. One sentence
     * without a line end at a time. May be NULL.
     */
    void (*note)(void *context, const char *text);
    void *note_context;
    /*
     * How far dumped user stacks are unwound: "cfi", by the call frame information of the binaries, up to the first
     * frame whose binary is missing, as perf does; "fp", from there on by frame pointers, which is a guess: such stacks
     * are counted. NULL: script "cfi", all else "fp".
     */
    const char *unwind;
    /*
     * For processes that may not read /proc of others: returns the path of a file that is opened instead of
     * /proc/PID/root/..., or NULL. The text and the file must stay. May be called by several threads. NULL: not needed.
     */
    const char *(*reach)(void *context, const char *path);
    void *reach_context;
    /*
     * Called at the end, once for each module in which no address was resolved to a symbol, and for troubles of all
     * samples. The argument is valid during the call. May be NULL.
     */
    void (*trouble)(void *context, const struct perfile_trouble *trouble);
    void *trouble_context;
    /*
     * annotate: folders, separated by ':', in which source files are searched first: under their full path, then under
     * that path without its first folder, without its first two, and so on. NULL: only the path in the debug info is
     * tried, below symfs first.
     */
    const char *source_dirs;
    /*
     * Called for each file after the search for it, again when it is searched again. The argument is valid during the
     * call. May be NULL.
     */
    void (*used)(void *context, const struct perfile_used_file *file);
    void *used_context;
    bool no_demangle; /* names of functions as in the symbol tables and the debug info */
    /*
     * Addresses in programs and libraries get no names, and stay offsets in these files: for a server that has the
     * binaries, or perfile_profile_symbolize. Their files are not read, but for unwinding dumped stacks, and no
     * debuginfod is asked. The kernel and code made at run time have names, which other machines do not know.
     */
    bool no_names;
};
#define PERFILE_SYMBOL_OPTIONS_INIT PERFILE_SIZED(struct perfile_symbol_options)

struct perfile_profile; /* profile.h */

struct perfile_flame_options {
    size_t size; /* sizeof(struct perfile_flame_options) */
    /*
     * Grouping levels inserted above the root function, outermost first: "comm", "pid", "tid", "cpu", "time", or
     * several of them: "cpu,comm". NULL: "comm"; for html "tid", since the page joins threads of one name itself.
     */
    const char *by;
    const char *time_quantum; /* by time: how long a piece is, "10ms"; NULL: "100ms" */
    /*
     * Another recording to compare with; NULL: none. Weights are those of the recording that is written, differences
     * are against this one. Filters hold for both. The reader must be at its start and is read to its end.
     */
    struct perfile_reader *before;
    const char *before_path; /* of that recording, as perfile_symbol_options.recording; may be NULL */
    const char *event;     /* folded, svg: which event; html: which is shown first; NULL: that with the most samples */
    const char *title;     /* NULL: made from the recording */
    const char *colors;    /* svg: a name of perfile_flame_palette_at; NULL: the first */
    const char *min_width; /* svg: narrower frames are left out: pixels, "0.5", or a share, "1%"; NULL: "0.1" */
    uint64_t width;        /* svg: pixels; 0: 1200 */
    bool normalize;        /* compare as if both recordings had the same total */
    bool negate;           /* svg: what grew since `before` is blue, what shrank red */
    bool count_samples;    /* every sample weighs 1, not its period */
    bool inverted;         /* svg: the root on top */
    bool reverse;          /* svg, html: leaves at the root */
    bool annotate;         /* folded: _[k], _[i], _[j] after kernel, inlined and JIT frames */
    /*
     * Folded stacks to draw: lines such as "main;work 12", the root first. If all lines end with two numbers, these are
     * the weights before and now, which are compared. The reader must then be NULL, and `before` as well. Lines that
     * are not stacks make the result 1. NULL: the recording is drawn.
     */
    const char *folded;
    size_t folded_bytes;
    /*
     * html: the maximum size of the recording in the page, bytes; 0: 16 MB. If it is larger, samples are joined in
     * pieces of time, then the lightest stacks are left out; the page states that. Since 0.1.
     */
    uint64_t page_bytes;
    /*
     * The maximum of nodes in the graph of an event (a node is a function below its callers), of
     * PERFILE_FLAME_NODE_BYTES bytes each. When it is reached, samples that need new nodes are drawn without the
     * callers between their thread and their function; the picture and a note state how many. 0: no limit. Since 0.1.
     */
    uint64_t max_nodes;
    /*
     * svg, folded: a profile to draw, and one to compare with; the reader must then be NULL, and so must `before`. `by`
     * can be keys that the profile has. NULL: the recording is drawn.
     */
    const struct perfile_profile *profile, *profile_before;
};
/* The most bytes that a node takes: for limits that depend on the available memory. */
#define PERFILE_FLAME_NODE_BYTES 64
#define PERFILE_FLAME_OPTIONS_INIT PERFILE_SIZED(struct perfile_flame_options)

/* The colours of flame graphs by position; NULL after the last. Static text; doc may be NULL. */
PERFILE_API const char *perfile_flame_palette_at(size_t index, const char **doc);

/* How `report` looks at the samples. */
enum perfile_report_flags {
    PERFILE_REPORT_CHILDREN = 1 << 0,     /* a row for every function in a stack; the default with callchains */
    PERFILE_REPORT_NO_CHILDREN = 1 << 1,  /* rows for the functions that were running */
    PERFILE_REPORT_INVERTED = 1 << 2,     /* call graphs from the caller */
    PERFILE_REPORT_SAMPLES = 1 << 3,      /* a column with the number of samples */
    PERFILE_REPORT_GROUP = 1 << 4,        /* text: one table for all events, if they were not recorded in groups */
    PERFILE_REPORT_NO_GROUP = 1 << 5,     /* text: a table for each event of a group */
    PERFILE_REPORT_PERIOD = 1 << 6,       /* a column with the period */
    PERFILE_REPORT_MODES = 1 << 7,        /* columns with the shares of kernel and user space */
    PERFILE_REPORT_RESOLVED = 1 << 8,     /* only samples and callers with a symbol */
    PERFILE_REPORT_ONLY_PARENT = 1 << 9,  /* only samples with a parent */
    PERFILE_REPORT_BRANCHES = 1 << 10,    /* rows are of taken branches; the default where they were recorded */
    PERFILE_REPORT_NO_BRANCHES = 1 << 11, /* rows are of samples */
    PERFILE_REPORT_MEMORY = 1 << 12,      /* samples weigh what their memory accesses cost */
    PERFILE_REPORT_TASKS = 1 << 13,       /* no rows: the processes and threads, each below its parent */
    PERFILE_REPORT_HIERARCHY = 1 << 14,   /* a tree with a level for each column */
    PERFILE_REPORT_NO_HEADER = 1 << 15,   /* text: the rows alone, without the lines that begin with # */
    PERFILE_REPORT_STATS = 1 << 16,       /* text: no rows: how many records of each type there are */
    PERFILE_REPORT_MMAPS = 1 << 17,       /* text: no rows: as TASKS, with the mappings of each process */
    PERFILE_REPORT_LATENCY = 1 << 18,     /* latency and overhead, by latency: period divided by parallelism */
    PERFILE_REPORT_BLOCKS = 1 << 19,      /* no rows: cycles of basic blocks, from branch stacks */
    PERFILE_REPORT_HISTORY = 1 << 20,     /* the branches before a sample stand before its callers */
};

struct perfile_report_options {
    size_t size;            /* sizeof(struct perfile_report_options) */
    unsigned flags;         /* enum perfile_report_flags */
    const char *sort;       /* columns: "comm,dso,symbol"; "+cpu" adds to that, which is the default */
    const char *call_graph; /* as perf's -g: "none", "caller", "callee,fractal,2" */
    const char *dsos;       /* only samples in these files, "libc.so.6,make" */
    const char *symbols;    /* only samples in these functions, inlined or not; script, too; "f" is also ns::f<int>() */
    const char *percent_limit; /* "0.5": rows and branches below it are left out */
    const char *separator;     /* csv; NULL: "," */
    uint64_t max_stack;        /* the innermost frames that are looked at; 0: all */
    const char *time_quantum;  /* steps of the column time; NULL: "100ms" */
    const char *symbol_filter; /* only samples in functions, inlined or not, whose names have this text */
    const char *percentage;    /* "relative": shares are of what filters let pass; NULL, "absolute": of all */
    const char *widths;        /* text: of the columns, "10,20"; 0: as wide as needed */
    const char *parent;        /* regular expression for the column parent; NULL: "^sys_|^do_page_fault" */
    /*
     * text: for a terminal of that width. Names are fitted into it (perfile_name_fit), the summary is short, and there
     * are call graphs only with `call_graph` or PERFILE_REPORT_INVERTED. UINT64_MAX: the same for a file or a pipe, of
     * any width: names are complete, and the function is the last column. 0: as perf prints it.
     */
    uint64_t columns;
    uint64_t top; /* rows of each event, or entries of the outermost level, that are shown; 0: all */
    /*
     * Regular expression: samples below a function whose name matches it, the outermost one, are as if in that
     * function.
     */
    const char *ignore_callees;
    /*
     * The maximum of nodes in call graphs (a node is a function below its callers), of PERFILE_REPORT_NODE_BYTES bytes
     * each. When it is reached, samples that need new nodes are counted without their callers; a note states how many.
     * The rows of the functions themselves stay exact. 0: no limit.
     */
    uint64_t max_nodes;
    const char *parallelism; /* only samples at whose time so many recorded threads ran, "1,3-5" */
};
/* The most bytes that a node takes: for limits that depend on the available memory. */
#define PERFILE_REPORT_NODE_BYTES 56
#define PERFILE_REPORT_OPTIONS_INIT PERFILE_SIZED(struct perfile_report_options)

/* The columns of reports by position; NULL after the last. Static text; doc may be NULL. */
PERFILE_API const char *perfile_report_column_at(size_t index, const char **doc);

/* From when the times of script count. */
enum perfile_script_times {
    PERFILE_TIMES_OF_CLOCK = 0, /* as recorded */
    PERFILE_TIMES_SINCE_FIRST,  /* since the first line with a time */
    PERFILE_TIMES_SINCE_LAST,   /* since the line before */
};

/* What `stat` prints. */
enum perfile_stat_flags {
    PERFILE_STAT_SUMMARY = 1 << 0,       /* of a recording with intervals: then what was counted in all of them */
    PERFILE_STAT_PLAIN_SUMMARY = 1 << 1, /* the same; in the lines of -x the word "summary" does not stand before it */
    PERFILE_STAT_PLAIN_NUMBERS = 1 << 2, /* text for a terminal (report->columns): numbers without commas */
    PERFILE_STAT_NO_COUNTS = 1 << 3,     /* only how long it took */
    PERFILE_STAT_TABLE = 1 << 4,         /* text of several recordings: how long each took */
    PERFILE_STAT_CLEAR = 1 << 5,         /* text for a terminal: each interval instead of the one before */
    PERFILE_STAT_METRICS_ONLY = 1 << 6,  /* the formats of perf stat: no counts, only what comes of them */
    PERFILE_STAT_PERF_METRICS = 1 << 7,  /* the same: names and units of metrics as in perf 7.2 */
};

/* What `sched_timehist`, `sched_latency` and `sched_map` print. */
enum perfile_sched_flags {
    PERFILE_SCHED_SUMMARY = 1 << 0,       /* timehist: the summary alone */
    PERFILE_SCHED_WITH_SUMMARY = 1 << 1,  /* timehist: the summary after the rows */
    PERFILE_SCHED_STATE = 1 << 2,         /* timehist: the state in which a task left its CPU */
    PERFILE_SCHED_WAKEUPS = 1 << 3,       /* timehist: lines for wakeups */
    PERFILE_SCHED_MIGRATIONS = 1 << 4,    /* timehist: lines for migrations */
    PERFILE_SCHED_PRE_MIGRATION = 1 << 5, /* timehist: how long tasks waited before they were moved */
    PERFILE_SCHED_CPUS = 1 << 6,          /* timehist: a column with one character for each CPU */
    PERFILE_SCHED_NEXT = 1 << 7,          /* timehist: the task that comes */
    PERFILE_SCHED_IDLE = 1 << 8,          /* timehist: idle times only */
    PERFILE_SCHED_BY_TID = 1 << 9,        /* latency: tasks of one name stay apart */
    PERFILE_SCHED_COMPACT = 1 << 10,      /* map: CPUs in the order in which they appear */
    PERFILE_SCHED_PARTS = 1 << 11,        /* map: `tasks` are parts of names */
    PERFILE_SCHED_NO_STACKS = 1 << 12,    /* timehist: without stacks */
    PERFILE_SCHED_PRIORITY = 1 << 13,     /* timehist: the priorities of tasks */
};
/* Flags of views over tracepoints and of their texts; a view ignores flags that it does not have. */
enum perfile_event_flags {
    PERFILE_EVENTS_SUMMARY = 1 << 0,      /* trace: the summary alone; cache_lines: the sums alone */
    PERFILE_EVENTS_WITH_SUMMARY = 1 << 1, /* trace: the summary after the lines; kwork: after the rows */
    PERFILE_EVENTS_ERRORS = 1 << 2,       /* trace: errors of the summary by name */
    PERFILE_EVENTS_FAILED = 1 << 3,       /* syscalls, trace: only calls that failed */
    PERFILE_EVENTS_FULL_TIME = 1 << 4,    /* trace: times as recorded, not from the first event on */
    PERFILE_EVENTS_NO_COMM = 1 << 5,      /* trace: threads without their names */
    PERFILE_EVENTS_CALLER = 1 << 6,       /* kmem: the text has what was allocated by caller ... */
    PERFILE_EVENTS_ALLOC = 1 << 7,        /* ... by address */
    PERFILE_EVENTS_LIVE = 1 << 8,         /* kmem_page: only what was not freed */
    PERFILE_EVENTS_RAW_IP = 1 << 9,       /* kmem: callers as addresses */
    PERFILE_EVENTS_CPU = 1 << 10,         /* trace: the CPU of each line */
    PERFILE_EVENTS_NO_STACKS = 1 << 11,   /* trace: without callchains and page faults */
    PERFILE_EVENTS_ALL_LINES = 1 << 12,   /* cache_lines: also lines without contention */
    PERFILE_EVENTS_NO_SOURCE = 1 << 13,   /* cache_lines: without source lines */
    PERFILE_EVENTS_NO_CALLS = 1 << 14,    /* trace: only page faults and `events` */
    PERFILE_EVENTS_CUT = 1 << 15, /* syscalls, trace: no notes about calls that the start or the end cut in two */
};
struct perfile_event_options {
    size_t size;         /* sizeof(struct perfile_event_options) */
    unsigned flags;      /* enum perfile_event_flags */
    const char *calls;   /* system calls: "openat,read*,%file", "!poll,futex"; NULL: all */
    uint64_t minimum_ns; /* syscalls, trace: only calls that took more */
    const char *classes; /* kwork: "irq,softirq,workqueue"; lock: types of locks, "rwsem,mutex"; NULL: all */
    /* sched_latency, kwork..., kmem_..., lock_contention: what rows are sorted by, perf's keys; NULL: as perf does */
    const char *sort;
    const char *fields; /* lock_contention: columns of the text, perf's names; NULL: as perf does */
    uint64_t rows; /* at most so many in each table of a text, and of these; of syscall_summary in each group; 0: all */
    uint64_t stack_skip;   /* lock_contention: so many frames of the stack are not the caller, whatever they are */
    const char *separator; /* lock_contention: a line of values with this between them; NULL: a table */
    const char *locks; /* lock_contention: only locks of these addresses or names, "0xffff888100049480,tasklist_lock" */
    const char
        *callers; /* lock_contention: only waits with a function in the stack that has one of these in its name */
    /* lock_contention: so many frames of the stack make the caller; 0: 8. sched_timehist: 0: 5. trace: 0: all */
    uint64_t stack_depth;
    const char *tasks; /* sched_map: only switches from and to tasks of these names, "make,cc1"; NULL: all */
    const char *cpus;  /* sched_map: only switches of these CPUs, "0-3,7"; NULL: all */
    const char *work;  /* kwork: only work of this name; NULL: all */
    /* sched_timehist, sched_summary, sched_cpu: only runs that began with these, "0-99,120"; NULL: all */
    const char *priorities;
    uint64_t lines;     /* trace, syscalls: at most so many, without those of callchains; 0: all */
    uint64_t min_stack; /* trace: only calls whose callchain has so many frames */
    unsigned sched;     /* sched_...: enum perfile_sched_flags */
    const char *keys;   /* trace, lock, cache_lines: what rows are of, as in perfile_table_options */
    const char *events; /* trace: a line for each of these tracepoints, too: "sched:sched_switch,block:*"; NULL: none */
    const char *not_pids;          /* syscalls, trace: not those of these processes: "1,2"; NULL: all */
    const char *vcpu;              /* kvm: only this virtual CPU, a number; NULL: all */
    struct perfile_reader *before; /* sched_stats: at its start, the recording to compare with; NULL: none */
};
#define PERFILE_EVENT_OPTIONS_INIT PERFILE_SIZED(struct perfile_event_options)

/*
 * The name of a system call by its number on a machine (uname -m; NULL: one as this), `narrow`: of its 32-bit programs,
 * if `list` has it, as perfile_event_options.calls (NULL: any). NULL: no call has it. Valid as long as the library.
 */
PERFILE_API const char *perfile_syscall_name(const char *machine, bool narrow, uint64_t number, const char *list);

/* Code of one function, as it lies in the binary. */
struct perfile_machine_code {
    size_t size;
    const uint8_t *bytes;
    size_t byte_count;
    uint64_t address;     /* of the first byte */
    uint16_t elf_machine; /* EM_* of its file */
    bool is_64;
    bool is_big_endian;
};

/*
 * A disassembler to use instead of capstone: calls `add` for each instruction, in the order of the addresses, with its
 * text, which is copied. Instructions that it does not add have no text.
 */
typedef void perfile_disassemble(void *context, const struct perfile_machine_code *code,
                                 void (*add)(void *listing, uint64_t address, const char *text), void *listing);

/* How `annotate` prints. */
enum perfile_annotate_flags {
    PERFILE_ANNOTATE_NO_SOURCE = 1 << 0,  /* text: instructions alone */
    PERFILE_ANNOTATE_BYTES = 1 << 1,      /* text: also the bytes of instructions */
    PERFILE_ANNOTATE_LINES = 1 << 2,      /* text: the file and line of each instruction */
    PERFILE_ANNOTATE_HITS = 1 << 3,       /* shares are of samples, not of their periods */
    PERFILE_ANNOTATE_GLOBAL = 1 << 4,     /* shares of the event's total, not of the function's */
    PERFILE_ANNOTATE_ARROWS = 1 << 5,     /* text: jumps within the function are drawn */
    PERFILE_ANNOTATE_TYPES = 1 << 6,      /* types of data with what was sampled of their members, instead of code */
    PERFILE_ANNOTATE_TYPE_STAT = 1 << 7,  /* and before them how many types were found, and why others were not */
    PERFILE_ANNOTATE_INSN_STAT = 1 << 8,  /* the same by instruction */
    PERFILE_ANNOTATE_CODE_TYPES = 1 << 9, /* text: after each instruction the member that it accesses */
    PERFILE_ANNOTATE_SAMPLES = 1 << 10,   /* text and stdio: numbers of samples in the position of shares */
    PERFILE_ANNOTATE_PERIODS = 1 << 11,   /* text and stdio: periods in the position of shares */
};

struct perfile_annotate_options {
    size_t size;        /* sizeof(struct perfile_annotate_options) */
    const char *symbol; /* functions of this name, as perfile_annotation_find has it; NULL: the hottest */
    const char *dsos;   /* only functions of these files, "libc.so.6,make" */
    const char
        *percent_limit; /* without a symbol: functions below this share of the first event are left out; NULL: "1" */
    uint64_t top;       /* without a symbol: at most so many functions; 0: 5 */
    unsigned flags;     /* enum perfile_annotate_flags */
    const char *syntax; /* of x86 instructions: "att", "intel"; NULL: "att" */
    uint64_t width;     /* text: of lines, in characters; 0: as long as they are */
    perfile_disassemble *disassemble; /* as in perfile_annotation_options */
    void *disassemble_context;
    const char *data_type; /* PERFILE_ANNOTATE_TYPES: only types of this name, with or without "struct", or pattern */
};
#define PERFILE_ANNOTATE_OPTIONS_INIT PERFILE_SIZED(struct perfile_annotate_options)

/* script: how its lines look, and what else it prints. */
struct perfile_script_options {
    size_t size;        /* sizeof(struct perfile_script_options) */
    unsigned show;      /* enum perfile_show */
    unsigned times;     /* enum perfile_script_times */
    uint64_t max_stack; /* entries of callchains that are printed; 0: all */
    bool no_callchain;  /* callchains are left out */
    bool latency;       /* names in 8 columns, processors in 3 and without brackets */
    /*
     * Names that a terminal would not print as they are have escapes, as perfile_text_escape makes them; else they are
     * printed as they are, as perf does. The other texts for people always have them.
     */
    bool escape_names;
    const char *stop_at; /* functions, "a,b", with which a callchain ends: their callers are left out; NULL: none */
    /*
     * Of a decoded trace only calls of these functions, "a,b", and what happens until they return; NULL: all. The trace
     * must be decoded to calls, with returns or without.
     */
    const char *graph_function;
};
#define PERFILE_SCRIPT_OPTIONS_INIT PERFILE_SIZED(struct perfile_script_options)

struct perfile_dump_options {
    size_t size;        /* sizeof(struct perfile_dump_options) */
    uint64_t max_bytes; /* longer byte strings become length and CRC-32; 0 = 4096, UINT64_MAX = never */
    bool header_only;   /* without records */
    bool aux;           /* the packets of hardware traces instead of the checksum of each AUXTRACE record's payload */
    bool perf_heads;    /* text: lines start as those of perf report -D: time, offset, [size], PERF_RECORD_TYPE */
};
#define PERFILE_DUMP_OPTIONS_INIT PERFILE_SIZED(struct perfile_dump_options)

struct perfile_stat_options {
    size_t size;    /* sizeof(struct perfile_stat_options) */
    unsigned flags; /* enum perfile_stat_flags */
    /*
     * By what counters are added up: "all", "cpu", "socket", "die", "cache" (the last level), "L1" to "L4", "core",
     * "node", "thread"; NULL: as the recording says. Of several recordings (`more`) the mean is shown.
     */
    const char *per;
    const char *title; /* what was counted, in the heading; NULL: the recording's command line */
    /*
     * Further metrics, one on a line: "ipc=instructions/cycles". + - * / % < > ( ) min(a, b) max(a, b) d_ratio(a, b)
     * "a if c else b", numbers, the events of the recording by their names, with the numbers that their lines show, and
     * duration_time, the seconds that passed. Division by 0 and what was not counted make a metric not available. NULL:
     * none. A line that begins with ? is left out where an event of it was not counted; ARGUMENT if all of these are.
     */
    const char *metrics;
};
#define PERFILE_STAT_OPTIONS_INIT PERFILE_SIZED(struct perfile_stat_options)

struct perfile_export_options {
    size_t size; /* sizeof(struct perfile_export_options) */
    /* By what samples are kept apart, as in perfile_profile_options; NULL: by all that the format has labels for. */
    const char *keys;
    bool addresses; /* callgrind: costs of each instruction, not only of lines */
    /*
     * A profile to be written, such as one of a perfile_builder; the reader must then be NULL, and so must `keys`: rows
     * are as they are. All formats but firefox and chrome, which have each sample. NULL: the recording is written.
     */
    const struct perfile_profile *profile;
};
#define PERFILE_EXPORT_OPTIONS_INIT PERFILE_SIZED(struct perfile_export_options)

/* diff: what is computed of two recordings, for each row. */
enum perfile_changes_compute {
    PERFILE_CHANGES_DELTA_ABS, /* the difference of the percentages; rows are sorted by its size */
    PERFILE_CHANGES_DELTA,     /* the same, sorted by its value */
    PERFILE_CHANGES_RATIO,     /* of the periods */
    PERFILE_CHANGES_WEIGHTED,  /* the difference of the weighted periods */
};

enum perfile_changes_flags {
    PERFILE_CHANGES_BASELINE_ONLY = 1 << 0, /* only rows of the first recording that another one has, too */
    PERFILE_CHANGES_PERIOD = 1 << 1,        /* columns with the periods */
    PERFILE_CHANGES_FORMULA = 1 << 2,       /* columns with what was computed */
};

/*
 * diff: the recordings `more` beside the first one, the baseline, in perf's layout. Rows are grouped by
 * perfile_report_options.sort, "dso,symbol" by default. For differences with intervals and verdicts see perfile/diff.h.
 */
struct perfile_changes_options {
    size_t size;      /* sizeof(struct perfile_changes_options) */
    unsigned flags;   /* enum perfile_changes_flags */
    uint32_t compute; /* enum perfile_changes_compute */
    /* Rows are sorted by what was computed for the recording of this number, the baseline being 0: by its weight. */
    uint64_t order;
    int64_t weight_before, weight_after; /* of WEIGHTED: of the period in the baseline, and in the other recording */
};
#define PERFILE_CHANGES_OPTIONS_INIT PERFILE_SIZED(struct perfile_changes_options)

/* script, report: the header of the recording, as perf prints it. */
enum perfile_header_flags {
    PERFILE_HEADER_FIRST = 1 << 0, /* before all else */
    PERFILE_HEADER_FULL = 1 << 1,  /* with all of topology, caches and memory */
    PERFILE_HEADER_ONLY = 1 << 2,  /* and nothing else */
};

struct perfile_output_options {
    size_t size;                                  /* sizeof(struct perfile_output_options) */
    const struct perfile_filter *filter;          /* which samples; this and the next nine may be NULL: the defaults */
    const struct perfile_symbol_options *symbols; /* script, report, flame */
    const struct perfile_flame_options *flame;
    const struct perfile_report_options *report;
    const struct perfile_script_options *script;
    const struct perfile_dump_options *dump;
    const struct perfile_stat_options *stat;
    const struct perfile_export_options *exports;
    const struct perfile_annotate_options *annotate;
    const struct perfile_event_options *events; /* trace, lock, kmem, kwork, sched_..., cache_lines */
    /* script: as perf's -F: "comm,tid,ip", "+addr", "-period", "EVENTTYPE:LIST"; report: columns; NULL: default */
    const char *fields;
    unsigned header;  /* script, report: enum perfile_header_flags */
    bool nanoseconds; /* script, report: 9 digits instead of 6 */
    bool count;       /* info: walk the records and count them */
    bool color;       /* text of report, check, info: with the colours of a terminal */
    bool gzip;        /* what is written is a gzip file; not for parquet and arrow, which are compressed themselves */
    /*
     * bundle: with source files and machine code. flame, html: the page has the code of the heaviest functions, and
     * `symbols->note` is called with a message about it; the recording is then read twice.
     */
    bool code;
    /*
     * report, flame, script, dump: the number of threads that may be used, the caller's included; 0 and 1: no other.
     * The output is the same for every number. The sink is called from the caller's thread only. With more than one
     * thread, `progress`, `symbols->note` and callbacks of the reader (its allocator, `diagnostic`) may be called from
     * another thread, but never two of these at a time.
     * No thread is started for little input, nor where there is only one processor.
     * Other threads block all signals, and have ended when the call returns. One more thread, not counted, asks
     * debuginfod when DEBUGINFOD_URLS is set: it calls nothing of the caller's, and may outlive the call when the
     * server is slow.
     */
    unsigned threads;
    /* Called at times with the number of bytes read and that of all bytes (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    /* Called at the end for filters that matched nothing. May be NULL. */
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
    /*
     * NULL: malloc. As the reader's it may be called from another thread, and with more than one thread from several at
     * a time.
     */
    const struct perfile_allocator *allocator;
    /*
     * export, stat, diff: further recordings, whose profiles export merges with that of the reader. Each must be at its
     * start, and is read to its end. `more_paths` (as perfile_symbol_options.recording) or members of it may be NULL.
     */
    struct perfile_reader *const *more;
    const char *const *more_paths;
    size_t more_count;
    const struct perfile_changes_options *changes; /* diff */
};
#define PERFILE_OUTPUT_OPTIONS_INIT PERFILE_SIZED(struct perfile_output_options)

struct perfile_output_info {
    const char *kind;   /* "dump", "script", "info", "check", "report", "flame", "export" */
    const char *format; /* "text", "json", "folded", "svg", "html" ... */
    const char *doc;    /* one sentence */
    bool binary;        /* nothing for a terminal */
};
/* The outputs of this build by position; NULL after the last. Static. */
PERFILE_API const struct perfile_output_info *perfile_output_at(size_t index);

/*
 * Writes one output of the recording. The reader must be at its start. `format` NULL is the kind's first format.
 * Returns 0, or 1 when the output itself is a finding (check found something); errors: ARGUMENT (unknown kind, format,
 * field or filter, a filter for events none of which the recording has: the message lists what there is; the reader is
 * not at its start; no reader, kind or sink), WRITE, and those of perfile_reader_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_output_write(struct perfile_reader *reader, const char *kind,
                                                        const char *format,
                                                        const struct perfile_output_options *options,
                                                        const struct perfile_sink *sink, struct perfile_error *error);

/*
 * Unwinding of dumped user stacks by the binaries of the recording. `reader` is that of the session, and its allocator
 * is the unwinder's, too; `options` may be NULL. Errors: MEMORY, ARGUMENT (options->size).
 */
struct perfile_unwinder;
PERFILE_API PERFILE_MUST_CHECK int perfile_unwinder_open(struct perfile_reader *reader,
                                                         const struct perfile_symbol_options *options,
                                                         struct perfile_unwinder **unwinder,
                                                         struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_unwinder_close(struct perfile_unwinder *unwinder);
/*
 * Unwinds the user frames of a sample with REGS_USER and STACK_USER, innermost first, callers one byte before their
 * return addresses. Returns how many frames it wrote, at most `capacity`, 0 when there is nothing to unwind, or MEMORY,
 * ARGUMENT (sample->size). `unwinder` is a struct perfile_unwinder: this function fits perfile_convert_options.unwind.
 * The session must have delivered the sample last, and follow mappings.
 */
PERFILE_API int perfile_unwind(void *unwinder, struct perfile_session *session, const struct perfile_sample *sample,
                               uint64_t *addresses, size_t capacity);

/* The code of processes, from the binaries of the recording. `options` may be NULL. Errors: MEMORY, ARGUMENT. */
struct perfile_code_reader;
PERFILE_API PERFILE_MUST_CHECK int perfile_code_open(struct perfile_reader *reader,
                                                     const struct perfile_symbol_options *options,
                                                     struct perfile_code_reader **code, struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_code_close(struct perfile_code_reader *code);
/*
 * Copies up to `bytes` bytes of the code that a process (-1: the kernel) has at an address at this time of the session,
 * which follows mappings; returns how many there are. `code` is a struct perfile_code_reader: this function fits
 * perfile_inject_options.read_code.
 */
PERFILE_API size_t perfile_code_read(void *code, struct perfile_session *session, int32_t pid, uint64_t address,
                                     void *to, size_t bytes);

/*
 * Samples of a hardware trace, such as those of Intel PT or Arm SPE: what reads the samples of the recording from now
 * on (outputs, profiles, tables ...) gets those that are made of the trace among them, and the reader has their events.
 */
struct perfile_trace_options {
    size_t size;                                  /* sizeof(struct perfile_trace_options) */
    const char *itrace;                           /* letters as those of perf's --itrace; NULL or "": the usual ones */
    const struct perfile_symbol_options *symbols; /* where code is found; may be NULL, else it outlives the reader */
    bool is_listed; /* without letters, of traces of the flow: calls and events, as perf's script prints them */
};
#define PERFILE_TRACE_OPTIONS_INIT PERFILE_SIZED(struct perfile_trace_options)
/*
 * The reader is at its start, and is read once. Errors: ABSENT (the recording has no trace, or is a stream),
 * UNSUPPORTED (another trace), ARGUMENT, and those of perfile_reader_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_trace_open(struct perfile_reader *reader,
                                                      const struct perfile_trace_options *options,
                                                      struct perfile_error *error);
/* After reading: what of the trace was not decoded, a sentence each. Nothing without perfile_trace_open. */
PERFILE_API void perfile_trace_losses(struct perfile_reader *reader, void (*notify)(void *context, const char *text),
                                      void *context);

/* What became of the samples that an unwinder got. */
struct perfile_unwinder_counts {
    size_t size;      /* sizeof(struct perfile_unwinder_counts) */
    uint64_t samples; /* with user registers and a stack */
    uint64_t complete;
    uint64_t guessed; /* of these: a caller was found by a frame pointer, not by call frame information */
    uint64_t cut;     /* the dumped stack ends before */
    uint64_t lost;    /* there is neither call frame information nor a frame pointer that leads on */
    uint64_t limited; /* the stack has more frames than were asked for */
    uint64_t gone;    /* the file of the last function could not be read, as when it was removed before */
};
#define PERFILE_UNWINDER_COUNTS_INIT PERFILE_SIZED(struct perfile_unwinder_counts)
/* Errors: ARGUMENT (counts->size). */
PERFILE_API PERFILE_MUST_CHECK int perfile_unwinder_counts_get(const struct perfile_unwinder *unwinder,
                                                               struct perfile_unwinder_counts *counts);

/*
 * Unwinding while recording: a stage for perfile_recorder_options. It does what perfile_convert does with
 * perfile_unwind, as a thread for each recording that is being written; records are written in the order of time.
 */
struct perfile_unwind_stage;
struct perfile_recorder_stage;

struct perfile_unwind_stage_options {
    size_t size;                                  /* sizeof(struct perfile_unwind_stage_options) */
    const struct perfile_symbol_options *symbols; /* where binaries are; NULL: here */
    uint64_t max_frames;                          /* user frames of a stack; 0: 127, at most 4096 */
    const struct perfile_allocator *allocator;    /* is called by several threads; NULL: malloc */
    /* Called first by each thread, which then reads files of the programs that are recorded. May be NULL. */
    void (*started)(void *context);
    void *started_context;
};
#define PERFILE_UNWIND_STAGE_OPTIONS_INIT PERFILE_SIZED(struct perfile_unwind_stage_options)

/* `options` may be NULL, else they and what they point to must live as long as the stage. ARGUMENT, MEMORY. */
PERFILE_API PERFILE_MUST_CHECK int perfile_unwind_stage_open(const struct perfile_unwind_stage_options *options,
                                                             struct perfile_unwind_stage **stage,
                                                             struct perfile_error *error);
/* For perfile_recorder_options.stage; it lives as long as the stage. */
PERFILE_API const struct perfile_recorder_stage *perfile_unwind_stage_get(const struct perfile_unwind_stage *stage);
/* Of all recordings that were finished. Errors: ARGUMENT (counts->size). */
PERFILE_API PERFILE_MUST_CHECK int perfile_unwind_stage_counts(const struct perfile_unwind_stage *stage,
                                                               struct perfile_unwinder_counts *counts);
/* What perfile_unwind_stage_lost calls code that is in no file. */
#define PERFILE_GENERATED_CODE "generated code"
/* Why unwinding ended before the first function of a thread, as in perfile_unwinder_counts. */
enum perfile_unwind_reason { PERFILE_UNWIND_CUT, PERFILE_UNWIND_LOST, PERFILE_UNWIND_GONE, PERFILE_UNWIND_REASONS };
/*
 * The files in which unwinding ended for a reason, those with the most samples first, and in how many samples; at most
 * 32. NULL after the last.
 */
PERFILE_API const char *perfile_unwind_stage_lost(const struct perfile_unwind_stage *stage, unsigned reason,
                                                  size_t index, uint64_t *samples);
/* After the recorder is closed. NULL is allowed. */
PERFILE_API void perfile_unwind_stage_close(struct perfile_unwind_stage *stage);

/*
 * Finds the build id of the binary of a mapping where symbols would be searched. Returns its length in bytes; 0 when it
 * has no build id, or MEMORY, ARGUMENT (symbol_options->size, map->size). With a struct perfile_symbol_options as the
 * context this function fits perfile_inject_options.find_build_id.
 */
PERFILE_API int perfile_build_id_find(void *symbol_options, const struct perfile_map *map, uint8_t build_id[20]);

/* ---- build ids --------------------------------------------------------------------------------------------------- */

struct perfile_build_ids_options {
    size_t size;                               /* sizeof(struct perfile_build_ids_options) */
    bool with_hits;                            /* only files that samples or their callchains hit */
    const struct perfile_allocator *allocator; /* NULL: malloc */
    /* Called once for each file; `path` as the recording names it, no build id: 0 bytes. Not 0 ends it with STOPPED. */
    int (*take)(void *context, const char *path, const uint8_t *build_id, size_t bytes);
    void *context;
};
#define PERFILE_BUILD_IDS_OPTIONS_INIT PERFILE_SIZED(struct perfile_build_ids_options)

/*
 * The files of a recording and their build ids: those that the header names or, where it names none (as in streams) or
 * `with_hits` is set, those that samples hit, which takes a pass over the records. As in perf, hits are not searched in
 * recordings with AUX data, which is not decoded. The reader must be at its start. Errors: ARGUMENT, MEMORY, STOPPED,
 * those of perfile_session_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_build_ids_list(struct perfile_reader *reader,
                                                          const struct perfile_build_ids_options *options,
                                                          struct perfile_error *error);
/*
 * Reads the build id of an ELF file; returns its length in bytes, 0 when the file has no build id. Errors: OPEN, READ,
 * FORMAT (not an ELF file), DAMAGED, MEMORY.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_elf_build_id(const char *path, uint8_t build_id[20],
                                                        struct perfile_error *error);

/* What the machine that this program runs on reports of its kernel. */
struct perfile_running_kernel {
    size_t size;          /* sizeof(struct perfile_running_kernel) */
    const char *kallsyms; /* the file with its symbols; static */
    char modules[160];    /* the folder of its modules, with '/' at the end; "": it does not report its release */
    uint8_t build_id[20];
    size_t build_id_bytes; /* 0: it does not report a build id */
};
#define PERFILE_RUNNING_KERNEL_INIT PERFILE_SIZED(struct perfile_running_kernel)
/* Errors: ARGUMENT (kernel->size). */
PERFILE_API PERFILE_MUST_CHECK int perfile_running_kernel_read(struct perfile_running_kernel *kernel);

/*
 * perf's build-id cache, a folder with copies of binaries that are found by their build ids; `folder` NULL is ~/.debug.
 * Each file appears when it is complete, and links in the folder are not followed.
 *
 * _add copies the ELF file `path` under `name` (NULL: its own path without links): 1, or 0 when the cache has it.
 * _remove removes what is there for a build id: 1, or 0 when there is nothing. _list calls options->take for each
 * entry, by build id; with_hits does not matter. Errors: OPEN, WRITE, ABSENT (the file has no build id; HOME is not
 * set), LIMIT (a path is too long), ARGUMENT, MEMORY, STOPPED, those of perfile_elf_build_id.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_build_id_cache_add(const char *folder, const char *path, const char *name,
                                                              struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_build_id_cache_remove(const char *folder, const uint8_t *build_id,
                                                                 size_t bytes, struct perfile_error *error);
PERFILE_API PERFILE_MUST_CHECK int perfile_build_id_cache_list(const char *folder,
                                                               const struct perfile_build_ids_options *options,
                                                               struct perfile_error *error);

/*
 * Code that JIT compilers made, of the jitdump files that a recording maps. `reader` is that of the recording;
 * `options` (may be NULL) say where the files are, and `folder` is where perfile_jit_follow writes: no name of the
 * recording decides that. Both must live as long. The reader's allocator is used. Errors: MEMORY, ARGUMENT
 * (options->size).
 */
struct perfile_jit;
PERFILE_API PERFILE_MUST_CHECK int perfile_jit_open(struct perfile_reader *reader,
                                                    const struct perfile_symbol_options *options, const char *folder,
                                                    struct perfile_jit **jit, struct perfile_error *error);
/* NULL is allowed. */
PERFILE_API void perfile_jit_close(struct perfile_jit *jit);
/*
 * `jit` is a struct perfile_jit: this function fits perfile_inject_options.follow_code. When the record maps a jitdump
 * file, each piece of code in it is written to a file of its own, jitted-PID-INDEX.so in the folder, with
 * its symbol and its lines. options->note gets a message for each jitdump file that cannot be used or is damaged.
 * Errors: WRITE (such a file), MEMORY, those of `add`.
 */
PERFILE_API int perfile_jit_follow(void *jit, const struct perfile_record *record,
                                   int (*add)(void *adder, uint64_t time, const struct perfile_map *map,
                                              struct perfile_error *error),
                                   void *adder, struct perfile_error *error);
/* How many files were written so far, and of how many jitdump files. */
PERFILE_API uint64_t perfile_jit_files(const struct perfile_jit *jit, uint64_t *dumps);

/* The part of a recording after its end that has what its symbols need: see the output bundle. */
struct perfile_bundle {
    size_t size;    /* sizeof(struct perfile_bundle) */
    uint64_t start; /* where it begins: the bytes of the recording itself */
    uint64_t bytes; /* 0 means none */
    uint64_t files;
    bool code; /* machine code and source files are among them */
};
#define PERFILE_BUNDLE_INIT PERFILE_SIZED(struct perfile_bundle)

/* Finds the bundle at the end of the file at `path`. Errors: ARGUMENT, OPEN, DAMAGED (its sizes are impossible). */
PERFILE_API PERFILE_MUST_CHECK int perfile_bundle_look(const char *path, struct perfile_bundle *bundle,
                                                       struct perfile_error *error);

/*
 * The name of a library that is loaded only when it is needed, by position; NULL after the last. *purpose, unless NULL,
 * becomes what it is needed for: all else works without it. *found, unless NULL, becomes whether it can be loaded,
 * which is tried. Static text.
 */
PERFILE_API const char *perfile_library_at(size_t index, const char **purpose, bool *found);

/*
 * The folder for kept inlined functions and unpacked archives, whether it exists or not: for callers that restrict
 * where a process may write. Errors: ABSENT (HOME and XDG_CACHE_HOME are not set), LIMIT (the path needs more than
 * `capacity` bytes).
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_cache_folder(char *path, size_t capacity);
/*
 * Deletes files from that folder until the files named HEX-HEX and `suffix` take at most `limit_bytes`: those that were
 * used (modified) longest ago first, but never the one named `kept` (NULL: no such file). Also deletes files with such
 * a name and ".new" after it that are older than an hour and not locked (flock). Links and other files stay. Failures
 * are not reported.
 */
PERFILE_API void perfile_cache_trim(const char *suffix, const char *kept, uint64_t limit_bytes);

/*
 * A function's name as people read it, in at most `columns` columns of a terminal; wide characters take two.
 * First long spellings of known types become short ones (std::string), and template arguments that are the defaults are
 * left out; with `columns` SIZE_MAX that is all. Of what is still too long template arguments become <...>, innermost
 * and longest first, then parameters (...), and at last the middle becomes "...": ASCII, for every locale. No character
 * is split. In less than 8 columns stands the start. Writes the result and a NUL to `text`, which has `capacity` bytes;
 * if even the full name (strlen(name) + 1 bytes) would not fit, its start is written. Returns the number of bytes
 * without the NUL. The time is linear in the length of the name.
 */
PERFILE_API size_t perfile_name_fit(const char *name, size_t columns, char *text, size_t capacity);
/* How many columns the text takes on a terminal, if that prints all of it; control characters count as 1. */
PERFILE_API size_t perfile_name_columns(const char *text);
/* The values of perfile_filter.off_cpu by position; NULL after the last. Static text. */
PERFILE_API const char *perfile_off_cpu_at(size_t index, const char **doc);

/* The fields that script's -F knows, by position; NULL after the last. Static text. */
PERFILE_API const char *perfile_script_field_at(size_t index, const char **doc);

#ifdef __cplusplus
}
#endif
#endif
