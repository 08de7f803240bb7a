/* SPDX-License-Identifier: MIT */
/* The options that several calls have, complete: the members that a caller did not have are the defaults. */
#ifndef PF_ANALYSIS_COMPLETE_OPTIONS_H
#define PF_ANALYSIS_COMPLETE_OPTIONS_H

#include <perfile/analysis.h>

struct pf_complete_options {
    struct perfile_filter filter;
    struct perfile_symbol_options symbols;
    struct perfile_report_options report;
};

/* Each of them may be NULL; so may the reader, that of the recording. ARGUMENT. */
int pf_complete_options_take(struct pf_complete_options *complete, const struct perfile_reader *reader,
                             const struct perfile_filter *filter, const struct perfile_symbol_options *symbols,
                             struct perfile_error *error);
/* ARGUMENT. */
int pf_complete_symbols(struct perfile_symbol_options *all, const struct perfile_reader *reader,
                        const struct perfile_symbol_options *symbols, struct perfile_error *error);
/* ARGUMENT: one that is not known. */
int pf_check_known_flags(uint32_t flags, uint32_t known, struct perfile_error *error);

#endif
