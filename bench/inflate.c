/* SPDX-License-Identifier: MIT */
/*
 * The limit for compressed recordings: how long libzstd alone takes for the compressed bytes of one. Reads a perf.data
 * file of this machine's byte order, puts the payloads of its COMPRESSED2 records into memory, then decompresses them
 * as one stream. Only that is timed.
 *
 *     inflate FILE
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

enum { COMPRESSED2 = 83, DATA_SECTION = 40 };

struct bytes {
    uint8_t *data;
    size_t size;
};

static void die(const char *what)
{
    fprintf(stderr, "inflate: %s\n", what);
    exit(1);
}

static uint64_t u64_at(const struct bytes *file, uint64_t offset)
{
    uint64_t value;

    if (file->size < sizeof(value) || offset > file->size - sizeof(value))
        die("the file is cut off");
    memcpy(&value, file->data + offset, sizeof(value));
    return value;
}

static struct bytes load(const char *path)
{
    FILE *in = fopen(path, "rb");
    struct bytes file = {NULL, 0};

    if (!in || fseek(in, 0, SEEK_END) < 0 || ftell(in) <= 0)
        die("the file cannot be opened");
    file.size = (size_t)ftell(in);
    file.data = malloc(file.size);
    rewind(in);
    if (!file.data || fread(file.data, 1, file.size, in) != file.size)
        die("the file cannot be read");
    fclose(in);
    return file;
}

/* The compressed bytes, moved together at the front of the file's memory. */
static struct bytes gather(const struct bytes *file)
{
    struct bytes frame = {file->data, 0};
    uint64_t at = u64_at(file, DATA_SECTION), end = at + u64_at(file, DATA_SECTION + 8);

    while (at + 16 <= end) {
        uint64_t header = u64_at(file, at), size = header >> 48, bytes = u64_at(file, at + 8);
        if (size < 8)
            die("a record without a size");
        if ((uint32_t)header == COMPRESSED2 && bytes <= size - 16 && at + size <= file->size) {
            memmove(frame.data + frame.size, file->data + at + 16, (size_t)bytes);
            frame.size += (size_t)bytes;
        }
        at += size;
    }
    return frame;
}

static uint64_t decompress(const struct bytes *frame)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t capacity = ZSTD_DStreamOutSize();
    uint8_t *out = malloc(capacity);
    ZSTD_inBuffer in = {frame->data, frame->size, 0};
    ZSTD_outBuffer piece = {out, capacity, 0};
    uint64_t total = 0;

    if (!stream || !out)
        die("no memory");
    do {
        piece.pos = 0;
        if (ZSTD_isError(ZSTD_decompressStream(stream, &piece, &in)))
            die("the stream is damaged");
        total += piece.pos;
    } while (in.pos < in.size || piece.pos == capacity);
    free(out);
    ZSTD_freeDStream(stream);
    return total;
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: inflate FILE\n", stderr);
        return 2;
    }
    struct bytes file = load(argv[1]);
    struct bytes frame = gather(&file);
    double start = cpu_seconds();
    uint64_t bytes = decompress(&frame);
    double seconds = cpu_seconds() - start;
    printf("compressed=%zu bytes=%" PRIu64 " seconds=%.4f MB/s=%.1f\n", frame.size, bytes, seconds,
           seconds > 0 ? (double)bytes / 1e6 / seconds : 0);
    free(file.data);
    return 0;
}
