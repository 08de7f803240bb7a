/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/session.h"
#include "recording.h"

enum { TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

/* The samples that a session delivers, as "TIME:NAME ". */
static void report_notes(struct perfile_reader *reader, char *text, size_t capacity)
{
    struct perfile_session *session;
    const struct perfile_record *record;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    int result;
    *text = '\0';
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    while ((result = perfile_session_next(session, &record, NULL)) > 0) {
        size_t length = strlen(text);
        if (record->type != PERFILE_RECORD_SAMPLE)
            continue;
        assert_int_equal(perfile_sample_decode(record, &sample, NULL), 0);
        snprintf(text + length, capacity - length, "%d:%s ", (int)(sample.time % 1000),
                 perfile_session_comm(session, sample.pid, sample.tid));
    }
    assert_int_equal(result, 0);
    assert_int_equal(perfile_session_next(session, &record, NULL), 0);
    assert_null(record);
    perfile_session_close(session);
}

static void check_recording(struct recording *r, const char *expected)
{
    uint8_t *block;
    char text[4096];
    recording_finish(r);
    struct perfile_reader *reader = recording_read(r, &block);
    report_notes(reader, text, sizeof(text));
    assert_string_equal(text, expected);
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
    report_notes(reader, text, sizeof(text)); /* again, from the start */
    assert_string_equal(text, expected);
    perfile_close(reader);
    free(block);
    recording_close(r);
}

static void test_rounds(void **state)
{
    (void)state;
    struct recording r;
    for (int swap = 0; swap < 2; swap++) {
        recording_open(&r, TYPE, swap);
        recording_sample(&r, 1, 7, 1030);
        recording_sample(&r, 1, 7, 1050);
        recording_comm(&r, 7, "a", 1020);
        recording_sample(&r, 1, 7, 1040);
        recording_round(&r);
        recording_sample(&r, 1, 7, 1060);
        recording_comm(&r, 7, "b", 1045);
        recording_round(&r);
        recording_sample(&r, 1, 7, 1055);
        recording_round(&r);
        check_recording(&r, "30:a 40:a 50:b 55:b 60:b ");
    }
}

/* Names change where they change in time, not in the file. */
static void test_names_go_by_time(void **state)
{
    (void)state;
    struct recording r;
    recording_open(&r, TYPE, false);
    recording_comm(&r, 7, "early", 1001);
    recording_comm(&r, 7, "late", 1005);
    recording_sample(&r, 1, 7, 1003);
    recording_task(&r, PERFILE_RECORD_FORK, 8, 7, 1004);
    recording_sample(&r, 1, 8, 1006);
    recording_sample(&r, 1, 9, 1007);
    check_recording(&r, "3:early 6:early 7::9 ");
}

static void test_without_rounds(void **state)
{
    (void)state;
    struct recording r;
    recording_open(&r, TYPE, false);
    for (uint64_t time = 1020; time > 1010; time--)
        recording_sample(&r, 1, 0, time);
    check_recording(&r, "11:swapper 12:swapper 13:swapper 14:swapper 15:swapper 16:swapper 17:swapper 18:swapper "
                        "19:swapper 20:swapper ");
}

/* A control group has the path of the last record before, by time; ids may come again. */
static void test_control_groups(void **state)
{
    (void)state;
    static const char *const expected[] = {NULL, "/a", "/a", "/b"};
    struct recording r;
    uint8_t *block;
    struct perfile_session *session;
    const struct perfile_record *record;
    const char *path, *before = NULL;
    size_t count = 0;
    recording_open(&r, TYPE, false);
    recording_cgroup(&r, 1ull << 40 | 5, "/b", 1060);
    recording_cgroup(&r, 5, "/other", 1001);
    recording_cgroup(&r, 1ull << 40 | 5, "/a", 1020);
    recording_cgroup(&r, 1ull << 40 | 5, "/a", 1035);
    for (uint64_t time = 1010; time < 1090; time += 20)
        recording_sample(&r, 1, 7, time);
    recording_finish(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE)
            continue;
        path = perfile_session_cgroup(session, 1ull << 40 | 5);
        if (expected[count])
            assert_string_equal(path, expected[count]);
        else
            assert_null(path);
        if (count == 2)
            assert_ptr_equal(path, before);
        before = path;
        count++;
    }
    assert_int_equal(count, 4);
    assert_string_equal(perfile_session_cgroup(session, 5), "/other");
    perfile_session_close(session);
    perfile_close(reader);
    free(block);
    recording_close(&r);
}

/* Without times the order of the file is all there is. */
static void test_without_times(void **state)
{
    (void)state;
    struct recording r;
    recording_open(&r, PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_TID, false);
    recording_sample(&r, 1, 7, 0);
    recording_comm(&r, 7, "a", 0);
    recording_sample(&r, 1, 7, 0);
    recording_round(&r);
    recording_comm(&r, 7, "b", 0);
    recording_sample(&r, 1, 7, 0);
    check_recording(&r, "0::7 0:a 0:b ");
}

/* A record older than its rounds allow is delivered all the same, and counted. */
static void test_unordered(void **state)
{
    (void)state;
    struct recording r;
    uint8_t *block;
    const struct perfile_record *record;
    struct perfile_session *session;
    unsigned count = 0;
    recording_open(&r, TYPE, false);
    for (uint64_t time = 1010; time < 1015; time++) {
        recording_sample(&r, 1, 7, time);
        recording_round(&r);
    }
    recording_sample(&r, 1, 7, 1001);
    recording_finish(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0)
        count += record->type == PERFILE_RECORD_SAMPLE;
    assert_int_equal(count, 6);
    assert_int_equal(perfile_session_unordered(session), 1);
    perfile_session_close(session);
    perfile_session_close(NULL);
    perfile_close(reader);
    free(block);
    recording_close(&r);
}

/* With a small queue everything is delivered, in order as far as possible. */
static void test_small_queue(void **state)
{
    (void)state;
    struct recording r;
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_session *session;
    const struct perfile_record *record;
    unsigned count = 0;
    recording_open(&r, TYPE, false);
    for (unsigned i = 0; i < 5000; i++)
        recording_sample(&r, i, 7, 1000 + (i % 2 ? i : i * 2));
    recording_finish(&r);
    options.limit_queue_bytes = 10000;
    assert_int_equal(perfile_open_memory(r.data, r.bytes, &options, &reader, NULL), 0);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0)
        count++;
    assert_int_equal(count, 5000);
    perfile_session_close(session);
    perfile_close(reader);
    recording_close(&r);
}

/* ---- directories ------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/perfile-session-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/* Writes the file: `data` completely, the others from their first record on. */
static void write_part(const char *name, struct recording *r, size_t from)
{
    int fd = open(path_of(name), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (from == 0)
        recording_finish(r);
    assert_int_equal(write(fd, r->data + from, r->bytes - from), r->bytes - from);
    close(fd);
    recording_close(r);
}

static int make_folder(void **state)
{
    (void)state;
    struct recording r;
    if (!mkdtemp(folder))
        return 1;
    recording_open(&r, TYPE, false);
    recording_comm(&r, 7, "first", 0);
    recording_comm(&r, 8, "other", 0);
    recording_round(&r);
    write_part("data", &r, 0);
    for (uint64_t cpu = 0; cpu < 12; cpu++) {
        char name[16];
        snprintf(name, sizeof(name), "data.%d", (int)cpu);
        recording_open(&r, TYPE, false);
        recording_sample(&r, 1, 7, 1010 + cpu);
        if (cpu == 3)
            recording_comm(&r, 7, "second", 1020);
        recording_sample(&r, 1, cpu % 2 ? 7 : 8, 1040 - cpu);
        if (cpu == 5)
            r.bytes = RECORDING_DATA_AT; /* empty */
        write_part(name, &r, RECORDING_DATA_AT);
    }
    /* these are not parts */
    return mkdir(path_of("data.dir"), 0700) != 0 || symlink("data.0", path_of("data.link")) != 0 ||
           mkfifo(path_of("data.fifo"), 0600) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char name[16];
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof(name), "data.%d", i);
        unlink(path_of(name));
    }
    rmdir(path_of("data.dir"));
    unlink(path_of("data.link"));
    unlink(path_of("data.fifo"));
    unlink(path_of("data"));
    return rmdir(folder);
}

static void test_directory(void **state)
{
    (void)state;
    struct perfile_reader *reader;
    char text[4096];
    assert_int_equal(perfile_open_path(folder, NULL, &reader, NULL), 0);
    const struct perfile_file *file = perfile_reader_file(reader);
    assert_int_equal(file->mode, PERFILE_MODE_DIRECTORY);
    assert_string_equal(file->parts[0], "data.0");
    assert_string_equal(file->parts[2], "data.2"); /* not data.10 */
    assert_string_equal(file->parts[11], "data.11");
    assert_null(file->parts[12]);
    report_notes(reader, text, sizeof(text));
    /* among equal times the lower number comes first: the COMM of data.3 before the sample of data.10 */
    assert_string_equal(text, "10:first 11:first 12:first 13:first 14:first 16:first 17:first 18:first 19:first "
                              "20:second 21:second 29:second 30:other 31:second 32:other 33:second 34:other 36:other "
                              "37:second 38:other 39:second 40:other ");
    perfile_close(reader);
}

/* The reader gives one part after the other, with the part's number and offsets in the part. */
static void test_directory_in_the_order_of_its_files(void **state)
{
    (void)state;
    struct perfile_reader *reader;
    const struct perfile_record *record;
    uint32_t part = 0;
    unsigned samples = 0;
    assert_int_equal(perfile_open_path(folder, NULL, &reader, NULL), 0);
    while (perfile_reader_next(reader, &record, NULL) > 0) {
        assert_true(record->part >= part);
        if (record->part > part)
            assert_int_equal(record->offset, 0);
        part = record->part;
        samples += record->type == PERFILE_RECORD_SAMPLE;
    }
    assert_int_equal(part, 12);
    assert_int_equal(samples, 22);
    perfile_close(reader);
}

/* Damage in one part does not affect the others. */
static void test_damaged_part(void **state)
{
    (void)state;
    struct perfile_reader *reader;
    const struct perfile_diagnostic *diagnostic;
    int fd = open(path_of("data.0"), O_WRONLY);
    assert_int_equal(pwrite(fd, "\0\0", 2, 6), 2);
    close(fd);
    assert_int_equal(perfile_open_path(folder, NULL, &reader, NULL), 0);
    struct perfile_session *session;
    const struct perfile_record *record;
    unsigned samples = 0;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0)
        samples += record->type == PERFILE_RECORD_SAMPLE && perfile_sample_decode(record, &sample, NULL) == 0;
    assert_true(samples >= 20);
    diagnostic = perfile_diagnostic_get(reader, 0);
    assert_non_null(diagnostic);
    assert_string_equal(diagnostic->file, "data.0");
    assert_int_equal(diagnostic->offset, 0);
    perfile_session_close(session);
    perfile_close(reader);
}

/* From within a call or between calls: everything that reads ends, also what is in memory already. */
static void test_stop(void **state)
{
    (void)state;
    struct recording r;
    struct perfile_session *session;
    const struct perfile_record *record;
    struct perfile_error error;
    uint8_t *block;
    recording_open(&r, TYPE, false);
    for (uint64_t time = 1000; time < 1010; time++)
        recording_sample(&r, 1, 7, time);
    recording_finish(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    assert_int_equal(perfile_session_next(session, &record, NULL), 1);
    perfile_reader_stop(reader);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(perfile_session_next(session, &record, &error), PERFILE_ERROR_STOPPED);
        assert_null(record);
        assert_int_equal(error.code, PERFILE_ERROR_STOPPED);
    }
    perfile_session_close(session);
    assert_int_equal(perfile_reader_next(reader, &record, NULL), PERFILE_ERROR_STOPPED);
    assert_false(perfile_reader_is_at_start(reader));
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
    assert_int_equal(perfile_reader_next(reader, &record, NULL), 1);
    perfile_close(reader);
    free(block);
    recording_close(&r);
}

static void test_not_a_recording(void **state)
{
    (void)state;
    struct perfile_reader *reader;
    struct perfile_error error;
    assert_int_equal(perfile_open_path(path_of("data.dir"), NULL, &reader, &error), PERFILE_ERROR_FORMAT);
    assert_null(reader);
}

/* ---- times that are wanted ---- */

/* Rounds of ten samples each, 1 ns apart, as many as are worth it not to be read. */
enum { ROUNDS = 4000, OF_ROUND = 10 };

struct limited {
    uint64_t samples, left_out, unread_bytes, first, last;
    const char *later; /* of thread 9 */
};

static struct limited read_limited(const struct recording *r, uint64_t first, uint64_t last, bool keeps_comms)
{
    struct perfile_session *session;
    const struct perfile_record *record;
    struct limited seen = {.first = UINT64_MAX};
    uint8_t *block;
    struct perfile_reader *reader = recording_read(r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    if (keeps_comms)
        perfile_session_keep_comms(session);
    perfile_session_limit(session, first, last);
    while (perfile_session_next(session, &record, NULL) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE || record->time < first || record->time > last)
            continue;
        seen.samples++;
        seen.first = record->time < seen.first ? record->time : seen.first;
        seen.last = record->time > seen.last ? record->time : seen.last;
        perfile_session_comm(session, 9, 9);
    }
    assert_int_equal(perfile_session_next(session, &record, NULL), 0);
    seen.left_out = perfile_session_left_out(session);
    seen.unread_bytes = perfile_reader_counts(reader)->unread_bytes;
    seen.later = strcmp(perfile_session_later_comm(session, ":9"), ":9") == 0 ? "" : "named";
    perfile_session_close(session);
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
    assert_int_equal(perfile_reader_counts(reader)->unread_bytes, 0);
    perfile_close(reader);
    free(block);
    return seen;
}

/* `odd`: a round that has a sample of `time`, too. */
static void make_rounds(struct recording *r, uint64_t odd, uint64_t time)
{
    recording_open(r, TYPE, false);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = OF_ROUND; i-- > 0;) /* as from two ring buffers */
            recording_sample(r, 1, 7, 1000 + round * OF_ROUND + (i ^ 1));
        if (round == odd)
            recording_sample(r, 1, 7, time);
        recording_round(r);
    }
    recording_comm(r, 9, "late", 1000 + ROUNDS * OF_ROUND);
    recording_finish(r);
}

static void test_limited(void **state)
{
    (void)state;
    struct recording r;
    make_rounds(&r, ROUNDS, 0);
    struct limited seen = read_limited(&r, 1100, 1199, false);
    assert_int_equal(seen.samples, 100);
    assert_int_equal(seen.first, 1100);
    assert_int_equal(seen.last, 1199);
    assert_in_range(seen.left_out, 100, 130); /* some were read that come after the range */
    assert_in_range(seen.unread_bytes, r.bytes - r.bytes / 40, r.bytes);
    /* a name may come at the end */
    seen = read_limited(&r, 1100, 1199, true);
    assert_int_equal(seen.samples, 100);
    assert_int_equal(seen.unread_bytes, 0);
    assert_string_equal(seen.later, "named");
    /* what is left is not worth it */
    seen = read_limited(&r, 1000 + (ROUNDS - 100) * OF_ROUND, 999 + (ROUNDS - 90) * OF_ROUND, false);
    assert_int_equal(seen.samples, 100);
    assert_int_equal(seen.unread_bytes, 0);
    recording_close(&r);
}

/* Records that came too late once may do so again: all is read. */
static void test_limited_without_order(void **state)
{
    (void)state;
    struct recording r;
    make_rounds(&r, 8, 1002);
    const struct limited seen = read_limited(&r, 1100, 1199, false);
    assert_int_equal(seen.samples, 100);
    assert_int_equal(seen.left_out, 101);
    assert_int_equal(seen.unread_bytes, 0);
    recording_close(&r);
}

/* ---- mappings that are given back ---- */

enum { PROCESSES = 12000, MAPS = 8 };

static void make_processes(struct recording *r)
{
    const uint64_t step = 1000000;
    recording_open(r, TYPE, false);
    recording_task(r, PERFILE_RECORD_FORK, 5, 1, 1);
    for (int32_t i = 0; i < PROCESSES; i++) {
        const uint64_t time = 10 + (uint64_t)i * step;
        recording_task(r, PERFILE_RECORD_FORK, 100 + i, 5, time);
        for (uint64_t n = 0; n < MAPS; n++)
            recording_map(r,
                          &(struct recording_map){2, 100 + i, 0x1000 * (n + 1), 0x1000, 0, "/usr/lib/some-library.so"},
                          time + 1 + n);
        if (i == 0)
            recording_map(r, &(struct recording_map){2, 5, 0x9000, 0x1000, 0, "/usr/bin/parent"}, time + 8);
        recording_sample(r, 0x1234, 100 + i, time + 9);
        if (i % 1000) /* some stay */
            recording_task(r, PERFILE_RECORD_EXIT, 100 + i, 5, time + 10);
        if (i % 100 == 0)
            recording_round(r);
    }
    recording_finish(r);
}

static void check_space(struct perfile_session *session, int32_t pid, uint64_t address, const char *name)
{
    const struct perfile_map *map = perfile_space_find(perfile_session_space(session, pid), address);
    assert_non_null(map);
    assert_string_equal(map->filename, name);
    assert_true(map->start <= address && address < map->end);
}

static void test_trim(void **state)
{
    (void)state;
    struct recording r;
    struct perfile_session *session;
    const struct perfile_record *record;
    uint8_t *block;
    unsigned trimmed = 0, samples = 0;
    make_processes(&r);
    struct perfile_reader *reader = recording_read(&r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    perfile_session_follow_maps(session);
    while (perfile_session_next(session, &record, NULL) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE)
            continue;
        struct perfile_sample sample = PERFILE_SAMPLE_INIT;
        assert_int_equal(perfile_sample_decode(record, &sample, NULL), 0);
        check_space(session, sample.pid, 0x1234, "/usr/lib/some-library.so");
        const uint64_t id = perfile_space_id(perfile_session_space(session, sample.pid));
        assert_true(id > 0);
        const bool did = perfile_session_trim(session);
        trimmed += did;
        samples++;
        assert_int_equal(perfile_space_id(perfile_session_space(session, sample.pid)), id);
        check_space(session, sample.pid, 0x1234, "/usr/lib/some-library.so");
        check_space(session, 100, 0x2234, "/usr/lib/some-library.so");
        check_space(session, 5, 0x9000, "/usr/bin/parent");
        if (did)
            assert_null(perfile_session_space(session, sample.pid - 2001)); /* it ended two seconds ago */
    }
    assert_int_equal(samples, PROCESSES);
    assert_true(trimmed > 0);
    perfile_session_close(session);
    perfile_close(reader);
    free(block);
    recording_close(&r);
}

/* A file whose records follow a hole: also where a long has 32 bits. */
static void test_after_4_gib(void **state)
{
    (void)state;
    const uint64_t far = (5ull << 30) + RECORDING_DATA_AT;
    struct recording r;
    struct perfile_reader *reader;
    struct perfile_session *session;
    const struct perfile_record *record;
    recording_open(&r, TYPE, false);
    recording_sample(&r, 1, 7, 1030);
    recording_sample(&r, 1, 7, 1020);
    recording_finish(&r);
    recording_store64(&r, 40, far);
    const size_t bytes = r.bytes - RECORDING_DATA_AT;
    char path[128];
    snprintf(path, sizeof(path), "%s", path_of("far"));
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, r.data, RECORDING_DATA_AT, 0), RECORDING_DATA_AT);
    const bool is_possible = pwrite(fd, r.data + RECORDING_DATA_AT, bytes, (off_t)far) == (ssize_t)bytes;
    close(fd);
    if (is_possible) { /* not every file system has such files */
        assert_int_equal(perfile_open_path(path, NULL, &reader, NULL), 0);
        assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
        assert_int_equal(perfile_session_next(session, &record, NULL), 1);
        assert_int_equal(record->time, 1020);
        assert_int_equal(record->offset, far + bytes / 2);
        assert_int_equal(perfile_session_next(session, &record, NULL), 1);
        assert_int_equal(record->offset, far);
        assert_int_equal(perfile_session_next(session, &record, NULL), 0);
        assert_int_equal(perfile_reader_counts(reader)->data_bytes, bytes);
        perfile_session_close(session);
        perfile_close(reader);
    }
    unlink(path);
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),         cmocka_unit_test(test_names_go_by_time),
        cmocka_unit_test(test_without_rounds), cmocka_unit_test(test_without_times),
        cmocka_unit_test(test_unordered),      cmocka_unit_test(test_small_queue),
        cmocka_unit_test(test_directory),      cmocka_unit_test(test_directory_in_the_order_of_its_files),
        cmocka_unit_test(test_control_groups), cmocka_unit_test(test_damaged_part),
        cmocka_unit_test(test_stop),           cmocka_unit_test(test_not_a_recording),
        cmocka_unit_test(test_limited),        cmocka_unit_test(test_limited_without_order),
        cmocka_unit_test(test_trim),           cmocka_unit_test(test_after_4_gib),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
