/* SPDX-License-Identifier: MIT */
#include "analysis/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/fields.h"
#include "analysis/profile_blocks.h"
#include "analysis/stack.h"
#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/map.h"

struct pf_profile {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct pf_delivery *delivery;
    struct pf_delivered item; /* the current sample */
    struct pf_symbols *symbols;
    struct pf_frames frames;
    enum pf_unwind_policy policy;
    bool gives_decoded;
    size_t max_frames;
    bool ignores_stacks;
    const char *stacks_of;
    const struct perfile_event *event; /* of the last sample, and whether it is the event that has stacks */
    bool has_stacks;
    bool unresolved; /* the last sample has no frames, because it belongs to another event */
    bool skips_offcpu_notes;
    bool (*take)(void *context, const struct perfile_record *record); /* as in struct pf_profile_options */
    void *take_context;
    pf_on_note *note; /* as in struct pf_find_options */
    void *note_context;
    struct pf_guard guard;
    struct pf_find_options find_jit; /* code of JITs */
    struct pf_arena arena;
    struct pf_map cgroup_links; /* thread to device and inode of its cgroup namespace, a pointer */
    uint32_t *stack;
    size_t stack_capacity;
    struct pf_profile_sample sample;
    struct pf_profile_totals totals;
    struct pf_blocks *blocks; /* NULL: samples are read one by one */
};

/* Samples are read in blocks, by other threads, too. False: out of memory. */
static bool open_blocks(struct pf_profile *profile, const struct pf_profile_options *options,
                        struct pf_find_options *find)
{
    pf_guard_notes(&profile->guard, find);
    const struct pf_blocks_options how = {.allocator = profile->allocator,
                                          .frames = &profile->frames,
                                          .policy = profile->policy,
                                          .threads = options->drive.threads,
                                          .decoded = options->decoded,
                                          .guard = &profile->guard,
                                          .note = find->note,
                                          .note_context = find->note_context};
    profile->blocks = pf_blocks_open(&how);
    return profile->blocks;
}

static int open_delivery(struct pf_profile *profile, const struct pf_profile_options *options,
                         struct perfile_error *error)
{
    struct pf_delivery_options delivery = {.allocator = profile->allocator,
                                           .filter = options->filter,
                                           .find = options->ignores_stacks ? NULL : &profile->find_jit,
                                           .keeps_comms = options->keeps_comms,
                                           .gives_records = options->decoded && !profile->blocks,
                                           .takes_calls = true,
                                           .merges = options->merges,
                                           .threads = options->drive.threads,
                                           .never_waits = options->never_waits,
                                           .reads_all = options->watches_all,
                                           .counts_parallelism = options->parallelism,
                                           .wants = options->decoded ? options->wants : NULL,
                                           .wants_context = options->wants_context,
                                           .watch = options->watch,
                                           .watch_context = options->watch_context,
                                           .reads_before = options->decoded && (options->take || options->watch),
                                           .reads_to_end = options->names_at_end,
                                           .progress = options->drive.progress,
                                           .progress_context = options->drive.progress_context};
    profile->find_jit = options->find;
    if (profile->blocks)
        pf_blocks_watch(profile->blocks, &delivery, &profile->find_jit);
    return pf_delivery_open(profile->reader, &delivery, &profile->delivery, error);
}

static int open_parts(struct pf_profile *profile, const struct pf_profile_options *options, struct perfile_error *error)
{
    struct pf_find_options find = options->find;
    const bool of_calls = options->filter && options->filter->calls;
    const bool alone = (options->decoded && !options->copied) || options->ignores_stacks || of_calls;
    /* a block is delivered when it is full: too late for samples that are to be seen while they are recorded */
    const bool is_live = perfile_reader_file(profile->reader)->followed;
    const bool in_blocks = !alone && (options->in_blocks || (options->drive.threads > 1 && !is_live));
    int result = pf_unwind_policy_parse(options->unwind, PF_UNWIND_FP, &profile->policy, error);
    find.threads = is_live ? 1 : options->drive.threads;
    if (result == 0 && in_blocks && !open_blocks(profile, options, &find))
        result = pf_fail_memory(error, "profile");
    if (result == 0)
        result = pf_symbols_open(profile->reader, &find, &profile->symbols, error);
    if (result == 0)
        result = open_delivery(profile, options, error);
    if (result < 0)
        return result;
    pf_symbols_use_jit(profile->symbols, pf_delivery_jit(profile->delivery));
    pf_frames_open(&profile->frames, profile->symbols, &options->frames, profile->allocator);
    if (profile->blocks)
        pf_blocks_begin(profile->blocks, profile->delivery);
    return 0;
}

int pf_profile_open(struct perfile_reader *reader, const struct pf_profile_options *options,
                    struct pf_profile **profile, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->find.allocator);
    struct pf_profile *made = *profile = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "profile");
    made->allocator = allocator;
    made->reader = reader;
    made->gives_decoded = options->decoded;
    made->ignores_stacks = options->ignores_stacks;
    made->stacks_of = options->stacks_of;
    made->max_frames = options->max_frames ? options->max_frames : SIZE_MAX;
    made->skips_offcpu_notes = options->skips_offcpu_notes;
    made->take = options->take;
    made->take_context = options->take_context;
    made->note = options->find.note;
    made->note_context = options->find.note_context;
    pf_guard_open(&made->guard);
    pf_map_open(&made->cgroup_links, allocator);
    pf_arena_open(&made->arena, allocator);
    int result = open_parts(made, options, error);
    if (result < 0) {
        pf_profile_close(made);
        *profile = NULL;
    }
    return result;
}

void pf_profile_close(struct pf_profile *profile)
{
    if (!profile)
        return;
    pf_blocks_close(profile->blocks);
    pf_frames_close(&profile->frames);
    pf_symbols_close(profile->symbols);
    pf_delivery_close(profile->delivery);
    pf_map_close(&profile->cgroup_links);
    pf_arena_close(&profile->arena);
    pf_guard_close(&profile->guard);
    pf_free(profile->allocator, profile->stack, profile->stack_capacity * sizeof(*profile->stack));
    pf_free(profile->allocator, profile, sizeof(*profile));
}

/* ---- stacks ---- */

/* Appends the frames of a position to the stack. False: out of memory. */
static bool append(struct pf_profile *profile, uint32_t position)
{
    size_t *used = &profile->sample.frame_count;
    const uint32_t *frames;
    if (position == PF_NO_FRAME)
        return false;
    const size_t count = pf_frames_of(&profile->frames, &position, &frames);
    if (PF_UNLIKELY(*used + count > profile->stack_capacity) &&
        !pf_grow(profile->allocator, &profile->stack, &profile->stack_capacity, *used + count, sizeof(*profile->stack)))
        return false;
    for (size_t i = 0; i < count; i++)
        profile->stack[(*used)++] = frames[i];
    return true;
}

static uint32_t frame_in(struct pf_profile *profile, unsigned mode, uint64_t ip)
{
    const struct perfile_space *space = pf_delivered_space(&profile->item, mode);
    return pf_frames_function(&profile->frames, pf_frames_resolve(&profile->frames, space, ip, false));
}

uint32_t pf_profile_frame_at(struct pf_profile *profile, uint64_t ip)
{
    const uint32_t frame = frame_in(profile, PERFILE_MISC_USER, ip);
    if (frame == PF_NO_FRAME || !ip || pf_frames_at(&profile->frames, frame)->module != PF_NO_SYMBOL)
        return frame; /* 0 means no address, even if a mapping of the kernel is recorded as starting there */
    return frame_in(profile, PERFILE_MISC_KERNEL, ip);
}

struct pf_delivery *pf_profile_delivery(const struct pf_profile *profile)
{
    return profile->delivery;
}

const struct pf_delivered *pf_profile_item(const struct pf_profile *profile)
{
    return &profile->item;
}

static bool expect(struct pf_profile *profile, struct pf_stack_walk *ahead)
{
    struct pf_stack_address address;
    if (!pf_stack_next(ahead, &address))
        return false;
    const struct perfile_space *space = pf_delivered_space(&profile->item, address.mode);
    pf_frames_expect(&profile->frames, space, address.ip, address.returns);
    return true;
}

/* Appends what is at the addresses of the stack, leaf first. False: out of memory. */
static bool append_stack(struct pf_profile *profile)
{
    enum { AHEAD = 16 };
    const struct pf_stack_options options = {
        .symbols = profile->symbols, .arch = pf_delivery_arch(profile->delivery), .policy = profile->policy};
    struct pf_stack stack;
    struct pf_stack_address address;
    pf_stack_gather(&stack, &profile->item, &options);
    profile->totals.truncated += stack.truncated;
    profile->totals.guessed += stack.guessed;
    struct pf_stack_walk ahead = pf_stack_start(&stack);
    bool more = true;
    size_t expected = 0;
    for (; expected < pf_min(AHEAD, profile->max_frames) && more; expected++)
        more = expect(profile, &ahead);
    for (struct pf_stack_walk walk = pf_stack_start(&stack); pf_stack_next(&walk, &address);) {
        const struct perfile_space *space = pf_delivered_space(&profile->item, address.mode);
        more = more && expected++ < profile->max_frames && expect(profile, &ahead);
        if (!append(profile, pf_frames_resolve(&profile->frames, space, address.ip, address.returns)))
            return false;
        if (profile->sample.frame_count >= profile->max_frames)
            break;
    }
    return true;
}

/* False: out of memory. */
static bool resolve(struct pf_profile *profile)
{
    struct pf_profile_sample *sample = &profile->sample;
    const struct perfile_space *space = pf_delivered_space(&profile->item, sample->cpumode);
    const uint32_t leaf = pf_frames_resolve(&profile->frames, space, sample->ip, false);
    if (leaf == PF_NO_FRAME)
        return false;
    sample->leaf = pf_frames_function(&profile->frames, leaf);
    __builtin_prefetch(
        pf_frames_at(&profile->frames, sample->leaf)); /* count_sample asks for it, and frames are many */
    sample->frame_count = 0;
    const bool enough =
        (pf_stack_is_leaf(&profile->item) || append_stack(profile)) && (sample->frame_count || append(profile, leaf));
    sample->frames = profile->stack;
    return enough;
}

/* ---- samples ---- */

static inline void fill_sample(struct pf_profile *profile)
{
    const struct pf_delivered *item = &profile->item;
    const struct perfile_sample *decoded = &item->sample;
    struct pf_profile_sample *sample = &profile->sample;
    sample->event = item->event;
    sample->time = decoded->present & PERFILE_SAMPLE_TIME ? decoded->time : 0;
    sample->period = decoded->period;
    sample->alike = item->traced.alike;
    sample->weight = pf_field_weight(decoded);
    sample->pid = decoded->pid;
    sample->tid = decoded->tid;
    sample->has_cpu = decoded->present & PERFILE_SAMPLE_CPU;
    sample->cpu = sample->has_cpu ? decoded->cpu : 0;
    sample->parallelism = item->parallelism;
    sample->cpumode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    sample->comm = item->comm;
    sample->cgroup = pf_delivered_cgroup(item, profile->delivery);
    sample->ip = decoded->ip;
    sample->decoded = profile->gives_decoded ? decoded : NULL;
    sample->off = item->off;
    uint64_t link;
    const bool linked = profile->gives_decoded && pf_map_get(&profile->cgroup_links, (uint32_t)decoded->tid, &link);
    sample->cgroup_link = linked ? (const uint64_t *)(uintptr_t)link : NULL;
}

static void count_sample(struct pf_profile *profile)
{
    const struct pf_frame_info *leaf = pf_frames_at(&profile->frames, profile->sample.leaf);
    const uint64_t count = 1 + profile->sample.alike;
    profile->totals.samples += count;
    profile->totals.full += pf_stack_is_full(&profile->item);
    profile->totals.guests += pf_is_of_guest(profile->sample.cpumode) ? count : 0;
    profile->totals.unmapped += leaf->module == PF_NO_SYMBOL ? count : 0;
    profile->totals.unresolved += leaf->symbol == PF_NO_SYMBOL ? count : 0;
    pf_profile_count_chain(&profile->totals, &profile->frames, &profile->sample);
}

/* ---- what else is kept of the recording ---- */

/* False: out of memory. */
static bool keep_namespaces(struct pf_profile *profile, const struct perfile_record *record)
{
    enum { CGROUP_NAMESPACE = 6 };
    struct perfile_namespaces namespaces;
    struct perfile_namespace_link link;
    if (record->type != PERFILE_RECORD_NAMESPACES ||
        perfile_record_decode(profile->reader, record, &namespaces, sizeof(namespaces), NULL) < 0 ||
        namespaces.link_info.count <= CGROUP_NAMESPACE)
        return true;
    perfile_namespace_link_at(&namespaces.link_info, CGROUP_NAMESPACE, &link, sizeof(link));
    uint64_t *kept = pf_arena_new(&profile->arena, 2 * sizeof(*kept));
    if (!kept || !pf_map_put(&profile->cgroup_links, (uint32_t)namespaces.tid, (uintptr_t)kept))
        return false;
    kept[0] = link.dev;
    kept[1] = link.ino;
    return true;
}

const char *pf_profile_cgroup(const struct pf_profile *profile, uint64_t id)
{
    return pf_delivery_cgroup(profile->delivery, id);
}

const char *pf_profile_thread_comm(struct pf_profile *profile, int32_t tid)
{
    return perfile_session_comm(pf_delivery_session(profile->delivery), tid, tid);
}

const char *pf_profile_later_comm(const struct pf_profile *profile, const char *comm)
{
    return perfile_session_later_comm(pf_delivery_session(profile->delivery), comm);
}

/* ---- all samples ---- */

/* `module` may be NULL. */
static void report_trouble(const struct pf_profile *profile, unsigned kind, const struct pf_module *module,
                           uint64_t count, uint64_t total)
{
    const struct perfile_trouble trouble = {.kind = kind,
                                            .name = module ? module->name : NULL,
                                            .short_name = module ? module->short_name : NULL,
                                            .count = count,
                                            .total = total,
                                            .recording = profile->find_jit.recording};
    if (count && profile->find_jit.trouble)
        profile->find_jit.trouble(profile->find_jit.trouble_context, &trouble);
}

static int compare_broken(const void *a, const void *b)
{
    const struct pf_broken_module *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x->module > y->module) - (x->module < y->module);
}

/* The modules with most broken chains first, and those of the others together. */
static void report_broken(struct pf_profile *profile)
{
    struct pf_profile_totals *totals = &profile->totals;
    uint64_t rest = totals->broken;
    qsort(totals->broken_in, PF_COUNT(totals->broken_in), sizeof(totals->broken_in[0]), compare_broken);
    for (size_t i = 0; i < PF_COUNT(totals->broken_in) && totals->broken_in[i].count; i++) {
        const struct pf_broken_module *in = &totals->broken_in[i];
        report_trouble(profile, PERFILE_TROUBLE_BROKEN_STACKS, pf_symbols_module(profile->symbols, in->module),
                       in->count, totals->chains);
        rest -= in->count;
    }
    report_trouble(profile, PERFILE_TROUBLE_BROKEN_STACKS, NULL, rest, totals->chains);
}

static void report_stacks(struct pf_profile *profile)
{
    const struct pf_profile_totals *totals = &profile->totals;
    report_broken(profile);
    report_trouble(profile, PERFILE_TROUBLE_CUT_STACKS, NULL, totals->truncated, totals->samples);
    report_trouble(profile, PERFILE_TROUBLE_FULL_STACKS, NULL, totals->full, totals->samples);
}

/* Nothing is looked up any more: what comes now may have the memory. */
static void end_reading(struct pf_profile *profile)
{
    const struct perfile_counts *counts = perfile_reader_counts(profile->reader);
    profile->totals.lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
    profile->totals.filtered = pf_delivery_filtered(profile->delivery);
    report_stacks(profile);
    pf_frames_end(&profile->frames);
    pf_give_back(profile->allocator);
}

static bool wants_stack(struct pf_profile *profile)
{
    const struct perfile_event *event = profile->item.event;
    if (!profile->stacks_of)
        return true;
    if (PF_UNLIKELY(event != profile->event)) {
        profile->event = event;
        profile->has_stacks = event && strcmp(event->name, profile->stacks_of) == 0;
    }
    return profile->has_stacks;
}

/* The frames of the sample. 1, or an error. */
static __attribute__((noinline)) int take_stack(struct pf_profile *profile, struct perfile_error *error)
{
    const bool known = profile->item.again && !profile->unresolved;
    profile->unresolved = !wants_stack(profile);
    if (profile->unresolved) {
        profile->totals.samples += 1 + profile->sample.alike;
        profile->sample.frame_count = 0;
        return 1;
    }
    if ((!known && !resolve(profile)) || pf_memory_was_short(profile->allocator))
        return pf_fail_memory(error, "profile");
    count_sample(profile);
    return 1;
}

/* 0, or an error. */
static __attribute__((noinline)) int take_other(struct pf_profile *profile, struct perfile_error *error)
{
    const struct perfile_record *record = profile->item.record;
    const bool taken =
        keep_namespaces(profile, record) && (!profile->take || profile->take(profile->take_context, record));
    return taken ? 0 : pf_fail_memory(error, "profile");
}

static inline int next_alone(struct pf_profile *profile, struct perfile_error *error)
{
    int result;
    if (!profile->ignores_stacks)
        (void)perfile_session_trim(pf_delivery_session(profile->delivery));
    while ((result = pf_delivery_next(profile->delivery, &profile->item, error)) > 0) {
        if (PF_LIKELY(profile->item.is_sample)) {
            fill_sample(profile);
            if (!profile->ignores_stacks)
                return take_stack(profile, error);
            profile->totals.samples += 1 + profile->sample.alike;
            return 1;
        }
        if ((result = take_other(profile, error)) < 0)
            break;
    }
    return result;
}

static void report_guests(const struct pf_profile *profile)
{
    char text[PF_COUNTED_BYTES];
    if (profile->totals.guests && profile->note)
        profile->note(profile->note_context,
                      pf_part_of(profile->totals.guests, profile->totals.samples,
                                 "samples are of guests (virtual machines): without names", text));
}

static __attribute__((noinline)) int end_samples(struct pf_profile *profile, int result)
{
    (void)pf_memory_check(profile->allocator, result);
    end_reading(profile);
    pf_filter_notify(pf_delivery_filter(profile->delivery), profile->note, profile->note_context);
    report_guests(profile);
    if (!profile->skips_offcpu_notes)
        pf_profile_report_missing(profile, profile->note, profile->note_context);
    return result;
}

int pf_profile_next(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error)
{
    *sample = &profile->sample;
    const int result =
        profile->blocks ? pf_blocks_next(profile->blocks, sample, &profile->totals, error) : next_alone(profile, error);
    if (PF_LIKELY(result > 0) || result == PERFILE_ERROR_AGAIN)
        return result;
    return end_samples(profile, result);
}

void pf_profile_report_missing(const struct pf_profile *profile, pf_on_note *notify, void *context)
{
    pf_delivery_report_missing(profile->delivery, notify, context);
}

const struct pf_filter *pf_profile_filter(const struct pf_profile *profile)
{
    return pf_delivery_filter(profile->delivery);
}

void pf_profile_notify_unmatched(const struct pf_profile *profile, perfile_on_unmatched *notify, void *context)
{
    pf_delivery_notify_unmatched(profile->delivery, notify, context);
}

void pf_profile_hold(struct pf_profile *profile)
{
    pf_guard_lock(&profile->guard);
}

void pf_profile_release(struct pf_profile *profile)
{
    pf_guard_unlock(&profile->guard);
}

void pf_profile_stop(struct pf_profile *profile)
{
    if (profile->blocks)
        pf_blocks_stop(profile->blocks);
}

size_t pf_profile_frame_count(const struct pf_profile *profile)
{
    return profile->blocks ? pf_blocks_frame_count(profile->blocks) : profile->frames.count;
}

const struct pf_frame_info *pf_profile_frame(const struct pf_profile *profile, uint32_t frame)
{
    return pf_frames_at(&profile->frames, frame);
}

bool pf_profile_is_by_address(const struct pf_profile *profile)
{
    return profile->frames.options.by_address;
}

struct pf_symbols *pf_profile_symbols(struct pf_profile *profile)
{
    return profile->symbols;
}

const struct pf_profile_totals *pf_profile_totals(const struct pf_profile *profile)
{
    return &profile->totals;
}

void pf_profile_notify_full(uint64_t count, const struct perfile_symbol_options *symbols)
{
    char text[192], counted[PF_COUNTED_BYTES];
    if (!count || !symbols || !symbols->note)
        return;
    snprintf(text, sizeof(text), "%s: the sum of an event ends at %" PRIu64 ", which was reached before",
             pf_count_of(count, "samples are counted in part or not at all", counted), UINT64_MAX);
    symbols->note(symbols->note_context, text);
}
