/* SPDX-License-Identifier: MIT */
#include "schema/schema.h"

#include <stdio.h>

#include "made.h"

static void test_record_types(void **state)
{
    (void)state;
    uint32_t before = 0, type;
    size_t count = 0;
    for (; (type = perfile_record_type_at(count)); count++, before = type) {
        const struct pf_record_info *info = pf_record_info(type);
        assert_true(type > before); /* in order, none twice */
        assert_non_null(info);
        assert_int_equal(info->number, type);
        assert_string_equal(perfile_record_name(type), info->name);
        assert_ptr_equal(perfile_record_doc(type), info->doc);
        assert_true(strlen(info->doc) > 10 && info->doc[strlen(info->doc) - 1] == '.');
        assert_true(strlen(info->since) > 2);
        assert_true(info->min_bytes >= 8);
        int expected = type < 64 ? PF_CLASS_KERNEL : pf_record_is_android(type) ? PF_CLASS_ANDROID : PF_CLASS_USER;
        assert_int_equal(info->record_class, expected);
    }
    assert_true(count >= 55);
    assert_int_equal(perfile_record_type_at(count), 0);
    assert_int_equal(perfile_record_type_at(SIZE_MAX), 0);
}

static void test_unknown_types(void **state)
{
    (void)state;
    static const uint32_t types[] = {0, 23, 63, 87, 32768, 32779, UINT32_MAX};
    for (size_t i = 0; i < PF_COUNT(types); i++) {
        assert_null(pf_record_info(types[i]));
        assert_null(perfile_record_name(types[i]));
        assert_null(perfile_record_doc(types[i]));
    }
}

/* The sums of what always is there, by hand. */
static void test_min_sizes(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        uint16_t bytes;
    } cases[] = {
        {PERFILE_RECORD_MMAP, 8 + 32 + 1},
        {PERFILE_RECORD_COMM, 8 + 8 + 1},
        {PERFILE_RECORD_EXIT, 32},
        {PERFILE_RECORD_SAMPLE, 8},
        {PERFILE_RECORD_MMAP2, 8 + 32 + 9}, /* its union counts as nothing */
        {PERFILE_RECORD_SWITCH, 8},
        {PERFILE_RECORD_TEXT_POKE, 8 + 12},
        {PERFILE_RECORD_HEADER_BUILD_ID, 8 + 28 + 1},
        {PERFILE_RECORD_TIME_CONV, 32}, /* without its later fields */
        {PERFILE_RECORD_AUXTRACE_ERROR, 8 + 32 + 64},
        {PERFILE_RECORD_FINISHED_ROUND, 8},
    };
    for (size_t i = 0; i < PF_COUNT(cases); i++)
        assert_int_equal(pf_record_info(cases[i].type)->min_bytes, cases[i].bytes);
}

static void test_features(void **state)
{
    (void)state;
    uint32_t before = 0, number;
    size_t count = 0;
    for (; (number = perfile_feature_number_at(count)); count++, before = number) {
        assert_true(number > before && number < 256);
        assert_non_null(perfile_feature_name(number));
        assert_non_null(perfile_feature_doc(number));
    }
    assert_true(count >= 41);
    assert_string_equal(perfile_feature_name(3), "HOSTNAME");
    assert_null(perfile_feature_name(0));
    assert_null(perfile_feature_name(255));
    assert_null(perfile_feature_doc(35));
}

static void test_sample_fields(void **state)
{
    (void)state;
    for (int bit = 0; bit <= 24; bit++)
        assert_non_null(perfile_sample_field_name(1ull << bit));
    assert_string_equal(perfile_sample_field_name(PERFILE_SAMPLE_TID), "pid");
    assert_string_equal(perfile_sample_field_name(PERFILE_SAMPLE_CALLCHAIN), "callchain");
    assert_string_equal(perfile_sample_field_name(PERFILE_SAMPLE_WEIGHT_STRUCT), "weight");
    assert_null(perfile_sample_field_name(0));
    assert_null(perfile_sample_field_name(3));
    assert_null(perfile_sample_field_name(1ull << 25));
    assert_null(perfile_sample_field_name(1ull << 63));
}

static void test_values(void **state)
{
    (void)state;
    uint64_t value;
    assert_string_equal(perfile_enum_name("cpumode", PERFILE_MISC_USER), "user");
    assert_string_equal(perfile_enum_name("callchain_context", PERFILE_CONTEXT_USER), "user");
    assert_string_equal(perfile_enum_name("software_event", PERFILE_COUNT_SW_CPU_CLOCK), "cpu-clock");
    assert_true(pf_enum_value("branch_sample_type", "any_call,u", 8, &value));
    assert_int_equal(value, PERFILE_SAMPLE_BRANCH_ANY_CALL);
    assert_false(pf_enum_value("branch_sample_type", "any_cal", 7, &value));
    assert_false(pf_enum_value("cpumode", "any_call", 8, &value));
    assert_null(perfile_enum_name("cpumode", 6));
    assert_null(perfile_enum_name("nothing", 0));
    assert_string_equal(perfile_register_name("x86_64", 7), "SP");
    assert_string_equal(perfile_register_name("aarch64", 32), "pc");
    assert_null(perfile_register_name("x86_64", 1000));
    assert_null(perfile_register_name("x86_64", UINT32_MAX));
    assert_null(perfile_register_name("vax", 0));
}

static void test_codes(void **state)
{
    (void)state;
    for (int code = PERFILE_ERROR_AGAIN; code <= 0; code++)
        assert_string_not_equal(perfile_code_name(code), "unknown");
    assert_string_equal(perfile_code_name(PERFILE_ERROR_DAMAGED), "damaged");
    assert_string_equal(perfile_code_name(PERFILE_ERROR_STOPPED), "stopped");
    assert_string_equal(perfile_code_name(PERFILE_ERROR_AGAIN - 1), "unknown");
    assert_string_equal(perfile_code_name(1), "unknown");
    assert_string_equal(perfile_code_name(INT32_MIN), "unknown");
    char text[64];
    snprintf(text, sizeof(text), "%d.%d.%d", PERFILE_VERSION_MAJOR, PERFILE_VERSION_MINOR, PERFILE_VERSION_PATCH);
    assert_string_equal(perfile_version(), text); /* the one is meson's, the other the header's */
    assert_int_equal(perfile_version_number(), PERFILE_VERSION);
}

/* By hand, as include/uapi/linux/perf_event.h has them. */
static void test_values_of_the_kernel(void **state)
{
    (void)state;
    assert_int_equal(PERFILE_TYPE_BREAKPOINT, 5);
    assert_int_equal(PERFILE_COUNT_SW_BPF_OUTPUT, 10);
    assert_int_equal(PERFILE_FORMAT_LOST, 16);
    assert_int_equal(PERFILE_SAMPLE_BRANCH_CALL_STACK, 2048);
    assert_int_equal(PERFILE_SAMPLE_BRANCH_COUNTERS, 524288);
    assert_int_equal(PERFILE_MISC_GUEST_USER, 5);
    assert_int_equal(PERFILE_BR_EXTEND_ABI, 15);
    assert_true(PERFILE_CONTEXT_HV == (uint64_t)-32 && PERFILE_CONTEXT_KERNEL == (uint64_t)-128);
    assert_true(PERFILE_CONTEXT_USER == (uint64_t)-512 && PERFILE_CONTEXT_USER_DEFERRED == (uint64_t)-640);
    assert_true(PERFILE_CONTEXT_GUEST == (uint64_t)-2048 && PERFILE_CONTEXT_GUEST_KERNEL == (uint64_t)-2176);
    assert_true(PERFILE_CONTEXT_GUEST_USER == (uint64_t)-2560 && PERFILE_CONTEXT_MAX == (uint64_t)-4095);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_the_kernel),
        cmocka_unit_test(test_record_types),
        cmocka_unit_test(test_unknown_types),
        cmocka_unit_test(test_min_sizes),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_sample_fields),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
