/* SPDX-License-Identifier: MIT */
/* Entries of debug info and their locations; types, and what the code of functions does with their variables. */
#include "debug_input.h"
#include "symbol/dwarf/names.h"
#include "symbol/dwarf/types_parts.h"

enum { FUNCTIONS = 2, CODE_BYTES = 160, USES = 32, ENTRIES = 256, RANGES = 16, MEMBERS_DEPTH = 4 };

/* ---- entries ---------------------------------------------------------------------------------------------------- */

static void take_ranges(const struct pf_unit *unit, struct pf_die_ranges ranges)
{
    struct pf_die_range range;
    struct pf_operation operation;
    uint64_t number;
    int64_t offset;
    for (unsigned i = 0; i < RANGES && pf_die_next_range(&ranges, &range); i++) {
        struct pf_operations operations = pf_operations_of(unit, range.expression);
        while (pf_next_operation(&operations, &operation)) {
            (void)pf_operation_address(unit, &operation, &number);
            (void)pf_operation_register(&operation, &number);
            (void)pf_operation_based(&operation, &number, &offset);
        }
        FUZZ_REQUIRE(operations.c.failed || !pf_cursor_left(&operations.c));
    }
}

static void take_entry(const struct pf_die *die)
{
    static const uint32_t lists[] = {DW_AT_location, DW_AT_frame_base, DW_AT_data_member_location};
    struct pf_attribute attribute;
    struct pf_die_name name;
    struct pf_die_bits bits;
    struct pf_die type;
    uint64_t bytes;
    int64_t offset;
    for (size_t i = 0; i < PF_COUNT(lists); i++)
        if (pf_die_integrated(die, lists[i], &attribute))
            take_ranges(attribute.unit, pf_attribute_locations(&attribute));
    take_ranges(die->unit, pf_die_ranges(die));
    FUZZ_REQUIRE(!pf_die_bit_field(die, &bits) || (bits.width && bits.shift + bits.width <= bits.container_bits));
    (void)pf_die_member_offset(die, &offset);
    if (!pf_die_type(die, true, &type))
        return;
    pf_die_name(&type, &name);
    fuzz_touch_text(name.name);
    FUZZ_REQUIRE(strlen(name.marks) < sizeof(name.text));
    (void)pf_die_bytes(&type, &bytes);
}

static void take_entries(const struct pf_die *parent, unsigned depth, unsigned *left)
{
    struct pf_die die;
    if (depth > PF_SCOPE_DEPTH_MAX || !pf_die_child(parent, &die))
        return;
    do {
        take_entry(&die);
        take_entries(&die, depth + 1, left);
    } while (*left && --*left && pf_die_sibling(&die, &die));
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static void take_members(struct pf_types *types, const struct pf_type *type, unsigned depth)
{
    const struct pf_type_member *members;
    size_t count;
    if (depth == MEMBERS_DEPTH || !pf_type_members(types, type, &members, &count))
        return;
    for (size_t i = 0; i < count && i < MEMBERS_DEPTH; i++) {
        fuzz_touch_text(members[i].name);
        fuzz_touch_text(members[i].type->name);
        take_members(types, members[i].type, depth + 1);
    }
}

/* As if symbols of data were where seeds have variables that are only declared. */
static const char *name_at(void *context, uint64_t address, uint64_t *offset)
{
    static const char *const names[] = {"table", "nodes", "global", NULL};
    (void)context;
    *offset = address % 8;
    return names[address / 8 % PF_COUNT(names)];
}

/* At each instruction. The first answer decodes all of them. */
static void take_uses(struct pf_types *types, const struct pf_types_code *code)
{
    struct pf_types_function *function = pf_types_function(types, code);
    uint64_t address = code->address;
    struct pf_type_use use;
    char path[64];
    for (size_t i = 0; function && i < USES; i++) {
        FUZZ_REQUIRE(pf_types_find(types, function, address, &use));
        address = i < function->effect_count ? function->addresses[i] : address + 1;
        if (!use.type || !use.type->is_described)
            continue;
        FUZZ_REQUIRE(pf_type_path(types, use.type, use.offset, path, sizeof(path)) && strlen(path) < sizeof(path));
        take_members(types, use.type, 0);
    }
}

static void take_functions(struct pf_types *types)
{
    const struct pf_elf *elf = &types->module.file.elf;
    for (size_t i = 0; i < types->range_count && i < FUNCTIONS; i++) {
        struct pf_types_code code = {.address = types->ranges[i].low,
                                     .machine = {.elf_machine = elf->header.e_machine, .is_64 = true}};
        code.code = pf_elf_bytes_at(elf, code.address, &code.bytes);
        code.bytes = code.code ? pf_min(code.bytes, (size_t)CODE_BYTES) : 0;
        take_uses(types, &code);
    }
}

static void take_units(struct pf_types *types)
{
    struct pf_debug *debug = &types->module.file.debug;
    unsigned left = ENTRIES;
    struct pf_die top;
    for (size_t i = 0; i < debug->unit_count && left; i++)
        if (pf_unit_top(pf_debug_module_unit(&types->module, &debug->units[i]), &top))
            take_entries(&top, 0, &left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct pf_disassembler *disassembler;
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    const char *path = debug_input_write(data, bytes);
    const unsigned choice = debug_input_choice(data, bytes);
    const struct pf_types_files files = {path, choice & DEBUG_INPUT_ALTERNATE ? path : NULL};
    const struct pf_types_symbols symbols = {.at = name_at};
    struct pf_types *types;
    if (!disassembler) {
        FUZZ_REQUIRE(disassembler = pf_disassembler_open(allocator));
        pf_disassembler_use_intel(disassembler);
    }
    if (pf_types_open(&files, &symbols, disassembler, allocator, &types, NULL) < 0)
        return 0;
    if (!(choice & DEBUG_INPUT_NO_ENTRIES))
        take_units(types);
    if (!(choice & DEBUG_INPUT_NO_USES))
        take_functions(types);
    pf_types_close(types);
    return 0;
}
