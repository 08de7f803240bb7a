/* SPDX-License-Identifier: MIT */
/* Finding out which recording an index describes. */
#include "model/index.h"

#include <sys/stat.h>

#include <perfile/index.h>

#include "base/error.h"
#include "base/text.h"

enum { END_BYTES = 64 * 1024 };

/* Adds up to END_BYTES bytes at `offset` to the checksum. Returns false when they cannot be read. */
static bool add_end(struct perfile_reader *reader, uint64_t offset, uint32_t *crc)
{
    uint8_t *bytes = pf_resize(reader->allocator, NULL, 0, END_BYTES);
    size_t got = 0;
    const bool read = bytes && pf_source_read(&reader->parts[0].source, offset, bytes, END_BYTES, &got, NULL) == 0;
    if (read)
        *crc = pf_crc32(*crc, bytes, got);
    pf_free(reader->allocator, bytes, END_BYTES);
    return read;
}

bool pf_index_describe(struct perfile_reader *reader, struct pf_index_tail *tail)
{
    const struct pf_source *source = &reader->parts[0].source;
    struct stat status;
    uint32_t crc = 0;
    if (reader->part_count != 1 || reader->file.mode != PERFILE_MODE_FILE || reader->options.follow ||
        !source->seekable)
        return false;
    *tail = (struct pf_index_tail){
        .file_bytes = source->bytes, .mark_bytes = sizeof(struct pf_index_mark), .version = PF_INDEX_VERSION};
    memcpy(tail->magic, PF_INDEX_MAGIC, sizeof(tail->magic));
    if (!source->memory && !source->callbacks.read && fstat(source->fd, &status) == 0) {
        tail->modified_s = status.st_mtim.tv_sec;
        tail->modified_ns = status.st_mtim.tv_nsec;
    }
    if (!add_end(reader, 0, &crc) || !add_end(reader, source->bytes > END_BYTES ? source->bytes - END_BYTES : 0, &crc))
        return false;
    tail->ends_crc = crc;
    return true;
}

static bool is_of(const struct pf_index_tail *tail, const struct pf_index_tail *recording)
{
    return memcmp(tail->magic, recording->magic, sizeof(tail->magic)) == 0 && tail->version == recording->version &&
           tail->mark_bytes == recording->mark_bytes && tail->file_bytes == recording->file_bytes &&
           tail->modified_s == recording->modified_s && tail->modified_ns == recording->modified_ns &&
           tail->ends_crc == recording->ends_crc;
}

static int fail_absent(struct perfile_error *error, const char *why)
{
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "index", "%s", why);
}

static bool is_piece(const uint8_t *data, size_t bytes, const struct pf_index_piece *piece)
{
    return piece->at <= bytes && piece->bytes <= bytes - piece->at &&
           pf_crc32(0, data + piece->at, (size_t)piece->bytes) == piece->crc;
}

const uint8_t *pf_index_piece_at(const struct perfile_reader *reader, const struct pf_index_piece *piece)
{
    return is_piece(reader->index.data, reader->index.bytes, piece) ? reader->index.data + piece->at : NULL;
}

struct pf_index_tail pf_index_tail_of(const struct perfile_reader *reader)
{
    struct pf_index_tail tail;
    memcpy(&tail, reader->index.data + reader->index.bytes - sizeof(tail), sizeof(tail));
    return tail;
}

int perfile_index_use(struct perfile_reader *reader, const void *data, size_t bytes, struct perfile_error *error)
{
    struct pf_index_tail tail, recording;
    const uint8_t *at = data;
    if (reader->stops & PF_READER_DRIVEN)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "index", "a session drives the reader");
    if (bytes < sizeof(tail))
        return fail_absent(error, "it is too short");
    memcpy(&tail, at + bytes - sizeof(tail), sizeof(tail));
    if (pf_crc32(0, &tail, offsetof(struct pf_index_tail, crc)) != tail.crc)
        return fail_absent(error, "it is damaged, or not an index");
    if (!pf_index_describe(reader, &recording) || !is_of(&tail, &recording))
        return fail_absent(error, "it belongs to another recording or another version");
    const struct pf_index_piece *marks = &tail.marks;
    uint64_t wanted;
    if (!pf_multiply(marks->count, sizeof(struct pf_index_mark), &wanted) || marks->bytes != wanted ||
        !is_piece(at, bytes, marks))
        return fail_absent(error, "it is damaged");
    reader->index.data = at;
    reader->index.bytes = bytes;
    return 0;
}

/* ---- sets of numbers ---- */

/* The n-th of the bits that a number has. */
static unsigned bit_of(uint32_t number, unsigned n)
{
    const uint64_t hash = ((uint64_t)number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(hash >> (64 - 9 * (n + 1))) % (PF_INDEX_SET_WORDS * 64);
}

void pf_index_set_add(struct pf_index_set *set, uint32_t number)
{
    for (unsigned n = 0; n < PF_INDEX_SET_MARKS; n++) {
        const unsigned bit = bit_of(number, n);
        set->words[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

bool pf_index_set_has(const struct pf_index_set *set, uint32_t number)
{
    bool has = true;
    for (unsigned n = 0; n < PF_INDEX_SET_MARKS; n++) {
        const unsigned bit = bit_of(number, n);
        has &= set->words[bit / 64] >> bit % 64 & 1;
    }
    return has;
}

bool perfile_block_may_have(const struct perfile_block *block, int part, uint64_t number)
{
    switch (part) {
    case PERFILE_BLOCK_CPU:
        return block->missing & PF_INDEX_NO_CPU || block->cpus >> number % 64 & 1;
    case PERFILE_BLOCK_EVENT:
        return block->events >> number % 64 & 1;
    case PERFILE_BLOCK_PID:
        return block->missing & PF_INDEX_NO_THREAD || pf_index_set_has(&block->pids, (uint32_t)number);
    case PERFILE_BLOCK_TID:
        return block->missing & PF_INDEX_NO_THREAD || pf_index_set_has(&block->tids, (uint32_t)number);
    default:
        return true;
    }
}

void perfile_block_times(const struct perfile_block *block, uint64_t *first, uint64_t *last)
{
    *first = block->first_time;
    *last = block->last_time;
}
