/* SPDX-License-Identifier: MIT */
/* Advice on standard error: a line for each cause of missing symbols or broken stacks, with a remedy. */
#ifndef PERFILE_CLI_ADVICE_H
#define PERFILE_CLI_ADVICE_H

#include <perfile/analysis.h>

enum { PF_ADVICE_KINDS = PERFILE_TROUBLE_FULL_STACKS + 1 };

struct pf_advice {
    bool names_modules; /* the output itself says which modules have no symbols, and why */
    bool over;          /* the recording is read again: nothing new is collected */
    struct {
        uint64_t count, total; /* of all recordings */
        const char *recording; /* the last one */
        unsigned modules;
        char names[256];
        char *path; /* of the first one's file; owned */
    } of[PF_ADVICE_KINDS];
};

/* Programs that read the messages switch advice off by the variable PERFILE_ADVICE. */
bool pf_advice_unwanted(void);
/* For perfile_symbol_options.trouble; the context is a struct pf_advice. */
void pf_advice_take(void *advice, const struct perfile_trouble *trouble);
/* Discards everything collected. */
void pf_advice_discard(struct pf_advice *advice);
/* Prints the most important lines, then discards everything collected. */
void pf_advice_give(struct pf_advice *advice, const char *input);
/*
 * Prints what is missing from the records that were read: losses while recording, and AUX data, unless these are shown.
 */
void pf_advice_missing(struct perfile_reader *reader, const char *input, bool shows_aux);
/* Prints the views that are made for the events of the recording, as advice after a report. */
void pf_advice_fitting(struct perfile_reader *reader, const char *input);

#endif
