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
    enum pf_gzip_kind kind;
    uint8_t out[CAPACITY];
};

/* zlib does not say how large a block is that it gives back. */
union block {
    size_t bytes;
    max_align_t aligned;
};

static void *take(void *allocator, unsigned count, unsigned bytes)
{
    const size_t size = sizeof(union block) + (size_t)count * bytes;
    union block *block = pf_new(allocator, size);
    if (!block)
        return NULL;
    block->bytes = size;
    return block + 1;
}

static void give_back(void *allocator, void *pointer)
{
    union block *block = (union block *)pointer - 1;
    pf_free(allocator, block, block->bytes);
}

z_stream pf_gzip_stream(const struct perfile_allocator *allocator)
{
    return (z_stream){.zalloc = take, .zfree = give_back, .opaque = (void *)(uintptr_t)allocator};
}

struct pf_gzip_way pf_gzip_way(enum pf_gzip_kind kind)
{
    static const struct pf_gzip_way ways[] = {[PF_GZIP_TEXT] = {6, Z_DEFAULT_STRATEGY},
                                              [PF_GZIP_NUMBERS] = {2, Z_DEFAULT_STRATEGY},
                                              [PF_GZIP_NOISE] = {2, Z_RLE}};
    return ways[kind];
}

int pf_gzip_open(struct pf_gzip **gzip, const struct perfile_allocator *allocator, const struct perfile_sink *sink,
                 struct perfile_error *error)
{
    struct pf_gzip *z = pf_new(allocator, sizeof(*z));
    if (!z)
        return pf_fail_memory(error, "gzip");
    z->allocator = allocator;
    z->sink = *sink;
    z->stream = pf_gzip_stream(allocator);
    const struct pf_gzip_way way = pf_gzip_way(z->kind);
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

/* Before the level changes, what came with the old one has to be out. */
int pf_gzip_expect(struct pf_gzip *gzip, enum pf_gzip_kind kind)
{
    const struct pf_gzip_way way = pf_gzip_way(kind);
    if (kind == gzip->kind)
        return 0;
    gzip->kind = kind;
    gzip->stream.avail_in = 0;
    const int result = run(gzip, Z_BLOCK);
    gzip->stream.next_out = gzip->out;
    gzip->stream.avail_out = CAPACITY;
    if (result != 0 || deflateParams(&gzip->stream, way.level, way.strategy) != Z_OK)
        return -1;
    const size_t got = CAPACITY - gzip->stream.avail_out;
    return got ? gzip->sink.write(gzip->sink.context, gzip->out, got) : 0;
}

int pf_gzip_finish(struct pf_gzip *gzip)
{
    gzip->stream.avail_in = 0;
    return run(gzip, Z_FINISH);
}
