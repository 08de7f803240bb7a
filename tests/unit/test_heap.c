/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <stdlib.h>

#include "counting.h"

enum { COUNT = 20000, TIMES = 500 }; /* many share a time */

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 33;
}

static int compare(const void *a, const void *b)
{
    const struct pf_heap_item *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void put(struct pf_heap *heap, uint64_t time, uint64_t number)
{
    assert_true(pf_heap_put(heap, &(struct pf_heap_item){time, number, (uintptr_t)(number ^ 0x5555)}));
}

static void take(struct pf_heap *heap, uint64_t time, uint64_t number)
{
    const struct pf_heap_item *first = pf_heap_first(heap);
    assert_non_null(first);
    assert_int_equal(first->time, time);
    assert_int_equal(first->number, number);
    assert_int_equal(first->value, (uintptr_t)(number ^ 0x5555));
    pf_heap_take(heap);
}

static void test_order(void **state)
{
    static struct pf_heap_item expected[COUNT];
    struct counting c;
    struct pf_heap heap;
    (void)state;
    counting_open(&c, -1);
    pf_heap_open(&heap, &c.allocator);
    random_state = 1;
    for (uint64_t i = 0; i < COUNT; i++) {
        expected[i] = (struct pf_heap_item){.time = next_random() % TIMES, .number = i};
        put(&heap, expected[i].time, i);
    }
    qsort(expected, COUNT, sizeof(*expected), compare);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(pf_heap_second_time(&heap), i + 1 < COUNT ? expected[i + 1].time : UINT64_MAX);
        take(&heap, expected[i].time, expected[i].number);
    }
    assert_null(pf_heap_first(&heap));
    pf_heap_close(&heap);
    counting_close(&c);
}

/* Some come while others wait, as those of several files do. */
static void test_in_turns(void **state)
{
    static struct pf_heap_item waiting[COUNT];
    size_t count = 0, consumed = 0;
    uint64_t number = 0;
    struct counting c;
    struct pf_heap heap;
    (void)state;
    counting_open(&c, -1);
    pf_heap_open(&heap, &c.allocator);
    random_state = 2;
    for (unsigned round = 0; round < 100; round++) {
        for (size_t more = next_random() % (COUNT / 100); more; more--) {
            waiting[count] = (struct pf_heap_item){.time = next_random() % TIMES, .number = number++};
            put(&heap, waiting[count].time, waiting[count].number);
            count++;
        }
        qsort(waiting + consumed, count - consumed, sizeof(*waiting), compare);
        for (size_t less = next_random() % (count - consumed + 1); less; less--, consumed++)
            take(&heap, waiting[consumed].time, waiting[consumed].number);
        assert_int_equal(heap.count, count - consumed);
    }
    assert_in_range(consumed, COUNT / 10, COUNT);
    pf_heap_close(&heap);
    counting_close(&c);
}

static void test_ties(void **state)
{
    struct counting c;
    struct pf_heap heap;
    (void)state;
    counting_open(&c, -1);
    pf_heap_open(&heap, &c.allocator);
    put(&heap, UINT64_MAX, UINT64_MAX);
    for (uint64_t i = 0; i < 1000; i++)
        put(&heap, 7, i * 389 % 1000); /* each once, in no order */
    put(&heap, UINT64_MAX, 0);
    put(&heap, 0, UINT64_MAX);
    take(&heap, 0, UINT64_MAX);
    for (uint64_t i = 0; i < 1000; i++)
        take(&heap, 7, i);
    take(&heap, UINT64_MAX, 0);
    assert_int_equal(pf_heap_second_time(&heap), UINT64_MAX);
    take(&heap, UINT64_MAX, UINT64_MAX);
    assert_int_equal(heap.count, 0);
    pf_heap_close(&heap);
    counting_close(&c);
}

/* As inputs move on: three with a step each, the lower number first where they meet. */
static void test_move_first(void **state)
{
    static const uint64_t steps[] = {2, 3, 5};
    struct counting c;
    struct pf_heap heap;
    struct pf_heap_item last = {0};
    uint64_t moves[PF_COUNT(steps)] = {0};
    (void)state;
    counting_open(&c, -1);
    pf_heap_open(&heap, &c.allocator);
    for (uint64_t i = 0; i < PF_COUNT(steps); i++)
        put(&heap, steps[i], i);
    while (pf_heap_first(&heap)->time <= 3000) {
        const struct pf_heap_item first = *pf_heap_first(&heap);
        assert_true(compare(&last, &first) < 0);
        assert_true(pf_heap_second_time(&heap) >= first.time);
        last = first;
        moves[first.number]++;
        pf_heap_move_first(&heap, first.time + steps[first.number]);
        assert_int_equal(heap.count, PF_COUNT(steps));
    }
    for (size_t i = 0; i < PF_COUNT(steps); i++)
        assert_int_equal(moves[i], 3000 / steps[i]);
    pf_heap_close(&heap);
    counting_close(&c);
}

static void test_memory_short(void **state)
{
    struct counting c;
    struct pf_heap heap;
    uint64_t count = 0;
    (void)state;
    counting_open(&c, 2);
    pf_heap_open(&heap, &c.allocator);
    while (pf_heap_put(&heap, &(struct pf_heap_item){100000 - count, count, (uintptr_t)(count ^ 0x5555)}))
        count++;
    assert_true(count > 0);
    assert_int_equal(heap.count, count);
    for (uint64_t i = count; i-- > 0;)
        take(&heap, 100000 - i, i); /* what was there stays */
    pf_heap_close(&heap);
    counting_close(&c);
}

static void test_empty(void **state)
{
    struct counting c;
    struct pf_heap heap;
    (void)state;
    counting_open(&c, 0);
    pf_heap_open(&heap, &c.allocator);
    assert_null(pf_heap_first(&heap));
    assert_int_equal(pf_heap_second_time(&heap), UINT64_MAX);
    assert_false(pf_heap_put(&heap, &(struct pf_heap_item){1, 1, 1}));
    assert_null(pf_heap_first(&heap));
    pf_heap_close(&heap);
    counting_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),      cmocka_unit_test(test_in_turns),     cmocka_unit_test(test_ties),
        cmocka_unit_test(test_move_first), cmocka_unit_test(test_memory_short), cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
