/* SPDX-License-Identifier: MIT */
#include "symbol/go_elf.h"

#include "base/elf_names.h"

/* ---- bytes whose addresses are filled in ---- */

struct go_bytes {
    const struct pf_elf_section *section;
    const uint8_t *data;
    size_t bytes;
    uint8_t *copy; /* NULL: nothing was filled in */
};

/* The relocation that adds the address of the program to a constant; 0: the constants are in the file already. */
static unsigned relative_relocation(unsigned machine)
{
    static const struct {
        uint16_t machine, type;
    } types[] = {
        {EM_X86_64, R_X86_64_RELATIVE}, {EM_AARCH64, R_AARCH64_RELATIVE}, {EM_PPC64, R_PPC64_RELATIVE},
        {EM_S390, R_390_RELATIVE},      {EM_RISCV, R_RISCV_RELATIVE},     {EM_LOONGARCH, R_LARCH_RELATIVE},
    };
    for (size_t i = 0; i < PF_COUNT(types); i++)
        if (types[i].machine == machine)
            return types[i].type;
    return 0;
}

/* False: out of memory. */
static bool fill_in(const struct pf_elf *elf, struct go_bytes *b, const struct pf_elf_relocation *relocation)
{
    const uint64_t offset = relocation->r_offset - b->section->address;
    if (relocation->r_offset < b->section->address || b->bytes < 8 || offset > b->bytes - 8 || !elf->is_64)
        return true;
    if (!b->copy) {
        b->copy = pf_new(elf->allocator, b->bytes);
        if (!b->copy)
            return false;
        memcpy(b->copy, b->data, b->bytes);
        b->data = b->copy;
    }
    const uint64_t address = pf_load64(&relocation->r_addend, elf->swap);
    memcpy(b->copy + offset, &address, sizeof(address));
    return true;
}

/* Position-independent programs have zeros where the dynamic linker puts addresses. */
static bool fill_in_all(const struct pf_elf *elf, struct go_bytes *b)
{
    const unsigned type = relative_relocation(elf->header.e_machine);
    struct pf_elf_relocations all;
    for (size_t k = 1; type && elf->header.e_type == ET_DYN && k < elf->section_count; k++) {
        if (elf->sections[k].header.sh_type != SHT_RELA || !pf_elf_relocations_open(&all, elf, &elf->sections[k]))
            continue;
        for (size_t i = 0; i < all.count; i++) {
            const struct pf_elf_relocation relocation = pf_elf_relocation_at(&all, i);
            if (relocation.type == type && !fill_in(elf, b, &relocation))
                return false;
        }
    }
    return true;
}

/* False: out of memory. Without bytes `data` is NULL. */
static bool read_section(const struct pf_elf *elf, const struct pf_elf_section *section, struct go_bytes *b)
{
    *b = (struct go_bytes){.section = section};
    b->data = section->is_placed ? pf_elf_bytes(elf, section, &b->bytes) : NULL;
    return !b->data || fill_in_all(elf, b);
}

static void close_bytes(const struct pf_elf *elf, struct go_bytes *b)
{
    pf_free(elf->allocator, b->copy, b->bytes);
}

/* ---- what the program itself knows of its table ---- */

/*
 * Words of Go's description of a module, whose first one is the address of the table. Where the offsets of inlined
 * functions count from has been at several numbers, so that each is tried.
 */
enum { MODULE_FIRST = 20, MODULE_END = 21, MODULE_TEXT = 22, MODULE_TREES_MIN = 36, MODULE_TREES_MAX = 46 };

struct module {
    const uint8_t *at;
    size_t bytes;
    unsigned word_bytes;
    bool swap;
};

static uint64_t module_word(const struct module *module, unsigned number)
{
    struct pf_cursor c = pf_cursor_make(module->at, module->bytes, 0, module->swap);
    (void)pf_cursor_take(&c, (uint64_t)number * module->word_bytes);
    return module->word_bytes == 8 ? pf_cursor_u64(&c) : pf_cursor_u32(&c);
}

/* The module has the first and the last address of the table's functions. */
static bool is_module_of(const struct module *module, struct pf_go_table *table)
{
    uint64_t first, end;
    const uint64_t before = table->text;
    if (!table->text)
        table->text = module_word(module, MODULE_TEXT);
    if (table->text == module_word(module, MODULE_TEXT) && pf_go_table_address(table, 0, &first) &&
        pf_go_table_address(table, table->count, &end) && first == module_word(module, MODULE_FIRST) &&
        end == module_word(module, MODULE_END))
        return true;
    table->text = before;
    return false;
}

/* Some functions of the table have inlined ones here, and all of these are valid. */
static bool has_trees(const struct pf_go_table *table)
{
    enum { FUNCTIONS_MAX = 4096, ENOUGH = 64 };
    struct pf_go_function function;
    struct pf_go_inlined inlined;
    unsigned found = 0;
    for (uint64_t i = 0; i < table->count && i < FUNCTIONS_MAX && found < ENOUGH; i++) {
        if (!pf_go_table_function(table, i, &function) || function.tree == UINT64_MAX)
            continue;
        if (!pf_go_table_inlined(table, &function, 0, &inlined))
            return false;
        found++;
    }
    return found;
}

static void find_trees(const struct pf_elf *elf, const struct module *module, struct pf_go_table *table)
{
    for (unsigned i = MODULE_TREES_MIN; i <= MODULE_TREES_MAX; i++) {
        table->trees = pf_elf_bytes_at(elf, module_word(module, i), &table->tree_bytes);
        if (table->trees && has_trees(table))
            return;
    }
    table->trees = NULL;
}

static bool find_module_in(const struct pf_elf *elf, const struct go_bytes *b, uint64_t address,
                           struct pf_go_table *table)
{
    struct module module = {.word_bytes = elf->is_64 ? 8 : 4, .swap = table->swap};
    for (size_t at = 0; b->data && b->bytes - at >= module.word_bytes; at += module.word_bytes) {
        module.at = b->data + at;
        module.bytes = b->bytes - at;
        if (module_word(&module, 0) != address || !is_module_of(&module, table))
            continue;
        find_trees(elf, &module, table);
        return true;
    }
    return false;
}

/* 1, 0 or MEMORY: whether the program describes a module whose table is at that address. */
static int find_module(const struct pf_elf *elf, uint64_t address, struct pf_go_table *table)
{
    struct go_bytes b;
    bool is_found = false, has_memory = true;
    for (size_t i = 1; i < elf->section_count && !is_found && has_memory; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        if (section->header.sh_type != SHT_PROGBITS || !(section->header.sh_flags & SHF_WRITE))
            continue;
        has_memory = read_section(elf, section, &b);
        is_found = has_memory && find_module_in(elf, &b, address, table);
        close_bytes(elf, &b);
    }
    return has_memory ? is_found : PERFILE_ERROR_MEMORY;
}

/* ---- the table ---- */

/* All functions lie in one section with code. */
static bool is_of_file(const struct pf_elf *elf, const struct pf_go_table *table)
{
    uint64_t first, end;
    if (!pf_go_table_address(table, 0, &first) || !pf_go_table_address(table, table->count, &end) || first >= end)
        return false;
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        if (section->is_placed && section->header.sh_flags & SHF_EXECINSTR && first >= section->address &&
            first - section->address < section->header.sh_size)
            return end - section->address <= section->header.sh_size;
    }
    return false;
}

static bool open_at(struct pf_go_table *table, const struct pf_elf *elf, const struct go_bytes *b, size_t offset)
{
    return pf_go_table_open(table, b->data + offset, b->bytes - offset, elf->swap) &&
           table->pointer_bytes == (elf->is_64 ? 8 : 4);
}

static int open_section(struct pf_go_table *table, const struct pf_elf *elf, const struct go_bytes *b)
{
    if (!open_at(table, elf, b, 0))
        return PERFILE_ERROR_ABSENT;
    const int code = pf_go_table_is_relative(table) ? find_module(elf, b->section->address, table) : 0;
    return code < 0 ? code : is_of_file(elf, table) ? 0 : PERFILE_ERROR_ABSENT;
}

/* Linkers other than Go's put it between other constants: it is the one that the program's module has. */
static int search_section(struct pf_go_table *table, const struct pf_elf *elf, const struct go_bytes *b)
{
    enum { ALIGNMENT = 32 /* that of Go's linker */, TRIES_MAX = 8 };
    if (!pf_elf_section(elf, ".go.buildinfo"))
        return PERFILE_ERROR_ABSENT;
    unsigned tries = 0;
    for (size_t at = (size_t)(-b->section->address % ALIGNMENT); at < b->bytes && tries < TRIES_MAX; at += ALIGNMENT) {
        if (!open_at(table, elf, b, at))
            continue;
        tries++;
        const int code = find_module(elf, b->section->address + at, table);
        if (code < 0 || (code && is_of_file(elf, table)))
            return code < 0 ? code : 0;
    }
    return PERFILE_ERROR_ABSENT;
}

int pf_go_elf_open(struct pf_go_elf *go, const struct pf_elf *elf)
{
    static const struct {
        const char *section;
        int (*open)(struct pf_go_table *, const struct pf_elf *, const struct go_bytes *);
    } sections[] = {
        {".gopclntab", open_section}, {".data.rel.ro.gopclntab", open_section}, {".data.rel.ro", search_section}};
    struct go_bytes b;
    int code = PERFILE_ERROR_ABSENT;
    for (size_t i = 0; i < PF_COUNT(sections) && code == PERFILE_ERROR_ABSENT; i++) {
        const struct pf_elf_section *section = pf_elf_section(elf, sections[i].section);
        *go = (struct pf_go_elf){.allocator = elf->allocator};
        if (!section)
            continue;
        code = !read_section(elf, section, &b) ? PERFILE_ERROR_MEMORY
               : b.data                        ? sections[i].open(&go->table, elf, &b)
                                               : PERFILE_ERROR_ABSENT;
        go->relocated = b.copy;
        go->relocated_bytes = b.bytes;
        if (code < 0)
            pf_go_elf_close(go);
    }
    return code;
}

void pf_go_elf_close(struct pf_go_elf *go)
{
    pf_free(go->allocator, go->relocated, go->relocated_bytes);
    *go = (struct pf_go_elf){.allocator = go->allocator};
}

/* ---- its symbols ---- */

static bool add_functions(struct pf_symbol_build *build, const struct pf_go_table *table)
{
    struct pf_go_function function;
    uint32_t name;
    for (uint64_t i = 0; i < table->count; i++)
        if (pf_go_table_function(table, i, &function) &&
            !(pf_build_text(build, function.name, strlen(function.name), &name) &&
              pf_build_add(build, function.start, function.end, name, PF_ENTRY_FUNCTION)))
            return false;
    return true;
}

bool pf_build_add_go(struct pf_symbol_build *build, const struct pf_elf *elf)
{
    struct pf_go_elf go;
    const int code = pf_go_elf_open(&go, elf);
    const bool fine = code < 0 ? code != PERFILE_ERROR_MEMORY : add_functions(build, &go.table);
    pf_go_elf_close(&go);
    return fine;
}
