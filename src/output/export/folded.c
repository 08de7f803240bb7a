/* SPDX-License-Identifier: MIT */
/* Folded stacks as flame graphs have them, of one recording or of several. */
#include "output/export/export.h"

#include "base/counted.h"
#include "base/error.h"
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

static int write_profile(const struct perfile_profile *profile, const struct perfile_output_options *options,
                         struct pf_text *out, struct perfile_error *error)
{
    struct pf_flame_recording recording;
    int result = pf_flame_recording_of_profile(&recording, options, profile, error);
    if (result == 0) {
        const struct pf_folded_options how = {.means = {options->threads, &recording.stacks[0].tree}};
        report_others(options, recording.events[0].name, recording.other_events);
        result = pf_flame_folded(&recording.set, 0, &how, out);
    }
    pf_flame_recording_close(&recording);
    return result == PERFILE_ERROR_ABSENT
               ? pf_fail(error, result, PERFILE_NO_OFFSET, "export", "no samples to be exported")
               : result;
}

static int write_folded(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    const struct perfile_profile_options how = {.keys = "comm", .flags = PERFILE_STREAM_JOIN_UNNAMED};
    struct perfile_profile *profile;
    if (!options->more_count && !options->exports->profile)
        return write_recording(reader, options, out, error);
    int result = pf_export_profile_as(reader, options, &how, &profile, error);
    if (result < 0)
        return result;
    result = write_profile(profile, options, out, error);
    perfile_profile_close(profile);
    return result;
}

const struct pf_output pf_output_export_folded = {
    .info = {"export", "folded", "a line for each stack with its weight, as flame prints it: FlameGraph, inferno"},
    .write = write_folded,
    .takes_a_profile = true,
    .merges = true,
    .reports_omissions = true,
};
