/* SPDX-License-Identifier: MIT */
#include "io/deflate.h"

#include <zstd.h>

#include "base/error.h"

struct pf_deflate {
    const struct perfile_allocator *allocator;
    ZSTD_CCtx *context;
    ZSTD_inBuffer input;
    bool done; /* all of the input is flushed */
    bool ends; /* and the frame is to be over */
};

int pf_deflate_open(struct pf_deflate **deflate, const struct perfile_allocator *allocator, int level,
                    struct perfile_error *error)
{
    struct pf_deflate *z = pf_new(allocator, sizeof(*z));
    ZSTD_CCtx *context = z ? ZSTD_createCCtx() : NULL;
    if (!context || ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level))) {
        ZSTD_freeCCtx(context);
        pf_free(allocator, z, sizeof(*z));
        return pf_fail_memory(error, "zstd stream");
    }
    z->allocator = allocator;
    z->context = context;
    z->done = true;
    *deflate = z;
    return 0;
}

void pf_deflate_close(struct pf_deflate *deflate)
{
    if (!deflate)
        return;
    ZSTD_freeCCtx(deflate->context);
    pf_free(deflate->allocator, deflate, sizeof(*deflate));
}

void pf_deflate_push(struct pf_deflate *deflate, const void *data, size_t bytes)
{
    deflate->input = (ZSTD_inBuffer){data, bytes, 0};
    deflate->done = bytes == 0;
}

void pf_deflate_end(struct pf_deflate *deflate)
{
    deflate->ends = true;
    deflate->done = false;
}

int pf_deflate_pull(struct pf_deflate *deflate, void *to, size_t capacity, size_t *got, struct perfile_error *error)
{
    *got = 0;
    if (deflate->done)
        return 0;
    ZSTD_outBuffer out = {to, capacity, 0};
    const ZSTD_EndDirective how = deflate->ends ? ZSTD_e_end : ZSTD_e_flush;
    size_t left = ZSTD_compressStream2(deflate->context, &out, &deflate->input, how);
    if (ZSTD_isError(left))
        return pf_fail(error, PERFILE_ERROR_COMPRESSION, PERFILE_NO_OFFSET, "zstd stream", "%s",
                       ZSTD_getErrorName(left));
    deflate->done = left == 0;
    deflate->ends &= left != 0;
    *got = out.pos;
    return 0;
}
