/* SPDX-License-Identifier: MIT */
/*
 * Samples go through here in batches, each in two stages: one reads records in their order and follows names and
 * mappings, one resolves addresses. Each keeps state of its own and takes the batches in order.
 */
#include "analysis/profile.h"

#include <stdlib.h>

#include "analysis/filter.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pairs.h"
#include "base/segments.h"
#include "base/stages.h"
#include "symbol/demangle.h"

/* Values of a callchain that say whose addresses follow: the last page of the address space, as signed numbers. */
#define CONTEXT_MIN ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

enum { MODE_KERNEL = 1, MODE_USER = 2, KERNEL_PID = -1, UNWIND_MAX = 127, INLINES_MAX = 64 };
enum { BATCH_SAMPLES = 1024, BATCH_BYTES = 128 * 1024, LOOK_AHEAD = 8 };

/* Of a number in the cache: the place in `expanded` of a list of frames, not a frame. */
#define EXPANDED ((uint32_t)1 << 31)

/* What the second stage needs of a sample. */
struct taken {
    const struct perfile_space *user; /* as they were then */
    const struct perfile_space *kernel;
    size_t record;  /* where the copy of its record is in the batch */
    uint32_t bytes; /* 0: its address is all there is to resolve */
    uint16_t misc;
    size_t frames; /* where its stack is in the batch */
};

struct batch {
    struct pf_profile_sample *samples; /* BATCH_SAMPLES */
    struct taken *taken;
    size_t count;
    size_t given; /* to the caller */
    uint8_t *records;
    size_t record_bytes, record_room;
    uint32_t *frames;
    size_t frame_count, frame_room;
    int result; /* what comes behind the samples: 1 for the next batch, or what pf_profile_next returns */
    struct perfile_error error;
};

struct pf_profile {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct pf_stages *stages;
    struct batch *batches;
    unsigned batch_count;
    struct batch *given; /* the one the caller has */
    struct pf_profile_drive drive;

    /* of the first stage */
    struct perfile_session *session;
    struct pf_filter filter;
    bool filtered;
    struct perfile_sample read;

    /* of the second */
    struct pf_symbols *symbols;
    struct pf_arena arena; /* names of inlined functions */
    bool inlines;
    struct pf_pairs cache;     /* (address space, address) to frame, or to EXPANDED */
    struct pf_pairs numbered;  /* (module and kind, symbol or address) to frame */
    struct pf_segments frames; /* struct pf_frame_info */
    size_t frame_count;
    uint32_t *expanded; /* lists: how many, and the frames, innermost first; the last is no inlined one */
    size_t expanded_count;
    size_t expanded_room;
    struct batch *batch;       /* in hand, */
    const struct taken *taken; /* and of it the sample in hand */
    struct pf_profile_sample *sample;
    struct perfile_sample decoded;
    const char *arch; /* uname -m of the recording, for unwinding; NULL: not known */

    struct pf_profile_totals totals; /* `filtered` is of the first stage, `lost` is known at the end */
};

/* When the samples are, as the header says; NULL when it does not. */
static const struct pf_range *span_of(struct perfile_reader *reader, struct pf_range *span)
{
    bool known = perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "first", &span->first, NULL) == 0 &&
                 perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "last", &span->last, NULL) == 0;
    return known && span->first <= span->last ? span : NULL;
}

static bool open_batches(struct pf_profile *profile)
{
    const unsigned count = pf_stages_items(profile->drive.threads);
    profile->batches = pf_new(profile->allocator, count * sizeof(*profile->batches));
    profile->batch_count = profile->batches ? count : 0;
    for (unsigned i = 0; i < profile->batch_count; i++) {
        struct batch *batch = &profile->batches[i];
        batch->samples = pf_new(profile->allocator, BATCH_SAMPLES * sizeof(*batch->samples));
        batch->taken = pf_new(profile->allocator, BATCH_SAMPLES * sizeof(*batch->taken));
        if (!batch->samples || !batch->taken)
            return false;
    }
    return profile->batches;
}

static void close_batches(struct pf_profile *profile)
{
    for (unsigned i = 0; i < profile->batch_count; i++) {
        const struct batch *batch = &profile->batches[i];
        pf_free(profile->allocator, batch->samples, BATCH_SAMPLES * sizeof(*batch->samples));
        pf_free(profile->allocator, batch->taken, BATCH_SAMPLES * sizeof(*batch->taken));
        pf_free(profile->allocator, batch->records, batch->record_room);
        pf_free(profile->allocator, batch->frames, batch->frame_room * sizeof(*batch->frames));
    }
    pf_free(profile->allocator, profile->batches, profile->batch_count * sizeof(*profile->batches));
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
    made->read.size = made->decoded.size = sizeof(made->decoded);
    made->drive = options->drive;
    made->inlines = options->inlines;
    pf_arena_open(&made->arena, allocator);
    pf_segments_open(&made->frames, sizeof(struct pf_frame_info), allocator);
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
    if (result == 0 && !open_batches(made))
        result = pf_fail_memory(error, "profile");
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
    pf_stages_close(profile->stages);
    close_batches(profile);
    perfile_session_close(profile->session);
    if (profile->filtered)
        pf_filter_close(&profile->filter);
    pf_symbols_close(profile->symbols);
    pf_pairs_close(&profile->cache);
    pf_pairs_close(&profile->numbered);
    pf_segments_close(&profile->frames);
    pf_free(profile->allocator, profile->expanded, profile->expanded_room * sizeof(*profile->expanded));
    pf_arena_close(&profile->arena);
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
    struct batch *batch = profile->batch;
    if (place == UINT32_MAX)
        return false;
    const uint32_t *frames = &place;
    size_t count = 1;
    if (PF_UNLIKELY(place & EXPANDED)) {
        frames = profile->expanded + (place & ~EXPANDED);
        count = *frames++;
    }
    if (PF_UNLIKELY(batch->frame_count + count > batch->frame_room) &&
        !pf_grow(profile->allocator, &batch->frames, &batch->frame_room, batch->frame_count + count,
                 sizeof(*batch->frames)))
        return false;
    for (size_t i = 0; i < count; i++)
        batch->frames[batch->frame_count++] = frames[i];
    profile->sample->frame_count += count;
    return true;
}

/* Guests and hypervisors have no mappings here. */
static const struct perfile_space *space_of_mode(struct pf_profile *profile, unsigned mode)
{
    return mode == MODE_USER ? profile->taken->user : mode == MODE_KERNEL ? profile->taken->kernel : NULL;
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
    struct pf_profile_sample *sample = profile->sample;
    const uint32_t leaf = place_at(profile, space, sample->ip);
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
    return enough;
}

/* ---- the second stage: addresses ---- */

static void count_sample(struct pf_profile *profile)
{
    const struct pf_frame_info *leaf = pf_profile_frame(profile, profile->sample->leaf);
    profile->totals.samples++;
    profile->totals.period += profile->sample->period;
    profile->totals.unmapped += leaf->module == PF_NO_SYMBOL;
    profile->totals.unresolved += leaf->symbol == PF_NO_SYMBOL;
}

/* Takes the sample in hand. Its record decodes: it did before. */
static void decode_again(struct pf_profile *profile)
{
    const struct taken *taken = profile->taken;
    const struct perfile_record record = {.type = PERFILE_RECORD_SAMPLE,
                                          .misc = taken->misc,
                                          .bytes = taken->bytes,
                                          .stated_bytes = taken->bytes,
                                          .data = profile->batch->records + taken->record,
                                          .event = profile->sample->event};
    if (!taken->bytes || perfile_sample_decode(&record, &profile->decoded, NULL) < 0)
        profile->decoded.present = 0;
}

static void prefetch(const struct pf_profile *profile, const struct batch *batch, size_t i)
{
    const struct taken *taken = &batch->taken[i];
    const struct perfile_space *space = batch->samples[i].cpumode == MODE_USER ? taken->user : taken->kernel;
    pf_pairs_prefetch(&profile->cache, (uintptr_t)space, batch->samples[i].ip);
}

static bool resolve_batch(void *context, void *item, unsigned worker)
{
    struct pf_profile *profile = context;
    struct batch *batch = profile->batch = item;
    (void)worker;
    batch->frame_count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (i + LOOK_AHEAD < batch->count)
            prefetch(profile, batch, i + LOOK_AHEAD);
        profile->taken = &batch->taken[i];
        profile->sample = &batch->samples[i];
        batch->taken[i].frames = batch->frame_count;
        decode_again(profile);
        if (!resolve_stack(profile, profile->sample->cpumode)) {
            batch->result = pf_fail_memory(&batch->error, "profile");
            batch->count = i;
            break;
        }
        count_sample(profile);
    }
    for (size_t i = 0; i < batch->count; i++)
        batch->samples[i].frames = batch->frames + batch->taken[i].frames;
    return true;
}

/* ---- the first stage: records ---- */

static void fill_sample(struct pf_profile *profile, const struct perfile_record *record,
                        struct pf_profile_sample *sample)
{
    const struct perfile_sample *read = &profile->read;
    *sample = (struct pf_profile_sample){.event = record->event,
                                         .time = read->time,
                                         .period = read->period,
                                         .weight = read->weight,
                                         .pid = read->pid,
                                         .tid = read->tid,
                                         .cpu = read->cpu,
                                         .cpumode = record->misc & PERFILE_MISC_CPUMODE_MASK,
                                         .comm = perfile_session_comm(profile->session, read->pid, read->tid),
                                         .ip = read->ip};
}

static bool passes(struct pf_profile *profile, const struct pf_profile_sample *sample)
{
    const struct pf_filter_subject subject = {
        .time = profile->read.present & PERFILE_SAMPLE_TIME ? sample->time : UINT64_MAX,
        .cpu = profile->read.present & PERFILE_SAMPLE_CPU ? (int32_t)sample->cpu : -1,
        .pid = sample->pid,
        .tid = sample->tid,
        .comm = sample->comm,
        .event = sample->event};
    return pf_filter_passes(&profile->filter, &subject);
}

/* The record goes away with the next one. */
static bool keep_record(struct pf_profile *profile, struct batch *batch, const struct perfile_record *record)
{
    struct taken *taken = &batch->taken[batch->count];
    *taken = (struct taken){.user = perfile_session_space(profile->session, profile->read.pid),
                            .kernel = perfile_session_space(profile->session, KERNEL_PID),
                            .misc = record->misc,
                            .record = batch->record_bytes};
    if (!(profile->read.present & (PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_STACK_USER)))
        return true;
    const size_t end = batch->record_bytes + ((record->bytes + 7u) & ~(size_t)7);
    if (!pf_grow(profile->allocator, &batch->records, &batch->record_room, end, 1))
        return false;
    memcpy(batch->records + batch->record_bytes, record->data, record->bytes);
    batch->record_bytes = end;
    taken->bytes = record->bytes;
    return true;
}

/* False when memory is short. */
static bool take(struct pf_profile *profile, struct batch *batch, const struct perfile_record *record)
{
    if (record->type != PERFILE_RECORD_SAMPLE || record->damaged ||
        perfile_sample_decode(record, &profile->read, NULL) < 0)
        return true;
    fill_sample(profile, record, &batch->samples[batch->count]);
    if (profile->filtered && !passes(profile, &batch->samples[batch->count])) {
        profile->totals.filtered++;
        return true;
    }
    if (!keep_record(profile, batch, record))
        return false;
    batch->count++;
    return true;
}

static bool read_batch(void *context, void *item, unsigned worker)
{
    struct pf_profile *profile = context;
    struct batch *batch = item;
    const struct perfile_record *record;
    (void)worker;
    batch->count = batch->given = batch->record_bytes = 0;
    do {
        batch->result = perfile_session_next(profile->session, &record, &batch->error);
        if (batch->result > 0 && !take(profile, batch, record))
            batch->result = pf_fail_memory(&batch->error, "profile");
    } while (batch->result > 0 && batch->count < BATCH_SAMPLES && batch->record_bytes < BATCH_BYTES);
    if (profile->drive.progress)
        profile->drive.progress(profile->drive.progress_context, perfile_reader_counts(profile->reader)->data_bytes,
                                perfile_reader_file(profile->reader)->file_bytes);
    return batch->result > 0;
}

/* ---- the caller's part ---- */

static bool start(struct pf_profile *profile)
{
    static const struct pf_stage stages[] = {{.work = read_batch}, {.work = resolve_batch}};
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = profile->drive.threads,
                                        .context = profile,
                                        .items = profile->batches,
                                        .item_bytes = sizeof(*profile->batches),
                                        .item_count = profile->batch_count};
    profile->stages = pf_stages_open(&plan, profile->allocator);
    return profile->stages;
}

void pf_profile_stop(struct pf_profile *profile)
{
    pf_stages_close(profile->stages);
    profile->stages = NULL;
}

/* Nothing runs in other threads any more: all is the caller's again. */
static int finish(struct pf_profile *profile, struct perfile_error *error)
{
    pf_profile_stop(profile);
    const struct perfile_counts *counts = perfile_reader_counts(profile->reader);
    profile->totals.lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
    if (profile->given->result < 0 && error)
        *error = profile->given->error;
    return profile->given->result;
}

int pf_profile_next(struct pf_profile *profile, const struct pf_profile_sample **sample, struct perfile_error *error)
{
    if (!profile->given && !start(profile))
        return pf_fail_memory(error, "profile");
    while (!profile->given || profile->given->given == profile->given->count) {
        if (profile->given && profile->given->result <= 0)
            return finish(profile, error);
        profile->given = pf_stages_next(profile->stages);
    }
    *sample = &profile->given->samples[profile->given->given++];
    return 1;
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
