/* SPDX-License-Identifier: MIT */
/* The flow of the program as Intel PT has it. */
#ifndef PF_HWTRACE_INTEL_PT_FLOW_H
#define PF_HWTRACE_INTEL_PT_FLOW_H

#include "hwtrace/decoder.h"
#include "hwtrace/flow.h"
#include "hwtrace/intel_pt.h"

struct pf_pt_clock {
    uint64_t now;       /* the time-stamp counter, as far as it is known */
    uint64_t reference; /* a value of it about then, of all its bits */
    uint64_t tsc;       /* of the last packet */
    bool has_tma;
    uint64_t counter_base; /* the time of which `ticks` of the slower counter are counted */
    uint64_t ticks;
    uint8_t last_mtc;
    unsigned mtc_shift;
    uint64_t numerator, denominator; /* of its ticks, 0: not known */
    unsigned ratio, max_ratio;       /* of the processor's cycles to those of the bus: now, and that of the counter */
    uint64_t cycles, cycles_since, cycles_from;
    bool has_cycles;
    bool went_back; /* by so much that it matters what the time was before */
};

unsigned pf_pt_max_ratio(const struct pf_aux_recording *recording);
void pf_pt_clock_open(struct pf_pt_clock *clock, const struct pf_aux_recording *recording);
/* Whether all times after the guess are those after the clock, if none of them is earlier than the clock is now. */
bool pf_pt_clock_may_be(const struct pf_pt_clock *clock, const struct pf_pt_clock *guess);
void pf_pt_clock_tsc(struct pf_pt_clock *clock, uint64_t payload);
void pf_pt_clock_tma(struct pf_pt_clock *clock, uint64_t counter, unsigned fast);
void pf_pt_clock_mtc(struct pf_pt_clock *clock, uint64_t payload);
void pf_pt_clock_cyc(struct pf_pt_clock *clock, uint64_t payload);

#endif
