/* SPDX-License-Identifier: MIT */
#include "base/sized.h"

#include "made.h"

/* What a program of another version may have filled. */
struct ours {
    size_t size;
    uint64_t first, second;
};
struct older {
    size_t size;
    uint64_t first;
};
struct newer {
    struct ours known;
    uint64_t third;
};

static struct perfile_error error;

static void older_programs_leave_new_members_alone(void **state)
{
    const struct older theirs = {.size = sizeof(theirs), .first = 5};
    struct ours all = {.size = sizeof(all), .second = 9};
    (void)state;
    assert_int_equal(pf_sized_take(&all, sizeof(all), &theirs, "options", &error), 0);
    assert_int_equal(all.first, 5);
    assert_int_equal(all.second, 9);
    assert_int_equal(all.size, sizeof(all));
}

static void newer_programs_may_not_ask_for_more(void **state)
{
    struct newer theirs = {.known = {.size = sizeof(theirs), .first = 5}};
    struct ours all = {.size = sizeof(all)};
    (void)state;
    assert_int_equal(pf_sized_take(&all, sizeof(all), &theirs, "options", &error), 0);
    assert_int_equal(all.first, 5);
    assert_int_equal(all.size, sizeof(all));
    theirs.third = 1;
    assert_int_equal(pf_sized_take(&all, sizeof(all), &theirs, "options", &error), PERFILE_ERROR_ARGUMENT);
    assert_string_equal(error.message, "options: members are set that this version of the library does not know");
}

static void sizes_that_are_not_set(void **state)
{
    struct ours all = {.size = sizeof(all)}, theirs = {.first = 5};
    (void)state;
    for (theirs.size = 0; theirs.size < sizeof(theirs.size); theirs.size++) {
        assert_int_equal(pf_sized_take(&all, sizeof(all), &theirs, "options", &error), PERFILE_ERROR_ARGUMENT);
        assert_string_equal(error.message, "options: size is not set");
        assert_int_equal(pf_sized_give(&theirs, &all, sizeof(all)), PERFILE_ERROR_ARGUMENT);
    }
    assert_int_equal(all.first, 0);
    assert_int_equal(pf_sized_take(&all, sizeof(all), NULL, "options", &error), 0);
}

static void results_fit_the_caller(void **state)
{
    const struct ours all = {.size = sizeof(all), .first = 5, .second = 9};
    struct newer larger = {.known = {.size = sizeof(larger)}, .third = 1};
    struct {
        struct older made;
        uint64_t after;
    } smaller = {.made = {.size = sizeof(smaller.made)}, .after = 1};
    (void)state;
    assert_int_equal(pf_sized_give(&larger, &all, sizeof(all)), 0);
    assert_int_equal(larger.known.size, sizeof(larger));
    assert_int_equal(larger.known.second, 9);
    assert_int_equal(larger.third, 0);
    assert_int_equal(pf_sized_give(&smaller.made, &all, sizeof(all)), 0);
    assert_int_equal(smaller.made.size, sizeof(smaller.made));
    assert_int_equal(smaller.made.first, 5);
    assert_int_equal(smaller.after, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_programs_leave_new_members_alone),
        cmocka_unit_test(newer_programs_may_not_ask_for_more),
        cmocka_unit_test(sizes_that_are_not_set),
        cmocka_unit_test(results_fit_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
