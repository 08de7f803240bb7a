/* SPDX-License-Identifier: MIT */
#include "base/ahead.h"

#include <stdio.h>

#include "counting.h"

/* Reads numbers from 0 on, and loses every third one. */
struct numbers {
    uint64_t next, last, lost;
    int result; /* after the last one */
};

struct number {
    uint64_t value;
    uint8_t more[4096]; /* so that a batch has few of them */
};

static int read_number(void *context, void *item, struct perfile_error *error)
{
    struct numbers *numbers = context;
    struct number *number = item;
    if (numbers->next == numbers->last) {
        if (numbers->result < 0)
            snprintf(error->message, sizeof(error->message), "no number after %d", (int)numbers->last);
        return numbers->result;
    }
    number->value = numbers->next++;
    numbers->lost += number->value % 3 == 0;
    return 1;
}

static struct pf_ahead_counts count(const void *context)
{
    const struct numbers *numbers = context;
    return (struct pf_ahead_counts){.lost = numbers->lost, .filtered = numbers->next};
}

static void open_ahead(struct pf_ahead *ahead, struct numbers *numbers, unsigned threads,
                       const struct perfile_allocator *allocator)
{
    pf_ahead_open(ahead, &(struct pf_ahead_plan){.next = read_number,
                                                 .count = count,
                                                 .context = numbers,
                                                 .item_bytes = sizeof(struct number),
                                                 .threads = threads,
                                                 .allocator = allocator});
}

enum { LAST = 3000 };

static void items_come_in_order(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 4; threads++) {
        struct numbers numbers = {.last = LAST};
        struct pf_ahead ahead;
        void *item;
        open_ahead(&ahead, &numbers, threads, pf_allocator_or_default(NULL));
        for (uint64_t i = 0; i < LAST; i++) {
            assert_int_equal(pf_ahead_next(&ahead, &item, NULL), 1);
            assert_int_equal(((const struct number *)item)->value, i);
        }
        assert_int_equal(pf_ahead_next(&ahead, &item, NULL), 0);
        assert_int_equal(pf_ahead_next(&ahead, &item, NULL), 0);
        pf_ahead_close(&ahead);
        pf_ahead_close(&ahead);
    }
}

/* What is counted belongs to the items of the batch in hand, wherever the other thread is by now. */
static void counts_are_those_of_the_batch(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct numbers numbers = {.last = LAST};
        struct pf_ahead ahead;
        void *item;
        open_ahead(&ahead, &numbers, threads, pf_allocator_or_default(NULL));
        assert_int_equal(ahead.counts.filtered, 0);
        while (pf_ahead_next(&ahead, &item, NULL) > 0) {
            const uint64_t value = ((const struct number *)item)->value;
            const uint64_t left = (uint64_t)(ahead.end - ahead.item) / sizeof(struct number);
            assert_int_equal(ahead.counts.filtered, value + 1 + left);
            assert_int_equal(ahead.counts.lost, (value + left) / 3 + 1);
        }
        assert_int_equal(ahead.counts.filtered, LAST);
        pf_ahead_close(&ahead);
    }
}

static void an_error_follows_the_items_before_it(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct numbers numbers = {.last = LAST, .result = PERFILE_ERROR_LIMIT};
        struct pf_ahead ahead;
        struct perfile_error error;
        uint64_t items = 0;
        void *item;
        int result;
        open_ahead(&ahead, &numbers, threads, pf_allocator_or_default(NULL));
        while ((result = pf_ahead_next(&ahead, &item, &error)) > 0)
            items++;
        assert_int_equal(items, LAST);
        assert_int_equal(result, PERFILE_ERROR_LIMIT);
        assert_string_equal(error.message, "no number after 3000");
        assert_int_equal(pf_ahead_next(&ahead, &item, NULL), PERFILE_ERROR_LIMIT);
        pf_ahead_close(&ahead);
    }
}

static void nothing_follows_a_stop(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++)
        for (unsigned wanted = 0; wanted < LAST; wanted += 499) {
            struct numbers numbers = {.last = LAST};
            struct pf_ahead ahead;
            void *item;
            open_ahead(&ahead, &numbers, threads, pf_allocator_or_default(NULL));
            for (unsigned i = 0; i < wanted; i++)
                assert_int_equal(pf_ahead_next(&ahead, &item, NULL), 1);
            pf_ahead_stop(&ahead);
            const uint64_t next = numbers.next; /* no other thread changes it any more */
            while (pf_ahead_next(&ahead, &item, NULL) > 0)
                continue; /* what is left of the batch */
            assert_int_equal(numbers.next, next);
            pf_ahead_close(&ahead);
        }
}

static void one_by_one_reads_what_is_asked_for(void **state)
{
    (void)state;
    struct numbers numbers = {.last = LAST};
    struct pf_ahead ahead;
    void *item;
    open_ahead(&ahead, &numbers, 4, pf_allocator_or_default(NULL));
    ahead.plan.one_by_one = true;
    for (unsigned i = 1; i <= 5; i++) {
        assert_int_equal(pf_ahead_next(&ahead, &item, NULL), 1);
        assert_int_equal(numbers.next, i);
    }
    pf_ahead_close(&ahead);
}

static int read_all(void *context, const struct perfile_allocator *allocator)
{
    struct numbers numbers = {.last = LAST};
    struct pf_ahead ahead;
    struct perfile_error error;
    void *item;
    int result;
    (void)context;
    open_ahead(&ahead, &numbers, 2, allocator);
    while ((result = pf_ahead_next(&ahead, &item, &error)) > 0)
        continue;
    assert_true(result == 0 || error.code == PERFILE_ERROR_MEMORY);
    pf_ahead_close(&ahead);
    return result;
}

static void short_memory_is_an_error(void **state)
{
    (void)state;
    assert_true(counting_exhaust(read_all, NULL, 20) > 4);
    struct pf_ahead closed = {.item = NULL};
    pf_ahead_close(&closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_order),
        cmocka_unit_test(counts_are_those_of_the_batch),
        cmocka_unit_test(an_error_follows_the_items_before_it),
        cmocka_unit_test(nothing_follows_a_stop),
        cmocka_unit_test(one_by_one_reads_what_is_asked_for),
        cmocka_unit_test(short_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
