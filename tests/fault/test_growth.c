/* SPDX-License-Identifier: MIT */
/*
 * Small recordings that once made the library large or slow. Memory may be 32 MiB and four times the input, the same
 * bound as for real recordings; time may not grow with the square of the input.
 */
#include "fault.h"

#include <perfile/edit.h>

#include <time.h>

enum { INPUT_BYTES = 1 << 20, SECONDS_MAX = 10, ATTR_BYTES = 64, ENTRY_BYTES = ATTR_BYTES + 16, HEADER_BYTES = 104 };

/* ---- recordings ---- */

struct made_file {
    uint8_t *data;
    size_t bytes;
    size_t capacity;
};

static void put(struct made_file *file, const void *data, size_t bytes)
{
    assert_true(pf_grow(pf_allocator_or_default(NULL), &file->data, &file->capacity, file->bytes + bytes, 1));
    memcpy(file->data + file->bytes, data, bytes);
    file->bytes += bytes;
}

static void put16(struct made_file *file, uint16_t value)
{
    put(file, &value, sizeof(value));
}

static void put32(struct made_file *file, uint32_t value)
{
    put(file, &value, sizeof(value));
}

static void put64(struct made_file *file, uint64_t value)
{
    put(file, &value, sizeof(value));
}

static void set64(struct made_file *file, size_t at, uint64_t value)
{
    memcpy(file->data + at, &value, sizeof(value));
}

static void put_magic(struct made_file *file, uint64_t header_bytes)
{
    put(file, PF_NATIVE_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2", 8);
    put64(file, header_bytes);
}

static void put_attr(struct made_file *file, uint32_t type)
{
    const uint64_t rest[6] = {0, 1};
    put32(file, type);
    put32(file, ATTR_BYTES);
    put64(file, 0);
    put(file, rest, sizeof(rest));
}

static void put_record_header(struct made_file *file, uint32_t type, size_t body_bytes)
{
    put32(file, type);
    put16(file, 0);
    put16(file, (uint16_t)(8 + body_bytes));
}

/* `events` attrs, all with the same ids, and no records; features may follow. */
static void put_events(struct made_file *file, uint64_t events, struct perfile_section ids)
{
    const uint64_t words[] = {
        ENTRY_BYTES, HEADER_BYTES, events * ENTRY_BYTES, HEADER_BYTES + events * ENTRY_BYTES, 8, 0, 0, 0, 0, 0, 0};
    put_magic(file, HEADER_BYTES);
    put(file, words, sizeof(words));
    for (uint64_t i = 0; i < events; i++) {
        put_attr(file, 1);
        put64(file, ids.offset);
        put64(file, ids.bytes);
    }
    put_record_header(file, PERFILE_RECORD_FINISHED_ROUND, 0);
}

/* ---- reading them ---- */

struct bounded {
    struct perfile_allocator allocator;
    size_t live, limit;
    bool over;
};

/* Rather fails than uses up the machine. */
static void *bounded_resize(void *context, void *pointer, size_t old, size_t size)
{
    struct bounded *memory = context;
    if (size > old && size - old > memory->limit - memory->live) {
        memory->over = true;
        return NULL;
    }
    memory->live += size - old;
    if (size)
        return realloc(pointer, size);
    free(pointer);
    return NULL;
}

static void read_records(struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    (void)allocator;
    read_all(reader);
}

static void check_bounds_of(struct made_file *file,
                            void (*use)(struct perfile_reader *reader, const struct perfile_allocator *allocator))
{
    struct bounded memory = {.limit = (32 << 20) + 4 * file->bytes};
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    memory.allocator = (struct perfile_allocator){&memory, bounded_resize};
    options.allocator = &memory.allocator;
    clock_t start = clock();
    if (perfile_open_memory(file->data, file->bytes, &options, &reader, &error) == 0) {
        use(reader, &memory.allocator);
        perfile_close(reader);
    }
    assert_false(memory.over);
    assert_int_equal(memory.live, 0);
    assert_true((clock() - start) / CLOCKS_PER_SEC < SECONDS_MAX);
    free(file->data);
}

static void check_bounds(struct made_file *file)
{
    check_bounds_of(file, read_records);
}

/* ---- hardware traces ---- */

static int ignore_bytes(void *context, const void *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
    return 0;
}

static void decode_trace(struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    const struct perfile_sink sink = {.write = ignore_bytes};
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_inject_options inject = PERFILE_INJECT_OPTIONS_INIT;
    struct perfile_edit_report report = {.size = sizeof(report)};
    struct perfile_writer *writer;
    struct perfile_error error;
    options.allocator = allocator;
    options.mode = PERFILE_MODE_PIPE;
    inject.itrace = "";
    assert_int_equal(perfile_writer_open_sink(&sink, &options, &writer, &error), 0);
    (void)!perfile_inject(reader, writer, &inject, &report, &error);
    perfile_writer_close(writer);
}

/* An event whose samples have identifiers, and then what AUXTRACE_INFO says of the traces that follow. */
static void put_trace_info(struct made_file *file, uint32_t kind, unsigned times)
{
    put_events(file, 1, (struct perfile_section){0, 0});
    set64(file, HEADER_BYTES + 24, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_IDENTIFIER);
    for (unsigned i = 0; i < times; i++) {
        put_record_header(file, PERFILE_RECORD_AUXTRACE_INFO, 16);
        put32(file, kind);
        put32(file, 0);
        put64(file, 0);
    }
}

static void put_trace(struct made_file *file, uint32_t number)
{
    put_record_header(file, PERFILE_RECORD_AUXTRACE, 40);
    put64(file, 8); /* bytes of the trace */
    put64(file, 0);
    put64(file, 0);
    put32(file, number);
    put32(file, 0); /* tid */
    put32(file, 0); /* cpu */
    put32(file, 0);
    put64(file, 0); /* the trace: padding */
}

/* ---- what went wrong ---- */

/* Each new event of a stream named all those before it again. */
static void test_stream_of_attrs(void **state)
{
    struct made_file file = {0};
    (void)state;
    put_magic(&file, 16);
    while (file.bytes < INPUT_BYTES) {
        put_record_header(&file, PERFILE_RECORD_HEADER_ATTR, ATTR_BYTES);
        put_attr(&file, 2);
    }
    check_bounds(&file);
}

/* Each description named all events again. */
static void test_stream_of_descriptions(void **state)
{
    struct made_file file = {0};
    (void)state;
    put_magic(&file, 16);
    while (file.bytes < INPUT_BYTES / 2) {
        put_record_header(&file, PERFILE_RECORD_HEADER_ATTR, ATTR_BYTES);
        put_attr(&file, 1);
    }
    while (file.bytes < INPUT_BYTES) {
        put_record_header(&file, PERFILE_RECORD_HEADER_FEATURE, 24);
        put64(&file, PERFILE_FEATURE_EVENT_DESC);
        put64(&file, 1); /* one of no bytes, without a name */
        put64(&file, 0);
    }
    check_bounds(&file);
}

/* All events may claim the complete file as their ids. */
static void test_events_share_their_ids(void **state)
{
    const uint64_t events = INPUT_BYTES / 2 / ENTRY_BYTES, at = HEADER_BYTES + events * ENTRY_BYTES + 8;
    struct made_file file = {0};
    (void)state;
    put_events(&file, events, (struct perfile_section){at, INPUT_BYTES / 2});
    for (uint64_t id = 0; id < INPUT_BYTES / 2 / 8; id++)
        put64(&file, id);
    check_bounds(&file);
}

/* All features may claim the complete file as their bytes. */
static void test_features_share_their_bytes(void **state)
{
    struct made_file file = {0};
    (void)state;
    put_events(&file, 1, (struct perfile_section){0, 0});
    for (size_t word = 0; word < 4; word++)
        set64(&file, 72 + 8 * word, UINT64_MAX);
    for (unsigned i = 0; i < 256; i++) {
        put64(&file, 0);
        put64(&file, INPUT_BYTES);
    }
    while (file.bytes < INPUT_BYTES)
        put64(&file, 0);
    check_bounds(&file);
}

/* Each line of simpleperf's list of events named every event that has its type and config. */
static void test_lines_name_all_events(void **state)
{
    static const char key[] = "event_type_info", line[] = "0,1,0\n";
    const uint64_t events = INPUT_BYTES / 2 / ENTRY_BYTES;
    struct made_file file = {0};
    (void)state;
    put_events(&file, events, (struct perfile_section){0, 0});
    set64(&file, 72 + 8 * (PERFILE_FEATURE_META_INFO / 64), 1ull << PERFILE_FEATURE_META_INFO % 64);
    size_t table = file.bytes;
    put64(&file, table + 16);
    put64(&file, 0);
    put(&file, key, sizeof(key));
    while (file.bytes < INPUT_BYTES)
        put(&file, line, sizeof(line) - 1);
    put(&file, "", 1);
    set64(&file, table + 8, file.bytes - table - 16);
    check_bounds(&file);
}

/* The ids of an event were copied for each one that was added. */
static void test_ids_come_one_by_one(void **state)
{
    const uint64_t count = INPUT_BYTES / 16;
    const size_t size = 8 + 8 + (size_t)count * 16;
    struct made_file file = {0};
    (void)state;
    put_events(&file, 1, (struct perfile_section){0, 0});
    set64(&file, 48, 8 + size);
    put32(&file, PERFILE_RECORD_SIMPLEPERF_EVENT_ID);
    put16(&file, (uint16_t)(size >> 16));
    put16(&file, (uint16_t)size);
    put64(&file, count);
    for (uint64_t i = 0; i < count; i++) {
        put64(&file, 0);
        put64(&file, i + 1);
    }
    check_bounds(&file);
}

/* Ids that have the same position in a table without a secret: multiples of the inverse of its factor. */
static void test_ids_collide(void **state)
{
    const uint64_t inverse = 0xf1de83e19937733d, count = 4 * INPUT_BYTES / 8;
    struct made_file file = {0};
    (void)state;
    assert_true(inverse * 0x9e3779b97f4a7c15 == 1);
    put_events(&file, 1, (struct perfile_section){HEADER_BYTES + ENTRY_BYTES + 8, count * 8});
    for (uint64_t i = 0; i < count; i++)
        put64(&file, ((i & 0x7fff) << 49 | i >> 15 << 34) * inverse);
    check_bounds(&file);
}

/* A record whose size is doubted may be full of offsets from which plausible records nearly reach its end. */
static void test_records_that_nearly_fit(void **state)
{
    const uint32_t size = INPUT_BYTES / 2;
    struct made_file file = {0};
    (void)state;
    put_events(&file, 1, (struct perfile_section){0, 0});
    size_t start = file.bytes;
    set64(&file, 48, 8 + size + 8);
    put32(&file, PERFILE_RECORD_SIMPLEPERF_DSO);
    put16(&file, (uint16_t)(size >> 16));
    put16(&file, (uint16_t)size);
    put64(&file, 0); /* type, id */
    put64(&file, 0);
    put(&file, "a\0\0\0\0\0\0", 8);
    for (unsigned i = 0; i < 3; i++)
        put64(&file, i < 2 ? 0 : UINT64_MAX);
    while (file.bytes < start + size - 8)
        put_record_header(&file, PERFILE_RECORD_FINISHED_ROUND, 0);
    put64(&file, UINT64_MAX);
    put_record_header(&file, PERFILE_RECORD_FINISHED_ROUND, 0);
    check_bounds(&file);
}

/* Each buffer of a hardware trace may have a number of its own: all were read at once, with 64 KiB each. */
static void test_traces_of_many_numbers(void **state)
{
    struct made_file file = {0};
    (void)state;
    put_trace_info(&file, PERFILE_AUXTRACE_ARM_SPE, 1);
    for (uint32_t number = 0; file.bytes < INPUT_BYTES; number++)
        put_trace(&file, number);
    set64(&file, 48, file.bytes - HEADER_BYTES - ENTRY_BYTES);
    check_bounds_of(&file, decode_trace);
}

/* Of several AUXTRACE_INFO records of no kind each was kept, and only the last one freed. */
static void test_trace_of_no_kind(void **state)
{
    struct made_file file = {0};
    (void)state;
    put_trace_info(&file, 0, 3);
    put_trace(&file, 0);
    set64(&file, 48, file.bytes - HEADER_BYTES - ENTRY_BYTES);
    check_bounds_of(&file, decode_trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream_of_attrs),
        cmocka_unit_test(test_stream_of_descriptions),
        cmocka_unit_test(test_events_share_their_ids),
        cmocka_unit_test(test_features_share_their_bytes),
        cmocka_unit_test(test_lines_name_all_events),
        cmocka_unit_test(test_ids_come_one_by_one),
        cmocka_unit_test(test_ids_collide),
        cmocka_unit_test(test_records_that_nearly_fit),
        cmocka_unit_test(test_traces_of_many_numbers),
        cmocka_unit_test(test_trace_of_no_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
