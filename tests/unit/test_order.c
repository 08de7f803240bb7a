/* SPDX-License-Identifier: MIT */
#include "model/order.h"

#include "counting.h"

enum { RECORDS_MAX = 20000 };

struct pushed {
    uint64_t time;
    uint64_t offset; /* identifies the record, and gives the order in the file */
};

static void push(struct pf_order *order, uint64_t time, uint64_t offset, uint32_t bytes)
{
    static uint8_t data[70000];
    memset(data, (int)offset, bytes);
    const struct perfile_record record = {.type = PERFILE_RECORD_SAMPLE,
                                          .misc = 2,
                                          .bytes = bytes,
                                          .stated_bytes = bytes,
                                          .part = 3,
                                          .offset = offset,
                                          .container = offset + 1,
                                          .data = data,
                                          .time = time};
    assert_true(pf_order_push(order, &record));
}

/* Everything of the record came back. */
static void check_record(const struct perfile_record *record, const struct pushed *expected)
{
    assert_int_equal(record->time, expected->time);
    assert_int_equal(record->offset, expected->offset);
    assert_int_equal(record->container, expected->offset + 1);
    assert_int_equal(record->type, PERFILE_RECORD_SAMPLE);
    assert_int_equal(record->misc, 2);
    assert_int_equal(record->part, 3);
    assert_int_equal(record->stated_bytes, record->bytes);
    assert_int_equal(record->data[0], (uint8_t)expected->offset);
    assert_int_equal(record->data[record->bytes - 1], (uint8_t)expected->offset);
}

static int by_time(const void *a, const void *b)
{
    const struct pushed *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* An order, and the records in it. */
struct ordering {
    struct pf_order order;
    struct counting counting;
    struct pushed held[RECORDS_MAX];
    size_t count;
};

static struct ordering *open_ordering(void)
{
    static struct ordering o;
    counting_open(&o.counting, -1);
    pf_order_open(&o.order, &o.counting.allocator);
    o.count = 0;
    return &o;
}

static void close_ordering(struct ordering *o)
{
    pf_order_close(&o->order);
    counting_close(&o->counting);
}

static void hold(struct ordering *o, uint64_t time, uint64_t offset, uint32_t bytes)
{
    o->held[o->count++] = (struct pushed){time, offset};
    push(&o->order, time, offset, bytes);
}

/* All that is held up to `limit` comes out, sorted. */
static void check_flush(struct ordering *o, uint64_t limit)
{
    const struct perfile_record *record;
    size_t done = 0;
    qsort(o->held, o->count, sizeof(*o->held), by_time);
    pf_order_flush(&o->order, limit);
    while ((record = pf_order_pop(&o->order))) {
        assert_true(done < o->count);
        check_record(record, &o->held[done++]);
    }
    assert_true(done == o->count || o->held[done].time > limit);
    memmove(o->held, o->held + done, (o->count - done) * sizeof(*o->held));
    o->count -= done;
    assert_false(o->order.flushing);
    assert_int_equal(o->order.bytes == 0, o->count == 0);
}

/* All that is left comes out, and nothing is held any more. */
static void check_rest(struct ordering *o)
{
    check_flush(o, UINT64_MAX);
    assert_int_equal(o->count, 0);
    close_ordering(o);
}

static void test_nothing(void **state)
{
    (void)state;
    struct ordering *o = open_ordering();
    for (int i = 0; i < 3; i++) {
        pf_order_flush(&o->order, UINT64_MAX);
        assert_null(pf_order_pop(&o->order));
    }
    close_ordering(o);
}

/* Records of equal times come in the order of the file, also over the borders of runs and rounds. */
static void test_ties_keep_the_order_of_the_file(void **state)
{
    (void)state;
    static const uint64_t times[] = {5, 5, 7, 5, 5, 7, 7, 3, 5, 7};
    struct ordering *o = open_ordering();
    for (size_t i = 0; i < 2 * PF_COUNT(times); i++) {
        hold(o, times[i % PF_COUNT(times)], i, 40);
        if (i == 9)
            check_flush(o, 5);
    }
    check_flush(o, 6);
    check_rest(o);
}

/* A run that is cut by a flush goes on with the next round. */
static void test_a_run_continues_over_rounds(void **state)
{
    (void)state;
    struct ordering *o = open_ordering();
    for (uint64_t i = 0; i < 2000; i++) {
        hold(o, 1000 + i, i, 24);
        if (i % 100 == 99)
            check_flush(o, 1000 + i - 50);
    }
    check_rest(o);
}

/* As recorders write: buffers one after the other, each in order, in rounds. Sizes up to the largest record. */
static void run_rounds(unsigned buffers, unsigned rounds, unsigned each, unsigned seed)
{
    struct ordering *o = open_ordering();
    uint64_t offset = 0, base = 1, limit = 0;
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t latest = base;
        for (unsigned buffer = 0; buffer < buffers; buffer++) {
            uint64_t time = base + buffer % 3;
            for (unsigned i = 0; i < each && o->count < RECORDS_MAX; i++) {
                seed = seed * 1664525 + 1013904223;
                time += seed >> 30; /* 0 to 3 */
                hold(o, time, offset++, seed % 500 == 0 ? 65535 : 16 + (seed >> 8 & 0x78));
            }
            latest = pf_max(latest, time);
        }
        check_flush(o, limit);
        limit = latest;
        base += each;
    }
    check_rest(o);
}

static void test_rounds(void **state)
{
    (void)state;
    run_rounds(1, 20, 100, 1);
    run_rounds(2, 50, 30, 2);
    run_rounds(16, 20, 40, 3);
    run_rounds(100, 10, 5, 4);
    run_rounds(3, 2, 3000, 5);
}

/* The worst input: every record starts a run of its own. */
static void test_falling_times(void **state)
{
    (void)state;
    struct ordering *o = open_ordering();
    for (uint64_t i = 0; i < 5000; i++) {
        hold(o, 100000 - i, i, 16);
    }
    check_flush(o, 97000);
    check_flush(o, UINT64_MAX);
    close_ordering(o);
}

/* What is not flushed is released. */
static void test_close_while_held(void **state)
{
    (void)state;
    struct ordering *o = open_ordering();
    for (uint64_t i = 0; i < 1000; i++)
        push(&o->order, i % 10, i, 1000);
    pf_order_flush(&o->order, 5);
    assert_non_null(pf_order_pop(&o->order));
    close_ordering(o);
}

static void test_memory_short(void **state)
{
    (void)state;
    for (int left = 0; left < 4; left++) {
        struct pf_order order;
        struct counting c;
        uint8_t data[1000] = {0};
        struct perfile_record record = {.bytes = 1000, .data = data};
        uint64_t pushed = 0;
        counting_open(&c, left);
        pf_order_open(&order, &c.allocator);
        for (record.time = 1000; pf_order_push(&order, &record); record.time--)
            pushed++;
        pf_order_flush(&order, UINT64_MAX);
        while (pf_order_pop(&order))
            pushed--;
        assert_int_equal(pushed, 0); /* what was taken comes out */
        pf_order_close(&order);
        counting_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_ties_keep_the_order_of_the_file),
        cmocka_unit_test(test_a_run_continues_over_rounds),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_falling_times),
        cmocka_unit_test(test_close_while_held),
        cmocka_unit_test(test_memory_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
