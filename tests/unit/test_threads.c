/* SPDX-License-Identifier: MIT */
#include "model/threads.h"

#include <stdio.h>

#include "recording.h"

enum { TYPE = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

/* Follows all records of the recording. */
static void follow(struct pf_threads *threads, struct recording *r)
{
    uint8_t *block;
    const struct perfile_record *record;
    recording_finish(r);
    struct perfile_reader *reader = recording_read(r, &block);
    while (perfile_reader_next(reader, &record, NULL) > 0)
        assert_true(pf_threads_follow(threads, reader, record));
    perfile_close(reader);
    free(block);
    recording_close(r);
}

struct bench {
    struct pf_threads threads;
    struct counting counting;
};

static void set_up(struct bench *bench)
{
    counting_open(&bench->counting, -1);
    pf_threads_open(&bench->threads, &bench->counting.allocator);
}

static void take_down(struct bench *bench)
{
    pf_threads_close(&bench->threads);
    counting_close(&bench->counting);
}

static void test_none_stated(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench);
    assert_string_equal(pf_threads_name(&bench.threads, 42), ":42");
    assert_string_equal(pf_threads_name(&bench.threads, -1), ":-1");
    assert_string_equal(pf_threads_name(&bench.threads, INT32_MIN), ":-2147483648");
    assert_string_equal(pf_threads_name(&bench.threads, 0), "swapper");
    assert_string_equal(pf_threads_name(&bench.threads, 42), ":42");
    take_down(&bench);
}

static void test_comm_and_fork(void **state)
{
    (void)state;
    struct recording r;
    struct bench bench;
    set_up(&bench);
    recording_open(&r, TYPE, false);
    recording_comm(&r, 10, "make", 1);
    recording_task(&r, PERFILE_RECORD_FORK, 11, 10, 2);
    recording_comm(&r, 10, "other", 3);
    recording_task(&r, PERFILE_RECORD_FORK, 12, 99, 4); /* of a parent without a name */
    recording_comm(&r, 13, "", 5);
    recording_comm(&r, 13, "a\nb\xff", 6);
    follow(&bench.threads, &r);
    assert_string_equal(pf_threads_name(&bench.threads, 10), "other");
    assert_string_equal(pf_threads_name(&bench.threads, 11), "make"); /* as its parent was called then */
    assert_string_equal(pf_threads_name(&bench.threads, 12), ":12");
    assert_string_equal(pf_threads_name(&bench.threads, 13), "a\nb\xff");
    take_down(&bench);
}

/* A name that was looked up is not remembered too long. */
static void test_renamed_after_a_look(void **state)
{
    (void)state;
    struct recording r;
    struct bench bench;
    set_up(&bench);
    assert_string_equal(pf_threads_name(&bench.threads, 10), ":10");
    recording_open(&r, TYPE, true);
    recording_comm(&r, 10, "first", 1);
    follow(&bench.threads, &r);
    const char *first = pf_threads_name(&bench.threads, 10);
    assert_string_equal(first, "first");
    recording_open(&r, TYPE, false);
    recording_comm(&r, 10, "second", 1);
    follow(&bench.threads, &r);
    assert_string_equal(pf_threads_name(&bench.threads, 10), "second");
    assert_string_equal(first, "first"); /* valid until the close */
    take_down(&bench);
}

/* A number that is used again belongs to another thread. */
static void test_numbers_are_used_again(void **state)
{
    (void)state;
    struct recording r;
    struct bench bench;
    set_up(&bench);
    recording_open(&r, TYPE, false);
    recording_comm(&r, 10, "old", 1);
    recording_comm(&r, 20, "parent", 1);
    recording_task(&r, PERFILE_RECORD_EXIT, 10, 20, 2);
    recording_task(&r, PERFILE_RECORD_FORK, 10, 20, 3);
    follow(&bench.threads, &r);
    assert_string_equal(pf_threads_name(&bench.threads, 10), "parent");
    take_down(&bench);
}

/* Samples before the first COMM are of the thread that gets this name. */
static void test_names_that_come_later(void **state)
{
    (void)state;
    struct recording r;
    struct bench bench;
    set_up(&bench);
    const char *ten = pf_threads_name(&bench.threads, 10), *eleven = pf_threads_name(&bench.threads, 11);
    recording_open(&r, TYPE, false);
    recording_comm(&r, 10, "first", 1);
    recording_comm(&r, 10, "second", 2);
    recording_comm(&r, 20, "parent", 3);
    recording_task(&r, PERFILE_RECORD_FORK, 11, 20, 4); /* another thread than the one that was asked for */
    follow(&bench.threads, &r);
    assert_string_equal(pf_threads_later_name(&bench.threads, ten), "first");
    assert_string_equal(pf_threads_later_name(&bench.threads, eleven), ":11");
    assert_string_equal(pf_threads_later_name(&bench.threads, ":12"), ":12");
    assert_string_equal(pf_threads_later_name(&bench.threads, "first"), "first");
    assert_string_equal(pf_threads_name(&bench.threads, 10), "second");
    assert_string_equal(pf_threads_name(&bench.threads, 11), "parent");
    take_down(&bench);
}

static void test_many(void **state)
{
    (void)state;
    struct recording r;
    struct bench bench;
    char name[32];
    set_up(&bench);
    recording_open(&r, TYPE, false);
    for (int tid = 1; tid < 5000; tid++) {
        snprintf(name, sizeof(name), "thread-%d", tid % 300);
        recording_comm(&r, tid, name, (uint64_t)tid);
    }
    follow(&bench.threads, &r);
    for (int tid = 1; tid < 5000; tid++) {
        snprintf(name, sizeof(name), "thread-%d", tid % 300);
        assert_string_equal(pf_threads_name(&bench.threads, tid), name);
    }
    take_down(&bench);
}

static void count_name(void *context, uint32_t tid, const char *name)
{
    uint32_t *count = context;
    assert_string_equal(name, tid % 2 ? "cc1" : "as");
    ++*count;
}

/* All that ever ran have names in some reports: not much for each, however many there are. */
static void test_memory_of_those_that_ended(void **state)
{
    enum { THREADS = 200000, BYTES_OF_EACH = 8 };
    (void)state;
    struct bench bench;
    uint32_t count = 0;
    set_up(&bench);
    for (int tid = 1; tid <= THREADS; tid++)
        assert_true(pf_threads_set_name(&bench.threads, tid, tid % 2 ? "cc1" : "as"));
    assert_in_range(bench.counting.live_bytes, THREADS, THREADS * BYTES_OF_EACH);
    pf_threads_discard(&bench.threads, 7);
    pf_threads_discard(&bench.threads, INT32_MAX);
    assert_null(pf_threads_known_name(&bench.threads, 7));
    assert_string_equal(pf_threads_known_name(&bench.threads, 9), "cc1");
    pf_threads_walk(&bench.threads, count_name, &count);
    assert_int_equal(count, THREADS - 1);
    take_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_stated),
        cmocka_unit_test(test_comm_and_fork),
        cmocka_unit_test(test_renamed_after_a_look),
        cmocka_unit_test(test_numbers_are_used_again),
        cmocka_unit_test(test_names_that_come_later),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_memory_of_those_that_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
