/* SPDX-License-Identifier: MIT */
/* The call frame information of a file: where it lies, and the rows made of it. */
#include "base/elf_names.h"
#include "base/error.h"
#include "symbol/unwind/cfi_rules.h"
#include "symbol/unwind/unwind.h"

enum {
    POOL_MIN = 1 << 20,
    RECENT_BITS_MIN = 8,
    RECENT_BITS_MAX = 14,
};

/* ---- rows and the pool ------------------------------------------------------------------------------------------ */

static uint64_t hash_of(const uint8_t *data, size_t bytes)
{
    uint64_t hash = bytes;
    for (; bytes >= 8; data += 8, bytes -= 8) {
        hash = (hash ^ pf_load64(data, false)) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    for (; bytes; data++, bytes--)
        hash = (hash ^ *data) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

static uint32_t append(struct pf_cfi *cfi, uint64_t hash, const void *data, size_t bytes)
{
    size_t location = cfi->pool_used, end = (location + bytes + 7) & ~(size_t)7;
    if (end > cfi->pool_limit)
        return 0;
    if (!pf_grow(cfi->allocator, &cfi->pool, &cfi->pool_capacity, end, 1) || !pf_map_put(&cfi->known, hash, location)) {
        cfi->short_of_memory = true;
        return 0;
    }
    memcpy(cfi->pool + location, data, bytes);
    cfi->pool_used = end;
    return (uint32_t)location;
}

uint32_t pf_cfi_keep(struct pf_cfi *cfi, const void *data, size_t bytes)
{
    uint64_t hash = hash_of(data, bytes), location;
    if (pf_map_get(&cfi->known, hash, &location) && bytes <= cfi->pool_used - location &&
        memcmp(cfi->pool + location, data, bytes) == 0)
        return (uint32_t)location;
    return append(cfi, hash, data, bytes);
}

void pf_cfi_add_row(struct pf_cfi *cfi, struct pf_cfi_rows *rows, uint32_t start, uint32_t rule)
{
    struct pf_cfi_row *last = rows->count ? &rows->rows[rows->count - 1] : NULL;
    if (last && last->start == start) {
        last->rule = rule;
        return;
    }
    if (last ? last->rule == rule : rule == 0)
        return;
    if (!pf_grow(cfi->allocator, &rows->rows, &rows->capacity, rows->count + 1, sizeof(*rows->rows)))
        cfi->short_of_memory = true;
    else
        rows->rows[rows->count++] = (struct pf_cfi_row){start, rule};
}

static void close_rows(struct pf_cfi *cfi, struct pf_cfi_rows *rows)
{
    pf_free(cfi->allocator, rows->rows, rows->capacity * sizeof(*rows->rows));
    *rows = (struct pf_cfi_rows){0};
}

static uint32_t find_rule(const struct pf_cfi *cfi, uint32_t start)
{
    uint32_t rule = 0;
    for (unsigned i = 0; i < cfi->part_count && !rule; i++)
        rule = pf_cfi_part_find(cfi->parts[i], start);
    return rule ? rule : pf_cfi_rows_find(&cfi->exidx, start);
}

static size_t recent_bytes(const struct pf_cfi *cfi)
{
    return sizeof(*cfi->recent) << cfi->recent_bits;
}

/* As many as there are functions, about. */
static void make_recent(struct pf_cfi *cfi)
{
    size_t functions = cfi->exidx.count;
    for (unsigned i = 0; i < cfi->part_count; i++)
        functions += pf_cfi_part_count(cfi->parts[i]);
    cfi->recent_bits = RECENT_BITS_MIN;
    while (cfi->recent_bits < RECENT_BITS_MAX && functions >> cfi->recent_bits)
        cfi->recent_bits++;
    cfi->recent = pf_new(cfi->allocator, recent_bytes(cfi));
}

const struct pf_cfi_rule *pf_cfi_find(struct pf_cfi *cfi, uint64_t address)
{
    if (address < cfi->base || address >= cfi->end)
        return NULL;
    const uint32_t start = (uint32_t)(address - cfi->base);
    if (PF_UNLIKELY(!cfi->recent))
        make_recent(cfi);
    struct pf_cfi_row lone = {0};
    struct pf_cfi_row *recent = cfi->recent ? &cfi->recent[start * 0x9e3779b1u >> (32 - cfi->recent_bits)] : &lone;
    if (recent->start != start + 1)
        *recent = (struct pf_cfi_row){.start = start + 1, .rule = find_rule(cfi, start)};
    return recent->rule ? (const void *)(cfi->pool + recent->rule) : NULL;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* The span of the code, which decides where rows may be. */
static void find_code(const struct pf_elf *elf, struct pf_cfi *cfi)
{
    cfi->base = UINT64_MAX;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct pf_elf_segment *segment = &elf->segments[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        cfi->base = pf_min(cfi->base, segment->p_vaddr);
        cfi->end = pf_max(cfi->end, segment->p_vaddr + pf_min(segment->p_memsz, UINT64_MAX - segment->p_vaddr));
    }
    if (cfi->base <= cfi->end)
        cfi->end = pf_min(cfi->end, cfi->base + pf_min(UINT32_MAX - 1, UINT64_MAX - cfi->base));
}

/* The data of a section lives as long as the file. */
static bool find_section(const struct pf_elf *elf, const char *name, struct pf_cfi_section *section)
{
    const struct pf_elf_section *found = pf_elf_section(elf, name);
    section->data = found ? pf_elf_contents(elf, found, &section->bytes) : NULL;
    section->address = found ? found->header.sh_addr : 0;
    return section->data;
}

static uint64_t address_of(const struct pf_elf *elf, const char *name)
{
    const struct pf_elf_section *section = pf_elf_section(elf, name);
    return section ? section->header.sh_addr : 0;
}

/* Bytes at an address, up to the end of their segment. */
static bool find_bytes(const struct pf_elf *elf, uint64_t address, struct pf_cfi_section *section)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct pf_elf_segment *segment = &elf->segments[i];
        const uint64_t skip = address - segment->p_vaddr;
        size_t bytes;
        if (segment->p_type != PT_LOAD || address < segment->p_vaddr || skip >= segment->p_filesz)
            continue;
        const uint8_t *data = pf_elf_segment_bytes(elf, segment, &bytes);
        if (skip >= bytes)
            return false;
        *section = (struct pf_cfi_section){data + skip, bytes - (size_t)skip, address, 0, 0, false};
        return true;
    }
    return false;
}

/* .eh_frame of a file without section headers: PT_GNU_EH_FRAME knows, in the one encoding that linkers use. */
static bool find_eh_frame_by_header(const struct pf_elf *elf, struct pf_cfi_section *section)
{
    struct pf_cfi_section header;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct pf_elf_segment *segment = &elf->segments[i];
        if (segment->p_type != PT_GNU_EH_FRAME || !find_bytes(elf, segment->p_vaddr, &header) || header.bytes < 8)
            continue;
        if (header.data[0] != 1 || header.data[1] != 0x1b) /* pcrel, sdata4 */
            continue;
        uint64_t distance = (uint64_t)(int32_t)pf_load32(header.data + 4, elf->swap);
        return find_bytes(elf, header.address + 4 + distance, section);
    }
    return false;
}

/* ---- everything together ---------------------------------------------------------------------------------------- */

/* Rules of valid files are few; those of others may not take more memory than the files themselves. */
static void raise_limit(struct pf_cfi *cfi, uint64_t bytes)
{
    cfi->pool_limit = (size_t)pf_min(cfi->pool_limit + bytes, INT32_MAX);
}

static void add_part(struct pf_cfi *cfi, const struct pf_elf *elf, const struct pf_cfi_section *section)
{
    struct pf_cfi_section s = *section;
    s.text = address_of(elf, ".text");
    s.got = address_of(elf, ".got");
    raise_limit(cfi, s.bytes);
    struct pf_cfi_part *part = cfi->part_count < PF_CFI_PARTS ? pf_cfi_part_open(cfi, &s) : NULL;
    if (part)
        cfi->parts[cfi->part_count++] = part;
    else
        cfi->short_of_memory = true;
}

static bool covers(const struct pf_cfi *cfi, const struct pf_elf_section *code)
{
    const uint32_t start = (uint32_t)(code->header.sh_addr - cfi->base), end = start + (uint32_t)code->header.sh_size;
    bool covered = false;
    for (unsigned i = 0; i < cfi->part_count && !covered; i++)
        covered = pf_cfi_part_covers(cfi->parts[i], start, end);
    return covered;
}

/* Whether there is code without rules: hand-written, or of a compiler that was asked for none. */
static bool has_bare_code(const struct pf_cfi *cfi, const struct pf_elf *elf)
{
    size_t sections = 0;
    bool bare = false;
    for (size_t i = 1; i < elf->section_count && !bare; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        const uint64_t address = section->header.sh_addr;
        if (!(section->header.sh_flags & SHF_EXECINSTR) || section->header.sh_type == SHT_NOBITS ||
            address < cfi->base || address > cfi->end || section->header.sh_size > cfi->end - address)
            continue;
        sections++;
        bare = !covers(cfi, section);
    }
    return bare || (!sections && cfi->part_count == 0);
}

/* Of large files only the tables are kept: Go's have frame pointers, and the others have rules. */
static void keep_code(struct pf_cfi *cfi, const struct pf_elf *elf)
{
    enum { MAX_CODE = 4 << 20 };
    const bool is_x86 = cfi->arch->machine == EM_X86_64 || cfi->arch->machine == EM_386;
    if (is_x86 && cfi->base < cfi->end && cfi->end - cfi->base <= MAX_CODE && has_bare_code(cfi, elf))
        find_bytes(elf, cfi->base, &cfi->code);
}

static void compile_exidx(struct pf_cfi *cfi, const struct pf_elf *elf)
{
    struct pf_cfi_section exidx = {0}, extab = {0};
    if (cfi->arch->machine != EM_ARM || !find_section(elf, ".ARM.exidx", &exidx))
        return;
    find_section(elf, ".ARM.extab", &extab);
    raise_limit(cfi, (uint64_t)exidx.bytes + extab.bytes);
    pf_cfi_compile_exidx(cfi, &exidx, &extab, &cfi->exidx);
}

/* .debug_frame has more than ARM's tables; where there is .eh_frame as well, both describe the same. */
static void add_parts(struct pf_cfi *cfi, const struct pf_elf *elf)
{
    struct pf_cfi_section section = {.is_eh = true};
    if (cfi->base >= cfi->end)
        return;
    if (find_section(elf, ".eh_frame", &section))
        add_part(cfi, elf, &section);
    else if (find_eh_frame_by_header(elf, &section)) {
        section.is_eh = true;
        add_part(cfi, elf, &section);
    }
    section = (struct pf_cfi_section){0};
    if (find_section(elf, ".debug_frame", &section))
        add_part(cfi, elf, &section);
}

/* The debug file is optional: when it cannot be read, the other tables are used. */
static void add_debug_file(struct pf_cfi *cfi, const char *path)
{
    struct pf_elf *elf = &cfi->files[cfi->file_count];
    struct pf_cfi_section section = {0};
    const int code = pf_elf_open(elf, path, cfi->allocator, NULL);
    cfi->short_of_memory = cfi->short_of_memory || code == PERFILE_ERROR_MEMORY;
    if (code < 0)
        return;
    cfi->file_count++;
    if (elf->header.e_machine == cfi->arch->machine && elf->swap == cfi->swap &&
        find_section(elf, ".debug_frame", &section))
        add_part(cfi, elf, &section);
}

/* They are read, not mapped: a file that shrinks must not end the process. What was read stays. */
static int fill(struct pf_cfi *cfi, const char *path, const char *debug_path, struct perfile_error *error)
{
    struct pf_elf *elf = &cfi->files[0];
    int result = pf_elf_open(elf, path, cfi->allocator, error);
    if (result < 0)
        return result;
    cfi->file_count++;
    cfi->arch = pf_unwind_arch_of_machine(elf->header.e_machine, elf->is_64);
    if (!cfi->arch)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, path, "unknown machine %u",
                       elf->header.e_machine);
    cfi->swap = elf->swap;
    find_code(elf, cfi);
    add_parts(cfi, elf);
    if (debug_path)
        add_debug_file(cfi, debug_path);
    compile_exidx(cfi, elf);
    keep_code(cfi, elf);
    for (unsigned i = 0; i < cfi->file_count; i++) {
        cfi->short_of_memory = cfi->short_of_memory || pf_elf_check(&cfi->files[i], 0) < 0;
        pf_elf_close_file(&cfi->files[i]);
    }
    return cfi->short_of_memory ? pf_fail_memory(error, "call frame information") : 0;
}

int pf_cfi_open(const char *path, const char *debug_path, const struct perfile_allocator *allocator,
                struct pf_cfi **cfi, struct perfile_error *error)
{
    allocator = pf_allocator_or_default(allocator);
    struct pf_cfi *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "call frame information");
    made->allocator = allocator;
    made->pool_used = 8; /* so that 0 is not an offset */
    made->pool_limit = POOL_MIN;
    pf_map_open(&made->known, allocator);
    int result = fill(made, path, debug_path, error);
    if (result < 0) {
        pf_cfi_close(made);
        return result;
    }
    *cfi = made;
    return 0;
}

void pf_cfi_close(struct pf_cfi *cfi)
{
    if (!cfi)
        return;
    for (unsigned i = 0; i < cfi->part_count; i++)
        pf_cfi_part_close(cfi->parts[i]);
    for (unsigned i = 0; i < cfi->file_count; i++)
        pf_elf_close(&cfi->files[i]);
    pf_map_close(&cfi->known);
    close_rows(cfi, &cfi->exidx);
    if (cfi->recent)
        pf_free(cfi->allocator, cfi->recent, recent_bytes(cfi));
    pf_free(cfi->allocator, cfi->pool, cfi->pool_capacity);
    pf_free(cfi->allocator, cfi, sizeof(*cfi));
}
