/* SPDX-License-Identifier: MIT */
#include "analysis/profile_ahead.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/stages.h"

enum { THREADS = 2, BATCH_SAMPLES = 1024, BATCH_FRAMES = 64 * 1024, BATCHES = 2 * THREADS + 1 };

struct batch {
    struct pf_profile_sample *samples;
    size_t count, room;
    size_t given;
    uint32_t *frames; /* of all stacks, one behind the other */
    size_t frame_count, frame_room;
    int result; /* what comes behind the samples: 1 for the next batch, or what pf_profile_next returns */
    struct perfile_error error;
};

struct pf_ahead {
    const struct perfile_allocator *allocator;
    struct pf_profile *profile;
    unsigned threads;
    struct pf_stages *stages;
    struct batch batches[BATCHES];
    struct batch *given; /* the one the caller has */
};

static bool keep(const struct pf_ahead *ahead, struct batch *batch, const struct pf_profile_sample *sample)
{
    if (!pf_grow(ahead->allocator, &batch->samples, &batch->room, batch->count + 1, sizeof(*batch->samples)) ||
        !pf_grow(ahead->allocator, &batch->frames, &batch->frame_room, batch->frame_count + sample->frame_count,
                 sizeof(*batch->frames)))
        return false;
    memcpy(batch->frames + batch->frame_count, sample->frames, sample->frame_count * sizeof(*batch->frames));
    batch->frame_count += sample->frame_count;
    batch->samples[batch->count++] = *sample;
    return true;
}

/* The frames may have moved while more came. */
static void point_at_frames(struct batch *batch)
{
    const uint32_t *frames = batch->frames;
    for (size_t i = 0; i < batch->count; i++) {
        batch->samples[i].frames = frames;
        frames += batch->samples[i].frame_count;
    }
}

static bool read_batch(void *context, void *item, unsigned worker)
{
    const struct pf_ahead *ahead = context;
    struct batch *batch = item;
    const struct pf_profile_sample *sample;
    (void)worker;
    batch->count = batch->given = batch->frame_count = 0;
    do {
        batch->result = pf_profile_read(ahead->profile, &sample, &batch->error);
        if (batch->result > 0 && !keep(ahead, batch, sample))
            batch->result = pf_fail_memory(&batch->error, "profile");
    } while (batch->result > 0 && batch->count < BATCH_SAMPLES && batch->frame_count < BATCH_FRAMES);
    point_at_frames(batch);
    return batch->result > 0;
}

struct pf_ahead *pf_ahead_open(struct pf_profile *profile, unsigned threads, const struct perfile_allocator *allocator)
{
    struct pf_ahead *ahead = pf_new(allocator, sizeof(*ahead));
    if (!ahead)
        return NULL;
    ahead->allocator = allocator;
    ahead->profile = profile;
    ahead->threads = (unsigned)pf_min(threads, THREADS);
    return ahead;
}

/* Not before the first sample is asked for: until then the caller may look at the reader. */
static bool start(struct pf_ahead *ahead)
{
    static const struct pf_stage stage = {.work = read_batch};
    const struct pf_stages_plan plan = {.stages = &stage,
                                        .stage_count = 1,
                                        .threads = ahead->threads,
                                        .context = ahead,
                                        .items = ahead->batches,
                                        .item_bytes = sizeof(*ahead->batches),
                                        .item_count = BATCHES};
    ahead->stages = pf_stages_open(&plan, ahead->allocator);
    return ahead->stages;
}

void pf_ahead_stop(struct pf_ahead *ahead)
{
    pf_stages_close(ahead->stages);
    ahead->stages = NULL;
}

void pf_ahead_close(struct pf_ahead *ahead)
{
    if (!ahead)
        return;
    pf_ahead_stop(ahead);
    for (unsigned i = 0; i < BATCHES; i++) {
        const struct batch *batch = &ahead->batches[i];
        pf_free(ahead->allocator, batch->samples, batch->room * sizeof(*batch->samples));
        pf_free(ahead->allocator, batch->frames, batch->frame_room * sizeof(*batch->frames));
    }
    pf_free(ahead->allocator, ahead, sizeof(*ahead));
}

int pf_ahead_next(struct pf_ahead *ahead, const struct pf_profile_sample **sample, struct perfile_error *error)
{
    if (!ahead->given && !start(ahead))
        return pf_fail_memory(error, "profile");
    while (!ahead->given || ahead->given->given == ahead->given->count) {
        if (ahead->given && ahead->given->result <= 0) {
            pf_ahead_stop(ahead);
            if (ahead->given->result < 0 && error)
                *error = ahead->given->error;
            return ahead->given->result;
        }
        ahead->given = pf_stages_next(ahead->stages);
    }
    *sample = &ahead->given->samples[ahead->given->given++];
    return 1;
}
