/* SPDX-License-Identifier: MIT */
/*
 * Cuts and splits whose allocations fail one after the other, or whose outputs fail: the failure is reported, and
 * nothing is leaked.
 */
#include "fault.h"

#include "../split_part.h"

struct run {
    struct counting memory;
    int writes_left; /* of the outputs; negative: all succeed */
};

static int take(void *context, const void *data, size_t bytes)
{
    struct run *run = context;
    (void)data, (void)bytes;
    return run->writes_left >= 0 && run->writes_left-- == 0;
}

static int open_writer(struct run *run, struct perfile_writer **writer, struct perfile_error *error)
{
    const struct perfile_sink sink = {run, take};
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    options.mode = PERFILE_MODE_PIPE;
    options.allocator = &run->memory.allocator;
    return perfile_writer_open_sink(&sink, &options, writer, error);
}

static int open_part(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                     struct perfile_error *error)
{
    (void)part;
    return open_writer(context, writer, error);
}

static int split(struct run *run, struct perfile_reader *reader, struct perfile_error *error)
{
    struct perfile_split_options options = PERFILE_SPLIT_OPTIONS_INIT;
    options.by = PERFILE_SPLIT_COMM;
    options.limit_open = 3;
    options.context = run;
    options.open = open_part;
    options.close = close_part;
    return perfile_split(reader, NULL, &options, NULL, error);
}

static int cut(struct run *run, struct perfile_reader *reader, struct perfile_error *error)
{
    struct perfile_writer *writer;
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    options.samples = 5;
    options.cgroups = "/";
    int result = open_writer(run, &writer, error);
    if (result < 0)
        return result;
    result = perfile_cut(reader, writer, &options, NULL, error);
    if (result == 0)
        result = perfile_writer_finish(writer, error);
    perfile_writer_close(writer);
    return result;
}

typedef int way(struct run *run, struct perfile_reader *reader, struct perfile_error *error);

static int run_job(way *job, struct run *run, const uint8_t *data, size_t bytes)
{
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    options.allocator = &run->memory.allocator;
    int result = perfile_open_memory(data, bytes, &options, &reader, &error);
    if (result < 0)
        return result;
    result = job(run, reader, &error);
    perfile_close(reader);
    return result;
}

static void fail_memory(way *job, const uint8_t *data, size_t bytes)
{
    bool untouched = false;
    for (int left = 0; !untouched; left++) {
        struct run run = {.writes_left = -1};
        counting_open(&run.memory, left);
        int result = run_job(job, &run, data, bytes);
        untouched = run.memory.left > 0;
        assert_true(result == 0 || (!untouched && result == PERFILE_ERROR_MEMORY));
        counting_close(&run.memory);
    }
}

static void fail_writes(way *job, const uint8_t *data, size_t bytes)
{
    int result = PERFILE_ERROR_WRITE;
    for (int left = 0; result != 0; left++) {
        struct run run = {.writes_left = left};
        counting_open(&run.memory, 1 << 30);
        result = run_job(job, &run, data, bytes);
        assert_true(result == 0 || result == PERFILE_ERROR_WRITE);
        assert_true(result != 0 || run.writes_left >= 0);
        counting_close(&run.memory);
    }
}

static void test_cuts_that_fail(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        fail_memory(cut, data, bytes);
        fail_memory(split, data, bytes);
        fail_writes(cut, data, bytes);
        fail_writes(split, data, bytes);
        free(data);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts_that_fail)};
    (void)count;
    recordings = arguments + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
