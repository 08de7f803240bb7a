/* SPDX-License-Identifier: MIT */
/* The parts of the text of a report. */
#ifndef PF_OUTPUT_REPORT_TEXT_H
#define PF_OUTPUT_REPORT_TEXT_H

#include "analysis/report/hierarchy.h"
#include "base/bytes.h"

/* Of the screen: nothing is shortened, and the function is the last column. */
#define PF_REPORT_ANY_WIDTH SIZE_MAX

struct pf_report_text {
    struct pf_report *report;
    const struct pf_report_event *event;
    struct pf_text *out;
    struct pf_text cell;                                       /* one text that is to be padded */
    struct pf_text fitted;                                     /* one that is cut, where there is a width */
    struct pf_text margin;                                     /* of the graph, as deep as it is */
    const struct pf_report_column *columns[PF_REPORT_COLUMNS]; /* of this event */
    size_t column_count;
    const struct pf_report_column *omitted[PF_REPORT_COLUMNS]; /* those for which the terminal is too narrow */
    size_t omitted_count;
    size_t widths[PF_REPORT_COLUMNS];
    size_t fixed[PF_REPORT_COLUMNS]; /* widths that were asked for, or 0 */
    size_t screen;                   /* columns of the terminal, or PF_REPORT_ANY_WIDTH; 0: the layout of perf */
};

static inline bool pf_report_text_has_header(const struct pf_report_text *table)
{
    return !(table->report->options->report->flags & PERFILE_REPORT_NO_HEADER);
}

static inline bool pf_report_text_is_weight(const struct pf_report_text *table, size_t i)
{
    return table->columns[i]->of == PF_COLUMN_OF_VALUE;
}

static inline void pf_report_text_widen(size_t *width, size_t wanted)
{
    *width = *width > wanted ? *width : wanted;
}

struct pf_report_drawers;

/* ---- text_cells.c: cells, and how wide columns are ---- */

void pf_report_text_dots(struct pf_text *text, size_t count);
void pf_report_text_pad(struct pf_text *text, size_t count);
/* Texts are valid until the next call of one of these. `fit` shortens the text in table->cell. */
const struct pf_text *pf_report_text_cell(struct pf_report_text *table, const struct pf_report_column *column,
                                          const struct pf_report_row *row);
const struct pf_text *pf_report_text_fit(struct pf_report_text *table, size_t columns);
const struct pf_text *pf_report_text_fitted_cell(struct pf_report_text *table, size_t i,
                                                 const struct pf_report_row *row, size_t columns);
/* Rows are in another order than their frames: fetches what a later row needs. */
void pf_report_text_prefetch(const struct pf_report_text *table, const struct pf_report_row *row);
void pf_report_text_fit_columns(struct pf_report_text *table);
void pf_report_text_put_padded(struct pf_report_text *table, size_t i, const char *text, size_t bytes, bool right,
                               bool last);
void pf_report_text_put_cell(struct pf_report_text *table, size_t i, const struct pf_text *cell, bool last);
void pf_report_text_parse_widths(struct pf_report_text *table);
void pf_report_text_choose_columns(struct pf_report_text *table);
void pf_report_text_put_column_header(struct pf_report_text *table, size_t i);
/* The line of titles above groups of columns, and the start of the next line; nothing without any. */
void pf_report_text_put_titles(struct pf_report_text *table, size_t indent);
/* Whether a column stands below the same title as the one before it; then no gap is between them. */
bool pf_report_text_is_joined(const struct pf_report_text *table, size_t i);
void pf_report_text_put_gap(struct pf_report_text *table, size_t i);
void pf_report_text_put_header(struct pf_report_text *table);
/* A line with the names of the columns that are left out, if there are any. */
void pf_report_text_put_omitted(struct pf_report_text *table);

/* ---- text_head.c: what stands before the rows, or instead of them ---- */

/* "# Samples: 17K of event '", which the name follows. */
void pf_report_text_put_samples(struct pf_text *out, uint64_t samples, bool of_group);
void pf_report_text_put_screen_title(struct pf_report_text *table);
void pf_report_text_put_title(struct pf_report_text *table);
void pf_report_text_put_no_samples(struct pf_report_text *table);
void pf_report_text_put_branch_types(struct pf_report_text *table);
void pf_report_text_put_head(struct pf_report_text *table);

/* ---- text_chains.c: flat and folded graphs; false when out of memory ---- */

struct pf_graph;
bool pf_report_text_put_chains(struct pf_report_text *table, struct pf_graph *graph, uint64_t total);

/* ---- text_graphs.c: call graphs, drawn ahead of their rows by several threads ---- */

/* A function of a graph, and what it weighs, as the graph shows it. */
void pf_report_text_put_frame(struct pf_report_text *table, uint32_t frame);
void pf_report_text_put_value(struct pf_report_text *table, uint64_t hits, uint64_t samples, uint64_t total);
/* NULL: no color. */
const char *pf_report_text_color(const struct pf_report_text *table, double percent);
/* The texts of a table. False when out of memory: close it in any case; _close: memory was short before. */
bool pf_report_text_open(struct pf_report_text *table);
bool pf_report_text_close(struct pf_report_text *table);
bool pf_report_text_has_graph(const struct pf_report_text *table, const struct pf_report_row *row);
void pf_report_text_close_drawers(struct pf_report_drawers *drawers);
/* NULL when out of memory; _close_drawers allows NULL. The table must stay until then. */
struct pf_report_drawers *pf_report_text_open_drawers(const struct pf_report_text *table);
/* The graph of a row that has one, in the order of the rows. False when out of memory. */
bool pf_report_text_put_drawing(struct pf_report_text *table, struct pf_report_drawers *drawers,
                                const struct pf_report_row *row);

#endif
