/* SPDX-License-Identifier: MIT */
/*
 * The unsymbolized profile of llvm-profgen 19 and later (--unsymbolized-profile): two blocks, each after the number of
 * its lines. Addresses count from the page in which the first executable segment begins.
 *
 *     begin-end:count    code that ran
 *     from->to:count     branches; those from outside come from address 1
 *
 * Only what begins and ends at instructions counts, and no unconditional jump may lie within a range.
 */
#include <stdlib.h>

#include "base/error.h"
#include "output/pgo/pgo.h"

/* ---- what counts ------------------------------------------------------------------------------------------------- */

struct usable {
    struct pf_pgo_range *ranges;
    size_t range_count;
    struct pf_pgo_branch *branches;
    size_t branch_count;
};

static void take_ranges(struct usable *usable, const struct pf_pgo_writing *writing, const struct pf_pgo_code *code)
{
    const struct pf_pgo_profile *profile = writing->profile;
    for (size_t i = 0; i < profile->range_count; i++) {
        const struct pf_pgo_range *range = &profile->ranges[i];
        if (pf_pgo_range_is_usable(code, range, writing->counts))
            usable->ranges[usable->range_count++] = *range;
    }
}

static int compare(const void *a, const void *b)
{
    const struct pf_pgo_branch *x = a, *y = b;
    if (x->from != y->from)
        return x->from > y->from ? 1 : -1;
    return (x->to > y->to) - (x->to < y->to);
}

/* What does not come from an instruction comes from outside, all as one. */
static void take_branches(struct usable *usable, const struct pf_pgo_writing *writing, const struct pf_pgo_code *code,
                          uint64_t base)
{
    const struct pf_pgo_profile *profile = writing->profile;
    size_t count = 0;
    for (size_t i = 0; i < profile->branch_count; i++) {
        struct pf_pgo_branch branch = profile->branches[i];
        if (branch.to == PERFILE_PGO_OUTSIDE)
            continue;
        if (!pf_pgo_is_instruction(code, branch.to)) {
            pf_add_to_sum(&writing->counts->branches_no_code, branch.count);
            continue;
        }
        branch.from = (pf_pgo_is_instruction(code, branch.from) ? branch.from : 1) - base;
        branch.to -= base;
        usable->branches[count++] = branch;
    }
    if (count)
        qsort(usable->branches, count, sizeof(*usable->branches), compare);
    for (size_t i = 0; i < count; i++)
        if (usable->branch_count && compare(&usable->branches[usable->branch_count - 1], &usable->branches[i]) == 0)
            pf_add_to_sum(&usable->branches[usable->branch_count - 1].count, usable->branches[i].count);
        else
            usable->branches[usable->branch_count++] = usable->branches[i];
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_all(struct pf_text *out, const struct usable *usable, uint64_t base)
{
    pf_put_format(out, "%zu\n", usable->range_count);
    for (size_t i = 0; i < usable->range_count; i++)
        pf_pgo_put_line(out, usable->ranges[i].begin - base, "-", usable->ranges[i].end - base,
                        usable->ranges[i].count);
    pf_put_format(out, "%zu\n", usable->branch_count);
    for (size_t i = 0; i < usable->branch_count; i++)
        pf_pgo_put_line(out, usable->branches[i].from, "->", usable->branches[i].to, usable->branches[i].count);
}

static int write_usable(struct pf_pgo_writing *writing, const struct pf_pgo_code *code, struct pf_text *out,
                        struct perfile_error *error)
{
    const struct pf_pgo_profile *profile = writing->profile;
    const size_t range_bytes = (profile->range_count + 1) * sizeof(struct pf_pgo_range),
                 branch_bytes = (profile->branch_count + 1) * sizeof(struct pf_pgo_branch);
    const uint64_t base = pf_pgo_profgen_base(profile);
    struct usable usable = {.ranges = pf_new(writing->allocator, range_bytes),
                            .branches = pf_new(writing->allocator, branch_bytes)};
    int result = usable.ranges && usable.branches ? 0 : pf_fail_memory(error, "profile");
    if (result == 0) {
        take_ranges(&usable, writing, code);
        take_branches(&usable, writing, code, base);
        result = !usable.range_count;
    }
    if (result == 0)
        put_all(out, &usable, base);
    pf_free(writing->allocator, usable.ranges, range_bytes);
    pf_free(writing->allocator, usable.branches, branch_bytes);
    return result;
}

static int write_profgen(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error)
{
    struct pf_pgo_code *code;
    int result = pf_pgo_code_open(writing->profile->path, writing->allocator, &code, error);
    if (result < 0)
        return result;
    pf_pgo_count_functions(writing, code);
    result = pf_pgo_has_instructions(code)
                 ? write_usable(writing, code, out, error)
                 : pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "profile",
                           "profgen: the instructions of this machine are not known; use the format autofdo or bolt");
    pf_pgo_code_close(code);
    return result;
}

const struct pf_pgo_format pf_pgo_format_profgen = {
    .info = {"profgen", "ranges and branches for llvm-profgen of LLVM 19 and later, its unsymbolized profile"},
    .write = write_profgen,
};
