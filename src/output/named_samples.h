/* SPDX-License-Identifier: MIT */
/* What outputs read that give samples with symbols and the fields of tracepoints. */
#ifndef PF_OUTPUT_NAMED_SAMPLES_H
#define PF_OUTPUT_NAMED_SAMPLES_H

#include "analysis/delivery.h"
#include "analysis/trace/trace_text.h"
#include "symbol/symbols.h"

/* All zeros may be closed, too. */
struct pf_named_samples {
    struct pf_delivery *delivery;
    struct pf_symbols *symbols; /* with the code that the delivery saw made at run time */
    struct pf_trace_texts traces;
};

/* After an error it must be closed, too. */
int pf_named_samples_open(struct pf_named_samples *samples, struct perfile_reader *reader,
                          const struct pf_delivery_options *how, const struct pf_find_options *find,
                          struct perfile_error *error);
void pf_named_samples_close(struct pf_named_samples *samples);

#endif
