/* SPDX-License-Identifier: MIT */
/* The options of verbs that write recordings, and what follows from them: the path and the options of the writer. */
#ifndef PF_CLI_WRITING_H
#define PF_CLI_WRITING_H

#include "input.h"

/*
 * The path that an output of that name is written to: links are followed, also one whose target does not exist yet.
 * Allocated; NULL: out of memory.
 */
char *pf_output_target(const char *path);
/* The options for a writer; `output` is the path or "-", `log` receives what cannot be written unchanged. */
struct perfile_writer_options pf_writing_options(const struct pf_input *input, const char *output, struct pf_log *log);

/* The path and the form of the output: -o, --mode, --byte-order, -z. */
extern const struct pf_option_group pf_writing_group;
#define PF_OPTION_REPORT_FORMAT                                                                                        \
    PF_VALUES(                                                                                                         \
        CHOICE, "format", 0, "FORMAT", PF_AT(format), .known = pf_report_format_at,                                    \
        "The format of the report of what was kept and what was dropped. Tables have a row for each recording that "   \
        "was written or, of merge, read. The report goes to standard output, or to standard error if the recording "   \
        "goes there.")
/* "text", "json", and the other formats of tables, in which each recording is a row. */
const char *pf_report_format_at(size_t index, const char **doc);

#endif
