/* SPDX-License-Identifier: MIT */
#include "analysis/pgo/code.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/elf_names.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sort.h"
#include "symbol/table_elf.h"

/* The instructions of a section: bits for each byte. */
struct region {
    uint64_t start, end;
    uint64_t *starts; /* an instruction starts there */
    uint64_t *jumps;  /* of these, control never continues with the next one */
    uint64_t *links;  /* of these, those that call or return */
    size_t words;     /* of each */
};

struct pf_pgo_code {
    const struct perfile_allocator *allocator;
    struct pf_insn_machine machine;
    struct pf_pgo_function *functions;
    size_t function_count, function_capacity;
    char *names; /* of functions: the string table of the symbols */
    size_t name_bytes;
    struct pf_symbol_build stubs; /* of procedure linkage tables, by address */
    struct region *regions;       /* by address */
    size_t region_count, region_capacity;
};

static bool has_bit(const uint64_t *bits, uint64_t at)
{
    return bits[at / 64] >> (at % 64) & 1;
}

static void set_bit(uint64_t *bits, uint64_t at)
{
    bits[at / 64] |= (uint64_t)1 << (at % 64);
}

/* Returns the position of the first bit from `at` on, before `end`; `end` where no bit is set. */
static uint64_t next_bit(const uint64_t *bits, uint64_t at, uint64_t end)
{
    while (at < end) {
        const uint64_t rest = bits[at / 64] >> (at % 64);
        if (rest)
            return pf_min_u64(at + (uint64_t)__builtin_ctzll(rest), end);
        at = (at / 64 + 1) * 64;
    }
    return end;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static int compare_functions(const void *a, const void *b)
{
    const struct pf_pgo_function *x = a, *y = b;
    if (x->start != y->start)
        return x->start > y->start ? 1 : -1;
    if (x->end != y->end)
        return x->end > y->end ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool add_function(struct pf_pgo_code *code, const struct pf_elf *elf, const struct pf_elf_symbol *symbol)
{
    const struct pf_elf_section *section = symbol->section ? &elf->sections[symbol->section] : NULL;
    const unsigned type = symbol->st_type;
    struct pf_pgo_function made = {.start = symbol->st_value, .has_size = symbol->st_size};
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name >= code->name_bytes || !pf_add(made.start, symbol->st_size, &made.end))
        return true;
    if (elf->header.e_type == ET_REL && section) {
        made.start += section->address;
        made.end += section->address;
    }
    if (!made.has_size && section && !pf_add(section->address, section->header.sh_size, &made.end))
        return true;
    made.name = code->names + symbol->st_name;
    made.is_local = symbol->st_bind == STB_LOCAL;
    return PF_APPEND(code->allocator, code->functions, code->function_count, code->function_capacity, made);
}

/* Those without a size reach up to the next one, or the end of their section. */
static void complete_ends(struct pf_pgo_code *code)
{
    uint64_t next = UINT64_MAX; /* where functions after this one start */
    for (size_t i = code->function_count; i-- > 0;) {
        struct pf_pgo_function *function = &code->functions[i];
        if (i + 1 < code->function_count && code->functions[i + 1].start != function->start)
            next = code->functions[i + 1].start;
        function->end = function->has_size ? function->end : pf_min_u64(function->end, next);
    }
}

/* Local ones of one name are numbered in the order of addresses. */
static bool number_functions(struct pf_pgo_code *code)
{
    struct pf_map seen;
    bool done = true;
    pf_map_open(&seen, code->allocator);
    for (size_t i = 0; i < code->function_count && done; i++) {
        struct pf_pgo_function *function = &code->functions[i];
        const uint64_t hash = pf_hash_text(function->name);
        uint64_t number = 0;
        if (!function->is_local)
            continue;
        pf_map_get(&seen, hash, &number);
        function->number = (uint32_t)number + 1;
        done = pf_map_put(&seen, hash, function->number);
    }
    pf_map_close(&seen);
    return done;
}

static bool read_functions(struct pf_pgo_code *code, const struct pf_elf *elf)
{
    const struct pf_elf_section *table = pf_elf_section(elf, ".symtab");
    struct pf_elf_symbols symbols;
    if (!table || table->header.sh_type != SHT_SYMTAB)
        table = pf_elf_section(elf, ".dynsym");
    if (!table || !pf_elf_symbols_open(&symbols, elf, table))
        return true;
    code->names = pf_text_copy(code->allocator, symbols.names ? (const char *)symbols.names : "", symbols.names_bytes);
    code->name_bytes = symbols.names_bytes;
    if (!code->names)
        return false;
    for (size_t i = 1; i < symbols.count; i++) {
        const struct pf_elf_symbol symbol = pf_elf_symbol_at(&symbols, i);
        if (!add_function(code, elf, &symbol))
            return false;
    }
    if (code->function_count)
        qsort(code->functions, code->function_count, sizeof(*code->functions), compare_functions);
    complete_ends(code);
    return number_functions(code);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/*
 * Decodes up to `end`, where a function starts or the section ends. What is not an instruction is skipped by the byte.
 */
static void decode(const struct pf_pgo_code *code, struct region *region, const uint8_t *bytes, uint64_t at,
                   uint64_t end)
{
    struct pf_insn insn;
    while (at < end) {
        if (!pf_insn_decode(&code->machine, bytes + at, (size_t)(end - at), &insn)) {
            at++;
            continue;
        }
        set_bit(region->starts, at);
        if (insn.flow == PF_INSN_JUMP || insn.flow == PF_INSN_RETURN)
            set_bit(region->jumps, at);
        if (insn.flow == PF_INSN_CALL || insn.flow == PF_INSN_RETURN)
            set_bit(region->links, at);
        at += insn.bytes;
    }
}

/* The first function that starts after the address. */
static size_t first_after(const struct pf_pgo_code *code, uint64_t address)
{
    return PF_COUNT_BEFORE(code->function_count, i, code->functions[i].start <= address);
}

/* The code between functions is decoded, too, but a function begins anew whatever is before it. */
static void decode_section(const struct pf_pgo_code *code, struct region *region, const uint8_t *bytes)
{
    const uint64_t length = region->end - region->start;
    uint64_t at = 0;
    for (size_t i = first_after(code, region->start); i < code->function_count; i++) {
        const uint64_t start = code->functions[i].start - region->start;
        if (start >= length)
            break;
        if (start == at)
            continue;
        decode(code, region, bytes, at, start);
        at = start;
    }
    decode(code, region, bytes, at, length);
}

static void close_region(const struct pf_pgo_code *code, struct region *region)
{
    const size_t bytes = region->words * sizeof(uint64_t);
    pf_free(code->allocator, region->starts, bytes);
    pf_free(code->allocator, region->jumps, bytes);
    pf_free(code->allocator, region->links, bytes);
}

static bool add_region(struct pf_pgo_code *code, const struct pf_elf *elf, const struct pf_elf_section *section)
{
    size_t bytes;
    const uint8_t *data = pf_elf_bytes(elf, section, &bytes);
    struct region region = {.start = section->address, .words = bytes / 64 + 1};
    if (!data || !pf_add(region.start, bytes, &region.end))
        return true;
    region.starts = pf_new(code->allocator, region.words * sizeof(*region.starts));
    region.jumps = pf_new(code->allocator, region.words * sizeof(*region.jumps));
    region.links = pf_new(code->allocator, region.words * sizeof(*region.links));
    if (!PF_APPEND(code->allocator, code->regions, code->region_count, code->region_capacity, region)) {
        close_region(code, &region);
        return false;
    }
    if (!region.starts || !region.jumps || !region.links)
        return false;
    decode_section(code, &region, data);
    return true;
}

static int compare_regions(const void *a, const void *b)
{
    const struct region *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static bool has_code(const struct pf_elf_section *section)
{
    const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
    return (section->header.sh_flags & flags) == flags && section->header.sh_type == SHT_PROGBITS &&
           section->is_placed && !pf_starts_with(section->name, ".plt");
}

/* Of a damaged file, whose sections may all be the same bytes, not more is decoded than it has bytes. */
static bool read_instructions(struct pf_pgo_code *code, const struct pf_elf *elf)
{
    uint64_t left = elf->file_bytes;
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        if (!has_code(section) || section->header.sh_size > left)
            continue;
        left -= section->header.sh_size;
        if (!add_region(code, elf, section))
            return false;
    }
    if (code->region_count)
        qsort(code->regions, code->region_count, sizeof(*code->regions), compare_regions);
    return true;
}

static bool is_known(const struct pf_insn_machine *machine)
{
    return machine->elf_machine == EM_X86_64 || machine->elf_machine == EM_386 || machine->elf_machine == EM_AARCH64;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int read_parts(struct pf_pgo_code *code, const char *path, struct perfile_error *error)
{
    struct pf_elf elf;
    const int result = pf_elf_open(&elf, path, code->allocator, error);
    if (result < 0)
        return result;
    code->machine = (struct pf_insn_machine){elf.header.e_machine, elf.is_64, elf.is_big_endian, false};
    const bool known = is_known(&code->machine);
    const bool done = read_functions(code, &elf) && (!known || read_instructions(code, &elf)) &&
                      pf_build_add_plt(&code->stubs, &elf) && pf_build_sort(&code->stubs);
    const bool was_short = pf_elf_check(&elf, 0) < 0;
    pf_elf_close(&elf);
    return was_short || !done ? pf_fail_memory(error, "code") : 0;
}

int pf_pgo_code_open(const char *path, const struct perfile_allocator *allocator, struct pf_pgo_code **code,
                     struct perfile_error *error)
{
    struct pf_pgo_code *made = pf_new(allocator, sizeof(*made));
    *code = NULL;
    if (!made)
        return pf_fail_memory(error, "code");
    made->allocator = allocator;
    pf_build_open(&made->stubs, allocator);
    const int result = read_parts(made, path, error);
    if (result == 0)
        *code = made;
    else
        pf_pgo_code_close(made);
    return result;
}

void pf_pgo_code_close(struct pf_pgo_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->region_count; i++)
        close_region(code, &code->regions[i]);
    pf_free(code->allocator, code->regions, code->region_capacity * sizeof(*code->regions));
    pf_free(code->allocator, code->functions, code->function_capacity * sizeof(*code->functions));
    pf_text_free(code->allocator, code->names);
    pf_build_close(&code->stubs);
    pf_free(code->allocator, code, sizeof(*code));
}

/* ---- look-ups ---------------------------------------------------------------------------------------------------- */

const struct pf_pgo_function *pf_pgo_functions(const struct pf_pgo_code *code, size_t *count)
{
    *count = code->function_count;
    return code->functions;
}

const struct pf_pgo_function *pf_pgo_function_before(const struct pf_pgo_code *code, uint64_t address)
{
    const size_t after = first_after(code, address);
    return after ? &code->functions[after - 1] : NULL;
}

const struct pf_pgo_function *pf_pgo_function_at(const struct pf_pgo_code *code, uint64_t address)
{
    const struct pf_pgo_function *function = pf_pgo_function_before(code, address);
    return function && address < function->end ? function : NULL;
}

const char *pf_pgo_stub_at(const struct pf_pgo_code *code, uint64_t address, uint64_t *start)
{
    const struct pf_symbol_entry *entries = code->stubs.entries;
    const size_t count = PF_COUNT_BEFORE(code->stubs.count, i, entries[i].start <= address);
    if (!count || address >= entries[count - 1].end)
        return NULL;
    *start = entries[count - 1].start;
    return code->stubs.text + entries[count - 1].name;
}

/* The first region that ends after the address, or NULL. Sections do not overlap, unless the file is damaged. */
static const struct region *region_at(const struct pf_pgo_code *code, uint64_t address)
{
    const size_t before = PF_COUNT_BEFORE(code->region_count, i, code->regions[i].end <= address);
    return before < code->region_count ? &code->regions[before] : NULL;
}

bool pf_pgo_has_instructions(const struct pf_pgo_code *code)
{
    return is_known(&code->machine);
}

bool pf_pgo_is_instruction(const struct pf_pgo_code *code, uint64_t address)
{
    const struct region *region = region_at(code, address);
    return region && address >= region->start && has_bit(region->starts, address - region->start);
}

bool pf_pgo_next_instruction(const struct pf_pgo_code *code, uint64_t address, uint64_t last, uint64_t *start)
{
    for (const struct region *region; (region = region_at(code, address)); address = region->end) {
        const uint64_t length = region->end - region->start;
        const uint64_t from = address > region->start ? address - region->start : 0;
        const uint64_t found = next_bit(region->starts, from, length);
        *start = region->start + found;
        if (found < length)
            return *start <= last;
    }
    return false;
}

unsigned pf_pgo_instruction_bytes(const struct pf_pgo_code *code, uint64_t address)
{
    const struct region *region = region_at(code, address);
    if (!region || address < region->start || !has_bit(region->starts, address - region->start))
        return 0;
    const uint64_t at = address - region->start, length = region->end - region->start;
    return (unsigned)(next_bit(region->starts, at + 1, length) - at);
}

enum pf_insn_flow pf_pgo_flow_at(const struct pf_pgo_code *code, uint64_t address)
{
    static const enum pf_insn_flow flows[2][2] = {{PF_INSN_NEXT, PF_INSN_CALL}, {PF_INSN_JUMP, PF_INSN_RETURN}};
    const struct region *region = region_at(code, address);
    if (!region || address < region->start)
        return PF_INSN_NEXT;
    const uint64_t at = address - region->start;
    return flows[has_bit(region->jumps, at)][has_bit(region->links, at)];
}

bool pf_pgo_previous_instruction(const struct pf_pgo_code *code, uint64_t address, uint64_t *start)
{
    for (unsigned i = 1; i <= PF_INSN_BYTES_MAX && i <= address; i++)
        if (pf_pgo_is_instruction(code, address - i)) {
            *start = address - i;
            return true;
        }
    return false;
}

/* An unconditional jump or a return starts at an address from `first` on, before `end`. */
static bool crosses_jump(const struct pf_pgo_code *code, uint64_t first, uint64_t end)
{
    for (const struct region *region; first < end && (region = region_at(code, first)); first = region->end) {
        const uint64_t from = first > region->start ? first - region->start : 0;
        const uint64_t to =
            end < region->end ? end > region->start ? end - region->start : 0 : region->end - region->start;
        if (next_bit(region->jumps, from, to) < to)
            return true;
    }
    return false;
}

bool pf_pgo_range_is_usable(const struct pf_pgo_code *code, const struct pf_pgo_range *range,
                            struct perfile_pgo_counts *counts)
{
    if (!pf_pgo_is_instruction(code, range->begin) || !pf_pgo_is_instruction(code, range->end)) {
        pf_add_to_sum(&counts->ranges_no_code, range->count);
        return false;
    }
    if (crosses_jump(code, range->begin, range->end)) {
        pf_add_to_sum(&counts->ranges_jumps, range->count);
        return false;
    }
    return true;
}
