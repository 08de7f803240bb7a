/* SPDX-License-Identifier: MIT */
#include "symbol/find/unpack.h"

#ifdef PF_HAVE_LZMA
#include <lzma.h>
#endif
#include <limits.h>
#define ZLIB_CONST /* its pointers to input are const */
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"

enum { UNPACKED_BYTES_MAX = 256 << 20, XZ_MEMORY_MAX = 128 << 20, WINDOW_LOG_MAX = 27, STEP_BYTES = 65536 };

static const uint8_t xz_start[] = {0xfd, '7', 'z', 'X', 'Z', 0};
static const uint8_t zstd_start[] = {0x28, 0xb5, 0x2f, 0xfd};

static bool begins_with(const uint8_t *data, size_t bytes, const uint8_t *start, size_t start_bytes)
{
    return bytes >= start_bytes && memcmp(data, start, start_bytes) == 0;
}

bool pf_is_packed(const uint8_t *data, size_t bytes)
{
    return begins_with(data, bytes, xz_start, sizeof(xz_start)) ||
           begins_with(data, bytes, zstd_start, sizeof(zstd_start));
}

/* Reserves capacity for more bytes; false when there are too many already. */
static bool reserve(const struct perfile_allocator *allocator, struct pf_unpacked *out)
{
    return out->bytes < UNPACKED_BYTES_MAX &&
           pf_grow(allocator, &out->data, &out->capacity, out->bytes + STEP_BYTES, 1);
}

#ifdef PF_HAVE_LZMA
static bool unpack_xz(const struct perfile_allocator *allocator, const uint8_t *data, size_t bytes,
                      struct pf_unpacked *out)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret result = lzma_stream_decoder(&stream, XZ_MEMORY_MAX, 0);
    stream.next_in = data;
    stream.avail_in = bytes;
    while (result == LZMA_OK && reserve(allocator, out)) {
        stream.next_out = out->data + out->bytes;
        stream.avail_out = out->capacity - out->bytes;
        result = lzma_code(&stream, LZMA_FINISH);
        out->bytes = out->capacity - stream.avail_out;
    }
    lzma_end(&stream);
    if (result == LZMA_MEM_ERROR)
        pf_memory_note_short(allocator);
    return result == LZMA_STREAM_END;
}
#else
static bool unpack_xz(const struct perfile_allocator *allocator, const uint8_t *data, size_t bytes,
                      struct pf_unpacked *out)
{
    (void)allocator, (void)data, (void)bytes, (void)out;
    return false;
}
#endif

static bool unpack_zstd(const struct perfile_allocator *allocator, const uint8_t *data, size_t bytes,
                        struct pf_unpacked *out)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {data, bytes, 0};
    size_t left = 1;
    if (!context)
        pf_memory_note_short(allocator);
    if (!context || ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        left = (size_t)-1;
    while (!ZSTD_isError(left) && (left || in.pos < in.size) && reserve(allocator, out)) {
        ZSTD_outBuffer to = {out->data, out->capacity, out->bytes};
        size_t before = in.pos;
        left = ZSTD_decompressStream(context, &to, &in);
        if (to.pos == out->bytes && in.pos == before)
            break; /* cut off */
        out->bytes = to.pos;
    }
    if (ZSTD_isError(left) && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
        pf_memory_note_short(allocator);
    ZSTD_freeDCtx(context);
    return left == 0 && in.pos == in.size;
}

bool pf_unpack(const struct perfile_allocator *allocator, const uint8_t *data, size_t bytes, struct pf_unpacked *out)
{
    bool done = false;
    *out = (struct pf_unpacked){0};
    if (begins_with(data, bytes, xz_start, sizeof(xz_start)))
        done = unpack_xz(allocator, data, bytes, out);
    else if (begins_with(data, bytes, zstd_start, sizeof(zstd_start)))
        done = unpack_zstd(allocator, data, bytes, out);
    if (!done)
        pf_unpacked_close(allocator, out);
    return done;
}

void pf_unpacked_close(const struct perfile_allocator *allocator, struct pf_unpacked *out)
{
    pf_free(allocator, out->data, out->capacity);
    *out = (struct pf_unpacked){0};
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* As many bytes as the type of the library's counters holds. */
static uInt piece_of(const uint8_t *at, const uint8_t *end)
{
    return (uInt)pf_min((size_t)(end - at), (size_t)UINT_MAX);
}

/* One stream or several, one after the other. */
static bool unpack_zlib(const struct perfile_allocator *allocator, const uint8_t *data, size_t bytes, uint8_t *to,
                        size_t to_bytes)
{
    z_stream z = {.next_in = data, .next_out = to};
    const uint8_t *const end = data + bytes, *const to_end = to + to_bytes;
    int result = inflateInit(&z);
    const bool is_open = result == Z_OK;
    while (result == Z_OK) {
        z.avail_in = piece_of(z.next_in, end);
        z.avail_out = piece_of(z.next_out, to_end);
        result = inflate(&z, Z_NO_FLUSH);
        if (result == Z_STREAM_END && z.next_out < to_end)
            result = inflateReset(&z);
    }
    if (result == Z_MEM_ERROR)
        pf_memory_note_short(allocator);
    if (is_open)
        inflateEnd(&z);
    return result == Z_STREAM_END && z.next_out == to_end;
}

bool pf_unpack_to(const struct perfile_allocator *allocator, enum pf_packing packing, const uint8_t *data, size_t bytes,
                  uint8_t *to, size_t to_bytes)
{
    if (packing == PF_PACKED_ZLIB)
        return unpack_zlib(allocator, data, bytes, to, to_bytes);
    const size_t got = ZSTD_decompress(to, to_bytes, data, bytes);
    if (ZSTD_isError(got) && ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
        pf_memory_note_short(allocator);
    return got == to_bytes;
}
