/* SPDX-License-Identifier: MIT */
#include "io/inflate.h"

#include <zstd.h>

#include "base/bytes.h"
#include "base/error.h"

struct pf_inflate {
    const struct perfile_allocator *allocator;
    ZSTD_DCtx *context;
    uint8_t *input;
    size_t capacity;
    size_t bytes;
    size_t used;
    bool more;      /* zstd holds back output that did not fit */
    bool inside;    /* a frame has started and not ended */
    uint64_t ended; /* frames */
};

int pf_inflate_open(struct pf_inflate **inflate, const struct perfile_allocator *allocator, struct perfile_error *error)
{
    struct pf_inflate *z = pf_new(allocator, sizeof(*z));
    ZSTD_DCtx *context = z ? ZSTD_createDCtx() : NULL;
    if (!context) {
        pf_free(allocator, z, sizeof(*z));
        return pf_fail_memory(error, "zstd stream");
    }
    z->allocator = allocator;
    z->context = context;
    *inflate = z;
    return 0;
}

void pf_inflate_close(struct pf_inflate *inflate)
{
    if (!inflate)
        return;
    ZSTD_freeDCtx(inflate->context);
    pf_free(inflate->allocator, inflate->input, inflate->capacity);
    pf_free(inflate->allocator, inflate, sizeof(*inflate));
}

void pf_inflate_restart(struct pf_inflate *inflate)
{
    ZSTD_DCtx_reset(inflate->context, ZSTD_reset_session_only);
    inflate->bytes = inflate->used = 0;
    inflate->more = inflate->inside = false;
}

int pf_inflate_push(struct pf_inflate *inflate, const void *data, size_t bytes, struct perfile_error *error)
{
    if (!pf_grow(inflate->allocator, &inflate->input, &inflate->capacity, bytes, 1))
        return pf_fail_memory(error, "zstd stream");
    if (bytes)
        memcpy(inflate->input, data, bytes);
    inflate->bytes = bytes;
    inflate->used = 0;
    return 0;
}

int pf_inflate_pull(struct pf_inflate *inflate, void *to, size_t bytes, size_t *got, struct perfile_error *error)
{
    *got = 0;
    while (*got == 0 && (inflate->used < inflate->bytes || inflate->more)) {
        ZSTD_inBuffer in = {inflate->input, inflate->bytes, inflate->used};
        ZSTD_outBuffer out = {to, bytes, 0};
        size_t result = ZSTD_decompressStream(inflate->context, &out, &in);
        if (ZSTD_isError(result))
            return pf_fail(error, PERFILE_ERROR_COMPRESSION, PERFILE_NO_OFFSET, "zstd stream", "%s",
                           ZSTD_getErrorName(result));
        bool stuck = in.pos == inflate->used && out.pos == 0;
        inflate->used = in.pos;
        inflate->more = out.pos == out.size;
        *got = out.pos;
        inflate->inside = result != 0;
        inflate->ended += result == 0;
        if (stuck)
            break;
    }
    return 0;
}

bool pf_inflate_is_between(const struct pf_inflate *inflate)
{
    return !inflate->inside && inflate->used == inflate->bytes;
}

uint64_t pf_inflate_ended(const struct pf_inflate *inflate)
{
    return inflate->ended;
}
