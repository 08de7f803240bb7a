/* SPDX-License-Identifier: MIT */
/* The letters of perf's --itrace: what samples are made of a trace. */
#ifndef PF_HWTRACE_ITRACE_H
#define PF_HWTRACE_ITRACE_H

#include "hwtrace/decoder.h"

struct pf_itrace {
    uint64_t events; /* of the decoder, by their bits */
    uint64_t every;  /* of the event `instructions`, a sample of one in so many records */
    bool branches;   /* samples have branch stacks */
};

/* "" asks for all events. ARGUMENT: an unknown letter, or no event that this trace has. */
int pf_itrace_parse(const char *letters, const struct pf_aux_decoder *decoder, struct pf_itrace *itrace,
                    struct perfile_error *error);

#endif
