/* SPDX-License-Identifier: MIT */
/* For the outputs of `perfile report`: what its rows are made of. */
#ifndef PF_VIEW_FUNCTIONS_H
#define PF_VIEW_FUNCTIONS_H

#include "analysis/report/hierarchy.h"
#include "view/view.h"

/* Where one is among the rows; all zeros before the first one. */
struct pf_functions_location {
    size_t event, next_row;
    const struct pf_report_event *of; /* of the current row */
    const struct pf_report_row *row;
    bool in_event;              /* of a hierarchy: the line is one of this event */
    struct pf_report_line line; /* of a hierarchy */
};

/* The rows in their order; false after the last one. */
bool pf_functions_next(const struct pf_report *report, struct pf_functions_location *location);
/* Of a table of the view `functions`. */
struct pf_report *pf_functions_report(const struct perfile_table *table);

#endif
