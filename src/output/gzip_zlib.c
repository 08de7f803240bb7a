/* SPDX-License-Identifier: MIT */
#include "output/gzip_zlib.h"

#include "base/memory.h"

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
