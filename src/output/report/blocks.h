/* SPDX-License-Identifier: MIT */
/* The text of report --total-cycles. */
#ifndef PF_OUTPUT_REPORT_BLOCKS_H
#define PF_OUTPUT_REPORT_BLOCKS_H

#include "output/output.h"

int pf_blocks_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                    struct perfile_error *error);

#endif
