/* SPDX-License-Identifier: MIT */
#include "output/export/export.h"

#include <stdio.h>

int pf_export_profile(struct perfile_reader *reader, const struct perfile_output_options *options, const char *keys,
                      struct perfile_profile **profile, struct perfile_error *error)
{
    const struct perfile_profile_options how = {.size = sizeof(how),
                                                .filter = options->filter,
                                                .symbols = options->symbols,
                                                .flags = PERFILE_STREAM_ADDRESSES |
                                                         (options->symbols->no_inline ? PERFILE_STREAM_NO_INLINES : 0),
                                                .threads = options->threads,
                                                .progress = options->progress,
                                                .progress_context = options->progress_context,
                                                .keys = keys,
                                                .path = options->symbols->recording,
                                                .unmatched = options->unmatched,
                                                .unmatched_context = options->unmatched_context,
                                                .allocator = options->allocator};
    return perfile_profile_open(reader, &how, profile, error);
}

int pf_export_stream(struct perfile_reader *reader, const struct perfile_output_options *options, uint32_t flags,
                     struct perfile_stream **stream, struct perfile_error *error)
{
    const struct perfile_stream_options how = {.size = sizeof(how),
                                               .filter = options->filter,
                                               .symbols = options->symbols,
                                               .flags = flags |
                                                        (options->symbols->no_inline ? PERFILE_STREAM_NO_INLINES : 0),
                                               .threads = options->threads,
                                               .progress = options->progress,
                                               .progress_context = options->progress_context,
                                               .unmatched = options->unmatched,
                                               .unmatched_context = options->unmatched_context,
                                               .allocator = options->allocator};
    return perfile_stream_open(reader, &how, stream, error);
}

void pf_export_tell(const struct perfile_output_options *options, const char *format, ...)
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
