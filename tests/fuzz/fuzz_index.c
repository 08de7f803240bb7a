/* SPDX-License-Identifier: MIT */
/* An index of a recording, as it is: the samples are the same. And as somebody else may have made it, with right checksums. */
#include "fuzz.h"

#include "base/text.h"
#include "model/index.h"

enum { HOSTILE = 4, BYTES_EACH = 8 };

struct kept {
    uint8_t *data;
    size_t bytes, room;
};

static int keep(void *context, const void *data, size_t bytes)
{
    struct kept *kept = context;
    if (!pf_grow(pf_allocator_or_default(NULL), &kept->data, &kept->room, kept->bytes + bytes, 1))
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

/* Some bytes are others, and all checksums are right again but those of the pieces. */
static void spoil(struct kept *index, uint64_t *random)
{
    struct pf_index_tail tail;
    for (unsigned i = 0; i < BYTES_EACH; i++) {
        *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        index->data[(*random >> 33) % index->bytes] ^= (uint8_t)(1u << (*random >> 20) % 8);
    }
    memcpy(&tail, index->data + index->bytes - sizeof(tail), sizeof(tail));
    for (unsigned i = 0; i < 2; i++) {
        struct pf_index_piece *piece = i ? &tail.blocks : &tail.marks;
        if (piece->at <= index->bytes && piece->bytes <= index->bytes - piece->at)
            piece->crc = pf_crc32(0, index->data + piece->at, (size_t)piece->bytes);
    }
    tail.crc = pf_crc32(0, &tail, offsetof(struct pf_index_tail, crc));
    memcpy(index->data + index->bytes - sizeof(tail), &tail, sizeof(tail));
}

static void compare(struct perfile_reader *reader, struct kept *index, const struct wanted *wanted, uint64_t random)
{
    const uint64_t of_time = read_wanted(reader, wanted, true), of_process = read_wanted(reader, wanted, false);
    FUZZ_REQUIRE(perfile_index_use(reader, index->data, index->bytes, NULL) == 0);
    FUZZ_REQUIRE(read_wanted(reader, wanted, true) == of_time);
    FUZZ_REQUIRE(read_wanted(reader, wanted, false) == of_process);
    for (unsigned i = 0; i < HOSTILE; i++) {
        reader->index.data = NULL;
        spoil(index, &random);
        if (perfile_index_use(reader, index->data, index->bytes, NULL) < 0)
            continue;
        (void)read_wanted(reader, wanted, true);
        (void)read_wanted(reader, wanted, false);
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
    pf_free(pf_allocator_or_default(NULL), index.data, index.room);
    return 0;
}
