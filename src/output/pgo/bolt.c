/* SPDX-License-Identifier: MIT */
/*
 * BOLT. Branches as its pre-aggregated profile, for perf2bolt -pa of LLVM 15 and later:
 *
 *     B from to count mispredicted    a branch; 0 is outside
 *     F begin end count               code that ran after a branch from the same function
 *     f begin end count               the same after a call, a return, or from outside
 *
 * Addresses of samples alone as its own format, for llvm-bolt -data:
 *
 *     no_lbr event:
 *     1 function offset count
 *
 * Addresses are hexadecimal without 0x, and each line ends with a newline; comments are refused by its reader.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "output/pgo/pgo.h"

/* ---- branches ---------------------------------------------------------------------------------------------------- */

struct fall_through {
    struct pf_pgo_range range;
    bool from_elsewhere;
};

static int compare(const void *a, const void *b)
{
    const struct fall_through *x = a, *y = b;
    if (x->from_elsewhere != y->from_elsewhere)
        return x->from_elsewhere ? 1 : -1;
    if (x->range.begin != y->range.begin)
        return x->range.begin > y->range.begin ? 1 : -1;
    return (x->range.end > y->range.end) - (x->range.end < y->range.end);
}

/* Sorted, those of the same addresses and kind as one. */
static size_t join(struct fall_through *list, size_t count)
{
    size_t kept = 0;
    qsort(list, count, sizeof(*list), compare);
    for (size_t i = 0; i < count; i++)
        if (kept && compare(&list[kept - 1], &list[i]) == 0)
            pf_add_to_sum(&list[kept - 1].range.count, list[i].range.count);
        else
            list[kept++] = list[i];
    return kept;
}

/* What is after a function without a size, such as a procedure linkage table, belongs to it here. */
static uint64_t start_of_function(const struct pf_pgo_code *code, uint64_t address)
{
    const struct pf_pgo_function *function = pf_pgo_function_before(code, address);
    return function && (!function->has_size || address < function->end) ? function->start : PERFILE_PGO_OUTSIDE;
}

/* As many as the profile has traces at most; `list` has that capacity. */
static size_t take_fall_throughs(const struct pf_pgo_profile *profile, const struct pf_pgo_code *code,
                                 struct fall_through *list)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->trace_count; i++) {
        const struct pf_pgo_trace *trace = &profile->traces[i];
        if (trace->end == PERFILE_PGO_OUTSIDE)
            continue;
        const uint64_t begin = start_of_function(code, trace->to);
        const bool same = trace->from < PF_PGO_UNKNOWN && begin != PERFILE_PGO_OUTSIDE &&
                          begin == start_of_function(code, trace->from);
        list[count++] = (struct fall_through){{trace->to, trace->end, trace->count}, !same};
    }
    return count ? join(list, count) : 0;
}

static void put_address(struct pf_text *out, uint64_t address)
{
    pf_put_char(out, ' ');
    pf_put_hex(out, address == PERFILE_PGO_OUTSIDE ? 0 : address);
}

static void put_count(struct pf_text *out, uint64_t count)
{
    pf_put_char(out, ' ');
    pf_put_unsigned(out, count);
}

static void put_branches(struct pf_text *out, const struct pf_pgo_profile *profile)
{
    for (size_t i = 0; i < profile->branch_count; i++) {
        const struct pf_pgo_branch *branch = &profile->branches[i];
        pf_put_char(out, 'B');
        put_address(out, branch->from);
        put_address(out, branch->to);
        put_count(out, branch->count);
        put_count(out, branch->mispredicted);
        pf_put_char(out, '\n');
    }
}

static void put_fall_throughs(struct pf_text *out, const struct fall_through *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pf_put_char(out, list[i].from_elsewhere ? 'f' : 'F');
        put_address(out, list[i].range.begin);
        put_address(out, list[i].range.end);
        put_count(out, list[i].range.count);
        pf_put_char(out, '\n');
    }
}

static int write_branches(const struct pf_pgo_writing *writing, const struct pf_pgo_code *code, struct pf_text *out,
                          struct perfile_error *error)
{
    const struct pf_pgo_profile *profile = writing->profile;
    const size_t bytes = profile->trace_count * sizeof(struct fall_through);
    struct fall_through *list = pf_new(writing->allocator, bytes);
    if (!list)
        return pf_fail_memory(error, "profile");
    put_branches(out, profile);
    put_fall_throughs(out, list, take_fall_throughs(profile, code, list));
    pf_free(writing->allocator, list, bytes);
    return 0;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* Blanks are escaped. */
static void put_name(struct pf_text *out, const char *name, size_t bytes)
{
    for (const char *c = name; c < name + bytes; c++) {
        if (*c == ' ' || *c == '\\')
            pf_put_char(out, '\\');
        pf_put_char(out, *c);
    }
}

struct named {
    const char *name;
    size_t bytes;    /* of it */
    uint32_t number; /* of a local function; 0: none */
    bool is_stub;    /* an entry of a procedure linkage table */
    uint64_t start;
};

/* Finds the function at an address. Returns false where it is in no function. */
static bool find_function(const struct pf_pgo_code *code, uint64_t address, struct named *named)
{
    const struct pf_pgo_function *function = pf_pgo_function_at(code, address);
    *named = (struct named){.is_stub = !function};
    if (function) {
        named->name = function->name;
        named->start = function->start;
        named->number = function->is_local ? function->number : 0;
    } else {
        named->name = pf_pgo_stub_at(code, address, &named->start);
    }
    named->bytes = !named->name ? 0 : named->is_stub ? strcspn(named->name, "@") : strlen(named->name);
    return named->name;
}

/* As BOLT names it. */
static void put_function(struct pf_text *out, const struct named *named)
{
    put_name(out, named->name, named->bytes);
    if (named->is_stub)
        pf_put_string(out, "@PLT");
    if (named->number)
        pf_put_format(out, "/%u", named->number);
}

static int write_addresses(const struct pf_pgo_writing *writing, const struct pf_pgo_code *code, struct pf_text *out)
{
    const struct pf_pgo_profile *profile = writing->profile;
    struct named named;
    bool any = false;
    for (size_t i = 0; i < profile->address_count; i++) {
        if (!find_function(code, profile->addresses[i].address, &named))
            continue;
        if (!any)
            pf_put_format(out, "no_lbr %s:\n", profile->event);
        any = true;
        pf_put_string(out, "1 ");
        put_function(out, &named);
        put_address(out, profile->addresses[i].address - named.start);
        put_count(out, profile->addresses[i].count);
        pf_put_char(out, '\n');
    }
    return any ? 0 : 1;
}

static int write_bolt(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error)
{
    struct pf_pgo_code *code;
    int result = pf_pgo_code_open(writing->profile->path, writing->allocator, &code, error);
    if (result < 0)
        return result;
    pf_pgo_count_functions(writing, code);
    result = writing->profile->has_branches ? write_branches(writing, code, out, error)
                                            : write_addresses(writing, code, out);
    pf_pgo_code_close(code);
    return result;
}

const struct pf_pgo_format pf_pgo_format_bolt = {
    .info = {"bolt",
             "branches for perf2bolt of LLVM 15 and later, pre-aggregated; of addresses alone a profile for llvm-bolt",
             .is_weak = true},
    .write = write_bolt,
};
