/* SPDX-License-Identifier: MIT */
/* The text of report --stats, as perf prints it. For programs there is the output info. */
#ifndef PF_OUTPUT_REPORT_STATS_H
#define PF_OUTPUT_REPORT_STATS_H

#include "output/output.h"

int pf_stats_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                   struct perfile_error *error);

#endif
