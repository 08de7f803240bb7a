/* SPDX-License-Identifier: MIT */
/*
 * Outputs whose sink fails at the Nth call, and outputs that run out of memory: they use malloc whatever the reader
 * does, so the library's realloc comes here first (-Wl,--wrap). Leaks are for LeakSanitizer to find.
 */
#include "fault.h"

#include <perfile/table.h>

#include <stdatomic.h>

static atomic_int left_to_succeed = -1; /* allocations; negative: all */
static unsigned threads, report_flags;
static const char *keys;        /* of tables */
static const char *tracepoints; /* a recording of them */

void *__real_realloc(void *pointer, size_t bytes);
void *__wrap_realloc(void *pointer, size_t bytes);

void *__wrap_realloc(void *pointer, size_t bytes)
{
    int left = left_to_succeed;
    while (left > 0 && !atomic_compare_exchange_weak(&left_to_succeed, &left, left - 1))
        ;
    if (left == 0)
        return NULL;
    return __real_realloc(pointer, bytes);
}

struct sink {
    int left;  /* calls that succeed; negative: all */
    int after; /* calls after the one that failed */
    size_t bytes;
};

static int sink_write(void *context, const void *data, size_t bytes)
{
    struct sink *sink = context;
    (void)data;
    sink->after += sink->left == 0;
    sink->left -= sink->left > 0;
    sink->bytes += bytes;
    return sink->left == 0;
}

/* Nothing of this machine takes part. */
static const struct perfile_symbol_options nothing = {
    .size = sizeof(nothing), .symfs = "/nonexistent", .kallsyms = "/dev/null"};

/* A bundle needs a recording that has a path; its list does not. */
static const char *format_of(const struct perfile_output_info *info)
{
    return strcmp(info->kind, "bundle") == 0 ? "text" : info->format;
}

static int write_output(const uint8_t *data, size_t bytes, const struct perfile_output_info *info, struct sink *sink)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    const struct perfile_sink out = {sink, sink_write};
    struct perfile_reader *reader;
    struct perfile_error error;
    int left = left_to_succeed;
    left_to_succeed = -1;
    options.count = true;
    options.threads = threads;
    options.show = UINT32_MAX;
    report.flags = report_flags;
    options.report = &report;
    options.symbols = &nothing;
    assert_int_equal(perfile_open_memory(data, bytes, NULL, &reader, &error), 0);
    left_to_succeed = left;
    int result = perfile_output_write(reader, info->kind, format_of(info), &options, &out, &error);
    left_to_succeed = -1;
    perfile_close(reader);
    return result;
}

/* A view with all its columns. */
static int write_table(const uint8_t *data, size_t bytes, const char *view, const char *format, struct sink *sink)
{
    const struct perfile_symbol_options symbols = {
        .size = sizeof(symbols), .symfs = "/nonexistent", .kallsyms = "/dev/null"};
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    const struct perfile_sink out = {sink, sink_write};
    struct perfile_reader *reader;
    struct perfile_table *table;
    struct perfile_error error;
    int left = left_to_succeed;
    left_to_succeed = -1;
    options.symbols = &symbols;
    options.columns = "all";
    options.keys = keys;
    assert_int_equal(perfile_open_memory(data, bytes, NULL, &reader, &error), 0);
    left_to_succeed = left;
    int result = perfile_table_open(reader, view, &options, &table, &error);
    if (result == 0)
        result = perfile_table_write(table, format, &out, &error);
    left_to_succeed = -1;
    perfile_table_close(table);
    perfile_close(reader);
    return result;
}

/* The same as batches; how many rows, or an error. */
static int take_table(const uint8_t *data, size_t bytes, const char *view, int left)
{
    const struct perfile_symbol_options symbols = {
        .size = sizeof(symbols), .symfs = "/nonexistent", .kallsyms = "/dev/null"};
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_table *table;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    struct counting memory;
    int rows = 0;
    counting_open(&memory, left);
    options.allocator = &memory.allocator;
    options.symbols = &symbols;
    options.columns = "all";
    options.batch_rows = 5;
    assert_int_equal(perfile_open_memory(data, bytes, NULL, &reader, NULL), 0);
    int result = perfile_table_open(reader, view, &options, &table, NULL);
    if (result == 0)
        result = perfile_table_schema(table, &schema, NULL);
    if (result == 0)
        schema.release(&schema);
    while (result >= 0 && (result = perfile_table_next(table, &batch, NULL)) > 0) {
        rows += (int)batch.length;
        batch.release(&batch);
    }
    perfile_table_close(table);
    perfile_close(reader);
    counting_close(&memory);
    return result < 0 ? result : rows;
}

static void check_sink(const uint8_t *data, size_t bytes, const struct perfile_output_info *info)
{
    for (int left = 1;; left++) {
        struct sink sink = {.left = left};
        int result = write_output(data, bytes, info, &sink);
        if (sink.left > 0) {
            assert_true(result >= 0);
            return;
        }
        assert_int_equal(result, PERFILE_ERROR_WRITE);
        assert_int_equal(sink.after, 0); /* who has said no is not asked again */
    }
}

static void test_sink_fails_at_each_call(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        const struct perfile_output_info *info;
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        for (size_t i = 0; (info = perfile_output_at(i)); i++)
            check_sink(data, bytes, info);
        free(data);
    }
}

static void test_sink_of_tables_fails_at_each_call(void **state)
{
    const struct perfile_view_info *info;
    const char *format;
    size_t bytes;
    uint8_t *data = recording_load(recordings[0], &bytes);
    (void)state;
    for (size_t i = 0; (info = perfile_view_at(i)); i++)
        for (size_t k = 0; (format = perfile_table_format_at(k, NULL)); k++)
            for (int left = 1;; left++) {
                struct sink sink = {.left = left};
                int result = write_table(data, bytes, info->name, format, &sink);
                if (sink.left > 0) {
                    assert_true(result >= 0);
                    break;
                }
                assert_int_equal(result, PERFILE_ERROR_WRITE);
                assert_int_equal(sink.after, 0);
            }
    free(data);
}

/* Until there is enough of it. */
static void check_short_table(const uint8_t *data, size_t bytes, const char *view, const char *format)
{
    struct sink right = {.left = -1};
    int result = PERFILE_ERROR_MEMORY;
    assert_true(write_table(data, bytes, view, format, &right) >= 0);
    for (int left = 0; result < 0; left++) {
        struct sink sink = {.left = -1};
        left_to_succeed = left;
        result = write_table(data, bytes, view, format, &sink);
        assert_true(result >= 0 || result == PERFILE_ERROR_MEMORY);
        if (result >= 0)
            assert_int_equal(sink.bytes, right.bytes);
    }
}

static void test_tables_by_keys_of_views_with_short_memory(void **state)
{
    static const char *const cases[][2] = {{"stacks", "stack"}, {"frames", "function"}};
    size_t bytes;
    uint8_t *data = recording_load(recordings[0], &bytes);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        keys = cases[i][1];
        check_short_table(data, bytes, cases[i][0], "jsonl");
    }
    keys = NULL;
    free(data);
}

static void test_tables_with_short_memory(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        const struct perfile_view_info *info;
        const char *format;
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        for (size_t i = 0; (info = perfile_view_at(i)); i++)
            /* what is beside the rows does not depend on the recording */
            for (size_t k = 0; (format = perfile_table_format_at(k, NULL)) && (path == recordings || !k); k++)
                check_short_table(data, bytes, info->name, format);
        free(data);
    }
}

/* The table's own allocator: all comes from it, all goes back. */
static void test_batches_with_short_memory(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        const struct perfile_view_info *info;
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        for (size_t i = 0; (info = perfile_view_at(i)); i++) {
            const int right = take_table(data, bytes, info->name, -1);
            int rows = PERFILE_ERROR_MEMORY;
            assert_true(right >= 0);
            for (int left = 0; rows < 0; left++) {
                rows = take_table(data, bytes, info->name, left);
                assert_true(rows == PERFILE_ERROR_MEMORY || rows == right);
            }
        }
        free(data);
    }
}

static void check_short_memory(void)
{
    for (char **path = recordings; *path; path++) {
        const struct perfile_output_info *info;
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        for (size_t i = 0; (info = perfile_output_at(i)); i++) {
            for (int left = 0;; left++) {
                struct sink sink = {.left = -1};
                left_to_succeed = left;
                int result = write_output(data, bytes, info, &sink);
                assert_true(result >= 0 || result == PERFILE_ERROR_MEMORY);
                if (result >= 0) {
                    assert_true(left > 0);
                    break;
                }
            }
        }
        free(data);
    }
}

static void test_outputs_with_short_memory(void **state)
{
    (void)state;
    check_short_memory();
}

static void test_threads_with_short_memory(void **state)
{
    (void)state;
    threads = 3;
    check_short_memory();
    threads = 0;
}

static void test_hierarchies_with_short_memory(void **state)
{
    (void)state;
    report_flags = PERFILE_REPORT_HIERARCHY;
    check_short_memory();
    report_flags = 0;
}

/*
 * The output's own allocator: all comes from it, all goes back. `more`: of several recordings. How much was written and one, 0: out
 * of memory, and it said so; 1: it takes no more than one.
 */
static size_t write_with(const uint8_t *data, size_t bytes, const struct perfile_output_info *info, int left, bool more)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct sink sink = {.left = -1};
    const struct perfile_sink out = {&sink, sink_write};
    struct counting memory;
    struct perfile_reader *reader, *second;
    struct perfile_error error;
    counting_open(&memory, left);
    options.allocator = &memory.allocator;
    options.symbols = &nothing;
    assert_int_equal(perfile_open_memory(data, bytes, NULL, &reader, &error), 0);
    assert_int_equal(perfile_open_memory(data, bytes, NULL, &second, &error), 0);
    options.more = &second;
    options.more_count = more;
    const int result = perfile_output_write(reader, info->kind, format_of(info), &options, &out, &error);
    perfile_close(reader);
    perfile_close(second);
    counting_close(&memory);
    if (more && result == PERFILE_ERROR_ARGUMENT)
        return 1;
    assert_true(result >= 0 || (result == PERFILE_ERROR_MEMORY && memory.left == 0));
    return result >= 0 ? sink.bytes + 1 : 0;
}

static void test_the_outputs_own_allocator(void **state)
{
    const struct perfile_output_info *info;
    size_t bytes;
    uint8_t *data = recording_load(recordings[0], &bytes);
    (void)state;
    for (size_t i = 0; (info = perfile_output_at(i)); i++)
        for (int more = 0; more < 2; more++) {
            const size_t right = write_with(data, bytes, info, -1, more);
            size_t written = 0;
            for (int left = 0; !written; left++)
                written = write_with(data, bytes, info, left, more);
            assert_int_equal(written, right);
        }
    free(data);
}

/* They are an error where nothing else would say so; a dump says it where they stand, and shows the data as it is. */
static void test_fields_whose_descriptions_are_too_large(void **state)
{
    struct perfile_open_options how = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_output_options print = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_table *table;
    struct ArrowArray batch;
    struct sink sink = {.left = -1};
    const struct perfile_sink out = {&sink, sink_write};
    (void)state;
    how.limit_feature_bytes = 1000;
    assert_int_equal(perfile_open_path(tracepoints, &how, &reader, NULL), 0);
    assert_int_equal(perfile_output_write(reader, "dump", "json", &print, &out, NULL), 0);
    perfile_close(reader);
    assert_int_equal(perfile_open_path(tracepoints, &how, &reader, NULL), 0);
    assert_int_equal(perfile_table_open(reader, "records", NULL, &table, NULL), 0);
    assert_int_equal(perfile_table_next(table, &batch, NULL), 1); /* those before the first sample */
    batch.release(&batch);
    assert_int_equal(perfile_table_next(table, &batch, NULL), PERFILE_ERROR_LIMIT);
    perfile_table_close(table);
    perfile_close(reader);
}

/* The text of a tracepoint is in the tracing data, and nothing else takes its place when that is larger than allowed. */
static void test_descriptions_that_are_too_large(void **state)
{
    static const char *const kinds[] = {"report", "script"};
    struct perfile_open_options how = PERFILE_OPEN_OPTIONS_INIT;
    (void)state;
    how.limit_feature_bytes = 1000;
    for (size_t i = 0; i < 2; i++) {
        struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
        struct sink sink = {.left = -1};
        const struct perfile_sink out = {&sink, sink_write};
        struct perfile_reader *reader;
        struct perfile_error error;
        assert_int_equal(perfile_open_path(tracepoints, &how, &reader, &error), 0);
        assert_int_equal(perfile_output_write(reader, kinds[i], NULL, &options, &out, &error), PERFILE_ERROR_LIMIT);
        perfile_close(reader);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sink_fails_at_each_call),
        cmocka_unit_test(test_outputs_with_short_memory),
        cmocka_unit_test(test_threads_with_short_memory),
        cmocka_unit_test(test_hierarchies_with_short_memory),
        cmocka_unit_test(test_sink_of_tables_fails_at_each_call),
        cmocka_unit_test(test_tables_with_short_memory),
        cmocka_unit_test(test_tables_by_keys_of_views_with_short_memory),
        cmocka_unit_test(test_batches_with_short_memory),
        cmocka_unit_test(test_fields_whose_descriptions_are_too_large),
        cmocka_unit_test(test_the_outputs_own_allocator),
        cmocka_unit_test(test_descriptions_that_are_too_large),
    };
    (void)count;
    tracepoints = arguments[1];
    recordings = arguments + 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
