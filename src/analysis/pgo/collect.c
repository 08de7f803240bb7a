/* SPDX-License-Identifier: MIT */
/* Reads recordings: counts branches, where the code after them ended, and the addresses of samples. */
#include "analysis/delivery.h"
#include "analysis/pgo/parts.h"
#include "base/error.h"

struct collecting {
    struct perfile_pgo *pgo;
    const struct perfile_event *event; /* of the last sample, and what its branch stacks are */
    uint64_t event_number;
    bool has_calls;     /* call stacks, which are not branches that were taken */
    bool has_all_kinds; /* what lies between two branches ran without another one */
    bool failed;        /* out of memory, or the limit was reached */
};

/* The number of an event's name. */
static bool number_of(struct perfile_pgo *pgo, const char *name, uint64_t *number)
{
    for (*number = 0; *number < pgo->event_count; ++*number)
        if (strcmp(pgo->events[*number], name) == 0)
            return true;
    const char *copy = pf_arena_text(&pgo->texts, name, strlen(name));
    return copy && PF_APPEND(&pgo->watch.allocator, pgo->events, pgo->event_count, pgo->event_capacity, copy);
}

static void set_event(struct collecting *c, const struct perfile_event *event)
{
    const uint64_t kinds = event ? event->attr->branch_sample_type : 0;
    c->event = event;
    c->has_calls = kinds & PERFILE_SAMPLE_BRANCH_CALL_STACK;
    c->has_all_kinds = kinds & PERFILE_SAMPLE_BRANCH_ANY;
    c->failed |= !number_of(c->pgo, event ? event->name : "", &c->event_number);
}

/* A sample counts once for each binary that it hits. */
static void hit(struct perfile_pgo *pgo, uint64_t location, bool *used)
{
    const struct pf_pgo_part *part = pf_pgo_part_of(&pgo->modules, location);
    if (!part)
        return;
    struct pf_pgo_module *module = &pgo->modules.modules[part->module];
    module->samples += module->last_sample != pgo->totals.samples;
    module->last_sample = pgo->totals.samples;
    *used = true;
}

/* Bits of the flags of a branch, which are in the opposite order in recordings of big-endian machines. */
static inline unsigned flag_bits(uint64_t flags, bool big, unsigned first, unsigned width)
{
    return (unsigned)(flags >> (big ? 64 - first - width : first)) & ((1u << width) - 1);
}

static void count_branch(struct collecting *c, const uint64_t location[3], uint64_t flags, bool big)
{
    struct pf_tally_row *row = pf_tally_row(&c->pgo->traces, location[0], location[1], location[2]);
    if (PF_UNLIKELY(!row)) {
        c->failed = true;
        return;
    }
    row->count++;
    row->mispredicted += flag_bits(flags, big, 0, 1);
    row->type = flag_bits(flags, big, 20, 4) & 15;
}

/*
 * Arm SPE records where the branch before the sampled one went, as an entry without a source: that is not a branch, but
 * the code after it ran. An entry without anything is an empty one.
 */
static uint64_t locate_source(struct perfile_pgo *pgo, uint64_t from, uint64_t to)
{
    return from ? pf_pgo_locate(&pgo->modules, from) : to ? PF_LOCATION_UNKNOWN : 0;
}

/*
 * The newest branch comes first: the code after a branch ended at the branch before it in the list. What the processor
 * ran ahead and took back did not happen.
 */
static void take_branches(struct collecting *c, const struct perfile_branch_stack *stack, bool *used)
{
    struct perfile_pgo *pgo = c->pgo;
    uint64_t newer = 0;
    for (uint64_t i = 0; i < stack->count; i++) {
        const uint64_t flags = perfile_u64_at(&stack->entries, i * 3 + 2);
        if (PF_UNLIKELY(flag_bits(flags, stack->big_endian, 24, 2) == PERFILE_BR_SPEC_WRONG_PATH)) {
            pgo->totals.branches_wrong_path++;
            continue;
        }
        const uint64_t target = perfile_u64_at(&stack->entries, i * 3 + 1);
        const uint64_t from = locate_source(pgo, perfile_u64_at(&stack->entries, i * 3), target);
        const uint64_t to = pf_pgo_locate(&pgo->modules, target);
        const uint64_t trace[3] = {from, to, to && c->has_all_kinds ? newer : 0};
        newer = from == PF_LOCATION_UNKNOWN ? 0 : from;
        if (!to && !newer)
            continue;
        hit(pgo, from, used);
        hit(pgo, to, used);
        count_branch(c, trace, flags, stack->big_endian);
    }
}

static void take_address(struct collecting *c, uint64_t ip, bool *used)
{
    const uint64_t location = pf_pgo_locate(&c->pgo->modules, ip);
    if (!location)
        return;
    struct pf_tally_row *row = pf_tally_row(&c->pgo->addresses, location, c->event_number, 0);
    hit(c->pgo, location, used);
    if (row)
        row->count++;
    else
        c->failed = true;
}

static void take_sample(struct collecting *c, const struct pf_delivered *item)
{
    struct perfile_pgo *pgo = c->pgo;
    const struct perfile_sample *sample = &item->sample;
    const struct perfile_branch_stack *stack = &sample->branch_stack;
    const bool has_branches = sample->present & PERFILE_SAMPLE_BRANCH_STACK && stack->count;
    const unsigned mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    bool used = false;
    pgo->totals.samples++;
    if (PF_UNLIKELY(item->event != c->event || !c->event))
        set_event(c, item->event);
    pf_pgo_set_space(&pgo->modules, pgo->options.kernel ? item->kernel_space : item->user_space);
    pgo->totals.samples_without_branches += !has_branches;
    if (has_branches && c->has_calls)
        pgo->totals.samples_of_calls++;
    else if (has_branches)
        take_branches(c, stack, &used);
    pgo->totals.samples_filtered += has_branches && !c->has_calls && !c->has_all_kinds;
    if (mode == PERFILE_MISC_USER || mode == PERFILE_MISC_KERNEL)
        take_address(c, sample->ip, &used);
    pgo->totals.samples_used += used;
}

/* A sample of several counters comes once for each. */
static int take_samples(struct collecting *c, struct pf_delivery *delivery, struct perfile_error *error)
{
    struct pf_delivered item = {.sample.size = sizeof(item.sample)};
    int result;
    while ((result = pf_delivery_next(delivery, &item, error)) > 0 && !c->failed)
        if (item.is_sample && !item.again)
            take_sample(c, &item);
    if (result < 0 || !c->failed)
        return result;
    return pf_memory_was_short(&c->pgo->watch.allocator)
               ? pf_fail_memory(error, "profile")
               : pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "profile",
                         "more than %zu distinct branches and addresses (max_traces)", c->pgo->traces.max_rows);
}

int pf_pgo_collect(struct perfile_pgo *pgo, struct perfile_reader *reader, struct perfile_error *error)
{
    struct collecting c = {.pgo = pgo};
    struct pf_delivery *delivery;
    const struct pf_delivery_options how = {.allocator = &pgo->watch.allocator,
                                            .filter = pgo->options.filter,
                                            .follows_maps = true,
                                            .never_waits = true,
                                            .progress = pgo->options.progress,
                                            .progress_context = pgo->options.progress_context};
    int result = pf_delivery_open(reader, &how, &delivery, error);
    if (result < 0)
        return result;
    pf_pgo_modules_discard_maps(&pgo->modules);
    result = take_samples(&c, delivery, error);
    if (result == 0 && pgo->options.unmatched)
        pf_delivery_notify_unmatched(delivery, pgo->options.unmatched, pgo->options.unmatched_context);
    pgo->left_out += pf_delivery_filtered(delivery);
    pf_delivery_close(delivery);
    return result;
}
