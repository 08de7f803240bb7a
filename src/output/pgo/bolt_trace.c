/* SPDX-License-Identifier: MIT */
/*
 * BOLT of LLVM 21 and later: a branch and the code after it in one line, without mispredictions, which needs no
 * symbols.
 *
 *     T from to end count    0 is outside; end 0: it is not known where the code after the branch ended
 *     f begin end count      of a branch of which only the target is known: the code after it
 *     E event                of addresses of samples alone
 *     S address count
 */
#include "output/pgo/pgo.h"

static uint64_t number_of(uint64_t address)
{
    return address < PF_PGO_UNKNOWN ? address : 0;
}

static void put_numbers(struct pf_text *out, const uint64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        pf_put_char(out, ' ');
        pf_put_hex(out, number_of(numbers[i]));
    }
}

/* Where it is not known from where the branch came, only the code after it is. */
static void put_traces(struct pf_text *out, const struct pf_pgo_profile *profile)
{
    for (size_t i = 0; i < profile->trace_count; i++) {
        const struct pf_pgo_trace *trace = &profile->traces[i];
        const uint64_t numbers[3] = {trace->from, trace->to, trace->end};
        const bool is_branch = trace->from != PF_PGO_UNKNOWN;
        if (!is_branch && trace->end == PERFILE_PGO_OUTSIDE)
            continue;
        pf_put_char(out, is_branch ? 'T' : 'f');
        put_numbers(out, numbers + !is_branch, is_branch ? 3 : 2);
        pf_put_char(out, ' ');
        pf_put_unsigned(out, trace->count);
        pf_put_char(out, '\n');
    }
}

static void put_addresses(struct pf_text *out, const struct pf_pgo_profile *profile)
{
    pf_put_format(out, "E %s\n", profile->event);
    for (size_t i = 0; i < profile->address_count; i++) {
        pf_put_string(out, "S ");
        pf_put_hex(out, profile->addresses[i].address);
        pf_put_char(out, ' ');
        pf_put_unsigned(out, profile->addresses[i].count);
        pf_put_char(out, '\n');
    }
}

static int write_bolt_trace(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error)
{
    (void)error;
    if (writing->profile->has_branches)
        put_traces(out, writing->profile);
    else
        put_addresses(out, writing->profile);
    return 0;
}

const struct pf_pgo_format pf_pgo_format_bolt_trace = {
    .info = {"bolt-trace", "the same for perf2bolt of LLVM 21 and later, without symbols and mispredictions",
             .is_weak = true},
    .write = write_bolt_trace,
};
