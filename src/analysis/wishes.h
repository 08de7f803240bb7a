/* SPDX-License-Identifier: MIT */
/* What callers wish of several calls, as the library sees it: all members that it knows, where the caller had none the defaults. */
#ifndef PF_ANALYSIS_WISHES_H
#define PF_ANALYSIS_WISHES_H

#include <perfile/analysis.h>

struct pf_wishes {
    struct perfile_filter filter;
    struct perfile_symbol_options symbols;
    struct perfile_report_options report;
};

/* Each of them may be NULL; so may the reader, that of the recording. ARGUMENT. */
int pf_wishes_take(struct pf_wishes *wishes, const struct perfile_reader *reader, const struct perfile_filter *filter,
                   const struct perfile_symbol_options *symbols, struct perfile_error *error);
/* ARGUMENT. */
int pf_wishes_take_symbols(struct perfile_symbol_options *all, const struct perfile_reader *reader,
                           const struct perfile_symbol_options *symbols, struct perfile_error *error);
/* ARGUMENT: one that is not known. */
int pf_wishes_check_flags(uint32_t flags, uint32_t known, struct perfile_error *error);

#endif
