/* SPDX-License-Identifier: MIT */
/* From a recording to what flame graphs are made of: a tree of stacks per event, and what they weighed over time. */
#include "output/flame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/profile.h"
#include "base/error.h"
#include "base/pairs.h"
#include "output/output.h"

enum { BUCKETS = 200 };

struct event_stacks {
    const struct perfile_event *event;
    struct pf_tree tree;
    uint64_t samples;
    uint64_t weight;
};

/*
 * Frames of the profile and threads share the numbers of the trees while both still grow: frames are even, threads odd.
 */
struct gathering {
    const struct perfile_allocator *allocator;
    const struct perfile_output_options *options;
    struct perfile_reader *reader;
    struct pf_profile *profile;
    struct event_stacks *events;
    size_t event_count, event_room;
    struct pf_pairs threads; /* (comm, pid or tid) to its place in thread_frames */
    struct pf_flame_frame *thread_frames;
    size_t thread_count, thread_room;
    struct pf_pairs slice_of; /* (event and bucket, node) to its place in slices */
    struct pf_flame_slice *slices;
    size_t slice_count, slice_room;
    uint64_t first_time, span; /* 0: the header does not say when the samples are: no timeline */
};

static uint32_t thread_frame(struct gathering *g, const struct pf_profile_sample *sample)
{
    const unsigned threads = g->options->flame.threads;
    const uint64_t who = threads == PERFILE_FLAME_BY_TID ? (uint64_t)(uint32_t)sample->pid << 32 | (uint32_t)sample->tid
                         : threads == PERFILE_FLAME_BY_PID ? (uint64_t)(uint32_t)sample->pid << 32
                                                           : 0;
    uint32_t place;
    if (!pf_pairs_get(&g->threads, (uintptr_t)sample->comm, who, &place)) {
        place = (uint32_t)g->thread_count;
        if (!pf_grow(g->allocator, &g->thread_frames, &g->thread_room, g->thread_count + 1,
                     sizeof(*g->thread_frames)) ||
            !pf_pairs_put(&g->threads, (uintptr_t)sample->comm, who, place))
            return UINT32_MAX;
        g->thread_frames[g->thread_count++] = (struct pf_flame_frame){
            .name = sample->comm, .pid = (uint32_t)sample->pid, .tid = (uint32_t)sample->tid, .kind = PF_FLAME_THREAD};
    }
    return place << 1 | 1;
}

static struct event_stacks *stacks_of(struct gathering *g, const struct perfile_event *event)
{
    for (size_t i = 0; i < g->event_count; i++)
        if (g->events[i].event == event)
            return &g->events[i];
    if (!pf_grow(g->allocator, &g->events, &g->event_room, g->event_count + 1, sizeof(*g->events)))
        return NULL;
    struct event_stacks *stacks = &g->events[g->event_count];
    *stacks = (struct event_stacks){.event = event};
    if (pf_tree_open(&stacks->tree, g->allocator) < 0)
        return NULL;
    g->event_count++;
    return stacks;
}

static bool add_slice(struct gathering *g, uint32_t event, uint64_t time, uint32_t node, uint64_t weight)
{
    if (!g->span || time < g->first_time || time - g->first_time > g->span)
        return true;
    const uint32_t bucket = (uint32_t)((time - g->first_time) / (g->span / BUCKETS + 1));
    const uint64_t key = (uint64_t)event << 32 | bucket;
    uint32_t place;
    if (!pf_pairs_get(&g->slice_of, key, node, &place)) {
        place = (uint32_t)g->slice_count;
        if (!pf_grow(g->allocator, &g->slices, &g->slice_room, g->slice_count + 1, sizeof(*g->slices)) ||
            !pf_pairs_put(&g->slice_of, key, node, place))
            return false;
        g->slices[g->slice_count++] = (struct pf_flame_slice){.event = event, .bucket = bucket, .node = node};
    }
    g->slices[place].weight += weight;
    return true;
}

static bool add_sample(struct gathering *g, const struct pf_profile_sample *sample)
{
    struct event_stacks *stacks = stacks_of(g, sample->event);
    const uint32_t thread = thread_frame(g, sample);
    if (!stacks || thread == UINT32_MAX)
        return false;
    uint32_t node = pf_tree_child(&stacks->tree, 0, thread);
    for (size_t i = sample->frame_count; i-- > 0 && node;)
        node = pf_tree_child(&stacks->tree, node, sample->frames[i] << 1);
    if (!node)
        return false;
    const uint64_t weight = g->options->flame.count_samples ? 1 : sample->period;
    pf_tree_add(&stacks->tree, node, weight);
    stacks->samples++;
    stacks->weight += weight;
    return add_slice(g, (uint32_t)(stacks - g->events), sample->time, node, weight);
}

static int gather(struct gathering *g, bool timeline, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    uint64_t first, last;
    int result;
    if (timeline && perfile_feature_number(g->reader, PERFILE_FEATURE_SAMPLE_TIME, "first", &first, NULL) == 0 &&
        perfile_feature_number(g->reader, PERFILE_FEATURE_SAMPLE_TIME, "last", &last, NULL) == 0 && first < last) {
        g->first_time = first;
        g->span = last - first;
    }
    while ((result = pf_profile_next(g->profile, &sample, error)) > 0)
        if (sample->event && !add_sample(g, sample))
            return pf_fail_memory(error, "flame graph");
    return result;
}

/* ---- the set ---- */

static struct pf_flame_frame flame_frame(const struct gathering *g, uint32_t number)
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

struct made_set {
    struct pf_flame_set set;
    struct pf_flame_event *events;
    struct pf_flame_frame *frames;
    size_t frame_count;
    char title[160];
};

/* Periods of the clocks are times. */
static const char *unit_of(const struct gathering *g, size_t event)
{
    const struct perfile_attr *attr = &g->events[event].event->attr;
    enum { SOFTWARE = 1, CPU_CLOCK = 0, TASK_CLOCK = 1 };
    if (g->options->flame.count_samples)
        return "samples";
    return attr->type == SOFTWARE && (attr->config == CPU_CLOCK || attr->config == TASK_CLOCK) ? "ns" : "events";
}

static bool make_set(struct gathering *g, struct made_set *made)
{
    const size_t plain = pf_profile_frame_count(g->profile);
    const char *host = NULL;
    made->frame_count = plain + g->thread_count;
    made->frames = pf_new(g->allocator, (made->frame_count + 1) * sizeof(*made->frames));
    made->events = pf_new(g->allocator, (g->event_count + 1) * sizeof(*made->events));
    if (!made->frames || !made->events)
        return false;
    for (size_t i = 0; i < plain; i++)
        made->frames[i] = flame_frame(g, (uint32_t)i);
    for (size_t i = 0; i < g->thread_count; i++)
        made->frames[plain + i] = g->thread_frames[i];
    for (size_t i = 0; i < g->event_count; i++) {
        struct pf_tree *tree = &g->events[i].tree;
        for (size_t n = 1; n < tree->count; n++)
            tree->nodes[n].frame = (tree->nodes[n].frame >> 1) + (tree->nodes[n].frame & 1 ? (uint32_t)plain : 0);
        pf_tree_sum(tree);
        made->events[i] =
            (struct pf_flame_event){.name = g->events[i].event->name, .tree = tree, .unit = unit_of(g, i)};
    }
    if (g->slice_count)
        qsort(g->slices, g->slice_count, sizeof(*g->slices), by_place);
    if (perfile_feature_text(g->reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, NULL) < 0)
        host = NULL;
    snprintf(made->title, sizeof(made->title), "Flame graph%s%s", host ? " of " : "", host ? host : "");
    made->set = (struct pf_flame_set){.title = g->options->flame.title ? g->options->flame.title : made->title,
                                      .unit = g->options->flame.count_samples ? "samples" : "events",
                                      .event_count = (uint32_t)g->event_count,
                                      .events = made->events,
                                      .frames = made->frames,
                                      .frame_count = made->frame_count,
                                      .slices = g->slices,
                                      .slice_count = g->slice_count,
                                      .bucket_count = g->slice_count ? BUCKETS : 0,
                                      .start_ns = g->first_time,
                                      .bucket_ns = g->span / BUCKETS + 1};
    return true;
}

/* The event that was asked for, or the one with the most samples. */
static int choose_event(const struct gathering *g, uint32_t *chosen, struct perfile_error *error)
{
    const char *name = g->options->flame.event;
    *chosen = 0;
    for (uint32_t i = 0; i < g->event_count; i++) {
        if (name && strcmp(g->events[i].event->name, name) == 0) {
            *chosen = i;
            return 0;
        }
        if (g->events[i].samples > g->events[*chosen].samples)
            *chosen = i;
    }
    if (g->event_count == 0)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "flame graph", "the recording has no samples");
    if (name)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "flame graph", "no samples of an event '%s'",
                       name);
    return 0;
}

static void release(struct gathering *g, struct made_set *made)
{
    for (size_t i = 0; i < g->event_count; i++)
        pf_tree_close(&g->events[i].tree);
    pf_free(g->allocator, g->events, g->event_room * sizeof(*g->events));
    pf_free(g->allocator, g->thread_frames, g->thread_room * sizeof(*g->thread_frames));
    pf_free(g->allocator, g->slices, g->slice_room * sizeof(*g->slices));
    pf_free(g->allocator, made->frames, (made->frame_count + 1) * sizeof(*made->frames));
    pf_free(g->allocator, made->events, (g->event_count + 1) * sizeof(*made->events));
    pf_pairs_close(&g->threads);
    pf_pairs_close(&g->slice_of);
    pf_profile_close(g->profile);
}

typedef int writer(const struct gathering *g, const struct pf_flame_set *set, uint32_t event, struct pf_text *out);

static int write_flame(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       writer *write, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    const struct pf_profile_options how = {.filter = &options->filter,
                                           .find = pf_find_options_of(&options->symbols),
                                           .inlines = !options->symbols.no_inline,
                                           .drive = pf_profile_drive_of(options)};
    struct gathering g = {.allocator = allocator, .options = options, .reader = reader};
    struct made_set made = {0};
    uint32_t event = 0;
    pf_pairs_open(&g.threads, allocator);
    pf_pairs_open(&g.slice_of, allocator);
    int result = pf_profile_open(reader, &how, &g.profile, error);
    if (result == 0)
        result = gather(&g, write == NULL, error);
    if (result == 0)
        result = choose_event(&g, &event, error);
    if (result == 0 && !make_set(&g, &made))
        result = pf_fail_memory(error, "flame graph");
    made.set.first_event = event;
    if (result == 0)
        result = write ? write(&g, &made.set, event, out) : pf_flame_html(&made.set, out);
    release(&g, &made);
    return result;
}

/* ---- the formats ---- */

static struct pf_flame_names names_of(const struct gathering *g)
{
    return (struct pf_flame_names){.threads = (enum pf_flame_threads)g->options->flame.threads,
                                   .annotate = g->options->flame.annotate};
}

static int folded(const struct gathering *g, const struct pf_flame_set *set, uint32_t event, struct pf_text *out)
{
    const struct pf_folded_options options = {.names = names_of(g)};
    return pf_flame_folded(set, event, &options, out);
}

static int svg(const struct gathering *g, const struct pf_flame_set *set, uint32_t event, struct pf_text *out)
{
    const struct pf_svg_options options = {
        .names = names_of(g), .inverted = g->options->flame.inverted, .reverse = g->options->flame.reverse};
    return pf_flame_svg(set, event, &options, out);
}

static int write_folded(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    return write_flame(reader, options, out, folded, error);
}

static int write_svg(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                     struct perfile_error *error)
{
    return write_flame(reader, options, out, svg, error);
}

static int write_html(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    return write_flame(reader, options, out, NULL, error);
}

const struct pf_output pf_output_flame_svg = {
    .info = {"flame", "svg", "a flame graph to look at in a browser: searchable and zoomable"},
    .write = write_svg,
};

const struct pf_output pf_output_flame_html = {
    .info = {"flame", "html", "one page for offline use: flame graph, table, timeline, search"},
    .write = write_html,
};

const struct pf_output pf_output_flame_folded = {
    .info = {"flame", "folded", "a line for each stack, for other tools"},
    .write = write_folded,
};
