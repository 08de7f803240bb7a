/* SPDX-License-Identifier: MIT */
/* Addresses with symbols and modules in script's text. What is expected here perf 7.2 prints of the same recording. */
#include "script_text.h"

#include <stdio.h>
#include <unistd.h>

#define KERNEL UINT64_C(0xffffffff81000000)

enum { PROGRAM = 0x400000, JIT = 0x7f0000000000, PATH_CAPACITY = 64 };

static int32_t pid; /* of this process: no other process uses this name of a symbol file */
static char root[PATH_CAPACITY], kallsyms_path[PATH_CAPACITY], jit_path[PATH_CAPACITY];

/* ---- a recording ------------------------------------------------------------------------------------------------- */

static void put_map(struct recording *r, uint16_t misc, uint64_t start, uint64_t pgoff, const char *name, uint64_t time)
{
    size_t at = r->bytes, length = strlen(name) + 1;
    int32_t owner = misc == PERFILE_MISC_KERNEL ? -1 : pid;
    recording_header(r, PERFILE_RECORD_MMAP, misc, 0);
    recording_u32(r, (uint32_t)owner);
    recording_u32(r, (uint32_t)owner);
    recording_u64(r, start);
    recording_u64(r, 0x1000);
    recording_u64(r, pgoff);
    recording_bytes(r, name, length);
    recording_bytes(r, "\0\0\0\0\0\0\0", (8 - length % 8) % 8);
    recording_trailer(r, at, owner, time);
}

static void put_maps(struct recording *r)
{
    put_map(r, PERFILE_MISC_KERNEL, KERNEL, KERNEL, "[kernel.kallsyms]_text", 0);
    put_map(r, PERFILE_MISC_USER, PROGRAM, 0x2000, "/no/such/program", 0);
    put_map(r, PERFILE_MISC_USER, JIT, 0, "//anon", 0);
    recording_comm(r, pid, "tester", 1);
}

static void put_chain(struct recording *r, const uint64_t *chain, uint64_t count)
{
    size_t at = recording_sample(r, chain[1], pid, 1000);
    recording_u64(r, count);
    for (uint64_t i = 0; i < count; i++)
        recording_u64(r, chain[i]);
    recording_store16(r, at + 6, (uint16_t)(r->bytes - at));
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    pid = (int32_t)getpid();
    snprintf(root, sizeof(root), "/tmp/perfile-test-XXXXXX");
    assert_non_null(mkdtemp(root));
    snprintf(jit_path, sizeof(jit_path), "%.40s/perf-%d.map", root, (int)pid);
    snprintf(kallsyms_path, sizeof(kallsyms_path), "%.40s.kallsyms", root);
    write_file(jit_path, "7f0000000100 40 made at run time\n");
    write_file(kallsyms_path, "ffffffff81000000 T _text\nffffffff81000100 T do_work\nffffffff81000200 T _etext\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(jit_path) | unlink(kallsyms_path) | rmdir(root);
}

/* ---- its text ---------------------------------------------------------------------------------------------------- */

static const struct perfile_symbol_options symbols = {
    .size = sizeof(symbols), .symfs = root, .kallsyms = kallsyms_path};

static void expect(struct recording *r, const char *fields, const char *expected)
{
    const struct perfile_output_options options = script_text_options(fields, &symbols);
    script_text_expect(r, &options, expected);
}

static void expect_failure(const char *fields, const char *part)
{
    const struct perfile_output_options options = script_text_options(fields, &symbols);
    struct recording r;
    struct perfile_error error;
    struct pf_text out;
    recording_open(&r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, false);
    assert_true(script_text(&r, &options, &out, &error) < 0);
    if (!strstr(error.message, part))
        fail_msg("\"%s\" is not in \"%s\"", part, error.message);
    pf_text_close(&out);
    recording_close(&r);
}

static void make_flat(struct recording *r)
{
    static const uint64_t ips[] = {PROGRAM + 0x10, JIT + 0x104, JIT + 0x140, 0x1234, KERNEL + 0x110};
    recording_open(r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, false);
    put_maps(r);
    for (size_t i = 0; i < PF_COUNT(ips); i++)
        recording_sample(r, ips[i], pid, 1000 * (i + 1));
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void prints_what_is_mapped(void **state)
{
    struct recording r;
    char expected[512];
    (void)state;
    make_flat(&r);
    snprintf(expected, sizeof(expected),
             "           400010 [unknown] (/no/such/program)\n"
             "     7f0000000104 made at run time+0x4 (/tmp/perf-%d.map)\n"
             "     7f0000000140 [unknown] (/tmp/perf-%d.map)\n"
             "             1234 [unknown] ([unknown])\n"
             " ffffffff81000110 [unknown] ([unknown])\n",
             (int)pid, (int)pid);
    expect(&r, "ip,sym,symoff,dso", expected);
}

static void prints_offsets_in_files(void **state)
{
    struct recording r;
    char expected[512];
    (void)state;
    make_flat(&r);
    snprintf(expected, sizeof(expected),
             "           400010 (/no/such/program+0x2010)\n"
             "     7f0000000104 (/tmp/perf-%d.map+0x7f0000000104)\n"
             "     7f0000000140 (/tmp/perf-%d.map+0x7f0000000140)\n"
             "             1234 ([unknown])\n"
             " ffffffff81000110 ([unknown])\n",
             (int)pid, (int)pid);
    expect(&r, "ip,dsoff", expected);
}

static void prints_symbols_alone(void **state)
{
    struct recording r;
    (void)state;
    make_flat(&r);
    expect(&r, "ip,sym",
           "           400010 [unknown]\n     7f0000000104 made at run time\n     7f0000000140 [unknown]\n"
           "             1234 [unknown]\n ffffffff81000110 [unknown]\n");
}

/* More addresses than are kept: texts are discarded while other threads print, and made again. */
static void many_addresses_print_the_same_on_threads(void **state)
{
    enum { SAMPLES = 1000000, ADDRESSES = 600000 };
    struct perfile_output_options options = script_text_options("ip,sym,dso", &symbols);
    struct perfile_error error;
    struct recording r;
    struct pf_text alone, together;
    (void)state;
    recording_open(&r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, false);
    put_maps(&r);
    for (uint64_t i = 0; i < SAMPLES; i++)
        recording_sample(&r, JIT + i % ADDRESSES, pid, 1000 + i);
    assert_int_equal(script_text(&r, &options, &alone, &error), 0);
    options.threads = 4;
    assert_int_equal(script_text(&r, &options, &together, &error), 0);
    assert_int_equal(alone.used, together.used);
    assert_memory_equal(alone.data, together.data, alone.used);
    pf_text_close(&alone);
    pf_text_close(&together);
    recording_close(&r);
}

static void markers_of_callchains_choose_the_space(void **state)
{
    static const uint64_t chain[] = {PERFILE_CONTEXT_KERNEL, KERNEL + 0x110, PROGRAM + 0x10,
                                     PERFILE_CONTEXT_USER,   PROGRAM + 0x10, KERNEL + 0x110};
    struct recording r;
    char expected[512];
    (void)state;
    recording_open(&r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CALLCHAIN, false);
    put_maps(&r);
    put_chain(&r, chain, PF_COUNT(chain));
    snprintf(expected, sizeof(expected),
             "tester %7d     0.000001:          0 cpu-clock: \n"
             "\tffffffff81000110 do_work+0x10 ([kernel.kallsyms])\n"
             "\t          400010 [unknown] ([unknown])\n"
             "\t          400010 [unknown] (/no/such/program)\n"
             "\tffffffff81000110 [unknown] ([unknown])\n\n",
             (int)pid);
    expect(&r, NULL, expected);
}

/* The texts of old mappings must not come back. */
static void a_new_mapping_changes_the_text(void **state)
{
    struct recording r;
    (void)state;
    recording_open(&r, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, false);
    put_maps(&r);
    recording_sample(&r, PROGRAM + 0x10, pid, 1000);
    put_map(&r, PERFILE_MISC_USER, PROGRAM, 0, "/no/such/other", 1500);
    recording_sample(&r, PROGRAM + 0x10, pid, 2000);
    expect(&r, "ip,dso", "           400010 (/no/such/program)\n           400010 (/no/such/other)\n");
}

static void offsets_need_symbols(void **state)
{
    (void)state;
    expect_failure("ip,symoff", "goes with \"sym\"");
    expect_failure("-sym", "goes with \"sym\"");
    expect_failure("metric", "is not supported yet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_what_is_mapped),
        cmocka_unit_test(prints_offsets_in_files),
        cmocka_unit_test(prints_symbols_alone),
        cmocka_unit_test(many_addresses_print_the_same_on_threads),
        cmocka_unit_test(markers_of_callchains_choose_the_space),
        cmocka_unit_test(a_new_mapping_changes_the_text),
        cmocka_unit_test(offsets_need_symbols),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
