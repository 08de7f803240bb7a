/* SPDX-License-Identifier: MIT */
#include "output/gzip_parts.h"

#include <zlib.h>

#include "base/bytes.h"
#include "base/work_parts.h"

enum {
    WINDOW = 32 << 10, /* how far deflate looks back */
    PART_BYTES = 128 << 10,
    OUT_BYTES = PART_BYTES + (PART_BYTES >> 8) + 64, /* what does not get smaller */
    PARTS_MAX = 16
};

struct part {
    uint8_t *data; /* what stood before it, and its own */
    size_t before, bytes;
    enum pf_gzip_kind kind;
    bool last;
    uint8_t *out;
    size_t out_bytes;
    uLong crc;
    bool failed;
};

struct pf_gzip_parts {
    const struct perfile_allocator *allocator;
    struct perfile_sink sink;
    unsigned threads;
    struct part parts[PARTS_MAX];
    size_t count, max; /* that have something, or are the next to be filled; at most */
    bool started;      /* the header is written */
    uLong crc;
    uint64_t bytes;
};

/* ---- one part ---- */

static bool deflate_all(z_stream *stream, struct part *part)
{
    if (part->before && deflateSetDictionary(stream, part->data, (uInt)part->before) != Z_OK)
        return false;
    stream->next_in = part->data + part->before;
    stream->avail_in = (uInt)part->bytes;
    stream->next_out = part->out;
    stream->avail_out = OUT_BYTES;
    const int result = deflate(stream, part->last ? Z_FINISH : Z_SYNC_FLUSH);
    part->out_bytes = OUT_BYTES - stream->avail_out;
    return result == (part->last ? Z_STREAM_END : Z_OK) && stream->avail_in == 0 && stream->avail_out;
}

static void deflate_part(void *context, size_t index)
{
    struct pf_gzip_parts *gzip = context;
    struct part *part = &gzip->parts[index];
    const struct pf_gzip_way way = pf_gzip_way(part->kind);
    z_stream stream = pf_gzip_stream(gzip->allocator);
    part->failed = deflateInit2(&stream, way.level, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1, way.strategy) != Z_OK;
    if (part->failed)
        return;
    part->failed = !deflate_all(&stream, part);
    part->crc = crc32(0, part->data + part->before, (uInt)part->bytes);
    deflateEnd(&stream);
}

/* ---- all that are there ---- */

static int put(struct pf_gzip_parts *gzip, const void *data, size_t bytes)
{
    return gzip->sink.write(gzip->sink.context, data, bytes);
}

static int put_header(struct pf_gzip_parts *gzip)
{
    static const uint8_t header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3 /* Unix */};
    const bool started = gzip->started;
    gzip->started = true;
    return started ? 0 : put(gzip, header, sizeof(header));
}

/* Starts the next part, with the end of the data before it as its window. */
static void look_back(struct part *part, const struct part *at)
{
    const size_t there = at->before + at->bytes, before = pf_min_size(there, WINDOW);
    memmove(part->data, at->data + there - before, before);
    part->before = before;
    part->bytes = 0;
    part->kind = at->kind;
}

static int put_parts(struct pf_gzip_parts *gzip)
{
    const struct pf_work_parts work = {deflate_part, gzip, gzip->count, gzip->threads};
    int result = put_header(gzip);
    pf_work_parts_do(&work, gzip->allocator);
    for (size_t i = 0; i < gzip->count && result == 0; i++) {
        const struct part *part = &gzip->parts[i];
        gzip->crc = crc32_combine(gzip->crc, part->crc, (z_off_t)part->bytes);
        gzip->bytes += part->bytes;
        result = part->failed ? -1 : put(gzip, part->out, part->out_bytes);
    }
    look_back(&gzip->parts[0], &gzip->parts[gzip->count - 1]);
    gzip->count = 1;
    return result;
}

static int end_part(struct pf_gzip_parts *gzip)
{
    if (gzip->count == gzip->max)
        return put_parts(gzip);
    look_back(&gzip->parts[gzip->count], &gzip->parts[gzip->count - 1]);
    gzip->count++;
    return 0;
}

int pf_gzip_parts_write(struct pf_gzip_parts *gzip, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    int result = 0;
    while (bytes && result == 0) {
        struct part *part = &gzip->parts[gzip->count - 1];
        const size_t now = pf_min_size(bytes, PART_BYTES - part->bytes);
        memcpy(part->data + part->before + part->bytes, from, now);
        part->bytes += now;
        from += now;
        bytes -= now;
        if (part->bytes == PART_BYTES)
            result = end_part(gzip);
    }
    return result;
}

int pf_gzip_parts_expect(struct pf_gzip_parts *gzip, enum pf_gzip_kind kind)
{
    const struct part *part = &gzip->parts[gzip->count - 1];
    const int result = part->kind != kind && part->bytes ? end_part(gzip) : 0;
    gzip->parts[gzip->count - 1].kind = kind;
    return result;
}

int pf_gzip_parts_finish(struct pf_gzip_parts *gzip)
{
    uint8_t trailer[8];
    gzip->parts[gzip->count - 1].last = true;
    const int result = put_parts(gzip);
    for (unsigned i = 0; i < 4; i++) {
        trailer[i] = (uint8_t)(gzip->crc >> 8 * i);
        trailer[4 + i] = (uint8_t)(gzip->bytes >> 8 * i);
    }
    return result == 0 ? put(gzip, trailer, sizeof(trailer)) : result;
}

/* ---- opening and closing ---- */

int pf_gzip_parts_open(struct pf_gzip_parts **gzip, const struct perfile_allocator *allocator,
                       const struct perfile_sink *sink, unsigned threads)
{
    struct pf_gzip_parts *made = *gzip = pf_new(allocator, sizeof(*made));
    bool enough = made;
    if (!made)
        return PERFILE_ERROR_MEMORY;
    *made = (struct pf_gzip_parts){.allocator = allocator, .sink = *sink, .threads = threads, .count = 1};
    made->max = threads > 1 ? pf_min_size(2 * (size_t)threads, PARTS_MAX) : 1;
    made->crc = crc32(0, NULL, 0);
    for (size_t i = 0; i < made->max; i++) {
        made->parts[i].data = pf_new(allocator, WINDOW + PART_BYTES);
        made->parts[i].out = pf_new(allocator, OUT_BYTES);
        enough &= made->parts[i].data && made->parts[i].out;
    }
    return enough ? 0 : PERFILE_ERROR_MEMORY;
}

void pf_gzip_parts_close(struct pf_gzip_parts *gzip)
{
    if (!gzip)
        return;
    for (size_t i = 0; i < gzip->max; i++) {
        pf_free(gzip->allocator, gzip->parts[i].data, WINDOW + PART_BYTES);
        pf_free(gzip->allocator, gzip->parts[i].out, OUT_BYTES);
    }
    pf_free(gzip->allocator, gzip, sizeof(*gzip));
}
