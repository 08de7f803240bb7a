/* SPDX-License-Identifier: MIT */
/*
 * perf's `script` text: what the parts of it share.
 *
 *     script.c          drives: delivery -> lines
 *     fields.c          -F: which fields the samples of each type of event print
 *     plan.c            an event's fields as a row of steps
 *     samples.c         the steps of the hot fields
 *     symbols.c         addresses with symbols and modules
 *     values.c          the steps of registers, branches ...
 *     code.c            machine code: the sampled instruction, and those between branches
 *     counters.c         what was counted between them
 *     source.c          lines of source code
 *     memory.c          the steps of memory accesses and page sizes
 *     trace.c           tracepoint text, which analysis/trace_text.h makes
 *     team.c            the same with several threads
 *     events.c          the records between the samples
 *     stat.c            the tables of `perf stat record`
 */
#ifndef PF_OUTPUT_SCRIPT_SCRIPT_H
#define PF_OUTPUT_SCRIPT_SCRIPT_H

#include <inttypes.h>

#include "analysis/fields.h"
#include "analysis/stack.h"
#include "analysis/trace/trace_text.h"
#include "base/error.h"
#include "base/filter.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "symbol/disassembler.h"

/* ---- fields ------------------------------------------------------------------------------------------------- */

/* perf keeps a field list for each of these types. */
enum pf_script_type {
    SCRIPT_TYPE_HARDWARE = PERFILE_TYPE_HARDWARE, /* the first six are attr.type */
    SCRIPT_TYPE_SOFTWARE,
    SCRIPT_TYPE_TRACEPOINT,
    SCRIPT_TYPE_CACHE,
    SCRIPT_TYPE_RAW,
    SCRIPT_TYPE_BREAKPOINT,
    SCRIPT_TYPE_OTHER, /* PMUs with a number of their own */
    SCRIPT_TYPE_SYNTH, /* decoded traces */
    SCRIPT_TYPES
};

enum {
    SCRIPT_NOT_TRACE_ONLY = (1 << SCRIPT_TYPES) - 1 - (1 << SCRIPT_TYPE_TRACEPOINT),
    SCRIPT_NOT_SOFTWARE_ONLY = (1 << SCRIPT_TYPES) - 1 - (1 << SCRIPT_TYPE_SOFTWARE) - (1 << SCRIPT_TYPE_TRACEPOINT),
};

enum pf_script_field {
#define SCRIPT_FIELD(symbol, name, needs, need_name, not_for, step, doc) SCRIPT_##symbol,
#define SCRIPT_LATER(name)
#include "output/script/fields.def"
#undef SCRIPT_FIELD
#undef SCRIPT_LATER
    SCRIPT_FIELD_COUNT
};
#define SCRIPT_BIT(field) (UINT64_C(1) << (field))

struct pf_script_field_info {
    const char *name;
    const char *doc;
    const char *need_name;
    uint64_t needs;
    unsigned not_for; /* bit n: enum pf_script_type */
};
extern const struct pf_script_field_info pf_script_fields[SCRIPT_FIELD_COUNT];

struct pf_script_fields {
    uint64_t fields[SCRIPT_TYPES];    /* SCRIPT_BIT */
    uint64_t asked_for[SCRIPT_TYPES]; /* by the user: it is an error when samples do not have them */
    bool named[SCRIPT_TYPES];         /* the user named the fields */
    const struct perfile_allocator *allocator;
};

/*
 * `request` as perf's -F, several joined with semicolons; NULL: the defaults. The allocator stays. ARGUMENT,
 * UNSUPPORTED.
 */
int pf_script_fields_parse(struct pf_script_fields *fields, const char *request, struct perfile_error *error);
int pf_script_type(const struct perfile_event *event);
/* Returns the first event of a type that is not a dummy, or NULL. */
const struct perfile_event *pf_script_first_event(const struct perfile_reader *reader, int type);
/*
 * Compares the lists with the first event of each type: a field that the event does not have is dropped from a default
 * list, and is an error (ABSENT) in the user's. Tracepoints whose callchains are printed get the ip.
 */
int pf_script_fields_check(struct pf_script_fields *fields, const struct perfile_reader *reader,
                           const struct perfile_output_options *options, struct perfile_error *error);
/* Returns whether some field shows what is mapped at an address. */
bool pf_script_fields_want_maps(const struct pf_script_fields *fields);

/* ---- the state of one output ---------------------------------------------------------------------------------- */

struct pf_script;
struct pf_script_team;

/*
 * Writes a field at `at` and returns its end. Every step may write SCRIPT_STEP_CAPACITY bytes; longer fields go through
 * the text: pf_script_leave, pf_put..., pf_script_enter.
 */
typedef char *pf_script_step(struct pf_script *script, char *at);

enum { SCRIPT_STEP_CAPACITY = 64, SCRIPT_LINE_CAPACITY = SCRIPT_STEP_CAPACITY * (SCRIPT_FIELD_COUNT + 1) };

/* The parts of an address that are printed. */
enum {
    SCRIPT_LOCATION_SYM = 1 << 0,
    SCRIPT_LOCATION_SYMOFF = 1 << 1,
    SCRIPT_LOCATION_DSO = 1 << 2,
    SCRIPT_LOCATION_DSOFF = 1 << 3,
    /* and what stands before it; one of them */
    SCRIPT_LOCATION_FRAME = 1 << 4,   /* the address with 16 characters: a line of a callchain */
    SCRIPT_LOCATION_ADDRESS = 1 << 5, /* 0x and the address */
    SCRIPT_LOCATION_OFFSET = 1 << 6,  /* 0x and the offset in the file */
    SCRIPT_LOCATION_BARE = 1 << 7,    /* nothing */
    /* of frames: */
    SCRIPT_LOCATION_SRCLINE = 1 << 8, /* a line with FILE:LINE below */
    SCRIPT_LOCATION_SINGLE = 1 << 9,  /* no lines for the functions that were inlined there */
    /* or nothing of the above, but the instruction: */
    SCRIPT_LOCATION_INSNLEN = 1 << 10,
    SCRIPT_LOCATION_INSN = 1 << 11,
    SCRIPT_LOCATION_DISASM = 1 << 12,
    SCRIPT_LOCATION_CODE = SCRIPT_LOCATION_INSNLEN | SCRIPT_LOCATION_INSN | SCRIPT_LOCATION_DISASM,
};

/* What is known of an address. */
struct pf_script_location {
    uint64_t address;
    const struct perfile_map *map; /* NULL: nothing is there, and nothing below is known */
    const struct pf_module *module;
    struct pf_location location;
};

struct pf_script_locations; /* addresses and their texts in one of these styles */

/* How the samples of one event are printed. */
struct pf_script_plan {
    const struct perfile_event *event;
    uint64_t fields;
    bool has_callchain;                           /* the samples have one */
    bool shows_chain;                             /* which is printed */
    bool shows_ip;                                /* perf knows how: an event of this type that is not a dummy exists */
    bool wants_symbols;                           /* addresses are looked up */
    bool in_order;                                /* what is printed depends on the samples before */
    bool prepares;                                /* something must be known before a sample is printed */
    struct pf_trace_text trace;                   /* once it is known */
    struct pf_script_locations *locations;        /* for ip; NULL: plain numbers */
    struct pf_script_locations *addr_locations;   /* for addr */
    struct pf_script_locations *code_locations;   /* for the instruction */
    struct pf_script_locations *branch_locations; /* for branches; NULL: plain numbers */
    unsigned head_first, head_count;              /* steps that head other records too: from, and up to */
    unsigned step_count;
    pf_script_step *steps[SCRIPT_FIELD_COUNT];
    const char *name; /* padded, with ": " */
    size_t name_bytes;
};

/* A thread name as it is printed. */
struct pf_script_comm {
    const char *comm; /* the session's */
    uint8_t bytes;    /* of text; 0: too long to be kept */
    char text[32];
};

/* A number as a field prints it. */
struct pf_script_number {
    uint64_t value;
    uint8_t bytes; /* of text; 0: nothing is kept yet */
    char text[31];
};

enum {
    SCRIPT_COMM_SLOTS = 256,
    SCRIPT_TID_SLOTS = 256,
    SCRIPT_CPU_SLOTS = 64,
    SCRIPT_CHAIN_CHUNK = 64,
};

/* Where the samples of an id come from, when guests were recorded. */
struct pf_script_guest {
    uint32_t machine_pid;
    uint32_t vcpu;
};

struct pf_script {
    struct perfile_reader *reader;
    struct pf_delivery *delivery;
    struct perfile_session *session; /* of the delivery */
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct perfile_error *error;
    struct pf_arena arena;
    struct pf_script_fields fields;
    struct pf_script_plan **plans; /* by event index */
    size_t plan_capacity;
    bool pipe;
    bool fields_checked;
    bool wants_header; /* before the first line */
    int failed;        /* an error code: stop */
    unsigned name_width;

    /* the current line */
    const struct pf_script_plan *plan;
    struct pf_delivered item;          /* other records have a sample for the head of their lines */
    struct pf_stack stack;             /* of the sample */
    const char *cgroup;                /* its path, when the session is not asked: see team.c */
    const struct pf_trace_text *trace; /* of the plan; NULL: not known */
    bool asks_binaries;                /* the stack */
    const char *arch;                  /* uname -m of the recording; NULL: not known yet */
    enum pf_unwind_policy policy;

    /* texts that are likely to be printed again */
    struct pf_script_comm comms[SCRIPT_COMM_SLOTS];
    struct pf_script_number tids[SCRIPT_TID_SLOTS];
    struct pf_script_number cpus[SCRIPT_CPU_SLOTS];
    struct pf_script_number period;
    uint64_t second_ns; /* start of the second in second_text */
    unsigned second_bytes;
    char second_text[32];

    uint64_t first_ns, last_ns;   /* for times that count from others; 0: none yet */
    struct pf_names_filter names; /* functions; not active: all */
    struct pf_names_filter stops; /* functions that end a callchain; not active: none */
    struct pf_names_filter graph; /* functions whose calls are shown; not active: all */
    struct pf_map graph_levels;   /* of threads: see graph.c */
    struct pf_clock clock;        /* of tod */
    unsigned data_src_width;
    unsigned callindent_width;  /* to which texts of callindent are padded */
    struct pf_symbols *symbols; /* opened when the first address asks */
    struct pf_script_locations *locations;
    struct pf_script_source *source;
    uint8_t *block; /* code between two branches */
    struct pf_disassembler *disassembler;
    struct pf_script_counters *counters_of_branches;
    struct pf_trace_texts traces;
    struct pf_text scratch;       /* without a sink: for texts that are put together */
    struct pf_text trace_scratch; /* of names that are escaped: the text of a tracepoint before that */
    struct pf_script_stat *stat;
    struct pf_map guest_index; /* event id -> index in guests */
    struct pf_script_guest *guests;
    size_t guest_count, guest_capacity;

    struct pf_script_team *team; /* NULL: one thread does it all */
    bool is_copy;                /* one of the team's: it formats, and asks neither the reader nor the session */
    bool in_order;               /* of a copy: all samples before were formatted, and the copy has locked the team */
    bool waits;                  /* of a copy: the current sample must be formatted in order */
};

/* Remembers the first failure; returns its code. */
int pf_script_fail(struct pf_script *script, int code, const char *what, const char *message);

static inline void pf_script_leave(struct pf_script *script, char *at)
{
    pf_text_commit(script->out, at);
}

static inline char *pf_script_enter(struct pf_script *script)
{
    return pf_text_reserve(script->out, SCRIPT_LINE_CAPACITY);
}

/* ---- the parts ------------------------------------------------------------------------------------------------ */

/* plan.c: the plan of an event, made at its first use; NULL after a failure. */
const struct pf_script_plan *pf_script_plan(struct pf_script *script, const struct perfile_event *event);

/* samples.c: the line of the current sample. */
void pf_script_put_sample(struct pf_script *script);
/* The fields up to the time, for the lines of other records. */
void pf_script_put_head(struct pf_script *script);
/* 16 characters; it may write on the 15 bytes after them. */
char *pf_script_right_hex(char *at, uint64_t value);

/* Entries of a callchain that are printed. */
static inline unsigned pf_script_chain_max(const struct pf_script *script)
{
    const uint64_t max = script->options->script->max_stack;
    return max && max < PF_CALLCHAIN_MAX ? (unsigned)max : PF_CALLCHAIN_MAX;
}

/* script.c: opens what formatting needs, in a script that is all zeros but for the members that the caller sets. */
bool pf_script_open_formatting(struct pf_script *script, struct pf_text *out);
void pf_script_close_formatting(struct pf_script *script, struct pf_text *out);
/* Prints the item of the delivery; an error code to stop. */
int pf_script_take(struct pf_script *script);
/* The stack of the current sample, for its line. */
void pf_script_gather_stack(struct pf_script *script);

/* symbols.c: the texts of a style, kept for all events that have it; NULL when out of memory. */
struct pf_script_locations *pf_script_locations(struct pf_script *script, unsigned style);
/* Where the sample's mode says, or wherever something is mapped. Not in a step: the text is used. */
void pf_script_put_location(struct pf_script *script, struct pf_script_locations *locations, uint64_t address);
/* The same of the sample's own address, in the space of its mode. */
void pf_script_put_ip_text(struct pf_script *script, struct pf_script_locations *locations);
void pf_script_symbols_close(struct pf_script *script);
/* No other thread may use the texts meanwhile. */
void pf_script_discard_locations(struct pf_script *script);
/* Not to be called before the first sample: the recording's build ids may come as records. False after a failure. */
bool pf_script_open_symbols(struct pf_script *script);
/* Finds the location of an address. False after a failure. */
bool pf_script_locate(struct pf_script *script, unsigned mode, uint64_t address, struct pf_script_location *location);
/* FILE:LINE, or MODULE[ADDRESS]; nothing, `lead` included, where nothing is mapped. */
void pf_script_put_source_line(struct pf_script *script, const struct pf_script_location *location, const char *lead);
/* The function at an address as FUNCTION+0xOFFSET; how many bytes that took, 0 when there is none. */
size_t pf_script_put_function(struct pf_script *script, struct pf_text *text, const struct perfile_space *space,
                              uint64_t address);
const struct perfile_space *pf_script_space(struct pf_script *script, unsigned mode);
/* What the function at an address of a trace is called; "": that is not known. */
const char *pf_script_function_at(struct pf_script *script, uint64_t address);
char *pf_script_put_callindent(struct pf_script *script, char *at);
char *pf_script_put_ipc(struct pf_script *script, char *at);
int pf_script_graph_open(struct pf_script *script);
void pf_script_graph_close(struct pf_script *script);
/* Whether the sample belongs to a call of these functions; to be called once for each, in the order of time. */
bool pf_script_graph_passes(struct pf_script *script);
/* Samples of branches as decoded traces have them. */
bool pf_script_is_branches(const struct perfile_attr *attr);

/* code.c: the instruction at an address. */
void pf_script_put_code_at(struct pf_script *script, struct pf_text *text, const struct perfile_space *space,
                           const struct pf_script_location *location, unsigned style);

/* symbols.c: the sample is in one of the functions that are asked for. */
bool pf_script_is_named(struct pf_script *script);

/* counters.c: puts one value of the branch counters, which follow "\t# br_cntr: ". */
void pf_script_put_branch_counter(struct pf_script *script, uint64_t value);

/* source.c */
void pf_script_source_close(struct pf_script *script);
/* The line of source code at an address of the current thread, with `lead` before it, unless it is the last again. */
void pf_script_put_source_code(struct pf_script *script, unsigned mode, uint64_t address, const char *lead,
                               const char *end);

/* events.c: keeps what later lines need, and prints the record if it is wanted. */
void pf_script_record(struct pf_script *script, const struct perfile_record *record);
const struct pf_script_guest *pf_script_guest(const struct pf_script *script);

/* stat.c: CPU_MAP, THREAD_MAP, STAT_CONFIG, STAT and STAT_ROUND. */
void pf_script_stat_record(struct pf_script *script, const struct perfile_record *record);
void pf_script_stat_close(struct pf_script *script);

/* trace.c: how samples of the plan are printed; false after a failure. */
bool pf_script_find_trace(struct pf_script *script, const struct pf_script_plan *plan);

/* team.c: as the drive of one thread, with options->threads; 0, or an error. */
int pf_script_team_drive(struct pf_script *script);
void pf_script_team_close(struct pf_script *script);
/* False: the fields ask the reader or the session while they are formatted. */
bool pf_script_team_can(const struct pf_script *script);
/* The current sample will be printed. */
void pf_script_team_add(struct pf_script *script);
/*
 * Around what several threads do: looking into symbols, adding what is kept of them. `reading`: the caller is the
 * thread that reads; its callbacks come before or after this.
 */
void pf_script_team_lock(struct pf_script_team *team);
void pf_script_team_unlock(struct pf_script_team *team);
void pf_script_team_lock_reading(struct pf_script_team *team);
/* Guards the callbacks of the options that symbols use, so that no two callbacks are called at a time. */
void pf_script_team_guard(struct pf_script_team *team, struct pf_find_options *find);
/* Reports that there are too many kept texts: they are discarded when no thread uses them. */
void pf_script_team_is_full(struct pf_script_team *team);

#define SCRIPT_STEP(name) char *pf_script_put_##name(struct pf_script *script, char *at);
SCRIPT_STEP(brcntr)
SCRIPT_STEP(machine_pid)
SCRIPT_STEP(vcpu)
SCRIPT_STEP(comm)
SCRIPT_STEP(short_comm)
SCRIPT_STEP(bare_comm)
SCRIPT_STEP(pid)
SCRIPT_STEP(tid)
SCRIPT_STEP(pid_tid)
SCRIPT_STEP(cpu)
SCRIPT_STEP(bare_cpu)
SCRIPT_STEP(misc)
SCRIPT_STEP(tod)
SCRIPT_STEP(time)
SCRIPT_STEP(time_ns)
SCRIPT_STEP(period)
SCRIPT_STEP(event)
SCRIPT_STEP(flags)
SCRIPT_STEP(trace)
SCRIPT_STEP(synth)
SCRIPT_STEP(addr)
SCRIPT_STEP(data_src)
SCRIPT_STEP(weight)
SCRIPT_STEP(ins_lat)
SCRIPT_STEP(retire_lat)
SCRIPT_STEP(cgroup)
SCRIPT_STEP(ip)
SCRIPT_STEP(no_ip)
SCRIPT_STEP(callchain)
SCRIPT_STEP(ip_location)
SCRIPT_STEP(addr_location)
SCRIPT_STEP(target)
SCRIPT_STEP(callchain_locations)
SCRIPT_STEP(iregs)
SCRIPT_STEP(uregs)
SCRIPT_STEP(brstack)
SCRIPT_STEP(brstacksym)
SCRIPT_STEP(brstackoff)
SCRIPT_STEP(bpf_output)
SCRIPT_STEP(code)
SCRIPT_STEP(brstackinsn)
SCRIPT_STEP(srccode)
SCRIPT_STEP(phys_addr)
SCRIPT_STEP(data_page_size)
SCRIPT_STEP(code_page_size)
#undef SCRIPT_STEP

#endif
