/* SPDX-License-Identifier: MIT */
/* The synthesizers that there are: a row of synthesizers.c for each filter that asks for one. */
#ifndef PF_ANALYSIS_SYNTHESIZERS_H
#define PF_ANALYSIS_SYNTHESIZERS_H

#include "analysis/synthesizer.h"

struct pf_find_options;

struct pf_synthesizer_options {
    struct perfile_reader *reader;
    const struct perfile_filter *wanted;
    const struct pf_filter *filter;            /* `wanted` opened */
    const struct pf_find_options *find;        /* where code is found; NULL: nowhere */
    const struct perfile_allocator *allocator; /* not NULL */
};

/* Opens the synthesizer that `wanted` needs, if any. ARGUMENT, MEMORY, and what reading a trace can fail with. */
int pf_synthesizer_open(struct pf_synthesizer *synthesizer, const struct pf_synthesizer_options *options,
                        struct perfile_error *error);

#endif
