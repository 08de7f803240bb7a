/* SPDX-License-Identifier: MIT */
/*
 * A recording with its index: the samples and the cuts are the same as without. Then with hostile indexes with right
 * checksums, also of the frames.
 */
#include "fuzz.h"

#include <inttypes.h>

#include <perfile/edit.h>
#include <perfile/index.h>

#include "base/text.h"
#include "io/deflate.h"
#include "io/inflate.h"
#include "model/index.h"

enum { HOSTILE = 4, BYTES_EACH = 8 };

struct kept {
    uint8_t *data;
    size_t bytes, capacity;
};

static int keep(void *context, const void *data, size_t bytes)
{
    struct kept *kept = context;
    if (!pf_grow(pf_allocator_or_default(NULL), &kept->data, &kept->capacity, kept->bytes + bytes, 1))
        return -1;
    memcpy(kept->data + kept->bytes, data, bytes);
    kept->bytes += bytes;
    return 0;
}

/* What is asked for: samples near one of the recording's. */
struct wanted {
    uint64_t first, last;
    char pids[16];
};

static struct wanted choose(struct perfile_reader *reader, uint64_t which)
{
    static struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct wanted wanted = {.first = 1, .last = UINT64_MAX, .pids = "1"};
    const struct perfile_record *record;
    while (perfile_reader_next(reader, &record, NULL) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE || which-- || perfile_sample_decode(record, &sample, NULL) < 0)
            continue;
        wanted.first = pf_max(record->time, 1);
        wanted.last = wanted.first < UINT64_MAX - 100000 ? wanted.first + 100000 : UINT64_MAX;
        snprintf(wanted.pids, sizeof(wanted.pids), "%d", (int)(sample.pid & INT32_MAX));
        break;
    }
    FUZZ_REQUIRE(perfile_reader_rewind(reader, NULL) == 0);
    return wanted;
}

static uint64_t add_name(uint64_t hash, struct perfile_session *session, const struct perfile_record *record)
{
    static struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    const bool decoded = perfile_sample_decode(record, &sample, NULL) == 0 && sample.present & PERFILE_SAMPLE_TID;
    const char *comm = decoded ? perfile_session_comm(session, sample.pid, sample.tid) : "";
    hash = pf_hash_bytes(hash, comm, strlen(comm));
    return pf_hash_bytes(hash, record->data, record->bytes);
}

/* The samples that are asked for, by time, or by their process. */
static uint64_t read_wanted(struct perfile_reader *reader, const struct wanted *wanted, bool by_time)
{
    const struct perfile_filter filter = {.size = sizeof(filter), .pids = wanted->pids};
    const struct perfile_record *record;
    struct perfile_session *session;
    uint64_t hash = 0;
    FUZZ_REQUIRE(perfile_session_open(reader, &session, NULL) == 0);
    if (by_time)
        perfile_session_limit(session, wanted->first, wanted->last);
    else
        FUZZ_REQUIRE(perfile_session_filter(session, &filter, NULL) == 0);
    perfile_session_follow_maps(session);
    while (perfile_session_next(session, &record, NULL) > 0) {
        const bool in_time = record->time >= wanted->first && record->time <= wanted->last;
        if (record->type == PERFILE_RECORD_SAMPLE && (in_time || !by_time))
            hash = add_name(hash, session, record);
    }
    perfile_session_close(session);
    FUZZ_REQUIRE(perfile_reader_rewind(reader, NULL) == 0);
    return hash;
}

static uint64_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

static void flip(uint8_t *data, size_t bytes, uint64_t *random)
{
    for (unsigned i = 0; i < BYTES_EACH && bytes; i++)
        data[next_random(random) % bytes] ^= (uint8_t)(1u << next_random(random) % 8);
}

static int add_written(void *context, const void *data, size_t bytes)
{
    uint64_t *hash = context;
    *hash = pf_hash_bytes(*hash, data, bytes);
    return 0;
}

static uint64_t cut_wanted(struct perfile_reader *reader, const struct wanted *wanted)
{
    struct perfile_filter filter = {.size = sizeof(filter)};
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_writer *writer;
    uint64_t hash = 0;
    char time[64];
    snprintf(time, sizeof(time), "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64, wanted->first / 1000000000,
             wanted->first % 1000000000, wanted->last / 1000000000, wanted->last % 1000000000);
    filter.time = time;
    options.filter = &filter;
    how.mode = PERFILE_MODE_PIPE;
    FUZZ_REQUIRE(perfile_writer_open_sink(&(struct perfile_sink){&hash, add_written}, &how, &writer, NULL) == 0);
    int result = perfile_cut(reader, writer, &options, &report, NULL);
    if (result == 0)
        result = perfile_writer_finish(writer, NULL);
    perfile_writer_close(writer);
    FUZZ_REQUIRE(perfile_reader_rewind(reader, NULL) == 0);
    hash = pf_hash_bytes(hash, &report.records_dropped, sizeof(report.records_dropped));
    return pf_hash_bytes(hash, &report.samples_dropped, sizeof(report.samples_dropped)) + (uint64_t)(result < 0);
}

/* Where the piece is; NULL: not in the index. */
static uint8_t *inside(const struct kept *index, const struct pf_index_piece *piece)
{
    return piece->at <= index->bytes && piece->bytes <= index->bytes - piece->at ? index->data + piece->at : NULL;
}

static void seal_piece(const struct kept *index, struct pf_index_piece *piece)
{
    const uint8_t *at = inside(index, piece);
    piece->crc = at ? pf_crc32(0, at, (size_t)piece->bytes) : 0;
}

static void seal_mark(const struct kept *index, uint8_t *at)
{
    struct pf_index_mark mark;
    memcpy(&mark, at, sizeof(mark));
    seal_piece(index, &mark.texts);
    seal_piece(index, &mark.gone);
    seal_piece(index, &mark.state);
    seal_piece(index, &mark.history);
    memcpy(at, &mark, sizeof(mark));
}

static void seal_block(const struct kept *index, uint8_t *at)
{
    struct perfile_block block;
    memcpy(&block, at, sizeof(block));
    seal_piece(index, &block.gaps);
    memcpy(at, &block, sizeof(block));
}

static void seal_each(const struct kept *index, const struct pf_index_piece *piece, size_t each_bytes,
                      void (*seal)(const struct kept *index, uint8_t *at))
{
    uint8_t *at = inside(index, piece);
    for (uint64_t done = 0; at && done + each_bytes <= piece->bytes; done += each_bytes)
        seal(index, at + done);
}

static struct pf_index_tail tail_of(const struct kept *index)
{
    struct pf_index_tail tail;
    memcpy(&tail, index->data + index->bytes - sizeof(tail), sizeof(tail));
    return tail;
}

/* All checksums are right again. */
static void seal(const struct kept *index)
{
    struct pf_index_tail tail = tail_of(index);
    seal_each(index, &tail.marks, sizeof(struct pf_index_mark), seal_mark);
    seal_each(index, &tail.blocks, sizeof(struct perfile_block), seal_block);
    seal_piece(index, &tail.marks);
    seal_piece(index, &tail.blocks);
    tail.crc = pf_crc32(0, &tail, offsetof(struct pf_index_tail, crc));
    memcpy(index->data + index->bytes - sizeof(tail), &tail, sizeof(tail));
}

static void inflate_piece(const struct kept *index, const struct pf_index_piece *state, uint8_t *to)
{
    struct pf_inflate *inflate;
    size_t got = 1;
    FUZZ_REQUIRE(pf_inflate_open(&inflate, pf_allocator_or_default(NULL), NULL) == 0);
    FUZZ_REQUIRE(pf_inflate_push(inflate, index->data + state->at, (size_t)state->bytes, NULL) == 0);
    for (size_t done = 0; done < state->count && got; done += got)
        FUZZ_REQUIRE(pf_inflate_pull(inflate, to + done, (size_t)state->count - done, &got, NULL) == 0);
    pf_inflate_close(inflate);
}

/* Appends the piece to the index. */
static void deflate_piece(struct kept *index, struct pf_index_piece *state, const uint8_t *from)
{
    struct pf_deflate *deflate;
    uint8_t out[4096];
    size_t got = 1;
    state->at = index->bytes;
    FUZZ_REQUIRE(pf_deflate_open(&deflate, pf_allocator_or_default(NULL), 1, NULL) == 0);
    pf_deflate_push(deflate, from, (size_t)state->count);
    pf_deflate_end(deflate);
    while (got) {
        FUZZ_REQUIRE(pf_deflate_pull(deflate, out, sizeof(out), &got, NULL) == 0);
        FUZZ_REQUIRE(keep(index, out, got) == 0);
    }
    state->bytes = index->bytes - state->at;
    pf_deflate_close(deflate);
}

/* Changes the content of a zstd frame of the index, which was valid before. */
static void spoil_state(struct kept *index, uint64_t *random)
{
    const struct pf_index_tail tail = tail_of(index);
    struct pf_index_mark mark;
    if (!tail.marks.count)
        return;
    const size_t at = (size_t)(tail.marks.at + next_random(random) % tail.marks.count * sizeof(mark));
    memcpy(&mark, index->data + at, sizeof(mark));
    struct pf_index_piece *piece = next_random(random) % 2 && mark.history.bytes ? &mark.history : &mark.state;
    uint8_t *state = malloc((size_t)piece->count);
    FUZZ_REQUIRE(state);
    inflate_piece(index, piece, state);
    flip(state, (size_t)piece->count, random);
    deflate_piece(index, piece, state);
    free(state);
    memcpy(index->data + at, &mark, sizeof(mark));
    FUZZ_REQUIRE(keep(index, &tail, sizeof(tail)) == 0);
    seal(index);
}

/* Some bytes are others, and all checksums are right again. */
static void spoil(const struct kept *index, uint64_t *random)
{
    flip(index->data, index->bytes, random);
    seal(index);
}

static void compare(struct perfile_reader *reader, struct kept *index, const struct wanted *wanted, uint64_t random)
{
    const uint64_t of_time = read_wanted(reader, wanted, true), of_process = read_wanted(reader, wanted, false),
                   of_cut = cut_wanted(reader, wanted);
    FUZZ_REQUIRE(perfile_index_use(reader, index->data, index->bytes, NULL) == 0);
    FUZZ_REQUIRE(read_wanted(reader, wanted, true) == of_time);
    FUZZ_REQUIRE(read_wanted(reader, wanted, false) == of_process);
    FUZZ_REQUIRE(cut_wanted(reader, wanted) == of_cut);
    for (unsigned i = 0; i < HOSTILE; i++) {
        reader->index.data = NULL;
        if (i < HOSTILE / 2)
            spoil_state(index, &random);
        else
            spoil(index, &random);
        if (perfile_index_use(reader, index->data, index->bytes, NULL) < 0)
            continue;
        (void)read_wanted(reader, wanted, true);
        (void)read_wanted(reader, wanted, false);
        (void)cut_wanted(reader, wanted);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct pf_index_sizes sizes = {.mark_bytes = 512, .block_bytes = 1024, .gap_bytes = 64};
    struct perfile_open_options options = fuzz_options();
    struct perfile_reader *reader;
    struct kept index = {.bytes = 0};
    const uint64_t random = pf_hash_bytes(1, data, bytes);
    options.limit_queue_bytes = 4 << 20;
    if (perfile_open_memory(data, bytes, &options, &reader, NULL) < 0)
        return 0;
    if (pf_index_write(reader, &(struct perfile_sink){&index, keep}, &sizes, NULL) == 0) {
        const struct wanted wanted = choose(reader, random % 64);
        compare(reader, &index, &wanted, random);
    }
    perfile_close(reader);
    pf_free(pf_allocator_or_default(NULL), index.data, index.capacity);
    return 0;
}
