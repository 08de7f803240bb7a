/* SPDX-License-Identifier: MIT */
/* The outputs of `diff`. */
#ifndef PERFILE_CLI_DIFF_H
#define PERFILE_CLI_DIFF_H

#include "options.h"
#include "stream.h"

#include <perfile/diff.h>

/* Settings of the verb diff. */
struct pf_diff_settings {
    uint64_t before, after;     /* where the recordings of a side begin in `operands`, plus one; 0: not given */
    char *maps, *only, *ignore; /* a line each; owned */
    const char *sort, *per, *work, *noise, *margin, *alpha, *fail_above, *fail_on, *against;
    uint64_t keep;
    bool relative, inclusive, no_guesses, all, tree, update;
    const char *compute, *order; /* of perf's layout */
    bool stdio;
    struct perfile_changes_options changes;
};

static inline struct pf_diff_settings *pf_diff_own(const struct pf_settings *settings)
{
    return settings->own;
}

struct pf_diff_output {
    struct pf_settings *settings;
    const struct perfile_diff *diff;
    const struct perfile_diff *functions, *inclusive; /* of a page; or NULL */
    struct perfile_diff_info info;
    struct pf_stream *stream;
    size_t columns; /* of the terminal; 0: none */
    bool color;
    bool page;
    bool one_sided; /* the limit is asked for */
};

/* diff_print.c: text for people; pf_diff_name() writes at most `capacity` bytes. */
void pf_diff_print(const struct pf_diff_output *output);
/* The call tree. */
void pf_diff_print_tree(const struct pf_diff_output *output);
/* "+25.0%", or "new". */
const char *pf_diff_percent(const struct perfile_diff_row *row, char text[32]);
/* The functions, module or thread of the row as one text. */
const char *pf_diff_name(const struct perfile_diff_row *row, char *text, size_t capacity);
/* A sentence that is understood without the table: which rows fail. */
void pf_diff_explain(const struct pf_diff_output *output, const struct perfile_diff_row *row, char *text,
                     size_t capacity);

/* diff_table.c: the formats of tables. A status. */
int pf_diff_put_table(const struct pf_diff_output *output, const struct pf_command *command, const char *format);

/* The page of flame graphs. */
int pf_diff_put_page(const struct pf_diff_output *output, const struct pf_command *command);

/* diff_perf.c: perf's layout, which its options and more than two recordings without sides ask for. */
bool pf_diff_is_perfs(const struct pf_settings *settings);
int pf_diff_run_perfs(const struct pf_command *command, struct pf_settings *settings);

/* diff_ci.c: formats for continuous integration. */
void pf_diff_put_junit(const struct pf_diff_output *output);
void pf_diff_put_github(const struct pf_diff_output *output);
void pf_diff_put_folded(const struct pf_diff_output *output);

#endif
