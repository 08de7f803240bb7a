/* SPDX-License-Identifier: MIT */
/* The letters of perf's --itrace: what samples are made of a trace. */
#ifndef PF_HWTRACE_ITRACE_H
#define PF_HWTRACE_ITRACE_H

#include "hwtrace/decoder.h"

enum pf_itrace_unit { PF_ITRACE_RECORDS /* or instructions */, PF_ITRACE_NS, PF_ITRACE_TICKS };

struct pf_itrace {
    uint64_t events;            /* of the decoder, by their bits */
    uint64_t every;             /* of the event `instructions`, a sample of one in so many */
    enum pf_itrace_unit unit;   /* of `every` */
    uint32_t kinds;             /* of branches, enum pf_flow_flags: only those with one of them; 0: all */
    uint64_t skipped;           /* so many samples at the start are not made */
    unsigned branch_count;      /* of branch stacks */
    unsigned chain_count;       /* of callchains */
    bool branches;              /* samples have branch stacks */
    bool chains;                /* samples have callchains */
    bool errors;                /* errors are made, */
    bool no_overflows, no_lost; /* but not these */
    bool timeless;              /* samples have no times */
    bool quick;                 /* code is not walked */
};

/* "" asks for all events. ARGUMENT: an unknown letter, or no event that this trace has. */
int pf_itrace_parse(const char *letters, const struct pf_aux_decoder *decoder, struct pf_itrace *itrace,
                    struct perfile_error *error);

#endif
