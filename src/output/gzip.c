/* SPDX-License-Identifier: MIT */
#include "output/gzip.h"

#include <limits.h>

#include "base/error.h"
#include "output/gzip_zlib.h"

enum { GZIP_HEADER = 16, CAPACITY = 64 << 10 };

struct pf_gzip {
    const struct perfile_allocator *allocator;
    struct perfile_sink sink;
    z_stream stream;
    uint8_t out[CAPACITY];
};

int pf_gzip_open(struct pf_gzip **gzip, const struct perfile_allocator *allocator, const struct perfile_sink *sink,
                 struct perfile_error *error)
{
    struct pf_gzip *z = pf_new(allocator, sizeof(*z));
    if (!z)
        return pf_fail_memory(error, "gzip");
    z->allocator = allocator;
    z->sink = *sink;
    z->stream = pf_gzip_stream(allocator);
    const struct pf_gzip_way way = pf_gzip_way(PF_GZIP_TEXT);
    if (deflateInit2(&z->stream, way.level, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, MAX_MEM_LEVEL - 1, way.strategy) !=
        Z_OK) {
        pf_free(allocator, z, sizeof(*z));
        return pf_fail_memory(error, "gzip");
    }
    *gzip = z;
    return 0;
}

void pf_gzip_close(struct pf_gzip *gzip)
{
    if (!gzip)
        return;
    deflateEnd(&gzip->stream);
    pf_free(gzip->allocator, gzip, sizeof(*gzip));
}

/* All of the input, and at the end what is still held back. */
static int run(struct pf_gzip *gzip, int flush)
{
    z_stream *stream = &gzip->stream;
    do {
        stream->next_out = gzip->out;
        stream->avail_out = CAPACITY;
        deflate(stream, flush);
        const size_t got = CAPACITY - stream->avail_out;
        if (got && gzip->sink.write(gzip->sink.context, gzip->out, got) != 0)
            return -1;
    } while (stream->avail_out == 0);
    return 0;
}

int pf_gzip_write(void *context, const void *data, size_t bytes)
{
    struct pf_gzip *gzip = context;
    const uint8_t *at = data;
    int result = 0;
    while (bytes && result == 0) {
        const size_t piece = bytes < INT_MAX ? bytes : INT_MAX;
        gzip->stream.next_in = (uint8_t *)(uintptr_t)at;
        gzip->stream.avail_in = (unsigned)piece;
        result = run(gzip, Z_NO_FLUSH);
        at += piece;
        bytes -= piece;
    }
    return result;
}

int pf_gzip_finish(struct pf_gzip *gzip)
{
    gzip->stream.avail_in = 0;
    return run(gzip, Z_FINISH);
}
