/* SPDX-License-Identifier: MIT */
/* The synthesizers that there are: a row of synthesizers.c for each filter that asks for one. */
#ifndef PF_ANALYSIS_SYNTHESIZERS_H
#define PF_ANALYSIS_SYNTHESIZERS_H

#include "analysis/synthesizer.h"

/* Opens the synthesizer that `wanted` needs, if any; `filter` is `wanted` opened. ARGUMENT, MEMORY. */
int pf_synthesizer_open(struct pf_synthesizer *synthesizer, struct perfile_reader *reader,
                        const struct perfile_filter *wanted, const struct pf_filter *filter,
                        const struct perfile_allocator *allocator, struct perfile_error *error);

#endif
