/* SPDX-License-Identifier: MIT */
/* What verbs share that write recordings. */
#ifndef PERFILE_CLI_EDIT_H
#define PERFILE_CLI_EDIT_H

#include <stdio.h>

#include <perfile/edit.h>

#include "input.h"
#include "json.h"

/* What a verb does between an open reader and a finished writer. */
typedef int pf_edit(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                    const struct perfile_edit_options *options, struct perfile_edit_report *report,
                    struct perfile_error *error);

/* What a verb's report says besides: members of the JSON object, or with `json` NULL lines. */
typedef void pf_edit_print(FILE *to, struct pf_json_writer *json);

/* Opens the recording and the output, edits, finishes the output, prints the report. */
int pf_run_edit(const struct pf_command *command, struct pf_settings *settings, pf_edit *edit);
/* The same; `print`, which may be NULL, prints an additional report after the common one. */
int pf_run_edit_report(const struct pf_command *command, struct pf_settings *settings, pf_edit *edit,
                       pf_edit_print *print);

/*
 * The path that an output of that name is written to: links are followed, also one whose target does not exist yet.
 * Allocated; NULL: out of memory.
 */
char *pf_output_target(const char *path);
/* The options for a writer; `output` is the path or "-", `log` receives what cannot be written unchanged. */
struct perfile_writer_options pf_writing_options(const struct pf_input *input, const char *output, struct pf_log *log);
/* Finds the bundle after the recording at `input`. False: there is none, or it cannot be read. */
bool pf_has_bundle(const char *input, struct perfile_bundle *bundle);
/* Appends the bundle of the input, if it has one, to what was written of it; says so where it is left out. A status. */
int pf_carry_bundle(const char *verb, const char *input, const char *output, bool wanted);
/* Of several recordings, by their names: a row for each. */
struct pf_edit_row {
    const char *file;
    const struct perfile_edit_report *report;
};
/* Not text and not JSON. */
bool pf_report_is_table(const char *format);
/* Of the recording at `output`: before that is written, for no terminal shows some formats. A status. */
int pf_report_check(const char *verb, const char *output, const char *format);
/* Rows in such a format; a status. */
int pf_report_rows(const char *verb, struct pf_edit_row *edited, size_t count, const char *format, FILE *to);
/* The members of a report. */
void pf_report_json(const struct perfile_edit_report *report, struct pf_json_writer *json);
/* ", COUNT WHAT" unless there is none. */
void pf_report_count(FILE *to, uint64_t count, const char *what);
void pf_report_text(const struct perfile_edit_report *report, const char *output, FILE *to);

/* Where the output goes and what it looks like: -o, --mode, --byte-order, -z. */
extern const struct pf_option_group pf_writing_group;
#define PF_OPTION_REPORT_FORMAT                                                                                        \
    {                                                                                                                  \
        .name = "format", .kind = PF_OPTION_CHOICE, .argument = "FORMAT",                                              \
        .offset = offsetof(struct pf_settings, format), .value_at = pf_report_format_at,                               \
        .doc = "The format of the report of what was kept and what was dropped; it goes to standard output, or to "    \
               "standard error if the recording goes there."                                                           \
    }
pf_value_at pf_report_format_at;

#endif
