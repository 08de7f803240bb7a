/* SPDX-License-Identifier: MIT */
/* The stack of filters that the user has set: each can only leave out more. They hold names, not numbers. */
#ifndef PERFILE_CLI_TUI_FILTERS_H
#define PERFILE_CLI_TUI_FILTERS_H

#include "index.h"

enum pf_tui_filter_kind {
    PF_TUI_BY_THREAD,   /* tids, separated by commas */
    PF_TUI_BY_PROCESS,  /* pids */
    PF_TUI_BY_COMM,     /* names of threads */
    PF_TUI_BY_CPU,      /* processors */
    PF_TUI_BY_DSO,      /* samples with a function of these files in their stack; only their rows */
    PF_TUI_BY_SYMBOL,   /* likewise functions whose names have the text */
    PF_TUI_BY_KERNEL,   /* likewise the kernel's */
    PF_TUI_BY_FUNCTION, /* samples with this function of this file in their stack; all rows */
    PF_TUI_BY_TEXT,  /* samples whose row by keys, or that of a function in their stack, has the text; only such rows */
    PF_TUI_BY_ROW,   /* samples of a row by keys, with its function in their stack; all rows */
    PF_TUI_BY_TIME,  /* from, to */
    PF_TUI_BY_EVENT, /* its name; there is always one event that is shown, so this one is never in the stack */
};

struct pf_tui_filter {
    enum pf_tui_filter_kind kind;
    char *text;              /* what the user knows it by, and what is looked for */
    char *dso;               /* BY_FUNCTION; BY_ROW: what its columns say of functions, NULL: no column does ... */
    char *sample;            /* ... and of samples; "": no column does */
    uint64_t from_ns, to_ns; /* BY_TIME: on the recording's clock */
};

enum { PF_TUI_FILTERS = 16 };
struct pf_tui_filters {
    struct pf_tui_filter all[PF_TUI_FILTERS];
    size_t count;
};

/*
 * Copies the filter's texts. A filter that is equal to an existing one is not added. False: out of memory, or too many.
 */
bool pf_tui_filters_push(struct pf_tui_filters *filters, const struct pf_tui_filter *filter);
/* False: there is none. */
bool pf_tui_filters_pop(struct pf_tui_filters *filters);
void pf_tui_filters_clear(struct pf_tui_filters *filters);
/* "thread", "cpu" ... */
const char *pf_tui_filter_word(enum pf_tui_filter_kind kind);

/* Whether the filters of threads, processors and rows let the combo pass. */
bool pf_tui_filters_pass_combo(const struct pf_tui_filters *filters, const struct pf_tui_index *index,
                               const struct pf_tui_combo *combo);
bool pf_tui_filter_is_of_functions(const struct pf_tui_filter *filter);
/* Whether only functions that it selects have rows. */
bool pf_tui_filter_hides_functions(const struct pf_tui_filter *filter);
/* Whether this filter, which must select functions, selects this one. */
bool pf_tui_filter_means(const struct pf_tui_filter *filter, const struct pf_tui_index *index, uint32_t function);
/* The steps [*first, *end) that the filters of time leave. */
void pf_tui_filters_steps(const struct pf_tui_filters *filters, const struct pf_tui_index *index, uint32_t *first,
                          uint32_t *end);

#endif
