/* SPDX-License-Identifier: MIT */
#include "base/stages.h"

#include <stdatomic.h>
#include <string.h>

#include "counting.h"

enum { ITEMS = 500 };

struct item {
    uint64_t number;
    uint64_t squared;
    uint64_t sum; /* of all squares up to it: right only when the stage sees the items in order */
};

struct work {
    uint64_t count; /* of the first stage */
    uint64_t last;
    uint64_t sum;         /* of the last */
    atomic_int inside[3]; /* calls of each stage at a time */
    atomic_int worker[PF_THREADS_MAX];
    atomic_bool wrong; /* cmocka's checks are for its own thread */
};

static void come_in(struct work *work, unsigned stage, unsigned worker)
{
    const int others = atomic_fetch_add(&work->inside[stage], 1);
    if ((stage != 1 && others) || worker >= PF_THREADS_MAX || atomic_fetch_add(&work->worker[worker], 1))
        work->wrong = true;
}

static void go_out(struct work *work, unsigned stage, unsigned worker)
{
    atomic_fetch_sub(&work->worker[worker], 1);
    atomic_fetch_sub(&work->inside[stage], 1);
}

static bool make(void *context, void *item, unsigned worker)
{
    struct work *work = context;
    come_in(work, 0, worker);
    *(struct item *)item = (struct item){.number = work->count++};
    go_out(work, 0, worker);
    return work->count < work->last;
}

static bool square(void *context, void *item, unsigned worker)
{
    struct item *it = item;
    come_in(context, 1, worker);
    for (volatile uint64_t pause = it->number * 7919 % 512; pause; pause--) /* they end out of order */
        ;
    it->squared = it->number * it->number;
    go_out(context, 1, worker);
    return true;
}

static bool add(void *context, void *item, unsigned worker)
{
    struct work *work = context;
    struct item *it = item;
    come_in(context, 2, worker);
    work->sum += it->squared;
    it->sum = work->sum;
    go_out(context, 2, worker);
    return true;
}

static const struct pf_stage stages[] = {{.work = make}, {.work = square, .parallel = true}, {.work = add}};

static struct pf_stages *open_stages(struct work *work, struct item *items, unsigned threads,
                                     const struct perfile_allocator *allocator)
{
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = 3,
                                        .threads = threads,
                                        .context = work,
                                        .items = items,
                                        .item_bytes = sizeof(*items),
                                        .item_count = pf_stages_items(threads)};
    return pf_stages_open(&plan, allocator);
}

static void test_items_come_in_order(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 8; threads++) {
        static struct item items[2 * PF_THREADS_MAX + 1];
        struct work work = {.last = ITEMS};
        struct pf_stages *running = open_stages(&work, items, threads, pf_allocator_or_default(NULL));
        uint64_t sum = 0;
        assert_non_null(running);
        for (uint64_t i = 0; i < ITEMS; i++) {
            const struct item *item = pf_stages_next(running);
            assert_non_null(item);
            sum += i * i;
            assert_int_equal(item->number, i);
            assert_int_equal(item->sum, sum);
        }
        assert_null(pf_stages_next(running));
        assert_null(pf_stages_next(running));
        pf_stages_close(running);
        assert_int_equal(work.count, ITEMS);
        assert_false(work.wrong);
    }
}

/* No more items are made than there is capacity for: the caller is slow, or does not read all. */
static void test_closing_early(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++)
        for (unsigned wanted = 0; wanted < 40; wanted++) {
            struct item items[9];
            struct work work = {.last = ITEMS};
            struct pf_stages *running = open_stages(&work, items, threads, pf_allocator_or_default(NULL));
            assert_non_null(running);
            for (unsigned i = 0; i < wanted; i++)
                assert_non_null(pf_stages_next(running));
            pf_stages_close(running);
            assert_false(work.wrong);
            assert_true(work.count <= wanted + pf_stages_items(threads));
        }
}

static void test_one_thread_makes_no_more_than_is_asked_for(void **state)
{
    (void)state;
    struct item items[1];
    struct work work = {.last = ITEMS};
    struct pf_stages *running = open_stages(&work, items, 1, pf_allocator_or_default(NULL));
    assert_non_null(running);
    for (unsigned i = 0; i < 3; i++)
        assert_non_null(pf_stages_next(running));
    assert_int_equal(work.count, 3);
    pf_stages_close(running);
}

static void test_many_threads_are_too_many(void **state)
{
    (void)state;
    static struct item items[2 * PF_THREADS_MAX + 1];
    struct work work = {.last = ITEMS};
    struct pf_stages *running = open_stages(&work, items, 100000, pf_allocator_or_default(NULL));
    assert_non_null(running);
    uint64_t count = 0;
    while (pf_stages_next(running))
        count++;
    assert_int_equal(count, ITEMS);
    pf_stages_close(running);
}

static bool note_thread(void *context, void *item, unsigned worker)
{
    uint64_t *others = context;
    *(uint64_t *)item += 1;
    *others += worker != 0;
    return *(uint64_t *)item < ITEMS;
}

/* For so few items no thread is started. */
static void test_few_items_are_done_alone(void **state)
{
    (void)state;
    static const struct pf_stage stage = {.work = note_thread};
    uint64_t item = 0, others = 0;
    const struct pf_stages_plan plan = {.stages = &stage,
                                        .stage_count = 1,
                                        .threads = 4,
                                        .alone = ITEMS + 1,
                                        .context = &others,
                                        .items = &item,
                                        .item_bytes = sizeof(item),
                                        .item_count = 1};
    struct pf_stages *running = pf_stages_open(&plan, pf_allocator_or_default(NULL));
    assert_non_null(running);
    while (pf_stages_next(running))
        ;
    pf_stages_close(running);
    assert_int_equal(item, ITEMS);
    assert_int_equal(others, 0);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct counting counting;
    counting_open(&counting, 0);
    struct item items[5];
    struct work work = {.last = ITEMS};
    assert_null(open_stages(&work, items, 2, &counting.allocator));
    pf_stages_close(NULL);
    counting_close(&counting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_come_in_order),
        cmocka_unit_test(test_closing_early),
        cmocka_unit_test(test_one_thread_makes_no_more_than_is_asked_for),
        cmocka_unit_test(test_many_threads_are_too_many),
        cmocka_unit_test(test_few_items_are_done_alone),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
