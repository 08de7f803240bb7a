/* SPDX-License-Identifier: MIT */
/*
 * BOLT of LLVM 21 and later: a branch and the code after it in one line, without mispredictions, which needs no symbols.
 *
 *     T from to end count    0 is outside; end 0: it is not known where the code after the branch ended
 *     E event                of addresses of samples alone
 *     S address count
 */
#include "output/pgo/pgo.h"

static uint64_t number_of(uint64_t address)
{
    return address == PERFILE_PGO_OUTSIDE ? 0 : address;
}

static void put_traces(struct pf_text *out, const struct pf_pgo_profile *profile)
{
    for (size_t i = 0; i < profile->trace_count; i++) {
        const struct pf_pgo_trace *trace = &profile->traces[i];
        const uint64_t numbers[3] = {number_of(trace->from), number_of(trace->to), number_of(trace->end)};
        pf_put_string(out, "T ");
        for (int k = 0; k < 3; k++) {
            pf_put_hex(out, numbers[k]);
            pf_put_char(out, ' ');
        }
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
