/* SPDX-License-Identifier: MIT */
/* What debug info that was made to be slow may cost. */
#include "symbol/probe/probe_parts.h"

#include "counting.h"

/* A unit with a function, which has a variable. */
static const uint8_t abbreviations[] = {1, 0x11, 1, 0, 0, 2, 0x2e, 1, 0, 0, 3, 0x34, 0, 0, 0, 0};
static const uint8_t info[] = {13, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 2, 3, 0, 0, 0};

static int count_unit(void *context, struct pf_probe_unit *unit)
{
    (void)unit;
    ++*(unsigned *)context;
    return 0;
}

static enum pf_walk enter(void *context, const struct pf_die *die)
{
    (void)die;
    ++*(unsigned *)context;
    return PF_WALK_INTO;
}

/* The steps that are left were counted down below 0, which was then an unlimited number of them. */
static void test_no_steps_are_left(void **state)
{
    struct pf_probe_unit unit = {.is_open = false};
    struct pf_probe_target target = {.units = &unit, .steps = 100};
    struct pf_debug *debug = &target.debug.file.debug;
    unsigned count = 0;
    (void)state;
    debug->swap = PF_NATIVE_BIG_ENDIAN;
    debug->sections[PF_DEBUG_INFO] = (struct pf_section){info, sizeof(info)};
    debug->sections[PF_DEBUG_ABBREV] = (struct pf_section){abbreviations, sizeof(abbreviations)};
    assert_true(pf_debug_open(debug, pf_allocator_or_default(NULL)));
    assert_int_equal(pf_probe_units(&target, count_unit, &count), 0);
    assert_false(pf_probe_walk(&target, &unit.top, enter, &count));
    assert_int_equal(count, 3);
    target.steps = 0;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pf_probe_units(&target, count_unit, &count), 0);
        assert_false(pf_probe_walk(&target, &unit.top, enter, &count));
        assert_false(pf_probe_step(&target));
        assert_int_equal(target.steps, 0);
    }
    assert_int_equal(count, 3);
    pf_debug_close(debug);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_steps_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
