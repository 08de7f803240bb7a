/* SPDX-License-Identifier: MIT */
/* Reads recordings: counts branches, where the code after them ended, and the addresses of samples. */
#include "analysis/delivery.h"
#include "analysis/pgo/pgo_parts.h"
#include "base/error.h"
#include "hwtrace/flow.h"

/* The last branch of a thread, of which it is not known yet where the code after it ended. */
struct last_branch {
    uint64_t from, to; /* locations; zeros before the first branch */
    bool mispredicted;
};

struct collecting {
    struct perfile_pgo *pgo;
    const struct perfile_reader *reader;
    struct pf_map exec_times;          /* a process's number to when it executed its program */
    const struct perfile_event *event; /* of the last sample, and what its branch stacks are */
    uint64_t event_number;
    bool has_calls;        /* call stacks, which are not branches that were taken */
    bool has_all_kinds;    /* what lies between two branches ran without another one */
    bool is_branch;        /* each sample is a branch: from its address to its data address */
    bool any_single;       /* there was such a sample: branch stacks of other events would repeat them */
    bool failed;           /* out of memory, or the limit was reached */
    struct pf_map last_of; /* a thread's number to an index in `last` plus one */
    struct last_branch *last;
    size_t last_count, last_capacity;
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

/* Intel BTS, and the branches of a decoded trace: every branch is a sample. */
static bool has_single_branches(const struct perfile_attr *attr)
{
    return attr->type == PERFILE_TYPE_HARDWARE && attr->config == PERFILE_COUNT_HW_BRANCH_INSTRUCTIONS &&
           attr->sample_type & PERFILE_SAMPLE_ADDR && !attr->freq && attr->sample_period_or_freq == 1;
}

static void set_event(struct collecting *c, const struct perfile_event *event)
{
    const uint64_t kinds = event ? event->attr->branch_sample_type : 0;
    c->event = event;
    c->is_branch = event && has_single_branches(event->attr);
    c->has_calls = kinds & PERFILE_SAMPLE_BRANCH_CALL_STACK;
    c->has_all_kinds = kinds & PERFILE_SAMPLE_BRANCH_ANY || (c->is_branch && !kinds);
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

static void count_branch(struct collecting *c, const uint64_t location[3], bool mispredicted, unsigned type)
{
    struct pf_tally_row *row = pf_tally_row(&c->pgo->traces, location[0], location[1], location[2]);
    if (PF_UNLIKELY(!row)) {
        c->failed = true;
        return;
    }
    row->count++;
    row->mispredicted += mispredicted;
    row->type = type & 15;
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
        if (PF_UNLIKELY(pf_pgo_is_wrong_path(flags, stack->big_endian))) {
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
        count_branch(c, trace, flag_bits(flags, stack->big_endian, 0, 1), flag_bits(flags, stack->big_endian, 20, 4));
    }
}

/* ---- branches that come one at a time ---- */

/* NULL: out of memory. */
static struct last_branch *last_of(struct collecting *c, int32_t tid)
{
    const struct perfile_allocator *allocator = &c->pgo->watch.allocator;
    uint64_t number;
    if (pf_map_get(&c->last_of, (uint32_t)tid, &number))
        return &c->last[number - 1];
    if (!PF_APPEND(allocator, c->last, c->last_count, c->last_capacity, (struct last_branch){0}) ||
        !pf_map_put(&c->last_of, (uint32_t)tid, c->last_count))
        return NULL;
    return &c->last[c->last_count - 1];
}

static void finish_branch(struct collecting *c, const struct last_branch *last, uint64_t end)
{
    const uint64_t trace[3] = {last->from, last->to, last->to && c->has_all_kinds ? end : 0};
    if (last->to || (last->from && last->from != PF_LOCATION_UNKNOWN))
        count_branch(c, trace, last->mispredicted, 0);
}

/* The code after a branch ended at the next branch of the thread. Where a trace begins, its source is 0. */
static void take_single(struct collecting *c, const struct pf_delivered *item, bool *used)
{
    struct perfile_pgo *pgo = c->pgo;
    const struct perfile_sample *sample = &item->sample;
    struct last_branch *last = last_of(c, sample->tid);
    const uint64_t from = locate_source(pgo, sample->ip, sample->addr), to = pf_pgo_locate(&pgo->modules, sample->addr);
    c->any_single = true;
    if (!last) {
        c->failed = true;
        return;
    }
    finish_branch(c, last, from == PF_LOCATION_UNKNOWN ? 0 : from);
    *last = (struct last_branch){from, to, item->traced.flags & PF_FLOW_IS_MISPREDICTED};
    hit(pgo, from, used);
    hit(pgo, to, used);
}

static void finish_singles(struct collecting *c)
{
    for (size_t i = 0; i < c->last_count; i++)
        finish_branch(c, &c->last[i], 0);
}

static void close_singles(struct collecting *c)
{
    pf_map_close(&c->last_of);
    pf_free(&c->pgo->watch.allocator, c->last, c->last_capacity * sizeof(*c->last));
}

/* ---- samples ---- */

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

static void set_space(struct collecting *c, const struct pf_delivered *item)
{
    struct pf_pgo_modules *modules = &c->pgo->modules;
    uint64_t executed = 0;
    if (PF_UNLIKELY(c->exec_times.used))
        (void)pf_map_get(&c->exec_times, (uint32_t)item->sample.pid, &executed);
    if (c->pgo->options.kernel)
        pf_pgo_set_space(modules, item->kernel_space, 0);
    else
        pf_pgo_set_space(modules, item->user_space, executed);
}

static void take_stack(struct collecting *c, const struct pf_delivered *item, bool *used)
{
    struct perfile_pgo *pgo = c->pgo;
    if (pgo->options.contexts && c->has_all_kinds && !c->has_calls && !c->any_single)
        c->failed |= !pf_pgo_collect_contexts(pgo, item);
    pgo->totals.samples_of_calls += c->has_calls;
    pgo->totals.samples_filtered += !c->has_calls && !c->has_all_kinds;
    if (!c->has_calls && !c->any_single)
        take_branches(c, &item->sample.branch_stack, used);
}

static void take_sample(struct collecting *c, const struct pf_delivered *item)
{
    struct perfile_pgo *pgo = c->pgo;
    const struct perfile_sample *sample = &item->sample;
    const unsigned mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    bool used = false;
    pgo->totals.samples++;
    if (PF_UNLIKELY(item->event != c->event || !c->event))
        set_event(c, item->event);
    const bool has_stack = sample->present & PERFILE_SAMPLE_BRANCH_STACK && sample->branch_stack.count;
    const bool is_single = c->is_branch && !has_stack;
    set_space(c, item);
    pgo->totals.samples_without_branches += !has_stack && !is_single;
    if (has_stack)
        take_stack(c, item, &used);
    else if (is_single && !(item->traced.flags & PF_FLOW_IS_NOT_TAKEN))
        take_single(c, item, &used);
    if (!is_single && (mode == PERFILE_MISC_USER || mode == PERFILE_MISC_KERNEL))
        take_address(c, sample->ip, &used);
    pgo->totals.samples_used += used;
}

/* ---- records ---- */

static void note_exec(struct collecting *c, int32_t pid, uint64_t time)
{
    c->failed |= !pf_map_put(&c->exec_times, (uint32_t)pid, time);
}

static void take_comm(struct collecting *c, const struct perfile_record *record)
{
    struct perfile_comm r;
    if (record->misc & PERFILE_MISC_COMM_EXEC && record->time != UINT64_MAX &&
        perfile_record_decode(c->reader, record, &r, sizeof(r), NULL) == 0)
        note_exec(c, r.pid, record->time);
}

/* A new process has what its parent has, also of what the parent executed. */
static void take_fork(struct collecting *c, const struct perfile_record *record)
{
    struct perfile_fork r;
    uint64_t executed = 0;
    if (!c->exec_times.used || perfile_record_decode(c->reader, record, &r, sizeof(r), NULL) < 0 || r.pid == r.ppid)
        return;
    (void)pf_map_get(&c->exec_times, (uint32_t)r.ppid, &executed);
    note_exec(c, r.pid, executed);
}

static void take_record(struct collecting *c, const struct perfile_record *record)
{
    if (record->type == PERFILE_RECORD_COMM)
        take_comm(c, record);
    else if (record->type == PERFILE_RECORD_FORK)
        take_fork(c, record);
}

/* A sample of several counters comes once for each. */
static int take_samples(struct collecting *c, struct pf_delivery *delivery, struct perfile_error *error)
{
    struct pf_delivered item = {.sample.size = sizeof(item.sample)};
    int result;
    while ((result = pf_delivery_next(delivery, &item, error)) > 0 && !c->failed)
        if (!item.is_sample)
            take_record(c, item.record);
        else if (!item.again)
            take_sample(c, &item);
    finish_singles(c);
    if (result < 0 || !c->failed)
        return result;
    return pf_memory_was_short(&c->pgo->watch.allocator)
               ? pf_fail_memory(error, "profile")
               : pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "profile",
                         "more than %zu distinct branches and addresses (max_traces)", c->pgo->traces.max_rows);
}

int pf_pgo_collect(struct perfile_pgo *pgo, struct perfile_reader *reader, struct perfile_error *error)
{
    struct collecting c = {.pgo = pgo, .reader = reader};
    struct pf_delivery *delivery;
    const struct pf_delivery_options how = {.allocator = &pgo->watch.allocator,
                                            .filter = pgo->options.filter,
                                            .follows_maps = true,
                                            .gives_records = true,
                                            .reads_all = true,
                                            .never_waits = !pgo->options.contexts,
                                            .progress = pgo->options.progress,
                                            .progress_context = pgo->options.progress_context};
    int result = pf_delivery_open(reader, &how, &delivery, error);
    if (result < 0)
        return result;
    pf_pgo_modules_discard_maps(&pgo->modules);
    pf_map_open(&c.last_of, &pgo->watch.allocator);
    pf_map_open(&c.exec_times, &pgo->watch.allocator);
    result = take_samples(&c, delivery, error);
    close_singles(&c);
    pf_map_close(&c.exec_times);
    if (result == 0 && pgo->options.unmatched)
        pf_delivery_notify_unmatched(delivery, pgo->options.unmatched, pgo->options.unmatched_context);
    pgo->left_out += pf_delivery_filtered(delivery);
    pf_delivery_close(delivery);
    return result;
}
