/* SPDX-License-Identifier: MIT */
/* Bytes from one thread to another: all of them, in order, never more than the limit at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/byte_queue.h"

enum { LIMIT = 3000, BYTES = 100000 };

static struct pf_byte_queue *queue;
static uint64_t got; /* bytes */
static bool is_in_order;

static uint8_t byte_at(uint64_t position)
{
    return (uint8_t)(position * 7 + position / 256);
}

static void *read_all(void *context)
{
    uint8_t piece[777];
    size_t bytes;
    (void)context;
    while ((bytes = pf_byte_queue_take(queue, piece, sizeof(piece), true)))
        for (size_t i = 0; i < bytes; i++, got++)
            is_in_order &= piece[i] == byte_at(got);
    pf_byte_queue_leave(queue);
    return NULL;
}

static void put(uint64_t from, size_t bytes)
{
    uint8_t piece[4000];
    for (size_t i = 0; i < bytes; i++)
        piece[i] = byte_at(from + i);
    assert_true(pf_byte_queue_put(queue, piece, bytes));
}

static void all_come_in_order(void **state)
{
    pthread_t thread;
    (void)state;
    is_in_order = true;
    queue = pf_byte_queue_open(LIMIT, pf_allocator_or_default(NULL));
    assert_int_equal(pthread_create(&thread, NULL, read_all, NULL), 0);
    for (uint64_t at = 0; at < BYTES; at += 2500) /* less than the limit, which none of the rounds divides */
        put(at, 2500);
    assert_false(pf_byte_queue_settle(queue));
    assert_int_equal(got, BYTES);
    put(got, 4000); /* more than the limit */
    pf_byte_queue_end(queue);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(got, BYTES + 4000);
    assert_true(is_in_order);
    assert_true(pf_byte_queue_settle(queue)); /* the reader has left */
    assert_false(pf_byte_queue_put(queue, "x", 1));
    pf_byte_queue_close(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_come_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
