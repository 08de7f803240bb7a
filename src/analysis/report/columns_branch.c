/* SPDX-License-Identifier: MIT */
/* Reports of taken branches: each branch of a sample is one row's worth, and weighs 1. */
#include <inttypes.h>

#include "analysis/report/columns.h"
#include "base/bytes.h"
#include "base/error.h"

/* ---- from where to where ---- */

uint64_t pf_report_dso_of(struct pf_report *report, uint32_t frame)
{
    const struct pf_frame_info *info = pf_profile_frame(report->profile, frame);
    const struct pf_module *module = info ? pf_symbols_module(report->symbols, info->module) : NULL;
    const char *name = module ? module->short_name : "[unknown]";
    return pf_report_intern(report, name, strlen(name));
}

void pf_take_dso_from(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)sample;
    keyed->values[PF_VALUE_dso_from] = pf_report_dso_of(report, report->branching.from);
}

void pf_text_dso_from(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_interned(text, pf_report_value(report, row, PF_VALUE_dso_from));
}

void pf_take_dso_to(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)sample;
    keyed->values[PF_VALUE_dso_to] = pf_report_dso_of(report, report->branching.to);
}

void pf_text_dso_to(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_interned(text, pf_report_value(report, row, PF_VALUE_dso_to));
}

/* The mode is that of the code: a branch may lead from one to another. */
static void put_position(const struct pf_report *report, uint64_t frame, struct pf_text *text)
{
    const struct pf_frame_info *info = pf_profile_frame(report->profile, (uint32_t)frame);
    const struct pf_module *module = pf_symbols_module(report->symbols, info->module);
    pf_report_put_level(!module ? 'H' : module->kernel ? 'k' : '.', text);
    if (info->name)
        pf_report_put_name(info, text);
    else
        pf_report_put_address(info->address, text);
}

void pf_take_symbol_from(struct pf_report *report, struct pf_report_keyed *keyed,
                         const struct pf_profile_sample *sample)
{
    (void)sample;
    keyed->values[PF_VALUE_symbol_from] = pf_profile_frame(report->profile, report->branching.from)->function;
}

void pf_text_symbol_from(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    put_position(report, pf_report_value(report, row, PF_VALUE_symbol_from), text);
}

void pf_take_symbol_to(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)sample;
    keyed->values[PF_VALUE_symbol_to] = pf_profile_frame(report->profile, report->branching.to)->function;
}

void pf_text_symbol_to(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    put_position(report, pf_report_value(report, row, PF_VALUE_symbol_to), text);
}

/* ---- the very addresses ---- */

/* The mode is the sample's, as perf has it. */
static void put_address(const struct pf_report *report, const struct pf_report_row *row, uint64_t frame,
                        struct pf_text *text)
{
    const struct pf_frame_info *info = pf_profile_frame(report->profile, (uint32_t)frame);
    pf_report_put_level(row->level ? row->level : '.', text);
    if (!info->name)
        pf_report_put_address(info->address, text);
    else
        pf_put_string(text, info->name);
    if (info->name && info->address)
        pf_put_format(text, "+0x%" PRIx64, info->address);
}

#define OF_ADDRESS(end)                                                                                                \
    void pf_take_addr_##end(struct pf_report *report, struct pf_report_keyed *keyed,                                   \
                            const struct pf_profile_sample *sample)                                                    \
    {                                                                                                                  \
        (void)sample;                                                                                                  \
        keyed->values[PF_VALUE_addr_##end] = report->branching.end;                                                    \
    }                                                                                                                  \
    void pf_text_addr_##end(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)     \
    {                                                                                                                  \
        put_address(report, row, pf_report_value(report, row, PF_VALUE_addr_##end), text);                             \
    }                                                                                                                  \
    void pf_take_srcline_##end(struct pf_report *report, struct pf_report_keyed *keyed,                                \
                               const struct pf_profile_sample *sample)                                                 \
    {                                                                                                                  \
        (void)sample;                                                                                                  \
        keyed->values[PF_VALUE_srcline_##end] =                                                                        \
            pf_distinguish_srcline(report, pf_profile_frame(report->profile, report->branching.end));                  \
    }                                                                                                                  \
    void pf_text_srcline_##end(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)  \
    {                                                                                                                  \
        pf_put_interned(text, pf_report_value(report, row, PF_VALUE_srcline_##end));                                   \
    }
OF_ADDRESS(from)
OF_ADDRESS(to)

/* ---- flags ---- */

enum { PREDICTED, MISPREDICTED, NOT_KNOWN };

void pf_take_mispredict(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    const struct perfile_branch *branch = &report->branching.current;
    (void)sample;
    keyed->values[PF_VALUE_mispredict] = branch->predicted ? PREDICTED : branch->mispred ? MISPREDICTED : NOT_KNOWN;
}

void pf_text_mispredict(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    static const char *const words[] = {[PREDICTED] = "N", [MISPREDICTED] = "Y", [NOT_KNOWN] = "N/A"};
    pf_put_string(text, words[pf_report_value(report, row, PF_VALUE_mispredict)]);
}

void pf_take_in_tx(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)sample;
    keyed->values[PF_VALUE_in_tx] = report->branching.current.in_tx;
}

void pf_text_in_tx(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_char(text, pf_report_value(report, row, PF_VALUE_in_tx) ? 'T' : '.');
}

void pf_take_abort(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)sample;
    keyed->values[PF_VALUE_abort] = report->branching.current.abort;
}

void pf_text_abort(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_char(text, pf_report_value(report, row, PF_VALUE_abort) ? 'A' : '.');
}

void pf_take_cycles(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    (void)sample;
    keyed->values[PF_VALUE_cycles] = report->branching.current.cycles;
}

void pf_text_cycles(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const uint64_t cycles = pf_report_value(report, row, PF_VALUE_cycles);
    if (cycles)
        pf_put_unsigned(text, cycles);
    else
        pf_put_char(text, '-'); /* not recorded */
}

bool pf_report_is_branch_column(const struct pf_report_column *column)
{
    return column->needs == PF_COLUMN_NEEDS_BRANCHES;
}

/* ---- whether rows are of branches ---- */

static bool has_branch_feature(const struct pf_report *report)
{
    const struct perfile_feature *feature;
    for (size_t i = 0; (feature = perfile_feature_get(report->reader, i)) != NULL; i++)
        if (feature->number == PERFILE_FEATURE_BRANCH_STACK)
            return true;
    return false;
}

/* What the samples of all events have, together. */
static uint64_t sample_types(const struct pf_report *report)
{
    const struct perfile_event *event;
    uint64_t types = 0;
    for (size_t i = 0; (event = perfile_event_get(report->reader, i)) != NULL; i++)
        types |= event->attr->sample_type;
    return types;
}

/* Branches beside a dumped stack are there to unwind it, to perf, too. */
int pf_report_choose_branches(struct pf_report *report, struct perfile_error *error)
{
    const unsigned flags = report->options->report->flags;
    const uint64_t types = sample_types(report);
    report->branching.history = flags & PERFILE_REPORT_HISTORY;
    if (flags & (PERFILE_REPORT_BRANCHES | PERFILE_REPORT_HISTORY)) {
        if (perfile_event_count(report->reader) && !(types & PERFILE_SAMPLE_BRANCH_STACK))
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "branch-stack",
                           "the recording has no branches: no event was recorded with them");
        report->branching.active = !report->branching.history;
    } else if (!(flags & (PERFILE_REPORT_NO_BRANCHES | PERFILE_REPORT_MEMORY))) {
        report->branching.active =
            has_branch_feature(report) && types & PERFILE_SAMPLE_BRANCH_STACK && !(types & PERFILE_SAMPLE_STACK_USER);
    }
    return 0;
}

/* ---- statistics ---- */

enum { SMALL_PAGE_BITS = 12, LARGE_PAGE_BITS = 21 };

/* As perf has them, but each branch by its own type: perf takes that of the first one of its row. */
static void count_branch(struct pf_report_branches *counts, const struct perfile_branch *branch)
{
    const uint64_t across = branch->from ^ branch->to;
    if (branch->type == PERFILE_BR_UNKNOWN || !branch->from)
        return;
    counts->all++;
    if (branch->type == PERFILE_BR_EXTEND_ABI)
        counts->new_types[branch->new_type % PF_COUNT(counts->new_types)]++;
    else
        counts->types[branch->type % PF_COUNT(counts->types)]++;
    if (branch->type == PERFILE_BR_COND)
        counts->kinds[branch->to > branch->from ? PF_BRANCH_FORWARD : PF_BRANCH_BACKWARD]++;
    if (across >> LARGE_PAGE_BITS)
        counts->kinds[PF_BRANCH_ACROSS_LARGE]++;
    else if (across >> SMALL_PAGE_BITS)
        counts->kinds[PF_BRANCH_ACROSS_SMALL]++;
}

bool pf_report_branches_at(const struct pf_report *report, size_t index, const char **name, uint64_t *count)
{
    static const char *const kinds[PF_BRANCH_KINDS] = {[PF_BRANCH_FORWARD] = "COND_FWD",
                                                       [PF_BRANCH_BACKWARD] = "COND_BWD",
                                                       [PF_BRANCH_ACROSS_SMALL] = "CROSS_4K",
                                                       [PF_BRANCH_ACROSS_LARGE] = "CROSS_2M"};
    const struct pf_report_branches *counts = &report->branching.counts;
    const size_t first = PF_BRANCH_KINDS, second = first + PF_COUNT(counts->types);
    if (index < first) {
        *name = kinds[index];
        *count = counts->kinds[index];
    } else if (index < second) {
        *name = perfile_enum_name("branch_type", index - first);
        *count = counts->types[index - first];
    } else if (index - second < PF_COUNT(counts->new_types)) {
        *name = perfile_enum_name("branch_new_type", index - second);
        *count = counts->new_types[index - second];
    } else {
        return false;
    }
    *name = *name ? *name : "unknown";
    return true;
}

/* ---- samples ---- */

uint64_t pf_report_branch_count(const struct pf_profile_sample *sample)
{
    return sample->decoded->present & PERFILE_SAMPLE_BRANCH_STACK ? sample->decoded->branch_stack.count : 0;
}

bool pf_report_add_history(struct pf_report *report, struct pf_profile_sample *sample)
{
    struct pf_report_branching *branching = &report->branching;
    const uint64_t count = pf_report_branch_count(sample);
    size_t first = 0; /* of the callers, after the leaf and what was inlined into it */
    struct perfile_branch branch;
    while (first < sample->frame_count && sample->frames[first++] != sample->leaf)
        continue;
    const size_t callers = sample->frame_count - first;
    if (!count)
        return true;
    if (!pf_grow(report->allocator, &branching->frames, &branching->frame_capacity, 2 * (size_t)count + callers,
                 sizeof(*branching->frames)))
        return false;
    for (size_t i = 0; i < count; i++) {
        perfile_branch_at(&sample->decoded->branch_stack, i, &branch, sizeof(branch));
        branching->frames[2 * i] = pf_profile_frame_at(report->profile, branch.to);
        branching->frames[2 * i + 1] = pf_profile_frame_at(report->profile, branch.from);
        if (branching->frames[2 * i] == UINT32_MAX || branching->frames[2 * i + 1] == UINT32_MAX)
            return false;
    }
    if (callers)
        memcpy(branching->frames + 2 * count, sample->frames + first, callers * sizeof(*sample->frames));
    sample->frames = branching->frames;
    sample->frame_count = 2 * (size_t)count + callers;
    return true;
}

bool pf_report_add_branches(struct pf_report *report, const struct pf_profile_sample *sample,
                            bool (*add)(struct pf_report *report, const struct pf_profile_sample *sample))
{
    const struct perfile_branch_stack *stack = &sample->decoded->branch_stack;
    const uint64_t count = pf_report_branch_count(sample);
    for (uint64_t i = 0; i < count; i++) {
        perfile_branch_at(stack, i, &report->branching.current, sizeof(report->branching.current));
        count_branch(&report->branching.counts, &report->branching.current);
        report->branching.from = pf_profile_frame_at(report->profile, report->branching.current.from);
        report->branching.to = pf_profile_frame_at(report->profile, report->branching.current.to);
        if (report->branching.from == UINT32_MAX || report->branching.to == UINT32_MAX)
            return false;
        struct pf_profile_sample one = *sample;
        one.period = 1;
        one.leaf = report->branching.to;
        one.frames = &report->branching.to;
        one.frame_count = 1;
        if (!add(report, &one))
            return false;
    }
    return true;
}
