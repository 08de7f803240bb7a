/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"
#include "made.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static void test_numbers_in_both_orders(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        bool little = PF_NATIVE_BIG_ENDIAN == (swap == 1);
        struct pf_cursor c = pf_cursor_make(bytes, sizeof(bytes), 100, swap);
        assert_int_equal(pf_cursor_peek8(&c), 1);
        assert_int_equal(pf_cursor_u8(&c), 1);
        assert_int_equal(pf_cursor_u16(&c), little ? 0x0302 : 0x0203);
        assert_int_equal(pf_cursor_u32(&c), little ? 0x07060504 : 0x04050607);
        assert_true(pf_cursor_u64(&c) == (little ? 0x0f0e0d0c0b0a0908 : 0x08090a0b0c0d0e0f));
        assert_int_equal(pf_cursor_left(&c), 1);
        assert_int_equal(pf_cursor_offset(&c), 115);
        assert_false(c.failed);
    }
}

static void test_failure_is_for_good(void **state)
{
    (void)state;
    struct perfile_error error;
    struct pf_cursor c = pf_cursor_make(bytes, 6, 0x100, false);
    pf_cursor_u32(&c);
    assert_int_equal(pf_cursor_u64(&c), 0);
    assert_true(c.failed);
    assert_int_equal(pf_cursor_u8(&c), 0); /* there was one, but not any more */
    assert_int_equal(pf_cursor_peek8(&c), 0);
    assert_null(pf_cursor_take(&c, 1));
    assert_int_equal(pf_cursor_left(&c), 0);
    assert_int_equal(pf_cursor_error(&c, "thing", &error), PERFILE_ERROR_DAMAGED);
    assert_int_equal(error.offset, 0x104); /* of the first failure */
    assert_string_equal(error.message, "thing at 0x104: 8 bytes needed, 2 available");
}

static void test_taking_nothing_at_the_end(void **state)
{
    (void)state;
    struct pf_cursor c = pf_cursor_make(bytes, 0, 0, false);
    assert_ptr_equal(pf_cursor_take(&c, 0), bytes);
    assert_non_null(pf_cursor_take_array(&c, 0, 8));
    assert_false(c.failed);
    assert_null(pf_cursor_take(&c, 1));
    c = pf_cursor_make(NULL, 0, 0, false); /* of a section that is missing; UBSan checks the arithmetic */
    assert_null(pf_cursor_take(&c, 0));
    assert_false(c.failed);
}

static void test_arrays_that_cannot_be(void **state)
{
    (void)state;
    static const uint64_t counts[] = {3, UINT64_MAX / 8, UINT64_MAX / 8 + 1, UINT64_MAX / 8 + 2, UINT64_MAX};
    for (size_t i = 0; i < PF_COUNT(counts); i++) {
        struct pf_cursor c = pf_cursor_make(bytes, sizeof(bytes), 0, false);
        assert_null(pf_cursor_take_array(&c, counts[i], 8));
        assert_true(c.failed);
    }
    struct pf_cursor c = pf_cursor_make(bytes, sizeof(bytes), 0, false);
    assert_ptr_equal(pf_cursor_take_array(&c, 2, 8), bytes);
    assert_int_equal(pf_cursor_left(&c), 0);
}

static void test_text(void **state)
{
    (void)state;
    static const uint8_t text[] = {'a', 'b', 0, 0, 'c'};
    size_t length;
    struct pf_cursor c = pf_cursor_make(text, sizeof(text), 0, false);
    assert_string_equal(pf_cursor_text(&c, &length), "ab");
    assert_int_equal(length, 2);
    assert_string_equal(pf_cursor_text(&c, &length), "");
    assert_int_equal(length, 0);
    assert_false(c.failed);
    assert_string_equal(pf_cursor_text(&c, &length), ""); /* "c" has no NUL */
    assert_true(c.failed);
    assert_int_equal(c.wanted, 2);
    assert_int_equal(c.had, 1);
}

static void test_sums_and_products(void **state)
{
    (void)state;
    uint64_t result;
    assert_true(pf_add(UINT64_MAX - 1, 1, &result) && result == UINT64_MAX);
    assert_false(pf_add(UINT64_MAX, 1, &result));
    assert_true(pf_multiply(UINT64_MAX / 3, 3, &result) && result == UINT64_MAX);
    assert_false(pf_multiply(UINT64_MAX / 3 + 1, 3, &result));
    assert_true(pf_align8(0) == 0 && pf_align8(1) == 8 && pf_align8(8) == 8);
    assert_true(pf_align8(UINT64_MAX) == UINT64_MAX - 7 && pf_align8(UINT64_MAX - 7) == UINT64_MAX - 7);
    assert_int_equal(pf_text_length("abc", 3), 3);
    assert_int_equal(pf_text_length("a\0c", 3), 1);
    assert_int_equal(pf_text_length(NULL, 0), 0);
}

static void test_wide_products(void **state)
{
    (void)state;
    const uint64_t max = UINT64_MAX;
    uint64_t high, low;
    pf_multiply_wide(max, max, &high, &low);
    assert_true(high == max - 1 && low == 1);
    pf_multiply_wide((uint64_t)1 << 63, 6, &high, &low);
    assert_true(high == 3 && low == 0);
    pf_multiply_wide(0xdeadbeefcafef00d, 0x123456789abcdef1, &high, &low);
    assert_true(high == 0xfd5bdeeeb2a05a3 && low == 0x3e24057f49b7423d);
    assert_true(pf_product_within(max, max - 1, max, max));
    assert_true(pf_product_within(max, max, max, max));
    assert_false(pf_product_within(max, max, max, max - 1));
    assert_true(pf_product_within(0, max, 0, 1));
    assert_false(pf_product_within(1, 7, 2, 3));
}

/* A cursor of a null pointer and 0 bytes: clang's UBSan refuses any addition to a null pointer. */
static void test_of_nothing(void **state)
{
    struct pf_cursor c = pf_cursor_make(NULL, 0, 7, false);
    (void)state;
    assert_int_equal(pf_cursor_left(&c), 0);
    assert_int_equal(pf_cursor_u8(&c), 0);
    assert_true(c.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_in_both_orders),
        cmocka_unit_test(test_failure_is_for_good),
        cmocka_unit_test(test_taking_nothing_at_the_end),
        cmocka_unit_test(test_arrays_that_cannot_be),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_sums_and_products),
        cmocka_unit_test(test_wide_products),
        cmocka_unit_test(test_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
