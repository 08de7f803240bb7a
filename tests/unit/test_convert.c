/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "edit/compat.h"
#include "edited.h"

enum {
    USUAL =
        PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU,
    ID = 7,
};

/* ---- a recording in, its conversion out ---- */

static struct edited start(const struct perfile_attr *attr)
{
    struct edited made = edited_start();
    edited_event(&made, attr, ID, NULL);
    return made;
}

static void put(struct edited *made, uint32_t type, uint16_t misc, const void *record, size_t bytes)
{
    const struct perfile_sample_id id = {
        .size = sizeof(id), .pid = 1, .tid = 1, .time = 5, .cpu = 1, .id = ID, .identifier = ID};
    assert_int_equal(perfile_writer_record(made->writer, type, misc, record, bytes, &id, NULL), 0);
}

static void put_sample(struct edited *made, struct perfile_sample sample)
{
    sample.size = sizeof(sample);
    sample.identifier = sample.id = ID;
    sample.pid = sample.tid = 1;
    assert_int_equal(perfile_writer_sample(made->writer, 0, 2, &sample, NULL), 0);
}

static int call_convert(struct perfile_reader *reader, struct perfile_writer *writer, const void *options,
                        struct perfile_edit_report *report, struct perfile_error *error)
{
    return perfile_convert(reader, writer, options, report, error);
}

static void convert(struct edited *made, const struct perfile_convert_options *options)
{
    assert_int_equal(edited_run(made, NULL, call_convert, options), 0);
}

static void convert_for(struct edited *made, const char *version)
{
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    options.for_perf = version;
    convert(made, &options);
}

static void convert_stripped(struct edited *made, const char *parts)
{
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    options.strip = parts;
    convert(made, &options);
}

static const struct perfile_record *next(struct edited *made)
{
    const struct perfile_record *record;
    return perfile_reader_next(made->reader, &record, NULL) > 0 ? record : NULL;
}

static const struct perfile_record *expect(struct edited *made, uint32_t type)
{
    const struct perfile_record *record = next(made);
    assert_non_null(record);
    assert_int_equal(record->type, type);
    assert_int_equal(record->bytes % 8, 0);
    assert_false(record->damaged);
    return record;
}

static struct perfile_sample expect_sample(struct edited *made)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    assert_int_equal(perfile_sample_decode(expect(made, PERFILE_RECORD_SAMPLE), &sample, NULL), 0);
    return sample;
}

static void expect_words(const struct perfile_u64s *words, const uint64_t *expected, size_t count)
{
    assert_int_equal(words->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(perfile_u64_at(words, i), expected[i]);
}

static struct perfile_u64s words_of(const uint64_t *words, uint64_t count)
{
    return (struct perfile_u64s){.data = (const uint8_t *)words, .count = count};
}

/* ---- strip ---- */

static void test_strip_stack(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL | PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER |
                                                     PERFILE_SAMPLE_WEIGHT,
                                      .sample_regs_user = 3,
                                      .sample_stack_user = 64};
    const uint64_t registers[2] = {11, 12};
    uint8_t stack[64] = "stack";
    struct edited made = start(&attr);
    (void)state;
    put_sample(&made, (struct perfile_sample){.ip = 99,
                                              .weight = 5,
                                              .regs_user = {.abi = 2, .mask = 3, .values = words_of(registers, 2)},
                                              .stack_user = {.data = stack, .bytes = 64, .used = 64, .dyn_size = 64}});
    convert_stripped(&made, "stack");
    const struct perfile_attr *left = perfile_event_get(made.reader, 0)->attr;
    assert_int_equal(left->sample_type, attr.sample_type & ~(uint64_t)PERFILE_SAMPLE_STACK_USER);
    assert_int_equal(left->sample_stack_user, 0);
    assert_int_equal(left->sample_regs_user, 3);
    const struct perfile_sample sample = expect_sample(&made);
    expect_words(&sample.regs_user.values, registers, 2);
    assert_int_equal(sample.ip, 99);
    assert_int_equal(sample.weight, 5);
    assert_int_equal(made.report.bytes_stripped, 8 + 64 + 8);
    assert_int_equal(made.report.records_changed, 1);
    edited_end(&made);
}

static void test_strip_aux(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    const struct perfile_auxtrace trace = {.data_size = 16};
    const struct perfile_aux aux = {.aux_size = 16};
    const struct perfile_comm comm = {.pid = 1, .tid = 1, .comm = "a"};
    struct edited made = start(&attr);
    (void)state;
    put(&made, PERFILE_RECORD_AUX, 0, &aux, sizeof(aux));
    put(&made, PERFILE_RECORD_AUXTRACE, 0, &trace, sizeof(trace));
    assert_int_equal(perfile_writer_payload(made.writer, "0123456789abcdef", 16, NULL), 0);
    put(&made, PERFILE_RECORD_COMM, 0, &comm, sizeof(comm));
    convert_stripped(&made, "regs,aux");
    expect(&made, PERFILE_RECORD_COMM);
    assert_null(next(&made));
    assert_int_equal(made.report.records_dropped, 2);
    assert_int_equal(made.report.bytes_stripped, 32 + 32 + 48 + 16);
    edited_end(&made);
}

static void test_strip_names(void **state)
{
    struct perfile_error error;
    struct pf_strip strip;
    (void)state;
    for (size_t i = 0; perfile_strip_part_at(i, NULL); i++)
        assert_int_equal(pf_strip_open(&strip, perfile_strip_part_at(i, NULL), &error), 0);
    assert_int_equal(pf_strip_open(&strip, "stack,stac", &error), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "unknown part stac; valid: stack, regs"));
    assert_int_equal(pf_strip_open(&strip, "stack,", &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(pf_strip_open(&strip, "", &error), PERFILE_ERROR_ARGUMENT);
}

/* ---- for an older perf: events ---- */

static int try_for(const char *version, const struct perfile_writer_options *how)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    struct edited made = start(&attr);
    options.for_perf = version;
    int result = edited_run(&made, how, call_convert, &options);
    edited_end(&made);
    return result;
}

static void test_versions(void **state)
{
    static const char *const good[] = {"3.0", "perf-5.10", "v6.1", "6.1.187", "perf-7.2-rc1", "4.20"};
    static const char *const bad[] = {"", "6", "2.6", "8.0", "perf-", "6.x", "6.1x", "6.100", "newest", "-6.1"};
    (void)state;
    for (size_t i = 0; i < PF_COUNT(good); i++)
        assert_int_equal(try_for(good[i], NULL), 0);
    for (size_t i = 0; i < PF_COUNT(bad); i++)
        assert_int_equal(try_for(bad[i], NULL), PERFILE_ERROR_ARGUMENT);
}

static void test_outputs(void **state)
{
    struct perfile_writer_options pipe = PERFILE_WRITER_OPTIONS_INIT, packed = PERFILE_WRITER_OPTIONS_INIT;
    (void)state;
    pipe.mode = PERFILE_MODE_PIPE;
    packed.compression = 1;
    assert_int_equal(try_for("4.17", &pipe), 0);
    assert_int_equal(try_for("4.16", &pipe), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(try_for("5.2", &packed), 0);
    assert_int_equal(try_for("5.1", &packed), PERFILE_ERROR_ARGUMENT);
}

static uint32_t container_for(const char *version)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    struct perfile_writer_options packed = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    struct edited made = start(&attr);
    packed.compression = 1;
    options.for_perf = version;
    put_sample(&made, (struct perfile_sample){.ip = 1});
    assert_int_equal(edited_run(&made, &packed, call_convert, &options), 0);
    const uint32_t type = next(&made)->type;
    edited_end(&made);
    return type;
}

static void test_containers(void **state)
{
    (void)state;
    assert_int_equal(container_for("6.15"), PERFILE_RECORD_COMPRESSED);
    assert_int_equal(container_for("6.16"), PERFILE_RECORD_COMPRESSED2);
}

/* The rows are in order, so that the first form that is too young says it all. */
static void test_table(void **state)
{
    uint32_t before = 0;
    (void)state;
#define ROW(major, minor)                                                                                              \
    assert_true(PF_VERSION(major, minor) >= before);                                                                   \
    before = PF_VERSION(major, minor);
#define ATTR(major, minor, bytes) ROW(major, minor)
#define SAMPLE(major, minor, NAME) ROW(major, minor)
#define READ(major, minor, NAME) ROW(major, minor)
#define BRANCH(major, minor, NAME) ROW(major, minor)
#define FLAG(major, minor, field) ROW(major, minor)
#define PROG_INFO(major, minor, bytes) ROW(major, minor)
#define FORM(major, minor, RECORD, form) ROW(major, minor)
#define OUTPUT(major, minor, what, doc) ROW(major, minor)
#include "schema/ages.def"
    assert_true(before >= PF_VERSION(7, 0));
}

static void test_attrs(void **state)
{
    static const struct {
        const char *version;
        uint32_t bytes;
    } sizes[] = {{"7.2", 144}, {"6.18", 136}, {"6.2", 128}, {"5.11", 120}, {"5.4", 112}, {"4.0", 104}, {"3.3", 72}};
    (void)state;
    for (size_t i = 0; i < PF_COUNT(sizes); i++) {
        const struct perfile_attr attr = {
            .sample_type = USUAL, .build_id = 1, .defer_callchain = 1, .mmap2 = 1, .config3 = 3, .config4 = 4};
        struct edited made = start(&attr);
        convert_for(&made, sizes[i].version);
        const struct perfile_event *event = perfile_event_get(made.reader, 0);
        assert_int_equal(event->attr_bytes, sizes[i].bytes);
        assert_int_equal(event->attr->config4, sizes[i].bytes >= 144 ? 4 : 0);
        assert_int_equal(event->attr->defer_callchain, sizes[i].bytes >= 144);
        assert_int_equal(event->attr->build_id, sizes[i].bytes >= 128);
        assert_int_equal(event->attr->mmap2, sizes[i].bytes >= 104);
        assert_int_equal(made.report.events_changed, sizes[i].bytes < 144);
        edited_end(&made);
    }
}

/* Without IDENTIFIER the ids of events with different parts are not found: all get the same. */
static void test_common_sample_type(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    const struct perfile_attr other = {.sample_type = USUAL | PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_RAW};
    const struct perfile_comm comm = {.pid = 1, .tid = 1, .comm = "a"};
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    struct edited made = start(&attr);
    (void)state;
    edited_event(&made, &other, ID + 1, NULL);
    put_sample(&made, (struct perfile_sample){.ip = 4});
    sample.identifier = ID + 1;
    sample.addr = 77;
    assert_int_equal(perfile_writer_sample(made.writer, 1, 2, &sample, NULL), 0);
    put(&made, PERFILE_RECORD_COMM, 0, &comm, sizeof(comm));
    convert_for(&made, "3.11");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(perfile_event_get(made.reader, i)->attr->sample_type,
                         (other.sample_type & ~(uint64_t)PERFILE_SAMPLE_IDENTIFIER) | PERFILE_SAMPLE_ID);
    assert_int_equal(expect_sample(&made).id, ID);
    sample = expect_sample(&made);
    assert_int_equal(sample.id, ID + 1);
    assert_int_equal(sample.addr, 77);
    assert_int_equal(perfile_sample_id_decode(made.reader, expect(&made, PERFILE_RECORD_COMM), &id, NULL), 0);
    assert_int_equal(id.id, ID);
    edited_end(&made);
}

/* ---- for an older perf: samples ---- */

static void test_weight(void **state)
{
    const struct perfile_attr attr = {.sample_type =
                                          USUAL | PERFILE_SAMPLE_WEIGHT_STRUCT | PERFILE_SAMPLE_CODE_PAGE_SIZE};
    struct edited made = start(&attr);
    (void)state;
    put_sample(&made, (struct perfile_sample){.weight = 0x300020000000a, .code_page_size = 4096});
    convert_for(&made, "5.11");
    assert_int_equal(perfile_event_get(made.reader, 0)->attr->sample_type, USUAL | PERFILE_SAMPLE_WEIGHT);
    assert_int_equal(expect_sample(&made).weight, 10);
    edited_end(&made);
}

static void test_read_lost(void **state)
{
    enum { FORMAT = PERFILE_FORMAT_ID | PERFILE_FORMAT_GROUP };
    const struct perfile_attr attr = {.sample_type = USUAL | PERFILE_SAMPLE_READ | PERFILE_SAMPLE_WEIGHT,
                                      .read_format = FORMAT | PERFILE_FORMAT_LOST};
    const uint64_t values[6] = {100, ID, 3, 200, ID + 1, 4};
    const struct perfile_read read = {
        .format = attr.read_format, .count = 2, .values = (const uint8_t *)values, .stride = 24};
    const struct perfile_read_counters counters = {.pid = 1, .tid = 1, .values = read};
    struct perfile_read_counters left;
    struct perfile_read_value value;
    struct edited made = start(&attr);
    (void)state;
    put_sample(&made, (struct perfile_sample){.read = read, .weight = 9});
    put(&made, PERFILE_RECORD_READ, 0, &counters, sizeof(counters));
    convert_for(&made, "5.19");
    const struct perfile_sample sample = expect_sample(&made);
    assert_int_equal(sample.read.format, FORMAT);
    assert_int_equal(sample.weight, 9);
    perfile_read_at(&sample.read, 1, &value, sizeof(value));
    assert_int_equal(value.value, 200);
    assert_int_equal(value.id, ID + 1);
    const struct perfile_record *record = expect(&made, PERFILE_RECORD_READ);
    assert_int_equal(perfile_record_decode(made.reader, record, &left, sizeof(left), NULL), 0);
    perfile_read_at(&left.values, 1, &value, sizeof(value));
    assert_int_equal(value.value, 200);
    assert_int_equal(record->bytes, 8 + 8 + 8 + 2 * 16 + 32);
    edited_end(&made);
}

static void test_branches(void **state)
{
    static const struct {
        const char *version;
        bool has_hw_idx;
        uint64_t counters;
    } cases[] = {{"6.8", true, 1}, {"6.7", true, 0}, {"5.6", false, 0}};
    const uint64_t entries[3] = {1, 2, 1}, counts[1] = {5};
    (void)state;
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        const struct perfile_attr attr = {.sample_type = USUAL | PERFILE_SAMPLE_BRANCH_STACK | PERFILE_SAMPLE_WEIGHT,
                                          .branch_sample_type = 1 | 8 | 1 << 17 | 1 << 19};
        struct edited made = start(&attr);
        put_sample(&made, (struct perfile_sample){.weight = 9,
                                                  .branch_stack = {.count = 1,
                                                                   .has_hw_idx = true,
                                                                   .big_endian = PF_NATIVE_BIG_ENDIAN,
                                                                   .hw_idx = 6,
                                                                   .entries = words_of(entries, 3),
                                                                   .counters = words_of(counts, 1)}});
        convert_for(&made, cases[i].version);
        const struct perfile_sample sample = expect_sample(&made);
        assert_int_equal(sample.branch_stack.has_hw_idx, cases[i].has_hw_idx);
        assert_int_equal(sample.branch_stack.counters.count, cases[i].counters);
        assert_int_equal(sample.weight, 9);
        expect_words(&sample.branch_stack.entries, entries, 3);
        edited_end(&made);
    }
}

static void test_late_chains(void **state)
{
    const struct perfile_attr attr = {
        .sample_type = USUAL | PERFILE_SAMPLE_CALLCHAIN, .defer_callchain = 1, .defer_output = 1};
    const uint64_t first[] = {PERFILE_CONTEXT_KERNEL, 0x100, PERFILE_CONTEXT_USER_DEFERRED, 42}, late[] = {0x10, 0x20};
    const uint64_t second[] = {PERFILE_CONTEXT_KERNEL, 0x100, PERFILE_CONTEXT_USER_DEFERRED, 43};
    const uint64_t joined[] = {PERFILE_CONTEXT_KERNEL, 0x100, PERFILE_CONTEXT_USER, 0x10, 0x20};
    const struct perfile_callchain_deferred deferred = {
        .cookie = 42, .nr = 2, .ips = {.data = (const uint8_t *)late, .count = 2}};
    struct perfile_sample sample;
    struct edited made = start(&attr);
    (void)state;
    put_sample(&made, (struct perfile_sample){.callchain = words_of(first, 4)});
    put_sample(&made, (struct perfile_sample){.callchain = words_of(second, 4)});
    put(&made, PERFILE_RECORD_CALLCHAIN_DEFERRED, 2, &deferred, sizeof(deferred));
    convert_for(&made, "6.18");
    sample = expect_sample(&made);
    expect_words(&sample.callchain, joined, 5);
    sample = expect_sample(&made);
    expect_words(&sample.callchain, second, 2);
    assert_null(next(&made));
    assert_int_equal(made.report.records_dropped, 1);
    edited_end(&made);
}

/* ---- for an older perf: other records ---- */

static const struct perfile_mmap2 libc = {.pid = 1,
                                          .tid = 1,
                                          .addr = 0x1000,
                                          .len = 0x2000,
                                          .pgoff = 0x3000,
                                          .build_id_size = 4,
                                          .build_id = {1, 2, 3, 4},
                                          .prot = 5,
                                          .flags = 2,
                                          .filename = "/lib/libc.so"};

static void test_build_ids(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    struct perfile_mmap2 kernel = libc, left;
    struct edited made = start(&attr);
    const uint8_t *data;
    size_t bytes;
    (void)state;
    kernel.filename = "[kernel.kallsyms]_text";
    put(&made, PERFILE_RECORD_MMAP2, 1 | PERFILE_MISC_MMAP_BUILD_ID, &kernel, sizeof(kernel));
    for (int i = 0; i < 2; i++)
        put(&made, PERFILE_RECORD_MMAP2, 2 | PERFILE_MISC_MMAP_BUILD_ID, &libc, sizeof(libc));
    convert_for(&made, "5.11");
    expect(&made, PERFILE_RECORD_MMAP2);
    const struct perfile_record *record = expect(&made, PERFILE_RECORD_MMAP2);
    assert_int_equal(record->misc, 2);
    assert_int_equal(perfile_record_decode(made.reader, record, &left, sizeof(left), NULL), 0);
    assert_int_equal(left.addr, libc.addr);
    assert_int_equal(left.ino, 0);
    assert_int_equal(left.prot, 5);
    assert_string_equal(left.filename, libc.filename);
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_BUILD_ID, &data, &bytes, NULL), 0);
    assert_int_equal(bytes, 36 + 20 + 36 + 20); /* each once, names padded */
    assert_string_equal((const char *)data + 36, "[kernel.kallsyms]");
    assert_memory_equal(data + 56 + 12, libc.build_id, 4);
    assert_string_equal((const char *)data + 56 + 36, libc.filename);
    edited_end(&made);
}

static void test_mmap(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    struct perfile_mmap left;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    struct edited made = start(&attr);
    (void)state;
    put(&made, PERFILE_RECORD_MMAP2, 2, &libc, sizeof(libc));
    convert_for(&made, "3.15");
    const struct perfile_record *record = expect(&made, PERFILE_RECORD_MMAP);
    assert_int_equal(perfile_record_decode(made.reader, record, &left, sizeof(left), NULL), 0);
    assert_int_equal(left.pgoff, 0x3000);
    assert_string_equal(left.filename, libc.filename);
    assert_int_equal(perfile_sample_id_decode(made.reader, record, &id, NULL), 0);
    assert_int_equal(id.time, 5);
    edited_end(&made);
}

static void test_cpu_ranges(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    const struct perfile_cpu_set range = {.map_type = 2, .any_cpu = true, .start_cpu = 2, .end_cpu = 4};
    const struct perfile_cpu_map map = {.map = range};
    const struct perfile_event_update update = {.update_type = 3, .id = ID, .cpus = range};
    const uint16_t expected[4] = {0xffff, 2, 3, 4};
    struct perfile_cpu_map left;
    struct perfile_event_update updated;
    struct edited made = start(&attr);
    (void)state;
    put(&made, PERFILE_RECORD_CPU_MAP, 0, &map, sizeof(map));
    put(&made, PERFILE_RECORD_EVENT_UPDATE, 0, &update, sizeof(update));
    convert_for(&made, "6.0");
    const struct perfile_record *record = expect(&made, PERFILE_RECORD_CPU_MAP);
    assert_int_equal(perfile_record_decode(made.reader, record, &left, sizeof(left), NULL), 0);
    assert_int_equal(left.map.map_type, 0);
    assert_int_equal(left.map.count, 4);
    assert_memory_equal(left.map.data, expected, sizeof(expected));
    record = expect(&made, PERFILE_RECORD_EVENT_UPDATE);
    assert_int_equal(perfile_record_decode(made.reader, record, &updated, sizeof(updated), NULL), 0);
    assert_int_equal(updated.cpus.count, 4);
    edited_end(&made);
}

static void test_guests(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    const uint64_t entry[4] = {ID, 0, 1, UINT64_MAX}, guest[2] = {55, 1};
    const struct perfile_id_index index = {
        .nr = 1, .entries = {.data = (const uint8_t *)entry, .count = 1}, .guests = {(const uint8_t *)guest, 1, false}};
    const struct perfile_auxtrace_error fault = {.error_type = 1, .fmt = 2, .time = 8, .msg = "lost", .machine_pid = 3};
    struct perfile_auxtrace_error notify;
    struct edited made = start(&attr);
    (void)state;
    put(&made, PERFILE_RECORD_ID_INDEX, 0, &index, sizeof(index));
    put(&made, PERFILE_RECORD_AUXTRACE_ERROR, 0, &fault, sizeof(fault));
    convert_for(&made, "5.0");
    assert_int_equal(expect(&made, PERFILE_RECORD_ID_INDEX)->bytes, 16 + 32);
    const struct perfile_record *record = expect(&made, PERFILE_RECORD_AUXTRACE_ERROR);
    assert_int_equal(perfile_record_decode(made.reader, record, &notify, sizeof(notify), NULL), 0);
    assert_int_equal(notify.fmt, 0);
    assert_string_equal(notify.msg, "lost");
    assert_int_equal(record->bytes, 104);
    edited_end(&made);
}

/* perf 4.16 wrote maps of 20 bytes; unknown and young records go. */
static void test_sizes_and_types(void **state)
{
    static const uint8_t odd[20] = {PERFILE_RECORD_CPU_MAP, [6] = 20, [10] = 2, [14] = 1};
    static const uint8_t unknown[16] = {120, [6] = 16};
    const struct perfile_attr attr = {.sample_type = USUAL};
    struct perfile_cpu_map left;
    struct edited made = start(&attr);
    (void)state;
    if (PF_NATIVE_BIG_ENDIAN)
        skip();
    assert_int_equal(perfile_writer_raw(made.writer, odd, sizeof(odd), NULL), 0);
    assert_int_equal(perfile_writer_raw(made.writer, unknown, sizeof(unknown), NULL), 0);
    put(&made, PERFILE_RECORD_FINISHED_INIT, 0, NULL, 0);
    convert_for(&made, "5.19");
    const struct perfile_record *record = expect(&made, PERFILE_RECORD_CPU_MAP);
    assert_int_equal(perfile_record_decode(made.reader, record, &left, sizeof(left), NULL), 0);
    assert_int_equal(left.map.count, 2);
    assert_null(next(&made));
    assert_int_equal(made.report.records_dropped, 2);
    edited_end(&made);
}

static void test_features(void **state)
{
    enum { INFO = 232, SHORT = 216, DATA = 8 };
    const struct perfile_attr attr = {.sample_type = USUAL};
    uint32_t programs[1 + 4 + (INFO + DATA) / 4] = {1, INFO, DATA};
    const uint8_t *data;
    size_t bytes;
    struct edited made = start(&attr);
    (void)state;
    programs[5] = 0x1234;                      /* the first of info */
    programs[PF_COUNT(programs) - 1] = 0x5678; /* the last of data */
    assert_int_equal(
        perfile_writer_feature(made.writer, PERFILE_FEATURE_BPF_PROG_INFO, programs, sizeof(programs), NULL), 0);
    assert_int_equal(perfile_writer_feature(made.writer, PERFILE_FEATURE_CLN_SIZE, "\100\0\0", 4, NULL), 0);
    assert_int_equal(perfile_writer_feature(made.writer, PERFILE_FEATURE_CPUDESC, NULL, 0, NULL), 0);
    assert_int_equal(perfile_writer_feature_text(made.writer, PERFILE_FEATURE_HOSTNAME, "here", NULL), 0);
    convert_for(&made, "5.12");
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_CLN_SIZE, &data, &bytes, NULL),
                     PERFILE_ERROR_ABSENT);
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_CPUDESC, &data, &bytes, NULL),
                     PERFILE_ERROR_ABSENT); /* perf 7.2 would refuse the recording */
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_HOSTNAME, &data, &bytes, NULL), 0);
    assert_int_equal(perfile_feature_bytes(made.reader, PERFILE_FEATURE_BPF_PROG_INFO, &data, &bytes, NULL), 0);
    assert_int_equal(bytes, sizeof(programs) - (INFO - SHORT));
    assert_int_equal(pf_load32(data + 4, false), SHORT);
    assert_int_equal(pf_load32(data + 20, false), 0x1234);
    assert_int_equal(pf_load32(data + bytes - 4, false), 0x5678);
    assert_int_equal(made.report.features_dropped, 2);
    edited_end(&made);
}

/* Entries of old perfs have 36 bytes and a name padded to 64; in a stream perf 7.2 aborts at such sizes. */
static void test_build_ids_in_stream(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    struct perfile_writer_options pipe = PERFILE_WRITER_OPTIONS_INIT;
    struct edited made = start(&attr);
    uint8_t entry[100] = {[6] = 100, [36] = 'a'};
    const struct perfile_record *record;
    unsigned seen = 0;
    (void)state;
    if (PF_NATIVE_BIG_ENDIAN)
        skip();
    pipe.mode = PERFILE_MODE_PIPE;
    assert_int_equal(perfile_writer_feature(made.writer, PERFILE_FEATURE_BUILD_ID, entry, sizeof(entry), NULL), 0);
    assert_int_equal(edited_run(&made, &pipe, call_convert, NULL), 0);
    while ((record = next(&made)))
        if (record->type == PERFILE_RECORD_HEADER_BUILD_ID) {
            assert_int_equal(record->bytes, 104);
            seen++;
        }
    assert_int_equal(seen, 1);
    edited_end(&made);
}

/* ---- unwind ---- */

static int unwind(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                  uint64_t *addresses, size_t capacity)
{
    const struct perfile_map *map = perfile_space_find(perfile_session_space(session, 1), 0x1100);
    unsigned *calls = context;
    assert_non_null(map); /* the mapping that was written after the sample */
    assert_string_equal(map->filename, libc.filename);
    assert_true(capacity >= 2);
    assert_int_equal(sample->stack_user.bytes, 16);
    addresses[0] = sample->ip;
    addresses[1] = 0x20;
    return ++*calls == 1 ? 2 : 0;
}

static void test_unwind(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL | PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_REGS_USER |
                                                     PERFILE_SAMPLE_STACK_USER,
                                      .exclude_callchain_user = 1,
                                      .sample_regs_user = 1,
                                      .sample_stack_user = 16};
    const uint64_t kernel[] = {PERFILE_CONTEXT_KERNEL, 0x100},
                   complete[] = {PERFILE_CONTEXT_KERNEL, 0x100, PERFILE_CONTEXT_USER, 0x1100, 0x20};
    enum { WITHOUT = 4 }; /* what cannot be unwound has the sampled instruction */
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_sample sample = {.ip = 0x1100,
                                    .time = 9,
                                    .callchain = words_of(kernel, 2),
                                    .regs_user = {.abi = 2, .mask = 1, .values = words_of(kernel, 1)},
                                    .stack_user = {(const uint8_t *)complete, 16, 16, 16}};
    struct edited made = start(&attr);
    unsigned calls = 0;
    (void)state;
    put_sample(&made, sample);
    put_sample(&made, sample);
    put(&made, PERFILE_RECORD_MMAP2, 2, &libc, sizeof(libc));
    options.unwind = unwind;
    options.unwind_context = &calls;
    convert(&made, &options);
    assert_int_equal(perfile_event_get(made.reader, 0)->attr->sample_type, USUAL | PERFILE_SAMPLE_CALLCHAIN);
    assert_int_equal(perfile_event_get(made.reader, 0)->attr->exclude_callchain_user, 0);
    expect(&made, PERFILE_RECORD_MMAP2);
    sample = expect_sample(&made);
    expect_words(&sample.callchain, complete, 5);
    sample = expect_sample(&made);
    expect_words(&sample.callchain, complete, WITHOUT);
    assert_int_equal(made.report.samples_unwound, 1);
    assert_int_equal(made.report.samples_without, 1);
    edited_end(&made);
}

static int unwind_nothing(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                          uint64_t *addresses, size_t capacity)
{
    (void)context, (void)session, (void)sample, (void)addresses, (void)capacity;
    return 0;
}

/* Processes that start, map a file, and end. */
static void put_processes(struct edited *made, int32_t count)
{
    enum { AT_ONCE = 50, MILLISECOND = 1000000 };
    for (int32_t pid = 2; pid < 2 + count; pid++) {
        const struct perfile_sample_id id = {.size = sizeof(id),
                                             .pid = pid,
                                             .tid = pid,
                                             .time = (uint64_t)pid * MILLISECOND,
                                             .id = ID,
                                             .identifier = ID};
        const struct perfile_fork task = {.pid = pid, .ppid = 1, .tid = pid, .ptid = 1, .time = id.time};
        const struct perfile_exit over = {.pid = pid, .ppid = 1, .tid = pid, .ptid = 1, .time = id.time};
        struct perfile_mmap2 map = libc;
        map.pid = map.tid = pid;
        int result = perfile_writer_record(made->writer, PERFILE_RECORD_FORK, 0, &task, sizeof(task), &id, NULL);
        for (int i = 0; i < 8 && result == 0; i++, map.addr += map.len)
            result = perfile_writer_record(made->writer, PERFILE_RECORD_MMAP2, 2, &map, sizeof(map), &id, NULL);
        if (result == 0)
            result = perfile_writer_record(made->writer, PERFILE_RECORD_EXIT, 0, &over, sizeof(over), &id, NULL);
        if (result == 0 && pid % AT_ONCE == 0)
            result = perfile_writer_record(made->writer, PERFILE_RECORD_FINISHED_ROUND, 0, NULL, 0, NULL, NULL);
        assert_int_equal(result, 0);
    }
}

/* Unwinding while a machine is recorded goes on for days: what ended must not take memory. */
static void test_unwind_many_processes(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL | PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER,
                                      .sample_regs_user = 1,
                                      .sample_stack_user = 16};
    enum { PROCESSES = 30000, BYTES_MAX = 32 << 20 };
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_open_options how = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    struct counting counting;
    struct edited made = start(&attr);
    (void)state;
    counting_open(&counting, -1);
    put_processes(&made, PROCESSES);
    assert_int_equal(perfile_writer_finish(made.writer, NULL), 0);
    perfile_writer_close(made.writer);
    options.unwind = unwind_nothing;
    how.allocator = &counting.allocator;
    lseek(made.fd, 0, SEEK_SET);
    assert_int_equal(perfile_open_fd(made.fd, &how, &reader, NULL), 0);
    const int fd = edited_file();
    assert_int_equal(perfile_writer_open_fd(fd, NULL, &writer, NULL), 0);
    assert_int_equal(perfile_convert(reader, writer, &options, NULL, NULL), 0);
    perfile_writer_close(writer);
    perfile_close(reader);
    close(fd);
    close(made.fd);
    assert_true(counting.max_bytes < BYTES_MAX);
    counting_close(&counting);
}

/* ---- directories ---- */

static void remove_files(const char *path)
{
    DIR *list = opendir(path);
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list));) {
        char below[1024];
        snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && unlink(below) < 0)
            remove_files(below);
    }
    closedir(list);
    assert_int_equal(rmdir(path), 0);
}

static void convert_path(const char *from, const char *to)
{
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    how.mode = PERFILE_MODE_DIRECTORY;
    assert_int_equal(perfile_open_path(from, NULL, &reader, NULL), 0);
    assert_int_equal(perfile_writer_open_path(to, &how, &writer, NULL), 0);
    assert_int_equal(perfile_convert(reader, writer, NULL, NULL, NULL), 0);
    assert_int_equal(perfile_writer_finish(writer, NULL), 0);
    perfile_writer_close(writer);
    perfile_close(reader);
}

static void put_kernel_copy(const char *folder)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/kcore_dir", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/kcore_dir/modules", folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    snprintf(path, sizeof(path), "%s/kcore_dir/link", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
}

static void test_directory(void **state)
{
    const struct perfile_attr attr = {.sample_type = USUAL};
    const struct perfile_comm comm = {.pid = 1, .tid = 1, .comm = "a"};
    char folder[] = "/tmp/perfile-convert-XXXXXX", first[64], second[64], path[128];
    struct edited made = start(&attr);
    (void)state;
    put_sample(&made, (struct perfile_sample){.time = 9, .cpu = 2});
    put(&made, PERFILE_RECORD_COMM, 0, &comm, sizeof(comm)); /* processor 1, time 5 */
    put(&made, PERFILE_RECORD_FINISHED_ROUND, 0, NULL, 0);
    put_sample(&made, (struct perfile_sample){.time = 7, .cpu = 2});
    assert_int_equal(perfile_writer_finish(made.writer, NULL), 0);
    perfile_writer_close(made.writer);
    assert_non_null(mkdtemp(folder));
    snprintf(first, sizeof(first), "%s/first", folder);
    snprintf(second, sizeof(second), "%s/second", folder);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", made.fd);
    convert_path(path, first);
    close(made.fd);
    put_kernel_copy(first);
    snprintf(path, sizeof(path), "%s/data.2", first);
    assert_int_equal(access(path, R_OK), 0);
    convert_path(first, second);
    assert_int_equal(perfile_open_path(second, NULL, &made.reader, NULL), 0);
    assert_null(perfile_reader_file(made.reader)->parts[2]);
    next(&made); /* the file itself has nothing, and says so with a round */
    assert_int_equal(expect(&made, PERFILE_RECORD_COMM)->part, 1);
    assert_int_equal(expect_sample(&made).time, 7);
    assert_int_equal(expect_sample(&made).time, 9);
    assert_null(next(&made));
    perfile_close(made.reader);
    snprintf(path, sizeof(path), "%s/kcore_dir/modules", second);
    assert_int_equal(access(path, R_OK), 0);
    snprintf(path, sizeof(path), "%s/kcore_dir/link", second);
    assert_int_not_equal(access(path, R_OK), 0);
    remove_files(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strip_stack),
        cmocka_unit_test(test_strip_aux),
        cmocka_unit_test(test_strip_names),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_containers),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_attrs),
        cmocka_unit_test(test_common_sample_type),
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_read_lost),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_late_chains),
        cmocka_unit_test(test_build_ids),
        cmocka_unit_test(test_build_ids_in_stream),
        cmocka_unit_test(test_mmap),
        cmocka_unit_test(test_cpu_ranges),
        cmocka_unit_test(test_guests),
        cmocka_unit_test(test_sizes_and_types),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_unwind),
        cmocka_unit_test(test_unwind_many_processes),
        cmocka_unit_test(test_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
