/* SPDX-License-Identifier: MIT */
/*
 * The numbers of all views: what the filters let pass of an index, added up by function and by stack, and lists of rows
 * made of it. A new index takes the place of the old one without the user losing the row or what was opened.
 */
#ifndef PERFILE_CLI_TUI_MODEL_H
#define PERFILE_CLI_TUI_MODEL_H

#include "filters.h"

struct pf_tui_value {
    uint64_t period, samples;
};

enum pf_tui_view { PF_TUI_FUNCTIONS, PF_TUI_CALLS, PF_TUI_CALLERS, PF_TUI_ROWS, PF_TUI_FLAME, PF_TUI_VIEWS };
/* Then come the columns of --sort, the first one as ORDERS. */
enum pf_tui_order {
    PF_TUI_TOTAL,
    PF_TUI_SELF,
    PF_TUI_SAMPLES,
    PF_TUI_PERIOD,
    PF_TUI_DSO,
    PF_TUI_SYMBOL,
    PF_TUI_ORDERS
};

struct pf_tui_model {
    struct pf_tui_index *index;
    struct pf_tui_filters filters;
    uint32_t event;
    const char
        *sort;       /* a list of columns, which may be fields of an event: it is shown first. NULL: there is no list */
    bool by_samples; /* shares are of samples, not of periods */
    bool no_children; /* rows by keys are of functions that were running */
    bool relative;    /* to what passes the filters, not to all of the event in the time and on the processors */
    uint64_t changed; /* counts up whenever numbers become others */
    struct pf_tui_value *steps; /* of time */
    uint8_t *shown;             /* functions that have rows */
    struct pf_tui_value all, passed;
    struct pf_tui_value unfiltered; /* all of the event, at any time and on any processor */
    bool timed;                     /* some filter selects times ... */
    uint32_t first_step, end_step;  /* ... and leaves [first_step, end_step) */
    struct pf_tui_index *previous;  /* whose names lists may remember; until the next replacement */
    /* what add_up works with */
    uint8_t *combo_passes;
    uint16_t *means; /* by function: which filters of functions are met, a bit each */
    uint16_t all_met;
    uint16_t by_leaf;         /* filters of functions that must be met by the one that was running */
    uint16_t *sample_means;   /* the same by number in keys.samples ... */
    uint16_t *function_means; /* ... and in keys.functions: what any of its functions meets */
    uint32_t *slot;           /* by function: for grouping; NONE between uses */
};

/* A node of the call tree that a row stands for, or the node of a caller, with the weight that it has for the row. */
struct pf_tui_location {
    uint32_t node;
    bool is_caller; /* the node is not the function itself, but what called it */
    struct pf_tui_value value;
};

struct pf_tui_item {
    uint32_t function; /* of a row by keys one that it describes; NONE: its columns describe none */
    bool keyed;        /* it is a row by keys: */
    uint32_t by_sample, by_function;
    uint32_t depth;
    struct pf_tui_value total, self;
    uint64_t key; /* by these four rows are sorted */
    const char *by, *name;
    uint64_t number;
    struct pf_tui_item *parent; /* NULL: of the list itself */
    struct pf_tui_item *items;  /* below it, once they were asked for */
    struct pf_tui_location *positions;
    size_t item_count, position_count;
    bool is_open, has_positions, has_items, unknown_caller;
};

struct pf_tui_list {
    struct pf_tui_model *model;
    enum pf_tui_view view;
    bool callers;   /* functions: callers are below a row, not callees */
    unsigned order; /* enum pf_tui_order, or a column of --sort */
    bool reversed;
    bool no_children; /* functions: only those that were running */
    double limit;     /* rows below this share are left out */
    struct pf_tui_item *items;
    size_t item_count;
    struct pf_tui_item **lines; /* what is to be seen, from the top */
    size_t line_count, line_capacity;
    size_t cursor, top;
    uint64_t made_of; /* model->changed */
};

/*
 * Takes the index. Shows the event of the same name as before, or event 0 at first. False: out of memory; the old one
 * stays.
 */
bool pf_tui_model_replace(struct pf_tui_model *model, struct pf_tui_index *index);
/* No list remembers the index before this one any more. */
void pf_tui_model_discard(struct pf_tui_model *model);
void pf_tui_model_close(struct pf_tui_model *model);
/* Called after the filters, the event or the weights have changed. */
void pf_tui_model_add_up(struct pf_tui_model *model);
/* Whether rows by keys count functions anywhere in stacks, not only those that were running. */
bool pf_tui_rows_have_children(const struct pf_tui_model *model);
/* Whether filters let rows by keys of these numbers be shown. */
bool pf_tui_row_is_shown(const struct pf_tui_model *model, uint32_t by_sample, uint32_t by_function);
/* Whether the row of that number is counted, when the sums are made. */
bool pf_tui_row_passes(const struct pf_tui_model *model, size_t row);
/* The weights of a function, and of the row of that number. */
struct pf_tui_value pf_tui_self(const struct pf_tui_model *model, uint32_t function);
struct pf_tui_value pf_tui_total(const struct pf_tui_model *model, uint32_t function);
struct pf_tui_value pf_tui_row_value(const struct pf_tui_model *model, size_t row);
/* The weight of all stacks through the node, and of those that end there. */
struct pf_tui_value pf_tui_node_total(const struct pf_tui_model *model, uint32_t node);
struct pf_tui_value pf_tui_node_self(const struct pf_tui_model *model, uint32_t node);
/* The weight that shares are relative to. */
uint64_t pf_tui_weight(const struct pf_tui_model *model, struct pf_tui_value value);
double pf_tui_share(const struct pf_tui_model *model, struct pf_tui_value value);

/* Makes the rows again, with the same open rows and cursor. False: out of memory. */
void pf_tui_list_close(struct pf_tui_list *list);
/* Whether there can be rows below it. */
bool pf_tui_item_opens(struct pf_tui_list *list, struct pf_tui_item *item);
bool pf_tui_item_open(struct pf_tui_list *list, struct pf_tui_item *item);
/* Opens the row (NULL: all rows) and those below it, down to `depth` levels. *limited: the maximum was reached. */
enum { PF_TUI_MAX_OPENED = 5000 };
bool pf_tui_item_open_all(struct pf_tui_list *list, struct pf_tui_item *item, unsigned depth, bool *limited);
void pf_tui_item_close(struct pf_tui_list *list, struct pf_tui_item *item);
void pf_tui_list_close_all(struct pf_tui_list *list);
/* The line at the cursor; NULL means none. */
struct pf_tui_item *pf_tui_list_at(const struct pf_tui_list *list);
void pf_tui_list_go(struct pf_tui_list *list, const struct pf_tui_item *item);
/* The open rows and the cursor, which outlive one replacement of the index. NULL: out of memory, nothing is kept. */
struct pf_tui_memory;
struct pf_tui_memory *pf_tui_list_remember(const struct pf_tui_list *list);
/* Makes the list, and opens what was open. Frees the memory, which may be NULL. */
bool pf_tui_list_recall(struct pf_tui_list *list, struct pf_tui_memory *memory);

#endif
