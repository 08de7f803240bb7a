/* SPDX-License-Identifier: MIT */
/* When the samples of a recording are. */
#include "base/error.h"
#include "format/reader.h"

static bool is_seekable(const struct perfile_reader *reader)
{
    for (uint32_t i = 0; i < reader->part_count; i++)
        if (!reader->parts[i].source.seekable)
            return false;
    return true;
}

/* 1 and the times, 0 when the header does not say, or an error. */
static int span_of_header(struct perfile_reader *reader, uint64_t *first, uint64_t *last, struct perfile_error *error)
{
    struct perfile_error why;
    int result = perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "first", first, &why);
    if (result == 0)
        result = perfile_feature_number(reader, PERFILE_FEATURE_SAMPLE_TIME, "last", last, &why);
    if (result == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "span");
    return result == 0 && *first <= *last && *last; /* perf record -z writes zeros */
}

static int span_of_samples(struct perfile_reader *reader, uint64_t *first, uint64_t *last, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result;
    *first = UINT64_MAX;
    *last = 0;
    while ((result = perfile_reader_next(reader, &record, error)) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE || record->damaged || !record->time)
            continue;
        *first = pf_min(*first, record->time);
        *last = pf_max(*last, record->time);
    }
    return result < 0 ? result : *last != 0;
}

/* Reads without reporting damage: the caller that reads the recording afterwards reports it. */
static int read_quietly(struct perfile_reader *reader, uint64_t *first, uint64_t *last, struct perfile_error *error)
{
    const bool muted = reader->muted;
    perfile_reader_mute(reader, true);
    const int result = span_of_samples(reader, first, last, error);
    perfile_reader_mute(reader, muted);
    const int rewound = perfile_reader_rewind(reader, result < 0 ? NULL : error);
    return result < 0 ? result : rewound < 0 ? rewound : result;
}

int perfile_reader_span(struct perfile_reader *reader, uint64_t *first, uint64_t *last, struct perfile_error *error)
{
    *first = *last = 0;
    if (!perfile_reader_is_at_start(reader))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "span",
                       "the reader is not at its start: perfile_reader_rewind");
    int result = span_of_header(reader, first, last, error);
    if (result == 0 && is_seekable(reader) && !reader->options.follow)
        result = read_quietly(reader, first, last, error);
    if (result <= 0)
        *first = *last = 0;
    return result;
}
