/* SPDX-License-Identifier: MIT */
/* Makes complete recordings by hand in memory, for tests of readers. Link with the format layer. */
#ifndef PF_TESTS_RECORDING_H
#define PF_TESTS_RECORDING_H

#include "counting.h"
#include "format/reader.h"

enum {
    RECORDING_ATTR_BYTES = 136,
    RECORDING_ID = 7,
    RECORDING_DATA_AT = 104 + 8 + RECORDING_ATTR_BYTES + 16,
};

struct recording {
    uint8_t *data;
    size_t bytes;
    size_t capacity;
    bool swap;
    uint64_t sample_type;
};

static inline void recording_bytes(struct recording *r, const void *data, size_t bytes)
{
    assert_true(pf_grow(pf_allocator_or_default(NULL), &r->data, &r->capacity, r->bytes + bytes, 1));
    memcpy(r->data + r->bytes, data, bytes);
    r->bytes += bytes;
}

static inline void recording_u32(struct recording *r, uint32_t v)
{
    v = pf_load32(&v, r->swap);
    recording_bytes(r, &v, sizeof(v));
}

static inline void recording_u64(struct recording *r, uint64_t v)
{
    v = pf_load64(&v, r->swap);
    recording_bytes(r, &v, sizeof(v));
}

static inline void recording_header(struct recording *r, uint32_t type, uint16_t misc, uint16_t size)
{
    misc = pf_load16(&misc, r->swap);
    size = pf_load16(&size, r->swap);
    recording_u32(r, type);
    recording_bytes(r, &misc, sizeof(misc));
    recording_bytes(r, &size, sizeof(size));
}

static inline void recording_store64(struct recording *r, size_t at, uint64_t v)
{
    v = pf_load64(&v, r->swap);
    memcpy(r->data + at, &v, sizeof(v));
}

static inline void recording_store16(struct recording *r, size_t at, uint16_t v)
{
    v = pf_load16(&v, r->swap);
    memcpy(r->data + at, &v, sizeof(v));
}

/* Header, one id, one attr; records follow. In file mode without features. */
static inline void recording_open(struct recording *r, uint64_t sample_type, bool swap)
{
    const uint8_t zeros[RECORDING_DATA_AT] = {0};
    *r = (struct recording){.swap = swap, .sample_type = sample_type};
    recording_bytes(r, swap == PF_NATIVE_BIG_ENDIAN ? "PERFILE2" : "2ELIFREP", 8);
    recording_u64(r, 104);
    recording_u64(r, RECORDING_ATTR_BYTES + 16);
    recording_u64(r, 112);
    recording_u64(r, RECORDING_ATTR_BYTES + 16);
    recording_u64(r, RECORDING_DATA_AT);
    recording_bytes(r, zeros, 104 - r->bytes);
    recording_u64(r, RECORDING_ID);
    recording_u32(r, 1);
    recording_u32(r, RECORDING_ATTR_BYTES);
    recording_bytes(r, zeros, 16);
    recording_u64(r, sample_type);
    recording_bytes(r, zeros, 8);
    recording_u64(r, swap != PF_NATIVE_BIG_ENDIAN ? 1ull << 45 : 1 << 18); /* sample_id_all */
    recording_bytes(r, zeros, RECORDING_ATTR_BYTES - 48);
    recording_u64(r, 104);
    recording_u64(r, 8);
    assert_int_equal(r->bytes, RECORDING_DATA_AT);
}

/* The records end here. */
static inline void recording_finish(struct recording *r)
{
    recording_store64(r, 48, r->bytes - RECORDING_DATA_AT);
}

static inline void recording_close(struct recording *r)
{
    pf_free(pf_allocator_or_default(NULL), r->data, r->capacity);
}

/* The fields of a sample or a trailer, as far as they are used here. */
static inline void recording_fields(struct recording *r, int32_t tid, uint64_t time)
{
    if (r->sample_type & PERFILE_SAMPLE_TID) {
        recording_u32(r, (uint32_t)tid);
        recording_u32(r, (uint32_t)tid);
    }
    if (r->sample_type & PERFILE_SAMPLE_TIME)
        recording_u64(r, time);
}

/* Adds a sample, with sample_type IDENTIFIER, IP, TID, TIME. Returns where it starts. */
static inline size_t recording_sample(struct recording *r, uint64_t ip, int32_t tid, uint64_t time)
{
    size_t at = r->bytes;
    recording_header(r, PERFILE_RECORD_SAMPLE, 2, 0);
    if (r->sample_type & PERFILE_SAMPLE_IDENTIFIER)
        recording_u64(r, RECORDING_ID);
    if (r->sample_type & PERFILE_SAMPLE_IP)
        recording_u64(r, ip);
    recording_fields(r, tid, time);
    recording_store16(r, at + 6, (uint16_t)(r->bytes - at));
    return at;
}

static inline void recording_trailer(struct recording *r, size_t record_at, int32_t tid, uint64_t time)
{
    recording_fields(r, tid, time);
    if (r->sample_type & PERFILE_SAMPLE_IDENTIFIER)
        recording_u64(r, RECORDING_ID);
    recording_store16(r, record_at + 6, (uint16_t)(r->bytes - record_at));
}

static inline size_t recording_comm(struct recording *r, int32_t tid, const char *comm, uint64_t time)
{
    size_t at = r->bytes, length = strlen(comm) + 1;
    recording_header(r, PERFILE_RECORD_COMM, 0, 0);
    recording_u32(r, (uint32_t)tid);
    recording_u32(r, (uint32_t)tid);
    recording_bytes(r, comm, length);
    recording_bytes(r, "\0\0\0\0\0\0\0", (8 - length % 8) % 8);
    recording_trailer(r, at, tid, time);
    return at;
}

struct recording_map {
    uint16_t misc; /* 1 kernel, 2 user */
    int32_t pid;
    uint64_t start;
    uint64_t bytes;
    uint64_t pgoff;
    const char *name;
};

/* MMAP */
static inline void recording_map(struct recording *r, const struct recording_map *map, uint64_t time)
{
    size_t at = r->bytes, length = strlen(map->name) + 1;
    recording_header(r, PERFILE_RECORD_MMAP, map->misc, 0);
    recording_u32(r, (uint32_t)map->pid);
    recording_u32(r, (uint32_t)map->pid);
    recording_u64(r, map->start);
    recording_u64(r, map->bytes);
    recording_u64(r, map->pgoff);
    recording_bytes(r, map->name, length);
    recording_bytes(r, "\0\0\0\0\0\0\0", (8 - length % 8) % 8);
    recording_trailer(r, at, map->pid, time);
}

static inline void recording_cgroup(struct recording *r, uint64_t id, const char *path, uint64_t time)
{
    size_t at = r->bytes, length = strlen(path) + 1;
    recording_header(r, PERFILE_RECORD_CGROUP, 0, 0);
    recording_u64(r, id);
    recording_bytes(r, path, length);
    recording_bytes(r, "\0\0\0\0\0\0\0", (8 - length % 8) % 8);
    recording_trailer(r, at, 0, time);
}

/* FORK or EXIT */
static inline size_t recording_task(struct recording *r, uint32_t type, int32_t tid, int32_t parent, uint64_t time)
{
    size_t at = r->bytes;
    recording_header(r, type, 0, 0);
    recording_u32(r, (uint32_t)tid);
    recording_u32(r, (uint32_t)parent);
    recording_u32(r, (uint32_t)tid);
    recording_u32(r, (uint32_t)parent);
    recording_u64(r, time);
    recording_trailer(r, at, tid, time);
    return at;
}

/*
 * The flags of a branch, given as a little-endian machine has them: bit 0 mispredicted, 1 predicted, 4 to 19 cycles. In
 * the bitfields of a big-endian one the first is the highest bit.
 */
static inline uint64_t recording_branch_flags(const struct recording *r, uint64_t flags)
{
    if (r->swap == PF_NATIVE_BIG_ENDIAN)
        return flags;
    return flags << 63 | (flags & 2) << 61 | (flags >> 4 & 0xffff) << 44;
}

static inline void recording_round(struct recording *r)
{
    recording_header(r, PERFILE_RECORD_FINISHED_ROUND, 0, 8);
}

/*
 * Reads the recording from a block of exactly its size, so that a sanitizer sees each access after it; free *block
 * after the reader.
 */
static inline struct perfile_reader *recording_read(const struct recording *r, uint8_t **block)
{
    struct perfile_reader *reader;
    struct perfile_error error;
    *block = made_block(r->data, r->bytes);
    int result = perfile_open_memory(*block, r->bytes, NULL, &reader, &error);
    if (result < 0)
        fail_msg("%s", error.message);
    return reader;
}

#endif
