/* SPDX-License-Identifier: MIT */
/* The hierarchy of rows: levels of columns, and the lines of a table in their order. */
#ifndef PF_ANALYSIS_REPORT_HIERARCHY_H
#define PF_ANALYSIS_REPORT_HIERARCHY_H

#include "analysis/report/report.h"

/* The columns of an event's table that are no values, in the order of their levels. */
struct pf_report_levels {
    const struct pf_report_column *columns[PF_REPORT_COLUMNS];
    uint8_t level_of[PF_REPORT_COLUMNS];
    size_t column_count;
    size_t count; /* of levels; rows are the last one */
};

/* Returns SIZE_MAX when the column is not one of them. */
static inline size_t pf_report_level_of(const struct pf_report_levels *levels, const struct pf_report_column *column)
{
    for (size_t i = 0; i < levels->column_count; i++)
        if (levels->columns[i] == column)
            return levels->level_of[i];
    return SIZE_MAX;
}

/* Where one is in a table: entries, each before the entries and rows below it. */
struct pf_report_line {
    const struct pf_report_row *row;
    size_t level;
    bool leaf; /* a row of the event */
    struct pf_report_levels levels;
    size_t next_entry, next_row;
    size_t hidden;      /* what is below this level is not shown */
    uint64_t outermost; /* lines of the first level so far */
};
/* Before the first line; then lines that are shown, false after the last one. */
void pf_report_open_lines(const struct pf_report *report, const struct pf_report_event *event,
                          struct pf_report_line *line);
bool pf_report_next_line(const struct pf_report *report, const struct pf_report_event *event,
                         struct pf_report_line *line);

#endif
