/* SPDX-License-Identifier: MIT */
/* What functions and calls weigh, of a profile that is written here as a file. */
#include <perfile/profile.h>

#include "counting.h"

enum { MAIN, WORK, FREE, LEAF, FUNCTIONS };

/*
 * main -> work -> work -> free (3 samples, period 30); main -> work (1, 5); free -> work (2, 7), and one of main ->
 * work whose sampled address is in leaf, which its stack does not have (1, 100). The second belongs to another event.
 */
static const char profile_text[] = "perfile-profile 2\n"
                                   "E\tcycles\tcycles\t0\t0\t0\t0\n"
                                   "E\tfaults\tevents\t0\t1\t2\t1\n"
                                   "F\tmain\t\\N\tmain\t\\N\t1\t1\t-\t0\t0\n"
                                   "F\twork\t\\N\twork\t\\N\t2\t1\t-\t0\t0\n"
                                   "F\tfree\t\\N\tfree\t\\N\t3\t1\t-\t0\t0\n"
                                   "F\tleaf\t\\N\tleaf\t\\N\t4\t1\t-\t0\t0\n"
                                   "P\t\\N\t0\t0\t0\t0\t0\t0\n"
                                   "P\t\\N\t0\t0\t0\t1\t0\t0\n"
                                   "P\t\\N\t0\t0\t0\t2\t0\t0\n"
                                   "P\t\\N\t0\t0\t0\t3\t0\t0\n"
                                   "K\t0\t-1\t-1\t-1\t\\N\t\\N\t18446744073709551615\n"
                                   "K\t1\t-1\t-1\t-1\t\\N\t\\N\t18446744073709551615\n"
                                   "S\t-\t0\n" /* main */
                                   "S\t-\t2\n" /* free */
                                   "S\t0\t1\n" /* main, work */
                                   "S\t2\t1\n" /* main, work, work */
                                   "S\t1\t1\n" /* free, work */
                                   "S\t3\t2\n" /* main, work, work, free */
                                   "R\t5\t0\t2\t3\t30\t0\n"
                                   "R\t2\t1\t1\t1\t5\t9\n"
                                   "R\t4\t0\t1\t2\t7\t0\n"
                                   "R\t2\t0\t3\t1\t100\t0\n"
                                   "L\t7\t0\t0\t0\t0\t0\t0\n";

static struct perfile_calls *open_calls(const uint32_t *groups, uint32_t count)
{
    struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;
    struct perfile_profile *profile;
    struct perfile_calls *calls;
    struct perfile_error error;
    if (perfile_profile_read(profile_text, sizeof(profile_text) - 1, NULL, &profile, &error) < 0)
        fail_msg("%s", error.message);
    options.groups = groups;
    options.group_count = count;
    assert_int_equal(perfile_calls_open(profile, &options, &calls, &error), 0);
    perfile_profile_close(profile); /* it is not needed any longer */
    return calls;
}

static void add_all(struct perfile_calls *calls)
{
    assert_int_equal(perfile_calls_start(calls, NULL), 0);
    for (size_t i = 0; perfile_calls_leaf(calls, i) != PERFILE_NO_ID; i++)
        perfile_calls_add(calls, i);
    perfile_calls_sum(calls);
}

static void recursion_counts_once(void **state)
{
    static const uint64_t selves[] = {0, 12, 30, 100}, totals[] = {135, 142, 37, 100}, samples[] = {5, 7, 5, 1};
    (void)state;
    struct perfile_calls *calls = open_calls(NULL, 0);
    assert_int_equal(perfile_calls_value_count(calls), 3);
    for (int again = 0; again < 2; again++) {
        add_all(calls);
        for (uint32_t i = 0; i < FUNCTIONS; i++) {
            assert_int_equal(perfile_calls_self(calls, i)[1], selves[i]);
            assert_int_equal(perfile_calls_total(calls, i)[1], totals[i]);
            assert_int_equal(perfile_calls_total(calls, i)[0], samples[i]);
        }
        assert_int_equal(perfile_calls_total(calls, MAIN)[2], 9);
        assert_int_equal(perfile_calls_total(calls, FREE)[2], 0);
    }
    assert_null(perfile_calls_self(calls, FUNCTIONS));
    perfile_calls_close(calls);
}

static void only_samples_that_were_added_count(void **state)
{
    (void)state;
    struct perfile_calls *calls = open_calls(NULL, 0);
    add_all(calls);
    assert_int_equal(perfile_calls_start(calls, NULL), 0);
    perfile_calls_add(calls, 2);
    perfile_calls_add(calls, 4); /* does not exist */
    perfile_calls_sum(calls);
    assert_int_equal(perfile_calls_total(calls, WORK)[1], 7);
    assert_int_equal(perfile_calls_total(calls, FREE)[1], 7);
    assert_int_equal(perfile_calls_self(calls, FREE)[1], 0);
    assert_int_equal(perfile_calls_total(calls, MAIN)[0], 0);
    assert_int_equal(perfile_calls_total(calls, LEAF)[0], 0);
    perfile_calls_close(calls);
}

/* As the functions of a file are when its total is asked for. */
static void a_group_counts_once(void **state)
{
    static const uint32_t groups[] = {[MAIN] = 0, [WORK] = 1, [FREE] = 1, [LEAF] = 1}, wrong[] = {0, 1, 1, 2};
    (void)state;
    struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;
    struct perfile_calls *calls = open_calls(groups, 2);
    struct perfile_profile *profile;
    size_t count;
    add_all(calls);
    assert_int_equal(perfile_calls_total(calls, 0)[1], 135);
    assert_int_equal(perfile_calls_total(calls, 1)[1], 142);
    assert_int_equal(perfile_calls_self(calls, 1)[1], 142);
    assert_int_equal(perfile_calls_nodes(calls, 1, &count)[0], 1); /* work, of main */
    assert_int_equal(count, 2);
    perfile_calls_close(calls);
    assert_int_equal(perfile_profile_read(profile_text, sizeof(profile_text) - 1, NULL, &profile, NULL), 0);
    options.groups = wrong;
    options.group_count = 2;
    assert_int_equal(perfile_calls_open(profile, &options, &calls, NULL), PERFILE_ERROR_ARGUMENT);
    perfile_profile_close(profile);
}

/* Each caller before its callees: main, work, work, free; free, work. */
static void nodes_are_a_walk(void **state)
{
    static const uint32_t functions[] = {MAIN, WORK, WORK, FREE, FREE, WORK};
    static const uint32_t parents[] = {PERFILE_NO_ID, 0, 1, 2, PERFILE_NO_ID, 4};
    static const uint64_t periods[] = {135, 135, 30, 30, 7, 7};
    (void)state;
    struct perfile_calls *calls = open_calls(NULL, 0);
    add_all(calls);
    assert_int_equal(perfile_calls_node_count(calls), 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(perfile_calls_group(calls, i), functions[i]);
        assert_int_equal(perfile_calls_parent(calls, i), parents[i]);
        assert_int_equal(perfile_calls_node(calls, i)[1], periods[i]);
        assert_int_equal(perfile_calls_first(calls, i), i == 3 || i == 5 ? PERFILE_NO_ID : i + 1);
        assert_int_equal(perfile_calls_next(calls, i), i == 0 ? 4 : PERFILE_NO_ID);
    }
    assert_int_equal(perfile_calls_first(calls, PERFILE_NO_ID), 0);
    assert_null(perfile_calls_node(calls, 6));
    perfile_calls_close(calls);
}

static void samples_have_nodes_and_marks(void **state)
{
    static const uint32_t ends[] = {3, 1, 5, 1}, leaf_nodes[] = {3, 1, 5, PERFILE_NO_ID};
    static const uint16_t marks[] = {1, 2, 4, 8}, all[] = {7, 3, 6, 11};
    (void)state;
    struct perfile_calls *calls = open_calls(NULL, 0);
    assert_null(perfile_calls_total(calls, MAIN)); /* nothing was started */
    assert_int_equal(perfile_calls_start(calls, NULL), 0);
    for (int marked = 1; marked >= 0; marked--) {
        perfile_calls_mark(calls, marked ? marks : NULL);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(perfile_calls_end(calls, i), ends[i]);
            assert_int_equal(perfile_calls_leaf_node(calls, i), leaf_nodes[i]);
            assert_int_equal(perfile_calls_marks(calls, i), marked ? all[i] : 0);
        }
    }
    assert_int_equal(perfile_calls_end(calls, 4), PERFILE_NO_ID);
    perfile_calls_close(calls);
}

static void memory_may_be_short(void **state)
{
    (void)state;
    struct perfile_profile *profile;
    int result = PERFILE_ERROR_MEMORY;
    assert_int_equal(perfile_profile_read(profile_text, sizeof(profile_text) - 1, NULL, &profile, NULL), 0);
    for (int left = 0; result < 0; left++) {
        struct perfile_calls_options options = PERFILE_CALLS_OPTIONS_INIT;
        struct perfile_calls *calls;
        struct counting c;
        counting_open(&c, left);
        options.allocator = &c.allocator;
        result = perfile_calls_open(profile, &options, &calls, NULL);
        assert_true(result == 0 || (result == PERFILE_ERROR_MEMORY && !calls));
        if (result == 0)
            result = perfile_calls_start(calls, NULL);
        if (result == 0)
            add_all(calls);
        perfile_calls_close(calls);
        counting_close(&c);
        assert_true(left < 100);
    }
    perfile_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_counts_once),        cmocka_unit_test(only_samples_that_were_added_count),
        cmocka_unit_test(a_group_counts_once),          cmocka_unit_test(nodes_are_a_walk),
        cmocka_unit_test(samples_have_nodes_and_marks), cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
