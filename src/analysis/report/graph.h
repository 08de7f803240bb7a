/* SPDX-License-Identifier: MIT */
/* The call graph of a row. */
#ifndef PF_ANALYSIS_REPORT_GRAPH_H
#define PF_ANALYSIS_REPORT_GRAPH_H

#include "analysis/report/report.h"

/* A part of a graph: everything that reached the frame in the same way. */
struct pf_graph_item;
struct pf_graph_branch {
    uint32_t frame;
    uint64_t hits;    /* period */
    uint64_t samples; /* where graphs show their numbers */
    struct pf_graph_item *items;
    size_t item_count;
};

struct pf_graph {
    struct pf_report *report;
    const struct pf_report_row *row;
    struct pf_arena arena;
    uint32_t key_node;
    char *marks;       /* of node 0 */
    size_t mark_bytes; /* from one to the next */
    bool empty;
    bool short_of_memory;
    struct pf_map sample_marks; /* of nodes that have marks: the same of numbers of samples */
    struct pf_map ends;         /* flat and folded: the nodes of the row */
    uint32_t *outermost;        /* nodes below that of the key that samples in the row's function came through */
    size_t outermost_count, outermost_capacity;
    uint64_t min;                /* hits of a branch that is shown; unless fractal */
    uint64_t level_samples;      /* the same of numbers of samples */
    uint64_t level_hits;         /* of all branches of the level made last, also those that weigh too little */
    struct pf_graph_item *items; /* while a level is made */
    size_t item_capacity;
};

/* No branch would be shown. */
bool pf_graph_is_empty(const struct pf_report *report, const struct pf_report_row *row);
/* The graph of one row at a time. */
void pf_graph_open(struct pf_graph *graph, struct pf_report *report, const struct pf_report_row *row);
/*
 * Several graphs at a time, after _prepare. Each has `marks`, a number for every node of the tree, zero before and
 * after. `marks` of one graph of each key may be NULL: its numbers are kept in the tree.
 */
bool pf_graphs_prepare(struct pf_report *report); /* false when out of memory */
void pf_graph_open_apart(struct pf_graph *graph, struct pf_report *report, const struct pf_report_row *row,
                         uint64_t *marks);
/* Of the stacks that go through a branch those that end there. */
void pf_graph_ends(const struct pf_graph *graph, const struct pf_graph_branch *branch, uint64_t *hits,
                   uint64_t *samples);
/* Sorts branches by their code, in perf's order. */
void pf_graph_sort_by_code(const struct pf_graph *graph, struct pf_graph_branch *branches, size_t count);
void pf_graph_close(struct pf_graph *graph);
/*
 * Returns the branches below one (NULL: the first ones), most hits first, without those that weigh too little. They
 * live as long as the graph. False when out of memory.
 */
bool pf_graph_expand(struct pf_graph *graph, const struct pf_graph_branch *branch, struct pf_graph_branch **branches,
                     size_t *count);

#endif
