/* SPDX-License-Identifier: MIT */
#include "base/counted.h"
#include "made.h"

static void test_of_one_the_noun_and_its_verbs_are_singular(void **state)
{
    static const struct {
        uint64_t count;
        const char *what, *text;
    } cases[] = {
        {0, "samples have no symbol", "0 samples have no symbol"},
        {4711, "findings", "4711 findings"},
        {1, "findings", "1 finding"},
        {1, "bytes are not accounted for", "1 byte is not accounted for"},
        {1, "samples have no branches and are not shown", "1 sample has no branches and is not shown"},
        {1, "more rows", "1 more row"},
        {1, "others", "1 other"},
    };
    char text[PF_COUNTED_BYTES];
    (void)state;
    for (size_t i = 0; i < PF_COUNT(cases); i++)
        assert_string_equal(pf_count_of(cases[i].count, cases[i].what, text), cases[i].text);
}

static void test_of_one_of_several_the_noun_is_plural_and_its_verbs_are_singular(void **state)
{
    char text[PF_COUNTED_BYTES];
    (void)state;
    assert_string_equal(pf_part_of(1, 5, "samples are drawn", text), "1 of 5 samples is drawn");
    assert_string_equal(pf_part_of(1, 1, "recordings have no samples", text), "1 of 1 recording has no samples");
    assert_string_equal(pf_part_of(0, 1, "files", text), "0 of 1 file");
    assert_string_equal(pf_part_of(2, 5, "times off CPU have no stack", text), "2 of 5 times off CPU have no stack");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_one_of_several_the_noun_is_plural_and_its_verbs_are_singular),
        cmocka_unit_test(test_of_one_the_noun_and_its_verbs_are_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
