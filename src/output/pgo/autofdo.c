/* SPDX-License-Identifier: MIT */
/*
 * The text of AutoFDO, for create_gcov and create_llvm_prof with -profiler text: three blocks, each after the number of
 * its lines. Addresses count from the first segment.
 *
 *     begin-end:count    code that ran
 *     address:count      samples
 *     from->to:count     branches
 */
#include "output/pgo/pgo.h"

static uint64_t base_of(const struct pf_pgo_profile *profile)
{
    uint64_t base = UINT64_MAX;
    for (size_t i = 0; i < profile->segment_count; i++)
        base = pf_min_u64(base, profile->segments[i].address);
    return base;
}

static void put_ranges(struct pf_text *out, const struct pf_pgo_profile *profile, uint64_t base)
{
    pf_put_format(out, "%zu\n", profile->range_count);
    for (size_t i = 0; i < profile->range_count; i++)
        pf_pgo_put_line(out, profile->ranges[i].begin - base, "-", profile->ranges[i].end - base,
                        profile->ranges[i].count);
}

static void put_addresses(struct pf_text *out, const struct pf_pgo_profile *profile, uint64_t base)
{
    pf_put_format(out, "%zu\n", profile->address_count);
    for (size_t i = 0; i < profile->address_count; i++) {
        pf_put_hex(out, profile->addresses[i].address - base);
        pf_put_char(out, ':');
        pf_put_unsigned(out, profile->addresses[i].count);
        pf_put_char(out, '\n');
    }
}

static bool is_inside(const struct pf_pgo_branch *branch)
{
    return branch->from != PERFILE_PGO_OUTSIDE && branch->to != PERFILE_PGO_OUTSIDE;
}

static void put_branches(struct pf_text *out, const struct pf_pgo_profile *profile, uint64_t base)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->branch_count; i++)
        count += is_inside(&profile->branches[i]);
    pf_put_format(out, "%zu\n", count);
    for (size_t i = 0; i < profile->branch_count; i++)
        if (is_inside(&profile->branches[i]))
            pf_pgo_put_line(out, profile->branches[i].from - base, "->", profile->branches[i].to - base,
                            profile->branches[i].count);
}

static int write_autofdo(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error)
{
    const struct pf_pgo_profile *profile = writing->profile;
    const uint64_t base = base_of(profile);
    (void)error;
    put_ranges(out, profile, base);
    put_addresses(out, profile, base);
    put_branches(out, profile, base);
    return 0;
}

const struct pf_pgo_format pf_pgo_format_autofdo = {
    .info = {"autofdo", "text for create_gcov and create_llvm_prof of AutoFDO, its profiler text", .is_weak = true},
    .write = write_autofdo,
};
