/* SPDX-License-Identifier: MIT */
/* Recordings that come from callbacks of the caller, and callbacks that fail, or say what is not true. */
#include "fault.h"

enum how { AS_IT_IS, SHORT, FAIL, END, TOO_MUCH, BAD_SEEK };

struct input {
    const uint8_t *data;
    size_t bytes, at;
    int64_t stated; /* the size that `bytes` says */
    enum how how;
    int left; /* calls until it happens */
    int calls;
};

static int64_t input_read(void *context, void *to, size_t bytes)
{
    struct input *input = context;
    const int call = input->calls++;
    assert_true(bytes > 0);
    if (input->how >= FAIL && input->how <= TOO_MUCH && call >= input->left)
        return input->how == FAIL ? -5 : input->how == END ? 0 : (int64_t)bytes + 1;
    if (bytes > input->bytes - input->at)
        bytes = input->bytes - input->at;
    if (input->how == SHORT && bytes > 1)
        bytes = 1 + (size_t)call * 7919 % (bytes < 4096 ? bytes : 4096);
    memcpy(to, input->data + input->at, bytes);
    input->at += bytes;
    return (int64_t)bytes;
}

static int input_seek(void *context, uint64_t offset)
{
    struct input *input = context;
    const int call = input->calls++;
    if (input->how == BAD_SEEK && call >= input->left)
        return 1;
    input->at = offset < input->bytes ? (size_t)offset : input->bytes;
    return 0;
}

static int64_t input_bytes(void *context)
{
    return ((const struct input *)context)->stated;
}

static struct perfile_source source_of(struct input *input, bool stream)
{
    return (struct perfile_source){.size = sizeof(struct perfile_source),
                                   .context = input,
                                   .read = input_read,
                                   .seek = stream ? NULL : input_seek,
                                   .bytes = stream ? NULL : input_bytes};
}

struct outcome {
    int failure;
    int calls;
    struct perfile_counts counts;
};

static void finish(struct perfile_reader *reader, struct outcome *outcome)
{
    outcome->failure = read_all(reader);
    outcome->counts = *perfile_reader_counts(reader);
    perfile_close(reader);
}

static struct outcome read_so(struct input input, bool stream)
{
    struct counting memory;
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    struct outcome outcome = {0};
    const struct perfile_source source = source_of(&input, stream);
    counting_open(&memory, -1);
    options.allocator = &memory.allocator;
    outcome.failure = perfile_open_source(&source, &options, &reader, &error);
    if (outcome.failure == 0)
        finish(reader, &outcome);
    outcome.calls = input.calls;
    counting_close(&memory);
    return outcome;
}

static struct outcome read_plainly(const uint8_t *data, size_t bytes)
{
    struct perfile_reader *reader;
    struct outcome outcome = {0};
    assert_int_equal(perfile_open_memory(data, bytes, NULL, &reader, NULL), 0);
    finish(reader, &outcome);
    assert_int_equal(outcome.failure, 0);
    assert_true(outcome.counts.records > 0);
    return outcome;
}

static struct input load(const char *path)
{
    struct input input = {.how = AS_IT_IS};
    input.data = recording_load(path, &input.bytes);
    input.stated = (int64_t)input.bytes;
    return input;
}

static void check_alike(struct input input, bool stream)
{
    const struct outcome plain = read_plainly(input.data, input.bytes), other = read_so(input, stream);
    assert_int_equal(other.failure, 0);
    assert_memory_equal(&plain.counts, &other.counts, sizeof(plain.counts));
}

static void test_callbacks_give_what_memory_gives(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct input input = load(*path);
        for (int stream = 0; stream < 2; stream++) {
            input.how = AS_IT_IS;
            check_alike(input, stream);
            input.how = SHORT;
            check_alike(input, stream);
        }
        free((void *)input.data);
    }
}

/*
 * Each call in turn fails, and all after it: the result is an error, never a crash, a hang, or half of a recording
 * without an error.
 */
static void check_each(struct input input, bool stream, int expected)
{
    for (input.left = 0;; input.left++) {
        const struct outcome outcome = read_so(input, stream);
        if (outcome.calls <= input.left)
            break;
        assert_int_equal(outcome.failure, expected);
    }
}

static void test_each_call_fails(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct input input = load(*path);
        for (int stream = 0; stream < 2; stream++) {
            input.how = FAIL;
            check_each(input, stream, PERFILE_ERROR_READ);
            input.how = TOO_MUCH;
            check_each(input, stream, PERFILE_ERROR_READ);
        }
        input.how = BAD_SEEK;
        input.left = 0;
        assert_int_equal(read_so(input, false).failure, PERFILE_ERROR_READ);
        free((void *)input.data);
    }
}

static void test_the_input_ends_at_each_call(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct input input = load(*path);
        const uint64_t max = read_plainly(input.data, input.bytes).counts.records;
        input.how = END;
        for (int stream = 0; stream < 2; stream++)
            for (input.left = 0;; input.left++) {
                const struct outcome outcome = read_so(input, stream);
                if (outcome.calls <= input.left)
                    break;
                assert_true(outcome.failure != PERFILE_ERROR_MEMORY && outcome.counts.records <= max);
            }
        free((void *)input.data);
    }
}

/* A source with a wrong size is read up to that size, as a file of that size, and nothing after its data. */
static void test_a_size_that_is_not_true(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        struct input input = load(*path);
        const uint64_t max = read_plainly(input.data, input.bytes).counts.records;
        const int64_t sizes[] = {
            0, 1, 103, 104, input.stated / 2, input.stated - 1, input.stated + 1, input.stated * 3, INT64_MAX};
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            input.stated = sizes[i];
            const struct outcome outcome = read_so(input, false);
            assert_true(outcome.failure != PERFILE_ERROR_MEMORY);
            assert_true(outcome.counts.records <= max);
            assert_true(sizes[i] < (int64_t)input.bytes || outcome.counts.records == max);
        }
        input.stated = -7;
        assert_int_equal(read_so(input, false).failure, PERFILE_ERROR_READ);
        free((void *)input.data);
    }
}

static int open_so(const struct perfile_source *source, struct perfile_error *error)
{
    struct perfile_reader *reader;
    const int result = perfile_open_source(source, NULL, &reader, error);
    assert_null(reader);
    return result;
}

static void test_rules_of_the_struct(void **state)
{
    (void)state;
    struct perfile_error error;
    struct input input = load(recordings[0]);
    struct perfile_source source = source_of(&input, false);
    source.size = 0;
    assert_int_equal(open_so(&source, &error), PERFILE_ERROR_ARGUMENT);
    source = source_of(&input, false);
    source.read = NULL;
    assert_int_equal(open_so(&source, &error), PERFILE_ERROR_ARGUMENT);
    source = source_of(&input, false);
    source.bytes = NULL;
    assert_int_equal(open_so(&source, &error), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "seek and bytes go together"));
    source = source_of(&input, false);
    input.how = FAIL;
    assert_int_equal(open_so(&source, &error), PERFILE_ERROR_READ);
    assert_non_null(strstr(error.message, "(-5)"));
    free((void *)input.data);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callbacks_give_what_memory_gives),
        cmocka_unit_test(test_each_call_fails),
        cmocka_unit_test(test_the_input_ends_at_each_call),
        cmocka_unit_test(test_a_size_that_is_not_true),
        cmocka_unit_test(test_rules_of_the_struct),
    };
    (void)count;
    recordings = arguments + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
