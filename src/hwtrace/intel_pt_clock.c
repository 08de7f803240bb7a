/* SPDX-License-Identifier: MIT */
/*
 * Time in Intel PT: TSC packets have the counter itself. Between them MTC packets have some bits of a slower one, whose
 * relation to it a TMA packet states, and CYC packets count the processor's own cycles.
 */
#include "hwtrace/intel_pt_flow.h"

/* The words of AUXTRACE_INFO that say something about time. */
enum {
    PRIV_MTC_FREQ_BITS = 11,
    PRIV_TSC_CTC_NUMERATOR = 12,
    PRIV_TSC_CTC_DENOMINATOR = 13,
    PRIV_MAX_NONTURBO_RATIO = 15,
};

enum { TSC_BITS = 56 };

static uint64_t priv_at(const struct pf_aux_recording *recording, size_t index)
{
    return index < recording->priv_count ? recording->priv[index] : 0;
}

unsigned pf_pt_max_ratio(const struct pf_aux_recording *recording)
{
    return (unsigned)priv_at(recording, PRIV_MAX_NONTURBO_RATIO) & 0xff;
}

void pf_pt_clock_open(struct pf_pt_clock *clock, const struct pf_aux_recording *recording)
{
    const uint64_t bits = priv_at(recording, PRIV_MTC_FREQ_BITS);
    const bool counts = priv_at(recording, PRIV_TSC_CTC_DENOMINATOR) && priv_at(recording, PRIV_TSC_CTC_NUMERATOR);
    *clock = (struct pf_pt_clock){
        .mtc_shift = bits ? (unsigned)((recording->config & bits) >> __builtin_ctzll(bits)) & 15 : 0,
        .numerator = counts ? priv_at(recording, PRIV_TSC_CTC_NUMERATOR) & UINT32_MAX : 0,
        .denominator = counts ? priv_at(recording, PRIV_TSC_CTC_DENOMINATOR) & UINT32_MAX : 1,
        .max_ratio = pf_pt_max_ratio(recording),
    };
    clock->denominator += !clock->denominator;
}

/* Times do not go back, but cycles are counted from the exact one. */
static void advance(struct pf_pt_clock *clock, uint64_t now)
{
    clock->now = pf_max(clock->now, now);
    clock->cycles_since = 0;
    clock->cycles_from = now;
}

static uint64_t of_counter(const struct pf_pt_clock *clock, uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * clock->numerator / clock->denominator);
}

bool pf_pt_clock_may_be(const struct pf_pt_clock *clock, const struct pf_pt_clock *guess)
{
    const bool has_time =
        guess->now && clock->now >= guess->now && clock->now - guess->now < (uint64_t)1 << (TSC_BITS - 2);
    return (has_time || clock->now == guess->now) && clock->reference == guess->reference && clock->tsc == guess->tsc &&
           clock->has_tma == guess->has_tma && clock->ratio == guess->ratio &&
           (!clock->has_tma || (clock->counter_base == guess->counter_base && clock->ticks == guess->ticks &&
                                clock->last_mtc == guess->last_mtc)) &&
           clock->cycles_since == guess->cycles_since && clock->cycles_from == guess->cycles_from;
}

void pf_pt_clock_tsc(struct pf_pt_clock *clock, uint64_t payload)
{
    clock->tsc = payload | clock->reference >> TSC_BITS << TSC_BITS;
    clock->has_tma = false;
    clock->went_back |= clock->tsc < clock->now && clock->now - clock->tsc > (uint64_t)1 << (TSC_BITS - 3);
    if (clock->tsc < clock->now && clock->now - clock->tsc > (uint64_t)1 << (TSC_BITS - 1))
        clock->tsc += (uint64_t)1 << TSC_BITS; /* the packet's bits began again */
    advance(clock, clock->tsc);
}

void pf_pt_clock_tma(struct pf_pt_clock *clock, uint64_t counter, unsigned fast)
{
    const uint64_t rest = counter & (((uint64_t)1 << clock->mtc_shift) - 1);
    if (!clock->numerator)
        return;
    clock->counter_base = clock->tsc - fast - of_counter(clock, rest);
    clock->last_mtc = (uint8_t)(counter >> clock->mtc_shift);
    clock->ticks = 0;
    clock->has_tma = true;
}

void pf_pt_clock_mtc(struct pf_pt_clock *clock, uint64_t payload)
{
    if (!clock->has_tma)
        return;
    clock->ticks += (uint64_t)(uint8_t)(payload - clock->last_mtc) << clock->mtc_shift;
    clock->last_mtc = (uint8_t)payload;
    advance(clock, clock->counter_base + of_counter(clock, clock->ticks));
}

void pf_pt_clock_cyc(struct pf_pt_clock *clock, uint64_t payload)
{
    clock->cycles += payload;
    clock->has_cycles = true;
    clock->cycles_since += payload;
    if (clock->ratio && clock->max_ratio && clock->cycles_since < UINT32_MAX)
        clock->now = pf_max(clock->now, clock->cycles_from + clock->cycles_since * clock->max_ratio / clock->ratio);
}
