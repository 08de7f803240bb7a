/* SPDX-License-Identifier: MIT */
/* Folded stacks as flame graphs have them, of one recording or of several. */
#include "output/export/export.h"

#include "analysis/event_names.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/pairs.h"
#include "output/flame/recording.h"

static void report_others(const struct perfile_output_options *options, const char *event, size_t others)
{
    char count[PF_COUNTED_BYTES];
    if (others)
        pf_export_notify(options, "folded: the stacks of %s; those of %s are left out", event,
                         pf_count_of(others, "other events", count));
}

/* ---- one recording ----------------------------------------------------------------------------------------------- */

static int write_recording(struct perfile_reader *reader, const struct perfile_output_options *options,
                           struct pf_text *out, struct perfile_error *error)
{
    struct pf_flame_recording recording = {0};
    uint32_t event;
    int result = pf_flame_recording_open(&recording, reader, options, false, error);
    if (result == 0)
        result = pf_flame_recording_event(&recording, NULL, &event, error);
    if (result == 0) {
        const struct pf_folded_options how = {.means = {options->threads, &recording.stacks[event].tree}};
        report_others(options, recording.events[event].name, recording.stacks_count - 1);
        result = pf_flame_folded(&recording.set, event, &how, out);
    }
    pf_flame_recording_close(&recording);
    return result;
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

/* What the writer of folded stacks takes, made of a profile. */
struct folding {
    const struct perfile_allocator *allocator;
    const struct perfile_profile *profile;
    struct pf_event_choice event;
    char event_name[PF_EVENT_NAME_BYTES];
    struct pf_tree tree;
    struct pf_flame_frame *frames; /* those of the profile, then the threads */
    size_t frame_count, frame_capacity;
    struct pf_pairs comms; /* the name of a thread to its frame */
    uint32_t *path;        /* of a stack, innermost first */
    size_t path_count, path_capacity;
};

static bool add_frame(struct folding *f, const struct pf_flame_frame *frame)
{
    return PF_APPEND(f->allocator, f->frames, f->frame_count, f->frame_capacity, *frame);
}

static bool add_frames(struct folding *f)
{
    static const uint8_t kinds[] = {[PERFILE_FRAME_USER] = PF_FLAME_USER,
                                    [PERFILE_FRAME_KERNEL] = PF_FLAME_KERNEL,
                                    [PERFILE_FRAME_INLINED] = PF_FLAME_INLINED,
                                    [PERFILE_FRAME_JIT] = PF_FLAME_JIT,
                                    [PERFILE_FRAME_UNKNOWN] = PF_FLAME_UNKNOWN};
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    for (size_t i = 0; perfile_profile_frame_at(f->profile, i, &frame) == 0; i++) {
        if (perfile_profile_function_at(f->profile, frame.function, &function) < 0)
            return false;
        const bool has_module = perfile_profile_module_at(f->profile, function.module, &module) == 0;
        const struct pf_flame_frame made = {
            .name = function.name, .module = has_module ? module.name : NULL, .kind = kinds[frame.kind]};
        if (!add_frame(f, &made))
            return false;
    }
    return true;
}

static bool find_comm(struct folding *f, const char *comm, uint32_t *frame)
{
    if (pf_pairs_get(&f->comms, (uintptr_t)comm, 0, frame))
        return true;
    *frame = (uint32_t)f->frame_count;
    const struct pf_flame_frame made = {.name = comm, .kind = PF_FLAME_THREAD, .by = PF_FLAME_BY_COMM};
    return add_frame(f, &made) && pf_pairs_put(&f->comms, (uintptr_t)comm, 0, *frame);
}

static bool find_path(struct folding *f, uint32_t stack)
{
    struct perfile_profile_stack node = PERFILE_PROFILE_STACK_INIT;
    f->path_count = 0;
    for (; perfile_profile_stack_at(f->profile, stack, &node) == 0; stack = node.parent) {
        if (!PF_APPEND(f->allocator, f->path, f->path_count, f->path_capacity, node.frame))
            return false;
    }
    return true;
}

static bool add_row(struct folding *f, const struct perfile_profile_sample *row)
{
    uint32_t frame;
    if (!find_comm(f, row->comm, &frame) || !find_path(f, row->stack))
        return false;
    uint32_t node = pf_tree_child(&f->tree, 0, frame);
    for (size_t i = f->path_count; node && i-- > 0;)
        node = pf_tree_child(&f->tree, node, f->path[i]);
    if (node)
        pf_tree_add(&f->tree, node, row->values[1]);
    return node;
}

static bool add_rows(struct folding *f)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    for (size_t i = 0; perfile_profile_sample_at(f->profile, i, &row) == 0; i++)
        if (pf_event_is_chosen(f->profile, row.event, &f->event) && !add_row(f, &row))
            return false;
    return pf_tree_sum(&f->tree);
}

/* False: there are no samples. */
static bool choose_event(struct folding *f, const struct perfile_output_options *options)
{
    f->event = pf_event_choose(f->profile, NULL);
    if (f->event.first == PERFILE_NO_ID)
        return false;
    pf_event_choice_name(f->profile, &f->event, f->event_name);
    report_others(options, f->event_name, f->event.others);
    return true;
}

static int write_profile(struct folding *f, const struct perfile_output_options *options, struct pf_text *out,
                         struct perfile_error *error)
{
    if (!choose_event(f, options))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "export", "no samples to be exported");
    pf_pairs_open(&f->comms, f->allocator);
    int result = pf_tree_open(&f->tree, f->allocator);
    if (result == 0 && (!add_frames(f) || !add_rows(f)))
        result = PERFILE_ERROR_MEMORY;
    const struct pf_flame_event event = {.name = f->event_name, .unit = "", .tree = &f->tree};
    const struct pf_flame_set set = {
        .events = &event, .event_count = 1, .frames = f->frames, .frame_count = f->frame_count};
    const struct pf_folded_options how = {.means = {options->threads, &f->tree}};
    if (result == 0)
        result = pf_flame_folded(&set, 0, &how, out);
    pf_tree_close(&f->tree);
    pf_pairs_close(&f->comms);
    pf_free(f->allocator, f->frames, f->frame_capacity * sizeof(*f->frames));
    pf_free(f->allocator, f->path, f->path_capacity * sizeof(*f->path));
    return result;
}

static int write_folded(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    const struct perfile_profile_options how = {.keys = "comm", .flags = PERFILE_STREAM_JOIN_UNNAMED};
    struct perfile_profile *profile;
    if (!options->more_count)
        return write_recording(reader, options, out, error);
    int result = pf_export_profile_as(reader, options, &how, &profile, error);
    if (result < 0)
        return result;
    struct folding folding = {.allocator = pf_allocator_or_default(options->allocator), .profile = profile};
    result = write_profile(&folding, options, out, error);
    perfile_profile_close(profile);
    return result;
}

const struct pf_output pf_output_export_folded = {
    .info = {"export", "folded", "a line for each stack with its weight, as flame prints it: FlameGraph, inferno"},
    .write = write_folded,
    .merges = true,
    .reports_omissions = true,
};
