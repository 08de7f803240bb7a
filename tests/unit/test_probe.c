/* SPDX-License-Identifier: MIT */
/* What debug info that was made to be slow may cost. */
#include "symbol/probe/probe_parts.h"

#include "counting.h"

static int count_unit(void *context, Dwarf_Die *unit)
{
    (void)unit;
    ++*(unsigned *)context;
    return 0;
}

static enum pf_walk enter(void *context, Dwarf_Die *die)
{
    (void)die;
    ++*(unsigned *)context;
    return PF_WALK_INTO;
}

/* The steps that are left were counted down below 0, which was then an unlimited number of them. */
static void test_no_steps_are_left(void **state)
{
    struct pf_probe_target target = {.debug = PF_DWARF_FILE_CLOSED};
    Dwarf_Die top = {0};
    unsigned count = 0;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pf_probe_units(&target, count_unit, &count), 0);
        assert_false(pf_probe_walk(&target, &top, enter, &count));
        assert_false(pf_probe_step(&target));
        assert_int_equal(target.steps, 0);
    }
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_steps_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
