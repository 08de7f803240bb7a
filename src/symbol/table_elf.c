/* SPDX-License-Identifier: MIT */
/* Symbol tables of ELF files. */
#include "symbol/table_elf.h"

#include "base/elf_names.h"
#include "symbol/go_elf.h"

/* ---- which symbols ---- */

/* Marks between code and data, of the ABIs of these machines, of no use to readers. */
static bool is_mapping_symbol(const char *name, unsigned machine)
{
    if (name[0] != '$')
        return false;
    switch (machine) {
    case EM_ARM:
        return name[1] && strchr("atd", name[1]) && (!name[2] || name[2] == '.');
    case EM_AARCH64:
        return name[1] && strchr("xd", name[1]) && (!name[2] || name[2] == '.');
    case EM_RISCV:
        return name[1] && strchr("xd", name[1]); /* "$xrv64i2p1_..." too */
    default:
        return false;
    }
}

/* Labels without a type are shown where perf shows them: in sections named like text or data. */
static bool is_shown_label(const struct pf_elf_symbol *symbol, const struct pf_elf_section *section)
{
    return symbol->st_visibility != STV_HIDDEN && symbol->st_visibility != STV_INTERNAL &&
           (strstr(section->name, "text") || strstr(section->name, "data"));
}

static bool is_shown(const struct pf_elf_symbol *symbol, const struct pf_elf_section *section)
{
    switch (symbol->st_type) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
    case STT_OBJECT:
        return true;
    case STT_NOTYPE:
        return is_shown_label(symbol, section);
    default:
        return false;
    }
}

static uint32_t flags_of(const struct pf_elf_symbol *symbol)
{
    const unsigned binding = symbol->st_bind;
    uint32_t flags = binding == STB_GLOBAL ? PF_SYMBOL_GLOBAL : binding == STB_WEAK ? PF_SYMBOL_WEAK : 0;
    switch (symbol->st_type) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
        return flags | PF_ENTRY_FUNCTION;
    case STT_NOTYPE:
        return flags | PF_ENTRY_LABEL;
    default:
        return flags;
    }
}

/* ---- one symbol table of one file ---- */

struct reading {
    struct pf_symbol_build *build;
    const struct pf_elf *elf;         /* with the symbols */
    const struct pf_elf *runtime;     /* with the code and data */
    const struct pf_elf_section *opd; /* ELFv1 of 64-bit PowerPC: function descriptors */
    const uint8_t *opd_bytes;
    size_t opd_size;
    uint32_t names; /* where the names begin in the text */
    size_t names_bytes;
};

static void find_opd(struct reading *r)
{
    const struct pf_elf *elf = r->runtime;
    if (elf->header.e_machine != EM_PPC64 || (elf->header.e_flags & 3) == 2)
        return;
    r->opd = pf_elf_section(elf, ".opd");
    r->opd_bytes = r->opd ? pf_elf_bytes(elf, r->opd, &r->opd_size) : NULL;
}

/* A function's symbol stands at its descriptor, which begins with the address of the code. */
static void follow_opd(const struct reading *r, uint64_t *address)
{
    if (!r->opd_bytes || *address < r->opd->address || *address - r->opd->address >= r->opd_size)
        return;
    uint64_t offset = *address - r->opd->address;
    if (r->opd_size - offset >= 8)
        *address = pf_load64(r->opd_bytes + offset, r->runtime->swap);
}

static uint64_t address_of(const struct reading *r, const struct pf_elf_symbol *symbol,
                           const struct pf_elf_section *section)
{
    uint64_t address = symbol->st_value;
    if (r->elf->header.e_type == ET_REL)
        address += section->address;
    if (symbol->st_type != STT_OBJECT && symbol->st_type != STT_NOTYPE) {
        if (r->elf->header.e_machine == EM_ARM)
            address &= ~1ull; /* set for Thumb code */
        follow_opd(r, &address);
    }
    return address;
}

/* Of Thumb code the lowest bit of the address is set. */
static uint32_t thumb_flag(const struct reading *r, const struct pf_elf_symbol *symbol)
{
    const bool is_thumb = r->elf->header.e_machine == EM_ARM && symbol->st_type == STT_FUNC && symbol->st_value & 1;
    return is_thumb ? PF_SYMBOL_THUMB : 0;
}

static bool add_symbol(const struct reading *r, const struct pf_elf_symbol *symbol)
{
    if (!symbol->st_name || symbol->st_name >= r->names_bytes || !symbol->section)
        return true;
    const struct pf_elf_section *section = &r->elf->sections[symbol->section];
    const char *name = r->build->text + r->names + symbol->st_name;
    if (!section->is_placed || !*name || !is_shown(symbol, section) ||
        is_mapping_symbol(name, r->elf->header.e_machine))
        return true;
    uint64_t start = address_of(r, symbol, section), end, section_end;
    if (!pf_add(start, symbol->st_size, &end))
        end = UINT64_MAX;
    if (!pf_build_add(r->build, start, end, r->names + (uint32_t)symbol->st_name,
                      flags_of(symbol) | thumb_flag(r, symbol)))
        return false;
    bool inside = pf_add(section->address, section->header.sh_size, &section_end) && start >= section->address &&
                  start < section_end;
    r->build->entries[r->build->count - 1].rank = inside ? section_end : 0;
    return true;
}

/* All of the names are added: symbols point into them. */
static int add_table(struct reading *r, const struct pf_elf_section *table, struct perfile_error *error)
{
    struct pf_elf_symbols symbols;
    if (!pf_elf_symbols_open(&symbols, r->elf, table))
        return pf_fail(error, PERFILE_ERROR_DAMAGED, table->header.sh_offset, table->name, "symbols cannot be read");
    r->names_bytes = symbols.names_bytes;
    bool done =
        pf_build_text(r->build, symbols.names ? (const void *)symbols.names : "", symbols.names_bytes, &r->names);
    for (size_t i = 1; i < symbols.count && done; i++) {
        const struct pf_elf_symbol symbol = pf_elf_symbol_at(&symbols, i);
        done = add_symbol(r, &symbol);
    }
    return done ? 0 : pf_fail_memory(error, "symbols");
}

static int add_tables(struct pf_symbol_build *build, const struct pf_elf *elf, const struct pf_elf *runtime,
                      unsigned type, struct perfile_error *error)
{
    const struct pf_elf_section *table = pf_elf_section_of_type(elf, type);
    struct reading r = {.build = build, .elf = elf, .runtime = runtime};
    find_opd(&r);
    return table ? add_table(&r, table, error) : 0;
}

/* ---- .gnu_debugdata: an xz-compressed ELF file with the symbols that .dynsym does not have ---- */

/* Damage here costs only the symbols after it: those of .dynsym stay. */
static int add_debugdata(struct pf_symbol_build *build, const struct pf_elf *elf, struct perfile_error *error)
{
    size_t bytes = 0;
    int code = 0;
    struct pf_unpacked image = {0};
    struct pf_elf inner;
    const struct pf_elf_section *section = pf_elf_section(elf, ".gnu_debugdata");
    const uint8_t *packed = section ? pf_elf_bytes(elf, section, &bytes) : NULL;
    if (packed && pf_unpack(elf->allocator, packed, bytes, &image) &&
        pf_elf_open_memory(&inner, image.data, image.bytes, elf->allocator, NULL) == 0) {
        code = add_tables(build, &inner, elf, SHT_SYMTAB, error);
        pf_elf_close(&inner);
    }
    pf_unpacked_close(elf->allocator, &image);
    return code == PERFILE_ERROR_MEMORY ? code : 0;
}

/* ---- segments ---- */

static bool add_segment(struct pf_symbol_table *table, size_t *capacity, struct pf_segment segment)
{
    if (!segment.bytes)
        return true;
    return PF_APPEND(table->allocator, table->segments, table->segment_count, *capacity, segment);
}

static bool add_placed_sections(struct pf_symbol_table *table, size_t *capacity, const struct pf_elf *elf)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        if (section->is_placed && section->header.sh_type != SHT_NOBITS &&
            !add_segment(table, capacity,
                         (struct pf_segment){section->header.sh_offset, section->header.sh_size, section->address, 0}))
            return false;
    }
    return true;
}

static bool add_loaded_segments(struct pf_symbol_table *table, size_t *capacity, const struct pf_elf *elf)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct pf_elf_segment *segment = &elf->segments[i];
        const uint64_t zeros = segment->p_memsz - pf_min(segment->p_filesz, segment->p_memsz);
        if (segment->p_type == PT_LOAD &&
            !add_segment(table, capacity,
                         (struct pf_segment){segment->p_offset, segment->p_filesz, segment->p_vaddr, zeros}))
            return false;
    }
    return true;
}

static bool add_segments(struct pf_symbol_table *table, const struct pf_elf *elf)
{
    size_t capacity = 0;
    bool done = elf->header.e_type == ET_REL || add_loaded_segments(table, &capacity, elf);
    if (done && !table->segment_count)
        done = add_placed_sections(table, &capacity, elf);
    /* the table is released by its count */
    struct pf_segment *fitting = pf_resize(table->allocator, table->segments, capacity * sizeof(*table->segments),
                                           table->segment_count * sizeof(*table->segments));
    if (!fitting && table->segment_count) {
        pf_free(table->allocator, table->segments, capacity * sizeof(*table->segments));
        table->segment_count = 0;
        done = false;
    }
    table->segments = fitting;
    return done;
}

/* ---- all together ---- */

static void describe(struct pf_symbol_table *table, const struct pf_elf *elf)
{
    table->build_id_bytes = (uint8_t)pf_elf_note_build_id(elf, table->build_id);
    table->e_machine = elf->header.e_machine;
    table->is_64 = elf->is_64;
    table->is_big_endian = elf->is_big_endian;
}

static int add_all_symbols(struct pf_symbol_build *build, const struct pf_elf *elf, const struct pf_elf *debug,
                           bool *has_symtab, struct perfile_error *error)
{
    if (debug && pf_elf_section_of_type(debug, SHT_SYMTAB)) {
        *has_symtab = true;
        return add_tables(build, debug, elf, SHT_SYMTAB, error);
    }
    if (pf_elf_section_of_type(elf, SHT_SYMTAB)) {
        *has_symtab = true;
        return add_tables(build, elf, elf, SHT_SYMTAB, error);
    }
    int code = add_tables(build, elf, elf, SHT_DYNSYM, error);
    return code < 0 ? code : add_debugdata(build, elf, error);
}

static bool sort_and_choose(struct pf_symbol_build *build)
{
    bool sorted = pf_build_sort(build);
    if (sorted)
        pf_build_choose(build);
    return sorted;
}

static int fill_table(struct pf_symbol_table *table, const struct pf_elf *elf, const struct pf_elf *debug,
                      struct perfile_error *error)
{
    struct pf_symbol_build build;
    pf_build_open(&build, table->allocator);
    describe(table, elf);
    int code = add_all_symbols(&build, elf, debug, &table->has_symtab, error);
    if (code == 0 && !((table->has_symtab || pf_build_add_go(&build, elf)) && sort_and_choose(&build) &&
                       pf_build_add_plt(&build, elf) && sort_and_choose(&build) && add_segments(table, elf) &&
                       pf_build_finish(&build, table)))
        code = pf_fail_memory(error, "symbols");
    pf_build_close(&build);
    return code;
}

int pf_segment_table_from_elf(const char *path, const struct perfile_allocator *allocator, struct pf_symbol_table **out,
                              struct perfile_error *error)
{
    struct pf_elf elf;
    struct pf_symbol_build build;
    allocator = pf_allocator_or_default(allocator);
    int code = pf_elf_open(&elf, path, allocator, error);
    if (code < 0)
        return code;
    struct pf_symbol_table *table = pf_symbol_table_new(allocator);
    pf_build_open(&build, allocator);
    if (table)
        describe(table, &elf);
    if (table && add_segments(table, &elf) && pf_build_finish(&build, table) && pf_elf_check(&elf, 0) == 0) {
        *out = table;
    } else {
        pf_symbol_table_close(table);
        code = pf_fail_memory(error, "symbols");
    }
    pf_build_close(&build);
    pf_elf_close(&elf);
    return code;
}

static int make_table(const struct pf_elf *elf, const char *debug_path, const struct perfile_allocator *allocator,
                      struct pf_symbol_table **out, struct perfile_error *error)
{
    struct pf_elf debug;
    if (debug_path) {
        int code = pf_elf_open(&debug, debug_path, allocator, error);
        if (code < 0)
            return code;
    }
    struct pf_symbol_table *table = pf_symbol_table_new(allocator);
    int code = table ? fill_table(table, elf, debug_path ? &debug : NULL, error) : pf_fail_memory(error, "symbols");
    if (pf_elf_check(elf, debug_path ? pf_elf_check(&debug, 0) : 0) < 0)
        code = pf_fail_memory(error, "symbols");
    if (debug_path)
        pf_elf_close(&debug);
    if (code < 0)
        pf_symbol_table_close(table);
    else
        *out = table;
    return code;
}

int pf_symbol_table_from_elf(const char *path, const char *debug_path, const struct perfile_allocator *allocator,
                             struct pf_symbol_table **table, struct perfile_error *error)
{
    struct pf_elf elf;
    allocator = pf_allocator_or_default(allocator);
    int code = pf_elf_open(&elf, path, allocator, error);
    if (code < 0)
        return code;
    code = make_table(&elf, debug_path, allocator, table, error);
    pf_elf_close(&elf);
    return code;
}

static bool symbol_in(const struct pf_elf *elf, const struct pf_elf_section *table, const char *wanted,
                      uint64_t *address)
{
    struct pf_elf_symbols symbols;
    if (!pf_elf_symbols_open(&symbols, elf, table))
        return false;
    for (size_t i = 1; i < symbols.count; i++) {
        const struct pf_elf_symbol symbol = pf_elf_symbol_at(&symbols, i);
        const char *name = symbol.st_shndx != SHN_UNDEF ? pf_elf_symbol_name(&symbols, &symbol) : NULL;
        if (!name || strcmp(name, wanted) != 0)
            continue;
        *address = symbol.st_value;
        return true;
    }
    return false;
}

int pf_elf_symbol_address(const struct perfile_allocator *allocator, const char *path, const char *name,
                          uint64_t *address)
{
    struct pf_elf elf;
    int code = pf_elf_open(&elf, path, pf_allocator_or_default(allocator), NULL);
    if (code < 0)
        return code;
    const struct pf_elf_section *table = pf_elf_section_of_type(&elf, SHT_SYMTAB);
    code = pf_elf_check(&elf, table && symbol_in(&elf, table, name, address) ? 0 : PERFILE_ERROR_ABSENT);
    pf_elf_close(&elf);
    return code;
}
