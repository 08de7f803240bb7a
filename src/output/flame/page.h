/* SPDX-License-Identifier: MIT */
/*
 * What the page is made of: one tree with the stacks of all events, without threads, and the samples in columns of
 * numbers. Samples that need more memory than allowed are joined to those of the same piece of time, thread, event and
 * stack; the pieces grow as long as there are too many of them.
 */
#ifndef PF_OUTPUT_FLAME_PAGE_H
#define PF_OUTPUT_FLAME_PAGE_H

#include "analysis/tree.h"
#include "base/pairs.h"
#include "output/flame/numbers.h"

enum pf_page_column {
    PF_PAGE_TIME,   /* 0: not known; else zigzag of what was added to the time before, + 1 */
    PF_PAGE_STACK,  /* zigzag of what was added to the node before */
    PF_PAGE_THREAD, /* its number */
    PF_PAGE_CPU,    /* + 1; 0: not known */
    PF_PAGE_EVENT,
    PF_PAGE_WEIGHT,
    PF_PAGE_COUNT,  /* of samples that were joined; as long as none was it stays empty: all are 1 */
    PF_PAGE_CODE,   /* of pages with code: its number of the function + 1, 0: not in it; empty: samples were joined */
    PF_PAGE_OFFSET, /* likewise: bytes from the function's first instruction */
    PF_PAGE_COLUMNS
};

#define PF_PAGE_NONE UINT32_MAX
#define PF_PAGE_NO_TIME UINT64_MAX
/* Farther from the first sample no time is: what says so is broken. */
#define PF_PAGE_FAR_NS ((uint64_t)1 << 61)

struct pf_page_row {
    uint64_t time; /* ns, or NO_TIME */
    uint64_t weight, count;
    uint32_t stack; /* node of the tree */
    uint32_t thread, cpu, event;
    uint32_t code;   /* PF_PAGE_NONE: not in the page's code */
    uint64_t offset; /* in its function */
};

struct pf_page_rows {
    struct pf_numbers columns[PF_PAGE_COLUMNS];
    size_t count;
    size_t look_at; /* the count at which it is looked at how many bytes there are */
    uint64_t last_time, last_stack;
    bool timed; /* one of them has a time */
};

enum { PF_PAGE_HINTS = 4096 };

/* Samples of the piece of time at work, joined. */
struct pf_page_fold {
    uint64_t width_ns; /* of a piece; 0: samples are as they were */
    uint64_t first_ns; /* where the first piece begins */
    uint64_t piece;    /* + 1; 0: that of samples without a time */
    uint64_t piece_ns; /* when it begins */
    uint64_t max_ns;   /* then there are too many pieces */
    struct pf_pairs positions;
    struct pf_page_row *rows;
    size_t count, capacity;
    uint32_t hints[PF_PAGE_HINTS]; /* positions of rows that may be equal */
};

struct pf_page {
    const struct perfile_allocator *allocator;
    struct pf_tree tree;
    struct pf_page_rows rows;
    struct pf_page_fold fold;
    uint64_t base_ns;     /* time of the first sample that has one */
    uint64_t first, last; /* from the earliest to the latest time; first > last: there is none */
    size_t max_bytes;     /* of the columns in LEB128, before samples are joined */
    bool timeless;        /* times do not matter */
    bool has_code;        /* rows have `code` and `offset` */
    uint64_t *totals;     /* by event: weight of all samples */
    size_t event_capacity;
};

/* 0, or MEMORY. Close it after failures, too. */
int pf_page_open(struct pf_page *page, const struct perfile_allocator *allocator, size_t max_bytes);
void pf_page_close(struct pf_page *page);
/* False when out of memory. */
bool pf_page_add(struct pf_page *page, const struct pf_page_row *row);
/* All samples are there. False when out of memory. */
bool pf_page_end(struct pf_page *page);
/* Rows do not have `code` and `offset` after all. */
void pf_page_discard_code(struct pf_page *page);
/*
 * Joins samples that are there: `pieces` of time, 0: all of it is one. `node_of`: by node of the tree, which one its
 * samples get; NULL: they keep it. False when out of memory.
 */
bool pf_page_join(struct pf_page *page, uint64_t pieces, const uint32_t *node_of);

/* Reads the samples; zeros are at the start. False: there are no more. */
struct pf_page_reading {
    struct pf_numbers_reading columns[PF_PAGE_COLUMNS];
    size_t row;
    uint64_t time, stack;
};
bool pf_page_next(const struct pf_page *page, struct pf_page_reading *reading, struct pf_page_row *row);

#endif
