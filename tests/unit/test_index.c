/* SPDX-License-Identifier: MIT */
/* A slice by the index is the slice without it, whatever is wrong with the index. */
#include <stdio.h>

#include "model/index.h"

#include "base/text.h"
#include "recording.h"

#include <perfile/index.h>

enum { TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };
enum { ROUNDS = 1500, STEP = 1000000, MARKS_APART = 64 * 1024 };

/* ---- a recording in which processes begin and end all the time ---- */

static void put_process(struct recording *r, int32_t pid, uint64_t time)
{
    char name[16];
    recording_task(r, PERFILE_RECORD_FORK, pid, 50, time);
    if (pid % 3) {
        snprintf(name, sizeof(name), "task%d", (int)pid % 40);
        recording_comm(r, pid, name, time + 1);
    }
    for (uint64_t i = 0; i < 3 && pid % 5; i++)
        recording_map(r, &(struct recording_map){2, pid, 0x10000 + 0x1000 * i, 0x2000, i, i ? "/lib/a" : "/lib/b"},
                      time + 2 + i);
    if (pid % 7 == 0)
        recording_cgroup(r, (uint64_t)pid % 10, pid % 2 ? "/one" : "/two", time + 6);
}

static void make(struct recording *r)
{
    recording_open(r, TYPE, false);
    recording_comm(r, 50, "parent", 1);
    recording_map(r, &(struct recording_map){1, -1, 0xffff0000, 0x1000, 0, "[kernel.kallsyms]_text"}, 1);
    recording_map(r, &(struct recording_map){2, 50, 0x1000, 0x4000, 0, "/bin/parent"}, 2);
    for (int32_t i = 0; i < ROUNDS; i++) {
        const uint64_t time = 1000 + (uint64_t)i * STEP;
        const int32_t pid = 100 + i % 900; /* numbers come again */
        put_process(r, pid, time);
        for (uint64_t n = 0; n < 20; n++)
            recording_sample(r, n % 2 ? 0x10800 : 0x1800, n % 4 ? pid : 50, time + 100 + n * 1000);
        if (i % 11)
            recording_task(r, PERFILE_RECORD_EXIT, pid, 50, time + STEP / 2);
        recording_sample(r, 0x1800, pid, time + STEP / 2 + 10);
        /* as from another ring buffer */
        recording_sample(r, 0x1800, 50, time + 50);
        recording_sample(r, 0x1800, 50, time + STEP + 50);
        recording_round(r);
    }
    recording_finish(r);
}

/* ---- what a session says of a slice ---- */

struct slice {
    uint64_t first, last;
    bool keeps_comms;
};

struct seen {
    uint64_t hash; /* of all that was asked for */
    uint64_t samples, left_out, records;
    uint64_t unread_bytes;
};

static uint64_t add(uint64_t hash, const void *data, size_t bytes)
{
    return pf_hash_bytes(hash, data, bytes);
}

static uint64_t add_space(uint64_t hash, struct perfile_session *session, int32_t pid)
{
    static const uint64_t places[] = {0x1800, 0x10800, 0x11800, 0x12800, 0xffff0010};
    const struct perfile_space *space = perfile_session_space(session, pid);
    for (size_t i = 0; i < PF_COUNT(places); i++) {
        const struct perfile_map *map = perfile_space_find(space, places[i]);
        if (!map)
            continue;
        hash = add(hash, &map->start, 3 * sizeof(uint64_t));
        hash = add(hash, &map->id, sizeof(map->id));
        hash = add(hash, map->filename, strlen(map->filename));
    }
    return hash;
}

static uint64_t add_sample(uint64_t hash, struct perfile_session *session, const struct perfile_record *record)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    assert_int_equal(perfile_sample_decode(record, &sample, NULL), 0);
    const char *comm = perfile_session_comm(session, sample.pid, sample.tid);
    hash = add(hash, record->data, record->bytes);
    hash = add(hash, comm, strlen(comm));
    for (uint64_t id = 0; id < 10; id++) {
        const char *path = perfile_session_cgroup(session, id);
        hash = add(hash, path ? path : "-", path ? strlen(path) : 1);
    }
    return add_space(add_space(hash, session, sample.pid), session, -1);
}

static struct seen read_slice(struct perfile_reader *reader, const struct slice *slice)
{
    struct perfile_session *session;
    const struct perfile_record *record;
    struct seen seen = {0};
    int result;
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    perfile_session_follow_maps(session);
    if (slice->keeps_comms)
        perfile_session_keep_comms(session);
    perfile_session_limit(session, slice->first, slice->last);
    while ((result = perfile_session_next(session, &record, NULL)) > 0) {
        seen.records++;
        if (record->type != PERFILE_RECORD_SAMPLE || record->time < slice->first || record->time > slice->last)
            continue;
        seen.samples++;
        seen.hash = add_sample(seen.hash, session, record);
    }
    assert_int_equal(result, 0);
    seen.left_out = perfile_session_left_out(session);
    seen.unread_bytes = perfile_reader_counts(reader)->unread_bytes;
    perfile_session_close(session);
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
    return seen;
}

/* ---- an index in memory ---- */

struct indexed {
    struct recording recording;
    uint8_t *block;
    struct perfile_reader *reader;
    uint8_t *index;
    size_t bytes, room;
};

static int keep(void *context, const void *data, size_t bytes)
{
    struct indexed *made = context;
    assert_true(pf_grow(pf_allocator_or_default(NULL), &made->index, &made->room, made->bytes + bytes, 1));
    memcpy(made->index + made->bytes, data, bytes);
    made->bytes += bytes;
    return 0;
}

static int make_all(void **state)
{
    struct indexed *made = calloc(1, sizeof(*made));
    assert_non_null(made);
    make(&made->recording);
    made->reader = recording_read(&made->recording, &made->block);
    const struct perfile_sink sink = {made, keep};
    struct perfile_error error;
    if (pf_index_write(made->reader, &sink, MARKS_APART, &error) < 0)
        fail_msg("%s", error.message);
    *state = made;
    return 0;
}

static int free_all(void **state)
{
    struct indexed *made = *state;
    perfile_close(made->reader);
    free(made->block);
    recording_close(&made->recording);
    pf_free(pf_allocator_or_default(NULL), made->index, made->room);
    free(made);
    return 0;
}

static void forget_index(struct indexed *made)
{
    made->reader->index.data = NULL;
}

/* ---- tests ---- */

static const struct slice slices[] = {
    {STEP, 2 * STEP, false},
    {300 * (uint64_t)STEP, 301 * (uint64_t)STEP, false},
    {300 * (uint64_t)STEP, 301 * (uint64_t)STEP, true},
    {700 * (uint64_t)STEP + 77, 760 * (uint64_t)STEP, false},
    {1200 * (uint64_t)STEP + STEP / 2, 1201 * (uint64_t)STEP, true},
    {1490 * (uint64_t)STEP, UINT64_MAX, true},
    {2000 * (uint64_t)STEP, UINT64_MAX, false},
};

static void test_same_slices(void **state)
{
    struct indexed *made = *state;
    uint64_t fewer = 0;
    for (size_t i = 0; i < PF_COUNT(slices); i++) {
        forget_index(made);
        const struct seen without = read_slice(made->reader, &slices[i]);
        assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
        const struct seen with = read_slice(made->reader, &slices[i]);
        assert_true(with.hash == without.hash);
        assert_int_equal(with.samples, without.samples);
        assert_int_equal(with.unread_bytes, 0); /* it is known what is there */
        if (!without.unread_bytes)
            assert_int_equal(with.left_out, without.left_out);
        fewer += with.records < without.records;
    }
    assert_true(fewer >= 4);
}

/* What was passed over counts: the counts are those of the whole recording. */
static void test_counts(void **state)
{
    struct indexed *made = *state;
    const struct perfile_record *record;
    struct perfile_session *session;
    forget_index(made);
    assert_int_equal(perfile_session_open(made->reader, &session, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0)
        continue;
    const struct perfile_counts all = *perfile_reader_counts(made->reader);
    perfile_session_close(session);
    assert_int_equal(perfile_reader_rewind(made->reader, NULL), 0);
    assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
    assert_int_equal(perfile_session_open(made->reader, &session, NULL), 0);
    perfile_session_limit(session, slices[1].first, UINT64_MAX);
    while (perfile_session_next(session, &record, NULL) > 0)
        continue;
    const struct perfile_counts *counts = perfile_reader_counts(made->reader);
    assert_int_equal(counts->records, all.records);
    assert_int_equal(counts->samples, all.samples);
    assert_int_equal(counts->data_bytes, all.data_bytes);
    perfile_session_close(session);
    assert_int_equal(perfile_reader_rewind(made->reader, NULL), 0);
}

/* Bytes that were changed are noticed where they matter. */
static void test_damaged(void **state)
{
    struct indexed *made = *state;
    const struct slice *slice = &slices[3];
    unsigned refused = 0, random = 1;
    forget_index(made);
    const struct seen without = read_slice(made->reader, slice);
    for (size_t i = 0; i < 300; i++) {
        random = random * 1103515245 + 12345;
        /* half of them in the tail and the marks */
        const size_t span = i % 2 ? made->bytes : 4096, at = made->bytes - 1 - (random >> 4) % span;
        const uint8_t was = made->index[at];
        made->index[at] ^= (uint8_t)(1u << i % 8);
        forget_index(made);
        const int used = perfile_index_use(made->reader, made->index, made->bytes, NULL);
        assert_true(used == 0 || used == PERFILE_ERROR_ABSENT);
        refused += used != 0;
        if (i % 10 == 0 || (used == 0 && i % 3 == 0)) {
            const struct seen with = read_slice(made->reader, slice);
            assert_true(with.hash == without.hash && with.samples == without.samples);
        }
        made->index[at] = was;
    }
    assert_in_range(refused, 100, 299);
}

/* Who makes one by hand gets the checksums right: whatever is in a state then, it does no harm. */
static void test_hostile(void **state)
{
    struct indexed *made = *state;
    struct pf_index_tail tail;
    struct pf_index_mark mark;
    unsigned random = 7;
    memcpy(&tail, made->index + made->bytes - sizeof(tail), sizeof(tail));
    uint8_t *last = made->index + tail.marks.at + (tail.marks.count - 1) * sizeof(mark);
    memcpy(&mark, last, sizeof(mark));
    const struct pf_index_mark good = mark;
    for (unsigned i = 0; i < 200; i++) {
        random = random * 1103515245 + 12345;
        const size_t inside = i % 2 ? (random >> 4) % sizeof(struct pf_index_counts) : (random >> 4) % mark.state.bytes;
        uint8_t *at = made->index + mark.state.at + inside;
        const uint8_t was = *at;
        *at ^= (uint8_t)(1u << i % 8);
        mark = good;
        mark.state.crc = pf_crc32(0, made->index + mark.state.at, (size_t)mark.state.bytes);
        memcpy(last, &mark, sizeof(mark));
        tail.marks.crc = pf_crc32(0, made->index + tail.marks.at, (size_t)tail.marks.bytes);
        tail.crc = pf_crc32(0, &tail, offsetof(struct pf_index_tail, crc));
        memcpy(made->index + made->bytes - sizeof(tail), &tail, sizeof(tail));
        forget_index(made);
        assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
        (void)read_slice(made->reader, &slices[5]);
        *at = was;
    }
    memcpy(last, &good, sizeof(good));
    tail.marks.crc = pf_crc32(0, made->index + tail.marks.at, (size_t)tail.marks.bytes);
    tail.crc = pf_crc32(0, &tail, offsetof(struct pf_index_tail, crc));
    memcpy(made->index + made->bytes - sizeof(tail), &tail, sizeof(tail));
}

static void test_foreign(void **state)
{
    struct indexed *made = *state;
    struct recording r = made->recording;
    uint8_t *block;
    struct perfile_error error;
    r.data = malloc(r.bytes);
    assert_non_null(r.data);
    memcpy(r.data, made->recording.data, r.bytes);
    r.data[r.bytes - 20] ^= 1;
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(perfile_index_use(reader, made->index, made->bytes, &error), PERFILE_ERROR_ABSENT);
    assert_int_equal(perfile_index_use(reader, made->index, 10, &error), PERFILE_ERROR_ABSENT);
    assert_int_equal(perfile_index_use(reader, made->index, made->bytes - 8, &error), PERFILE_ERROR_ABSENT);
    perfile_close(reader);
    free(block);
    free(r.data);
}

/* Out of order, compressed ...: the message says why there is none. */
static void test_refused(void **state)
{
    struct recording r;
    struct indexed *made = calloc(1, sizeof(*made));
    uint8_t *block;
    struct perfile_error error;
    (void)state;
    recording_open(&r, TYPE, false);
    for (uint64_t i = 0; i < 10; i++) {
        recording_sample(&r, 1, 7, 1000 - i * 10);
        recording_round(&r);
    }
    recording_finish(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(pf_index_write(reader, &(struct perfile_sink){made, keep}, 1, &error), PERFILE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "out of order"));
    assert_true(perfile_reader_is_at_start(reader));
    perfile_close(reader);
    free(block);
    recording_close(&r);
    pf_free(pf_allocator_or_default(NULL), made->index, made->room);
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_slices), cmocka_unit_test(test_counts),  cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_hostile),     cmocka_unit_test(test_foreign), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
