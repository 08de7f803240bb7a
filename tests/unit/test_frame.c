/* SPDX-License-Identifier: MIT */
/* Damage: whatever happens to one record, all the others are delivered. */
#include <unistd.h>

#include "recording.h"

enum { SAMPLES = 40, TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

struct made_file {
    struct recording recording;
    size_t at[SAMPLES + 1]; /* of each sample; the last: the end */
};

/* SAMPLES samples, each with its index as ip, a COMM and a FINISHED_ROUND now and then. */
static void make_file(struct made_file *f, bool swap)
{
    struct recording *r = &f->recording;
    recording_open(r, TYPE, swap);
    for (unsigned i = 0; i < SAMPLES; i++) {
        f->at[i] = recording_sample(r, i, 100, 1000 + i);
        if (i % 10 == 4)
            recording_comm(r, 100, "thread", 1000 + i);
        if (i % 10 == 9)
            recording_round(r);
    }
    f->at[SAMPLES] = r->bytes;
    recording_finish(r);
}

struct seen {
    unsigned samples[SAMPLES];
    unsigned records; /* complete ones */
    unsigned damaged;
    struct perfile_counts counts;
};

static void read_file(const struct recording *recording, struct seen *seen)
{
    uint8_t *block;
    struct perfile_reader *reader = recording_read(recording, &block);
    const struct perfile_record *record;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    int result;
    unsigned limit = 1000;
    *seen = (struct seen){.records = 0};
    while ((result = perfile_reader_next(reader, &record, NULL)) > 0) {
        assert_true(limit-- > 0); /* no hang */
        seen->records += !record->damaged;
        seen->damaged += record->damaged;
        if (record->type != PERFILE_RECORD_SAMPLE || perfile_sample_decode(record, &sample, NULL) < 0)
            continue;
        if (sample.ip < SAMPLES && sample.time == 1000 + sample.ip)
            seen->samples[sample.ip]++;
    }
    assert_int_equal(result, 0);
    seen->counts = *perfile_reader_counts(reader);
    perfile_close(reader);
    free(block);
}

/* Checks that all samples were delivered once, except perhaps those of first <= index < after. */
static void check_others(const struct seen *seen, unsigned first, unsigned after)
{
    for (unsigned i = 0; i < SAMPLES; i++) {
        if (i < first || i >= after)
            assert_int_equal(seen->samples[i], 1);
        else
            assert_true(seen->samples[i] <= 1);
    }
}

static void test_complete(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct made_file f;
        struct seen seen;
        make_file(&f, swap);
        read_file(&f.recording, &seen);
        check_others(&seen, 0, 0);
        assert_int_equal(seen.records, SAMPLES + 8);
        assert_int_equal(seen.counts.records, SAMPLES + 8);
        assert_int_equal(seen.counts.samples, SAMPLES);
        assert_int_equal(seen.counts.losses, 0);
        recording_close(&f.recording);
    }
}

/* Each sample in turn states each of these sizes. */
static void test_wrong_sizes(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0,  1,  7,  8,  12,  16,  24,  32,   36,   41,    44,
                                     47, 48, 56, 72, 100, 128, 256, 1000, 4096, 65528, 65535};
    for (unsigned i = 0; i < SAMPLES * PF_COUNT(sizes); i++) {
        struct made_file f;
        struct seen seen;
        unsigned victim = i % SAMPLES;
        make_file(&f, i % 3 == 0);
        recording_store16(&f.recording, f.at[victim] + 6, sizes[i / SAMPLES]);
        read_file(&f.recording, &seen);
        check_others(&seen, victim, victim + 1);
        assert_true(seen.counts.losses > 0);
        recording_close(&f.recording);
    }
}

/* A size that ends exactly where a later record does: the hardest case to see. */
static void test_size_swallows_the_next_records(void **state)
{
    (void)state;
    for (unsigned swallowed = 1; swallowed <= 3; swallowed++) {
        for (unsigned victim = 0; victim + swallowed + 1 < SAMPLES; victim++) {
            struct made_file f;
            struct seen seen;
            make_file(&f, false);
            recording_store16(&f.recording, f.at[victim] + 6, (uint16_t)(f.at[victim + swallowed + 1] - f.at[victim]));
            read_file(&f.recording, &seen);
            check_others(&seen, victim, victim + 1);
            recording_close(&f.recording);
        }
    }
}

static void test_wrong_types(void **state)
{
    (void)state;
    static const uint32_t types[] = {0, 30, 63, 87, 1000, 32768, UINT32_MAX};
    for (unsigned i = 0; i < SAMPLES * PF_COUNT(types); i++) {
        struct made_file f;
        struct seen seen;
        unsigned victim = i % SAMPLES;
        uint32_t type = types[i / SAMPLES];
        make_file(&f, false);
        memcpy(f.recording.data + f.at[victim], &type, sizeof(type));
        read_file(&f.recording, &seen);
        check_others(&seen, victim, victim + 1);
        recording_close(&f.recording);
    }
}

/* With one event there is no doubt whose sample it is. */
static void test_wrong_id(void **state)
{
    (void)state;
    struct made_file f;
    struct seen seen;
    make_file(&f, false);
    recording_store64(&f.recording, f.at[5] + 8, 12345);
    read_file(&f.recording, &seen);
    check_others(&seen, 0, 0);
    assert_int_equal(seen.counts.losses, 0);
    recording_close(&f.recording);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    struct made_file f;
    struct seen seen;
    make_file(&f, false);
    for (size_t bytes = f.recording.bytes; bytes-- > RECORDING_DATA_AT;) {
        struct recording cut = f.recording;
        unsigned complete = 0;
        cut.bytes = bytes;
        while (complete < SAMPLES && f.at[complete] + 40 <= bytes)
            complete++;
        read_file(&cut, &seen);
        for (unsigned i = 0; i < SAMPLES; i++)
            assert_int_equal(seen.samples[i], i < complete);
        assert_true(seen.counts.losses > 0);
    }
    recording_close(&f.recording);
}

static void test_killed(void **state)
{
    (void)state;
    struct made_file f;
    struct seen seen;
    make_file(&f, false);
    recording_store64(&f.recording, 48, 0);
    read_file(&f.recording, &seen);
    check_others(&seen, 0, 0);
    assert_int_equal(seen.counts.losses, 1);
    recording_close(&f.recording);
}

/* `bytes` bytes of garbage in front of each sample in turn. */
static void insert_garbage(unsigned victim, size_t bytes, unsigned seed)
{
    struct made_file f;
    struct seen seen;
    make_file(&f, false);
    struct recording r = {.swap = false};
    recording_bytes(&r, f.recording.data, f.at[victim]);
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1103515245 + 12345;
        recording_bytes(&r, &(uint8_t){(uint8_t)(seed >> 16)}, 1);
    }
    recording_bytes(&r, f.recording.data + f.at[victim], f.recording.bytes - f.at[victim]);
    recording_finish(&r);
    read_file(&r, &seen);
    check_others(&seen, 0, 0);
    recording_close(&r);
    recording_close(&f.recording);
}

static void test_garbage(void **state)
{
    (void)state;
    for (unsigned victim = 0; victim + 3 < SAMPLES; victim += 3)
        for (size_t bytes = 8; bytes <= 4096; bytes *= 2)
            insert_garbage(victim, bytes, victim * 100 + (unsigned)bytes);
    insert_garbage(5, 300000, 1); /* wider than what is searched at once */
}

/* A complete page was lost: it is zeros instead, from anywhere. */
static void test_zeroed_page(void **state)
{
    (void)state;
    for (size_t start = RECORDING_DATA_AT; start + 512 < RECORDING_DATA_AT + 40 * SAMPLES - 200; start += 56) {
        struct made_file f;
        struct seen seen;
        unsigned first = 0, after = 0;
        make_file(&f, false);
        memset(f.recording.data + start, 0, 512);
        while (f.at[first] + 40 <= start)
            first++;
        while (f.at[after] < start + 512)
            after++;
        read_file(&f.recording, &seen);
        check_others(&seen, first, after);
        recording_close(&f.recording);
    }
}

static void test_strict_stops(void **state)
{
    (void)state;
    struct made_file f;
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    const struct perfile_record *record;
    int result;
    make_file(&f, false);
    recording_store16(&f.recording, f.at[20] + 6, 0);
    options.strict = true;
    assert_int_equal(perfile_open_memory(f.recording.data, f.recording.bytes, &options, &reader, &error), 0);
    unsigned samples = 0;
    while ((result = perfile_reader_next(reader, &record, &error)) > 0)
        samples += record->type == PERFILE_RECORD_SAMPLE;
    assert_int_equal(result, PERFILE_ERROR_DAMAGED);
    assert_int_equal(samples, 20);
    assert_int_equal(error.offset, f.at[20]);
    assert_int_equal(perfile_reader_next(reader, &record, &error), 0); /* at its end */
    perfile_close(reader);
    recording_close(&f.recording);
}

/* An offset that starts a chain of sensible records, but has an implausible size itself, was found again and again. */
static void test_found_where_it_was_lost(void **state)
{
    (void)state;
    struct recording r;
    struct seen seen;
    recording_open(&r, TYPE, false);
    recording_sample(&r, 0, 100, 1000);
    for (unsigned i = 0; i < 2; i++) { /* two that later kernels made longer */
        size_t at = recording_comm(&r, 100, "thread", 1000);
        recording_u64(&r, RECORDING_ID);
        recording_store16(&r, at + 6, (uint16_t)(r.bytes - at));
    }
    recording_sample(&r, 1, 100, 1001);
    size_t at = recording_task(&r, PERFILE_RECORD_FORK, 101, 100, 1001);
    for (unsigned i = 0; i < 3; i++)
        recording_u64(&r, RECORDING_ID);
    recording_store16(&r, at + 6, (uint16_t)(r.bytes - at));
    for (unsigned i = 2; i < 6; i++)
        recording_sample(&r, i, 100, 1000 + i);
    recording_finish(&r);
    read_file(&r, &seen);
    for (unsigned i = 2; i < 6; i++)
        assert_int_equal(seen.samples[i], 1);
    recording_close(&r);
}

/* The size of the attrs is too large: those before the records are attrs, and the records are not. */
static void test_attrs_reach_after_the_end(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct made_file f;
        struct seen seen;
        make_file(&f, swap);
        recording_store64(&f.recording, 32, (uint64_t)1 << 40);
        read_file(&f.recording, &seen);
        check_others(&seen, 0, 0);
        assert_int_equal(seen.records, SAMPLES + 8);
        assert_int_equal(seen.counts.losses, 1);
        assert_int_equal(seen.counts.warnings, 0);
        recording_close(&f.recording);
    }
}

static void put_lost(struct recording *r, uint32_t type, uint16_t misc, uint64_t lost, uint64_t time)
{
    const size_t at = r->bytes;
    recording_header(r, type, misc, 0);
    if (type == PERFILE_RECORD_LOST)
        recording_u64(r, RECORDING_ID);
    recording_u64(r, lost);
    recording_trailer(r, at, 0, time);
}

/* perf's counts at the end include what the kernel reported before, and what it did not report. */
static void test_what_was_lost_counts_once(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        for (uint64_t counted = 0; counted < 40; counted += 20) {
            struct made_file f;
            struct seen seen;
            recording_open(&f.recording, TYPE, swap);
            put_lost(&f.recording, PERFILE_RECORD_LOST, 0, 10, 1000);
            put_lost(&f.recording, PERFILE_RECORD_LOST, 0, 5, 1001);
            put_lost(&f.recording, PERFILE_RECORD_LOST_SAMPLES, 0, 3, 1002);
            put_lost(&f.recording, PERFILE_RECORD_LOST_SAMPLES, 0, counted, 0);
            put_lost(&f.recording, PERFILE_RECORD_LOST_SAMPLES, 1 << 15, 1000, 0);
            recording_finish(&f.recording);
            read_file(&f.recording, &seen);
            assert_int_equal(seen.records, 5);
            assert_int_equal(seen.counts.lost_reported, 15);
            assert_int_equal(seen.counts.lost_counted, counted);
            assert_int_equal(seen.counts.lost_samples, counted + 3);
            assert_int_equal(seen.counts.lost_events, (counted ? counted : 15) + 3);
            recording_close(&f.recording);
        }
    }
}

/* A stream with an AUXTRACE record that states 16 bytes, of which 10 are there. */
static void make_cut_stream(struct recording *r, bool swap)
{
    const uint8_t zeros[32] = {0};
    *r = (struct recording){.swap = swap};
    recording_bytes(r, swap == PF_NATIVE_BIG_ENDIAN ? "PERFILE2" : "2ELIFREP", 8);
    recording_u64(r, 16);
    recording_header(r, PERFILE_RECORD_AUXTRACE, 0, 48);
    recording_u64(r, 16);
    recording_bytes(r, zeros, 32);
    recording_bytes(r, zeros, 10);
}

static void check_cut_stream(struct perfile_reader *reader)
{
    const struct perfile_record *record;
    assert_int_equal(perfile_reader_next(reader, &record, NULL), 1);
    assert_int_equal(record->type, PERFILE_RECORD_AUXTRACE);
    assert_int_equal(perfile_reader_next(reader, &record, NULL), 0);
    assert_int_equal(perfile_reader_counts(reader)->losses, 1);
    assert_int_equal(perfile_reader_counts(reader)->data_bytes, 58);
    const struct perfile_diagnostic *loss = perfile_diagnostic_get(reader, 0);
    assert_string_equal(loss->rule, "payload-cut");
    assert_int_equal(loss->offset, 16);
    assert_int_equal(loss->length, 6);
    perfile_close(reader);
}

/* Where a pipe ends is known when it has ended; of memory and files it is known before. */
static void test_payload_is_cut(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct recording r;
        struct perfile_reader *reader;
        int ends[2];
        make_cut_stream(&r, swap);
        assert_int_equal(perfile_open_memory(r.data, r.bytes, NULL, &reader, NULL), 0);
        check_cut_stream(reader);
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], r.data, r.bytes), r.bytes);
        close(ends[1]);
        assert_int_equal(perfile_open_fd(ends[0], NULL, &reader, NULL), 0);
        check_cut_stream(reader);
        close(ends[0]);
        recording_close(&r);
    }
}

/* ---- lifetimes ---- */

enum { PAYLOAD = 140000 }; /* more than a window, so that it moves and grows */

/* AUXTRACE and TRACING_DATA with payloads of PAYLOAD bytes, and samples between them. */
static void make_payloads(struct recording *r)
{
    recording_open(r, TYPE, false);
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 200; k++)
            recording_sample(r, k, 100, 1000 * i + k);
        const bool trace = i != 1;
        recording_header(r, trace ? PERFILE_RECORD_AUXTRACE : PERFILE_RECORD_HEADER_TRACING_DATA, 0, trace ? 48 : 16);
        recording_u64(r, PAYLOAD);
        for (unsigned k = 0; k < (trace ? 4 : 0); k++)
            recording_u64(r, i);
        for (unsigned k = 0; k < PAYLOAD; k += 4)
            recording_u32(r, k * i);
    }
    recording_sample(r, 0, 100, 9000);
    recording_finish(r);
}

static int ignore_begin(void *context, const char *name, bool list)
{
    (void)context, (void)name, (void)list;
    return 0;
}

static int ignore_end(void *context, bool list)
{
    (void)context, (void)list;
    return 0;
}

static int ignore_value(void *context, const struct perfile_value *value)
{
    (void)context, (void)value;
    return 0;
}

/* What the header allows to be called while a record is valid leaves its bytes as they are. */
static void use_record(struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_visitor visitor = {.size = sizeof(visitor)};
    uint8_t *was = made_block(record->data, record->bytes);
    const uint8_t *piece;
    size_t bytes;
    visitor.begin = ignore_begin, visitor.end = ignore_end, visitor.value = ignore_value;
    for (unsigned pieces = 0; pieces < 2; pieces++)
        assert_int_equal(perfile_reader_payload(reader, &piece, &bytes, NULL), record->payload_bytes ? 1 : 0);
    assert_memory_equal(record->data, was, record->bytes);
    assert_int_equal(perfile_record_visit(reader, record, &visitor, NULL), 0);
    assert_memory_equal(record->data, was, record->bytes);
    free(was);
}

/* A payload came through the window of its record, and moved it below the record's bytes. */
static void test_record_stays_while_its_payload_is_read(void **state)
{
    struct recording r;
    struct counting c;
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    const struct perfile_record *record;
    size_t records = 0;
    char path[] = "/tmp/perfile-frame-XXXXXX";
    (void)state;
    make_payloads(&r);
    counting_open(&c, -1);
    options.allocator = &c.allocator;
    int fd = mkstemp(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(write(fd, r.data, r.bytes), r.bytes);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(perfile_open_fd(fd, &options, &reader, NULL), 0);
    for (; perfile_reader_next(reader, &record, NULL) > 0; records++)
        use_record(reader, record);
    assert_int_equal(records, 604);
    perfile_close(reader);
    counting_close(&c);
    close(fd);
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_wrong_sizes),
        cmocka_unit_test(test_size_swallows_the_next_records),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_wrong_id),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_attrs_reach_after_the_end),
        cmocka_unit_test(test_what_was_lost_counts_once),
        cmocka_unit_test(test_payload_is_cut),
        cmocka_unit_test(test_record_stays_while_its_payload_is_read),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_zeroed_page),
        cmocka_unit_test(test_strict_stops),
        cmocka_unit_test(test_found_where_it_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
