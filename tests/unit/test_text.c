/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

#include "counting.h"

/* ---- numbers, against printf ------------------------------------------------------------------------------------- */

/* Around every power of 10 and of 2. */
static void each_edge(void (*check)(uint64_t value))
{
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10)
        for (uint64_t d = 0; d < 3; d++)
            check(power + d - 1);
    for (int i = 0; i < 64; i++)
        for (uint64_t d = 0; d < 3; d++)
            check((1ull << i) + d - 1);
    check(UINT64_MAX);
}

static void check_digits(uint64_t value)
{
    char expected[32], got[32], fixed[32];
    int length = snprintf(expected, sizeof(expected), "%" PRIu64, value);
    assert_int_equal(pf_digit_count(value), length);
    *pf_digits(got, value) = '\0';
    assert_string_equal(got, expected);
    snprintf(expected, sizeof(expected), "%" PRIx64, value);
    *pf_hex_digits(got, value) = '\0';
    assert_string_equal(got, expected);
    snprintf(expected, sizeof(expected), "%09" PRIu64, value % 1000000000);
    *pf_digits_fixed(fixed, value % 1000000000, 9) = '\0';
    assert_string_equal(fixed, expected);
}

static void test_digits(void **state)
{
    (void)state;
    each_edge(check_digits);
}

static const char *text_of(struct pf_text *text)
{
    pf_put_char(text, '\0');
    text->used = 0;
    return text->data;
}

static struct pf_text number;

static void check_ms(uint64_t ns)
{
    char expected[64];
    for (int width = 0; width <= 12; width += 6) {
        snprintf(expected, sizeof(expected), "%*.3f", width, (double)ns / 1e6);
        pf_put_ms(&number, ns, (unsigned)width);
        assert_string_equal(text_of(&number), expected);
    }
}

static void milliseconds_are_those_of_printf(void **state)
{
    (void)state;
    assert_int_equal(pf_text_open(&number, pf_allocator_or_default(NULL), NULL, NULL), 0);
    each_edge(check_ms);
    for (uint64_t ns = 1; ns < (uint64_t)1 << 52; ns = ns * 3 / 2 + 1)
        for (uint64_t below = 498; below < 503; below++)
            check_ms(ns / 1000 * 1000 + below);
    pf_text_close(&number);
}

static void test_put_numbers(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, -1, 9, -10, INT32_MIN, INT64_MAX, INT64_MIN};
    struct pf_text text;
    char expected[64];
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    for (size_t i = 0; i < PF_COUNT(values); i++) {
        snprintf(expected, sizeof(expected), "%" PRId64 " %" PRIu64 " %" PRIx64, values[i], (uint64_t)values[i],
                 (uint64_t)values[i]);
        pf_put_signed(&text, values[i]);
        pf_put_char(&text, ' ');
        pf_put_unsigned(&text, (uint64_t)values[i]);
        pf_put_char(&text, ' ');
        pf_put_hex(&text, (uint64_t)values[i]);
        assert_string_equal(text_of(&text), expected);
    }
    static const uint64_t grouped[] = {0, 999, 1000, 21947370, UINT64_MAX};
    for (size_t i = 0; i < PF_COUNT(grouped); i++) {
        pf_put_grouped(&text, grouped[i]);
        pf_put_char(&text, ' ');
    }
    assert_string_equal(text_of(&text), "0 999 1,000 21,947,370 18,446,744,073,709,551,615 ");
    pf_put_hex_bytes(&text, "\x00\x7f\xff", 3);
    pf_put_format(&text, "-%s-%03d", "a", 7);
    assert_string_equal(text_of(&text), "007fff-a-007");
    pf_text_close(&text);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void test_json_strings(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *json;
    } cases[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1b\x1f\x7f", "\"\\u0001\\u001b\\u001f\\u007f\""},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7", "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7\""},
        {"\x80", "\"\\\\x80\""},                       /* a continuation alone */
        {"\xc3", "\"\\\\xc3\""},                       /* cut off */
        {"\xc3x", "\"\\\\xc3x\""},                     /* broken off */
        {"\xe2\x82", "\"\\\\xe2\\\\x82\""},            /* cut off */
        {"\xc0\xaf", "\"\\\\xc0\\\\xaf\""},            /* overlong */
        {"\xe0\x80\xaf", "\"\\\\xe0\\\\x80\\\\xaf\""}, /* overlong */
        {"\xf0\x80\x80\xaf", "\"\\\\xf0\\\\x80\\\\x80\\\\xaf\""},
        {"\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\""}, /* a surrogate */
        {"\xed\x9f\xbf\xee\x80\x80", "\"\xed\x9f\xbf\xee\x80\x80\""},
        {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""}, /* the last one */
        {"\xf4\x90\x80\x80", "\"\\\\xf4\\\\x90\\\\x80\\\\x80\""},
        {"\xff\xfe", "\"\\\\xff\\\\xfe\""},
    };
    struct pf_text text;
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        size_t length = strlen(cases[i].bytes);
        uint8_t *block = made_block(cases[i].bytes, length);
        pf_put_json_string(&text, block, length);
        assert_string_equal(text_of(&text), cases[i].json);
        free(block);
    }
    pf_put_json_string(&text, "a\0b", 3);
    assert_string_equal(text_of(&text), "\"a\\u0000b\"");
    pf_text_close(&text);
}

static void test_crc32(void **state)
{
    (void)state;
    assert_int_equal(pf_crc32(0, "", 0), 0);
    assert_int_equal(pf_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(pf_crc32(pf_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
    assert_int_equal(pf_crc32(0, "\0\0\0\0", 4), 0x2144df1c);
}

/* ---- the way out ------------------------------------------------------------------------------------------------- */

struct sink {
    uint32_t crc;
    size_t bytes;
    size_t full_at; /* 0 = never */
    int calls_after_failure;
};

static int sink_write(void *context, const void *data, size_t bytes)
{
    struct sink *sink = context;
    if (sink->full_at && sink->bytes + bytes > sink->full_at) {
        sink->calls_after_failure++;
        return 1;
    }
    sink->crc = pf_crc32(sink->crc, data, bytes);
    sink->bytes += bytes;
    return 0;
}

static void test_everything_reaches_the_sink(void **state)
{
    (void)state;
    struct sink sink = {.bytes = 0};
    struct pf_text text;
    char *large = malloc(1 << 20);
    uint32_t crc = 0;
    for (size_t i = 0; i < 1 << 20; i++)
        large[i] = (char)(i * 7 >> 3);
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), sink_write, &sink), 0);
    size_t total = 0;
    for (size_t bytes = 1; bytes <= 1 << 20; bytes = bytes * 3 + 1) {
        pf_put(&text, large, bytes);
        pf_put_through(&text, large, bytes);
        crc = pf_crc32(pf_crc32(crc, large, bytes), large, bytes);
        total += 2 * bytes;
    }
    assert_int_equal(pf_text_flush(&text), 0);
    assert_int_equal(sink.bytes, total);
    assert_int_equal(sink.crc, crc);
    assert_int_equal(pf_text_flush(&text), 0); /* nothing twice */
    assert_int_equal(sink.bytes, total);
    pf_text_close(&text);
    free(large);
}

static void test_failure_sticks(void **state)
{
    (void)state;
    static char large[1 << 20];
    struct sink sink = {.full_at = 300000};
    struct pf_text text;
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), sink_write, &sink), 0);
    for (int i = 0; i < 100000; i++)
        pf_put_string(&text, "a line of text\n");
    assert_int_equal(pf_text_flush(&text), PERFILE_ERROR_WRITE);
    assert_int_equal(text.failed, PERFILE_ERROR_WRITE);
    assert_int_equal(sink.calls_after_failure, 1);
    pf_put_through(&text, large, sizeof(large)); /* not asked again */
    assert_int_equal(sink.calls_after_failure, 1);
    pf_text_close(&text);
}

static void test_buffer_grows_without_a_sink(void **state)
{
    (void)state;
    struct counting c;
    struct pf_text text;
    counting_open(&c, -1);
    assert_int_equal(pf_text_open(&text, &c.allocator, NULL, NULL), 0);
    for (int i = 0; i < 100000; i++)
        pf_put_string(&text, "0123456789");
    assert_int_equal(text.used, 1000000);
    assert_memory_equal(text.data + 999990, "0123456789", 10);
    c.left = 0;
    for (int i = 0; i < 1000000; i++)
        pf_put_string(&text, "0123456789");
    assert_int_equal(text.failed, PERFILE_ERROR_MEMORY);
    pf_text_close(&text);
    counting_close(&c);
    counting_open(&c, 0);
    assert_int_equal(pf_text_open(&text, &c.allocator, NULL, NULL), PERFILE_ERROR_MEMORY);
}

static void check_hundredths(struct pf_text *text, double value, unsigned width)
{
    char expected[400];
    const size_t start = text->used;
    snprintf(expected, sizeof(expected), "%*.2f", (int)width, value);
    pf_put_hundredths(text, value, width);
    assert_int_equal(text->used - start, strlen(expected));
    assert_memory_equal(text->data + start, expected, strlen(expected));
}

static void hundredths_are_those_of_printf(void **state)
{
    static const double odd[] = {0.0,
                                 -0.0,
                                 0.005,
                                 0.015,
                                 0.025,
                                 0.125,
                                 0.375,
                                 0.995,
                                 9.995,
                                 99.995,
                                 1e-300,
                                 5e-324,
                                 1e11,
                                 1e12,
                                 1e300,
                                 -1.5,
                                 1.0 / 3,
                                 100.0,
                                 1099511627775.996,
                                 0.00499999,
                                 1.005};
    struct pf_text text;
    uint64_t noise = 1;
    (void)state;
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        for (unsigned width = 0; width < 9; width++)
            check_hundredths(&text, odd[i], width);
    for (unsigned i = 0; i < 200000; i++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        check_hundredths(&text, 100.0 * (double)(noise >> 40) / (double)(1 + (noise & 0xffffff)), 6);
        check_hundredths(&text, (double)i / 800, 6); /* many in the middle */
        text.used = 0;
    }
    pf_text_close(&text);
}

static void expect_escaped(const char *name, const char *expected)
{
    char shown[128];
    struct pf_text text;
    assert_int_equal(perfile_text_escape(name, strlen(name), shown, sizeof(shown)), strlen(expected));
    assert_string_equal(shown, expected);
    assert_int_equal(pf_text_open(&text, pf_allocator_or_default(NULL), NULL, NULL), 0);
    text.escapes = true;
    pf_put_name(&text, name);
    assert_int_equal(text.used, strlen(expected));
    assert_memory_equal(text.data, expected, text.used);
    text.escapes = false;
    text.used = 0;
    pf_put_name(&text, name);
    assert_int_equal(text.used, strlen(name));
    text.escapes = true;
    pf_text_escape(&text, 0);
    assert_int_equal(text.used, strlen(expected));
    assert_memory_equal(text.data, expected, text.used);
    pf_text_close(&text);
}

static void test_names_are_printable(void **state)
{
    (void)state;
    expect_escaped("", "");
    expect_escaped("ordinary names stay ~ as they are, \\x1b too", "ordinary names stay ~ as they are, \\x1b too");
    expect_escaped("\xc3\xa4\xe2\x98\x83\xf0\x9f\x90\xa7 \xc2\xa0\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
                   "\xc3\xa4\xe2\x98\x83\xf0\x9f\x90\xa7 \xc2\xa0\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa");
    expect_escaped("seven b\x1b[31m\n\t\r\x7f", "seven b\\x1b[31m\\x0a\\x09\\x0d\\x7f");
    expect_escaped("12345678\x1f", "12345678\\x1f");
    expect_escaped("\xc2\x80\xc2\x9f\x9b\xff\xed\xa0\x80", "\\xc2\\x80\\xc2\\x9f\\x9b\\xff\\xed\\xa0\\x80");
    expect_escaped("\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9",
                   "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
    for (int c = 1; c < 256; c++) { /* at each position of a word of eight bytes */
        char name[18] = "abcdefghijklmnop", shown[80];
        for (int at = 0; at < 16; at++) {
            name[at] = (char)c;
            const bool plain = c >= 0x20 && c < 0x7f;
            assert_int_equal(perfile_text_escape(name, 16, shown, sizeof(shown)), plain ? 16 : 19);
            name[at] = (char)('a' + at);
        }
    }
}

static void test_escapes_are_not_cut(void **state)
{
    char shown[8];
    (void)state;
    assert_int_equal(perfile_text_escape("ab\x1b", 3, shown, 6), 2);
    assert_string_equal(shown, "ab");
    assert_int_equal(perfile_text_escape("ab\x1b", 3, shown, 7), 6);
    assert_int_equal(perfile_text_escape("\xc3\xa4", 2, shown, 2), 0);
    assert_int_equal(perfile_text_escape("a", 1, shown, 0), 0);
}

static int count_bytes(void *context, const void *data, size_t bytes)
{
    (void)data;
    *(size_t *)context += bytes;
    return 0;
}

/* Text that was put after memory ran out may miss a name: none of it reaches the sink. */
static void test_nothing_is_passed_after_short_memory(void **state)
{
    struct pf_watch watch;
    struct pf_text text;
    size_t passed = 0;
    (void)state;
    pf_watch_open(&watch, NULL);
    assert_int_equal(pf_text_open(&text, &watch.allocator, count_bytes, &passed), 0);
    pf_put_string(&text, "right");
    assert_int_equal(pf_text_flush(&text), 0);
    pf_memory_note_short(&watch.allocator);
    pf_put_string(&text, "wrong");
    assert_int_equal(pf_text_flush(&text), PERFILE_ERROR_MEMORY);
    assert_int_equal(passed, 5);
    pf_text_close(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_put_numbers),
        cmocka_unit_test(milliseconds_are_those_of_printf),
        cmocka_unit_test(hundredths_are_those_of_printf),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_names_are_printable),
        cmocka_unit_test(test_escapes_are_not_cut),
        cmocka_unit_test(test_crc32),
        cmocka_unit_test(test_everything_reaches_the_sink),
        cmocka_unit_test(test_failure_sticks),
        cmocka_unit_test(test_buffer_grows_without_a_sink),
        cmocka_unit_test(test_nothing_is_passed_after_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
