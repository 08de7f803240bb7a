/* SPDX-License-Identifier: MIT */
#include "base/segments.h"

#include "counting.h"

struct element {
    uint64_t number;
    uint32_t more;
};

static void test_elements_stay_where_they_are(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    static struct element *positions[COUNT];
    struct counting counting;
    struct pf_segments segments;
    counting_open(&counting, -1);
    pf_segments_open(&segments, sizeof(struct element), &counting.allocator);
    assert_null(pf_segments_at(&segments, 0));
    for (uint32_t i = 0; i < COUNT; i++) {
        positions[i] = pf_segments_make(&segments, i);
        assert_non_null(positions[i]);
        assert_int_equal(positions[i]->number, 0);
        *positions[i] = (struct element){i, ~i};
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_ptr_equal(pf_segments_at(&segments, i), positions[i]);
        assert_int_equal(positions[i]->number, i);
        assert_int_equal(positions[i]->more, ~i);
    }
    assert_ptr_equal(pf_segments_make(&segments, 5), positions[5]);
    pf_segments_close(&segments);
    counting_close(&counting);
}

static void test_what_is_not_there(void **state)
{
    (void)state;
    struct pf_segments segments;
    pf_segments_open(&segments, 1, pf_allocator_or_default(NULL));
    assert_non_null(pf_segments_make(&segments, 0));
    assert_null(pf_segments_at(&segments, 1 << 20));
    assert_null(pf_segments_at(&segments, UINT32_MAX));
    pf_segments_close(&segments);
    pf_segments_close(&segments);
}

static void test_short_memory(void **state)
{
    (void)state;
    struct counting counting;
    struct pf_segments segments;
    counting_open(&counting, 1);
    pf_segments_open(&segments, sizeof(struct element), &counting.allocator);
    assert_non_null(pf_segments_make(&segments, 0));
    assert_null(pf_segments_make(&segments, 5000));
    assert_null(pf_segments_at(&segments, 5000));
    assert_non_null(pf_segments_at(&segments, 0));
    pf_segments_close(&segments);
    counting_close(&counting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_stay_where_they_are),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
