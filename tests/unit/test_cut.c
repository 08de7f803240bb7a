/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>

#include "../split_part.h"
#include "edited.h"

static const struct perfile_attr usual = {.sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                                                         PERFILE_SAMPLE_CPU};

static void put_sample_of(struct edited *made, int32_t pid, uint64_t time)
{
    const struct perfile_sample sample = {.size = sizeof(sample), .pid = pid, .tid = pid, .time = time, .cpu = 2};
    assert_int_equal(perfile_writer_sample(made->writer, 0, 2, &sample, NULL), 0);
}

static void put_sample(struct edited *made, uint64_t time)
{
    put_sample_of(made, 1, time);
}

static void put_comm(struct edited *made, int32_t pid, int32_t tid, uint16_t misc, uint64_t time)
{
    const struct perfile_comm comm = {.pid = pid, .tid = tid, .comm = misc ? "program" : "thread"};
    const struct perfile_sample_id id = {.size = sizeof(id), .pid = pid, .tid = tid, .time = time, .id = 1};
    assert_int_equal(perfile_writer_record(made->writer, PERFILE_RECORD_COMM, misc, &comm, sizeof(comm), &id, NULL), 0);
}

static int call_cut(struct perfile_reader *reader, struct perfile_writer *writer, const void *options,
                    struct perfile_edit_report *report, struct perfile_error *error)
{
    return perfile_cut(reader, writer, options, report, error);
}

/* ---- directories ---- */

/* Starts a recording whose samples are not in order of time, with a round after them. */
static struct edited start_unordered(void)
{
    struct edited made = edited_start();
    edited_event(&made, &usual, 1, NULL);
    put_sample(&made, 9);
    put_sample(&made, 7);
    assert_int_equal(perfile_writer_record(made.writer, PERFILE_RECORD_FINISHED_ROUND, 0, NULL, 0, NULL, NULL), 0);
    return made;
}

static struct perfile_writer *open_directory(const char *path)
{
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_writer *writer;
    how.mode = PERFILE_MODE_DIRECTORY;
    assert_int_equal(perfile_writer_open_path(path, &how, &writer, NULL), 0);
    return writer;
}

/* The files of a directory have no rounds, and must be in order. */
static void check_directory(const char *path)
{
    struct perfile_reader *reader;
    const struct perfile_record *record;
    uint64_t last = 0, samples = 0;
    assert_int_equal(perfile_open_path(path, NULL, &reader, NULL), 0);
    while (perfile_reader_next(reader, &record, NULL) > 0)
        if (record->type == PERFILE_RECORD_SAMPLE) {
            assert_true(record->time >= last);
            last = record->time;
            samples++;
        }
    assert_int_equal(samples, 2);
    perfile_close(reader);
}

static void remove_directory(const char *path)
{
    char file[512];
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        unlink(file);
    }
    closedir(directory);
    rmdir(path);
}

static void test_directory_is_ordered(void **state)
{
    char folder[] = "/tmp/perfile-cut-XXXXXX", path[64];
    struct edited made = start_unordered();
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/out", folder);
    assert_int_equal(edited_into(&made, open_directory(path), call_cut, NULL), 0);
    check_directory(path);
    remove_directory(path);
    rmdir(folder);
}

static int open_part(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                     struct perfile_error *error)
{
    (void)part, (void)error;
    *writer = open_directory(context);
    return 0;
}

static int call_split(struct perfile_reader *reader, struct perfile_writer *writer, const void *path,
                      struct perfile_edit_report *report, struct perfile_error *error)
{
    struct perfile_split_options split = PERFILE_SPLIT_OPTIONS_INIT;
    (void)writer;
    split.by = PERFILE_SPLIT_CPU;
    split.context = (void *)(uintptr_t)path;
    split.open = open_part;
    split.close = close_part;
    return perfile_split(reader, NULL, &split, report, error);
}

static void test_split_directory_is_ordered(void **state)
{
    char folder[] = "/tmp/perfile-cut-XXXXXX", path[64];
    struct edited made = start_unordered();
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/out", folder);
    assert_int_equal(edited_run(&made, NULL, call_split, path), 0);
    check_directory(path);
    edited_end(&made);
    remove_directory(path);
    rmdir(folder);
}

static int open_nothing(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                        struct perfile_error *error)
{
    (void)context, (void)part, (void)writer, (void)error;
    fail();
    return 0;
}

static int call_split_by_cpu(struct perfile_reader *reader, struct perfile_writer *writer, const void *options,
                             struct perfile_edit_report *report, struct perfile_error *error)
{
    struct perfile_split_options split = PERFILE_SPLIT_OPTIONS_INIT;
    (void)writer, (void)options;
    split.by = PERFILE_SPLIT_CPU;
    split.open = open_nothing;
    split.close = close_part;
    return perfile_split(reader, NULL, &split, report, error);
}

/* The parts of all processors would repeat the names of all threads of the process: 5 GB from 1.4 MB. */
static void test_split_does_not_fill_the_disk(void **state)
{
    enum { THREADS = 20000, CPUS = 5000 };
    struct edited made = edited_start();
    (void)state;
    edited_event(&made, &usual, 1, NULL);
    for (int32_t i = 0; i < THREADS; i++)
        put_comm(&made, 1, 1 + i, 0, 1);
    for (uint32_t i = 0; i < CPUS; i++) {
        const struct perfile_sample sample = {.size = sizeof(sample), .pid = 1, .tid = 1, .time = 2, .cpu = i};
        assert_int_equal(perfile_writer_sample(made.writer, 0, 2, &sample, NULL), 0);
    }
    assert_int_equal(edited_run(&made, NULL, call_split_by_cpu, NULL), PERFILE_ERROR_LIMIT);
    close(made.fd);
}

/* ---- what filters cannot know ---- */

static struct edited start_silent(void)
{
    const struct perfile_attr silent = {.sample_type = PERFILE_SAMPLE_IP};
    struct edited made = edited_start();
    edited_event(&made, &silent, 1, NULL);
    put_sample(&made, 7);
    put_sample(&made, 9);
    return made;
}

/* The filters cannot apply to the samples: these are kept, and nothing is reported. */
static void test_samples_that_do_not_say_stay(void **state)
{
    const struct perfile_filter filters[] = {
        {sizeof(filters[0]), .time = "1,2"}, {sizeof(filters[0]), .cpus = "7"},   {sizeof(filters[0]), .pids = "7"},
        {sizeof(filters[0]), .tids = "7"},   {sizeof(filters[0]), .comms = "sh"},
    };
    (void)state;
    for (size_t i = 0; i <= PF_COUNT(filters); i++) {
        struct perfile_cut_options how = PERFILE_CUT_OPTIONS_INIT;
        struct edited made = start_silent();
        if (i < PF_COUNT(filters))
            how.filter = &filters[i];
        else
            how.cgroups = "/a";
        assert_int_equal(edited_run(&made, NULL, call_cut, &how), 0);
        assert_int_equal(made.report.samples_kept, 2);
        edited_end(&made);
    }
}

/*
 * ---- threads that ended
 * ----------------------------------------------------------------------------------------------
 */

static void put_task(struct edited *made, uint32_t type, const int32_t ids[4], uint64_t time)
{
    const struct perfile_fork task = {.pid = ids[0], .ppid = ids[1], .tid = ids[2], .ptid = ids[3], .time = time};
    const struct perfile_sample_id id = {.size = sizeof(id), .pid = ids[0], .tid = ids[2], .time = time, .id = 1};
    assert_int_equal(perfile_writer_record(made->writer, type, 0, &task, sizeof(task), &id, NULL), 0);
}

/*
 * A build server: processes and threads that end at once, and between them thread 3, which has the name that thread 2
 * got, and process 5, a program of its own since its parent 4 has started it. 2 and 4 have ended when the cut begins.
 */
static struct edited start_build(int32_t others)
{
    struct edited made = edited_start();
    uint64_t time = 1;
    edited_event(&made, &usual, 1, NULL);
    put_comm(&made, 1, 1, 0, time++);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){1, 1, 2, 1}, time++);
    put_comm(&made, 1, 2, 0, time++);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){1, 1, 3, 2}, time++);
    put_task(&made, PERFILE_RECORD_EXIT, (int32_t[4]){1, 1, 2, 1}, time++);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){4, 1, 4, 1}, time++);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){5, 4, 5, 4}, time++);
    put_comm(&made, 5, 5, PERFILE_MISC_COMM_EXEC, time++);
    put_task(&made, PERFILE_RECORD_EXIT, (int32_t[4]){4, 1, 4, 1}, time++);
    for (int32_t i = 10; i < 10 + others; i++) {
        const int32_t pid = i % 2 ? i : 1;
        put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){pid, 1, i, 1}, time++);
        put_task(&made, PERFILE_RECORD_EXIT, (int32_t[4]){pid, 1, i, 1}, time++);
        if (i % 100 == 0)
            assert_int_equal(perfile_writer_record(made.writer, PERFILE_RECORD_FINISHED_ROUND, 0, NULL, 0, NULL, NULL),
                             0);
    }
    put_sample(&made, 1000000);
    return made;
}

/* Once with so many others that threads that ended are discarded meanwhile, and once without others. */
static void test_owner_is_over_is_left_out(void **state)
{
    static const int32_t kept[] = {1, 2, 2, 3, 2, 5, 5}; /* tids; all of 2, whose name 3 has */
    const struct perfile_filter filter = {sizeof(filter), .time = "0.0009,"};
    (void)state;
    for (int32_t others = 0; others <= 20000; others += 20000) {
        struct perfile_cut_options how = PERFILE_CUT_OPTIONS_INIT;
        const struct perfile_record *record;
        struct edited made = start_build(others);
        size_t count = 0;
        how.filter = &filter;
        assert_int_equal(edited_run(&made, NULL, call_cut, &how), 0);
        while (perfile_reader_next(made.reader, &record, NULL) > 0) {
            struct perfile_sample_id id = {.size = sizeof(id)};
            if (record->type == PERFILE_RECORD_SAMPLE || record->type >= PERFILE_RECORD_HEADER_ATTR)
                continue;
            assert_in_range(count, 0, PF_COUNT(kept) - 1);
            assert_int_equal(perfile_sample_id_decode(made.reader, record, &id, NULL), 0);
            assert_int_equal(id.tid, kept[count++]);
        }
        assert_int_equal(count, PF_COUNT(kept));
        assert_int_equal(made.report.samples_kept, 1);
        edited_end(&made);
    }
}

enum { SECOND = 1000000000 };

/* Of what is kept, the tids of all but the sample that is there in the end; up to 0. */
static void check_kept(struct edited *made, const int32_t *tids)
{
    const struct perfile_filter filter = {sizeof(filter), .time = "10,"};
    struct perfile_cut_options how = PERFILE_CUT_OPTIONS_INIT;
    const struct perfile_record *record;
    put_sample(made, UINT64_C(10) * SECOND);
    how.filter = &filter;
    assert_int_equal(edited_run(made, NULL, call_cut, &how), 0);
    while (perfile_reader_next(made->reader, &record, NULL) > 0) {
        struct perfile_sample_id id = {.size = sizeof(id)};
        if (record->type == PERFILE_RECORD_SAMPLE)
            continue;
        assert_int_equal(perfile_sample_id_decode(made->reader, record, &id, NULL), 0);
        assert_int_equal(id.tid, *tids++);
    }
    assert_int_equal(*tids, 0);
    edited_end(made);
}

/* Process 5 is another process than before: once the records of the former were copied, too. */
static void test_number_that_comes_again(void **state)
{
    const int32_t kept[] = {1, 5, 5, 0};
    struct edited made = edited_start();
    (void)state;
    edited_event(&made, &usual, 1, NULL);
    put_comm(&made, 1, 1, 0, 1);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){5, 1, 5, 1}, SECOND);
    put_comm(&made, 5, 5, 0, SECOND + 1);
    put_task(&made, PERFILE_RECORD_EXIT, (int32_t[4]){5, 1, 5, 1}, SECOND + 2);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){5, 1, 5, 1}, UINT64_C(3) * SECOND);
    put_comm(&made, 5, 5, 0, UINT64_C(3) * SECOND + 1);
    check_kept(&made, kept);
}

/* Process 5 has the mappings of 4, for it never began a program of its own. */
static void test_parent_that_is_over_stays(void **state)
{
    const int32_t kept[] = {1, 4, 4, 5, 4, 0};
    struct edited made = edited_start();
    (void)state;
    edited_event(&made, &usual, 1, NULL);
    put_comm(&made, 1, 1, 0, 1);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){4, 1, 4, 1}, SECOND);
    put_comm(&made, 4, 4, PERFILE_MISC_COMM_EXEC, SECOND + 1);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){5, 4, 5, 4}, SECOND + 2);
    put_task(&made, PERFILE_RECORD_EXIT, (int32_t[4]){4, 1, 4, 1}, SECOND + 3);
    check_kept(&made, kept);
}

/* A thread runs on for a moment after its end; much later its number belongs to another thread. */
static void test_late_sample_keeps_its_process(void **state)
{
    const int32_t late[] = {1, 7, 7, 7, 0}, too_late[] = {1, 0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct edited made = edited_start();
        const uint64_t end = UINT64_C(10) * SECOND - (i ? SECOND : 1000);
        edited_event(&made, &usual, 1, NULL);
        put_comm(&made, 1, 1, 0, 1);
        put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){7, 1, 7, 1}, SECOND);
        put_comm(&made, 7, 7, 0, SECOND + 1);
        put_task(&made, PERFILE_RECORD_EXIT, (int32_t[4]){7, 1, 7, 1}, end);
        put_sample_of(&made, 7, UINT64_C(10) * SECOND);
        check_kept(&made, i ? too_late : late);
    }
}

/* A sample without a time stays, and may have any time: so its process stays, too, which ended long before. */
static void test_sample_without_time_keeps_its_process(void **state)
{
    const int32_t kept[] = {1, 7, 7, 7, 0};
    const struct perfile_sample sample = {.size = sizeof(sample), .pid = 7, .tid = 7, .identifier = 2, .id = 2};
    struct perfile_attr with_time = usual, without = usual;
    struct edited made = edited_start();
    (void)state;
    with_time.sample_type |= PERFILE_SAMPLE_IDENTIFIER;
    without.sample_type = with_time.sample_type & ~(uint64_t)PERFILE_SAMPLE_TIME;
    edited_event(&made, &with_time, 1, NULL);
    edited_event(&made, &without, 2, NULL);
    put_comm(&made, 1, 1, 0, 1);
    put_task(&made, PERFILE_RECORD_FORK, (int32_t[4]){7, 1, 7, 1}, SECOND);
    put_comm(&made, 7, 7, 0, SECOND + 1);
    put_task(&made, PERFILE_RECORD_EXIT, (int32_t[4]){7, 1, 7, 1}, SECOND + 2);
    assert_int_equal(perfile_writer_sample(made.writer, 1, 2, &sample, NULL), 0);
    check_kept(&made, kept);
}

/* ---- what is counted ---- */

/* Unknown parts of samples cannot be converted to another byte order: such a sample does not count as kept. */
static void test_unwritten_sample_is_not_kept(void **state)
{
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    struct perfile_attr attr = usual;
    struct edited made = edited_start();
    uint8_t sample[64] = {0};
    struct pf_out o = pf_out_make(sample, sizeof(sample), made.writer->swap);
    (void)state;
    attr.sample_type |= 1ull << 40;
    edited_event(&made, &attr, 1, NULL);
    pf_out_u32(&o, PERFILE_RECORD_SAMPLE);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, sizeof(sample));
    assert_int_equal(pf_writer_put(made.writer, sample, sizeof(sample), NULL), 0);
    how.byte_order = PF_NATIVE_BIG_ENDIAN ? PERFILE_ORDER_LITTLE : PERFILE_ORDER_BIG;
    options.every = 1;
    assert_int_equal(edited_run(&made, &how, call_cut, &options), 0);
    assert_int_equal(made.report.records_damaged, 1);
    assert_int_equal(made.report.records_kept, 0);
    assert_int_equal(made.report.samples_kept, 0);
    edited_end(&made);
}

/*
 * ---- features that records of a file state
 * ---------------------------------------------------------------------------
 */

/* A HEADER_FEATURE record, which perf inject leaves in the data of files that it makes of streams. */
static void put_feature(struct edited *made, uint64_t number, const void *body, size_t bytes)
{
    uint8_t record[128];
    struct pf_out o = pf_out_make(record, sizeof(record), false);
    pf_out_u32(&o, PERFILE_RECORD_HEADER_FEATURE);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, (uint16_t)(16 + bytes));
    pf_out_u64(&o, number);
    pf_out_put(&o, body, bytes);
    assert_int_equal(pf_writer_put(made->writer, record, pf_out_bytes_used(&o), NULL), 0);
}

/* The output when the recording was read before it is copied. */
static struct edited cut_with_feature(uint64_t number, const void *body, size_t bytes)
{
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    struct edited made = edited_start();
    edited_event(&made, &usual, 1, NULL);
    put_feature(&made, number, body, bytes);
    put_sample(&made, 7);
    options.every = 2;
    assert_int_equal(edited_run(&made, NULL, call_cut, &options), 0);
    return made;
}

/* No bit of a header stands for such a number; the writer once set one after the bitmap. */
static void test_invalid_feature_number(void **state)
{
    static const uint64_t numbers[] = {0, 256, 0x100000e, UINT32_MAX, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < PF_COUNT(numbers); i++) {
        struct edited made = cut_with_feature(numbers[i], "12345678", 8);
        const struct perfile_feature *feature;
        assert_int_equal(made.report.features_dropped, 1);
        for (size_t j = 0; (feature = perfile_feature_get(made.reader, j)); j++)
            assert_true(pf_feature_is_valid(feature->number) && feature->number != (uint32_t)numbers[i]);
        edited_end(&made);
    }
}

/* The feature is copied once: with the record that states it, not also as a feature of the recording. */
static void test_reported_feature_is_copied_once(void **state)
{
    static const uint8_t entry[64] = {[6] = 64, [7] = 0};
    const uint8_t *data;
    size_t bytes;
    struct edited made = cut_with_feature(PERFILE_FEATURE_BUILD_ID, entry, sizeof(entry));
    (void)state;
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_BUILD_ID, &data, &bytes, NULL), 0);
    assert_int_equal(bytes, sizeof(entry));
    edited_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directory_is_ordered),
        cmocka_unit_test(test_split_directory_is_ordered),
        cmocka_unit_test(test_split_does_not_fill_the_disk),
        cmocka_unit_test(test_samples_that_do_not_say_stay),
        cmocka_unit_test(test_unwritten_sample_is_not_kept),
        cmocka_unit_test(test_invalid_feature_number),
        cmocka_unit_test(test_reported_feature_is_copied_once),
        cmocka_unit_test(test_owner_is_over_is_left_out),
        cmocka_unit_test(test_number_that_comes_again),
        cmocka_unit_test(test_parent_that_is_over_stays),
        cmocka_unit_test(test_late_sample_keeps_its_process),
        cmocka_unit_test(test_sample_without_time_keeps_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
