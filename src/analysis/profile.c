/* SPDX-License-Identifier: MIT */
#include "analysis/profile.h"

#include <stdlib.h>

#include "analysis/counters.h"
#include "analysis/places.h"
#include "analysis/profile_ahead.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/filter.h"
#include "base/map.h"
#include "base/pairs.h"
#include "base/segments.h"
#include "symbol/callchain.h"
#include "symbol/demangle.h"

enum { INLINES_MAX = 64, PROGRESS_SAMPLES = 256 };

/* Of a number in the cache: the place in `expanded` of a list of frames, not a frame. */
#define EXPANDED ((uint32_t)1 << 31)

struct pf_profile {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct perfile_session *session;
    struct pf_symbols *symbols;
    struct pf_jit *jit;
    struct pf_filter filter;
    bool filtered;
    struct pf_arena arena; /* names of inlined functions */
    bool inlines;
    bool inlines_by_function;
    bool by_address, joins_unnamed, gives_decoded;
    struct pf_map cgroup_links; /* thread to device and inode of its cgroup namespace, a pointer */
    struct pf_places places;    /* of addresses: the frame, or EXPANDED */
    struct pf_pairs numbered;   /* (module and kind, symbol or address) to frame */
    struct pf_segments
        frames; /* struct pf_frame_info, or _address: others may look at those they know of while more come */
    size_t frame_count;
    uint32_t *expanded; /* lists: how many, and the frames, innermost first; the last is no inlined one */
    size_t expanded_count;
    size_t expanded_room;
    uint32_t *stack;
    size_t stack_room;
    struct perfile_sample decoded;
    struct pf_held_list held;                /* samples that wait for the user part of their stacks */
    struct pf_held *released;                /* the sample in hand is this one; NULL: it is that of the last record */
    struct perfile_callchain_deferred later; /* such a part, of the thread whose samples go now */
    int32_t later_tid;
    bool joins; /* the sample in hand gets it */
    enum { HELD_WAIT, HELD_GO_THREAD, HELD_GO_ALL } release;
    struct pf_counters counters;
    const struct perfile_event *sampled; /* event of the sample in hand; each of its counters has its own */
    uint64_t next_value;                 /* of its counters; their count or more: none is left */
    bool resolved;                       /* its stack */
    const char *arch;                    /* uname -m of the recording, for unwinding; NULL: not known */
    struct pf_profile_sample sample;
    struct pf_profile_totals totals;
    struct pf_profile_drive drive;
    struct pf_ahead *ahead; /* reads this profile in another thread; NULL: the caller does */
    uint64_t until_progress;
};

const struct pf_range *pf_profile_span(struct perfile_reader *reader, struct pf_range *span)
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
    made->inlines_by_function = options->inlines_by_function;
    made->by_address = options->by_address;
    made->joins_unnamed = options->joins_unnamed;
    made->gives_decoded = options->decoded;
    made->drive = options->drive;
    pf_segments_open(&made->frames,
                     options->by_address ? sizeof(struct pf_frame_address) : sizeof(struct pf_frame_info), allocator);
    pf_map_open(&made->cgroup_links, allocator);
    pf_arena_open(&made->arena, allocator);
    pf_held_open(&made->held, allocator);
    pf_places_open(&made->places, allocator);
    pf_pairs_open(&made->numbered, allocator);
    pf_counters_open(&made->counters, allocator);
    int result = pf_symbols_open(reader, &options->find, &made->symbols, error);
    if (result == 0 && options->filter) {
        struct pf_range span;
        result = pf_filter_open(&made->filter, options->filter, pf_profile_span(reader, &span), allocator, error);
        made->filtered = true;
    }
    if (result == 0)
        result = perfile_session_open(reader, &made->session, error);
    if (result == 0)
        result = pf_jit_open(reader, made->session, &options->find, &made->jit, error);
    if (result < 0) {
        pf_profile_close(made);
        return result;
    }
    if (perfile_feature_text(reader, PERFILE_FEATURE_ARCH, NULL, &made->arch, NULL) < 0)
        made->arch = NULL;
    pf_symbols_use_jit(made->symbols, made->jit);
    perfile_session_follow_maps(made->session);
    if (options->keeps_comms)
        perfile_session_keep_comms(made->session);
    if (made->drive.threads > 1 && !made->gives_decoded && !(made->ahead = pf_ahead_open(made, made->drive.threads))) {
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
    if (profile->released)
        pf_held_free(&profile->held, profile->released);
    pf_held_close(&profile->held);
    pf_jit_close(profile->jit);
    pf_places_close(&profile->places);
    pf_pairs_close(&profile->numbered);
    pf_counters_close(&profile->counters);
    pf_map_close(&profile->cgroup_links);
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
    return module->jit ? PF_FRAME_JIT : PF_FRAME_USER;
}

/* The number of a new frame with these keys; UINT32_MAX when memory is short. */
static uint32_t make_frame(struct pf_profile *profile, uint64_t a, uint64_t b, const struct pf_frame_address *info)
{
    const uint32_t frame = (uint32_t)profile->frame_count;
    struct pf_frame_info *made = frame < EXPANDED - 1 ? pf_segments_make(&profile->frames, frame) : NULL;
    if (!made)
        return UINT32_MAX;
    memcpy(made, info, profile->frames.bytes);
    if (!info->ip)
        made->function = frame;
    profile->frame_count++;
    return pf_pairs_put(&profile->numbered, a, b, frame) ? frame : UINT32_MAX;
}

/* The number of the frame with these keys, a new one when there is none; UINT32_MAX when memory is short. */
static uint32_t number_frame(struct pf_profile *profile, uint64_t a, uint64_t b, const struct pf_frame_address *info)
{
    uint32_t frame;
    return pf_pairs_get(&profile->numbered, a, b, &frame) ? frame : make_frame(profile, a, b, info);
}

/* The frame of one address in the function; UINT32_MAX when memory is short. */
static uint32_t number_address(struct pf_profile *profile, uint32_t function, const struct pf_location *location,
                               uint64_t ip, const struct pf_source_frame *source)
{
    if (function == UINT32_MAX || !profile->by_address || !ip)
        return function;
    struct pf_frame_address info = *pf_frame_address(pf_profile_frame(profile, function));
    info.frame.function = function;
    info.frame.address = location->offset;
    info.ip = ip;
    if (source) {
        info.file = source->file;
        info.line = source->line;
    }
    return number_frame(profile, (uint64_t)1 << 62 | function, ip, &info);
}

static uint32_t number_function(struct pf_profile *profile, const struct pf_location *location)
{
    const bool named = location->symbol != PF_NO_SYMBOL;
    const uint64_t address = named || !profile->joins_unnamed ? location->offset : 0;
    const uint64_t a = (uint64_t)location->module << 1 | named, b = named ? location->symbol : address;
    uint32_t frame;
    if (PF_LIKELY(pf_pairs_get(&profile->numbered, a, b, &frame)))
        return frame;
    const struct pf_frame_address info = {
        .frame = {.module = location->module,
                  .symbol = location->symbol,
                  .address = address,
                  .name = pf_symbols_name(profile->symbols, location->module, location->symbol),
                  .kind = kind_of(profile, location)}};
    return make_frame(profile, a, b, &info);
}

static uint32_t number_location(struct pf_profile *profile, const struct pf_location *location, uint64_t ip)
{
    const uint32_t function = number_function(profile, location);
    struct pf_source_frame source;
    const bool known = profile->by_address && location->module != PF_NO_SYMBOL &&
                       pf_symbols_inlines(profile->symbols, location, &source, 1);
    return number_address(profile, function, location, ip, known ? &source : NULL);
}

/* Equal names of one module are equal pointers. */
static uint32_t number_inlined(struct pf_profile *profile, const struct pf_location *location, const char *function)
{
    const uint64_t a = (uint64_t)1 << 63 | (uintptr_t)function;
    const uint64_t into = profile->inlines_by_function ? location->symbol : PF_NO_SYMBOL;
    const uint64_t b = into << 32 | location->module;
    uint32_t frame;
    if (pf_pairs_get(&profile->numbered, a, b, &frame))
        return frame;
    char *readable = function ? pf_demangle(function) : NULL;
    const char *name = readable ? pf_arena_text(&profile->arena, readable, strlen(readable)) : function;
    free(readable);
    const struct pf_frame_address info = {.frame = {.module = location->module,
                                                    .symbol = PF_NO_SYMBOL,
                                                    .name = name ? name : "[unknown]",
                                                    .kind = PF_FRAME_INLINED}};
    return number_frame(profile, a, b, &info);
}

/* The frame of the location, or EXPANDED when functions were inlined there; UINT32_MAX when memory is short. */
static uint32_t expand(struct pf_profile *profile, const struct pf_location *location, uint64_t ip, uint32_t frame)
{
    struct pf_source_frame sources[INLINES_MAX];
    const size_t start = profile->expanded_count;
    const size_t count = pf_symbols_inlined(profile->symbols, location, sources, INLINES_MAX);
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
    for (size_t i = 0; i < inlined; i++, list++) {
        const uint32_t function = number_inlined(profile, location, sources[i].function);
        if ((*list = number_address(profile, function, location, ip, &sources[i])) == UINT32_MAX)
            return UINT32_MAX;
    }
    *list = frame;
    profile->expanded_count += inlined + 2;
    return (uint32_t)start | EXPANDED;
}

/* The frame at an address, or EXPANDED. An address is looked up once per address space. */
static uint32_t place_at(struct pf_profile *profile, const struct perfile_space *space, uint64_t ip)
{
    const uint32_t number = pf_places_number(&profile->places, space);
    struct pf_place *at = number == UINT32_MAX ? NULL : pf_places_find(&profile->places, ip);
    if (PF_LIKELY(at && at->value))
        return at->value - 1;
    struct pf_location location;
    if (!at || !pf_symbols_locate(profile->symbols, pf_symbols_map(profile->symbols, space, ip), ip, &location))
        return UINT32_MAX;
    uint32_t place = number_location(profile, &location, ip);
    if (place != UINT32_MAX && profile->inlines && location.symbol != PF_NO_SYMBOL)
        place = expand(profile, &location, ip, place);
    if (place != UINT32_MAX)
        pf_places_fill(&profile->places, at, place);
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

uint32_t pf_profile_frame_at(struct pf_profile *profile, uint64_t ip)
{
    const uint32_t frame = leaf_of(profile, place_at(profile, space_of_mode(profile, PF_MODE_USER), ip));
    if (frame == UINT32_MAX || pf_profile_frame(profile, frame)->module != PF_NO_SYMBOL)
        return frame;
    return leaf_of(profile, place_at(profile, space_of_mode(profile, PF_MODE_KERNEL), ip));
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
    if (enough)
        __builtin_prefetch(pf_profile_frame(profile, sample->leaf)); /* count_sample asks for it, and frames are many */
    if (pf_callchain_has_branches(&profile->sampled->attr))
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
    sample->event = profile->sampled = record->event;
    sample->time = decoded->time;
    sample->period = decoded->period;
    sample->pid = decoded->pid;
    sample->tid = decoded->tid;
    sample->cpu = decoded->cpu;
    sample->cpumode = record->misc & PERFILE_MISC_CPUMODE_MASK;
    sample->comm = perfile_session_comm(profile->session, decoded->pid, decoded->tid);
    sample->ip = decoded->ip;
    sample->decoded = profile->gives_decoded ? decoded : NULL;
    uint64_t link;
    const bool linked = profile->gives_decoded && pf_map_get(&profile->cgroup_links, (uint32_t)decoded->tid, &link);
    sample->cgroup_link = linked ? (const uint64_t *)(uintptr_t)link : NULL;
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
    profile->totals.unmapped += leaf->module == PF_NO_SYMBOL;
    profile->totals.unresolved += leaf->symbol == PF_NO_SYMBOL;
}

/* ---- counters ---- */

enum { READ_ID = 4, READ_GROUP = 8 };

/* Groups without ids: nobody can tell whose values these are. */
static bool has_counters(const struct pf_profile *profile)
{
    const uint64_t format = profile->decoded.read.format;
    return profile->decoded.present & PERFILE_SAMPLE_READ && (format & READ_ID || !(format & READ_GROUP));
}

/* The next counter of the sample in hand that counted something: 1, 0 when none is left, or an error. */
static int next_counter(struct pf_profile *profile, struct perfile_error *error)
{
    const struct perfile_read *read = &profile->decoded.read;
    struct pf_profile_sample *sample = &profile->sample;
    while (profile->next_value < read->count) {
        struct perfile_read_value value;
        perfile_read_at(read, profile->next_value++, &value);
        const bool has_id = read->format & READ_ID;
        const struct perfile_event *event = has_id ? perfile_event_find(profile->reader, value.id) : sample->event;
        if (!event)
            continue;
        const struct pf_counter_value now = {event, has_id ? value.id : profile->decoded.id, sample->tid, value.value};
        if (!pf_counters_advance(&profile->counters, &now, &sample->period))
            return pf_fail_memory(error, "profile");
        sample->event = event;
        if (sample->period)
            return 1;
    }
    return 0;
}

/* The sample that was decoded is in hand: 1, 0 when nothing was counted for it, or an error. */
static int begin_sample(struct pf_profile *profile, const struct perfile_record *record, struct perfile_error *error)
{
    fill_sample(profile, record);
    profile->resolved = false;
    if (PF_LIKELY(!has_counters(profile)))
        return 1;
    profile->next_value = 0;
    return next_counter(profile, error);
}

/* ---- what else is kept of the recording ---- */

/* False when memory is short. */
static bool keep_namespaces(struct pf_profile *profile, const struct perfile_record *record)
{
    enum { CGROUP_NAMESPACE = 6 };
    struct perfile_namespaces namespaces;
    struct perfile_namespace_link link;
    if (record->type != PERFILE_RECORD_NAMESPACES || !profile->gives_decoded ||
        perfile_record_decode(profile->reader, record, &namespaces, sizeof(namespaces), NULL) < 0 ||
        namespaces.link_info.count <= CGROUP_NAMESPACE)
        return true;
    perfile_namespace_link_at(&namespaces.link_info, CGROUP_NAMESPACE, &link);
    uint64_t *kept = pf_arena_new(&profile->arena, 2 * sizeof(*kept));
    if (!kept || !pf_map_put(&profile->cgroup_links, (uint32_t)namespaces.tid, (uintptr_t)kept))
        return false;
    kept[0] = link.dev;
    kept[1] = link.ino;
    return true;
}

const char *pf_profile_cgroup(const struct pf_profile *profile, uint64_t id)
{
    const char *path = perfile_session_cgroup(profile->session, id);
    return path ? path : "unknown";
}

/* ---- samples whose user part of the stack comes later ---- */

/* The held sample is in hand. 1, 0: it is none, or an error. */
static int take_held(struct pf_profile *profile, struct pf_held *held, struct perfile_error *error)
{
    uint64_t cookie;
    const bool joins = profile->release == HELD_GO_THREAD;
    profile->released = held;
    if (perfile_sample_decode(&held->record, &profile->decoded, NULL) < 0)
        return 0;
    pf_held_take_cookie(&profile->decoded.callchain, &cookie);
    profile->joins = joins && held->cookie == profile->later.cookie;
    return begin_sample(profile, &held->record, error);
}

/* Nothing is in hand. */
static void put_back(struct pf_profile *profile)
{
    if (PF_UNLIKELY(profile->released != NULL))
        pf_held_free(&profile->held, profile->released);
    profile->released = NULL;
    profile->joins = false;
    profile->next_value = UINT64_MAX;
}

/* The next held sample that may go. 1, 0: they wait, or an error. */
static int release_held(struct pf_profile *profile, struct perfile_error *error)
{
    int result = 0;
    while (result == 0) {
        if (PF_LIKELY(profile->release == HELD_WAIT && !pf_held_is_full(&profile->held)))
            return 0;
        put_back(profile);
        struct pf_held *held =
            pf_held_take(&profile->held, profile->release == HELD_GO_THREAD ? &profile->later_tid : NULL);
        if (!held) {
            profile->release = HELD_WAIT;
            return 0;
        }
        result = take_held(profile, held, error);
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

/* ---- all samples ---- */

/* 1: the sample of the record is in hand, 0: it is none, or an error. */
static int take_record(struct pf_profile *profile, const struct perfile_record *record, struct perfile_error *error)
{
    if (record->type != PERFILE_RECORD_SAMPLE) {
        if (record->type == PERFILE_RECORD_CALLCHAIN_DEFERRED)
            take_deferred(profile, record);
        return keep_namespaces(profile, record) ? pf_jit_follow(profile->jit, record, error)
                                                : pf_fail_memory(error, "profile");
    }
    if (record->damaged || perfile_sample_decode(record, &profile->decoded, NULL) < 0)
        return 0;

    const int held = hold(profile, record, error);
    return held > 0 ? 0 : held < 0 ? held : begin_sample(profile, record, error);
}

/* The next counter of the sample in hand, or the next held sample that may go: 1, 0, or an error. */
static int next_known(struct pf_profile *profile, struct perfile_error *error)
{
    const bool none = profile->next_value == UINT64_MAX && !profile->released && profile->release == HELD_WAIT;
    if (PF_LIKELY(none))
        return 0;
    const int result = next_counter(profile, error);
    if (result != 0)
        return result;
    put_back(profile);
    return release_held(profile, error);
}

/* The next sample, or the next counter of the one in hand: 1, 0 at the end, or an error. */
static int next_sample(struct pf_profile *profile, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result = next_known(profile, error);
    while (result == 0) {
        const int more = perfile_session_next(profile->session, &record, error);
        if (more < 0)
            return more;
        if (more == 0) {
            profile->release = HELD_GO_ALL;
            return release_held(profile, error);
        }
        result = take_record(profile, record, error);
        if (result == 0)
            result = release_held(profile, error);
    }
    return result;
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

/* Nothing is looked up any more: what comes now may have the memory. */
static void end_reading(struct pf_profile *profile)
{
    const struct perfile_counts *counts = perfile_reader_counts(profile->reader);
    profile->totals.lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
    pf_places_close(&profile->places);
    pf_pairs_close(&profile->numbered);
    pf_give_back(profile->allocator);
}

int pf_profile_read(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error)
{
    int result;
    *sample = &profile->sample;
    while ((result = next_sample(profile, error)) > 0) {
        if (profile->filtered && !passes(profile)) {
            profile->totals.filtered++;
            continue;
        }
        if (!profile->resolved && !resolve_stack(profile, profile->sample.cpumode))
            return pf_fail_memory(error, "profile");
        profile->resolved = true;
        count_sample(profile);
        tell_progress(profile);
        return 1;
    }
    end_reading(profile);
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
