/* SPDX-License-Identifier: MIT */
#include "analysis/profile.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/filter.h"
#include "base/pairs.h"
#include "symbol/callchain.h"
#include "symbol/demangle.h"

enum { INLINES_MAX = 64 };

/* Of a number in the cache: the place in `expanded` of a list of frames, not a frame. */
#define EXPANDED ((uint32_t)1 << 31)

struct pf_profile {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct perfile_session *session;
    struct pf_symbols *symbols;
    struct pf_filter filter;
    bool filtered;
    struct pf_arena arena; /* names of inlined functions */
    bool inlines;
    struct pf_pairs cache;    /* (address space, address) to frame, or to EXPANDED */
    struct pf_pairs numbered; /* (module and kind, symbol or address) to frame */
    struct pf_frame_info *frames;
    size_t frame_count;
    size_t frame_room;
    uint32_t *expanded; /* lists: how many, and the frames, innermost first; the last is no inlined one */
    size_t expanded_count;
    size_t expanded_room;
    uint32_t *stack;
    size_t stack_room;
    struct perfile_sample decoded;
    struct pf_held_list held;                /* samples that wait for the user part of their stacks */
    struct perfile_callchain_deferred later; /* such a part, of the thread whose samples go now */
    int32_t later_tid;
    bool joins; /* the sample in hand gets it */
    enum { HELD_WAIT, HELD_GO_THREAD, HELD_GO_ALL } release;
    const char *arch; /* uname -m of the recording, for unwinding; NULL: not known */
    struct pf_profile_sample sample;
    struct pf_profile_totals totals;
};

/* When the samples are, as the header says; NULL when it does not. */
static const struct pf_range *span_of(struct perfile_reader *reader, struct pf_range *span)
{
    bool known = perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "first", &span->first, NULL) == 0 &&
                 perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "last", &span->last, NULL) == 0;
    /* perf record -z writes zeros */
    return known && span->first <= span->last && span->last ? span : NULL;
}

int pf_profile_open(struct perfile_reader *reader, const struct pf_profile_options *options,
                    struct pf_profile **profile, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    struct pf_profile *made = pf_new(allocator, sizeof(*made));
    *profile = NULL;
    if (!made)
        return pf_fail_memory(error, "profile");
    made->allocator = allocator;
    made->reader = reader;
    made->decoded.size = sizeof(made->decoded);
    made->inlines = options->inlines;
    pf_arena_open(&made->arena, allocator);
    pf_held_open(&made->held, allocator);
    pf_pairs_open(&made->cache, allocator);
    pf_pairs_open(&made->numbered, allocator);
    int result = pf_symbols_open(reader, &options->find, &made->symbols, error);
    if (result == 0 && options->filter) {
        struct pf_range span;
        result = pf_filter_open(&made->filter, options->filter, span_of(reader, &span), allocator, error);
        made->filtered = true;
    }
    if (result == 0)
        result = perfile_session_open(reader, &made->session, error);
    if (result < 0) {
        pf_profile_close(made);
        return result;
    }
    if (perfile_feature_text(reader, PERFILE_FEATURE_ARCH, NULL, &made->arch, NULL) < 0)
        made->arch = NULL;
    perfile_session_follow_maps(made->session);
    if (options->keeps_comms)
        perfile_session_keep_comms(made->session);
    *profile = made;
    return 0;
}

void pf_profile_close(struct pf_profile *profile)
{
    if (!profile)
        return;
    perfile_session_close(profile->session);
    if (profile->filtered)
        pf_filter_close(&profile->filter);
    pf_symbols_close(profile->symbols);
    pf_held_close(&profile->held);
    pf_pairs_close(&profile->cache);
    pf_pairs_close(&profile->numbered);
    pf_free(profile->allocator, profile->frames, profile->frame_room * sizeof(*profile->frames));
    pf_free(profile->allocator, profile->expanded, profile->expanded_room * sizeof(*profile->expanded));
    pf_arena_close(&profile->arena);
    pf_free(profile->allocator, profile->stack, profile->stack_room * sizeof(*profile->stack));
    pf_free(profile->allocator, profile, sizeof(*profile));
}

/* ---- frames ---- */

static uint8_t kind_of(const struct pf_profile *profile, const struct pf_location *location)
{
    const struct pf_module *module = pf_symbols_module(profile->symbols, location->module);
    if (!module)
        return PF_FRAME_UNKNOWN;
    if (module->kernel)
        return PF_FRAME_KERNEL;
    return strncmp(module->name, "/tmp/perf-", 10) == 0 ? PF_FRAME_JIT : PF_FRAME_USER;
}

/* The number of the frame with these keys, a new one when there is none; UINT32_MAX when memory is short. */
static uint32_t number_frame(struct pf_profile *profile, uint64_t a, uint64_t b, const struct pf_frame_info *info)
{
    uint32_t frame;
    if (pf_pairs_get(&profile->numbered, a, b, &frame))
        return frame;
    if (profile->frame_count >= EXPANDED - 1 || !pf_grow(profile->allocator, &profile->frames, &profile->frame_room,
                                                         profile->frame_count + 1, sizeof(*profile->frames)))
        return UINT32_MAX;
    frame = (uint32_t)profile->frame_count++;
    profile->frames[frame] = *info;
    return pf_pairs_put(&profile->numbered, a, b, frame) ? frame : UINT32_MAX;
}

static uint32_t number_location(struct pf_profile *profile, const struct pf_location *location)
{
    const bool named = location->symbol != PF_NO_SYMBOL;
    const struct pf_frame_info info = {.module = location->module,
                                       .symbol = location->symbol,
                                       .address = location->offset,
                                       .name = pf_symbols_name(profile->symbols, location->module, location->symbol),
                                       .kind = kind_of(profile, location)};
    return number_frame(profile, (uint64_t)location->module << 1 | named, named ? location->symbol : location->offset,
                        &info);
}

/* Equal names of one module are equal pointers. */
static uint32_t number_inlined(struct pf_profile *profile, uint32_t module, const char *function)
{
    const uint64_t a = (uint64_t)1 << 63 | (uintptr_t)function;
    uint32_t frame;
    if (pf_pairs_get(&profile->numbered, a, module, &frame))
        return frame;
    char *readable = function ? pf_demangle(function) : NULL;
    const char *name = readable ? pf_arena_text(&profile->arena, readable, strlen(readable)) : function;
    free(readable);
    const struct pf_frame_info info = {
        .module = module, .symbol = PF_NO_SYMBOL, .name = name ? name : "[unknown]", .kind = PF_FRAME_INLINED};
    return number_frame(profile, a, module, &info);
}

/* The frame of the location, or EXPANDED when functions were inlined there; UINT32_MAX when memory is short. */
static uint32_t expand(struct pf_profile *profile, const struct pf_location *location, uint32_t frame)
{
    struct pf_source_frame sources[INLINES_MAX];
    const size_t start = profile->expanded_count;
    const size_t count = pf_symbols_inlines(profile->symbols, location, sources, INLINES_MAX);
    size_t inlined = 0;
    while (inlined < count && sources[inlined].inlined)
        inlined++;
    if (!inlined)
        return frame;
    if (start + inlined + 2 >= EXPANDED - 1 || !pf_grow(profile->allocator, &profile->expanded, &profile->expanded_room,
                                                        start + inlined + 2, sizeof(*profile->expanded)))
        return UINT32_MAX;
    uint32_t *list = profile->expanded + start;
    *list++ = (uint32_t)inlined + 1;
    for (size_t i = 0; i < inlined; i++, list++)
        if ((*list = number_inlined(profile, location->module, sources[i].function)) == UINT32_MAX)
            return UINT32_MAX;
    *list = frame;
    profile->expanded_count += inlined + 2;
    return (uint32_t)start | EXPANDED;
}

/* The frame at an address, or EXPANDED. An address is looked up once per address space. */
static uint32_t place_at(struct pf_profile *profile, const struct perfile_space *space, uint64_t ip)
{
    uint32_t place;
    if (PF_LIKELY(pf_pairs_get(&profile->cache, (uintptr_t)space, ip, &place)))
        return place;
    struct pf_location location;
    if (!pf_symbols_locate(profile->symbols, pf_symbols_map(profile->symbols, space, ip), ip, &location))
        return UINT32_MAX;
    place = number_location(profile, &location);
    if (place != UINT32_MAX && profile->inlines && location.symbol != PF_NO_SYMBOL)
        place = expand(profile, &location, place);
    if (place != UINT32_MAX && !pf_pairs_put(&profile->cache, (uintptr_t)space, ip, place))
        return UINT32_MAX;
    return place;
}

static uint32_t leaf_of(const struct pf_profile *profile, uint32_t place)
{
    if (place == UINT32_MAX || !(place & EXPANDED))
        return place;
    const uint32_t *list = profile->expanded + (place & ~EXPANDED);
    return list[list[0]];
}

/* Appends the frames of a place to the stack. False when memory is short. */
static bool append(struct pf_profile *profile, uint32_t place)
{
    size_t *used = &profile->sample.frame_count;
    if (place == UINT32_MAX)
        return false;
    const uint32_t *frames = &place;
    size_t count = 1;
    if (PF_UNLIKELY(place & EXPANDED)) {
        frames = profile->expanded + (place & ~EXPANDED);
        count = *frames++;
    }
    if (PF_UNLIKELY(*used + count > profile->stack_room) &&
        !pf_grow(profile->allocator, &profile->stack, &profile->stack_room, *used + count, sizeof(*profile->stack)))
        return false;
    for (size_t i = 0; i < count; i++)
        profile->stack[(*used)++] = frames[i];
    return true;
}

/* Guests and hypervisors have no mappings here. */
static const struct perfile_space *space_of_mode(struct pf_profile *profile, unsigned mode)
{
    if (mode != PF_MODE_USER && mode != PF_MODE_KERNEL)
        return NULL;
    return perfile_session_space(profile->session, mode == PF_MODE_USER ? profile->decoded.pid : PF_KERNEL_PID);
}

/* Appends the addresses of a chain. False when memory is short. */
static bool append_chain(struct pf_profile *profile, const struct perfile_u64s *ips)
{
    struct pf_callchain_walk walk = pf_callchain_start(ips);
    unsigned mode = walk.mode;
    const struct perfile_space *space = space_of_mode(profile, mode);
    for (uint64_t ip; pf_callchain_next(&walk, &ip);) {
        if (PF_UNLIKELY(walk.mode != mode))
            space = space_of_mode(profile, mode = walk.mode);
        if (!append(profile, place_at(profile, space, ip)))
            return false;
    }
    return true;
}

/* Appends the user part that is no callchain: branches, or what the dumped stack unwinds to. */
static bool append_other(struct pf_profile *profile, const uint64_t *addresses, size_t count)
{
    const struct perfile_space *space = space_of_mode(profile, PF_MODE_USER);
    for (size_t i = 0; i < count; i++)
        if (!append(profile, place_at(profile, space, addresses[i])))
            return false;
    return true;
}

static size_t unwind(struct pf_profile *profile, uint64_t *addresses)
{
    size_t count;
    const struct pf_unwinding how = {.space = space_of_mode(profile, PF_MODE_USER), .arch = profile->arch};
    const int end = pf_symbols_unwind(profile->symbols, &profile->decoded, &how, addresses, PF_CALLCHAIN_MAX, &count);
    profile->totals.truncated += end == PF_UNWIND_TRUNCATED;
    return count;
}

/* Leaf first, context markers taken out. False when memory is short. */
static bool resolve_stack(struct pf_profile *profile, unsigned mode)
{
    struct perfile_sample *decoded = &profile->decoded;
    struct pf_profile_sample *sample = &profile->sample;
    uint64_t addresses[PF_CALLCHAIN_MAX];
    size_t count = 0;
    const uint32_t leaf = place_at(profile, space_of_mode(profile, mode), sample->ip);
    sample->frame_count = 0;
    sample->leaf = leaf_of(profile, leaf);
    bool enough = leaf != UINT32_MAX;
    if (pf_callchain_has_branches(&sample->event->attr))
        count = pf_callchain_branches(decoded, addresses, PF_CALLCHAIN_MAX);
    if (enough && decoded->present & PERFILE_SAMPLE_CALLCHAIN)
        enough = append_chain(profile, &decoded->callchain);
    if (enough && profile->joins)
        enough = append_chain(profile, &profile->later.ips);
    if (enough && !count && decoded->present & PERFILE_SAMPLE_STACK_USER)
        count = unwind(profile, addresses);
    if (enough && count)
        enough = append_other(profile, addresses, count);
    if (enough && sample->frame_count == 0)
        enough = append(profile, leaf);
    sample->frames = profile->stack;
    return enough;
}

/* ---- samples ---- */

static void fill_sample(struct pf_profile *profile, const struct perfile_record *record)
{
    const struct perfile_sample *decoded = &profile->decoded;
    struct pf_profile_sample *sample = &profile->sample;
    sample->event = record->event;
    sample->time = decoded->time;
    sample->period = decoded->period;
    sample->weight = decoded->weight;
    sample->pid = decoded->pid;
    sample->tid = decoded->tid;
    sample->cpu = decoded->cpu;
    sample->cpumode = record->misc & PERFILE_MISC_CPUMODE_MASK;
    sample->comm = perfile_session_comm(profile->session, decoded->pid, decoded->tid);
    sample->ip = decoded->ip;
}

static bool passes(struct pf_profile *profile)
{
    const struct pf_profile_sample *sample = &profile->sample;
    const struct pf_filter_subject subject = {
        .time = profile->decoded.present & PERFILE_SAMPLE_TIME ? sample->time : UINT64_MAX,
        .cpu = profile->decoded.present & PERFILE_SAMPLE_CPU ? (int32_t)sample->cpu : -1,
        .pid = sample->pid,
        .tid = sample->tid,
        .comm = sample->comm,
        .event = sample->event};
    return pf_filter_passes(&profile->filter, &subject);
}

static void count_sample(struct pf_profile *profile)
{
    const struct pf_frame_info *leaf = &profile->frames[profile->sample.leaf];
    profile->totals.samples++;
    profile->totals.period += profile->sample.period;
    profile->totals.unmapped += leaf->module == PF_NO_SYMBOL;
    profile->totals.unresolved += leaf->symbol == PF_NO_SYMBOL;
}

/* What is known of the sample now, and its stack. 1: it is one, 0: it is filtered out. */
static int deliver(struct pf_profile *profile, const struct perfile_record *record, struct perfile_error *error)
{
    fill_sample(profile, record);
    if (profile->filtered && !passes(profile)) {
        profile->totals.filtered++;
        return 0;
    }
    if (!resolve_stack(profile, profile->sample.cpumode))
        return pf_fail_memory(error, "profile");
    count_sample(profile);
    return 1;
}

/* ---- samples whose user part of the stack comes later ---- */

/* The next held sample that may go. 1, 0: they wait, or an error. */
static int release_held(struct pf_profile *profile, struct perfile_error *error)
{
    uint64_t cookie;
    int result = 0;
    while (result == 0) {
        const bool joins = profile->release == HELD_GO_THREAD;
        if (profile->release == HELD_WAIT && !pf_held_is_full(&profile->held))
            return 0;
        struct pf_held *held = pf_held_take(&profile->held, joins ? &profile->later_tid : NULL);
        if (!held) {
            profile->release = HELD_WAIT;
            return 0;
        }
        if (perfile_sample_decode(&held->record, &profile->decoded, NULL) == 0) {
            pf_held_take_cookie(&profile->decoded.callchain, &cookie);
            profile->joins = joins && held->cookie == profile->later.cookie;
            result = deliver(profile, &held->record, error);
            profile->joins = false;
        }
        pf_held_free(&profile->held, held);
    }
    return result;
}

/* The sample waits, if it has to. 1, 0: it need not, or an error. */
static int hold(struct pf_profile *profile, const struct perfile_record *record, struct perfile_error *error)
{
    uint64_t cookie;
    if (!record->event || !record->event->attr.defer_callchain ||
        !pf_held_take_cookie(&profile->decoded.callchain, &cookie))
        return 0;
    return pf_held_add(&profile->held, record, profile->decoded.tid, cookie) ? 1 : pf_fail_memory(error, "profile");
}

/* The samples of its thread can go. */
static void take_deferred(struct pf_profile *profile, const struct perfile_record *record)
{
    struct perfile_sample_id id;
    if (perfile_record_decode(profile->reader, record, &profile->later, sizeof(profile->later), NULL) < 0 ||
        perfile_sample_id_decode(profile->reader, record, &id, NULL) < 0)
        return;
    profile->later_tid = id.tid;
    profile->release = HELD_GO_THREAD;
}

/* 1: the sample of the record is in hand, 0: it is none, or an error. */
static int take_record(struct pf_profile *profile, const struct perfile_record *record, struct perfile_error *error)
{
    if (record->type == PERFILE_RECORD_CALLCHAIN_DEFERRED)
        take_deferred(profile, record);
    if (record->type != PERFILE_RECORD_SAMPLE || record->damaged ||
        perfile_sample_decode(record, &profile->decoded, NULL) < 0)
        return 0;
    const int held = hold(profile, record, error);
    return held > 0 ? 0 : held < 0 ? held : deliver(profile, record, error);
}

int pf_profile_next(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result = release_held(profile, error);
    *sample = &profile->sample;
    while (result == 0) {
        const int more = perfile_session_next(profile->session, &record, error);
        if (more < 0)
            return more;
        if (more == 0) {
            profile->release = HELD_GO_ALL;
            result = release_held(profile, error);
            break;
        }
        result = take_record(profile, record, error);
        if (result == 0)
            result = release_held(profile, error);
    }
    const struct perfile_counts *counts = perfile_reader_counts(profile->reader);
    profile->totals.lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
    return result;
}

size_t pf_profile_frame_count(const struct pf_profile *profile)
{
    return profile->frame_count;
}

const struct pf_frame_info *pf_profile_frame(const struct pf_profile *profile, uint32_t frame)
{
    return frame < profile->frame_count ? &profile->frames[frame] : NULL;
}

struct pf_symbols *pf_profile_symbols(struct pf_profile *profile)
{
    return profile->symbols;
}

const struct pf_profile_totals *pf_profile_totals(const struct pf_profile *profile)
{
    return &profile->totals;
}
