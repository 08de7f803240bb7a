/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are still being written. Reading waits at the end of the bytes, so that all other code sees the
 * recording as it will be. In file mode the features follow the records before the header states where the records end:
 * until it does, nothing there is reported as damage.
 */
#include "base/error.h"
#include "format/reader.h"

enum { HEADER_BYTES = 104 };

int pf_follow_open(struct perfile_reader *reader, struct perfile_error *error)
{
    struct pf_source *source = &reader->parts[0].source;
    if (!reader->options.follow)
        return 0;
    if (source->memory)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "follow", "memory does not grow");
    source->growing = reader->following = reader->file.followed = true;
    return 0;
}

/* The writer is done: the input's end is known, and no records follow it. */
static int settle(struct pf_part *part, struct perfile_error *error)
{
    int result = pf_source_settle(&part->source, error);
    if (part->source.seekable)
        part->frame.end = pf_min(part->frame.end, part->source.bytes);
    return result;
}

/* Whether the header that is in the file by now states the end of the records. */
static int find_end(struct pf_part *part, bool *known, struct perfile_error *error)
{
    struct perfile_file now = part->reader->file;
    uint8_t header[HEADER_BYTES];
    size_t got;
    uint64_t end;
    int result = pf_source_read(&part->source, 0, header, sizeof(header), &got, error);
    *known = false;
    if (result < 0 || got < sizeof(header))
        return result;
    pf_file_header_read(&now, header, sizeof(header));
    if (!now.data.bytes || now.data.offset != part->start || !pf_add(now.data.offset, now.data.bytes, &end))
        return 0;
    *known = true;
    part->reader->file = now;
    part->frame.end = end;
    part->endless = false;
    return settle(part, error);
}

int pf_follow_wait(struct pf_part *part, struct perfile_error *error)
{
    const struct perfile_open_options *options = &part->reader->options;
    bool known = false;
    int result = part->endless ? find_end(part, &known, error) : 0;
    if (result < 0 || known)
        return result;
    const int more = options->follow(options->follow_context);
    if (more < 0)
        return pf_fail(error, PERFILE_ERROR_AGAIN, PERFILE_NO_OFFSET, "input", "nothing more has been written yet");
    if (more > 0)
        return 0;
    result = part->endless ? find_end(part, &known, error) : 0;
    return result < 0 || known ? result : settle(part, error);
}

int pf_follow_fill(void *context, uint64_t offset, void *to, size_t bytes, size_t *got, struct perfile_error *error)
{
    struct pf_part *part = context;
    for (;;) {
        const bool growing = part->source.growing;
        int result = pf_source_read(&part->source, offset, to, bytes, got, error);
        if (PF_LIKELY(result < 0 || *got || !growing))
            return result;
        result = pf_follow_wait(part, error);
        if (result < 0)
            return result;
    }
}

int pf_follow_read(struct pf_part *part, uint64_t offset, void *to, size_t bytes, size_t *got,
                   struct perfile_error *error)
{
    *got = 0;
    while (*got < bytes) {
        size_t more;
        int result = pf_follow_fill(part, offset + *got, (uint8_t *)to + *got, bytes - *got, &more, error);
        if (result < 0 || more == 0)
            return result;
        *got += more;
    }
    return 0;
}

/* ---- the end ---- */

/* Waits until the byte before `end` is there, or the writer is done. */
static int await(struct pf_part *part, uint64_t end, struct perfile_error *error)
{
    uint8_t byte;
    size_t got;
    return end && part->source.growing ? pf_follow_read(part, end - 1, &byte, 1, &got, error) : 0;
}

/* A copy of a finished recording grows: its features come last. */
static int await_features(struct perfile_reader *reader, uint64_t table, struct perfile_error *error)
{
    struct pf_part *part = &reader->parts[0];
    uint64_t max = table;
    for (uint32_t number = 0; number <= PF_FEATURE_NUMBER_MAX && part->source.growing; number++) {
        uint8_t entry[16];
        size_t got;
        uint64_t end;
        if (!(reader->file.feature_bits[number / 64] >> number % 64 & 1))
            continue;
        int result = pf_follow_read(part, table, entry, sizeof(entry), &got, error);
        if (result < 0 || got < sizeof(entry))
            return result;
        if (pf_add(pf_load64(entry, reader->file.swapped), pf_load64(entry + 8, reader->file.swapped), &end))
            max = pf_max(max, end);
        table += sizeof(entry);
    }
    return await(part, max, error);
}

/* Reads what is read when a complete file is opened: the writer is done. */
static int finish_file(struct perfile_reader *reader, struct perfile_error *error)
{
    struct perfile_file *file = &reader->file;
    struct pf_part *part = &reader->parts[0];
    if (part->endless)
        return pf_diagnose_file(reader, "data-size-zero", PERFILE_LOSS, 48,
                                "the size of the data is 0: the recorder did not come to its end", error);
    const uint64_t end = file->data.offset + file->data.bytes;
    int result = await_features(reader, end, error);
    if (result == 0)
        result = pf_source_settle(&part->source, error);
    if (result < 0)
        return result;
    file->file_bytes = part->source.bytes;
    if (end > part->source.bytes)
        return pf_diagnose_file(reader, "data-cut", PERFILE_LOSS, part->source.bytes,
                                "the file is truncated: it ends before its data section", error);
    file->finished = true;
    reader->tracing_tried = false;
    result = pf_feature_table_read(reader, end, error);
    return result < 0 ? result : pf_events_name(reader, error);
}

int pf_follow_finish(struct perfile_reader *reader, struct perfile_error *error)
{
    if (!reader->following)
        return 0;
    int result = reader->file.mode == PERFILE_MODE_FILE ? finish_file(reader, error) : 0;
    reader->following = result == PERFILE_ERROR_AGAIN;
    reader->file.file_bytes = reader->parts[0].source.bytes;
    return result;
}
