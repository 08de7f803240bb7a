/* SPDX-License-Identifier: MIT */
/* What flame graphs are made of, from a profile instead of a recording: the tree of one event. */
#include "output/flame/recording.h"

#include <stdio.h>

#include "analysis/event_names.h"
#include "base/counted.h"
#include "base/error.h"

struct profiled {
    struct pf_flame_recording *g;
    const struct perfile_profile *profile;
    struct pf_event_choice event;
    uint32_t *path; /* of a stack, innermost first */
    size_t path_count, path_capacity;
};

/* ---- frames ---- */

static struct pf_flame_frame frame_of(const struct perfile_profile *profile, size_t number)
{
    static const uint8_t kinds[] = {[PERFILE_FRAME_USER] = PF_FLAME_USER,
                                    [PERFILE_FRAME_KERNEL] = PF_FLAME_KERNEL,
                                    [PERFILE_FRAME_INLINED] = PF_FLAME_INLINED,
                                    [PERFILE_FRAME_JIT] = PF_FLAME_JIT,
                                    [PERFILE_FRAME_UNKNOWN] = PF_FLAME_UNKNOWN};
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    (void)!perfile_profile_frame_at(profile, number, &frame); /* numbers of the profile are valid */
    (void)!perfile_profile_function_at(profile, frame.function, &function);
    const bool has_module = perfile_profile_module_at(profile, function.module, &module) == 0;
    return (struct pf_flame_frame){
        .name = function.name, .module = has_module ? module.name : NULL, .kind = kinds[frame.kind]};
}

/* The frames of the profile, then what is at the bottom of stacks. */
static bool make_frames(const struct profiled *p)
{
    struct pf_flame_recording *g = p->g;
    const size_t plain = perfile_profile_frame_count(p->profile);
    g->frame_count = plain + g->bottom.frame_count;
    g->frames = pf_new(g->allocator, (g->frame_count + 1) * sizeof(*g->frames));
    if (!g->frames || !pf_bottom_finish(&g->bottom))
        return false;
    for (size_t i = 0; i < plain; i++)
        g->frames[i] = frame_of(p->profile, i);
    if (g->bottom.frame_count)
        memcpy(g->frames + plain, g->bottom.frames, g->bottom.frame_count * sizeof(*g->frames));
    return true;
}

/* ---- stacks ---- */

static bool find_path(struct profiled *p, uint32_t stack)
{
    struct perfile_profile_stack node = PERFILE_PROFILE_STACK_INIT;
    p->path_count = 0;
    for (; perfile_profile_stack_at(p->profile, stack, &node) == 0; stack = node.parent)
        if (!PF_APPEND(p->g->allocator, p->path, p->path_count, p->path_capacity, node.frame))
            return false;
    return true;
}

/* Finds the node of the levels at the bottom. What was not kept apart is not known of rows. False: out of memory. */
static bool find_bottom(struct profiled *p, const struct perfile_profile_sample *row, uint32_t *node)
{
    const struct perfile_attr attr = {.sample_type = (row->cpu != -1 ? PERFILE_SAMPLE_CPU : 0) |
                                                     (row->time != UINT64_MAX ? PERFILE_SAMPLE_TIME : 0)};
    const struct perfile_event event = {.attr = &attr};
    const struct pf_profile_sample sample = {.event = &event,
                                             .comm = row->comm ? row->comm : "[unknown]",
                                             .pid = row->pid,
                                             .tid = row->tid,
                                             .cpu = (uint32_t)row->cpu,
                                             .time = row->time};
    struct pf_flame_recording *g = p->g;
    *node = 0;
    g->bottom.row = row;
    for (size_t level = 0; level < g->bottom.level_count; level++) {
        const uint32_t frame = pf_bottom_frame(&g->bottom, level, &sample);
        *node = frame == UINT32_MAX ? 0 : pf_tree_child(&g->stacks[0].tree, *node, frame | PF_FLAME_BOTTOM);
        if (!*node)
            return false;
    }
    return true;
}

static bool add_row(struct profiled *p, const struct perfile_profile_sample *row)
{
    struct pf_flame_stacks *stacks = &p->g->stacks[0];
    uint32_t node;
    bool enough = find_bottom(p, row, &node) && find_path(p, row->stack);
    for (size_t i = p->path_count; enough && i-- > 0;)
        enough = (node = pf_tree_child(&stacks->tree, node, p->path[i])) != 0;
    if (enough)
        pf_tree_add(&stacks->tree, node, row->values[p->g->options->flame->count_samples ? 0 : 1]);
    stacks->samples += row->values[0];
    return enough;
}

static bool add_rows(struct profiled *p)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    for (size_t i = 0; perfile_profile_sample_at(p->profile, i, &row) == 0; i++)
        if (pf_event_is_chosen(p->profile, row.event, &p->event) && !add_row(p, &row))
            return false;
    return pf_tree_sum(&p->g->stacks[0].tree);
}

/* ---- the set ---- */

static bool make_set(const struct profiled *p)
{
    struct pf_flame_recording *g = p->g;
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    char name[PF_EVENT_NAME_BYTES], samples[PF_COUNTED_BYTES];
    g->events = pf_new(g->allocator, 2 * sizeof(*g->events));
    pf_event_choice_name(p->profile, &p->event, name);
    const char *kept = pf_arena_text(&g->bottom.arena, name, strlen(name));
    if (!g->events || !kept || !make_frames(p))
        return false;
    (void)!perfile_profile_event_at(p->profile, p->event.first, &event);
    g->events[0] = (struct pf_flame_event){
        .name = kept, .tree = &g->stacks[0].tree, .unit = g->options->flame->count_samples ? "samples" : event.unit};
    snprintf(g->subtitle, sizeof(g->subtitle), "%.60s: %s", name, pf_count_of(p->event.samples, "samples", samples));
    g->set = (struct pf_flame_set){.title = g->options->flame->title ? g->options->flame->title : "Flame graph",
                                   .subtitle = g->subtitle,
                                   .unit = "events",
                                   .event_count = 1,
                                   .events = g->events,
                                   .frames = g->frames,
                                   .frame_count = g->frame_count,
                                   .plain_count = perfile_profile_frame_count(p->profile)};
    return true;
}

static int choose_event(struct profiled *p, struct perfile_error *error)
{
    const char *wanted = p->g->options->flame->event;
    p->event = pf_event_choose(p->profile, wanted);
    if (p->event.first != PERFILE_NO_ID)
        return 0;
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "flame graph",
                   wanted ? "the profile has no samples of event '%.80s'" : "the profile has no samples", wanted);
}

static bool make_all(struct profiled *p)
{
    struct pf_flame_recording *g = p->g;
    if (!pf_grow(g->allocator, &g->stacks, &g->stacks_capacity, 1, sizeof(*g->stacks)))
        return false;
    g->stacks[0] = (struct pf_flame_stacks){0};
    if (pf_tree_open(&g->stacks[0].tree, g->allocator) < 0)
        return false;
    g->stacks_count = 1;
    const bool enough = add_rows(p) && make_set(p);
    pf_free(g->allocator, p->path, p->path_capacity * sizeof(*p->path));
    return enough;
}

/* What is at the root unless the options say: names of threads, if the profile has any. */
static const char *usual_levels(const struct perfile_profile *profile)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    for (size_t i = 0; perfile_profile_sample_at(profile, i, &row) == 0; i++)
        if (row.comm)
            return "comm";
    return NULL;
}

int pf_flame_recording_of_profile(struct pf_flame_recording *g, const struct perfile_output_options *options,
                                  const struct perfile_profile *profile, struct perfile_error *error)
{
    const struct perfile_flame_options *flame = options->flame;
    struct profiled p = {.g = g, .profile = profile};
    *g = (struct pf_flame_recording){.allocator = pf_allocator_or_default(options->allocator), .options = options};
    const struct pf_bottom_options bottom = {g->allocator, flame->by ? flame->by : usual_levels(profile),
                                             flame->time_quantum, NULL, profile};
    int result = pf_bottom_open(&g->bottom, &bottom, error);
    if (result == 0)
        result = choose_event(&p, error);
    if (result < 0)
        return result;
    g->other_events = p.event.others;
    return make_all(&p) ? 0 : pf_fail_memory(error, "flame graph");
}
