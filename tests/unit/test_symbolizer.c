/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "made_elf.h"
#include "made_symbolizer.h"

enum { ID = 0x5a };

static const struct made_symbol symbols[] = {
    {MADE_ADDRESS + 0x80, 0x20, STT_FUNC, STB_GLOBAL, MADE_TEXT, "first"},
    {MADE_ADDRESS + 0xa0, 0x20, STT_FUNC, STB_GLOBAL, MADE_TEXT, "_ZN5space6secondEv"},
};

static const char *make_binary(const char *name)
{
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .id = ID, .symbols = symbols, .count = PF_COUNT(symbols)});
    return made_file(name, m.data, m.bytes);
}

static struct perfile_binary binary_of(const char *path, uint8_t id)
{
    struct perfile_binary binary = PERFILE_BINARY_INIT;
    binary.path = path;
    binary.build_id_bytes = id ? sizeof(binary.build_id) : 0;
    memset(binary.build_id, id, binary.build_id_bytes);
    return binary;
}

static const char *name_at(struct perfile_symbolizer *symbolizer, uint32_t binary, uint64_t address, uint32_t flags)
{
    struct perfile_symbol symbol = PERFILE_SYMBOL_INIT;
    const int count = perfile_symbolizer_find(symbolizer, binary, address, flags, NULL);
    assert_true(count == 0 || count == 1);
    assert_int_equal(perfile_symbolizer_frame(symbolizer, 1, &symbol), PERFILE_ERROR_ARGUMENT);
    return count && perfile_symbolizer_frame(symbolizer, 0, &symbol) == 0 ? symbol.name : "";
}

static void test_addresses(void **state)
{
    (void)state;
    struct perfile_symbolizer *symbolizer;
    struct perfile_symbol symbol = PERFILE_SYMBOL_INIT;
    const struct perfile_binary binary = binary_of(make_binary("program"), 0);
    uint32_t number, again;
    assert_int_equal(made_symbolizer_open(NULL, &symbolizer), 0);
    assert_int_equal(perfile_symbolizer_add(symbolizer, &binary, &number, NULL), 0);
    assert_int_equal(perfile_symbolizer_add(symbolizer, &binary, &again, NULL), 0);
    assert_int_equal(number, again);
    assert_string_equal(name_at(symbolizer, number, MADE_ADDRESS + 0x7f, 0), "");
    assert_string_equal(name_at(symbolizer, number, MADE_ADDRESS + 0x80, 0), "first");
    assert_string_equal(name_at(symbolizer, number, MADE_ADDRESS + 0xbf, 0), "space::second()");
    assert_string_equal(name_at(symbolizer, number, MADE_ADDRESS + 0xc0, 0), "");
    assert_string_equal(name_at(symbolizer, number, 0x9f, PERFILE_SYMBOLIZE_OFFSET), "first");
    assert_string_equal(name_at(symbolizer, number, 0xa1, PERFILE_SYMBOLIZE_OFFSET), "space::second()");
    assert_int_equal(perfile_symbolizer_frame(symbolizer, 0, &symbol), 0);
    assert_string_equal(symbol.linkage, "_ZN5space6secondEv");
    assert_int_equal(symbol.offset, 1);
    assert_null(symbol.file);
    assert_false(symbol.line || symbol.inlined);
    perfile_symbolizer_close(symbolizer);
    perfile_symbolizer_close(NULL);
}

static void expect_state(struct perfile_symbolizer *symbolizer, const struct perfile_binary *binary, uint32_t state)
{
    struct perfile_module module = PERFILE_MODULE_INIT;
    uint32_t number;
    assert_int_equal(perfile_symbolizer_add(symbolizer, binary, &number, NULL), 0);
    assert_int_equal(perfile_symbolizer_module(symbolizer, number, &module), 0);
    assert_int_equal(module.state, state);
    assert_string_equal(name_at(symbolizer, number, MADE_ADDRESS + 0x80, 0),
                        state == PERFILE_MODULE_SYMBOLS ? "first" : "");
}

/* A file with another build id is not used, and a build id alone finds the file in the cache. */
static void test_binaries(void **state)
{
    (void)state;
    struct perfile_symbolizer *symbolizer;
    char cached[128];
    snprintf(cached, sizeof(cached), ".build-id/%02x/", ID);
    for (unsigned i = 1; i < 20; i++)
        snprintf(cached + strlen(cached), sizeof(cached) - strlen(cached), "%02x", ID);
    strcat(cached, "/elf");
    make_binary(cached);
    const char *path = make_binary("here");
    const struct perfile_binary right = binary_of(path, ID), other = binary_of(path, ID + 1),
                                gone = binary_of("/nonexistent/a", 0), named = binary_of(NULL, ID),
                                unknown = binary_of(NULL, ID + 2);
    assert_int_equal(made_symbolizer_open(NULL, &symbolizer), 0);
    expect_state(symbolizer, &right, PERFILE_MODULE_SYMBOLS);
    expect_state(symbolizer, &other, PERFILE_MODULE_OTHER_BUILD);
    expect_state(symbolizer, &gone, PERFILE_MODULE_NO_FILE);
    expect_state(symbolizer, &named, PERFILE_MODULE_SYMBOLS);
    expect_state(symbolizer, &unknown, PERFILE_MODULE_NO_FILE);
    perfile_symbolizer_close(symbolizer);
}

static void test_arguments(void **state)
{
    (void)state;
    struct perfile_symbolizer *symbolizer;
    struct perfile_symbolizer_options unsized_options = {.size = 0};
    struct perfile_binary binary = binary_of(NULL, 0), large = binary_of("/a", 0);
    struct perfile_error error;
    uint32_t number;
    assert_int_equal(perfile_symbolizer_open(&unsized_options, &symbolizer, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(made_symbolizer_open(NULL, &symbolizer), 0);
    assert_int_equal(perfile_symbolizer_add(symbolizer, &binary, &number, &error), PERFILE_ERROR_ARGUMENT);
    large.build_id_bytes = 21;
    assert_int_equal(perfile_symbolizer_add(symbolizer, &large, &number, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_symbolizer_find(symbolizer, 0, 0, 0, &error), PERFILE_ERROR_ARGUMENT);
    binary.path = "/nonexistent/a";
    assert_int_equal(perfile_symbolizer_add(symbolizer, &binary, &number, &error), 0);
    assert_int_equal(perfile_symbolizer_find(symbolizer, number, 0, 1u << 31, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_symbolizer_find(symbolizer, number, 0, 0, &error), 0);
    perfile_symbolizer_close(symbolizer);
}

static int find_in_binary(void *binary, const struct perfile_allocator *allocator)
{
    struct perfile_symbolizer *symbolizer;
    uint32_t number;
    int result = made_symbolizer_open(allocator, &symbolizer);
    if (result == 0)
        result = perfile_symbolizer_add(symbolizer, binary, &number, NULL);
    if (result == 0) {
        result = perfile_symbolizer_find(symbolizer, number, MADE_ADDRESS + 0xa0, 0, NULL);
        assert_int_not_equal(result, 0); /* it is found, or an error */
    }
    perfile_symbolizer_close(symbolizer);
    return result;
}

/* An error at each failing allocation, and all is freed. */
static void test_memory(void **state)
{
    (void)state;
    struct perfile_binary binary = binary_of(make_binary("short"), 0);
    assert_true(counting_exhaust(find_in_binary, &binary, 1000) >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, made_directory_open, made_directory_close);
}
