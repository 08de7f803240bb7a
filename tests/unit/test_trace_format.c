/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/trace_format.h"

/* Data of a made-up tracepoint, little-endian. */
static const uint8_t data[64] = {[8] = 0xfe,  0xff, 0xff, 0xff, /* pid -2 */
                                 [16] = 5,    0,    0,    0,    /* flags */
                                 [24] = 'm',  'a',  'k',  'e',  /* comm[16] */
                                 [40] = 48,   0,    6,    0,    /* __data_loc name: 6 bytes at 48 */
                                 [44] = 0x0f, 0x80, 0,    0,    /* mask[4] */
                                 [48] = 'h',  'e',  'l',  'l',  'o', 0};

static const struct perfile_tracepoint_field fields[] = {
    {.name = "pid", .type = "int", .offset = 8, .bytes = 4, .element_bytes = 4, .is_signed = true},
    {.name = "flags", .type = "unsigned int", .offset = 16, .bytes = 4, .element_bytes = 4},
    {.name = "comm", .type = "char", .offset = 24, .bytes = 16, .element_bytes = 1, .is_array = true, .is_text = true},
    {.name = "name",
     .type = "__data_loc char[]",
     .offset = 40,
     .bytes = 4,
     .element_bytes = 1,
     .is_array = true,
     .is_text = true,
     .is_dynamic = true},
    {.name = "mask", .type = "u8", .offset = 44, .bytes = 4, .element_bytes = 1, .is_array = true},
};

static const struct perfile_tracing tracing = {
    .long_bytes = 8,
    .printk_formats = "0xffffffff81000000 : \"rcu_sched\"\n",
    .printk_formats_bytes = 33,
};

/* What a format prints, or NULL when it is not understood. */
static const char *print(const char *format)
{
    static char line[512];
    struct perfile_tracepoint tracepoint = {.print_fmt = format, .fields = fields, .field_count = PF_COUNT(fields)};
    struct perfile_bytes raw = {data, sizeof(data)};
    struct pf_text out, scratch;
    struct pf_arena arena;
    pf_arena_open(&arena, pf_allocator_or_default(NULL));
    assert_int_equal(pf_text_open(&out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    assert_int_equal(pf_text_open(&scratch, pf_allocator_or_default(NULL), NULL, NULL), 0);
    struct pf_trace_format *parsed = pf_trace_parse(&arena, &tracing, &tracepoint);
    if (parsed)
        pf_trace_print(parsed, &raw, PF_NATIVE_BIG_ENDIAN, &scratch, &out);
    assert_true(out.used < sizeof(line));
    memcpy(line, out.data, out.used);
    line[out.used] = '\0';
    pf_text_close(&out);
    pf_text_close(&scratch);
    pf_arena_close(&arena);
    return parsed ? line : NULL;
}

static void numbers(void **state)
{
    (void)state;
    assert_string_equal(print("\"pid=%d flags=%#x 100%%\", REC->pid, REC->flags"), "pid=-2 flags=0x5 100%");
    assert_string_equal(print("\"%08lx|%-4u|%3d|%lld\", REC->flags, REC->flags, REC->flags, (s64)REC->pid"),
                        "00000005|5   |  5|-2");
    assert_string_equal(print("\"%c%c\", 'R', REC->flags + 60"), "RA");
}

static void expressions(void **state)
{
    (void)state;
    assert_string_equal(print("\"%d\", 1 + 2 * 3 == 7 && !(REC->flags & (1U << 1)) ? 10 >> 1 : 0"), "5");
    assert_string_equal(print("\"%d %d\", (u8)REC->pid, ((signed char)(254))"), "254 -2");
    assert_string_equal(print("\"%d %d\", 1 / 0, 1 % 0"), "0 0");
    assert_string_equal(print("\"%d\", REC->mask[1]"), "128");
    assert_string_equal(print("\"%d\", REC->mask[4]"), "0");
    assert_string_equal(print("\"%p\", (((struct page *)only_the_kernel_knows) + REC->flags)"), "0x5");
    assert_string_equal(print("\"%d\", __builtin_expect(!!(REC->flags), 1)"), "1");
}

static void texts(void **state)
{
    (void)state;
    assert_string_equal(print("\"%s %s\" \" %s\", REC->comm, __get_str(name), REC->flags ? \"yes\" : \"no\""),
                        "make hello yes");
    assert_string_equal(print("\"[%6s|%-6s|%.2s]\", REC->comm, REC->comm, REC->comm"), "[  make|make  |ma]");
    assert_string_equal(print("\"%s %s\", 0xffffffff81000000, 0xffffffff81000001"), "rcu_sched ffffffff81000001");
}

static void symbols_and_flags(void **state)
{
    (void)state;
    assert_string_equal(print("\"%s %s\", __print_symbolic(REC->flags, { 4, \"four\" }, { 5, \"five\" }), "
                              "__print_symbolic(REC->flags, { 4, \"four\" })"),
                        "five 0x5");
    assert_string_equal(print("\"%s\", __print_flags(REC->flags, \"|\", { (1 << 0), \"A\" }, { 4, \"C\" })"), "A|C");
    assert_string_equal(print("\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" })"), "A|0x4");
    assert_string_equal(print("\"%s\", __print_flags(REC->flags, \"|\", { 5, \"B\" }, { 0, ((void *)0) } )"), "B");
    assert_string_equal(print("\"%s\", __print_symbolic(REC->flags, { UNKNOWN_TO_US, \"x\" })"), "0x5");
}

static void arrays(void **state)
{
    (void)state;
    assert_string_equal(print("\"%s %s\", __print_hex(REC->mask, 3), __print_array(REC->mask, 2, 1)"),
                        "0f 80 00 {0xf,0x80}");
    assert_string_equal(print("\"%s\", __print_array(REC->mask, 2, 2)"), "{0x800f,0x0}");
    assert_string_equal(print("\"%d %s\", __get_dynamic_array_len(name), __print_dynamic_array(name, 1)"),
                        "6 {0x68,0x65,0x6c,0x6c,0x6f,0x0}");
    assert_string_equal(print("\"%s %s\", __get_bitmask(mask), __get_cpumask(mask)"), "0000800f 0-3,15");
    assert_string_equal(print("\"%*pbl\", 8, REC->mask"), "0-3");
}

static void not_understood(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "\"%d\"",
                                      "\"%d",
                                      "\"%d\", REC->nothing",
                                      "\"%d\", only_the_kernel_has(1)",
                                      "\"%d\", (1",
                                      "\"%d\", 1 2",
                                      "\"%n\", 1",
                                      "\"%d\", REC",
                                      "\"%s\", __print_symbolic(1, { REC->pid, \"x\" })"};
    for (size_t i = 0; i < PF_COUNT(bad); i++)
        assert_null(print(bad[i]));
}

static void deep_nesting_is_refused(void **state)
{
    static const char *const pieces[] = {"(", "!", "1?", "1+", "1?1:", "__print_hex(", "(u8)", "REC->mask["};
    static char format[200000];
    (void)state;
    for (size_t i = 0; i < PF_COUNT(pieces); i++) {
        strcpy(format, "\"%d\", ");
        size_t used = strlen(format), bytes = strlen(pieces[i]);
        while (used + bytes + 2 < 60000) {
            memcpy(format + used, pieces[i], bytes + 1);
            used += bytes;
        }
        strcpy(format + used, "1");
        assert_null(print(format));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(expressions),
        cmocka_unit_test(texts),
        cmocka_unit_test(symbols_and_flags),
        cmocka_unit_test(arrays),
        cmocka_unit_test(not_understood),
        cmocka_unit_test(deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
