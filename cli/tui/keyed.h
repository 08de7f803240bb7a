/* SPDX-License-Identifier: MIT */
/*
 * Rows by the keys of --sort: their texts. A row is a pair of numbers, one for the columns that describe samples and
 * one for those that describe functions; equal texts have equal numbers, in the order of the texts.
 */
#ifndef PERFILE_CLI_TUI_KEYED_H
#define PERFILE_CLI_TUI_KEYED_H

#include "../profile_columns.h"

/* The texts of one part. */
struct pf_tui_texts {
    size_t count;
    char **cells;  /* by number, the columns of the part after each other; owned with what they point to */
    char **joined; /* by number: all its cells; "" where the part has no columns; owned */
    size_t columns;
};

struct pf_tui_keys {
    const struct pf_profile_columns *columns;
    struct pf_tui_texts samples, functions;
    uint32_t *function_of;    /* by function of the profile: its number in `functions` */
    uint32_t *first;          /* by number in `functions`: a function that has it; NONE if no column describes them */
    uint32_t *order, *starts; /* rows of the index by their number in `samples`, and where those of a number start */
    struct perfile_calls *calls; /* whose groups are numbers in `functions`; NULL if no column describes them */
};

/* Numbers the texts, each made by pf_profile_columns_texts; takes them over, also in failure. False: out of memory. */
bool pf_tui_texts_make(struct pf_tui_texts *texts, size_t columns, char **made, size_t count, uint32_t *numbers);
void pf_tui_texts_free(struct pf_tui_texts *texts);

/* As strcasestr, which not every C library has, for ASCII letters. */
bool pf_tui_has_text(const char *name, const char *part);
/* The text of a column of the row. */
const char *pf_tui_keys_cell(const struct pf_tui_keys *keys, uint32_t sample, uint32_t function, size_t column);
/* Whether a cell of the number has the text. */
bool pf_tui_texts_have(const struct pf_tui_texts *texts, uint32_t number, const char *part);

#endif
