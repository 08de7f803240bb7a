/* SPDX-License-Identifier: MIT */
/* Writing in another thread: the same records in the same order, bounded memory, and failures are reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "counting.h"
#include "record/writer_thread.h"

enum { COMM_BYTES = 24, PIECE = 700 };

struct consumed {
    uint64_t bytes;
    unsigned slow_us; /* for each write */
    uint64_t fail_at; /* bytes; 0: never */
};

static int take(void *context, const void *data, size_t bytes)
{
    struct consumed *consumed = context;
    (void)data;
    usleep(consumed->slow_us);
    consumed->bytes += bytes;
    return consumed->fail_at && consumed->bytes >= consumed->fail_at;
}

static struct perfile_writer *open_writer(struct consumed *consumed, int compression)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_sink sink = {consumed, take};
    const struct perfile_attr attr = {.type = 1, .sample_type = PERFILE_SAMPLE_TID};
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    struct perfile_writer *writer;
    options.mode = PERFILE_MODE_PIPE;
    options.compression = compression;
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    assert_int_equal(perfile_writer_open_sink(&sink, &options, &writer, NULL), 0);
    assert_int_equal(perfile_writer_add_event(writer, &event, NULL, NULL), 0);
    return writer;
}

/* COMM records whose pids count up. */
static void make_records(uint8_t *to, uint32_t *next, size_t count)
{
    for (size_t i = 0; i < count; i++, to += COMM_BYTES) {
        const uint32_t words[COMM_BYTES / 4] = {3, 0, *next, *next};
        const uint16_t size = COMM_BYTES;
        memcpy(to, words, sizeof(words));
        memcpy(to + 6, &size, sizeof(size));
        to[16] = 'x';
        ++*next;
    }
}

static void put_many(struct pf_writer_thread *after, uint32_t *next, size_t pieces)
{
    uint8_t records[PIECE * COMM_BYTES];
    for (size_t i = 0; i < pieces; i++) {
        make_records(records, next, PIECE);
        assert_int_equal(pf_writer_thread_put(after, records, sizeof(records), NULL), 0);
        if (i % 3 == 0)
            assert_int_equal(pf_writer_thread_flush(after, NULL), 0);
    }
}

static void all_of_it_in_order(void **state)
{
    char path[] = "/tmp/perfile-behind-XXXXXX";
    const int fd = mkstemp(path);
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_attr attr = {.type = 1, .sample_type = PERFILE_SAMPLE_TID};
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    struct perfile_writer *writer;
    struct perfile_reader *reader;
    const struct perfile_record *record;
    uint32_t next = 0, seen = 0;
    (void)state;
    options.compression = 3;
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    assert_int_equal(perfile_writer_open_fd(fd, &options, &writer, NULL), 0);
    assert_int_equal(perfile_writer_add_event(writer, &event, NULL, NULL), 0);
    struct pf_writer_thread *after = pf_writer_thread_open(writer, pf_allocator_or_default(NULL));
    assert_non_null(after);
    put_many(after, &next, 400);
    assert_int_equal(pf_writer_thread_settle(after, NULL), 0);
    assert_int_equal(perfile_writer_progress(writer)->records, next);
    assert_int_equal(pf_writer_thread_written(after), perfile_writer_progress(writer)->bytes);
    put_many(after, &next, 7);
    assert_int_equal(pf_writer_thread_settle(after, NULL), 0);
    pf_writer_thread_close(after);
    assert_int_equal(perfile_writer_finish(writer, NULL), 0);
    perfile_writer_close(writer);
    assert_int_equal(perfile_open_path(path, NULL, &reader, NULL), 0);
    while (perfile_reader_next(reader, &record, NULL) > 0)
        if (record->type == PERFILE_RECORD_COMM)
            assert_int_equal(pf_load32(record->data + 8, false), seen++);
    assert_int_equal(seen, next);
    perfile_close(reader);
    close(fd);
    unlink(path);
}

/* The writer sleeps: more than the blocks hold is put, and memory stays within them. */
static void memory_is_bounded(void **state)
{
    struct consumed consumed = {.slow_us = 1000};
    struct perfile_writer *writer = open_writer(&consumed, 0);
    struct counting counting;
    uint32_t next = 0;
    (void)state;
    counting_open(&counting, -1);
    struct pf_writer_thread *after = pf_writer_thread_open(writer, &counting.allocator);
    assert_non_null(after);
    put_many(after, &next, 3u * PF_WRITER_THREAD_BLOCKS * PF_WRITER_THREAD_BLOCK_BYTES / (PIECE * COMM_BYTES));
    /* blocks are kept until the end */
    assert_true(counting.live_bytes <= (size_t)PF_WRITER_THREAD_BLOCKS * PF_WRITER_THREAD_BLOCK_BYTES + 65536);
    assert_int_equal(pf_writer_thread_settle(after, NULL), 0);
    assert_int_equal(perfile_writer_progress(writer)->records, next);
    pf_writer_thread_close(after);
    counting_close(&counting);
    perfile_writer_close(writer);
}

static void failures_come_out(void **state)
{
    struct consumed consumed = {.fail_at = 300000};
    struct perfile_writer *writer = open_writer(&consumed, 0);
    struct pf_writer_thread *after = pf_writer_thread_open(writer, pf_allocator_or_default(NULL));
    struct perfile_error error = {0};
    uint8_t records[PIECE * COMM_BYTES];
    uint32_t next = 0;
    int result = 0;
    (void)state;
    assert_non_null(after);
    for (int i = 0; i < 10000 && result == 0; i++) {
        make_records(records, &next, PIECE);
        result = pf_writer_thread_put(after, records, sizeof(records), &error);
        if (result == 0)
            result = pf_writer_thread_flush(after, &error);
    }
    assert_int_equal(result, PERFILE_ERROR_WRITE);
    assert_int_equal(error.code, PERFILE_ERROR_WRITE);
    assert_int_equal(pf_writer_thread_settle(after, &error), PERFILE_ERROR_WRITE);
    pf_writer_thread_close(after);
    perfile_writer_close(writer);
}

/* Closing early does not wait for records that are not written yet. */
static void what_waits_is_dropped(void **state)
{
    struct consumed consumed = {.slow_us = 200000}; /* of each block: this thread may be kept from running */
    struct perfile_writer *writer = open_writer(&consumed, 0);
    struct pf_writer_thread *after = pf_writer_thread_open(writer, pf_allocator_or_default(NULL));
    uint32_t next = 0;
    (void)state;
    assert_non_null(after);
    put_many(after, &next, 500);
    pf_writer_thread_close(after);
    assert_true(perfile_writer_progress(writer)->records < next);
    perfile_writer_close(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_in_order),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(failures_come_out),
        cmocka_unit_test(what_waits_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
