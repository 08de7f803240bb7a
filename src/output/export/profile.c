/* SPDX-License-Identifier: MIT */
/* The profile itself, for verbs that read it instead of the recording. */
#include "output/export/export.h"

static int put(void *context, const void *data, size_t bytes)
{
    struct pf_text *out = context;
    pf_put(out, data, bytes);
    return out->failed;
}

static int write_profile(struct perfile_reader *reader, const struct perfile_output_options *options,
                         struct pf_text *out, struct perfile_error *error)
{
    const struct perfile_profile_options how = {.keys = pf_export_keys(options),
                                                .flags = options->symbols->no_names ? PERFILE_STREAM_ADDRESSES : 0};
    const struct perfile_sink sink = {out, put};
    struct perfile_profile *profile;
    int result = pf_export_profile_as(reader, options, &how, &profile, error);
    if (result < 0)
        return result;
    (void)pf_export_notify_empty(reader, options, profile);
    result = perfile_profile_write(profile, &sink, error);
    perfile_profile_close(profile);
    return result;
}

const struct pf_output pf_output_export_profile = {
    .info = {"export", "profile", "for report, flame and diff, which need neither the recording nor its binaries then"},
    .write = write_profile,
    .takes_a_profile = true,
    .merges = true,
};
