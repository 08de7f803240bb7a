/* SPDX-License-Identifier: MIT */
/* Verbs that show views of events: each has sub-views, which are tables, and texts as perf prints them. */
#ifndef PERFILE_CLI_VIEWS_H
#define PERFILE_CLI_VIEWS_H

#include "options.h"

/* A row of a verb's table; a name of NULL ends it. Without names of sub-views there is one row, named "". */
struct pf_subview {
    const char *name; /* the operand that asks for it */
    const char *view; /* the table */
    bool as_perf;     /* there is an output of the same name as perf prints it, in the format stdio */
    const char *doc;
    const char *kind; /* what that output is called, if not as the table */
    bool unsorted;    /* --sort says nothing about its rows */
};

/* For groups of options that are `of_text`: one of them asks for perf's text as --stdio does. */
#define PF_PERF_TEXT "Text of perf (--stdio)"

/* An option of the group that was given. NULL: none. */
const struct pf_option *pf_group_option_set(const struct pf_option_group *group, const struct pf_settings *settings);
/* An option of a group that is only about perf's text that was given. NULL: none. */
const struct pf_option *pf_text_option_set(const struct pf_command *command, const struct pf_settings *settings);
/* Refuses options of perf's text together with --format or --columns. A status, after a message. */
int pf_refuse_text_options(const struct pf_command *command, const struct pf_settings *settings);

/* Takes the name of the sub-view from the operands; without one it is the usual sub-view. */
const struct pf_subview *pf_subview_choose(const struct pf_command *command, struct pf_settings *settings,
                                           const struct pf_subview *views);
/* Takes the name of the sub-view from the operands, and prints it. */
int pf_run_subview(const struct pf_command *command, struct pf_settings *settings);
/* The same of other sub-views than those of the command. */
int pf_run_subview_of(const struct pf_command *command, struct pf_settings *settings, const struct pf_subview *views);
/*
 * Prints what the settings say of the recording or, of a command, of what its `record` would write: into a file without
 * a name, which is gone afterwards.
 */
int pf_run_view(const struct pf_command *command, struct pf_settings *settings);
/* perf's text of a view was asked for: by --stdio, or by the name of the command. */
bool pf_wants_perf_text(const struct pf_settings *settings);
/* For operand_values: the views of the command, and "record". */
const char *pf_subview_at(const struct pf_command *command, size_t index, const char **doc);

/* For their descriptions. */
#define PF_SHOWS_COMMAND                                                                                               \
    " After --, a command is run, recorded and shown, without a file; the exit status is that of the command."

/* For struct pf_command: what such a verb reads, with so many operands at most. */
#define PF_SUBVIEWS_OF(syntax, table, max_operands)                                                                    \
    .operand = syntax " [FILE | -- COMMAND [ARGUMENT...]] | record [COMMAND [ARGUMENT...]]",                           \
    .operand_max = max_operands, .operand_values = {.of_verb = pf_subview_at}, .views = table, .pages = true,          \
    .shows_command = true
/* The same; without the name of a view it shows the usual one. */
#define PF_SUBVIEWS_USUAL(table, max_operands, usual)                                                                  \
    PF_SUBVIEWS_OF("[VIEW]", table, max_operands), .usual_view = usual, .shows_usual_view = true

#define PF_OPTION_STDIO PF_FLAG("stdio", 0, PF_AT(as_perf), "Print the text of perf: its columns, widths and rounding.")
#define PF_OPTION_COLUMNS                                                                                              \
    PF_ROW(LIST, "columns", 0, "LIST", PF_AT(columns),                                                                 \
           "Columns to print, in order (+NAME adds to the default, -NAME removes from it, all: every column).")
/* Of every verb whose views are tables and texts of perf. */
#define PF_OPTIONS_OF_VIEWS PF_OPTION_TABLE_FORMAT, PF_OPTION_COLUMNS, PF_OPTION_STDIO

#endif
