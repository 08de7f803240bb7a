/* SPDX-License-Identifier: MIT */
/* Functions that verbs that write recordings share. */
#ifndef PERFILE_CLI_EDIT_H
#define PERFILE_CLI_EDIT_H

#include <stdio.h>

#include <perfile/edit.h>

#include "input.h"
#include "json.h"
#include "writing.h"

/* The work of a verb between an open reader and a finished writer. */
typedef int pf_edit(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                    const struct perfile_edit_options *options, struct perfile_edit_report *report,
                    struct perfile_error *error);

/* Prints the additional part of a verb's report: members of the JSON object, or lines if `json` is NULL. */
typedef void pf_edit_print(FILE *to, struct pf_json_writer *json);

/* Opens the recording and the output, edits, finishes the output, prints the report. */
int pf_run_edit(const struct pf_command *command, struct pf_settings *settings, pf_edit *edit);
/* The same; `print`, which may be NULL, prints an additional report after the common one. */
int pf_run_edit_report(const struct pf_command *command, struct pf_settings *settings, pf_edit *edit,
                       pf_edit_print *print);

/* Appends the bundle of the input, if it has one, to what was written of it; says so where it is left out. A status. */
int pf_carry_bundle(const char *verb, const char *input, const char *output, bool wanted);
/* A row of the report of several recordings. */
struct pf_edit_row {
    const char *file;
    const struct perfile_edit_report *report;
};
/* True for formats other than text and JSON. */
bool pf_report_is_table(const char *format);
/* Refuses formats that a terminal cannot show, before the recording at `output` is written. A status. */
int pf_report_check(const char *verb, const char *output, const char *format);
/* Rows in such a format; a status. */
int pf_report_rows(const char *verb, struct pf_edit_row *edited, size_t count, const char *format, FILE *to);
/* The members of a report. */
void pf_report_json(const struct perfile_edit_report *report, struct pf_json_writer *json);
/* ", COUNT WHAT" unless there is none. */
void pf_report_count(FILE *to, uint64_t count, const char *what);
/* NAME: 3 records, 2 of them samples */
void pf_report_records(FILE *to, const char *name, uint64_t records, const char *what, uint64_t samples);
void pf_report_text(const struct perfile_edit_report *report, const char *output, FILE *to);

#endif
