/* SPDX-License-Identifier: MIT */
/*
 * Compressed records. The first byte chooses: bit 0 COMPRESSED2; bit 1 the rest is compressed here, and cut at the
 * positions that it names itself (so that damage reaches the code after the decompression), otherwise it is the stream.
 */
#include <zstd.h>

#include "fuzz.h"

enum { CAPACITY = 256 * 1024, START = 104 + 80 };

struct file {
    uint8_t *data;
    size_t bytes;
};

static void put(struct file *file, const void *data, size_t bytes)
{
    FUZZ_REQUIRE(bytes <= CAPACITY - file->bytes);
    memcpy(file->data + file->bytes, data, bytes);
    file->bytes += bytes;
}

static void put64(struct file *file, uint64_t value)
{
    put(file, &value, sizeof(value));
}

static void put32(struct file *file, uint32_t value)
{
    put(file, &value, sizeof(value));
}

static void put_header(struct file *file, uint64_t data_bytes)
{
    const uint64_t header[] = {PF_NATIVE_BIG_ENDIAN ? 0x50455246494c4532u : 0x32454c4946524550u,
                               104,
                               80,
                               104,
                               80,
                               START,
                               data_bytes,
                               0,
                               0,
                               0,
                               0,
                               0,
                               0};
    put(file, header, sizeof(header));
    put32(file, 1);  /* attr: software event */
    put32(file, 64); /* size */
    put64(file, 0);
    put64(file, 1);
    put64(file, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CALLCHAIN);
    put64(file, 0);
    put64(file, 1 << 18); /* sample_id_all */
    put64(file, 0);
    put64(file, 0);
    put64(file, 0); /* no ids */
    put64(file, 0);
}

static void put_record(struct file *file, bool second, const uint8_t *data, size_t bytes)
{
    size_t head = second ? 16 : 8, size = second ? (head + bytes + 7) & ~(size_t)7 : head + bytes;
    put32(file, second ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED);
    put32(file, PF_NATIVE_BIG_ENDIAN ? (uint32_t)size : (uint32_t)size << 16);
    if (second)
        put64(file, bytes);
    put(file, data, bytes);
    put(file, "\0\0\0\0\0\0\0", size - head - bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint8_t capacity[CAPACITY], stream[CAPACITY / 2];
    if (bytes < 4 || bytes > CAPACITY / 4)
        return 0;
    uint8_t choice = *data++;
    size_t stream_bytes = bytes - 1, at = 0;
    if (choice & 2) {
        stream_bytes = ZSTD_compress(stream, sizeof(stream), data, bytes - 1, 1);
        FUZZ_REQUIRE(!ZSTD_isError(stream_bytes));
    } else {
        memcpy(stream, data, stream_bytes);
    }
    struct file file = {capacity, 0};
    put_header(&file, UINT64_MAX);
    for (size_t i = 0; at < stream_bytes && i < 64; i++) {
        size_t left = stream_bytes - at, piece = 1 + 8 * (size_t)data[i % (bytes - 1)];
        piece = i < 63 && piece < left ? piece : pf_min(left, 60000);
        put_record(&file, choice & 1, stream + at, piece);
        at += piece;
    }
    const uint64_t data_bytes = file.bytes - START;
    memcpy(capacity + 48, &data_bytes, sizeof(data_bytes));
    struct perfile_open_options options = fuzz_options();
    struct perfile_reader *reader;
    FUZZ_REQUIRE(perfile_open_memory(capacity, file.bytes, &options, &reader, NULL) == 0);
    fuzz_walk(reader, true);
    perfile_close(reader);
    return 0;
}
