/* SPDX-License-Identifier: MIT */
/* What is wrong with what a verb shows, and the way out: a line for each cause, on standard error. */
#ifndef PERFILE_CLI_ADVICE_H
#define PERFILE_CLI_ADVICE_H

#include <perfile/analysis.h>

enum { PF_ADVICE_KINDS = PERFILE_TROUBLE_BROKEN_STACKS + 1 };

struct pf_advice {
    bool names_modules; /* the output itself says which modules have no symbols, and why */
    bool over;          /* the recording is read once more: all is known */
    struct {
        uint64_t count, total;
        unsigned modules;
        char names[256];
        char *path; /* of the first one's file; owned */
    } of[PF_ADVICE_KINDS];
};

/* For perfile_symbol_options.trouble; the context is a struct pf_advice. */
void pf_advice_take(void *advice, const struct perfile_trouble *trouble);
/* The most important lines; all is forgotten then. */
void pf_advice_give(struct pf_advice *advice, const char *input);
/* What is missing in what was read of a recording: what was lost while recording, and AUX data. */
void pf_advice_missing(struct perfile_reader *reader, const char *input);
/* The views that are made for the events of a recording, for who asked for a report of it. */
void pf_advice_fitting(struct perfile_reader *reader, const char *input);
/* The package that holds a file, by the lists of dpkg; false: it is in none. */
bool pf_package_of(const char *path, char package[128]);

#endif
