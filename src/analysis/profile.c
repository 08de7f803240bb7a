/* SPDX-License-Identifier: MIT */
#include "analysis/profile.h"

#include <stdlib.h>

#include "analysis/filter.h"
#include "analysis/profile_ahead.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pairs.h"
#include "base/segments.h"
#include "symbol/demangle.h"

/* Values of a callchain that say whose addresses follow: the last page of the address space, as signed numbers. */
#define CONTEXT_MIN ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

enum { MODE_KERNEL = 1, MODE_USER = 2, KERNEL_PID = -1, UNWIND_MAX = 127, INLINES_MAX = 64 };
enum { PROGRESS_SAMPLES = 256, LOOK_AHEAD = 8, FAR_SLOTS = 65536 };

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
    struct pf_pairs cache;     /* (address space, address) to frame, or to EXPANDED */
    struct pf_pairs numbered;  /* (module and kind, symbol or address) to frame */
    struct pf_segments frames; /* struct pf_frame_info: others may look at those they know of while more come */
    size_t frame_count;
    uint32_t *expanded; /* lists: how many, and the frames, innermost first; the last is no inlined one */
    size_t expanded_count;
    size_t expanded_room;
    uint32_t *stack;
    size_t stack_room;
    struct perfile_sample decoded;
    struct perfile_sample peeked;
    const char *arch; /* uname -m of the recording, for unwinding; NULL: not known */
    struct pf_profile_sample sample;
    struct pf_profile_totals totals;
    struct pf_profile_drive drive;
    struct pf_ahead *ahead; /* reads this profile in another thread; NULL: the caller does */
    uint64_t until_progress;
};

/* When the samples are, as the header says; NULL when it does not. */
static const struct pf_range *span_of(struct perfile_reader *reader, struct pf_range *span)
{
    bool known = perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "first", &span->first, NULL) == 0 &&
                 perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "last", &span->last, NULL) == 0;
    return known && span->first <= span->last ? span : NULL;
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
    made->decoded.size = made->peeked.size = sizeof(made->decoded);
    made->inlines = options->inlines;
    made->drive = options->drive;
    pf_segments_open(&made->frames, sizeof(struct pf_frame_info), allocator);
    pf_arena_open(&made->arena, allocator);
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
    if (made->drive.threads > 1 && !(made->ahead = pf_ahead_open(made, made->drive.threads))) {
        pf_profile_close(made);
        return pf_fail_memory(error, "profile");
    }
    *profile = made;
    return 0;
}

void pf_profile_close(struct pf_profile *profile)
{
    if (!profile)
        return;
    pf_ahead_close(profile->ahead);
    perfile_session_close(profile->session);
    if (profile->filtered)
        pf_filter_close(&profile->filter);
    pf_symbols_close(profile->symbols);
    pf_pairs_close(&profile->cache);
    pf_pairs_close(&profile->numbered);
    pf_segments_close(&profile->frames);
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
    frame = (uint32_t)profile->frame_count;
    struct pf_frame_info *made = frame < EXPANDED - 1 ? pf_segments_make(&profile->frames, frame) : NULL;
    if (!made)
        return UINT32_MAX;
    *made = *info;
    profile->frame_count++;
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
    if (mode != MODE_USER && mode != MODE_KERNEL)
        return NULL;
    return perfile_session_space(profile->session, mode == MODE_USER ? profile->decoded.pid : KERNEL_PID);
}

/* Appends what the dumped user stack unwinds to. */
static bool unwind(struct pf_profile *profile)
{
    uint64_t addresses[UNWIND_MAX];
    size_t count;
    const struct pf_unwinding how = {.space = space_of_mode(profile, MODE_USER), .arch = profile->arch};
    const int end = pf_symbols_unwind(profile->symbols, &profile->decoded, &how, addresses, UNWIND_MAX, &count);
    profile->totals.truncated += end == PF_UNWIND_TRUNCATED;
    for (size_t i = 0; i < count; i++)
        if (!append(profile, place_at(profile, how.space, addresses[i])))
            return false;
    return true;
}

/* Leaf first, context markers taken out. False when memory is short. */
static bool resolve_stack(struct pf_profile *profile, unsigned mode)
{
    const struct perfile_u64s *chain = &profile->decoded.callchain;
    const uint64_t count = profile->decoded.present & PERFILE_SAMPLE_CALLCHAIN ? chain->count : 0;
    const struct perfile_space *space = space_of_mode(profile, mode);
    struct pf_profile_sample *sample = &profile->sample;
    const uint32_t leaf = place_at(profile, space, sample->ip);
    sample->frame_count = 0;
    sample->leaf = leaf_of(profile, leaf);
    bool enough = leaf != UINT32_MAX;
    for (uint64_t i = 0; i < count && enough; i++) {
        const uint64_t ip = perfile_u64_at(chain, i);
        if (i + LOOK_AHEAD < count)
            pf_pairs_prefetch(&profile->cache, (uintptr_t)space, perfile_u64_at(chain, i + LOOK_AHEAD));
        if (PF_UNLIKELY(ip >= CONTEXT_MIN)) {
            if (ip == CONTEXT_USER_DEFERRED)
                break; /* what follows is a cookie */
            space = space_of_mode(profile, ip == CONTEXT_KERNEL ? MODE_KERNEL : ip == CONTEXT_USER ? MODE_USER : 0);
            continue;
        }
        enough = append(profile, place_at(profile, space, ip));
    }
    if (enough && profile->decoded.present & PERFILE_SAMPLE_STACK_USER)
        enough = unwind(profile);
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
    const struct pf_frame_info *leaf = pf_profile_frame(profile, profile->sample.leaf);
    profile->totals.samples++;
    profile->totals.period += profile->sample.period;
    profile->totals.unmapped += leaf->module == PF_NO_SYMBOL;
    profile->totals.unresolved += leaf->symbol == PF_NO_SYMBOL;
}

/* Once the cache is too large to be near, the next address's place in it is asked for while this one is dealt with. */
static void prefetch_next(struct pf_profile *profile)
{
    if (profile->cache.size < FAR_SLOTS)
        return;
    const struct perfile_record *next = perfile_session_peek(profile->session);
    if (!next || next->type != PERFILE_RECORD_SAMPLE || next->damaged ||
        perfile_sample_decode(next, &profile->peeked, NULL) < 0)
        return;
    const bool user = (next->misc & PERFILE_MISC_CPUMODE_MASK) == MODE_USER;
    const struct perfile_space *space =
        perfile_session_space(profile->session, user ? profile->peeked.pid : KERNEL_PID);
    pf_pairs_prefetch(&profile->cache, (uintptr_t)space, profile->peeked.ip);
}

static void tell_progress(struct pf_profile *profile)
{
    if (profile->until_progress--)
        return;
    profile->until_progress = PROGRESS_SAMPLES;
    if (profile->drive.progress)
        profile->drive.progress(profile->drive.progress_context, perfile_reader_counts(profile->reader)->data_bytes,
                                perfile_reader_file(profile->reader)->file_bytes);
}

int pf_profile_read(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result;
    while ((result = perfile_session_next(profile->session, &record, error)) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE || record->damaged ||
            perfile_sample_decode(record, &profile->decoded, NULL) < 0)
            continue;
        fill_sample(profile, record);
        prefetch_next(profile);
        if (profile->filtered && !passes(profile)) {
            profile->totals.filtered++;
            continue;
        }
        if (!resolve_stack(profile, profile->sample.cpumode))
            return pf_fail_memory(error, "profile");
        count_sample(profile);
        tell_progress(profile);
        *sample = &profile->sample;
        return 1;
    }
    const struct perfile_counts *counts = perfile_reader_counts(profile->reader);
    profile->totals.lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
    return result;
}

int pf_profile_next(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error)
{
    return profile->ahead ? pf_ahead_next(profile->ahead, sample, error) : pf_profile_read(profile, sample, error);
}

void pf_profile_stop(struct pf_profile *profile)
{
    if (profile->ahead)
        pf_ahead_stop(profile->ahead);
}

size_t pf_profile_frame_count(const struct pf_profile *profile)
{
    return profile->frame_count;
}

const struct pf_frame_info *pf_profile_frame(const struct pf_profile *profile, uint32_t frame)
{
    return pf_segments_at(&profile->frames, frame);
}

struct pf_symbols *pf_profile_symbols(struct pf_profile *profile)
{
    return profile->symbols;
}

const struct pf_profile_totals *pf_profile_totals(const struct pf_profile *profile)
{
    return &profile->totals;
}
