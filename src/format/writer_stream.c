/* SPDX-License-Identifier: MIT */
/* The files of a recording that is written: records one after the other, compressed or not. */
#include <stdio.h>

#include "base/counted.h"
#include "format/writer.h"

enum { COMPRESSED_HEADER = 8, COMPRESSED2_HEADER = 16, COMPRESSED2_CAPACITY = PF_RECORD_CAPACITY - 8 };
enum { PAYLOAD_ZEROS_MAX = 1 << 20 };

int pf_writer_open_streams(struct perfile_writer *writer, size_t count, struct perfile_error *error)
{
    if (!pf_grow(writer->allocator, &writer->streams, &writer->stream_capacity, count, sizeof(*writer->streams)))
        return pf_fail_memory(error, "writer");
    for (; writer->stream_count < count; writer->stream_count++)
        writer->streams[writer->stream_count] = (struct pf_writer_stream){.open = false};
    return 0;
}

static void close_stream(struct perfile_writer *writer, struct pf_writer_stream *stream)
{
    pf_sink_close(&stream->sink);
    pf_deflate_close(stream->deflate);
    pf_free(writer->allocator, stream->batch, PF_BATCH_BYTES);
}

void pf_writer_close_streams(struct perfile_writer *writer)
{
    for (size_t i = 0; i < writer->stream_count; i++)
        close_stream(writer, &writer->streams[i]);
    pf_free(writer->allocator, writer->streams, writer->stream_capacity * sizeof(*writer->streams));
}

int perfile_writer_part(struct perfile_writer *writer, uint32_t part, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    char name[32];
    if (part && writer->options.mode != PERFILE_MODE_DIRECTORY) {
        int refused = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_part",
                              "only directories have parts");
        return pf_writer_keep(writer, refused, error);
    }
    if (part < writer->stream_count && writer->streams[part].open) {
        writer->stream_now = part;
        return 0;
    }
    int result = part > UINT16_MAX ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_part",
                                             "more than %u parts", UINT16_MAX)
                                   : pf_writer_open_streams(writer, (size_t)part + 1, error);
    if (result < 0)
        return pf_writer_keep(writer, result, error);
    snprintf(name, sizeof(name), "data.%u", part - 1);
    result = pf_sink_open_in(&writer->streams[part].sink, writer->allocator, writer->folder.directory, name, error);
    if (result < 0)
        return pf_writer_keep(writer, result, error);
    writer->streams[part].open = true;
    writer->stream_now = part;
    return 0;
}

/* ---- compression ---- */

static int open_deflate(struct perfile_writer *writer, struct pf_writer_stream *stream, struct perfile_error *error)
{
    stream->batch = pf_resize(writer->allocator, NULL, 0, PF_BATCH_BYTES);
    if (!stream->batch)
        return pf_fail_memory(error, "writer");
    return pf_deflate_open(&stream->deflate, writer->allocator, writer->options.compression, error);
}

/* Writes one compressed record: `bytes` bytes after the 8 or more that are free for its header. */
static int put_container(struct perfile_writer *writer, struct pf_writer_stream *stream, uint8_t *record, size_t bytes,
                         struct perfile_error *error)
{
    bool v1 = writer->options.compressed_v1;
    struct pf_out o = pf_out_make(record, PF_RECORD_CAPACITY, writer->swap);
    size_t complete = v1 ? COMPRESSED_HEADER + bytes : (size_t)pf_align8(COMPRESSED2_HEADER + bytes);
    pf_out_u32(&o, v1 ? PERFILE_RECORD_COMPRESSED : PERFILE_RECORD_COMPRESSED2);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, (uint16_t)complete);
    if (!v1) {
        pf_out_u64(&o, bytes);
        memset(record + COMPRESSED2_HEADER + bytes, 0, complete - COMPRESSED2_HEADER - bytes);
    }
    return pf_sink_put(&stream->sink, record, complete, error);
}

static int put_batch(struct pf_writer_stream *stream, struct perfile_writer *writer, bool ends,
                     struct perfile_error *error)
{
    uint8_t record[PF_RECORD_CAPACITY];
    size_t header = writer->options.compressed_v1 ? COMPRESSED_HEADER : COMPRESSED2_HEADER;
    size_t capacity = (writer->options.compressed_v1 ? PF_RECORD_CAPACITY - 1 : COMPRESSED2_CAPACITY) - header, got;
    pf_deflate_push(stream->deflate, stream->batch, stream->batch_bytes);
    if (ends)
        pf_deflate_end(stream->deflate);
    stream->framed_bytes = ends ? 0 : stream->framed_bytes + stream->batch_bytes;
    stream->batch_bytes = 0;
    for (;;) {
        int result = pf_deflate_pull(stream->deflate, record + header, capacity, &got, error);
        if (result < 0 || got == 0)
            return result;
        result = put_container(writer, stream, record, got, error);
        if (result < 0)
            return result;
    }
}

int pf_writer_flush(struct pf_writer_stream *stream, struct perfile_writer *writer, struct perfile_error *error)
{
    const uint64_t max = writer->options.frame_bytes;
    const bool ends = max && stream->framed_bytes + stream->batch_bytes >= max;
    if (!stream->batch_bytes)
        return 0;
    stream->framed_in_round |= ends;
    return put_batch(stream, writer, ends, error);
}

int pf_writer_flush_frame(struct pf_writer_stream *stream, struct perfile_writer *writer, struct perfile_error *error)
{
    /*
     * perf takes it for damage when nothing comes out of a compressed record: the end of a frame has no record of its
     * own
     */
    if (!writer->options.frame_bytes || !stream->batch_bytes)
        return pf_writer_flush(stream, writer, error);
    return put_batch(stream, writer, true, error);
}

/* Whoever begins with a round needs a frame that begins there. */
static int end_round(struct perfile_writer *writer, struct perfile_error *error)
{
    struct pf_writer_stream *stream = pf_writer_stream(writer);
    const uint64_t enough = writer->options.frame_bytes / 2;
    const bool ends = stream->framed_in_round || stream->framed_bytes + stream->batch_bytes >= enough;
    stream->framed_in_round &= !stream->batch_bytes;
    return ends ? pf_writer_flush_frame(stream, writer, error) : 0;
}

static int put_compressed(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    struct pf_writer_stream *stream = pf_writer_stream(writer);
    int result = stream->deflate ? 0 : open_deflate(writer, stream, error);
    if (result == 0 && bytes > PF_BATCH_BYTES - stream->batch_bytes)
        result = pf_writer_flush(stream, writer, error);
    if (result < 0)
        return result;
    memcpy(stream->batch + stream->batch_bytes, data, bytes);
    stream->batch_bytes += bytes;
    return 0;
}

/* ---- records ---- */

int pf_writer_put_bytes(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    struct pf_writer_stream *stream = pf_writer_stream(writer);
    int result = pf_writer_flush(stream, writer, error);
    return result < 0 ? result : pf_sink_put(&stream->sink, data, bytes, error);
}

int pf_writer_put_plain(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    int result = writer->started ? 0 : pf_writer_start(writer, error);
    return result < 0 ? result : pf_writer_put_bytes(writer, data, bytes, error);
}

static int note_auxtrace(struct perfile_writer *writer, const uint8_t *data, size_t bytes, struct perfile_error *error)
{
    struct pf_writer_stream *stream = pf_writer_stream(writer);
    int result = pf_writer_flush(stream, writer, error);
    writer->payload_left = bytes >= 16 ? pf_load64(data + 8, writer->swap) : 0;
    writer->payload_of = stream->sink.bytes;
    writer->payload_at = stream->sink.bytes + bytes;
    if (result < 0 || writer->options.mode != PERFILE_MODE_FILE)
        return result;
    if (!PF_APPEND(writer->allocator, writer->auxtrace, writer->auxtrace_count, writer->auxtrace_capacity,
                   (struct perfile_section){stream->sink.bytes, bytes}))
        return pf_fail_memory(error, "writer");
    return 0;
}

static int put_zeros(struct pf_sink *sink, uint64_t bytes, struct perfile_error *error)
{
    static const uint8_t zeros[4096];
    int result = 0;
    for (; bytes && result == 0; bytes -= pf_min(bytes, sizeof(zeros)))
        result = pf_sink_put(sink, zeros, (size_t)pf_min(bytes, sizeof(zeros)), error);
    return result;
}

int pf_writer_cut_payload(struct perfile_writer *writer, struct perfile_error *error)
{
    struct pf_sink *sink = &pf_writer_stream(writer)->sink;
    uint64_t stated = pf_align8(sink->bytes - writer->payload_at), left = writer->payload_left;
    int result;
    pf_writer_diagnose(writer, "payload-cut", "the data of an AUXTRACE record is truncated");
    writer->payload_left = 0;
    if (writer->options.mode == PERFILE_MODE_PIPE) /* what is cut is the end of the stream, but for damaged sizes */
        return put_zeros(sink, pf_min(left, PAYLOAD_ZEROS_MAX), error);
    result = put_zeros(sink, writer->payload_at + stated - sink->bytes, error);
    stated = pf_load64(&stated, writer->swap);
    return result < 0 ? result : pf_sink_patch(sink, writer->payload_of + 8, &stated, sizeof(stated), error);
}

int pf_writer_begin_data(struct perfile_writer *writer, struct perfile_error *error)
{
    struct pf_sink *sink = &writer->streams[0].sink;
    uint8_t capacity[PF_FILE_HEADER_BYTES] = {0};
    struct pf_out o = pf_out_make(capacity, sizeof(capacity), writer->swap);
    int result = writer->started ? 0 : pf_writer_start(writer, error);
    /* after the events, where all versions of perf look for it */
    if (result == 0 && writer->options.compression && pf_writer_describes_now(writer))
        result = pf_writer_announce_compression(writer, error);
    writer->data_started = true;
    if (result == 0 && writer->options.live)
        result = pf_writer_put_front(writer, error);
    if (result < 0 || !writer->options.live)
        return result;
    if (sink->bytes < sizeof(capacity)) { /* not even an event */
        pf_out_u32(&o, PERFILE_RECORD_FINISHED_ROUND);
        pf_out_u16(&o, 0);
        pf_out_u16(&o, sizeof(capacity));
        result = pf_sink_put(sink, capacity, sizeof(capacity), error);
    }
    writer->data_start = sink->bytes;
    return result;
}

/* The record may lie in the writer's own block, which the announcement is made in. */
static int begin_data_before(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    uint8_t kept[PF_RECORD_CAPACITY];
    const bool own = data == writer->record;
    if (own)
        memcpy(kept, data, bytes);
    int result = pf_writer_begin_data(writer, error);
    if (own)
        memcpy(writer->record, kept, bytes);
    return result;
}

/* Counts the records; false when they do not fill the bytes, or are of a kind that needs a call of its own. */
static bool count_many(struct perfile_writer *writer, const uint8_t *data, size_t bytes)
{
    struct perfile_writer_counts seen = {0};
    for (size_t at = 0, size; at < bytes; at += size) {
        size = bytes - at >= 8 ? pf_load16(data + at + 6, writer->swap) : 0;
        const uint32_t type = size ? pf_load32(data + at, writer->swap) : 0;
        if (size < 8 || size > bytes - at || type == PERFILE_RECORD_AUXTRACE)
            return false;
        seen.records++;
        seen.samples += type == PERFILE_RECORD_SAMPLE;
    }
    writer->counts.records += seen.records;
    writer->counts.samples += seen.samples;
    return true;
}

int pf_writer_put_many(struct perfile_writer *writer, const uint8_t *data, size_t bytes, struct perfile_error *error)
{
    int result = writer->data_started ? 0 : pf_writer_begin_data(writer, error);
    if (result == 0 && (writer->payload_left || !count_many(writer, data, bytes)))
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_records",
                         "the bytes are not a sequence of complete records");
    if (result < 0)
        return result;
    if (!writer->options.compression)
        return pf_writer_put_bytes(writer, data, bytes, error);
    for (size_t at = 0, size; at < bytes && result == 0; at += size) {
        size = pf_load16(data + at + 6, writer->swap);
        const uint32_t type = pf_load32(data + at, writer->swap);
        result = type == PERFILE_RECORD_FINISHED_ROUND ? end_round(writer, error) : 0;
        if (result == 0)
            result = type < PERFILE_RECORD_HEADER_ATTR ? put_compressed(writer, data + at, size, error)
                                                       : pf_writer_put_bytes(writer, data + at, size, error);
    }
    return result;
}

int pf_writer_fail_payload(const struct perfile_writer *writer, struct perfile_error *error)
{
    char missing[PF_COUNTED_BYTES];
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "AUXTRACE record", "%s",
                   pf_count_of(writer->payload_left, "bytes of its payload are missing", missing));
}

int pf_writer_put(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    uint32_t type = pf_load32(data, writer->swap);
    int result = 0;
    if (PF_UNLIKELY(!writer->data_started))
        result = begin_data_before(writer, data, bytes, error);
    if (PF_UNLIKELY(writer->payload_left) && result == 0)
        result = pf_writer_fail_payload(writer, error);
    if (PF_UNLIKELY(type == PERFILE_RECORD_AUXTRACE) && result == 0)
        result = note_auxtrace(writer, data, bytes, error);
    if (result < 0)
        return result;
    writer->counts.records++;
    writer->counts.samples += type == PERFILE_RECORD_SAMPLE;
    if (PF_UNLIKELY(writer->options.compression) && type < PERFILE_RECORD_HEADER_ATTR)
        return put_compressed(writer, data, bytes, error);
    if (PF_UNLIKELY(writer->options.frame_bytes) && type == PERFILE_RECORD_FINISHED_ROUND)
        result = end_round(writer, error);
    if (result < 0)
        return result;
    if (PF_UNLIKELY(pf_writer_stream(writer)->batch_bytes))
        return pf_writer_put_bytes(writer, data, bytes, error);
    return pf_sink_put(&pf_writer_stream(writer)->sink, data, bytes, error);
}

int perfile_writer_payload(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    if (bytes > writer->payload_left) {
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_payload",
                         "%zu bytes given, but the preceding record states %llu more", bytes,
                         (unsigned long long)writer->payload_left);
    } else {
        writer->payload_left -= bytes;
        result = pf_writer_put_bytes(writer, data, bytes, error);
    }
    return pf_writer_keep(writer, result, error);
}
