/* SPDX-License-Identifier: MIT */
/* The text of report --tasks, as perf prints it. For programs there is the view `threads`. */
#ifndef PF_OUTPUT_REPORT_TASKS_H
#define PF_OUTPUT_REPORT_TASKS_H

#include <perfile/perfile.h>

#include "base/text.h"

/* `maps`: with the mappings of each process. */
int pf_tasks_write(struct perfile_reader *reader, bool maps, struct pf_text *out, struct perfile_error *error);

#endif
