/* SPDX-License-Identifier: MIT */
/* report --tasks, in each of the report's formats. */
#ifndef PF_OUTPUT_REPORT_TASKS_H
#define PF_OUTPUT_REPORT_TASKS_H

#include <perfile/analysis.h>

#include "base/text.h"

enum pf_tasks_form { PF_TASKS_TEXT, PF_TASKS_CSV, PF_TASKS_JSON };

int pf_tasks_write(struct perfile_reader *reader, const struct perfile_output_options *options, enum pf_tasks_form form,
                   struct pf_text *out, struct perfile_error *error);

#endif
