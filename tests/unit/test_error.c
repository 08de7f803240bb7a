/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "made.h"

static void test_message(void **state)
{
    (void)state;
    struct perfile_error error;
    assert_int_equal(pf_fail(&error, PERFILE_ERROR_DAMAGED, 0x1a3f8, "MMAP2 record", "no NUL within %d bytes", 40),
                     PERFILE_ERROR_DAMAGED);
    assert_int_equal(error.code, PERFILE_ERROR_DAMAGED);
    assert_int_equal(error.offset, 0x1a3f8);
    assert_string_equal(error.what, "MMAP2 record");
    assert_string_equal(error.message, "MMAP2 record at 0x1a3f8: no NUL within 40 bytes");
}

static void test_without_position_or_taker(void **state)
{
    (void)state;
    struct perfile_error error;
    assert_int_equal(pf_fail_memory(&error, "window"), PERFILE_ERROR_MEMORY);
    assert_string_equal(error.message, "window: out of memory");
    assert_true(error.offset == PERFILE_NO_OFFSET);
    assert_int_equal(pf_fail(NULL, PERFILE_ERROR_READ, 0, "x", "y"), PERFILE_ERROR_READ);
}

static void test_token(void **state)
{
    (void)state;
    struct perfile_error error;
    char text[200];
    memset(text, 'y', sizeof(text));
    assert_int_equal(pf_about(&error, "cycels,x", 6, pf_fail(&error, PERFILE_ERROR_ARGUMENT, 0, "events", "which")),
                     PERFILE_ERROR_ARGUMENT);
    assert_string_equal(error.token, "cycels");
    assert_string_equal(error.what, "events");
    pf_about(&error, text, sizeof(text), pf_fail(&error, PERFILE_ERROR_ARGUMENT, 0, "events", "which"));
    assert_int_equal(strlen(error.token), sizeof(error.token) - 1);
    pf_fail_memory(&error, "window");
    assert_string_equal(error.token, "");
    assert_int_equal(pf_about(NULL, "x", 1, PERFILE_ERROR_READ), PERFILE_ERROR_READ);
}

static void test_long_texts_are_cut(void **state)
{
    (void)state;
    struct perfile_error error;
    char text[1000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    pf_fail(&error, PERFILE_ERROR_OPEN, UINT64_MAX - 1, text, "%s", text);
    assert_int_equal(strlen(error.what), sizeof(error.what) - 1);
    assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
    assert_non_null(strstr(error.message, " at 0xfffffffffffffffe: x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_without_position_or_taker),
        cmocka_unit_test(test_long_texts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
