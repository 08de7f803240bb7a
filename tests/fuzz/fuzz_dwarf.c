/* SPDX-License-Identifier: MIT */
/*
 * Debug info: units, entries, ranges, inlined functions and line tables, locations, types and the variables of
 * functions. The input is the binary and each of the other files that it may name: the package and the object file of
 * split DWARF, and the file of dwz; and the code of its functions.
 */
#include "made.h"
#include "symbol/dwarf/inlines_tables.h"
#include "symbol/dwarf/names.h"
#include "symbol/dwarf/types_parts.h"

enum { FRAMES = 8, ADDRESSES = 32, FUNCTIONS = 8, USES = 16, ENTRIES = 2048, RANGES = 64, MEMBERS_DEPTH = 4 };

static char paths[3][160];

static void remove_files(void)
{
    for (unsigned i = 0; i < PF_COUNT(paths); i++)
        unlink(paths[i]);
    rmdir(fuzz_folder(NULL));
}

/* Writes the input to the one file that all these names mean. */
static const char *write_input(const uint8_t *data, size_t bytes)
{
    static const char *const names[] = {"x", "x.dwp", "x.dwo"};
    static int fd = -1;
    const char *folder = fuzz_folder(remove_files);
    for (unsigned i = 0; fd < 0 && i < PF_COUNT(names); i++)
        snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
    if (fd < 0) {
        fd = open(paths[0], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        FUZZ_REQUIRE(fd >= 0 && link(paths[0], paths[1]) == 0 && link(paths[0], paths[2]) == 0);
    }
    FUZZ_REQUIRE(ftruncate(fd, (off_t)bytes) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    return paths[0];
}

/* The frames where tables change, and one address before. */
static void find_frames(const struct pf_inlines *inlines, uint64_t address)
{
    struct pf_source_frame frames[FRAMES];
    for (unsigned before = 0; before < 2; before++) {
        const size_t found = pf_inlines_find(inlines, address - before, frames, FRAMES);
        for (size_t i = 0; i < found && i < FRAMES; i++) {
            fuzz_touch_text(frames[i].function);
            fuzz_touch_text(frames[i].file);
        }
    }
}

static void count_frames(const struct pf_inlines *inlines, uint64_t address)
{
    struct pf_counted_frame frames[FRAMES];
    uint64_t end;
    const size_t found = pf_inlines_count(inlines, address, frames, FRAMES, &end);
    FUZZ_REQUIRE(found <= FRAMES && end > address);
    for (size_t i = 0; i < found; i++)
        fuzz_touch_text(frames[i].function);
}

static void find_ranges(const struct pf_inlines *inlines)
{
    struct pf_function_range range;
    for (size_t at = 0; pf_inlines_next_range(inlines, &at, &range);) {
        FUZZ_REQUIRE(range.low < range.high);
        fuzz_touch_text(range.function);
    }
}

static void look_up(const struct pf_inlines *inlines)
{
    for (size_t i = 0; i < inlines->line_count; i++)
        FUZZ_REQUIRE(!i || inlines->line_addresses[i - 1] < inlines->line_addresses[i]);
    for (size_t i = 0; i < inlines->segment_count; i++)
        FUZZ_REQUIRE(!i || inlines->segment_addresses[i - 1] < inlines->segment_addresses[i]);
    for (size_t i = 0; i < inlines->line_count && i < ADDRESSES; i++)
        find_frames(inlines, inlines->line_addresses[i]);
    for (size_t i = 0; i < inlines->segment_count && i < ADDRESSES; i++)
        inlines->details ? count_frames(inlines, inlines->segment_addresses[i])
                         : find_frames(inlines, inlines->segment_addresses[i]);
    find_ranges(inlines);
}

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

static void take_uses(struct pf_types *types, const struct pf_types_code *code)
{
    struct pf_types_function *function = pf_types_function(types, code);
    struct pf_type_use use;
    char path[64];
    for (size_t i = 0; function && i < USES; i++) {
        FUZZ_REQUIRE(pf_types_find(types, function, code->address + i * 4, &use));
        if (!use.type || !use.type->is_described)
            continue;
        FUZZ_REQUIRE(pf_type_path(types, use.type, use.offset, path, sizeof(path)) && strlen(path) < sizeof(path));
        take_members(types, use.type, 0);
    }
}

static void take_types(const char *path, const uint8_t *data, size_t bytes)
{
    static struct pf_disassembler *disassembler;
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    struct pf_types *types = NULL;
    const struct pf_types_symbols symbols = {.at = NULL};
    struct pf_die top;
    unsigned left = ENTRIES;
    if (!disassembler) {
        FUZZ_REQUIRE(disassembler = pf_disassembler_open(allocator));
        pf_disassembler_use_intel(disassembler);
    }
    if (pf_types_open(&(struct pf_types_files){path, path}, &symbols, disassembler, allocator, &types, NULL) < 0)
        return;
    for (size_t i = 0; i < types->module.file.debug.unit_count && left; i++)
        if (pf_unit_top(pf_debug_module_unit(&types->module, &types->module.file.debug.units[i]), &top))
            take_entries(&top, 0, &left);
    for (size_t i = 0; i < types->range_count && i < FUNCTIONS; i++)
        take_uses(types, &(struct pf_types_code){.address = types->ranges[i].low,
                                                 .code = data,
                                                 .bytes = pf_min(bytes, (size_t)512),
                                                 .machine = {.elf_machine = i & 1 ? 183 : 62, .is_64 = true}});
    pf_types_close(types);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* Two threads make the same tables. */
static void check_threads(const struct pf_inlines_request *request, const struct pf_inlines *inlines)
{
    struct pf_inlines_request shared = *request;
    struct pf_inlines *others;
    shared.threads = 2;
    (void)pf_inlines_read(&shared, NULL, &others, NULL);
    FUZZ_REQUIRE(!others == !inlines);
    FUZZ_REQUIRE(!inlines ||
                 (inlines->bytes == others->bytes && memcmp(inlines->block, others->block, inlines->bytes) == 0));
    pf_inlines_close(others);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = write_input(data, bytes);
    const uint64_t chance = fuzz_chance_of(data, bytes);
    const struct pf_wanted_range wanted = {chance >> 52, UINT64_MAX};
    const bool is_shared = (chance & 12) == 0;
    const struct pf_inlines_request request = {.path = path,
                                               .alternate_path = path,
                                               .share_bytes = is_shared, /* a unit each */
                                               .detailed = chance & 2,
                                               .wanted = &wanted,
                                               .wanted_count = chance & 1};
    struct pf_inlines *inlines;
    const int code = pf_inlines_read(&request, NULL, &inlines, NULL);
    if (is_shared)
        check_threads(&request, inlines);
    if (code == 0)
        look_up(inlines);
    FUZZ_REQUIRE((code == 0) == (inlines != NULL));
    pf_inlines_close(inlines);
    take_types(path, data, bytes);
    return 0;
}
