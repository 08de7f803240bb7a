/* SPDX-License-Identifier: MIT */
/* Debug info that is made to cost much: what is read of it stays within bounds that no valid file reaches. */
#include "made_folder.h"
#include "symbol/dwarf/debug_module.h"
#include "symbol/dwarf/inlines_tables.h"
#include "symbol/dwarf/names.h"
#include "symbol/dwarf/types.h"

/* ---- made binaries ---------------------------------------------------------------------------------------------- */

enum { CODE = 0x1000, DATA = 0x2000, ONE_BYTE = 1, CODE_FLAGS = 6 };

struct bytes {
    uint8_t *data;
    size_t bytes, capacity;
};

static void put(struct bytes *to, const void *data, size_t bytes)
{
    if (to->bytes + bytes > to->capacity) {
        to->capacity = 2 * (to->bytes + bytes);
        to->data = realloc(to->data, to->capacity);
        assert_non_null(to->data);
    }
    memcpy(to->data + to->bytes, data, bytes);
    to->bytes += bytes;
}

/* The lowest bytes of a number, the lowest first. */
static void put_number(struct bytes *to, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put(to, &(uint8_t){(uint8_t)(number >> 8 * i)}, 1);
}

#define PUT_BYTES(to, ...) put(to, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

struct section {
    const char *name;
    struct bytes contents;
};

static void put_header(struct bytes *to, size_t name, bool is_code, const struct section *section, size_t at)
{
    put_number(to, name, 4);
    put_number(to, 1, 4); /* SHT_PROGBITS */
    put_number(to, is_code ? CODE_FLAGS : 0, 8);
    put_number(to, is_code ? CODE : 0, 8);
    put_number(to, at, 8);
    put_number(to, section->contents.bytes, 8);
    put_number(to, 0, 8);
    put_number(to, 1, 8);
    put_number(to, 0, 8);
}

/* A little-endian program for x86-64 with these sections, of which the first one is its code. */
static const char *make_file(const char *file_name, struct section *sections, size_t count)
{
    enum { HEADER_BYTES = 64 };
    struct bytes file = {NULL, 0, 0}, headers = file, names = file;
    put(&names, "", 1);
    put(&headers, (const uint8_t[HEADER_BYTES]){0}, HEADER_BYTES);
    PUT_BYTES(&file, 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 62, 0);
    put(&file, (const uint8_t[HEADER_BYTES]){0}, HEADER_BYTES - file.bytes);
    struct section last = {".names", names};
    for (size_t i = 0; i <= count; i++) {
        struct section *section = i < count ? &sections[i] : &last;
        const size_t name = names.bytes;
        put(&names, section->name, strlen(section->name) + 1);
        if (i == count)
            last.contents = names;
        put_header(&headers, name, i == 0, section, file.bytes);
        put(&file, section->contents.data, section->contents.bytes);
        if (i < count)
            free(section->contents.data);
    }
    const uint64_t at = file.bytes;
    put(&file, headers.data, headers.bytes);
    memcpy(file.data + 40, &(uint64_t){pf_load64(&at, PF_NATIVE_BIG_ENDIAN)}, sizeof(at));
    file.data[58] = HEADER_BYTES;
    file.data[60] = (uint8_t)(count + 2);
    file.data[62] = (uint8_t)(count + 1);
    const char *path = made_file(file_name, file.data, file.bytes);
    free(names.data);
    free(headers.data);
    free(file.data);
    return path;
}

/* An entry of .debug_abbrev up to its attributes, which two zeros end. */
static void put_abbreviation(struct bytes *to, uint8_t code, uint8_t tag, bool has_children)
{
    PUT_BYTES(to, code, tag, has_children);
}

/* The header of a unit of DWARF 5, whose length end_unit sets. */
static size_t start_unit(struct bytes *to, uint8_t type)
{
    const size_t start = to->bytes;
    put_number(to, 0, 4);
    PUT_BYTES(to, 5, 0, type, 8, 0, 0, 0, 0);
    if (type != DW_UT_compile)
        put_number(to, 7, 8); /* its id */
    return start;
}

static void end_unit(struct bytes *to, size_t start)
{
    const uint32_t bytes = (uint32_t)(to->bytes - start - 4);
    memcpy(to->data + start, &(uint32_t){pf_load32(&bytes, PF_NATIVE_BIG_ENDIAN)}, sizeof(bytes));
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

/* Abbreviations of a unit and a function with code, a variable, a structure of one byte and a member of it. */
static void put_type_abbreviations(struct bytes *to)
{
    put_abbreviation(to, 1, DW_TAG_compile_unit, true);
    PUT_BYTES(to, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0);
    put_abbreviation(to, 2, DW_TAG_subprogram, false);
    PUT_BYTES(to, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0);
    put_abbreviation(to, 3, DW_TAG_variable, false);
    PUT_BYTES(to, DW_AT_type, DW_FORM_ref4, DW_AT_location, DW_FORM_exprloc, 0, 0);
    put_abbreviation(to, 4, DW_TAG_structure_type, true);
    PUT_BYTES(to, DW_AT_byte_size, DW_FORM_implicit_const, ONE_BYTE, 0, 0);
    put_abbreviation(to, 5, DW_TAG_member, false);
    PUT_BYTES(to, DW_AT_type, DW_FORM_ref4, DW_AT_data_member_location, DW_FORM_implicit_const, 0, 0, 0, 0);
}

/* A variable whose type has a member whose type has a member, and so on. */
static const char *make_nested(size_t depth)
{
    enum { STRUCTURE_BYTES = 7 };
    struct section sections[] = {{.name = ".text"}, {.name = ".debug_abbrev"}, {.name = ".debug_info"}};
    struct bytes *code = &sections[0].contents, *info = &sections[2].contents;
    PUT_BYTES(code, 0x8a, 0x04, 0x25, 0, DATA >> 8, 0, 0, 0xc3); /* mov al, [DATA]; ret */
    put_type_abbreviations(&sections[1].contents);
    const size_t unit = start_unit(info, DW_UT_compile);
    for (uint8_t i = 1; i <= 2; i++) {
        PUT_BYTES(info, i);
        put_number(info, CODE, 8);
        put_number(info, code->bytes, 4);
    }
    PUT_BYTES(info, 3);
    put_number(info, info->bytes + 14, 4);
    PUT_BYTES(info, 9, DW_OP_addr);
    put_number(info, DATA, 8);
    for (size_t i = 0; i < depth; i++) {
        PUT_BYTES(info, 4, 5);
        put_number(info, info->bytes + STRUCTURE_BYTES - 2, 4);
        PUT_BYTES(info, 0);
    }
    PUT_BYTES(info, 4, 0, 0);
    end_unit(info, unit);
    return make_file("nested", sections, PF_COUNT(sections));
}

/* Whether structures are empty is asked along them. */
static void test_nested(void **state)
{
    (void)state;
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    static const uint8_t code[] = {0x8a, 0x04, 0x25, 0, DATA >> 8, 0, 0, 0xc3};
    const struct pf_types_files files = {make_nested(400000), NULL};
    struct pf_disassembler *disassembler = pf_disassembler_open(allocator);
    struct pf_types *types;
    struct pf_type_use use;
    char path[8];
    if (!disassembler)
        skip();
    pf_disassembler_use_intel(disassembler);
    assert_int_equal(
        pf_types_open(&files, &(struct pf_types_symbols){.at = NULL}, disassembler, allocator, &types, NULL), 0);
    struct pf_types_function *function =
        pf_types_function(types, &(struct pf_types_code){CODE, code, sizeof(code), {.elf_machine = 62, .is_64 = true}});
    assert_non_null(function);
    assert_true(pf_types_find(types, function, CODE, &use));
    if (!use.mnemonic[0])
        skip(); /* the disassembler is not there */
    assert_int_equal(use.reason, PF_TYPE_FOUND);
    assert_true(pf_type_path(types, use.type, use.offset, path, sizeof(path)));
    pf_types_close(types);
    pf_disassembler_close(disassembler);
}

/* ---- packages --------------------------------------------------------------------------------------------------- */

enum { PACKAGED = 600 };

static void put_units(struct bytes *to, uint8_t type)
{
    for (unsigned i = 0; i < PACKAGED; i++) {
        const size_t unit = start_unit(to, type);
        PUT_BYTES(to, 1);
        end_unit(to, unit);
    }
}

/* All skeletons have the same id, and its part of the package has all units. It is its own package. */
static const char *make_packaged(void)
{
    struct section sections[] = {
        {.name = ".text"},           {.name = ".debug_abbrev"},     {.name = ".debug_info"},
        {.name = ".debug_info.dwo"}, {.name = ".debug_abbrev.dwo"}, {.name = ".debug_cu_index"}};
    struct bytes *index = &sections[5].contents;
    PUT_BYTES(&sections[0].contents, 0xc3);
    for (unsigned i = 1; i <= 4; i += 3) {
        put_abbreviation(&sections[i].contents, 1, DW_TAG_compile_unit, false);
        PUT_BYTES(&sections[i].contents, 0, 0, 0);
    }
    put_units(&sections[2].contents, DW_UT_skeleton);
    put_units(&sections[3].contents, DW_UT_split_compile);
    PUT_BYTES(index, 5, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    put_number(index, 7, 8); /* the id */
    put_number(index, 1, 4); /* its row */
    PUT_BYTES(index, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    put_number(index, sections[3].contents.bytes, 4);
    put_number(index, sections[4].contents.bytes, 4);
    const char *path = make_file("packaged", sections, PF_COUNT(sections));
    assert_true(made_run("cp packaged packaged.dwp"));
    return path;
}

static void test_packaged(void **state)
{
    (void)state;
    struct pf_debug_module module;
    struct counting memory;
    counting_open(&memory, -1);
    const struct pf_debug_opening opening = {.allocator = &memory.allocator, .with_variables = true};
    assert_int_equal(pf_debug_module_open(&module, make_packaged(), NULL, &opening, NULL), 0);
    assert_int_equal(module.file.debug.unit_count, PACKAGED);
    for (unsigned i = 0; i < PACKAGED; i++) {
        struct pf_unit *unit = &module.file.debug.units[i];
        assert_ptr_not_equal(pf_debug_module_unit(&module, unit), unit);
    }
    assert_true(memory.max_bytes < PACKAGED * 4096);
    pf_debug_module_close(&module);
    counting_close(&memory);
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

enum { RANGED = 4000 };

/* Each of many functions has the ranges of one list. */
static const char *make_ranged(void)
{
    struct section sections[] = {
        {.name = ".text"}, {.name = ".debug_abbrev"}, {.name = ".debug_info"}, {.name = ".debug_rnglists"}};
    struct bytes *abbreviations = &sections[1].contents, *info = &sections[2].contents;
    PUT_BYTES(&sections[0].contents, 0x90, 0xc3);
    put_abbreviation(abbreviations, 1, DW_TAG_compile_unit, true);
    PUT_BYTES(abbreviations, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, 0, 0);
    put_abbreviation(abbreviations, 2, DW_TAG_subprogram, false);
    PUT_BYTES(abbreviations, DW_AT_ranges, DW_FORM_sec_offset, 0, 0, 0);
    const size_t unit = start_unit(info, DW_UT_compile);
    PUT_BYTES(info, 1);
    put_number(info, CODE, 8);
    PUT_BYTES(info, 2);
    for (unsigned i = 0; i < RANGED; i++) {
        PUT_BYTES(info, 2, 0, 0, 0, 0);
        PUT_BYTES(&sections[3].contents, DW_LLE_offset_pair, 0, 1);
    }
    PUT_BYTES(info, 0);
    end_unit(info, unit);
    PUT_BYTES(&sections[3].contents, 0);
    return make_file("ranged", sections, PF_COUNT(sections));
}

static void test_ranged(void **state)
{
    (void)state;
    const char *path = make_ranged();
    struct pf_inlines *inlines;
    struct counting memory;
    counting_open(&memory, -1);
    assert_int_equal(pf_inlines_open(path, NULL, &memory.allocator, &inlines, NULL), 0);
    assert_int_equal(inlines->segment_count, 2);
    assert_true(memory.max_bytes < RANGED * 4096);
    pf_inlines_close(inlines);
    counting_close(&memory);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* A function whose name is so long, at an entry that it refers to and that has so many more attributes without bytes. */
static const char *make_named(size_t name_bytes, unsigned attributes)
{
    struct section sections[] = {{.name = ".text"}, {.name = ".debug_abbrev"}, {.name = ".debug_info"}};
    struct bytes *abbreviations = &sections[1].contents, *info = &sections[2].contents;
    PUT_BYTES(&sections[0].contents, 0xc3);
    put_abbreviation(abbreviations, 1, DW_TAG_compile_unit, true);
    PUT_BYTES(abbreviations, 0, 0);
    put_abbreviation(abbreviations, 2, DW_TAG_subprogram, false);
    PUT_BYTES(abbreviations, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, DW_AT_abstract_origin,
              DW_FORM_ref1, 0, 0);
    put_abbreviation(abbreviations, 3, DW_TAG_subprogram, false);
    for (unsigned i = 0; i < attributes; i++)
        PUT_BYTES(abbreviations, DW_AT_external, DW_FORM_flag_present);
    PUT_BYTES(abbreviations, DW_AT_name, DW_FORM_string, 0, 0, 0);
    const size_t unit = start_unit(info, DW_UT_compile);
    PUT_BYTES(info, 1, 2);
    put_number(info, CODE, 8);
    PUT_BYTES(info, 1, (uint8_t)(info->bytes + 2), 3);
    for (size_t i = 0; i < name_bytes; i++)
        PUT_BYTES(info, 'n');
    PUT_BYTES(info, 0, 0);
    end_unit(info, unit);
    return make_file("named", sections, PF_COUNT(sections));
}

static size_t name_length(size_t name_bytes, unsigned attributes)
{
    struct pf_source_frame frame = {.function = NULL};
    struct pf_inlines *inlines;
    assert_int_equal(pf_inlines_open(make_named(name_bytes, attributes), NULL, NULL, &inlines, NULL), 0);
    assert_int_equal(pf_inlines_find(inlines, CODE, &frame, 1), 1);
    const size_t length = frame.function ? strlen(frame.function) : 0;
    pf_inlines_close(inlines);
    return length;
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(name_length(1, 0), 1);
    assert_int_equal(name_length(PF_DEBUG_TEXT_MAX - 1, 0), PF_DEBUG_TEXT_MAX - 1);
    assert_int_equal(name_length(PF_DEBUG_TEXT_MAX, 0), 0);
    assert_int_equal(name_length(1, 3 * PF_CHAIN_STEPS_MAX), 1);
    assert_int_equal(name_length(1, 5 * PF_CHAIN_STEPS_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_packaged),
        cmocka_unit_test(test_ranged),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, made_directory_open, made_directory_close);
}
