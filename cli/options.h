/* SPDX-License-Identifier: MIT */
/*
 * Verbs and their options, as tables. The tables drive parsing, --help, `help --json`, the man pages and the shell
 * completions, so that these cannot disagree.
 */
#ifndef PERFILE_CLI_OPTIONS_H
#define PERFILE_CLI_OPTIONS_H

#include <perfile/analysis.h>
#include <perfile/perfile.h>
#include <perfile/recorder.h>
#include <perfile/table.h>

enum pf_status {
    PF_STATUS_OK = 0,
    PF_STATUS_FINDINGS = 1, /* damage, findings or differences */
    PF_STATUS_USAGE = 2,
    PF_STATUS_UNREADABLE = 3, /* nothing of the input could be read */
    PF_STATUS_OUTPUT = 4,     /* the output could not be written */
    PF_STATUS_MEMORY = 5,     /* out of memory */
};

/* The exit status for a failed call: always PF_STATUS_MEMORY when memory ran out. */
static inline int pf_status_of_error(int code, int otherwise)
{
    return code == PERFILE_ERROR_MEMORY ? PF_STATUS_MEMORY : otherwise;
}

/* Reports that memory is short, after `about` and a colon, or without (NULL). PF_STATUS_MEMORY. */
int pf_out_of_memory(const char *about);

struct pf_record_stream;

/* Settings of the verb record. */
struct pf_record_settings {
    struct perfile_recorder_options options;
    char *events;   /* -e, joined from all that were given; owned */
    char **filters; /* filters[i] belongs to the i-th event, or NULL; owned */
    size_t filter_count;
    char *probes;        /* --probe, a line each; NULL: none; owned */
    const char *tracefs; /* the folder of their files; NULL: that of this machine */
    const char *frequency;
    const char *ring_size;
    const char *aux_sample;
    const char *aux_snapshot;
    const char *fail_on_lost;
    const char *delay;
    const char *control;
    const char *switch_output;
    uint64_t switch_max_files;
    uint64_t max_bytes;
    uint64_t realtime; /* 0: the usual priority */
    uint64_t repeat;   /* 0: not asked for */
    const char *versus, *warm_up;
    bool off_cpu, only_off_cpu; /* the second: without other samples */
    bool frame_pointers;
    bool any_branch, latency;
    bool no_clobber;
    bool dry_run, strict_frequency;
    bool timestamp_filename;
    bool html;
    bool no_cache;                   /* no copies in perf's build-id cache */
    struct pf_record_stream *stream; /* what is recorded is shown, see record_show.h; NULL: it is written to `output` */
};

/* A view that is written to a file of its own. */
struct pf_part {
    const char *view, *columns, *keys;
    bool complete; /* of the recording, whatever samples are asked for */
    const char
        *output; /* the kind of an output, whose format `view` is, and the name of its file; NULL: it is a view */
};
extern const struct pf_part pf_ctf_parts[]; /* a trace in the Common Trace Format */

/* Settings of verbs that write recordings. */
struct pf_write_settings {
    const char *mode, *order, *compression; /* NULL: not given */
    uint64_t level;
    bool seekable, no_sync;
};

/* The options that several verbs have; the tables hold offsets into it. Options of one verb are in `own`. */
struct pf_settings {
    const char *input;       /* -i; NULL: not given */
    const char *input_title; /* what messages call it; NULL: as it is named */
    const char *output;      /* -o; NULL: standard output */
    const char *format;
    const char *color;
    const char *view; /* table: which; NULL: the verb prints an output ... */
    const char *kind; /* ... of this kind; NULL: of the verb's name */
    bool as_perf;     /* --stdio of views */
    const struct pf_part
        *parts; /* instead of it several, each in a file of its own in the folder `output`; view NULL ends them */
    const char *columns; /* table */
    const char *keys;    /* table */
    char *fields;        /* -F, joined from all that were given; owned */
    bool advises_views;  /* its text says little of events for which there are views */
    uint64_t jobs;
    bool help;
    bool all; /* --help: with all options */
    bool version, build_options;
    bool pager;
    bool no_pager;
    bool no_sandbox;
    bool tui;                       /* the interactive view, or an error */
    bool shows;                     /* --open: what is written is shown ... */
    const struct pf_viewer *viewer; /* ... by this; NULL: it is not */
    bool at_once;                   /* of a pipe, what is read is shown before more is waited for */
    bool keeps_old;                 /* a file that was there before gets another name */
    bool quiet;
    bool verbose;
    bool dumps;              /* -D */
    const char *before;      /* flame: the recording to compare with; NULL: none */
    const char *from_folded; /* flame; NULL: not given */
    struct perfile_open_options open;
    struct perfile_output_options print; /* points at all the options of outputs here */
    struct perfile_filter filter;
    struct perfile_symbol_options symbols;
    uint64_t index_from; /* bytes of a recording of which an index is left; 0: of none */
    bool uses_indexes;   /* query: what a statement asks for is known when its recordings are open */
    struct perfile_flame_options flame;
    struct perfile_report_options report;
    struct perfile_annotate_options annotate;
    struct perfile_script_options script;
    bool lists_trace;   /* without letters of itrace: what perf's script prints */
    bool calls;         /* those of a hardware trace are read, as samples or for the view */
    const char *itrace; /* samples are made of hardware traces, of the events of these letters; NULL: none are made */
    struct perfile_dump_options dump;
    struct perfile_stat_options stat;
    struct perfile_export_options exports;
    bool per_event;           /* script: a file for each event, beside the recording */
    const char *percent_type; /* annotate; NULL: not given */
    bool no_arrows;
    bool stdio;
    bool all_rows;       /* report: also in a pipe */
    bool fail_empty;     /* nothing to show is an error */
    const char *objdump; /* annotate; NULL: not given */
    struct perfile_event_options events;
    struct pf_write_settings write;
    struct pf_record_settings record;
    void *own;                            /* of the verb alone, see PF_OWN; all zeros at first */
    const struct pf_command *own_command; /* that verb; NULL: it has none */
    const char *also_written;             /* a folder beside the output; NULL: none */
    bool writes_build_ids;                /* perf's cache of files is added to */
    bool splits_output;                   /* `output` is a pattern of names: FILE-%d */
    const char *partition;                /* export; NULL: not given */
    char **operands;                      /* what is not an option, in order */
    size_t operand_count;
    char **workload; /* of a verb that records what it shows: the command; NULL: none was given */
};

enum pf_option_kind {
    PF_OPTION_FLAG,   /* bool */
    PF_OPTION_BITS,   /* unsigned, or-ed with `bits` */
    PF_OPTION_TEXT,   /* const char * */
    PF_OPTION_FILE,   /* const char *, a file that is read; PF_STATUS_UNREADABLE when it cannot be */
    PF_OPTION_CHOICE, /* const char *, one of the values */
    PF_OPTION_WORDS,  /* const char *, some of the values, separated by commas */
    PF_OPTION_LIST,   /* const char *, values separated by commas; the library checks them */
    PF_OPTION_FIELDS, /* char *, also a list; further values are added */
    PF_OPTION_EVENTS, /* char *; further values are appended after a comma */
    PF_OPTION_LINES,  /* char *; further values are appended as new lines */
    PF_OPTION_NUMBER, /* uint64_t */
    PF_OPTION_SIZE,   /* uint64_t of bytes: K, M, G, T, or "unlimited" */
    PF_OPTION_IGNORE, /* nothing: accepted because perf has it */
};

struct pf_command;
struct pf_subview;

/* A value of an option, and what it is for the code of the verb; a name of NULL ends a table of them. */
struct pf_value {
    const char *name, *doc;
    unsigned number;
};

/* The values that an option or an operand knows: one of these, or none where it knows none. */
struct pf_values {
    const struct pf_value *table;
    /* By position; NULL after the last. */
    const char *(*known)(size_t index, const char **doc);
    const char *(*of_verb)(const struct pf_command *command, size_t index, const char **doc);
};

bool pf_has_values(const struct pf_values *values);
/* A value by position, and what it means (or NULL). NULL after the last. */
const char *pf_value_at(const struct pf_values *values, const struct pf_command *command, size_t index,
                        const char **doc);
/* The number of the value of this name; of the first one where there is none. */
unsigned pf_value_number(const struct pf_value *table, const char *name);

struct pf_option {
    const char *name;     /* without dashes; NULL ends a table */
    char letter;          /* 0: none */
    bool hidden;          /* for the build, not for users */
    bool first;           /* in the short help: what most people need */
    int kind;             /* enum pf_option_kind */
    const char *argument; /* NULL: a flag */
    const char *usual;    /* the value when none follows; NULL: one must */
    size_t offset;        /* in struct pf_settings; from PF_OWN_OFFSET on: in the settings of the verb alone */
    bool is_output;       /* a file or a folder that is written */
    unsigned bits;
    /* What else than its kind says is done with the value, or NULL. The status, after a message. */
    int (*set)(const struct pf_option *option, const char *text, struct pf_settings *settings);
    struct pf_values values;
    const char *doc; /* sentences */
};

#define PF_AT(member) .offset = offsetof(struct pf_settings, member)
/* For the options of one verb: a member of the `struct settings` of its file. */
#define PF_OWN(member) PF_OWN_OF(struct settings, member)
#define pf_own(verb_settings) ((struct settings *)(verb_settings)->own)
#define PF_OWN_OF(type, member) .offset = PF_OWN_OFFSET + offsetof(type, member)
enum { PF_OWN_OFFSET = 1 << 20 };

/*
 * Rows of tables of options. `where` is what the value is stored in: PF_AT(...), PF_OWN(...), or a function that does
 * more: .set = ...; after the sentences (`...`) may be further members, such as .first = true.
 */
#define PF_FLAG(option, short_option, where, ...)                                                                      \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_FLAG, where, .doc = __VA_ARGS__                      \
    }
#define PF_BITS(option, short_option, where, mask, ...)                                                                \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_BITS, where, .bits = mask, .doc = __VA_ARGS__        \
    }
#define PF_ROW(type, option, short_option, value, where, ...)                                                          \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_##type, .argument = value, where, .doc = __VA_ARGS__ \
    }
/* `from` is a member of struct pf_values: .table = ... */
#define PF_VALUES(type, option, short_option, value, where, from, ...)                                                 \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_##type, .argument = value, where, .values = {from},  \
        .doc = __VA_ARGS__                                                                                             \
    }
#define PF_IGNORED(option, short_option, value, ...)                                                                   \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_IGNORE, .argument = value, .doc = __VA_ARGS__        \
    }

/* The member that the option writes to. */
void *pf_option_target(const struct pf_option *option, struct pf_settings *settings);
/* Appends to a text from malloc, or to NULL. The status, after a message. */
int pf_text_join(char **list, const char *separator, const char *text);
/* Several values of a known list, separated by commas. */
bool pf_option_is_list(const struct pf_option *option);

struct pf_option_group {
    const char *title;
    const struct pf_option *options;
    bool of_text; /* only the text of perf has what they ask for, and no table */
};

/* For tables of groups: one of a single verb. */
#define PF_GROUP(...)                                                                                                  \
    &(const struct pf_option_group)                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

struct pf_command {
    const char *name;    /* "": what stands before the verb */
    const char *summary; /* half a sentence, lower case, no full stop */
    const char *doc;     /* paragraph */
    const char *operand; /* "[FILE]", or NULL */
    size_t operand_max;
    struct pf_values operand_values;          /* of the first operand */
    const struct pf_subview *views;           /* those values, see views.h */
    const char *usual_view;                   /* the one that is meant when a recording takes its position */
    bool shows_usual_view;                    /* it is shown then, also without any operand; else suggested */
    bool operand_is_free;                     /* it may be another one */
    bool takes_command;                       /* from the first operand on, all is the command line of a program */
    bool reads_processes;                     /* also in the sandbox: the mappings of programs that run */
    bool shows_command;                       /* so is what follows "--": it is recorded, and shown */
    bool (*is_command)(const char *operand);  /* the same from this operand on, which is the first; may be NULL */
    bool pages;                               /* prints long text, which goes through a pager on a terminal */
    bool interactive;                         /* has a view for terminals, see tui/tui.h */
    bool findings;                            /* the output itself reports what is wrong with the recording */
    size_t own_bytes;                         /* of what `settings->own` points at */
    const struct pf_option_group *groups[13]; /* NULL-terminated */
    int (*run)(const struct pf_command *command, struct pf_settings *settings);
};

/* The options before the verb. */
extern const struct pf_command pf_no_verb;
/* All verbs, in the order of commands.def; NULL-terminated. */
extern const struct pf_command *const pf_commands[];
/* Whether the command has these options. */
bool pf_command_has_group(const struct pf_command *command, const struct pf_option_group *group);
const struct pf_command *pf_command_find(const char *name);
/* Reports that no verb has this name, and what it could be: PF_STATUS_USAGE. */
int pf_unknown_verb(const char *name);

extern const struct pf_option_group pf_input_group;     /* where to read from and how */
extern const struct pf_option_group pf_reading_group;   /* how: for verbs with several recordings */
extern const struct pf_option_group pf_forceless_group; /* where from and how: for verbs with another -f */
extern const struct pf_option_group pf_serial_group; /* where from and how: for verbs with one thread, or another -j */
extern const struct pf_option_group pf_serial_reading_group; /* how: for verbs with several recordings and one thread */
/* Which samples. Letters that mean something else in perf's verb of the same name are left out. */
extern const struct pf_option_group pf_filter_group;       /* -C: --cpu, -c: --comms */
extern const struct pf_option_group pf_tid_filter_group;   /* the same, and -t: --tid */
extern const struct pf_option_group pf_cpu_filter_group;   /* -C: --cpu */
extern const struct pf_option_group pf_comms_filter_group; /* -C: --comms */
extern const struct pf_option_group pf_symbol_group;       /* where the binaries are */
extern const struct pf_option_group pf_limit_group;        /* against hostile files */
extern const struct pf_option_group pf_common_group;       /* for every verb */

#define PF_OPTION_FAIL_EMPTY                                                                                           \
    PF_FLAG("fail-empty", 0, PF_AT(fail_empty),                                                                        \
            "Exit with status 1, after a message, if there is nothing to show: no samples, or none that pass the "     \
            "filters. For scripts.")

/* For verbs that read one recording. */
#define PF_ONE_RECORDING .operand = "[FILE]", .operand_max = 1

/* For tables of verbs. */
#define PF_OPTION_FORMAT_OF(from)                                                                                      \
    PF_VALUES(CHOICE, "format", 0, "FORMAT", PF_AT(format), from, "The output format.", .first = true)
#define PF_OPTION_FORMAT PF_OPTION_FORMAT_OF(.of_verb = pf_format_at)
#define PF_OPTION_TABLE_FORMAT PF_OPTION_FORMAT_OF(.known = perfile_table_format_at)
#define PF_OPTION_CODE                                                                                                 \
    PF_FLAG("code", 0, PF_AT(print.code),                                                                              \
            "html: put the code of the functions with the most samples into the page, their instructions and source "  \
            "lines with the share of each: anyone with the page can read it.")
#define PF_OPTION_SOURCE_DIR                                                                                           \
    PF_ROW(TEXT, "source-dir", 0, "DIR[:DIR...]", PF_AT(symbols.source_dirs),                                          \
           "Look for source files in these folders first: under their full path, then without its first folders.")
/* perf's names for it: it says how many folders are left out. */
#define PF_OPTIONS_PREFIX                                                                                              \
    PF_ROW(TEXT, "prefix", 0, "DIR", PF_AT(symbols.source_dirs), "perf's name for --source-dir.", .hidden = true),     \
        PF_IGNORED("prefix-strip", 0, "N",                                                                             \
                   "Ignored, for compatibility with perf: as many folders are left out as "                            \
                   "are needed to find a file.")
#define PF_OPTION_ITRACE                                                                                               \
    PF_ROW(TEXT, "itrace", 0, "LETTERS", PF_AT(itrace),                                                                \
           "Make samples of the hardware trace, of Intel PT, Intel BTS, Arm SPE, CoreSight, s390 or POWER: which "     \
           "ones, in the "                                                                                             \
           "letters of perfile inject --itrace; the usual ones without letters.",                                      \
           .usual = "")
#define PF_OPTION_DUMP                                                                                                 \
    PF_FLAG("dump-raw-trace", 'D', PF_AT(dumps),                                                                       \
            "Print every record with all of its fields instead, as perfile dump does; the lines start like those of "  \
            "perf: time, offset, [size], PERF_RECORD_TYPE.")
#define PF_OPTION_STDIO_COLOR                                                                                          \
    PF_VALUES(CHOICE, "stdio-color", 0, "WHEN", PF_AT(color), .table = pf_color_values, "perf's name for --color.",    \
              .hidden = true)
#define PF_OPTION_NO_INLINE                                                                                            \
    PF_FLAG("no-inline", 0, PF_AT(symbols.no_inline), "Omit inlined functions, and do not read debug info for them.")
#define PF_OPTION_UNWIND                                                                                               \
    PF_VALUES(CHOICE, "unwind", 0, "HOW", PF_AT(symbols.unwind), .table = pf_unwind_values,                            \
              "How dumped user stacks are unwound where a binary is missing.")
#define PF_OPTION_BUILDID_DIR                                                                                          \
    PF_ROW(TEXT, "buildid-dir", 0, "DIR", PF_AT(symbols.buildid_dir),                                                  \
           "perf's build-id cache [$PERF_BUILDID_DIR, buildid.dir of ~/.perfconfig, or ~/.debug].")
#define PF_OPTION_OFF_CPU                                                                                              \
    PF_VALUES(CHOICE, "off-cpu", 0, "WHAT", PF_AT(filter.off_cpu), .known = perfile_off_cpu_at,                        \
              "Instead of the samples show times off CPU in ns, by the stacks with which threads left their CPUs. "    \
              "perfile-offcpu(1) describes what must be recorded for it.",                                             \
              .usual = "blocked")
#define PF_OPTIONS_SWITCH                                                                                              \
    PF_ROW(TEXT, "switch-on", 0, "LIST", PF_AT(filter.switch_on),                                                      \
           "Samples count only from a sample of these events on, whatever other filters than --time leave out: "       \
           "probe_app:work.",                                                                                          \
           .first = true),                                                                                             \
        PF_ROW(TEXT, "switch-off", 0, "LIST", PF_AT(filter.switch_off),                                                \
               "Samples count only until a sample of these events; with --switch-on, until the next one of its "       \
               "events.",                                                                                              \
               .first = true),                                                                                         \
        PF_FLAG("show-on-off-events", 0, PF_AT(filter.shows_switches),                                                 \
                "With --switch-on or --switch-off: the samples that switch count, too.")
#define PF_OPTION_STITCH                                                                                               \
    PF_FLAG("stitch-lbr", 0, PF_AT(filter.stitches_calls),                                                             \
            "Complete call stacks of the branch hardware (record --call-graph lbr) with callers that the samples "     \
            "before of the same thread had: it has registers for 16 or 32 calls.")
#define PF_OPTION_CALLS(what)                                                                                          \
    PF_FLAG("calls", 0, PF_AT(calls),                                                                                  \
            "Instead of the samples show the calls of a hardware trace (Intel PT, Intel BTS, CoreSight) in time, in "  \
            "ns: " what)
#define PF_OPTION_OUTPUT_OF(short_option)                                                                              \
    PF_ROW(TEXT, "output", short_option, "FILE", PF_AT(output),                                                        \
           "Write to FILE instead of standard output, which is -. FILE appears when it is complete, compressed when "  \
           "its name ends in .gz.",                                                                                    \
           .first = true)
#define PF_OPTION_OUTPUT PF_OPTION_OUTPUT_OF('o')
#define PF_OPTION_OUTPUT_WITHOUT_LETTER PF_OPTION_OUTPUT_OF(0)
#define PF_OPTION_RECORDING_OUTPUT                                                                                     \
    PF_ROW(TEXT, "output", 'o', "FILE", PF_AT(output),                                                                 \
           "The recording to write, - for standard output. FILE appears when it is complete; an existing file stays "  \
           "until then.",                                                                                              \
           .first = true)
/* The groups of verbs that show samples of a recording. */
#define PF_SAMPLE_GROUPS &pf_filter_group, &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group
extern const struct pf_value pf_unwind_values[];
extern const struct pf_value pf_color_values[];
/* The formats of the verb. */
const char *pf_format_at(const struct pf_command *command, size_t index, const char **doc);
/* The views. */
const char *pf_view_at(size_t index, const char **doc);

void pf_settings_init(struct pf_settings *settings);
void pf_settings_free(struct pf_settings *settings);

/*
 * Reads the NULL-terminated arguments after the verb, and reorders them. For a command without a name, the operands are
 * the first argument that is not an option and all arguments after it. PF_STATUS_OK, or a status when a message was
 * printed.
 */
int pf_options_parse(const struct pf_command *command, char **arguments, struct pf_settings *settings);
/* 0: it has none, or one that another option of the command before it has, too. */
char pf_option_letter(const struct pf_command *command, const struct pf_option *option);

/*
 * "; did you mean X?" with the nearest value of a list, after the library refused an argument because of the word
 * `token`. "" if no value is near.
 */
const char *pf_options_suggest(const struct pf_command *command, struct pf_settings *settings, const char *token,
                               char buffer[80]);

/* How many threads read: as many as asked for, else as many as are of use. */
unsigned pf_thread_count(const struct pf_settings *settings);

/* Opens the recording, writes the output that has the verb's name, says what was lost. */
int pf_run_output(const struct pf_command *command, struct pf_settings *settings);

#endif
