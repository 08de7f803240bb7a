/* SPDX-License-Identifier: MIT */
/*
 * Rows of reports in a page, as their JSON has them, read in a pass of their own before the samples: those of branches in
 * the page of a report, and those of memory accesses, by where the data came from, function, line and latency.
 */
#ifndef PF_OUTPUT_FLAME_BRANCHES_H
#define PF_OUTPUT_FLAME_BRANCHES_H

#include "base/text.h"
#include "output/output.h"

/* Rows that a page has at most: those of all but the largest recordings. */
enum { PF_FLAME_ROWS = 50000 };

/*
 * Finds whether a report with these options has rows of branches. ARGUMENT: the options require branches, and there are
 * none.
 */
int pf_flame_branches_look(struct perfile_reader *reader, const struct perfile_output_options *options, bool *branches,
                           struct perfile_error *error);
/*
 * The reader is at its start, and is there again. 0; ARGUMENT for what cannot be read twice; MEMORY, and those of
 * reports. Close the text after failures, too.
 */
int pf_flame_branches_open(struct pf_text *text, struct perfile_reader *reader,
                           const struct perfile_output_options *options, struct perfile_error *error);
/* Returns whether the recording has such accesses, with what they cost, and can be read twice. */
bool pf_flame_memory_look(struct perfile_reader *reader);
/* As pf_flame_branches_open. */
int pf_flame_memory_open(struct pf_text *text, struct perfile_reader *reader,
                         const struct perfile_output_options *options, struct perfile_error *error);

#endif
