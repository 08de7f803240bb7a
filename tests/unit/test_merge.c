/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <perfile/edit.h>

#include "counting.h"

/* ---- recordings in memory ---- */

struct memory {
    uint8_t *data;
    size_t bytes;
};

static const struct perfile_writer_options stream = {.size = sizeof(stream), .mode = PERFILE_MODE_PIPE};

static int store(void *context, const void *data, size_t bytes)
{
    struct memory *memory = context;
    memory->data = realloc(memory->data, memory->bytes + bytes);
    assert_non_null(memory->data);
    memcpy(memory->data + memory->bytes, data, bytes);
    memory->bytes += bytes;
    return 0;
}

struct maker {
    struct memory memory;
    struct perfile_writer *writer;
    struct perfile_event_spec event;
    struct perfile_attr attr;
};

enum { TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

static void start(struct maker *maker)
{
    const struct perfile_sink sink = {&maker->memory, store};
    *maker = (struct maker){
        .event = {.size = sizeof(maker->event), .attr = &maker->attr, .attr_bytes = sizeof(maker->attr)}};
    maker->attr.type = 1;
    maker->attr.sample_id_all = true;
    assert_int_equal(perfile_writer_open_sink(&sink, &stream, &maker->writer, NULL), 0);
}

/* Before the first feature. */
static void event(struct maker *maker, uint64_t config, uint64_t sample_type, uint64_t id)
{
    maker->attr.config = config;
    maker->attr.sample_type = sample_type;
    maker->event.ids = &id;
    maker->event.id_count = id != 0;
    assert_int_equal(perfile_writer_add_event(maker->writer, &maker->event, NULL, NULL), 0);
}

/* A recording with this event. */
static void start_with(struct maker *maker, uint64_t config, uint64_t sample_type, uint64_t id)
{
    start(maker);
    event(maker, config, sample_type, id);
}

static void host(struct maker *maker, const char *name)
{
    assert_int_equal(perfile_writer_feature_text(maker->writer, PERFILE_FEATURE_HOSTNAME, name, NULL), 0);
}

static void words(struct maker *maker, uint32_t feature, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t body[] = {a, b, c};
    const size_t bytes = feature == PERFILE_FEATURE_CLOCK_DATA ? 24 : 16;
    assert_int_equal(perfile_writer_feature(maker->writer, feature, body, bytes, NULL), 0);
}

static void sample(struct maker *maker, uint32_t index, uint64_t id, uint64_t time, int32_t pid)
{
    struct perfile_sample made = PERFILE_SAMPLE_INIT;
    made.identifier = made.id = id;
    made.time = time;
    made.pid = made.tid = pid;
    assert_int_equal(perfile_writer_sample(maker->writer, index, 2, &made, NULL), 0);
}

static void comm(struct maker *maker, int32_t pid, const char *name, uint64_t id, uint64_t time)
{
    const struct perfile_comm made = {.pid = pid, .tid = pid, .comm = name};
    const struct perfile_sample_id trailer = {
        .size = sizeof(trailer), .pid = pid, .tid = pid, .time = time, .id = id, .identifier = id};
    assert_int_equal(perfile_writer_record(maker->writer, PERFILE_RECORD_COMM, 0, &made, sizeof(made), &trailer, NULL),
                     0);
}

static struct perfile_reader *read_back(struct maker *maker)
{
    struct perfile_reader *reader;
    struct perfile_error error;
    if (maker->writer)
        assert_int_equal(perfile_writer_finish(maker->writer, NULL), 0);
    perfile_writer_close(maker->writer);
    maker->writer = NULL;
    if (perfile_open_memory(maker->memory.data, maker->memory.bytes, NULL, &reader, &error) < 0)
        fail_msg("%s", error.message);
    return reader;
}

/* ---- merging, and the result as text ---- */

enum { INPUTS = 150 }; /* more than are merged without a temporary file */

struct result {
    struct memory memory;
    struct perfile_merge_report report;
    uint64_t dropped[INPUTS], damaged[INPUTS]; /* records of the inputs */
    char text[65536];
    char notes[1024];
    uint64_t last_id; /* of the last sample */
    struct perfile_error error;
};

static void take_note(void *context, const struct perfile_merge_note *note)
{
    struct result *result = context;
    size_t used = strlen(result->notes);
    snprintf(result->notes + used, sizeof(result->notes) - used, "%zu:%s ", note->input, note->rule);
}

/* Samples as "CONFIG/PID@TIME ", COMM as "'NAME'/PID@TIME "; other records are left out. */
static uint64_t report_notes(struct perfile_reader *reader, char *text, size_t capacity)
{
    const struct perfile_record *record;
    struct perfile_sample decoded = PERFILE_SAMPLE_INIT;
    struct perfile_comm name;
    int got;
    while ((got = perfile_reader_next(reader, &record, NULL)) > 0) {
        size_t used = strlen(text);
        assert_false(record->damaged);
        if (record->type == PERFILE_RECORD_SAMPLE) {
            assert_int_equal(perfile_sample_decode(record, &decoded, NULL), 0);
            snprintf(text + used, capacity - used, "%d/%d@%d ", (int)record->event->attr->config, decoded.pid,
                     (int)decoded.time);
        } else if (record->type == PERFILE_RECORD_COMM) {
            assert_int_equal(perfile_record_decode(reader, record, &name, sizeof(name), NULL), 0);
            snprintf(text + used, capacity - used, "'%s'/%d@%d ", name.comm, name.pid, (int)record->time);
        }
    }
    assert_int_equal(got, 0);
    return decoded.identifier;
}

/* `makers` are read, merged and freed. The output stays in result->memory. */
static int merge(struct maker *makers, size_t count, struct perfile_merge_options *options, struct result *result)
{
    struct perfile_merge_options usual = PERFILE_MERGE_OPTIONS_INIT;
    const struct perfile_sink sink = {&result->memory, store};
    struct perfile_reader *readers[INPUTS], *reader;
    struct perfile_writer *writer;
    *result = (struct result){.report = PERFILE_MERGE_REPORT_INIT};
    options = options ? options : &usual;
    for (size_t i = 0; i < count; i++)
        readers[i] = read_back(&makers[i]);
    options->readers = readers;
    options->reader_count = count;
    options->note = take_note;
    options->note_context = result;
    assert_int_equal(perfile_writer_open_sink(&sink, &stream, &writer, NULL), 0);
    int code = perfile_merge(writer, options, &result->report, &result->error);
    for (size_t i = 0; i < count && code == 0; i++) {
        result->dropped[i] = result->report.inputs[i]->records_dropped;
        result->damaged[i] = result->report.inputs[i]->records_damaged;
    }
    if (code == 0)
        code = perfile_writer_finish(writer, &result->error);
    perfile_writer_close(writer);
    for (size_t i = 0; i < count; i++) {
        perfile_close(readers[i]);
        free(makers[i].memory.data);
    }
    if (code == 0) {
        assert_int_equal(perfile_open_memory(result->memory.data, result->memory.bytes, NULL, &reader, NULL), 0);
        result->last_id = report_notes(reader, result->text, sizeof(result->text));
        perfile_close(reader);
    }
    return code;
}

static void expect(struct maker *makers, size_t count, struct perfile_merge_options *options, const char *wanted,
                   struct result *result)
{
    if (merge(makers, count, options, result) < 0)
        fail_msg("%s", result->error.message);
    assert_string_equal(result->text, wanted);
    free(result->memory.data);
}

/* ---- events and ids ---- */

static void test_order_of_time(void **state)
{
    (void)state;
    struct maker makers[2];
    struct result result;
    for (size_t i = 0; i < 2; i++) {
        start_with(&makers[i], 3, TYPE, 7 + i);
        for (size_t j = 0; j < 3; j++)
            sample(&makers[i], 0, 7 + i, 100 * j + 10 * i + 1, (int32_t)i + 5);
    }
    expect(makers, 2, NULL, "3/5@1 3/6@11 3/5@101 3/6@111 3/5@201 3/6@211 ", &result);
    assert_int_equal(result.report.events, 1);
    assert_int_equal(result.report.events_unified, 1);
    assert_int_equal(result.report.ids_renumbered, 0);
    assert_string_equal(result.notes, "");
}

/* Times that are equal come in the order of the inputs; some end early, and some have nothing at all. */
static void test_many_inputs(void **state)
{
    enum { TIMES = 25 };
    (void)state;
    struct maker makers[INPUTS];
    struct result result;
    static char wanted[65536];
    size_t used = 0;
    for (size_t i = 0; i < INPUTS; i++) {
        start_with(&makers[i], 1, TYPE, 7);
        host(&makers[i], (const char[]){'a' + (char)(i / 26), 'a' + (char)(i % 26), 0});
        for (size_t time = 1; time < i % TIMES; time++)
            if ((time * 7 + i * 5) % 3)
                sample(&makers[i], 0, 7, time, 100 + (int32_t)i);
    }
    for (size_t time = 1; time < TIMES; time++)
        for (size_t i = 0; i < INPUTS; i++)
            if (time < i % TIMES && (time * 7 + i * 5) % 3)
                used += (size_t)snprintf(wanted + used, sizeof(wanted) - used, "1/%zu@%zu ", 100 + i, time);
    assert_true(used > 2000 && used < sizeof(wanted) - 1);
    expect(makers, INPUTS, NULL, wanted, &result);
}

static void test_ids_collide(void **state)
{
    (void)state;
    struct maker makers[2];
    struct result result;
    for (size_t i = 0; i < 2; i++) {
        start_with(&makers[i], 1 + 2 * i, TYPE, 7);
        event(&makers[i], 2 + 2 * i, TYPE, 8);
        sample(&makers[i], 0, 7, 1 + i, 5);
        sample(&makers[i], 1, 8, 3 + i, 5);
        comm(&makers[i], 5, "x", 8, 5 + i);
    }
    expect(makers, 2, NULL, "1/5@1 3/5@2 2/5@3 4/5@4 'x'/5@5 'x'/5@6 ", &result);
    assert_int_equal(result.report.events, 4);
    assert_int_equal(result.report.ids_renumbered, 2);
    assert_false(result.report.reshaped);
}

/* One event has no id at all, one has it after other parts, one has it first. */
static void test_other_positions_of_the_id(void **state)
{
    (void)state;
    static const uint64_t types[] = {PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME,
                                     PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ID, TYPE};
    struct maker makers[3];
    struct result result;
    for (size_t i = 0; i < 3; i++) {
        start_with(&makers[i], 1 + i, types[i], i ? 7 : 0);
        sample(&makers[i], 0, 7, 1 + i, 5);
        comm(&makers[i], 5, "x", 7, 11 + i);
    }
    expect(makers, 3, NULL, "1/5@1 2/5@2 3/5@3 'x'/5@11 'x'/5@12 'x'/5@13 ", &result);
    assert_true(result.report.reshaped);
    assert_string_equal(result.notes, "0:events-reshaped ");
}

/* The added part for the id repeats the id that another part has. */
static void test_ids_of_instances(void **state)
{
    (void)state;
    static const uint64_t ids[] = {7, 9};
    struct maker makers[2];
    struct result result;
    start_with(&makers[0], 1, PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, 0);
    sample(&makers[0], 0, 0, 1, 5);
    start(&makers[1]);
    makers[1].attr.config = 2;
    makers[1].attr.sample_type = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ID;
    makers[1].event.ids = ids;
    makers[1].event.id_count = 2;
    assert_int_equal(perfile_writer_add_event(makers[1].writer, &makers[1].event, NULL, NULL), 0);
    sample(&makers[1], 0, 9, 2, 5);
    expect(makers, 2, NULL, "1/5@1 2/5@2 ", &result);
    assert_int_equal(result.last_id, 9);
}

/* An id that no event of its recording has must not become that of another one. */
static void test_stray_ids(void **state)
{
    (void)state;
    struct maker makers[2];
    struct result result;
    for (size_t i = 0; i < 2; i++) {
        start_with(&makers[i], 1 + 2 * i, TYPE, 7 + 14 * i);
        event(&makers[i], 2 + 2 * i, TYPE, 8 + 14 * i);
        sample(&makers[i], 0, 21, 1 + i, 5);
    }
    expect(makers, 2, NULL, "3/5@2 ", &result);
    assert_int_equal(result.damaged[0], 1);
}

static void test_counters_get_ids_of_their_own(void **state)
{
    (void)state;
    struct maker makers[2];
    struct result result;
    for (size_t i = 0; i < 2; i++) {
        const uint64_t values[] = {10 * (i + 1), 7};
        struct perfile_sample made = PERFILE_SAMPLE_INIT;
        start(&makers[i]);
        makers[i].attr.read_format = 4;
        event(&makers[i], 1, TYPE | PERFILE_SAMPLE_READ, 7);
        host(&makers[i], i ? "one" : "two");
        made.identifier = 7;
        made.time = i + 1;
        made.read = (struct perfile_read){
            .format = 4, .count = 1, .stride = 16, .values = (const uint8_t *)(const void *)values};
        assert_int_equal(perfile_writer_sample(makers[i].writer, 0, 2, &made, NULL), 0);
    }
    expect(makers, 2, NULL, "1/0@1 1/0@2 ", &result);
    assert_int_equal(result.report.events, 1);
    assert_int_equal(result.report.ids_renumbered, 1);
}

/* ---- hosts and times ---- */

static void make_hosts(struct maker makers[2], bool clocks)
{
    for (size_t i = 0; i < 2; i++) {
        start_with(&makers[i], 1, TYPE, 7);
        host(&makers[i], i ? "web" : "db");
        if (clocks) /* the second machine was started 500 ns before the first, by the wall clock */
            words(&makers[i], PERFILE_FEATURE_CLOCK_DATA, 1ull << 32 | 1, i ? 1000000 : 1000600, 100);
        comm(&makers[i], 5, "nginx", 7, 10);
        sample(&makers[i], 0, 7, 20, 5);
        sample(&makers[i], 0, 7, 21, 0);
    }
}

static void test_clocks(void **state)
{
    (void)state;
    struct perfile_merge_options keep = PERFILE_MERGE_OPTIONS_INIT, align = PERFILE_MERGE_OPTIONS_INIT;
    struct maker makers[2];
    struct result result;
    make_hosts(makers, true);
    expect(makers, 2, NULL, "'nginx'/5@10 1/5@20 1/0@21 'nginx'/5@610 1/5@620 1/0@621 ", &result);
    assert_true(result.report.clocks_aligned);
    assert_string_equal(result.notes, "1:feature-differs 0:clock-aligned 1:other-host ");
    make_hosts(makers, true);
    keep.clock = PERFILE_MERGE_CLOCK_KEEP;
    expect(makers, 2, &keep, "'nginx'/5@10 'nginx'/5@10 1/5@20 1/5@20 1/0@21 1/0@21 ", &result);
    make_hosts(makers, false);
    align.clock = PERFILE_MERGE_CLOCK_ALIGN;
    assert_int_equal(merge(makers, 2, &align, &result), PERFILE_ERROR_ABSENT);
    free(result.memory.data);
}

static void test_separate_hosts(void **state)
{
    (void)state;
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct maker makers[2];
    struct result result;
    make_hosts(makers, false);
    options.separate_hosts = true;
    expect(makers, 2, &options, "'db:nginx'/5@10 'web:nginx'/4194309@10 1/5@20 1/4194309@20 1/0@21 1/0@21 ", &result);
}

/* What a recorder found at its start is true then, not while another one ran before. */
static void test_one_after_the_other(void **state)
{
    (void)state;
    struct maker makers[2];
    struct result result;
    for (size_t i = 0; i < 2; i++) {
        start_with(&makers[i], 1, TYPE, 7);
        host(&makers[i], "same");
        words(&makers[i], PERFILE_FEATURE_SAMPLE_TIME, i ? 20 : 120, i ? 30 : 130, 0);
        if (i) /* parts of one recording have the same host, events and command */
            words(&makers[i], PERFILE_FEATURE_CMDLINE, 0, 0, 0);
        comm(&makers[i], 5, i ? "early" : "late", 0, 0);
        sample(&makers[i], 0, 7, i ? 20 : 120, 5);
        sample(&makers[i], 0, 7, i ? 30 : 130, 5);
    }
    expect(makers, 2, NULL, "'early'/5@0 1/5@20 1/5@30 'late'/5@0 1/5@120 1/5@130 ", &result);
}

/* ---- parts of one recording ---- */

static void test_parts(void **state)
{
    (void)state;
    struct maker makers[2];
    struct result result;
    for (size_t i = 0; i < 2; i++) {
        start_with(&makers[i], 1, TYPE, 7);
        comm(&makers[i], 5, "zero", 0, 0);
        comm(&makers[i], 5, "twice", 7, 10);
        comm(&makers[i], 5, "twice", 7, 10);
        if (i)
            comm(&makers[i], 5, "twice", 7, 10);
        sample(&makers[i], 0, 7, 20, 5);
    }
    expect(makers, 2, NULL, "'zero'/5@0 'twice'/5@10 'twice'/5@10 'twice'/5@10 1/5@20 1/5@20 ", &result);
    assert_int_equal(result.report.records_unified, 3);
    assert_int_equal(result.dropped[1], 3);
}

static void test_aux_data_of_two(void **state)
{
    (void)state;
    struct maker makers[2];
    struct result result;
    for (size_t i = 0; i < 2; i++) {
        const struct perfile_auxtrace_info info = {.auxtrace_type = 1};
        start_with(&makers[i], 1 + i, TYPE, 7);
        assert_int_equal(
            perfile_writer_record(makers[i].writer, PERFILE_RECORD_AUXTRACE_INFO, 0, &info, sizeof(info), NULL, NULL),
            0);
    }
    assert_int_equal(merge(makers, 2, NULL, &result), PERFILE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(result.error.message, "AUX data"));
    free(result.memory.data);
}

/* ---- memory ---- */

static int merge_with(struct counting *counting, struct maker makers[2])
{
    struct perfile_open_options open = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_writer_options made = stream;
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct perfile_reader *readers[2] = {NULL, NULL};
    struct perfile_writer *writer = NULL;
    struct memory memory = {NULL, 0};
    const struct perfile_sink sink = {&memory, store};
    int result = 0;
    open.allocator = made.allocator = &counting->allocator;
    for (size_t i = 0; i < 2 && result == 0; i++)
        result = perfile_open_memory(makers[i].memory.data, makers[i].memory.bytes, &open, &readers[i], NULL);
    options.readers = readers;
    options.reader_count = 2;
    if (result == 0)
        result = perfile_writer_open_sink(&sink, &made, &writer, NULL);
    if (result == 0)
        result = perfile_merge(writer, &options, NULL, NULL);
    if (result == 0)
        result = perfile_writer_finish(writer, NULL);
    perfile_writer_close(writer);
    perfile_close(readers[0]);
    perfile_close(readers[1]);
    free(memory.data);
    return result;
}

static void test_memory_is_short(void **state)
{
    (void)state;
    struct maker makers[2];
    struct counting counting;
    int result = PERFILE_ERROR_MEMORY, left = 0;
    make_hosts(makers, true);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(perfile_writer_finish(makers[i].writer, NULL), 0);
        perfile_writer_close(makers[i].writer);
    }
    for (; result != 0; left++) {
        counting_open(&counting, left);
        result = merge_with(&counting, makers);
        assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
        counting_close(&counting);
        assert_true(left < 10000);
    }
    assert_true(left > 20);
    free(makers[0].memory.data);
    free(makers[1].memory.data);
}

static void test_arguments(void **state)
{
    (void)state;
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct memory memory = {NULL, 0};
    const struct perfile_sink sink = {&memory, store};
    struct perfile_writer *writer;
    assert_int_equal(perfile_writer_open_sink(&sink, &stream, &writer, NULL), 0);
    assert_int_equal(perfile_merge(writer, &options, NULL, NULL), PERFILE_ERROR_ARGUMENT);
    perfile_writer_close(writer);
    free(memory.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_time),
        cmocka_unit_test(test_many_inputs),
        cmocka_unit_test(test_ids_collide),
        cmocka_unit_test(test_other_positions_of_the_id),
        cmocka_unit_test(test_counters_get_ids_of_their_own),
        cmocka_unit_test(test_ids_of_instances),
        cmocka_unit_test(test_stray_ids),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_separate_hosts),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_aux_data_of_two),
        cmocka_unit_test(test_memory_is_short),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
