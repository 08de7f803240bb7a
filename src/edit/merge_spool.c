/* SPDX-License-Identifier: MIT */
/*
 * Many inputs are merged in two steps, as sort(1) does it: the records of each input are written to a temporary file in
 * the order of time, one input after the other, and are then read from there side by side. So records that wait for
 * their turn in memory are those of one input at a time, and each input is read once.
 */
#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/locale.h"
#include "edit/merge.h"

bool pf_merge_can_spool(const struct pf_merge_input *input)
{
    const struct perfile_reader *reader = input->reader;
    return reader->part_count == 1 && reader->parts[0].window.can_skip && !reader->options.follow;
}

/* A file without a name: beside the output, where that is a file. */
static int open_file(struct pf_merge *merge, struct perfile_error *error)
{
    struct perfile_writer *writer = merge->writer;
    const bool in_folder = writer->options.mode == PERFILE_MODE_DIRECTORY;
    const int passed = merge->options.temporary_fd,
              folder = in_folder ? writer->folder.directory : pf_writer_stream(writer)->sink.directory,
              fd = passed ? passed : pf_open_unlinked(folder, error);
    if (fd < 0)
        return fd;
    const int result = pf_sink_open_fd(&merge->spool, merge->allocator, fd, error);
    merge->spool.owned = !passed;
    return result;
}

static int put(struct pf_sink *spool, const struct perfile_record *record, struct perfile_error *error)
{
    const int result = pf_sink_put(spool, record, sizeof(*record), error);
    return result < 0 ? result : pf_sink_put(spool, record->data, record->bytes, error);
}

static int fill_window(void *context, uint64_t offset, void *to, size_t bytes, size_t *got, struct perfile_error *error)
{
    const struct pf_merge_input *input = context;
    const uint64_t left = input->spool_end - pf_min(offset, input->spool_end);
    ssize_t done;
    do
        done = pread(input->spool_fd, to, (size_t)pf_min(bytes, left), (off_t)offset);
    while (done < 0 && errno == EINTR);
    *got = done > 0 ? (size_t)done : 0;
    return done < 0 ? pf_fail(error, PERFILE_ERROR_READ, offset, "temporary file", "%s", pf_error_text(errno)) : 0;
}

int pf_merge_spool(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error)
{
    struct pf_sink *spool = &merge->spool;
    const struct perfile_record *record;
    int result = spool->allocator ? 0 : open_file(merge, error), more = 0;
    input->spool_at = input->spool_end = spool->base + spool->bytes;
    for (uint64_t records = 0; result == 0 && (more = perfile_session_next(input->session, &record, error)) > 0;) {
        result = put(spool, record, error);
        input->spool_end = spool->base + spool->bytes;
        pf_merge_report_progress(merge, records++);
    }
    result = result < 0 ? result : more;
    if (result == 0)
        result = pf_sink_flush(spool, error);
    if (result == 0 && pf_window_open(&input->spooled, merge->allocator, fill_window, input, true) < 0)
        result = pf_fail_memory(error, "merge");
    input->spooled.narrow = true;
    input->spool_fd = spool->fd;
    return result;
}

int pf_merge_unspool(struct pf_merge_input *input, struct perfile_error *error)
{
    struct perfile_record *record = &input->record;
    const uint8_t *piece;
    size_t got, bytes = sizeof(*record);
    if (input->spool_at == input->spool_end)
        return 0;
    int result = pf_window_get(&input->spooled, input->spool_at, bytes, &piece, &got, error);
    if (result == 0 && got >= bytes) {
        memcpy(record, piece, bytes);
        bytes += record->bytes;
        result = pf_window_get(&input->spooled, input->spool_at, bytes, &piece, &got, error);
    }
    if (result == 0 && got < bytes)
        result = pf_fail(error, PERFILE_ERROR_READ, input->spool_at, "temporary file", "it became shorter");
    record->data = piece + sizeof(*record);
    input->head = record;
    input->spool_at += bytes;
    if (result == 0 && record->type >= PERFILE_RECORD_HEADER_ATTR)
        pf_reader_go_to_payload(input->reader, record);
    return result < 0 ? result : 1;
}
