/* SPDX-License-Identifier: MIT */
#include "output/flame/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfile/profile.h>

#include "base/error.h"

enum { BUCKETS = 200 };

/* Frames of the profile and of the bottom share the trees' numbers while both still grow: these are of the bottom. */
#define BOTTOM ((uint32_t)1 << 31)

static struct pf_flame_stacks *stacks_of(struct pf_flame_recording *g, const struct perfile_event *event)
{
    for (size_t i = 0; i < g->stacks_count; i++)
        if (g->stacks[i].event == event)
            return &g->stacks[i];
    if (!pf_grow(g->allocator, &g->stacks, &g->stacks_room, g->stacks_count + 1, sizeof(*g->stacks)))
        return NULL;
    struct pf_flame_stacks *stacks = &g->stacks[g->stacks_count];
    *stacks = (struct pf_flame_stacks){.event = event};
    if (pf_tree_open(&stacks->tree, g->allocator) < 0)
        return NULL;
    g->stacks_count++;
    return stacks;
}

/* The last slice of the node; NULL: out of memory. */
static uint32_t *slice_of(struct pf_flame_recording *g, struct pf_flame_stacks *stacks, uint32_t node)
{
    const size_t room = stacks->slice_room;
    if (PF_UNLIKELY(node >= room)) {
        if (!pf_grow(g->allocator, &stacks->slice_of, &stacks->slice_room, (size_t)node + 1, sizeof(*stacks->slice_of)))
            return NULL;
        memset(stacks->slice_of + room, 0xff, (stacks->slice_room - room) * sizeof(*stacks->slice_of));
    }
    return &stacks->slice_of[node];
}

/* Times go up, nearly: where a node comes back to a bucket there are two slices for now. */
static bool add_slice(struct pf_flame_recording *g, struct pf_flame_stacks *stacks)
{
    const uint64_t time = stacks->time, weight = stacks->weight;
    const uint32_t node = stacks->arriving.entered;
    if (!g->span || time < g->first_time || time - g->first_time > g->span)
        return true;
    const uint32_t bucket = (uint32_t)((time - g->first_time) / (g->span / BUCKETS + 1));
    uint32_t *place = slice_of(g, stacks, node);
    if (!place)
        return false;
    if (*place != UINT32_MAX && g->slices[*place].bucket == bucket) {
        g->slices[*place].weight += weight;
        return true;
    }
    if (g->slice_count >= UINT32_MAX ||
        !pf_grow(g->allocator, &g->slices, &g->slice_room, g->slice_count + 1, sizeof(*g->slices)))
        return false;
    *place = (uint32_t)g->slice_count++;
    g->slices[*place] = (struct pf_flame_slice){
        .event = (uint32_t)(stacks - g->stacks), .bucket = bucket, .node = node, .weight = weight};
    return true;
}

/* The stack before the last one has come into the tree. */
static bool note_entered(struct pf_flame_recording *g, struct pf_flame_stacks *stacks)
{
    return !stacks->samples || add_slice(g, stacks);
}

static bool add_sample(struct pf_flame_recording *g, const struct pf_profile_sample *sample)
{
    struct pf_flame_stacks *stacks = stacks_of(g, sample->event);
    uint32_t bottom[PF_BOTTOM_LEVELS];
    for (size_t level = 0; level < g->bottom.level_count; level++) {
        const uint32_t frame = pf_bottom_frame(&g->bottom, level, sample);
        if (frame == UINT32_MAX)
            return false;
        bottom[level] = frame | BOTTOM;
    }
    const struct pf_stack_frames stack = {.bottom = bottom,
                                          .bottom_count = g->bottom.level_count,
                                          .frames = sample->frames,
                                          .frame_count = sample->frame_count,
                                          .leaf = PF_STACK_NO_LEAF,
                                          .weight = g->options->flame->count_samples ? 1 : sample->period};
    if (!stacks || !pf_stacks_add(&stacks->arriving, &stacks->tree, &stack) || !note_entered(g, stacks))
        return false;
    stacks->time = sample->time;
    stacks->weight = stack.weight;
    stacks->samples++;
    return true;
}

static bool end_stacks(struct pf_flame_recording *g)
{
    for (size_t i = 0; i < g->stacks_count; i++)
        if (!pf_stacks_end(&g->stacks[i].arriving, &g->stacks[i].tree) || !note_entered(g, &g->stacks[i]))
            return false;
    return true;
}

/* Before the reader is driven by who reads the samples. */
static int find_span(struct pf_flame_recording *g, struct perfile_error *error)
{
    uint64_t first, last;
    const int known = perfile_reader_span(g->reader, &first, &last, error);
    if (known > 0 && first < last) {
        g->first_time = first;
        g->span = last - first;
    }
    return known < 0 ? known : 0;
}

static int gather(struct pf_flame_recording *g, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(g->profile, &sample, error)) > 0)
        if (sample->event && !add_sample(g, sample))
            return pf_fail_memory(error, "flame graph");
    return end_stacks(g) ? result : pf_fail_memory(error, "flame graph");
}

/* ---- the set ---- */

static struct pf_flame_frame flame_frame(const struct pf_flame_recording *g, uint32_t number)
{
    static const uint8_t kinds[] = {[PF_FRAME_USER] = PF_FLAME_USER,
                                    [PF_FRAME_KERNEL] = PF_FLAME_KERNEL,
                                    [PF_FRAME_INLINED] = PF_FLAME_INLINED,
                                    [PF_FRAME_JIT] = PF_FLAME_JIT,
                                    [PF_FRAME_UNKNOWN] = PF_FLAME_UNKNOWN};
    const struct pf_frame_info *info = pf_profile_frame(g->profile, number);
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(g->profile), info->module);
    return (struct pf_flame_frame){
        .name = info->name, .module = module ? module->name : NULL, .kind = kinds[info->kind]};
}

static int by_place(const void *a, const void *b)
{
    const struct pf_flame_slice *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* In their order, each once. */
static void order_slices(struct pf_flame_recording *g)
{
    size_t kept = 0;
    if (g->slice_count)
        qsort(g->slices, g->slice_count, sizeof(*g->slices), by_place);
    for (size_t i = 0; i < g->slice_count; i++)
        if (kept && by_place(&g->slices[kept - 1], &g->slices[i]) == 0)
            g->slices[kept - 1].weight += g->slices[i].weight;
        else
            g->slices[kept++] = g->slices[i];
    g->slice_count = kept;
}

static const char *unit_of(struct pf_flame_recording *g, const struct perfile_event *event)
{
    char unit[64];
    if (g->options->flame->count_samples)
        return "samples";
    perfile_event_unit(event, unit, sizeof(unit));
    return pf_arena_text(&g->bottom.arena, unit, strlen(unit));
}

static bool make_events(struct pf_flame_recording *g, uint32_t plain)
{
    g->events = pf_new(g->allocator, (g->stacks_count + 1) * sizeof(*g->events));
    for (size_t i = 0; g->events && i < g->stacks_count; i++) {
        struct pf_tree *tree = &g->stacks[i].tree;
        for (size_t n = 1; n < tree->count; n++)
            tree->nodes[n].frame = (tree->nodes[n].frame & ~BOTTOM) + (tree->nodes[n].frame & BOTTOM ? plain : 0);
        if (!pf_tree_sum(tree))
            return false;
        g->events[i] = (struct pf_flame_event){
            .name = g->stacks[i].event->name, .tree = tree, .unit = unit_of(g, g->stacks[i].event)};
        if (!g->events[i].unit)
            return false;
    }
    return g->events != NULL;
}

static bool make_frames(struct pf_flame_recording *g, size_t plain)
{
    g->frame_count = plain + g->bottom.frame_count;
    g->frames = pf_new(g->allocator, (g->frame_count + 1) * sizeof(*g->frames));
    if (!g->frames || !pf_bottom_finish(&g->bottom))
        return false;
    for (size_t i = 0; i < plain; i++)
        g->frames[i] = flame_frame(g, (uint32_t)i);
    if (g->bottom.frame_count)
        memcpy(g->frames + plain, g->bottom.frames, g->bottom.frame_count * sizeof(*g->frames));
    return true;
}

static bool make_set(struct pf_flame_recording *g)
{
    const size_t plain = pf_profile_frame_count(g->profile);
    const char *host = NULL;
    if (!make_frames(g, plain) || !make_events(g, (uint32_t)plain))
        return false;
    order_slices(g);
    if (pf_memory_heed(g->allocator, perfile_feature_text(g->reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, NULL)) <
            0 ||
        !*host)
        host = NULL;
    snprintf(g->title, sizeof(g->title), "Flame graph%s%s", host ? " of " : "", host ? host : "");
    g->set = (struct pf_flame_set){.title = g->options->flame->title ? g->options->flame->title : g->title,
                                   .unit = "events",
                                   .event_count = (uint32_t)g->stacks_count,
                                   .events = g->events,
                                   .frames = g->frames,
                                   .frame_count = g->frame_count,
                                   .slices = g->slices,
                                   .slice_count = g->slice_count,
                                   .bucket_count = g->slice_count ? BUCKETS : 0,
                                   .start_ns = g->first_time,
                                   .bucket_ns = g->span / BUCKETS + 1};
    return true;
}

/* ---- the whole ---- */

int pf_flame_recording_open(struct pf_flame_recording *g, struct perfile_reader *reader,
                            const struct perfile_output_options *options, bool timeline, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->allocator);
    struct pf_profile_options how = {.filter = options->filter,
                                     .find = pf_find_options_of(options->symbols),
                                     .unwind = options->symbols->unwind,
                                     .frames = {.inlines = !options->symbols->no_inline, .joins_unnamed = true},
                                     .in_blocks = true,
                                     .drive = pf_profile_drive_of(options)};
    /* The page joins threads of one name by itself. */
    const char *by = options->flame->by ? options->flame->by : timeline ? "tid" : "comm";
    how.find.allocator = allocator;
    if (reader == options->flame->before)
        how.find.recording = options->flame->before_path;
    *g = (struct pf_flame_recording){.allocator = allocator, .options = options, .reader = reader};
    int result = pf_bottom_open(&g->bottom, allocator, by, options->flame->time_quantum, error);
    if (result == 0 && timeline)
        result = find_span(g, error);
    if (result == 0)
        result = pf_profile_open(reader, &how, &g->profile, error);
    if (result == 0)
        result = gather(g, error);
    if (result == 0 && reader != options->flame->before)
        pf_profile_tell_unmatched(g->profile, options->unmatched, options->unmatched_context);
    if (result == 0 && !make_set(g))
        result = pf_fail_memory(error, "flame graph");
    return result;
}

void pf_flame_recording_close(struct pf_flame_recording *g)
{
    for (size_t i = 0; i < g->stacks_count; i++) {
        struct pf_flame_stacks *stacks = &g->stacks[i];
        (void)pf_stacks_end(&stacks->arriving, &stacks->tree);
        pf_tree_close(&stacks->tree);
        pf_free(g->allocator, stacks->slice_of, stacks->slice_room * sizeof(*stacks->slice_of));
    }
    pf_free(g->allocator, g->events, (g->stacks_count + 1) * sizeof(*g->events));
    pf_free(g->allocator, g->stacks, g->stacks_room * sizeof(*g->stacks));
    pf_free(g->allocator, g->slices, g->slice_room * sizeof(*g->slices));
    pf_free(g->allocator, g->frames, (g->frame_count + 1) * sizeof(*g->frames));
    pf_bottom_close(&g->bottom);
    pf_profile_close(g->profile);
}

static int fail_event(const struct pf_flame_recording *g, const char *name, struct perfile_error *error)
{
    char known[160] = "";
    for (size_t i = 0; i < g->stacks_count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", g->events[i].name);
    }
    return pf_about(error, name, strlen(name),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "flame graph",
                            "no samples of event '%.80s'; samples exist for %s", name, known));
}

int pf_flame_recording_event(const struct pf_flame_recording *g, const char *name, uint32_t *event,
                             struct perfile_error *error)
{
    *event = 0;
    char why[PF_NOTE_BYTES] = "";
    if (g->stacks_count == 0 && !pf_profile_totals(g->profile)->filtered && pf_note_no_samples(g->reader, 0, why))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "flame graph", "there are no samples. %s", why);
    if (g->stacks_count == 0)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "flame graph",
                       pf_profile_totals(g->profile)->filtered ? "no sample passes the filters"
                                                               : "the recording has no samples");
    if (name)
        return pf_flame_event_find(&g->set, name, event) ? 0 : fail_event(g, name, error);
    for (uint32_t i = 0; i < g->stacks_count; i++)
        if (g->stacks[i].samples > g->stacks[*event].samples)
            *event = i;
    return 0;
}
