/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sort.h"

enum { MAX = 3000 };

static struct pf_sort_item items[MAX], spare[MAX];

static uint64_t noise(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* Each number once, words ascending, equal ones in the order of their numbers. */
static void check(size_t count, uint64_t mask)
{
    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct pf_sort_item){noise(i) & mask, i};
    pf_sort_words(items, spare, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(items[i].word == (noise(items[i].number) & mask));
        if (i && items[i].word == items[i - 1].word)
            assert_true(items[i].number > items[i - 1].number);
        else if (i)
            assert_true(items[i].word > items[i - 1].word);
    }
}

static void words_ascend_and_equal_ones_stay(void **state)
{
    static const uint64_t masks[] = {0, 1, 0xff, 0x100, 0xff00ff, UINT64_MAX, (uint64_t)3 << 62, 0xf0f0f0f0f0f0};
    (void)state;
    for (size_t count = 0; count < 200; count++)
        for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
            check(count, masks[i]);
    check(MAX, 0x3ff);
    check(MAX, UINT64_MAX);
}

static void items_before_are_counted(void **state)
{
    static const int numbers[] = {1, 3, 3, 3, 7};
    (void)state;
    assert_int_equal(PF_COUNT_BEFORE(5, i, numbers[i] < 3), 1);
    assert_int_equal(PF_COUNT_BEFORE(5, i, numbers[i] <= 3), 4);
    assert_int_equal(PF_COUNT_BEFORE(5, i, numbers[i] < 1), 0);
    assert_int_equal(PF_COUNT_BEFORE(5, i, numbers[i] < 9), 5);
    assert_int_equal(PF_COUNT_BEFORE(0, i, numbers[i] < 9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_ascend_and_equal_ones_stay),
                                       cmocka_unit_test(items_before_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
