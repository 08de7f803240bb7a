/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/stats.h"

static void test_sums_and_spread(void **state)
{
    struct pf_stats stats = {0};
    (void)state;
    assert_true(pf_stats_error_percent(&stats) == 0);
    assert_int_equal(pf_stats_average(&stats), 0);
    pf_stats_add(&stats, 2000000);
    assert_true(pf_stats_error_percent(&stats) == 0);
    pf_stats_add(&stats, 4000000);
    pf_stats_add(&stats, 1000000);
    assert_int_equal(stats.count, 3);
    assert_int_equal(stats.sum, 7000000);
    assert_int_equal(stats.min, 1000000);
    assert_int_equal(stats.max, 4000000);
    assert_int_equal(pf_stats_average(&stats), 2333333);
    assert_true(fabs(pf_stats_error_percent(&stats) - 37.796447) < 1e-6);
}

static void test_buckets(void **state)
{
    (void)state;
    assert_int_equal(pf_histogram_bucket(0), 0);
    assert_int_equal(pf_histogram_bucket(1), 0);
    assert_int_equal(pf_histogram_bucket(2), 1);
    assert_int_equal(pf_histogram_bucket(3), 1);
    assert_int_equal(pf_histogram_bucket(UINT64_MAX), 63);
}

static void test_percentiles(void **state)
{
    struct pf_stats stats = {0};
    struct pf_histogram histogram = {{0}};
    (void)state;
    assert_int_equal(pf_histogram_percentile(&histogram, &stats, 50), 0);
    for (uint64_t value = 1; value <= 1000; value++) {
        pf_stats_add(&stats, value);
        pf_histogram_add(&histogram, value);
    }
    assert_in_range(pf_histogram_percentile(&histogram, &stats, 50), 495, 505);
    assert_in_range(pf_histogram_percentile(&histogram, &stats, 25), 245, 255);
    assert_int_equal(pf_histogram_percentile(&histogram, &stats, 100), 1000);
    assert_int_equal(pf_histogram_percentile(&histogram, &stats, 0.001), 1);
    pf_stats_add(&stats, UINT64_MAX);
    pf_histogram_add(&histogram, UINT64_MAX);
    assert_true(pf_histogram_percentile(&histogram, &stats, 100) > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_and_spread),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_percentiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
