/* SPDX-License-Identifier: MIT */
/* <perfile/pgo.h>: writing profiles for optimisers. */
#include "output/pgo/pgo.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/sized.h"

#define PGO_FORMAT(name) extern const struct pf_pgo_format pf_pgo_format_##name;
#include "output/pgo/formats.def"
#undef PGO_FORMAT

static const struct pf_pgo_format *const formats[] = {
#define PGO_FORMAT(name) &pf_pgo_format_##name,
#include "output/pgo/formats.def"
#undef PGO_FORMAT
};

const struct perfile_pgo_format *perfile_pgo_format_at(size_t index)
{
    return index < PF_COUNT(formats) ? &formats[index]->info : NULL;
}

static const struct pf_pgo_format *find(const char *name)
{
    for (size_t i = 0; i < PF_COUNT(formats) && name; i++)
        if (strcmp(formats[i]->info.name, name) == 0)
            return formats[i];
    return NULL;
}

static int fail_unknown(const char *name, struct perfile_error *error)
{
    char known[128] = "";
    for (size_t i = 0; i < PF_COUNT(formats); i++) {
        strncat(known, i ? ", " : "", sizeof(known) - strlen(known) - 1);
        strncat(known, formats[i]->info.name, sizeof(known) - strlen(known) - 1);
    }
    name = name ? name : "";
    return pf_about(error, name, strlen(name),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profile",
                            "unknown format '%s'; valid: %s", name, known));
}

/* ---- why there is nothing ---------------------------------------------------------------------------------------- */

static int fail_empty(const char *name, const char *why, struct perfile_error *error)
{
    return pf_about(error, name, strlen(name),
                    pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "profile", "empty because %s", why));
}

/* Why a recording without branches of the binary has none. */
static const char *why_no_branches(const struct perfile_pgo_counts *counts)
{
    if (counts->samples_of_calls)
        return "the branch stacks are call stacks, not branches that were taken";
    return counts->samples_without_branches == counts->samples
               ? "no sample has a branch stack; bolt and autofdo also take addresses alone"
               : "no branch stack has a branch of the binary";
}

/* Why a format has left out all. */
static const char *why_nothing_left(const struct perfile_pgo_counts *counts)
{
    const struct {
        uint64_t count;
        const char *why;
    } reasons[] = {
        {counts->branches_no_code + counts->ranges_no_code,
         "no branch starts or ends at an instruction of the binary: it is another build"},
        {counts->samples_without_callers, "no sample has a callchain"},
        {counts->samples_between_frames, "all samples are where functions begin or end, and callers are not known"},
        {counts->functions_unnamed, "the functions that ran have no debug info"},
        {counts->ranges_jumps, "all ranges cross a jump: it is another build"},
        {counts->samples_filtered, "only some kinds of branches were recorded"},
        {counts->branches, "there are no ranges between branches"},
    };
    for (size_t i = 0; i < PF_COUNT(reasons); i++)
        if (reasons[i].count)
            return reasons[i].why;
    return "no sample is in the code of the binary";
}

/* ---- for formats ------------------------------------------------------------------------------------------------- */

void pf_pgo_put_line(struct pf_text *out, uint64_t from, const char *arrow, uint64_t to, uint64_t count)
{
    pf_put_hex(out, from);
    pf_put_string(out, arrow);
    pf_put_hex(out, to);
    pf_put_char(out, ':');
    pf_put_unsigned(out, count);
    pf_put_char(out, '\n');
}

uint64_t pf_pgo_profgen_base(const struct pf_pgo_profile *profile)
{
    enum { PAGE_BYTES = 4096 };
    uint64_t base = UINT64_MAX;
    for (size_t i = 0; i < profile->segment_count; i++)
        if (profile->segments[i].executable)
            base = pf_min_u64(base, profile->segments[i].address);
    return base & ~(uint64_t)(PAGE_BYTES - 1);
}

/* Ranges and addresses ascend, and so do functions. Aliases count once. */
void pf_pgo_count_functions(const struct pf_pgo_writing *writing, const struct pf_pgo_code *code)
{
    const struct pf_pgo_profile *profile = writing->profile;
    struct perfile_pgo_counts *counts = writing->counts;
    size_t count, range = 0, address = 0;
    const struct pf_pgo_function *functions = pf_pgo_functions(code, &count);
    counts->functions = counts->functions_reached = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pf_pgo_function *function = &functions[i];
        if (i + 1 < count && functions[i + 1].start == function->start)
            continue;
        while (range < profile->range_count && profile->ranges[range].begin < function->start)
            range++;
        while (address < profile->address_count && profile->addresses[address].address < function->start)
            address++;
        counts->functions++;
        counts->functions_reached +=
            (range < profile->range_count && profile->ranges[range].begin < function->end) ||
            (address < profile->address_count && profile->addresses[address].address < function->end);
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The caller has the counts of a format that wrote something, and of one that did not. */
static int write_to(const struct pf_pgo_format *format, struct pf_pgo_writing *writing, const struct perfile_sink *sink,
                    struct perfile_error *error)
{
    struct pf_text text;
    if (pf_text_open(&text, writing->allocator, sink->write, sink->context) < 0)
        return pf_fail_memory(error, "profile");
    int result = format->write(writing, &text, error);
    const bool written = result != 0 || pf_text_flush(&text) == 0;
    if (pf_memory_was_short(writing->allocator))
        result = pf_fail_memory(error, "profile");
    else if (!written)
        result = pf_fail(error, text.failed, PERFILE_NO_OFFSET, "profile",
                         text.failed == PERFILE_ERROR_MEMORY ? "out of memory" : "the sink failed");
    pf_text_close(&text);
    return result > 0 ? fail_empty(writing->profile->name, why_nothing_left(writing->counts), error) : result;
}

static int check_profile(const struct pf_pgo_format *format, const struct pf_pgo_profile *profile,
                         struct perfile_error *error)
{
    if (format->info.needs_contexts && !profile->contexts)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profile",
                       "%s needs contexts, which were not counted", format->info.name);
    if (!profile->path)
        return fail_empty(profile->name, "the binary was not found", error);
    if (!profile->has_branches && (!format->info.is_weak || profile->counts.samples_of_calls))
        return fail_empty(profile->name, why_no_branches(&profile->counts), error);
    return !profile->branch_count && !profile->address_count
               ? fail_empty(profile->name, "no sample is in the code of the binary", error)
               : 0;
}

int perfile_pgo_write(const struct perfile_pgo *pgo, size_t binary, const struct perfile_pgo_write_options *options,
                      const struct perfile_sink *sink, struct perfile_error *error)
{
    struct perfile_pgo_write_options all = PERFILE_PGO_WRITE_OPTIONS_INIT;
    int result = pf_sized_take(&all, sizeof(all), options, "pgo write options", error);
    if (result == 0 && all.counts)
        result = pf_sized_check(all.counts, "pgo counts", error);
    if (result < 0)
        return result;
    const struct pf_pgo_format *format = find(all.format);
    if (!format)
        return fail_unknown(all.format, error);
    struct perfile_pgo_counts counts = PERFILE_PGO_COUNTS_INIT;
    if (!sink || !sink->write || perfile_pgo_counts_get(pgo, binary, &counts) < 0)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profile", "no sink, or no such binary");
    struct pf_pgo_profile profile = *pf_pgo_profile_at(pgo, binary);
    profile.counts = counts;
    struct pf_pgo_writing writing = {
        .pgo = pgo, .profile = &profile, .options = &all, .allocator = pf_pgo_allocator(pgo), .counts = &counts};
    result = check_profile(format, &profile, error);
    if (result == 0)
        result = write_to(format, &writing, sink, error);
    if (all.counts && pf_sized_give(all.counts, &counts, sizeof(counts)) < 0)
        return PERFILE_ERROR_ARGUMENT;
    return result;
}
