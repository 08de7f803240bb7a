/* SPDX-License-Identifier: MIT */
#include "base/work_parts.h"

#include <stdatomic.h>

#include "counting.h"

enum { PARTS = 300 };

static void count(void *context, size_t part)
{
    atomic_int *done = context;
    atomic_fetch_add(&done[part], 1);
}

static void each_part_is_done_once(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 8; threads++)
        for (size_t parts = 0; parts <= PARTS; parts += parts < 3 ? 1 : 99) {
            atomic_int done[PARTS] = {0};
            pf_work_parts_do(&(struct pf_work_parts){count, done, parts, threads}, pf_allocator_or_default(NULL));
            for (size_t i = 0; i < PARTS; i++)
                assert_int_equal(done[i], i < parts);
        }
}

/* Without the memory for threads it takes longer, that is all. */
static void memory_may_be_short(void **state)
{
    (void)state;
    struct counting c;
    atomic_int done[PARTS] = {0};
    counting_open(&c, 0);
    pf_work_parts_do(&(struct pf_work_parts){count, done, PARTS, 4}, &c.allocator);
    counting_close(&c);
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(done[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_is_done_once),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
