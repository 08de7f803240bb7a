/* SPDX-License-Identifier: MIT */
/* Tests, intervals and error rates against values of an independent implementation, which are good to 6 digits. */
#include "analysis/diff/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect(double value, double wanted)
{
    if (fabs(value - wanted) > 6e-6 * fabs(wanted) + 1e-15)
        fail_msg("%.9g is not %.9g", value, wanted);
}

static struct pf_difference compare(const double *before, size_t n, const double *after, size_t m, double noise)
{
    struct pf_comparison comparison = {{before, n, 0}, {after, m, 0}, 1, noise};
    struct pf_difference difference;
    for (size_t i = 0; i < n; i++)
        comparison.before.samples += before[i];
    for (size_t i = 0; i < m; i++)
        comparison.after.samples += after[i];
    pf_compare(&comparison, &difference);
    return difference;
}

static const struct vector {
    size_t before_count, after_count;
    double before[6], after[6];
    double difference, error, df, t, p, low, high, inner_low, inner_high, detectable, q;
} vectors[] = {
    {5,
     5,
     {100, 104, 98, 101, 97},
     {125, 121, 127, 124, 128},
     25,
     3.35410,
     7.90244,
     7.45356,
     7.71614e-05,
     17.2488,
     32.7512,
     18.7529,
     31.2471,
     10.7347,
     0.00054013},
    {5,
     5,
     {200, 203, 198, 204, 195},
     {201, 197, 205, 199, 203},
     1,
     4.47772,
     7.99995,
     0.223328,
     0.828878,
     -9.32566,
     11.3257,
     -7.32655,
     9.32655,
     14.3059,
     0.828878},
    {5,
     5,
     {50, 80, 61, 95, 44},
     {70, 52, 99, 60, 84},
     7,
     12.6846,
     7.88653,
     0.551849,
     0.596338,
     -22.3242,
     36.3242,
     -16.6318,
     30.6318,
     40.6085,
     0.757692},
    {3,
     3,
     {40, 40, 40},
     {44, 44, 44},
     4,
     2.64575,
     3.99095,
     1.51186,
     0.205264,
     -3.35236,
     11.3524,
     -1.64401,
     9.64401,
     9.84257,
     0.359213},
    {5,
     5,
     {0},
     {6, 9, 7, 5, 8},
     7,
     0.724569,
     4.39900,
     9.66092,
     0.000398651,
     5.05823,
     8.94177,
     5.49472,
     8.50528,
     2.61645,
     0.00139528},
    {3,
     6,
     {1000, 1012, 991},
     {1049, 1061, 1040, 1058, 1047, 1055},
     50.6667,
     11.2799,
     4.19058,
     4.49177,
     0.00978218,
     19.9024,
     81.4309,
     26.9304,
     74.4029,
     41.3225,
     0.0228251},
    {3,
     3,
     {1, 0, 2},
     {2, 1, 1},
     0.333333,
     0.666667,
     3.20000,
     0.5,
     0.64945,
     -1.71522,
     2.38189,
     -1.1964,
     1.86306,
     2.69447,
     0.757692},
};

static void test_several(void **state)
{
    double p[COUNT(vectors)];
    size_t order[COUNT(vectors)];
    (void)state;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        const struct pf_difference d = compare(v->before, v->before_count, v->after, v->after_count, 0);
        expect(d.difference, v->difference);
        expect(d.error, v->error);
        expect(d.df, v->df);
        expect(d.difference / d.error, v->t);
        expect(d.p, v->p);
        expect(d.low, v->low);
        expect(d.high, v->high);
        expect(d.inner_low, v->inner_low);
        expect(d.inner_high, v->inner_high);
        expect(d.detectable, v->detectable);
        assert_false(d.sampling_only);
        p[i] = d.p;
    }
    pf_adjust(p, order, COUNT(p));
    for (size_t i = 0; i < COUNT(vectors); i++)
        expect(p[i], vectors[i].q);
}

static void test_one_against_several(void **state)
{
    const double low = 103, high = 118;
    struct pf_difference d = compare(vectors[0].before, 5, &low, 1, 0);
    (void)state;
    expect(d.difference, 3);
    expect(d.error, 5.47723);
    expect(d.df, 4);
    expect(d.p, 0.613011);
    expect(d.low, -12.2072);
    expect(d.high, 18.2072);
    d = compare(vectors[0].before, 5, &high, 1, 0);
    expect(d.p, 0.0303197);
    expect(d.low, 2.79278);
    expect(d.high, 33.2072);
    d = compare(&high, 1, vectors[0].before, 5, 0);
    expect(d.p, 0.0303197);
    expect(d.low, -33.2072);
}

static void test_one_against_one(void **state)
{
    const double numbers[] = {200, 250, 400};
    struct pf_difference d = compare(numbers, 1, numbers + 1, 1, 0);
    (void)state;
    assert_true(d.sampling_only);
    expect(d.low, 8.37671);
    expect(d.high, 91.6233);
    d = compare(numbers, 1, numbers + 1, 1, 0.1);
    assert_false(d.sampling_only);
    expect(d.low, -25.2994);
    expect(d.high, 125.299);
    expect(d.p, 0.193105);
    d = compare(numbers, 1, numbers + 2, 1, 0.1);
    expect(d.p, 8.79744e-05);
    d = compare(numbers, 1, numbers + 1, 2, 0);
    assert_true(d.sampling_only);
}

static void test_limits(void **state)
{
    struct pf_difference d = compare(vectors[0].before, 5, vectors[0].after, 5, 0);
    (void)state;
    expect(pf_compare_above(&d, 5), 0.000176785);
    expect(pf_compare_above(&d, 30), 0.912584);
    d = compare(vectors[5].before, 3, vectors[5].after, 6, 0);
    expect(pf_compare_above(&d, 0.02 * d.before), 0.025279);
    expect(pf_compare_above(&d, 0.05 * d.before), 0.479455);
}

static void test_distribution(void **state)
{
    static const struct {
        double df, outer, inner, power;
    } quantiles[] = {{1, 12.706205, 6.313752, 1.376382},
                     {4.5, 2.658912, 2.065576, 0.928966},
                     {18, 2.100922, 1.734064, 0.862049},
                     {INFINITY, 1.959964, 1.644854, 0.841621}};
    (void)state;
    for (size_t i = 0; i < COUNT(quantiles); i++) {
        expect(pf_t_quantile(0.975, quantiles[i].df), quantiles[i].outer);
        expect(pf_t_quantile(0.95, quantiles[i].df), quantiles[i].inner);
        expect(pf_t_quantile(0.8, quantiles[i].df), quantiles[i].power);
    }
    expect(pf_t_two_sided(2.5, 4), 0.0667665448);
    expect(pf_t_two_sided(2.5, 4.5), 0.0599056865);
    expect(pf_t_two_sided(-12, 8), 2.14386675e-06);
    expect(pf_t_two_sided(30, 3), 8.13528043e-05);
    expect(pf_t_upper(-2.5, 4), 1 - 0.0667665448 / 2);
    expect(pf_t_two_sided(0, 3), 1);
}

static void test_adjusting(void **state)
{
    double p[] = {0.041, 0.001, 0.205, 0.039, 0.008, 0.042, 0.074, 0.06};
    const double q[] = {0.0672, 0.008, 0.205, 0.0672, 0.032, 0.0672, 0.0845714, 0.08};
    size_t order[COUNT(p)];
    (void)state;
    pf_adjust(p, order, COUNT(p));
    for (size_t i = 0; i < COUNT(p); i++)
        expect(p[i], q[i]);
    pf_adjust(p, order, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several),         cmocka_unit_test(test_one_against_several),
        cmocka_unit_test(test_one_against_one), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_distribution),    cmocka_unit_test(test_adjusting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
