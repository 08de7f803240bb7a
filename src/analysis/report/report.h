/* SPDX-License-Identifier: MIT */
/*
 * Tables of where the samples are: per event, rows of equal keys with what they weigh, and the call graph of each row.
 *
 * All stacks of a recording go into one tree, below a node for what the columns take of the sample itself (its thread
 * name, its processor ...). A sample costs one probe for each frame that its predecessor did not have; rows and their
 * call graphs are read off the tree when all samples are in.
 */
#ifndef PF_ANALYSIS_REPORT_REPORT_H
#define PF_ANALYSIS_REPORT_REPORT_H

#include <regex.h>

#include "analysis/data_types.h"
#include "analysis/report/column.h"
#include "analysis/stacks.h"
#include "analysis/trace/trace_text.h"
#include "base/filter.h"
#include "base/map.h"
#include "base/pairs.h"
#include "base/sort.h"

/* Functions that receive the samples of a report instead of a table that is made of them. */
struct pf_report_taker {
    bool (*take)(void *context, const struct pf_profile_sample *sample); /* false: out of memory */
    void *context;
    /* Looks at the columns before anything is read. */
    int (*check)(const struct pf_report *report, struct perfile_error *error);
    /* As in pf_profile_options. */
    bool (*watch)(void *context, const struct perfile_record *record);
    void *watch_context;
    bool watches_all;
};

enum pf_graph_order { PF_GRAPH_NONE, PF_GRAPH_CALLER, PF_GRAPH_CALLEE };
enum pf_graph_shape { PF_GRAPH_TREE, PF_GRAPH_FLAT, PF_GRAPH_FOLDED };
enum pf_graph_value { PF_GRAPH_PERCENT, PF_GRAPH_PERIOD, PF_GRAPH_COUNT };
enum pf_graph_key { PF_GRAPH_FUNCTION, PF_GRAPH_ADDRESS, PF_GRAPH_SRCLINE }; /* what is one branch */

/* The numbers of samples of a node of the tree, where graphs show them. */
struct pf_report_count {
    uint64_t self, total;
};

/* Beside each node of the tree. */
struct pf_report_link {
    uint32_t next;    /* of the same row */
    uint32_t outer;   /* the next one of the same row towards the root; 0: none */
    uint32_t child;   /* the first, of the highest weight class */
    uint32_t sibling; /* the next, of the same class or a lower one */
};

/* How many bits a total has. */
enum { PF_REPORT_WEIGHTS = 65 };
static inline unsigned pf_report_weight_class(uint64_t total)
{
    return total ? 64 - (unsigned)__builtin_clzll(total) : 0;
}

/* While rows are sorted: the rank of each name among all, UINT32_MAX without a name. NULL: not needed. */
struct pf_report_ranks {
    uint32_t *comms; /* by key */
    uint32_t *dsos;  /* by module */
    uint32_t *names; /* by frame, of frames that rows have */
    size_t comm_capacity, dso_capacity, name_capacity;
};

/* Branches whose type was recorded. */
enum {
    PF_BRANCH_FORWARD,
    PF_BRANCH_BACKWARD,
    PF_BRANCH_ACROSS_SMALL,
    PF_BRANCH_ACROSS_LARGE,
    PF_BRANCH_KINDS,
};
struct pf_report_branches {
    uint64_t all;
    uint64_t kinds[PF_BRANCH_KINDS]; /* forwards and backwards: of the conditional ones */
    uint64_t types[16], new_types[16];
};

/* ---- the parts of a report, each with its functions in a file of its own ---- */

/* report_options.c: what was asked for. Some of it is corrected when the events of the recording are known. */
struct pf_report_settings {
    double limit_percent;
    double graph_limit_percent;
    uint64_t max_stack;
    uint64_t quantum_ns;   /* of the column time */
    uint8_t order;         /* enum pf_graph_order */
    uint8_t shape;         /* enum pf_graph_shape */
    uint8_t graph_value;   /* enum pf_graph_value */
    uint8_t graph_key;     /* enum pf_graph_key */
    uint64_t max_branches; /* of each level */
    bool fractal;          /* shares are of the branch above */
    bool relative;         /* shares are of what filters let pass */
    bool hides_unresolved;
    bool hierarchy;
    bool children;   /* rows for all frames of a stack */
    bool stacks;     /* complete stacks are required */
    bool by_weight;  /* samples weigh what their access cost */
    bool for_text;   /* as in pf_report_open */
    bool about_code; /* when all was read: some of the text is about the code that samples were in */
    bool joins_groups;
    bool by_latency; /* rows are sorted by it */
};

/* report_columns.c: which columns there are, and what they need. */
struct pf_report_layout {
    const struct pf_report_column *columns[PF_REPORT_COLUMNS]; /* as they are printed */
    size_t column_count;
    const struct pf_report_column *keys[PF_REPORT_COLUMNS]; /* those that group, hidden ones included */
    size_t key_count;
    struct {
        const struct pf_report_column *column;
        unsigned brace;
    } braced[PF_REPORT_COLUMNS]; /* "{a,b}" in --sort: what shares a level */
    size_t braced_count;
    unsigned brace_count;
    const struct pf_report_column *sorts[PF_REPORT_COLUMNS]; /* what rows are sorted by, the first one first */
    size_t sort_count;
    const char *sort_order; /* what --sort comes to; NULL: only --fields says */
    struct pf_report_field fields[PF_REPORT_FIELDS];
    size_t field_count;
    bool by_frame;       /* a column takes the frame */
    bool by_symbol;      /* pf_report_columns[PF_COLUMN_symbol] is one of them */
    bool by_thread;      /* a column shows the names of threads, which are those of the end */
    bool by_dso;         /* pf_report_columns[PF_COLUMN_dso] is one of them */
    bool by_address;     /* a column distinguishes addresses of a function */
    bool by_mode;        /* a column asks for the mode of samples */
    bool by_cost;        /* a column asks for what they cost */
    bool by_class;       /* a column asks for the classes of their accesses */
    bool snoop_shares;   /* in the list that is parsed, snoop means shares: --fields of --mem-mode */
    bool by_latency;     /* a column asks for the weight of rows divided by parallelism */
    bool by_parallelism; /* a column or a filter asks for the parallelism of samples */
    bool by_stack;       /* a column takes something of the frames of samples */
    bool by_code;        /* a column takes something of the instructions of samples */
    bool by_sample;      /* a column keeps something of samples that needs more than their frames */
    bool skip_first;     /* rows begin with the symbol: graphs need not repeat it */
    bool powerpc, x86;   /* the architecture of the recording */
};

/* report_filters.c: which samples are in rows. */
struct pf_report_filters {
    struct pf_filter threads; /* pids, tids and comms */
    struct pf_names_filter dsos, names;
    struct pf_filter levels; /* numbers of threads that ran; its `cpus` */
    bool level_passed;       /* some sample had one of them */
    bool active;             /* any of these, or a part of the symbol */
    uint8_t *passes;         /* by frame: 0 not known, 1 no, 2 yes */
    size_t pass_capacity;
    bool by_part;         /* frames were compared with symbol_filter ... */
    bool part_matched;    /* and one has it */
    bool inlined_passed;  /* the filters let an address pass because of a function that was inlined there */
    regex_t *ignored;     /* functions whose callees are ignored; NULL: none */
    uint8_t *are_ignored; /* by frame: 0 not known, 1 no, 2 yes */
    size_t ignored_capacity;
};

struct pf_report_events {
    struct pf_report_event *items; /* by index */
    size_t count, capacity;
    uint64_t passed; /* samples in rows */
    uint64_t full;   /* samples that did not fit into the sum of their event */
};

/* report_groups.c */
struct pf_report_groups {
    struct pf_report_group *items;
    size_t count, capacity;
    uint32_t *members;
    size_t member_count, member_capacity;
    struct pf_report_part *parts;
    size_t part_count, part_capacity;
    uint64_t *classes; /* sums of PF_REPORT_CLASSES for each part, if a column asks for them */
    size_t class_capacity;
};

/* columns_sample.c: what columns take of samples as texts. */
struct pf_report_texts {
    struct pf_arena arena; /* names of groups, what columns take */
    struct pf_map interned;
    struct pf_trace_texts traces;
    struct pf_text scratch;
    bool short_of_memory; /* while columns were taken */
};

/* columns_memory.c, columns_types.c */
struct pf_report_data {
    struct pf_data_types *types;     /* NULL: no column has asked for them yet */
    bool by_frame;                   /* frames are addresses, and types are found by them */
    const struct pf_data_use **uses; /* by frame; NULL: not known yet */
    size_t use_capacity;
    struct pf_pairs lines; /* module and position, or MEMORY and address, to the frame that represents it */
    bool unmapped;         /* the address of an access is in no mapping */
};

struct pf_report_sockets {
    int32_t *by_cpu;
    size_t count, capacity;
};

/* report_patterns.c: of the column parent. */
struct pf_report_parent {
    regex_t *expression;
    uint64_t *names; /* by frame: its name when it matches, 0 when not, 1 not known yet */
    size_t capacity;
};

/* columns_branch.c: rows of branches. */
struct pf_report_branching {
    bool active;
    bool history;     /* rows are of samples, and their stacks begin with branches */
    uint32_t *frames; /* such a stack */
    size_t frame_capacity;
    struct perfile_branch current;
    uint32_t from, to; /* frames of the current one */
    struct pf_report_branches counts;
    uint64_t without; /* samples that are in no row for that */
};

/* report_keys.c: what rows are grouped by. */
struct pf_report_keys {
    const struct perfile_allocator *allocator;
    struct pf_report_key *items;
    size_t count, capacity;
    struct pf_pairs index;
    uint64_t *values; /* by key: those that a column keeps, in the order of `kept` */
    size_t value_capacity;
    uint8_t kept[PF_VALUE_COUNT]; /* their positions in struct pf_report_keyed */
    size_t kept_count;
    uint32_t recent[1 << PF_REPORT_RECENT_BITS]; /* of the last samples, by their hash */
};

/* columns_weight.c */
struct pf_report_costs {
    struct pf_report_cost *items;
    size_t count, capacity;
    uint64_t *classes; /* sums of PF_REPORT_CLASSES for each item, if a column asks for them */
    size_t class_capacity;
    struct pf_pairs index; /* by key and frame; when rows are made, by those of the rows, too */
};

/* report_samples.c: the stacks of all samples; report_graph.c. */
struct pf_report_chains {
    /* root, keys, frames; PF_REPORT_APART marks a leaf that is not in its callchain; notes: pf_report_maker */
    struct pf_tree tree;
    struct pf_stacks arriving;
    struct pf_report_link *links;
    size_t link_count;
    bool marks;                        /* pf_graph uses the memory of the numbers of samples in the tree */
    struct pf_report_count *counts;    /* of each node; NULL: no graph shows them */
    struct pf_report_count *latencies; /* of each node; NULL: no column shows them */
    size_t latency_capacity;
    uint64_t latency_waits; /* that of the sample that `arriving` does not have a node for yet */
    uint32_t *lines;        /* by frame: the first one of the same function and line; NULL: not needed */
    size_t line_count;
};

/* report_frames.c, report_rows.c, report_order.c, report_hierarchy.c */
struct pf_report_rows {
    struct pf_report_row *items;
    size_t count, capacity;
    uint32_t *same; /* by frame: the first frame that is the same to the columns */
    size_t same_capacity;
    struct pf_report_ranks ranks;
    struct pf_report_entry *entries; /* by event, each before what is below it */
    size_t entry_count, entry_capacity;
};

struct pf_report {
    const struct perfile_allocator *allocator;
    const struct perfile_output_options *options;
    struct perfile_reader *reader;
    struct pf_profile *profile;
    struct pf_symbols *symbols;
    const struct pf_profile_totals *totals;
    const struct pf_report_taker *taker; /* NULL: a table is made */
    struct pf_report_settings settings;
    struct pf_report_layout layout;
    struct pf_report_filters filters;
    struct pf_report_events events;
    struct pf_report_groups groups;
    struct pf_report_texts texts;
    struct pf_report_data data;
    struct pf_report_sockets sockets;
    struct pf_report_parent parent;
    struct pf_report_branching branching;
    struct pf_report_keys keys;
    struct pf_report_costs costs;
    struct pf_report_chains chains;
    struct pf_report_rows rows;
};

#define PF_REPORT_APART 0x80000000u
enum { PF_REPORT_TID_BITS = 25 }; /* of the notes; threads have at most 22 */

/* The thread of a sample, and its mode in the upper bits. */
static inline uint32_t pf_report_maker(const struct pf_profile_sample *sample)
{
    return (uint32_t)sample->cpumode << PF_REPORT_TID_BITS | ((uint32_t)sample->tid & ((1u << PF_REPORT_TID_BITS) - 1));
}

/* report_options.c: ARGUMENT, UNSUPPORTED. */
int pf_report_parse_settings(struct pf_report *report, struct perfile_error *error);
/* report_filters.c */
int pf_report_open_filters(struct pf_report *report, struct perfile_error *error);
void pf_report_close_filters(struct pf_report *report);
/* At the end: reports the names of filters that matched nothing. */
void pf_report_notify_unmatched(const struct pf_report *report);
bool pf_report_filters_by_name(const struct pf_report *report);
bool pf_report_sample_passes(struct pf_report *report, const struct pf_profile_sample *sample);
/* report_samples.c */
int pf_report_open_profile(struct pf_report *report, struct perfile_error *error);
int pf_report_read_samples(struct pf_report *report, struct perfile_error *error);
/* Whether a column, a filter or, with callchains, a graph is about the code that samples were in. */
bool pf_report_is_about_code(const struct pf_report *report, bool has_chains);
/* Reports where exactness ended. */
void pf_report_notify_cut(const struct pf_report *report);
/*
 * report_latency.c: ARGUMENT: parallelism is asked for, and no event records context switches. What a sample weighs, 0
 * when no column shows it. To be called after each stack that was added, and at the end, when all have nodes. False
 * when out of memory.
 */
int pf_report_check_parallelism(const struct pf_report *report, struct perfile_error *error);
uint64_t pf_report_latency(const struct pf_report *report, const struct pf_profile_sample *sample);
bool pf_report_note_latency(struct pf_report *report, uint64_t latency);
bool pf_report_sum_latencies(struct pf_report *report);
/* Those of the nodes of a row. */
void pf_report_add_latencies(const struct pf_report *report, uint32_t node, struct pf_report_part *part);
/* report_frames.c: fills rows.same. False when out of memory. */
bool pf_report_find_same_frames(struct pf_report *report);
/* report_rows.c: rows in any order, then those that are shown, with the mode that each was in. */
bool pf_report_make_rows(struct pf_report *report);
void pf_report_drop_rows(struct pf_report *report);
void pf_report_set_levels(struct pf_report *report);
/* report_columns.c */
void pf_report_note_key(struct pf_report *report, const struct pf_report_column *column);
int pf_report_choose_columns(struct pf_report *report, struct perfile_error *error);
/* When all was read: columns that are empty or constant are not printed. */
void pf_report_drop_columns(struct pf_report *report);
/* NULL when out of memory. */
struct pf_report_event *pf_report_note_event(struct pf_report *report, const struct perfile_event *event);
/*
 * report_names.c: keys that differ only because a thread had no name yet are one from now on. To be called when all
 * samples are in the tree, before anything is read off it. False when out of memory.
 */
bool pf_report_join_names(struct pf_report *report);
/* report_keys.c */
#define PF_REPORT_NO_KEY UINT32_MAX
void pf_report_open_keys(struct pf_report_keys *keys, const struct perfile_allocator *allocator);
void pf_report_close_keys(struct pf_report_keys *keys);
/* The number of a key, a new one too; PF_REPORT_NO_KEY when out of memory. */
uint32_t pf_report_find_key(struct pf_report_keys *keys, const struct pf_report_keyed *keyed);
/* After keys were changed: of each key the number of the first one that is the same. False when out of memory. */
bool pf_report_find_first_keys(struct pf_report_keys *keys, uint32_t *first);
/* A value of a key; 0 when no column keeps it. */
uint64_t pf_report_key_value(const struct pf_report_keys *keys, uint32_t key, unsigned position);
static inline uint64_t pf_report_value(const struct pf_report *report, const struct pf_report_row *row,
                                       unsigned position)
{
    return pf_report_key_value(&report->keys, row->key, position);
}
/* report_order.c: puts the rows into the order of the tables and gives the events theirs. False when out of memory. */
bool pf_report_sort(struct pf_report *report);
/* Row i becomes the one that items[i] names. */
void pf_report_move_rows(struct pf_report_row *rows, struct pf_sort_item *items, size_t count);
/* report_hierarchy.c: makes the entries, and puts the rows of each event into their order. False when out of memory. */
bool pf_report_grow_hierarchy(struct pf_report *report);
/*
 * report_groups.c: gives the events of a group one table; reads off what rows weigh by mode, while nodes have their
 * notes. False when out of memory.
 */
bool pf_report_join_groups(struct pf_report *report);
bool pf_report_keep_modes(struct pf_report *report);
bool pf_report_give_parts(struct pf_report *report, struct pf_report_row *row, uint32_t count);

/* A report without columns and profile, for pf_report_close. */
void pf_report_start(struct pf_report *report, struct perfile_reader *reader,
                     const struct perfile_output_options *options);
/*
 * Reads the recording to its end. `report` is filled; close it also after a failure. `for_text`: events of a group have
 * one table unless the options say otherwise, and nothing is found out about the code of samples if no part of the
 * text needs it.
 */
int pf_report_open(struct pf_report *report, struct perfile_reader *reader,
                   const struct perfile_output_options *options, bool for_text, struct perfile_error *error);
/* The same, but for the rows: the samples are given to `taker`, which must stay until then. */
int pf_report_take(struct pf_report *report, struct perfile_reader *reader,
                   const struct perfile_output_options *options, const struct pf_report_taker *taker,
                   struct perfile_error *error);
void pf_report_close(struct pf_report *report);

/* What the percentages and the limit look at: with children their sum, else what was in the function itself. */
static inline uint64_t pf_report_weight(const struct pf_report *report, const struct pf_report_row *row)
{
    return report->settings.children ? row->children : row->self;
}
/* Rows that are of no group have a part, too: a column asks for more than rows hold. */
static inline bool pf_report_keeps_parts(const struct pf_report *report)
{
    return report->layout.by_mode || report->layout.by_cost || report->layout.by_class || report->layout.by_latency;
}
static inline const struct pf_report_key *pf_report_key(const struct pf_report *report, const struct pf_report_row *row)
{
    return &report->keys.items[row->key];
}
static inline const struct pf_report_event *pf_report_event(const struct pf_report *report,
                                                            const struct pf_report_row *row)
{
    return &report->events.items[report->keys.items[row->key].event];
}
/* How many events the table of this one shows side by side; 0 and 1: only this one. */
static inline uint32_t pf_report_shown(const struct pf_report_event *event)
{
    return event->group ? event->group->shown : 1;
}
/* The weights of a row for the event at this position of its group, and that event. */
struct pf_report_part pf_report_part(const struct pf_report *report, const struct pf_report_row *row,
                                     uint32_t position);
const struct pf_report_event *pf_report_member(const struct pf_report *report, const struct pf_report_event *event,
                                               uint32_t position);
/* NULL when no column takes the frame. */
static inline const struct pf_frame_info *pf_report_frame(const struct pf_report *report,
                                                          const struct pf_report_row *row)
{
    return pf_profile_frame(report->profile, row->frame);
}
static inline uint64_t pf_report_top(const struct pf_report *report)
{
    const uint64_t top = report->options->report->top;
    return top ? top : UINT64_MAX;
}
double pf_report_percent(uint64_t part, uint64_t total);
/* The row is shown: it is not below the limit. */
bool pf_report_shows(const struct pf_report *report, const struct pf_report_row *row);
/* The samples of this event have callchains, or branches that stand for these. */
static inline bool pf_report_has_stacks(const struct pf_report *report, const struct perfile_event *event)
{
    return event->attr->sample_type &
           (PERFILE_SAMPLE_CALLCHAIN | (report->branching.history ? PERFILE_SAMPLE_BRANCH_STACK : 0));
}
/* The samples of this event have callchains, and graphs are wanted. */
bool pf_report_has_graph(const struct pf_report *report, const struct pf_report_event *event);

#endif
