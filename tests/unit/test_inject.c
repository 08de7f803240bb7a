/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "edited.h"

enum {
    USUAL = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
            PERFILE_SAMPLE_PERIOD | PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_RAW,
    SLEEP = 0, /* events */
    SWITCH = 1,
    EXIT = 2,
};

static void put_event(struct edited *made, const char *name, uint32_t type, uint64_t config)
{
    const struct perfile_attr attr = {.type = type, .config = config, .sample_type = USUAL};
    edited_event(made, &attr, made->writer->event_count, name);
}

static void put_sample(struct edited *made, uint32_t event, struct perfile_sample sample)
{
    sample.size = sizeof(sample);
    sample.identifier = event;
    sample.pid = sample.tid;
    assert_int_equal(perfile_writer_sample(made->writer, event, 2, &sample, NULL), 0);
}

static int call_inject(struct perfile_reader *reader, struct perfile_writer *writer, const void *options,
                       struct perfile_edit_report *report, struct perfile_error *error)
{
    return perfile_inject(reader, writer, options, report, error);
}

static int inject(struct edited *made, const struct perfile_inject_options *options)
{
    return edited_run(made, NULL, call_inject, options);
}

/* ---- build ids ---- */

static int find_build_id(void *context, const struct perfile_map *map, uint8_t build_id[20])
{
    ++*(unsigned *)context;
    if (strcmp(map->filename, "/bin/a") != 0)
        return 0;
    memcpy(build_id, "abcd", 4);
    return 4;
}

static void put_map(struct edited *made, uint64_t addr, const char *filename, const char *build_id)
{
    struct perfile_mmap2 map = {.pid = 1, .tid = 1, .addr = addr, .len = 0x1000, .prot = 5, .filename = filename};
    const uint16_t misc = build_id ? 2 | PERFILE_MISC_MMAP_BUILD_ID : 2;
    if (build_id) {
        map.build_id_size = (uint8_t)strlen(build_id);
        memcpy(map.build_id, build_id, map.build_id_size);
    }
    assert_int_equal(perfile_writer_record(made->writer, PERFILE_RECORD_MMAP2, misc, &map, sizeof(map), NULL, NULL), 0);
}

/* Only what is hit, by samples and by callchains, each once; what the recording does not say is looked for. */
static void test_build_ids(void **state)
{
    const uint64_t chain[] = {PERFILE_CONTEXT_USER, 0x1010, 0x2010, 0x4010};
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    struct edited made = edited_start();
    const uint8_t *data;
    size_t bytes;
    unsigned asked = 0;
    (void)state;
    put_event(&made, "cycles", 0, 0);
    put_map(&made, 0x1000, "/bin/a", NULL);
    put_map(&made, 0x2000, "/lib/b", "bbbb");
    put_map(&made, 0x3000, "/lib/not-hit", "cccc");
    put_map(&made, 0x4000, "/lib/unknown", NULL);
    put_map(&made, 0x5000, "//anon", NULL);
    for (unsigned i = 0; i < 2; i++)
        put_sample(&made, 0,
                   (struct perfile_sample){.ip = 0x1010, .tid = 1, .callchain = {(const uint8_t *)chain, 4, false}});
    put_sample(&made, 0, (struct perfile_sample){.ip = 0x5010, .tid = 1});
    options.build_ids = true;
    options.find_build_id = find_build_id;
    options.find_context = &asked;
    assert_int_equal(inject(&made, &options), 0);
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_BUILD_ID, &data, &bytes, NULL), 0);
    assert_int_equal(bytes, 2 * 48);
    assert_memory_equal(data + 12, "abcd", 5);
    assert_string_equal((const char *)data + 36, "/bin/a");
    assert_memory_equal(data + 48 + 12, "bbbb", 5);
    assert_string_equal((const char *)data + 48 + 36, "/lib/b");
    assert_int_equal(asked, 2);
    assert_int_equal(made.report.build_ids_added, 2);
    assert_int_equal(made.report.build_ids_missing, 1);
    assert_int_equal(made.report.samples_kept, 3);
    edited_end(&made);
}

/* A build id that the recording already has is not added again. */
static void test_build_ids_again(void **state)
{
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    const struct perfile_header_build_id entry = {
        .pid = -1, .build_id = "bbbb", .build_id_size = 4, .filename = "/lib/b"};
    struct edited made = edited_start();
    (void)state;
    put_event(&made, "cycles", 0, 0);
    put_map(&made, 0x2000, "/lib/b", "bbbb");
    put_sample(&made, 0, (struct perfile_sample){.ip = 0x2010, .tid = 1});
    assert_int_equal(perfile_writer_build_id(made.writer, 2, &entry, sizeof(entry), NULL), 0);
    options.build_ids = true;
    assert_int_equal(inject(&made, &options), 0);
    assert_int_equal(made.report.build_ids_added, 0);
    edited_end(&made);
}

/* ---- code of JITs ---- */

static int follow_code(void *context, const struct perfile_record *record,
                       int (*add)(void *adder, uint64_t time, const struct perfile_map *map,
                                  struct perfile_error *error),
                       void *adder, struct perfile_error *error)
{
    static const struct {
        uint64_t time, start;
    } codes[] = {{40, 0x9000}, {40, 0x3000}, {20, 0x8000}, {5, 0x7000}, {40, 0x4000}};
    unsigned *calls = context;
    int result = 0;
    assert_int_not_equal(record->type, PERFILE_RECORD_SAMPLE);
    if (record->type != PERFILE_RECORD_MMAP2 || ++*calls != 2)
        return 0;
    for (size_t i = 0; i < PF_COUNT(codes) && result == 0; i++) {
        struct perfile_map map = {.size = sizeof(map),
                                  .start = codes[i].start,
                                  .end = codes[i].start + 0x100,
                                  .pgoff = 0x80,
                                  .filename = "/tmp/jitted.so",
                                  .pid = 1,
                                  .prot = 5,
                                  .build_id_bytes = 20,
                                  .code = (uint32_t)i + 1};
        map.build_id[0] = (uint8_t)i;
        result = add(adder, codes[i].time, &map, error);
    }
    return result < 0 ? result : 1;
}

static void put_timed_map(struct edited *made, uint64_t time, uint64_t addr, const char *filename)
{
    const struct perfile_mmap2 map = {.pid = 1, .tid = 1, .addr = addr, .len = 0x1000, .prot = 5, .filename = filename};
    const struct perfile_sample_id id = {.size = sizeof(id), .pid = 1, .tid = 1, .time = time};
    assert_int_equal(perfile_writer_record(made->writer, PERFILE_RECORD_MMAP2, 2, &map, sizeof(map), &id, NULL), 0);
}

/*
 * The mappings of code stand at their times, at equal ones in the order in which they came; anonymous memory that would
 * cover them is left out.
 */
static void test_code(void **state)
{
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    struct edited made = edited_start();
    const struct perfile_record *record;
    struct perfile_mmap2 map;
    char text[256] = "";
    const uint8_t *data;
    size_t bytes;
    unsigned calls = 0;
    (void)state;
    put_event(&made, "cycles", 0, 0);
    put_timed_map(&made, 1, 0x8000, "//anon");
    put_timed_map(&made, 10, 0x1000, "/tmp/jit-1.dump");
    put_timed_map(&made, 20, 0x8000, "//anon");
    put_timed_map(&made, 21, 0x2000, "/bin/a");
    put_sample(&made, 0, (struct perfile_sample){.ip = 0x8010, .tid = 1, .time = 20});
    put_sample(&made, 0, (struct perfile_sample){.ip = 0x2010, .tid = 1, .time = 30});
    options.follow_code = follow_code;
    options.code_context = &calls;
    assert_int_equal(inject(&made, &options), 0);
    while (perfile_reader_next(made.reader, &record, NULL) > 0) {
        const size_t used = strlen(text);
        if (record->type == PERFILE_RECORD_SAMPLE)
            snprintf(text + used, sizeof(text) - used, "sample ");
        else if (perfile_record_decode(made.reader, record, &map, sizeof(map), NULL) == 0)
            snprintf(text + used, sizeof(text) - used, "%d:%x ", (int)record->time, (unsigned)map.addr);
    }
    assert_string_equal(text, "1:8000 5:7000 20:8000 sample 21:2000 sample 40:9000 40:3000 40:4000 ");
    assert_int_equal(made.report.code_added, 5);
    assert_int_equal(made.report.records_dropped, 2);
    assert_int_equal(made.report.build_ids_added, 1); /* of the code that was hit, and of nothing else */
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_BUILD_ID, &data, &bytes, NULL), 0);
    assert_int_equal(data[12], 2);
    assert_string_equal((const char *)data + 36, "/tmp/jitted.so");
    edited_end(&made);
}

/* ---- build ids of mappings ---- */

static void put_fork(struct edited *made, int32_t parent, int32_t child, uint64_t time)
{
    const struct perfile_fork fork = {.pid = child, .ppid = parent, .tid = child, .ptid = parent, .time = time};
    const struct perfile_sample_id id = {.size = sizeof(id), .pid = parent, .tid = parent, .time = time};
    assert_int_equal(perfile_writer_record(made->writer, PERFILE_RECORD_FORK, 0, &fork, sizeof(fork), &id, NULL), 0);
}

/* A mapping stands before the first hit, of each process for itself, since a child's is not its parent's. */
static void test_maps_that_are_hit(void **state)
{
    const uint64_t chain[] = {PERFILE_CONTEXT_USER, 0x3010, 0x2010};
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    struct edited made = edited_start();
    const struct perfile_record *record;
    struct perfile_mmap2 map;
    char text[256] = "";
    unsigned asked = 0;
    (void)state;
    put_event(&made, "cycles", 0, 0);
    put_timed_map(&made, 1, 0x1000, "/bin/a");
    put_timed_map(&made, 1, 0x2000, "/lib/hit-by-callchain");
    put_timed_map(&made, 1, 0x4000, "/lib/not-hit");
    put_timed_map(&made, 1, 0x5000, "/tmp/jit-1.dump"); /* readers look for it */
    put_timed_map(&made, 1, 0x6000, "/tmp/jit-1x.dump");
    put_fork(&made, 1, 2, 2);
    put_sample(&made, 0, (struct perfile_sample){.ip = 0x1010, .tid = 2, .time = 3});
    put_sample(&made, 0, (struct perfile_sample){.ip = 0x1020, .tid = 2, .time = 4});
    put_sample(
        &made, 0,
        (struct perfile_sample){.ip = 0x1010, .tid = 1, .time = 5, .callchain = {(const uint8_t *)chain, 3, false}});
    options.map_build_ids = PERFILE_MAP_BUILD_IDS_HIT;
    options.find_build_id = find_build_id;
    options.find_context = &asked;
    assert_int_equal(inject(&made, &options), 0);
    while (perfile_reader_next(made.reader, &record, NULL) > 0) {
        const size_t used = strlen(text);
        if (record->type == PERFILE_RECORD_SAMPLE)
            snprintf(text + used, sizeof(text) - used, "sample ");
        else if (record->type == PERFILE_RECORD_MMAP2 &&
                 perfile_record_decode(made.reader, record, &map, sizeof(map), NULL) == 0)
            snprintf(text + used, sizeof(text) - used, "%d:%d:%x:%.*s ", (int)record->time, map.pid, (unsigned)map.addr,
                     record->misc & PERFILE_MISC_MMAP_BUILD_ID ? map.build_id_size : 0, (const char *)map.build_id);
    }
    assert_string_equal(text, "1:1:5000: 3:2:1000:abcd sample sample 5:1:1000:abcd 5:1:2000: sample ");
    assert_int_equal(asked, 3);
    assert_int_equal(made.report.maps_added, 3);
    assert_int_equal(made.report.records_dropped, 4);
    edited_end(&made);
}

/* ---- times slept ---- */

static void put_sized(struct made *blob, const char *text)
{
    made_u64(blob, strlen(text));
    made_bytes(blob, text, strlen(text));
}

/* The formats of two tracepoints, of which only the first has a field that is looked at. */
static void put_formats(struct edited *made)
{
    struct made blob = {.bytes = 0};
    made_bytes(&blob, "\x17\x08\x44tracing0.6", 14);
    made_bytes(&blob, PF_NATIVE_BIG_ENDIAN ? "\1\10" : "\0\10", 2);
    made_u32(&blob, 4096);
    made_name(&blob, "header_page");
    put_sized(&blob, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
    made_name(&blob, "header_event");
    put_sized(&blob, "#\n");
    made_u32(&blob, 0);
    made_u32(&blob, 1);
    made_name(&blob, "sched");
    made_u32(&blob, 1);
    put_sized(&blob, "name: sched_stat_sleep\nID: 5\nformat:\n"
                     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                     "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n");
    made_u32(&blob, 0);
    made_u32(&blob, 0);
    made_u64(&blob, 0);
    assert_int_equal(perfile_writer_feature(made->writer, PERFILE_FEATURE_TRACING_DATA, blob.data, blob.bytes, NULL),
                     0);
}

static struct edited start_sleeping(void)
{
    struct edited made = edited_start();
    put_event(&made, "sched:sched_stat_sleep", 2, 5);
    put_event(&made, "sched:sched_switch", 2, 6);
    put_event(&made, "sched:sched_process_exit", 2, 7);
    put_formats(&made);
    return made;
}

static void fall_asleep(struct edited *made, int32_t tid, uint64_t time, uint64_t ip)
{
    put_sample(made, SWITCH, (struct perfile_sample){.tid = tid, .time = time, .ip = ip, .period = 1});
}

static void wake_up(struct edited *made, uint32_t tid, uint64_t time, uint64_t slept)
{
    const uint32_t raw[3] = {5, 0, tid};
    put_sample(
        made, SLEEP,
        (struct perfile_sample){.tid = 99, .time = time, .period = slept, .raw = {(const uint8_t *)raw, sizeof(raw)}});
}

static void test_sched_stat(void **state)
{
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct edited made = start_sleeping();
    const struct perfile_record *record;
    (void)state;
    wake_up(&made, 1, 5, 500); /* asleep before the recording began */
    fall_asleep(&made, 1, 10, 0x10);
    fall_asleep(&made, 2, 11, 0x20);
    fall_asleep(&made, 1, 12, 0x12); /* the last one counts */
    wake_up(&made, 1, 20, 800);
    put_sample(&made, EXIT, (struct perfile_sample){.tid = 2, .time = 21});
    wake_up(&made, 2, 22, 900); /* another thread of that number */
    options.sched_stat = true;
    assert_int_equal(inject(&made, &options), 0);
    assert_int_equal(perfile_reader_next(made.reader, &record, NULL), 1);
    assert_int_equal(perfile_sample_decode(record, &sample, NULL), 0);
    assert_string_equal(record->event->name, "sched:sched_switch");
    assert_int_equal(sample.tid, 1);
    assert_int_equal(sample.ip, 0x12);
    assert_int_equal(sample.time, 20);
    assert_int_equal(sample.period, 800);
    assert_int_equal(perfile_reader_next(made.reader, &record, NULL), 0);
    assert_int_equal(made.report.samples_kept, 1);
    assert_int_equal(made.report.samples_dropped, 6);
    edited_end(&made);
}

static void test_no_sched_stat(void **state)
{
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    struct edited made = edited_start();
    (void)state;
    put_event(&made, "sched:sched_switch", 2, 6);
    options.sched_stat = true;
    assert_int_equal(inject(&made, &options), PERFILE_ERROR_ABSENT);
    edited_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_ids),  cmocka_unit_test(test_build_ids_again),
        cmocka_unit_test(test_code),       cmocka_unit_test(test_maps_that_are_hit),
        cmocka_unit_test(test_sched_stat), cmocka_unit_test(test_no_sched_stat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
