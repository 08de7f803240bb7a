/* SPDX-License-Identifier: MIT */
/* Which threads and processors are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "counting.h"
#include "record/target.h"

static struct perfile_error error;

static void processors_are_listed(void **state)
{
    static const struct {
        const char *list;
        size_t count; /* 0: no list */
    } rows[] = {{"0", 1}, {"0-3,7", 5}, {"2\n", 1}, {"", 0}, {"1-", 0}, {"3-1", 0}, {"-1", 0}, {"0,x", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct perfile_recorder_options options = {.size = sizeof(options), .cpus = rows[i].list};
        struct pf_target target;
        const int result = pf_target_open(&target, &options, &error);
        assert_int_equal(result, rows[i].count ? 0 : PERFILE_ERROR_ARGUMENT);
        if (result == 0)
            assert_int_equal(target.cpu_count, rows[i].count);
        pf_target_close(&target);
    }
}

/* Tasks that start elsewhere had no names. */
static void what_tracks_is_opened_on_all_processors(void **state)
{
    const struct perfile_recorder_options all = {.size = sizeof(all), .flags = PERFILE_RECORDER_ALL_CPUS};
    const struct perfile_recorder_options one = {.size = sizeof(one), .cpus = "0"};
    struct pf_target everywhere, target;
    bool seen[4096] = {false};
    (void)state;
    assert_int_equal(pf_target_open(&everywhere, &all, &error), 0);
    assert_int_equal(pf_target_open(&target, &one, &error), 0);
    assert_int_equal(pf_target_track_everywhere(&target, one.cpus, &error), 0);
    assert_int_equal(target.cpus[0], 0);
    for (size_t i = 0; i < target.cpu_count; i++) {
        assert_true(target.cpus[i] < 4096 && !seen[target.cpus[i]]);
        seen[target.cpus[i]] = true;
    }
    for (size_t i = 0; i < everywhere.cpu_count; i++)
        assert_true(seen[everywhere.cpus[i]]);
    pf_target_close(&target);
    pf_target_close(&everywhere);
}

static void out_of_memory_is_not_a_wrong_list(void **state)
{
    static const struct perfile_recorder_options cases[] = {{.cpus = "0-40"}, {.flags = PERFILE_RECORDER_ALL_CPUS}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int left = 0, result = -1; result < 0; left++) {
            struct perfile_recorder_options options = cases[i];
            struct pf_target target;
            struct counting counting;
            counting_open(&counting, left);
            options.allocator = &counting.allocator;
            result = pf_target_open(&target, &options, &error);
            assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
            pf_target_close(&target);
            counting_close(&counting);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_are_listed),
        cmocka_unit_test(what_tracks_is_opened_on_all_processors),
        cmocka_unit_test(out_of_memory_is_not_a_wrong_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
