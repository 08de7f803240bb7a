/* SPDX-License-Identifier: MIT */
/* The synthesizers that there are: a row of synthesizers.c for each filter that asks for one. */
#ifndef PF_ANALYSIS_SYNTHESIZERS_H
#define PF_ANALYSIS_SYNTHESIZERS_H

#include "analysis/synthesizer.h"

/* Opens the synthesizer that `wanted` needs, if any. ARGUMENT, MEMORY, and what reading a trace can fail with. */
int pf_synthesizer_open(struct pf_synthesizer *synthesizer, const struct pf_synthesizer_options *options,
                        struct perfile_error *error);

#endif
