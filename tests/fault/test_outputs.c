/* SPDX-License-Identifier: MIT */
/*
 * Outputs whose sink fails at the Nth call, and outputs that run out of memory: they use malloc whatever the reader
 * does, so the library's realloc comes here first (-Wl,--wrap). Leaks are for LeakSanitizer to find.
 */
#include "fault.h"

#include <perfile/table.h>

#include <pthread.h>
#include <stdatomic.h>
#include <zlib.h>

static atomic_int left_to_succeed = -1;                   /* allocations; negative: all */
static atomic_ullong allocations, sizes, threads_started; /* how many, and how large in which order */
static unsigned threads, report_flags;
static bool with_code;
static const char *keys; /* of tables */
static int opened;
static const char *tracepoints; /* a recording of them */

void *__real_realloc(void *pointer, size_t bytes);
void *__wrap_realloc(void *pointer, size_t bytes);

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *context)
{
    threads_started++;
    return __real_pthread_create(thread, how, run, context);
}

void *__wrap_realloc(void *pointer, size_t bytes)
{
    int left = left_to_succeed;
    const unsigned long long number = atomic_fetch_add(&allocations, 1);
    atomic_fetch_add(&sizes, (2 * (unsigned long long)bytes + !pointer) * (2 * number + 1));
    while (left > 0 && !atomic_compare_exchange_weak(&left_to_succeed, &left, left - 1))
        ;
    if (left == 0)
        return NULL;
    return __real_realloc(pointer, bytes);
}

int malloc_trim(size_t kept);

/* What the library gives back it would ask for again, thousands of times. */
int malloc_trim(size_t kept)
{
    (void)kept;
    return 0;
}

struct sink {
    int left;  /* calls that succeed; negative: all */
    int after; /* calls after the one that failed */
    size_t bytes;
    bool has_sum;
    uLong sum;
};

static int sink_write(void *context, const void *data, size_t bytes)
{
    struct sink *sink = context;
    (void)data;
    sink->after += sink->left == 0;
    sink->left -= sink->left > 0;
    sink->bytes += bytes;
    if (sink->has_sum)
        sink->sum = crc32(crc32(sink->sum, (const Bytef *)&bytes, sizeof(bytes)), data, (uInt)bytes);
    return sink->left == 0;
}

/* Nothing of this machine takes part. */
static const struct perfile_symbol_options nothing = {
    .size = sizeof(nothing), .symfs = "/nonexistent", .kallsyms = "/dev/null"};

/* From number `*i` on; NULL at the end. A bundle needs a recording that has a path; its list does not. */
static const struct perfile_output_info *next_output(size_t *i)
{
    const struct perfile_output_info *info;
    do
        info = perfile_output_at((*i)++);
    while (info && strcmp(info->kind, "bundle") == 0 && strcmp(info->format, "text") != 0);
    return info;
}

/* What is counted from here on is what a write asks for. */
static void begin_to_fail(int left)
{
    allocations = sizes = threads_started = 0;
    left_to_succeed = left;
}

static int write_output(const uint8_t *data, size_t bytes, const struct perfile_output_info *info, struct sink *sink)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    struct perfile_script_options script = PERFILE_SCRIPT_OPTIONS_INIT;
    const struct perfile_sink out = {sink, sink_write};
    struct perfile_reader *reader;
    struct perfile_error error;
    const int left = left_to_succeed;
    left_to_succeed = -1;
    options.count = true;
    options.threads = threads;
    script.show = UINT32_MAX;
    options.script = &script;
    report.flags = report_flags;
    options.report = &report;
    options.symbols = &nothing;
    options.code = with_code;
    assert_int_equal(perfile_open_memory(data, bytes, NULL, &reader, &error), 0);
    begin_to_fail(left);
    int result = perfile_output_write(reader, info->kind, info->format, &options, &out, &error);
    left_to_succeed = -1;
    perfile_close(reader);
    return result;
}

/* A view with all its columns. How many allocations there are before its rows are asked for is kept in `opened`. */
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
    begin_to_fail(left);
    int result = perfile_table_open(reader, view, &options, &table, &error);
    opened = (int)allocations;
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
        assert_int_equal(sink.after, 0); /* a sink that failed is not called again */
    }
}

static void test_sink_fails_at_each_call(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        const struct perfile_output_info *info;
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        for (size_t i = 0; (info = next_output(&i));)
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

/* From so many allocations on, until there is enough of it. How many there are before rows are asked for. */
static int check_short_table(const uint8_t *data, size_t bytes, const char *view, const char *format, int first)
{
    struct sink right = {.left = -1};
    int result = PERFILE_ERROR_MEMORY;
    assert_true(write_table(data, bytes, view, format, &right) >= 0);
    const int before = opened;
    assert_true(first <= before);
    for (int left = first; result < 0; left++) {
        struct sink sink = {.left = -1};
        left_to_succeed = left;
        result = write_table(data, bytes, view, format, &sink);
        assert_true(result >= 0 || result == PERFILE_ERROR_MEMORY);
        if (result >= 0)
            assert_int_equal(sink.bytes, right.bytes);
    }
    return before;
}

static void test_tables_by_keys_of_views_with_short_memory(void **state)
{
    static const char *const cases[][2] = {{"stacks", "stack"}, {"frames", "function"}};
    size_t bytes;
    uint8_t *data = recording_load(recordings[0], &bytes);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        keys = cases[i][1];
        check_short_table(data, bytes, cases[i][0], "jsonl", 0);
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
        for (size_t i = 0; (info = perfile_view_at(i)); i++) {
            int before = 0; /* a view is opened without knowing its format: once is enough */
            /* what is beside the rows does not depend on the recording */
            for (size_t k = 0; (format = perfile_table_format_at(k, NULL)) && (path == recordings || !k); k++)
                before = check_short_table(data, bytes, info->name, format, before);
        }
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

static void check_short_output(const uint8_t *data, size_t bytes, const struct perfile_output_info *info)
{
    for (int left = 0;; left++) {
        struct sink sink = {.left = -1};
        left_to_succeed = left;
        int result = write_output(data, bytes, info, &sink);
        assert_true(result >= 0 || result == PERFILE_ERROR_MEMORY);
        if (result >= 0) {
            assert_true(left > 0);
            return;
        }
    }
}

/* What a write asks for, and all that comes of it. */
struct trace {
    unsigned long long allocations, sizes, threads, bytes, sum;
};

static struct trace trace_of(const uint8_t *data, size_t bytes, const struct perfile_output_info *info)
{
    struct sink sink = {.left = -1, .has_sum = true};
    const int result = write_output(data, bytes, info, &sink);
    assert_true(result >= 0 || result == PERFILE_ERROR_ARGUMENT);
    if (result < 0)
        return (struct trace){0};
    return (struct trace){allocations, sizes, threads_started, sink.bytes, sink.sum};
}

static void choose_threads(bool chosen)
{
    threads = chosen ? 3 : 0;
}

static void choose_hierarchies(bool chosen)
{
    report_flags = chosen ? PERFILE_REPORT_HIERARCHY : 0;
}

static void choose_code(bool chosen)
{
    with_code = chosen;
}

/*
 * An output that asks for the same and writes the same with an option as without it fails in the same way, too; some
 * refuse the option.
 */
static bool matters(void (*choose)(bool), const uint8_t *data, size_t bytes, const struct perfile_output_info *info)
{
    const struct trace without = trace_of(data, bytes, info);
    choose(true);
    const struct trace with = trace_of(data, bytes, info);
    choose(false);
    return with.allocations && memcmp(&with, &without, sizeof(with)) != 0;
}

/* With the option that `choose` chooses; how many outputs and recordings it matters to. */
static size_t check_short_memory(void (*choose)(bool))
{
    size_t count = 0;
    for (char **path = recordings; *path; path++) {
        const struct perfile_output_info *info;
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        for (size_t i = 0; (info = next_output(&i));) {
            if (choose && !matters(choose, data, bytes, info))
                continue;
            if (choose)
                choose(true);
            check_short_output(data, bytes, info);
            if (choose)
                choose(false);
            count++;
        }
        free(data);
    }
    return count;
}

static void test_outputs_with_short_memory(void **state)
{
    (void)state;
    check_short_memory(NULL);
}

static void test_threads_with_short_memory(void **state)
{
    (void)state;
    assert_true(check_short_memory(choose_threads) > 0);
}

static void test_hierarchies_with_short_memory(void **state)
{
    (void)state;
    assert_true(check_short_memory(choose_hierarchies) > 0);
}

static void test_code_in_pages_with_short_memory(void **state)
{
    (void)state;
    assert_true(check_short_memory(choose_code) > 0);
}

/*
 * Writes with an allocator of the output's own, which must provide and free all memory. `more`: two recordings. Returns
 * one more than the bytes that were written; 0: reported that it is out of memory; 1: the output takes one recording
 * only.
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
    const int result = perfile_output_write(reader, info->kind, info->format, &options, &out, &error);
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
    for (size_t i = 0; (info = next_output(&i));)
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
static void test_fields_owner_descriptions_are_too_large(void **state)
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

/* The text of a tracepoint is in the tracing data; nothing replaces it when that is larger than allowed. */
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
        cmocka_unit_test(test_code_in_pages_with_short_memory),
        cmocka_unit_test(test_sink_of_tables_fails_at_each_call),
        cmocka_unit_test(test_tables_with_short_memory),
        cmocka_unit_test(test_tables_by_keys_of_views_with_short_memory),
        cmocka_unit_test(test_batches_with_short_memory),
        cmocka_unit_test(test_fields_owner_descriptions_are_too_large),
        cmocka_unit_test(test_the_outputs_own_allocator),
        cmocka_unit_test(test_descriptions_that_are_too_large),
    };
    (void)count;
    tracepoints = arguments[1];
    recordings = arguments + 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
