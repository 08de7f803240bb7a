/* SPDX-License-Identifier: MIT */
/* Which module a mapping belongs to, what it is called, and what is asked of its table and its binary. */
#include "symbol/symbols_parts.h"

#include "made_elf.h"
#include "recording.h"

enum {
    TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME,
    START = 0x400000,
    ID = 0xab,
    OTHER_ID = 0xcd
};

static struct pf_symbols *symbols;
static struct perfile_reader *reader;
static uint8_t *block;
static uint32_t map_count;

/* The symbols of a recording without mappings: tests bring them. All files are below the test's directory. */
static int open_world(void **state)
{
    static char cache[128];
    struct recording r;
    if (made_directory_open(state) != 0)
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", made_directory);
    const struct pf_find_options find = {.symfs = made_directory, .buildid_dir = cache};
    recording_open(&r, TYPE, false);
    recording_sample(&r, START, 7, 10);
    recording_finish(&r);
    reader = recording_read(&r, &block);
    recording_close(&r);
    map_count = 0;
    return pf_symbols_open(reader, &find, &symbols, NULL);
}

static int close_world(void **state)
{
    pf_symbols_close(symbols);
    perfile_close(reader);
    free(block);
    return made_directory_close(state);
}

static struct perfile_map map_of(const char *filename)
{
    return (struct perfile_map){.size = sizeof(struct perfile_map),
                                .start = START,
                                .end = START + 0x1000,
                                .filename = filename,
                                .pid = 7,
                                .id = ++map_count};
}

static struct pf_location locate(const struct perfile_map *map, uint64_t ip)
{
    struct pf_location location;
    assert_true(pf_symbols_locate(symbols, map, ip, &location));
    return location;
}

/* The number of its module. */
static uint32_t module_of(const struct perfile_map *map)
{
    return locate(map, map->start).module;
}

static void test_kinds(void **state)
{
    (void)state;
    const struct {
        enum pf_module_kind kind;
        struct perfile_map map;
    } examples[] = {
        {PF_MODULE_ELF, {.filename = "/bin/a"}},
        {PF_MODULE_NONE, {.filename = "a"}},
        {PF_MODULE_NONE, {.filename = ""}},
        {PF_MODULE_VDSO, {.filename = "[vdso]"}},
        {PF_MODULE_VDSO, {.filename = "[vdso32]"}},
        {PF_MODULE_KERNEL, {.filename = "[kernel.kallsyms]_text", .kernel = true}},
        {PF_MODULE_KERNEL, {.filename = "[guest.kernel.kallsyms.7]"}},
        {PF_MODULE_KERNEL_MODULE, {.filename = "[ext4]", .kernel = true}},
        {PF_MODULE_KERNEL_MODULE, {.filename = "/lib/modules/5.1/ext4.ko", .kernel = true}},
        {PF_MODULE_PERF_MAP, {.filename = "//anon"}},
        {PF_MODULE_PERF_MAP, {.filename = "[heap]"}},
        {PF_MODULE_PERF_MAP, {.filename = "[stack:7]"}},
        {PF_MODULE_PERF_MAP, {.filename = "/dev/zero (deleted)"}},
        {PF_MODULE_PERF_MAP, {.filename = "/SYSV00000000 (deleted)"}},
        {PF_MODULE_PERF_MAP, {.filename = "/bin/a", .flags = PERFILE_MAP_HUGETLB}},
        {PF_MODULE_PERF_MAP, {.filename = "//anon", .prot = PERFILE_PROT_EXEC}},
        {PF_MODULE_NONE, {.filename = "//anon", .prot = PERFILE_PROT_READ}},
        {PF_MODULE_NONE, {.filename = "//anon", .data = true}},
        {PF_MODULE_SYMBOL, {.filename = "bpf_prog_1", .symbol = true, .kernel = true}},
        {PF_MODULE_JIT, {.filename = "/tmp/jit-1.dump", .code = 1}},
    };
    for (size_t i = 0; i < PF_COUNT(examples); i++)
        if (pf_module_kind_of(&examples[i].map) != examples[i].kind)
            fail_msg("%s (%zu)", examples[i].map.filename, i);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *filename, *name, *short_name;
        bool kernel;
    } examples[] = {
        {"/usr/lib/libc.so.6", "/usr/lib/libc.so.6", "libc.so.6", false},
        {"/folder/", "/folder/", "/folder/", false},
        {"[vdso]", "[vdso]", "[vdso]", false},
        {"//anon", "/tmp/perf-7.map", "[JIT] tid 7", false},
        {"[kernel.kallsyms]_stext", "[kernel.kallsyms]", "[kernel.kallsyms]", true},
        {"[guest.kernel.kallsyms]_text", "[guest.kernel.kallsyms]", "[guest.kernel.kallsyms]", true},
        {"/lib/modules/5.1/snd-hda.ko.zst", "/lib/modules/5.1/snd-hda.ko.zst", "[snd_hda]", true},
        {"/lib/modules/5.1/.ko", "/lib/modules/5.1/.ko", ".ko", true},
        {"[a/b]", "[a/b]", "[a/b]", true},
    };
    for (size_t i = 0; i < PF_COUNT(examples); i++) {
        struct perfile_map map = map_of(examples[i].filename);
        map.kernel = examples[i].kernel;
        const struct pf_module *module = pf_symbols_module(symbols, module_of(&map));
        assert_string_equal(module->name, examples[i].name);
        assert_string_equal(module->short_name, examples[i].short_name);
        assert_int_equal(module->kernel, examples[i].kernel);
    }
    assert_int_equal(pf_symbols_module_count(symbols), PF_COUNT(examples));
}

/* Maps of one file are one module, but not those of other builds of it, nor code that other processes made. */
static void test_one_module_of_many_maps(void **state)
{
    (void)state;
    struct perfile_map map = map_of("/bin/a"), other = map_of("/bin/a"), later = map_of("/bin/a");
    map.build_id_bytes = other.build_id_bytes = 20;
    memset(map.build_id, ID, 20);
    memset(other.build_id, OTHER_ID, 20);
    const uint32_t number = module_of(&map);
    assert_int_equal(module_of(&map), number);
    assert_int_not_equal(module_of(&other), number);
    assert_int_not_equal(module_of(&later), number); /* another hash: which build it is, is not recorded */
    later = map;
    later.id = ++map_count;
    assert_int_equal(module_of(&later), number);
    const uint8_t *id;
    assert_int_equal(pf_symbols_build_id(symbols, number, &id), 20);
    assert_int_equal(id[19], ID);
    struct perfile_map code = map_of("//anon"), same = map_of("//anon"), of_another = map_of("//anon");
    of_another.pid = 8;
    assert_int_equal(module_of(&code), module_of(&same));
    assert_int_not_equal(module_of(&code), module_of(&of_another));
}

/* Modules are found again when the map's slot in the cache was used by another map. */
static void test_maps_that_share_a_slot(void **state)
{
    (void)state;
    struct perfile_map map = map_of("/bin/a"), other = map_of("/bin/b");
    other.id = map.id + (1u << PF_KNOWN_MAP_BITS);
    uint32_t known;
    const uint32_t number = module_of(&map);
    assert_true(pf_symbols_knows_module(symbols, &map, &known));
    assert_int_equal(known, number);
    assert_int_not_equal(module_of(&other), number);
    assert_false(pf_symbols_knows_module(symbols, &map, &known));
    assert_true(pf_symbols_has_module(symbols, &map, &known));
    assert_int_equal(known, number);
    assert_int_equal(module_of(&map), number);
}

static void test_mapping_that_is_a_symbol(void **state)
{
    (void)state;
    struct perfile_map map = map_of("bpf_prog_1");
    map.symbol = true;
    const struct pf_location location = locate(&map, START + 0x10);
    assert_int_equal(location.symbol, 0);
    assert_int_equal(location.offset, 0x10);
    assert_string_equal(pf_symbols_name(symbols, location.module, 0), "bpf_prog_1");
    assert_string_equal(pf_symbols_raw_name(symbols, location.module, 0), "bpf_prog_1");
    assert_null(pf_symbols_raw_name(symbols, location.module, PF_NO_SYMBOL));
    assert_false(pf_module_is_missing(pf_symbols_module(symbols, location.module)));
}

static void test_nothing_is_mapped(void **state)
{
    (void)state;
    const struct pf_location location = locate(NULL, START);
    assert_int_equal(location.module, PF_NO_SYMBOL);
    assert_int_equal(location.symbol, PF_NO_SYMBOL);
    assert_int_equal(location.offset, START);
    assert_null(pf_symbols_module(symbols, location.module));
    assert_null(pf_symbols_name(symbols, location.module, location.symbol));
}

static void put_binary(const char *name, uint16_t machine)
{
    static const struct made_symbol list[] = {
        {MADE_ADDRESS + MADE_TEXT_AT, 16, STT_FUNC, STB_GLOBAL, MADE_TEXT, "_Z1fv"},
        {MADE_ADDRESS + MADE_TEXT_AT + 16, 8, STT_FUNC, STB_GLOBAL, MADE_TEXT, "g"}};
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, machine, .symbols = list, .count = PF_COUNT(list)});
    made_file(name, m.data, m.bytes);
}

/* The table's addresses are those of the ELF file, and so are ranges. */
static void test_symbols_of_a_binary(void **state)
{
    (void)state;
    put_binary("bin/a", EM_X86_64);
    struct perfile_map map = map_of("/bin/a");
    const struct pf_location location = locate(&map, START + MADE_TEXT_AT + 20);
    const uint32_t number = location.module;
    uint64_t start, end, offset;
    assert_string_equal(pf_symbols_name(symbols, number, location.symbol), "g");
    assert_int_equal(location.offset, 4);
    assert_int_equal(location.address, MADE_ADDRESS + MADE_TEXT_AT + 20);
    assert_int_equal(location.in_module, MADE_TEXT_AT + 20);
    assert_true(pf_symbols_range(symbols, number, location.symbol, &start, &end));
    assert_int_equal(start, MADE_ADDRESS + MADE_TEXT_AT + 16);
    assert_int_equal(end, start + 8);
    assert_false(pf_symbols_range(symbols, number, PF_NO_SYMBOL, &start, &end));
    const uint32_t first = pf_symbols_at(symbols, number, MADE_ADDRESS + MADE_TEXT_AT + 3, &offset);
    assert_int_equal(offset, 3);
    assert_string_equal(pf_symbols_raw_name(symbols, number, first), "_Z1fv");
    assert_int_equal(pf_symbols_at(symbols, number, MADE_ADDRESS, &offset), PF_NO_SYMBOL);
    assert_false(pf_symbols_is_thumb(symbols, number, first));
}

/* Lookups are counted, and a module with symbols for none of the addresses is reported as missing symbols. */
static void test_addresses_are_counted(void **state)
{
    (void)state;
    put_binary("bin/a", EM_X86_64);
    struct perfile_map map = map_of("/bin/a");
    const struct pf_module *module = pf_symbols_module(symbols, locate(&map, START + 1).module);
    assert_int_equal(module->addresses, 1);
    assert_int_equal(module->resolved, 0);
    assert_true(pf_module_is_missing(module));
    (void)locate(&map, START + MADE_TEXT_AT);
    assert_int_equal(module->addresses, 2);
    assert_int_equal(module->resolved, 1);
    assert_false(pf_module_is_missing(module));
}

static void test_code_of_a_binary(void **state)
{
    (void)state;
    put_binary("bin/a", EM_AARCH64);
    struct perfile_map map = map_of("/bin/a"), missing = map_of("/bin/b"), anonymous = map_of("//anon");
    uint8_t code[16];
    struct pf_insn_machine machine;
    assert_int_equal(pf_symbols_code(symbols, &map, START + MADE_TEXT_AT, code, sizeof(code), &machine), sizeof(code));
    assert_int_equal(code[0], 0x90);
    assert_int_equal(machine.elf_machine, EM_AARCH64);
    assert_true(machine.is_64);
    assert_int_equal(pf_symbols_code(symbols, &missing, START, code, sizeof(code), &machine), 0);
    assert_int_equal(machine.elf_machine, 0);
    assert_int_equal(pf_symbols_code(symbols, &anonymous, START, code, sizeof(code), &machine), 0);
    assert_int_equal(pf_symbols_code(symbols, NULL, START, code, sizeof(code), &machine), 0);
    map.pgoff = 1 << 20; /* past the end of the file */
    assert_int_equal(pf_symbols_code(symbols, &map, START, code, sizeof(code), &machine), 0);
}

static void test_code_file(void **state)
{
    (void)state;
    static const char lines[] = "ffffffff81000000 T _text\nffffffff81000010 T run\n";
    put_binary("bin/a", EM_X86_64);
    made_file("kernel/kallsyms", lines, sizeof(lines) - 1);
    char text[128];
    snprintf(text, sizeof(text), "%s", made_path("kernel/kallsyms"));
    symbols->find.kallsyms = text;
    struct perfile_map map = map_of("/bin/a"), missing = map_of("/bin/b"), kernel = map_of("[kernel.kallsyms]");
    struct pf_code_file file;
    kernel.kernel = true;
    assert_true(pf_symbols_code_file(symbols, module_of(&map), &file));
    assert_string_equal(file.path, made_path("bin/a"));
    assert_false(pf_symbols_code_file(symbols, module_of(&missing), &file));
    assert_true(pf_symbols_code_file(symbols, module_of(&kernel), &file)); /* what is beside the text */
    assert_string_equal(file.path, made_path("kernel/kcore"));
    assert_false(pf_symbols_code_file(symbols, PF_NO_SYMBOL, &file));
}

/* The names of a recording are those of the host: they do not show which kernel its guests run. */
static void test_guest_without_a_build_id(void **state)
{
    (void)state;
    static const char lines[] = "ffffffff81000000 T _text\nffffffff81000010 T run\nffffffff81000020 T end\n";
    made_file("proc/kallsyms", lines, sizeof(lines) - 1);
    made_file("proc/sys/kernel/hostname", "host\n", 5);
    made_file("proc/sys/kernel/osrelease", "5.1\n", 4);
    symbols->find.host = "host";
    symbols->find.release = "5.1";
    struct perfile_map guest = map_of("[guest.kernel.kallsyms]"), host = map_of("[kernel.kallsyms]");
    guest.start = host.start = 0xffffffff81000000;
    guest.end = host.end = guest.start + 0x1000;
    assert_int_equal(locate(&guest, guest.start + 0x14).symbol, PF_NO_SYMBOL);
    const struct pf_location location = locate(&host, host.start + 0x14);
    assert_string_equal(pf_symbols_name(symbols, location.module, location.symbol), "run");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),        TEST(test_names),
        TEST(test_one_module_of_many_maps),  TEST(test_maps_that_share_a_slot),
        TEST(test_mapping_that_is_a_symbol), TEST(test_nothing_is_mapped),
        TEST(test_symbols_of_a_binary),      TEST(test_addresses_are_counted),
        TEST(test_code_of_a_binary),         TEST(test_code_file),
        TEST(test_guest_without_a_build_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
