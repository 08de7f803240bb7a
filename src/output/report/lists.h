/* SPDX-License-Identifier: MIT */
/* What report prints instead of its rows, as perf prints it: one file each. */
#ifndef PF_OUTPUT_REPORT_LISTS_H
#define PF_OUTPUT_REPORT_LISTS_H

#include "output/output.h"

/* --stats. For programs there is the output info. */
int pf_stats_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                   struct perfile_error *error);
/* --tasks; `maps`: with the mappings of each process. For programs there is the view `threads`. */
int pf_tasks_write(struct perfile_reader *reader, bool maps, struct pf_text *out, struct perfile_error *error);
/* --total-cycles */
int pf_blocks_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                    struct perfile_error *error);

#endif
