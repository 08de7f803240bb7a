/* SPDX-License-Identifier: MIT */
#include "output/export/export.h"

#include "analysis/event_names.h"
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "output/notes.h"

struct perfile_profile_options pf_export_profile_options(const struct perfile_output_options *options,
                                                         struct perfile_profile_options how)
{
    how.size = sizeof(how);
    how.filter = options->filter;
    how.symbols = options->symbols;
    how.flags |= options->symbols->no_inline ? PERFILE_STREAM_NO_INLINES : 0;
    how.threads = options->threads;
    how.progress = options->progress;
    how.progress_context = options->progress_context;
    how.unmatched = options->unmatched;
    how.unmatched_context = options->unmatched_context;
    how.path = options->symbols->recording;
    how.allocator = options->allocator;
    return how;
}

struct perfile_reader *pf_export_nth(struct perfile_reader *reader, const struct perfile_output_options *all,
                                     size_t nth, struct perfile_output_options *options,
                                     struct perfile_symbol_options *symbols)
{
    *symbols = *all->symbols;
    *options = *all;
    options->symbols = symbols;
    options->more_count = 0;
    if (!nth)
        return reader;
    symbols->recording = all->more_paths ? all->more_paths[nth - 1] : NULL;
    return all->more[nth - 1];
}

/* The profile of the nth recording. */
static int open_nth(struct perfile_reader *reader, const struct perfile_output_options *options,
                    const struct perfile_profile_options *how, size_t nth, struct perfile_profile **profile,
                    struct perfile_error *error)
{
    struct perfile_symbol_options symbols;
    struct perfile_output_options of_it;
    reader = pf_export_nth(reader, options, nth, &of_it, &symbols);
    const struct perfile_profile_options its = pf_export_profile_options(&of_it, *how);
    return perfile_profile_open(reader, &its, profile, error);
}

/* Profiles that wait to be merged: many at a time, since each time all is copied that they have. */
struct waiting {
    struct perfile_profile *profiles[16];
    size_t count;
};

static void drop_all(struct waiting *waiting)
{
    while (waiting->count)
        perfile_profile_close(waiting->profiles[--waiting->count]);
}

static int merge_all(struct waiting *waiting, const struct perfile_output_options *options, struct perfile_error *error)
{
    const struct perfile_profile_merge_options how = {.size = sizeof(how), .allocator = options->allocator};
    const struct perfile_profile *parts[PF_COUNT(waiting->profiles)];
    struct perfile_profile *merged;
    for (size_t i = 0; i < waiting->count; i++)
        parts[i] = waiting->profiles[i];
    int result = perfile_profile_merge(parts, waiting->count, &how, &merged, error);
    drop_all(waiting);
    if (result == 0)
        waiting->profiles[waiting->count++] = merged;
    return result;
}

int pf_export_profile_as(struct perfile_reader *reader, const struct perfile_output_options *options,
                         const struct perfile_profile_options *how, struct perfile_profile **profile,
                         struct perfile_error *error)
{
    struct waiting waiting = {.count = 0};
    const struct perfile_profile_merge_options merge = {.size = sizeof(merge), .allocator = options->allocator};
    int result = 0;
    if (options->exports->profile)
        return perfile_profile_merge(&options->exports->profile, 1, &merge, profile, error);
    for (size_t i = 0; i <= options->more_count && result == 0; i++) {
        result = open_nth(reader, options, how, i, &waiting.profiles[waiting.count], error);
        waiting.count += result == 0;
        if (result == 0 && waiting.count == PF_COUNT(waiting.profiles))
            result = merge_all(&waiting, options, error);
    }
    if (result == 0 && waiting.count > 1)
        result = merge_all(&waiting, options, error);
    if (result == 0)
        *profile = waiting.profiles[0];
    else
        drop_all(&waiting);
    return result;
}

int pf_export_profile(struct perfile_reader *reader, const struct perfile_output_options *options, const char *keys,
                      struct perfile_profile **profile, struct perfile_error *error)
{
    const struct perfile_profile_options how = {.keys = keys, .flags = PERFILE_STREAM_ADDRESSES};
    return pf_export_profile_as(reader, options, &how, profile, error);
}

const char *pf_export_keys(const struct perfile_output_options *options)
{
    return options->exports->keys ? options->exports->keys : "pid,tid,comm,cpu,cgroup";
}

uint32_t pf_export_main_event(const struct perfile_profile *profile)
{
    const uint32_t found = pf_event_choose(profile, NULL).first;
    return found != PERFILE_NO_ID || perfile_profile_event_count(profile) == 0 ? found : 0;
}

bool pf_export_notify_empty(const struct perfile_reader *reader, const struct perfile_output_options *options,
                            const struct perfile_profile *profile)
{
    char note[PF_NOTE_BYTES];
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    if (perfile_profile_losses(profile, &losses) < 0 || losses.samples)
        return false;
    if (reader && pf_note_no_samples(reader, losses.filtered, note))
        pf_export_notify(options, "%s", note);
    return true;
}

void pf_export_notify(const struct perfile_output_options *options, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (!options->symbols->note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    options->symbols->note(options->symbols->note_context, text);
}

/* Reports go by the sampled address; a callchain need not begin there. */
static bool is_counted_elsewhere(const struct perfile_profile *profile, const struct perfile_profile_sample *row)
{
    struct perfile_profile_stack stack = {.size = sizeof(stack), .parent = row->stack};
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT, leaf = PERFILE_PROFILE_FRAME_INIT;
    do {
        if (perfile_profile_stack_at(profile, stack.parent, &stack) < 0 || stack.frame == row->leaf)
            return false;
        (void)!perfile_profile_frame_at(profile, stack.frame, &frame); /* numbers of the profile are valid */
    } while (frame.kind == PERFILE_FRAME_INLINED);
    (void)!perfile_profile_frame_at(profile, row->leaf, &leaf);
    return leaf.function != frame.function;
}

void pf_export_notify_elsewhere(const struct perfile_output_options *options, const struct perfile_profile *profile,
                                const char *format)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    uint64_t samples = 0;
    char count[PF_COUNTED_BYTES];
    for (size_t i = 0; i < perfile_profile_sample_count(profile); i++) {
        (void)!perfile_profile_sample_at(profile, i, &row);
        samples += is_counted_elsewhere(profile, &row) ? row.values[0] : 0;
    }
    if (samples)
        pf_export_notify(options, "%s: %s counts its first function, reports count the one that was interrupted",
                         pf_count_of(samples, "samples have a callchain that begins elsewhere", count), format);
}
