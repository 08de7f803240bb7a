/* SPDX-License-Identifier: MIT */
/* A slice by the index is the slice without it, whatever is wrong with the index. */
#include <stdio.h>

#include "model/history.h"

#include "base/text.h"
#include "edited.h"
#include "recording.h"

#include <perfile/edit.h>
#include <perfile/index.h>

enum { TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };
enum { ROUNDS = 1500, STEP = 1000000 };
static const struct pf_index_sizes sizes = {.mark_bytes = 64 * 1024, .block_bytes = 16 * 1024, .gap_bytes = 128};

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
    const struct perfile_filter *filter;
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
    static const uint64_t positions[] = {0x1800, 0x10800, 0x11800, 0x12800, 0xffff0010};
    const struct perfile_space *space = perfile_session_space(session, pid);
    for (size_t i = 0; i < PF_COUNT(positions); i++) {
        const struct perfile_map *map = perfile_space_find(space, positions[i]);
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
    if (slice->last)
        perfile_session_limit(session, slice->first, slice->last);
    if (slice->filter)
        assert_int_equal(perfile_session_filter(session, slice->filter, NULL), 0);
    while ((result = perfile_session_next(session, &record, NULL)) > 0) {
        seen.records++;
        if (record->type != PERFILE_RECORD_SAMPLE || record->time < slice->first ||
            (slice->last && record->time > slice->last))
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
    size_t bytes, capacity;
    int fd; /* of one that is compressed */
};

static int keep(void *context, const void *data, size_t bytes)
{
    struct indexed *made = context;
    assert_true(pf_grow(pf_allocator_or_default(NULL), &made->index, &made->capacity, made->bytes + bytes, 1));
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
    if (pf_index_write(made->reader, &sink, &sizes, &error) < 0)
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
    pf_free(pf_allocator_or_default(NULL), made->index, made->capacity);
    free(made);
    return 0;
}

static void discard_index(struct indexed *made)
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
        discard_index(made);
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

/* Samples that a filter leaves out are passed over, and all else is as if they were not. */
static void test_same_filtered(void **state)
{
    static const struct {
        struct perfile_filter filter;
        bool passes_over;
    } filters[] = {
        {{.size = sizeof(struct perfile_filter), .pids = "300"}, true},
        {{.size = sizeof(struct perfile_filter), .tids = "301,555"}, true},
        {{.size = sizeof(struct perfile_filter), .pids = "99999"}, true},
        {{.size = sizeof(struct perfile_filter), .pids = "50"}, false}, /* it is everywhere */
        {{.size = sizeof(struct perfile_filter), .cpus = "3"}, false},  /* samples that do not say pass */
        {{.size = sizeof(struct perfile_filter), .time = "0.3,0.4"}, true},
        {{.size = sizeof(struct perfile_filter), .time = "0.3,0.4 1.2,1.21", .pids = "400,50"}, true},
    };
    struct indexed *made = *state;
    for (size_t i = 0; i < PF_COUNT(filters); i++) {
        const struct slice all = {.filter = &filters[i].filter};
        discard_index(made);
        const struct seen without = read_slice(made->reader, &all);
        assert_int_equal(without.left_out, 0);
        assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
        const struct seen with = read_slice(made->reader, &all);
        assert_true(with.hash == without.hash);
        assert_int_equal(with.samples, without.samples);
        assert_int_equal(with.records, without.records);
        assert_int_equal(with.left_out > ROUNDS, filters[i].passes_over);
    }
}

/* ---- cuts ---- */

struct cut {
    uint64_t hash;
    struct perfile_edit_report report;
};

static int add_written(void *context, const void *data, size_t bytes)
{
    struct cut *cut = context;
    cut->hash = add(cut->hash, data, bytes);
    return 0;
}

/* As a stream, which the sink gets as it comes. */
static struct cut cut_slice(struct perfile_reader *reader, const struct slice *slice)
{
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    struct perfile_filter filter = {.size = sizeof(filter)};
    struct cut cut = {.report = PERFILE_EDIT_REPORT_INIT};
    struct perfile_writer *writer;
    char time[64];
    snprintf(time, sizeof(time), "%.9f,%.9f", (double)slice->first * 1e-9,
             slice->last < UINT64_MAX ? (double)slice->last * 1e-9 : 1e6);
    filter.time = time;
    options.filter = &filter;
    how.mode = PERFILE_MODE_PIPE;
    assert_int_equal(perfile_writer_open_sink(&(struct perfile_sink){&cut, add_written}, &how, &writer, NULL), 0);
    assert_int_equal(perfile_cut(reader, writer, &options, &cut.report, NULL), 0);
    assert_int_equal(perfile_writer_finish(writer, NULL), 0);
    perfile_writer_close(writer);
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
    return cut;
}

static void check_cuts(const struct cut *with, const struct cut *without)
{
    assert_true(with->hash == without->hash);
    assert_memory_equal(&with->report, &without->report, sizeof(with->report));
}

/* Damages the samples before an offset, so that they can no longer be read over. */
static void spoil_samples(struct indexed *made, uint64_t before)
{
    const struct perfile_record *record;
    uint64_t last = 0;
    while (perfile_reader_next(made->reader, &record, NULL) > 0 && record->offset < before) {
        if (last)
            memset(made->block + last, 0xff, 8);
        last = record->type == PERFILE_RECORD_SAMPLE ? record->offset : 0;
    }
    assert_int_equal(perfile_reader_rewind(made->reader, NULL), 0);
}

static uint64_t mark_before(struct perfile_reader *reader, uint64_t time)
{
    struct pf_lifetimes lifetimes;
    struct pf_history history;
    pf_lifetimes_open(&lifetimes, reader->allocator);
    assert_int_equal(pf_history_open(&history, reader, time, &lifetimes, NULL), 0);
    const uint64_t offset = history.reader ? history.mark.resume.offset : 0;
    pf_history_close(&history);
    pf_lifetimes_close(&lifetimes);
    return offset;
}

static void test_same_cuts(void **state)
{
    struct indexed *made = *state;
    uint64_t fewer = 0;
    for (size_t i = 0; i < PF_COUNT(slices); i++) {
        discard_index(made);
        const struct cut without = cut_slice(made->reader, &slices[i]);
        assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
        const struct cut with = cut_slice(made->reader, &slices[i]);
        check_cuts(&with, &without);
        uint8_t *kept = malloc(made->recording.bytes);
        assert_non_null(kept);
        memcpy(kept, made->block, made->recording.bytes);
        const uint64_t mark = mark_before(made->reader, slices[i].first);
        spoil_samples(made, mark);
        const struct cut unread = cut_slice(made->reader, &slices[i]);
        check_cuts(&unread, &without);
        memcpy(made->block, kept, made->recording.bytes);
        free(kept);
        fewer += mark > 0;
    }
    assert_in_range(fewer, 6, PF_COUNT(slices));
}

static void test_counts(void **state)
{
    struct indexed *made = *state;
    const struct perfile_record *record;
    struct perfile_session *session;
    discard_index(made);
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
    static const struct perfile_filter filter = {.size = sizeof(filter), .pids = "300"};
    const struct slice *slice = &slices[3], all = {.filter = &filter};
    unsigned refused = 0, random = 1;
    struct pf_index_tail tail;
    memcpy(&tail, made->index + made->bytes - sizeof(tail), sizeof(tail));
    discard_index(made);
    const struct seen without = read_slice(made->reader, slice), filtered = read_slice(made->reader, &all);
    for (size_t i = 0; i < 300; i++) {
        random = random * 1103515245 + 12345;
        /* half of them in the tail, the blocks and the marks */
        const size_t span = i % 2 ? made->bytes : made->bytes - (size_t)tail.marks.at,
                     at = made->bytes - 1 - (random >> 4) % span;
        const uint8_t was = made->index[at];
        made->index[at] ^= (uint8_t)(1u << i % 8);
        discard_index(made);
        const int used = perfile_index_use(made->reader, made->index, made->bytes, NULL);
        assert_true(used == 0 || used == PERFILE_ERROR_ABSENT);
        refused += used != 0;
        if (i % 30 == 0 || (used == 0 && i % 7 == 0)) {
            const struct seen with = read_slice(made->reader, slice);
            assert_true(with.hash == without.hash && with.samples == without.samples);
            const struct seen same = read_slice(made->reader, &all);
            assert_true(same.hash == filtered.hash && same.samples == filtered.samples);
        }
        made->index[at] = was;
    }
    assert_in_range(refused, 20, 299);
}

static void seal(struct indexed *made, struct pf_index_tail *tail)
{
    tail->marks.crc = pf_crc32(0, made->index + tail->marks.at, (size_t)tail->marks.bytes);
    tail->blocks.crc = pf_crc32(0, made->index + tail->blocks.at, (size_t)tail->blocks.bytes);
    tail->crc = pf_crc32(0, tail, offsetof(struct pf_index_tail, crc));
    memcpy(made->index + made->bytes - sizeof(*tail), tail, sizeof(*tail));
}

/* The same of blocks and gaps: what is read then may be anything. */
static void test_hostile_blocks(void **state)
{
    static const struct perfile_filter filter = {.size = sizeof(filter), .pids = "300"};
    const struct slice all = {.filter = &filter};
    struct indexed *made = *state;
    struct pf_index_tail tail;
    struct perfile_block block;
    unsigned random = 3;
    memcpy(&tail, made->index + made->bytes - sizeof(tail), sizeof(tail));
    const struct pf_index_tail good_tail = tail;
    for (unsigned i = 0; i < 40; i++) {
        random = random * 1103515245 + 12345;
        uint8_t *blocks = made->index + tail.blocks.at + (random >> 8) % tail.blocks.count * sizeof(block);
        memcpy(&block, blocks, sizeof(block));
        const struct perfile_block good = block;
        const size_t bytes = i % 2 ? sizeof(block) : (size_t)block.gaps.bytes;
        uint8_t *at = i % 2 ? (uint8_t *)&block : made->index + block.gaps.at;
        const size_t inside = (random >> 4) % bytes;
        at[inside] ^= (uint8_t)(1u << i % 8);
        if (i % 2 == 0)
            block.gaps.crc = pf_crc32(0, at, bytes);
        memcpy(blocks, &block, sizeof(block));
        seal(made, &tail);
        discard_index(made);
        assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
        (void)read_slice(made->reader, &all);
        if (i % 2 == 0)
            at[inside] ^= (uint8_t)(1u << i % 8);
        memcpy(blocks, &good, sizeof(good));
    }
    tail = good_tail;
    seal(made, &tail);
}

/* An index made by hand may have the right checksums: whatever is in its states then, it does no harm. */
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
    for (unsigned i = 0; i < 100; i++) {
        random = random * 1103515245 + 12345;
        const size_t inside = i % 2 ? (random >> 4) % sizeof(struct pf_index_counts) : (random >> 4) % mark.state.bytes;
        uint8_t *at = made->index + mark.state.at + inside;
        const uint8_t was = *at;
        *at ^= (uint8_t)(1u << i % 8);
        mark = good;
        mark.state.crc = pf_crc32(0, made->index + mark.state.at, (size_t)mark.state.bytes);
        memcpy(last, &mark, sizeof(mark));
        seal(made, &tail);
        discard_index(made);
        assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
        (void)read_slice(made->reader, &slices[5]);
        *at = was;
    }
    memcpy(last, &good, sizeof(good));
    seal(made, &tail);
}

/* The same of what matters of the past. */
static void test_hostile_history(void **state)
{
    struct indexed *made = *state;
    struct pf_index_tail tail;
    struct pf_index_mark mark;
    unsigned random = 5;
    memcpy(&tail, made->index + made->bytes - sizeof(tail), sizeof(tail));
    uint8_t *last = made->index + tail.marks.at + (tail.marks.count - 1) * sizeof(mark);
    memcpy(&mark, last, sizeof(mark));
    const struct pf_index_mark good = mark;
    assert_true(good.history.bytes > 0);
    for (unsigned i = 0; i < 60; i++) {
        random = random * 1103515245 + 12345;
        uint8_t *at = made->index + mark.history.at + (random >> 4) % mark.history.bytes;
        const uint8_t was = *at;
        *at ^= (uint8_t)(1u << i % 8);
        mark = good;
        mark.history.crc = pf_crc32(0, made->index + mark.history.at, (size_t)mark.history.bytes);
        memcpy(last, &mark, sizeof(mark));
        seal(made, &tail);
        discard_index(made);
        assert_int_equal(perfile_index_use(made->reader, made->index, made->bytes, NULL), 0);
        (void)cut_slice(made->reader, &slices[5]);
        *at = was;
    }
    memcpy(last, &good, sizeof(good));
    seal(made, &tail);
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

/* ---- compressed ---- */

/* The recording with records that are compressed, anew every so many bytes; its reader takes the place of the other. */
static void compress(struct indexed *made, const struct indexed *from, uint64_t frame_bytes, bool v1)
{
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    struct perfile_writer *writer;
    const int fd = edited_file();
    how.compression = 1;
    how.compressed_v1 = v1;
    how.frame_bytes = frame_bytes;
    assert_int_equal(perfile_writer_open_fd(fd, &how, &writer, NULL), 0);
    assert_int_equal(perfile_convert(from->reader, writer, NULL, &report, NULL), 0);
    assert_int_equal(perfile_writer_finish(writer, NULL), 0);
    perfile_writer_close(writer);
    assert_int_equal(perfile_reader_rewind(from->reader, NULL), 0);
    lseek(fd, 0, SEEK_SET);
    *made = (struct indexed){.fd = fd};
    assert_int_equal(perfile_open_fd(fd, NULL, &made->reader, NULL), 0);
}

static void discard_compressed(struct indexed *made)
{
    perfile_close(made->reader);
    close(made->fd);
    pf_free(pf_allocator_or_default(NULL), made->index, made->capacity);
}

/* perf gives up at a compressed record that nothing comes out of. */
static void look_at_containers(struct perfile_reader *reader)
{
    const struct perfile_record *record;
    uint64_t known = 0;
    bool contained = false;
    while (perfile_reader_next(reader, &record, NULL) > 0) {
        const uint64_t inflated = perfile_reader_counts(reader)->inflated_bytes;
        if (record->compressed)
            continue;
        if (contained)
            assert_true(inflated > known);
        contained = record->type == PERFILE_RECORD_COMPRESSED || record->type == PERFILE_RECORD_COMPRESSED2;
        known = inflated;
    }
    assert_true(known > 0);
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
}

static void test_compressed(void **state)
{
    const struct pf_index_sizes near = {.mark_bytes = 4 * 1024, .block_bytes = 16 * 1024, .gap_bytes = 128};
    struct indexed *plain = *state, made;
    struct perfile_error error;
    discard_index(plain);
    compress(&made, plain, 0, false);
    assert_int_equal(pf_index_write(made.reader, &(struct perfile_sink){&made, keep}, &near, &error),
                     PERFILE_ERROR_UNSUPPORTED);
    if (!strstr(error.message, "one stream"))
        fail_msg("%s", error.message);
    discard_compressed(&made);
    for (int v1 = 0; v1 < 2; v1++) {
        compress(&made, plain, 32 * 1024, v1);
        look_at_containers(made.reader);
        if (pf_index_write(made.reader, &(struct perfile_sink){&made, keep}, &near, &error) < 0)
            fail_msg("%s", error.message);
        uint64_t fewer = 0;
        for (size_t i = 0; i < PF_COUNT(slices); i++) {
            const struct seen same = read_slice(plain->reader, &slices[i]);
            discard_index(&made);
            const struct seen without = read_slice(made.reader, &slices[i]);
            assert_int_equal(perfile_index_use(made.reader, made.index, made.bytes, NULL), 0);
            const struct seen with = read_slice(made.reader, &slices[i]);
            assert_true(with.hash == without.hash && without.hash == same.hash);
            assert_int_equal(with.samples, without.samples);
            fewer += with.records < without.records;
            const struct cut cut = cut_slice(made.reader, &slices[i]);
            discard_index(&made);
            const struct cut complete = cut_slice(made.reader, &slices[i]);
            check_cuts(&cut, &complete);
        }
        assert_true(fewer >= 4);
        discard_compressed(&made);
    }
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
    assert_int_equal(pf_index_write(reader, &(struct perfile_sink){made, keep}, &sizes, &error),
                     PERFILE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "out of order"));
    assert_true(perfile_reader_is_at_start(reader));
    perfile_close(reader);
    free(block);
    recording_close(&r);
    pf_free(pf_allocator_or_default(NULL), made->index, made->capacity);
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_slices), cmocka_unit_test(test_same_filtered),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_same_cuts),   cmocka_unit_test(test_hostile_history), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_hostile),     cmocka_unit_test(test_hostile_blocks),  cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_compressed),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
