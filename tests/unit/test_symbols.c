/* SPDX-License-Identifier: MIT */
#include "symbol/symbols.h"

#include "made_elf.h"
#include "recording.h"
#include "symbol/table_elf.h"

enum { TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };
#define KERNEL_START 0xffffffff81000000ull
#define MODULE_START 0xffffffffc0100000ull

static struct pf_find_options find;

static int open_world(void **state)
{
    static char cache[128];
    if (made_directory_open(state) != 0)
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", made_directory);
    find = (struct pf_find_options){.symfs = made_directory, .buildid_dir = cache};
    return 0;
}

static void put_kernel_map(struct recording *r, uint64_t start, uint64_t bytes, uint64_t pgoff, const char *name)
{
    const struct recording_map map = {
        .misc = 1, .pid = -1, .start = start, .bytes = bytes, .pgoff = pgoff, .name = name};
    recording_map(r, &map, 1);
}

static const char *text_of(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    static char text[256];
    struct pf_location location;
    const struct perfile_map *map = pf_symbols_map(symbols, space, ip);
    assert_true(pf_symbols_locate(symbols, map, ip, &location));
    const char *name = pf_symbols_name(symbols, location.module, location.symbol);
    const struct pf_module *module = pf_symbols_module(symbols, location.module);
    snprintf(text, sizeof(text), "%s+%llx %s", name ? name : "?", name ? (unsigned long long)location.offset : 0,
             module ? module->name : "-");
    return text;
}

/* What kernel addresses resolve to at the end of the recording. */
static void expect(struct recording *r, const uint64_t *ips, const char *const *expected, size_t count)
{
    struct perfile_session *session;
    struct pf_symbols *symbols;
    const struct perfile_record *record;
    uint8_t *block;
    recording_finish(r);
    struct perfile_reader *reader = recording_read(r, &block);
    assert_int_equal(perfile_session_open(reader, &session, NULL), 0);
    perfile_session_follow_maps(session);
    assert_int_equal(pf_symbols_open(reader, &find, &symbols, NULL), 0);
    while (perfile_session_next(session, &record, NULL) > 0)
        ;
    const struct perfile_space *space = perfile_session_space(session, -1);
    assert_false(pf_symbols_is_settled(symbols, space, ips[0], false)); /* its module is not known */
    assert_true(perfile_space_find(space, 1) || pf_symbols_is_settled(symbols, space, 1, true));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(text_of(symbols, space, ips[i]), expected[i]);
        assert_true(pf_symbols_is_settled(symbols, space, ips[i], true));
    }
    pf_symbols_close(symbols);
    perfile_session_close(session);
    perfile_close(reader);
    free(block);
    recording_close(r);
}

static void put_module(const char *name)
{
    static const struct made_symbol symbols[] = {{0x10, 16, STT_FUNC, STB_GLOBAL, MADE_TEXT, "f"},
                                                 {0x40, 16, STT_FUNC, STB_GLOBAL, MADE_TEXT, "g"}};
    struct made m;
    made_elf(&m, &(struct made_elf){ET_REL, EM_X86_64, .symbols = symbols, .count = PF_COUNT(symbols)});
    made_file(name, m.data, m.bytes);
}

/* A module's file is used where kallsyms says nothing of it, wherever the module was loaded, and twice. */
static void test_kernel_module(void **state)
{
    (void)state;
    static const char path[] = "/lib/modules/5.1/kernel/m.ko";
    const uint64_t ips[] = {MODULE_START + 0x14, MODULE_START + 0x48, MODULE_START + 0x30, MODULE_START + 0x20040};
    static const char *const by_file[] = {"f+4 /lib/modules/5.1/kernel/m.ko", "g+8 /lib/modules/5.1/kernel/m.ko",
                                          "?+0 /lib/modules/5.1/kernel/m.ko", "g+0 /lib/modules/5.1/kernel/m.ko"};
    static const char *const by_text[] = {"other+4 /lib/modules/5.1/kernel/m.ko"};
    static const char lines[] = "ffffffff81000000 T _text\nffffffffc0100010 t other\t[m]\n";
    struct recording r;
    put_module("lib/modules/5.1/kernel/m.ko");
    for (int turn = 0; turn < 2; turn++) {
        find.kallsyms = turn ? made_file("kallsyms", lines, sizeof(lines) - 1) : NULL;
        recording_open(&r, TYPE, false);
        put_kernel_map(&r, MODULE_START, 0x1000, 0, path);
        put_kernel_map(&r, MODULE_START + 0x20000, 0x1000, 0, path);
        recording_sample(&r, ips[0], 7, 10);
        expect(&r, ips, turn ? by_text : by_file, turn ? PF_COUNT(by_text) : PF_COUNT(by_file));
    }
}

/* Kernel and modules lie elsewhere in each boot: the kernel is moved to where its map says, a module is not guessed. */
static void test_another_boot(void **state)
{
    (void)state;
    static const char lines[] = "ffffffff92000000 T _text\nffffffff92000100 T run\nffffffff92000200 T end\n"
                                "ffffffffc0900010 t other\t[m]\n";
    const uint64_t ips[] = {KERNEL_START + 0x104, MODULE_START + 0x14};
    static const char *const expected[] = {"run+4 [kernel.kallsyms]", "?+0 [m]"};
    struct recording r;
    find.kallsyms = made_file("kallsyms", lines, sizeof(lines) - 1);
    recording_open(&r, TYPE, false);
    put_kernel_map(&r, KERNEL_START, 0x1000, KERNEL_START, "[kernel.kallsyms]_text");
    put_kernel_map(&r, MODULE_START, 0x1000, 0, "[m]");
    expect(&r, ips, expected, PF_COUNT(expected));
}

/*
 * Little of the text stays once the first kernel has its table: modules need that, another kernel needs the rest again.
 */
static void test_text_is_used_again(void **state)
{
    (void)state;
    static const char lines[] = "ffffffff81000000 T _text\nffffffff81000100 T run\nffffffff90000100 T guest\n"
                                "ffffffffc0100010 t other\t[m]\nffffffffd0000000 T end\n";
    const uint64_t ips[] = {KERNEL_START + 0x104, MODULE_START + 0x14, KERNEL_START + 0xf000108, MODULE_START + 0x18};
    static const char *const expected[] = {"run+4 [kernel.kallsyms]", "other+4 [m]", "guest+8 [guest.kernel.kallsyms]",
                                           "other+8 [m]"};
    struct recording r;
    find.kallsyms = made_file("kallsyms", lines, sizeof(lines) - 1);
    recording_open(&r, TYPE, false);
    put_kernel_map(&r, KERNEL_START, 0x1000, KERNEL_START, "[kernel.kallsyms]_text");
    put_kernel_map(&r, KERNEL_START + 0xf000000, 0x1000, 0, "[guest.kernel.kallsyms]");
    put_kernel_map(&r, MODULE_START, 0x1000, 0, "[m]");
    expect(&r, ips, expected, PF_COUNT(expected));
}

/* The kernel with a build id, which this machine runs, too: the test's folder. */
static void put_running_kernel(struct recording *r)
{
    static const char name[24] = "[kernel.kallsyms]_text";
    static const char lines[] = "ffffffff92000000 T _text\nffffffff92000010 T run\nffffffff92000020 T end\n";
    static const uint8_t bytes[24] = {20, 0,  0,  0,  1,  2,  3,  4,  5,  6,  7,  8,
                                      9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    made_notes("sys/kernel/notes", bytes + 4, 20);
    made_file("proc/kallsyms", lines, sizeof(lines) - 1);
    size_t at = r->bytes;
    recording_header(r, PERFILE_RECORD_MMAP2, 1 | 1 << 14, 0); /* the kernel's, with a build id */
    recording_u32(r, UINT32_MAX);
    recording_u32(r, 0);
    recording_u64(r, KERNEL_START);
    recording_u64(r, 0x1000);
    recording_u64(r, KERNEL_START);
    recording_bytes(r, bytes, sizeof(bytes));
    recording_u32(r, 5);
    recording_u32(r, 0);
    recording_bytes(r, name, sizeof(name));
    recording_trailer(r, at, -1, 1);
}

/* The kernel that runs here, in any boot. A symfs stands for another machine, even if the same kernel runs here. */
static void test_running_kernel(void **state)
{
    (void)state;
    const uint64_t ips[] = {KERNEL_START + 0x14};
    static const char *const nothing[] = {"?+0 [kernel.kallsyms]"}, *const function[] = {"run+4 [kernel.kallsyms]"};
    static char other[128];
    struct recording r;
    snprintf(other, sizeof(other), "%s/other", made_directory);
    find.root = made_directory;
    for (int turn = 0; turn < 2; turn++) {
        find.symfs = turn ? other : NULL;
        recording_open(&r, TYPE, false);
        put_running_kernel(&r);
        expect(&r, ips, turn ? nothing : function, 1);
    }
}

/*
 * Recorders that may not know the addresses of modules write 0, and no end for the last one, which is not the kernel.
 */
static void test_hidden_modules_are_nowhere(void **state)
{
    (void)state;
    const uint64_t ips[] = {MODULE_START, KERNEL_START + 0x104};
    static const char *const kernel[] = {"?+0 /lib/modules/5.1/kernel/known.ko", "?+0 [kernel.kallsyms]"};
    static const char *const nothing[] = {"?+0 /lib/modules/5.1/kernel/known.ko", "?+0 -"};
    struct recording r;
    for (int turn = 0; turn < 3; turn++) {
        recording_open(&r, TYPE, false);
        if (turn < 2)
            put_kernel_map(&r, 0, turn ? UINT64_MAX : 0, 0, "[kernel.kallsyms]_text");
        put_kernel_map(&r, MODULE_START, 0x1000, 0, "/lib/modules/5.1/kernel/known.ko");
        put_kernel_map(&r, 0, 0, 0, "/lib/modules/5.1/kernel/first.ko");
        put_kernel_map(&r, 0, UINT64_MAX, 0, "/lib/modules/5.1/kernel/last.ko");
        expect(&r, ips, turn < 2 ? kernel : nothing, PF_COUNT(ips));
    }
}

static void test_why_there_are_no_symbols(void **state)
{
    (void)state;
    const struct pf_symbol_table none = {.count = 0};
    const struct {
        enum pf_missing missing;
        struct pf_module module;
    } cases[] = {{PF_MISSING_FILE, {.name = "/bin/a"}},
                 {PF_MISSING_BUILD, {.name = "/bin/a", .build_id_differs = true}},
                 {PF_MISSING_NAMES, {.name = "/bin/a", .build_id_differs = true, .table = &none}},
                 {PF_MISSING_KERNEL, {.name = "[kernel.kallsyms]", .kernel = true}},
                 {PF_MISSING_KERNEL, {.name = "/lib/modules/5.1/a.ko", .kernel = true}},
                 {PF_MISSING_KERNEL, {.name = "[vdso]"}},
                 {PF_MISSING_JIT, {.name = "/tmp/perf-7.map", .jit = true}},
                 {PF_MISSING_JIT, {.name = "[anon:code]"}}};
    for (size_t i = 0; i < PF_COUNT(cases); i++)
        assert_int_equal(pf_module_missing_kind(&cases[i].module), cases[i].missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_another_boot, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_text_is_used_again, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_running_kernel, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_hidden_modules_are_nowhere, open_world, made_directory_close),
        cmocka_unit_test(test_why_there_are_no_symbols),
        cmocka_unit_test_setup_teardown(test_kernel_module, open_world, made_directory_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
