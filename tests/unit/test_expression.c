/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/expression.h"
#include "base/bytes.h"

static const struct {
    const char *name;
    double value;
} names[] = {{"cache-misses", 7}, {"cache", 40}, {"misses", 4},
             {"zero", 0},         {"lost", NAN}, {"cpu/event=0x3c,umask=1/", 9}};

static size_t find(const void *context, const char *text, uint32_t *number)
{
    size_t longest = 0;
    (void)context;
    for (uint32_t i = 0; i < PF_COUNT(names); i++)
        if (strncmp(text, names[i].name, strlen(names[i].name)) == 0 && strlen(names[i].name) > longest) {
            longest = strlen(names[i].name);
            *number = i;
        }
    return longest;
}

static double value(const void *context, uint32_t number)
{
    (void)context;
    return names[number].value;
}

/* Returns the value, or NAN also where the expression is refused; then *result is an error. */
static double of(const char *text, int *result)
{
    struct pf_expression expression;
    struct perfile_error error;
    *result = pf_expression_open(&expression, text, find, NULL, pf_allocator_or_default(NULL), &error);
    const double found = *result < 0 ? NAN : pf_expression_of(&expression, value, NULL);
    pf_expression_close(&expression);
    return found;
}

static void test_values(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"8-4-2", 2},
        {"8/4/2", 1},
        {"- 2 * -3", 6},
        {"7 % 4", 3},
        {"cache-misses", 7},
        {"cache - misses", 36},
        {"cpu/event=0x3c,umask=1//3", 3},
        {"min(cache, 5) + max(1, misses)", 9},
        {"d_ratio(1, zero)", 0},
        {"d_ratio(1, misses)", 0.25},
        {"1/zero if zero else 5", 5},
        {"2 if cache > 3 else 1 if cache < 2 else 0", 2},
        {".5e1", 5},
    };
    int result;
    (void)state;
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        assert_true(of(cases[i].text, &result) == cases[i].value);
        assert_int_equal(result, 0);
    }
}

static void test_not_known(void **state)
{
    static const char *const cases[] = {"1/zero",           "1%zero",       "lost",
                                        "min(lost, 1)",     "max(1, lost)", "d_ratio(lost, 0)",
                                        "1 if lost else 2", "0 * lost",     "lost < 1"};
    int result;
    (void)state;
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        assert_true(isnan(of(cases[i], &result)));
        assert_int_equal(result, 0);
    }
}

static void test_refused(void **state)
{
    static const char *const cases[] = {"",         "1+",     "(1",  "1 2", "unknown", "min(1)",
                                        "min 1, 2", "1 if 2", "1,2", "inf", "1)"};
    char deep[4 * PF_EXPRESSION_DEPTH];
    int result;
    (void)state;
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        of(cases[i], &result);
        assert_int_equal(result, PERFILE_ERROR_ARGUMENT);
    }
    memset(deep, '(', sizeof(deep));
    deep[sizeof(deep) - 1] = '\0';
    of(deep, &result);
    assert_int_equal(result, PERFILE_ERROR_ARGUMENT);
    memset(deep, '-', sizeof(deep) - 1);
    of(deep, &result);
    assert_int_equal(result, PERFILE_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_not_known),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
