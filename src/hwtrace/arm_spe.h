/* SPDX-License-Identifier: MIT */
/*
 * Packets of Arm's Statistical Profiling Extension: Arm Architecture Reference Manual (DDI 0487), "Statistical
 * Profiling Extension Sample Record Specification". A record is a row of packets that ends with END or TIMESTAMP.
 */
#ifndef PF_HWTRACE_ARM_SPE_H
#define PF_HWTRACE_ARM_SPE_H

#include "hwtrace/packets.h"

/* The kinds of packets. Payloads are as recorded. */
enum pf_spe_kind {
    PF_SPE_BAD = PF_AUX_BAD,
    PF_SPE_PAD = PF_AUX_PAD,
    PF_SPE_END,
    PF_SPE_TIMESTAMP,
    PF_SPE_PC,              /* addresses */
    PF_SPE_TARGET,          /* of the branch */
    PF_SPE_VIRTUAL,         /* of the data */
    PF_SPE_PHYSICAL,        /* of the data */
    PF_SPE_PREVIOUS_TARGET, /* of the branch taken before */
    PF_SPE_ADDRESS,         /* of another kind: detail is its number */
    PF_SPE_LATENCY,         /* a counter: detail is 0 total, 1 issue, 2 translation, or another number */
    PF_SPE_CONTEXT,         /* detail 1 or 2 says which exception level's */
    PF_SPE_EVENTS,
    PF_SPE_DATA_SOURCE,
    PF_SPE_OTHER, /* operations: detail is the number of the class */
    PF_SPE_SVE_OTHER,
    PF_SPE_SME_OTHER,
    PF_SPE_LOAD,
    PF_SPE_STORE,
    PF_SPE_BRANCH,
    PF_SPE_OPERATION,
    PF_SPE_KINDS
};

#endif
