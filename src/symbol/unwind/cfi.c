/* SPDX-License-Identifier: MIT */
/* The call frame information of a file: where it lies, and the rows made of it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/locale.h"
#include "symbol/unwind/cfi_rules.h"
#include "symbol/unwind/unwind.h"
#include "symbol/table_elf.h"

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

struct file {
    int fd;
    Elf *elf;
    uint64_t bytes;
    const struct perfile_allocator *allocator; /* at which failures of libelf for memory are noted */
};

static void close_file(struct file *file)
{
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
}

/* The sections that were read stay, the descriptor does not. */
static void keep_file(struct pf_cfi *cfi, struct file *file)
{
    for (size_t i = 0; file->elf && i < PF_CFI_FILES; i++) {
        if (cfi->files[i])
            continue;
        elf_cntl(file->elf, ELF_C_FDDONE);
        cfi->files[i] = file->elf;
        file->elf = NULL;
    }
    close_file(file);
}

static int open_file(struct file *file, const char *path, struct perfile_error *error)
{
    struct stat status;
    errno = 0;
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0 && pf_memory_note_failure(file->allocator))
        return pf_fail_memory(error, path);
    if (file->fd < 0 || fstat(file->fd, &status) < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, path, "%s", pf_error_text(errno));
    if (!S_ISREG(status.st_mode))
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, path, "not a regular file");
    file->bytes = (uint64_t)status.st_size;
    elf_version(EV_CURRENT);
    /* read, not mapped: a file that shrinks must not end the process */
    file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    if (!file->elf && pf_memory_note_failure(file->allocator))
        return pf_fail_memory(error, path);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, path, "not an ELF file");
    pf_elf_read_segments(file->elf, file->allocator);
    return 0;
}

/* The span of the code, which decides where rows may be. */
static void find_code(const struct file *file, struct pf_cfi *cfi)
{
    size_t count = 0;
    GElf_Phdr phdr;
    cfi->base = UINT64_MAX;
    if (elf_getphdrnum(file->elf, &count) < 0)
        return;
    for (size_t i = 0; i < count && i < 4096 && gelf_getphdr(file->elf, (int)i, &phdr); i++) {
        if (phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X))
            continue;
        cfi->base = pf_min(cfi->base, phdr.p_vaddr);
        cfi->end = pf_max(cfi->end, phdr.p_vaddr + pf_min(phdr.p_memsz, UINT64_MAX - phdr.p_vaddr));
    }
    if (cfi->base <= cfi->end)
        cfi->end = pf_min(cfi->end, cfi->base + pf_min(UINT32_MAX - 1, UINT64_MAX - cfi->base));
}

/* libelf reads the headers when they are asked for. */
static bool has_headers(const struct file *file, size_t *names)
{
    errno = 0;
    const bool done = elf_getshdrstrndx(file->elf, names) == 0;
    if (!done)
        (void)pf_memory_note_failure(file->allocator);
    return done;
}

static Elf_Scn *section_named(const struct file *file, const char *name, GElf_Shdr *shdr)
{
    size_t names;
    if (!has_headers(file, &names))
        return NULL;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
        errno = 0;
        const char *found = gelf_getshdr(scn, shdr) ? elf_strptr(file->elf, names, shdr->sh_name) : NULL;
        if (!found)
            (void)pf_memory_note_failure(file->allocator);
        if (found && strcmp(found, name) == 0)
            return scn;
    }
    return NULL;
}

/* Takes the data that libelf returned for a section: NULL is nothing, also when memory was short. */
static bool take_data(const struct file *file, const Elf_Data *data, struct pf_cfi_section *section)
{
    section->data = data ? data->d_buf : NULL;
    section->bytes = data && data->d_buf ? data->d_size : 0;
    if (!section->data)
        (void)pf_memory_note_failure(file->allocator);
    return section->bytes != 0;
}

/* The data of a section lives as long as the file. */
static bool find_section(const struct file *file, const char *name, struct pf_cfi_section *section)
{
    GElf_Shdr shdr;
    Elf_Scn *scn = section_named(file, name, &shdr);
    if (!scn)
        return false;
    section->address = shdr.sh_addr;
    errno = 0;
    const bool is_there =
        shdr.sh_type != SHT_NOBITS && (!(shdr.sh_flags & SHF_COMPRESSED) || elf_compress(scn, 0, 0) >= 0);
    return take_data(file, is_there ? elf_rawdata(scn, NULL) : NULL, section);
}

static uint64_t address_of(const struct file *file, const char *name)
{
    GElf_Shdr shdr;
    return section_named(file, name, &shdr) ? shdr.sh_addr : 0;
}

/* Bytes at an address, up to the end of their segment. */
static bool find_bytes(const struct file *file, uint64_t address, struct pf_cfi_section *section)
{
    size_t count = 0;
    GElf_Phdr phdr;
    if (elf_getphdrnum(file->elf, &count) < 0)
        return false;
    for (size_t i = 0; i < count && i < 4096 && gelf_getphdr(file->elf, (int)i, &phdr); i++) {
        if (phdr.p_type != PT_LOAD || address < phdr.p_vaddr || address - phdr.p_vaddr >= phdr.p_filesz)
            continue;
        uint64_t skip = address - phdr.p_vaddr;
        if (phdr.p_offset > file->bytes || skip >= file->bytes - phdr.p_offset)
            return false;
        uint64_t bytes = pf_min(phdr.p_filesz - skip, file->bytes - phdr.p_offset - skip);
        *section = (struct pf_cfi_section){.address = address};
        errno = 0;
        return take_data(
            file, elf_getdata_rawchunk(file->elf, (int64_t)(phdr.p_offset + skip), (size_t)bytes, ELF_T_BYTE), section);
    }
    return false;
}

/* .eh_frame of a file without section headers: PT_GNU_EH_FRAME knows, in the one encoding that linkers use. */
static bool find_eh_frame_by_header(const struct file *file, bool swap, struct pf_cfi_section *section)
{
    size_t count = 0;
    GElf_Phdr phdr;
    struct pf_cfi_section header;
    if (elf_getphdrnum(file->elf, &count) < 0)
        return false;
    for (size_t i = 0; i < count && i < 4096 && gelf_getphdr(file->elf, (int)i, &phdr); i++) {
        if (phdr.p_type != PT_GNU_EH_FRAME || !find_bytes(file, phdr.p_vaddr, &header) || header.bytes < 8)
            continue;
        if (header.data[0] != 1 || header.data[1] != 0x1b) /* pcrel, sdata4 */
            continue;
        uint64_t distance = (uint64_t)(int32_t)pf_load32(header.data + 4, swap);
        return find_bytes(file, header.address + 4 + distance, section);
    }
    return false;
}

/* ---- everything together ---------------------------------------------------------------------------------------- */

static int read_header(struct pf_cfi *cfi, const struct file *file, const char *path, struct perfile_error *error)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(file->elf, &header))
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, path, "not an ELF file");
    cfi->arch = pf_unwind_arch_of_machine(header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS64);
    if (!cfi->arch)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, path, "unknown machine %u",
                       header.e_machine);
    cfi->swap = (header.e_ident[EI_DATA] == ELFDATA2MSB) != PF_NATIVE_BIG_ENDIAN;
    return 0;
}

/* Rules of valid files are few; those of others may not take more memory than the files themselves. */
static void raise_limit(struct pf_cfi *cfi, uint64_t bytes)
{
    cfi->pool_limit = (size_t)pf_min(cfi->pool_limit + bytes, INT32_MAX);
}

static void add_part(struct pf_cfi *cfi, const struct file *file, const struct pf_cfi_section *section)
{
    struct pf_cfi_section s = *section;
    s.text = address_of(file, ".text");
    s.got = address_of(file, ".got");
    raise_limit(cfi, s.bytes);
    struct pf_cfi_part *part = cfi->part_count < PF_CFI_PARTS ? pf_cfi_part_open(cfi, &s) : NULL;
    if (part)
        cfi->parts[cfi->part_count++] = part;
    else
        cfi->short_of_memory = true;
}

static bool covers(const struct pf_cfi *cfi, const GElf_Shdr *shdr)
{
    const uint32_t start = (uint32_t)(shdr->sh_addr - cfi->base), end = start + (uint32_t)shdr->sh_size;
    bool covered = false;
    for (unsigned i = 0; i < cfi->part_count && !covered; i++)
        covered = pf_cfi_part_covers(cfi->parts[i], start, end);
    return covered;
}

/* Whether there is code without rules: hand-written, or of a compiler that was asked for none. */
static bool has_bare_code(const struct pf_cfi *cfi, const struct file *file)
{
    size_t names, sections = 0;
    GElf_Shdr shdr;
    bool bare = false;
    if (!has_headers(file, &names))
        return cfi->part_count == 0;
    for (Elf_Scn *scn = NULL; !bare && (scn = elf_nextscn(file->elf, scn)) != NULL;) {
        if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) || shdr.sh_type == SHT_NOBITS ||
            shdr.sh_addr < cfi->base || shdr.sh_addr > cfi->end || shdr.sh_size > cfi->end - shdr.sh_addr)
            continue;
        sections++;
        bare = !covers(cfi, &shdr);
    }
    return bare || (!sections && cfi->part_count == 0);
}

/* Of large files only the tables are kept: Go's have frame pointers, and the others have rules. */
static void keep_code(struct pf_cfi *cfi, const struct file *file)
{
    enum { MAX_CODE = 4 << 20 };
    const bool is_x86 = cfi->arch->machine == EM_X86_64 || cfi->arch->machine == EM_386;
    if (is_x86 && cfi->base < cfi->end && cfi->end - cfi->base <= MAX_CODE && has_bare_code(cfi, file))
        find_bytes(file, cfi->base, &cfi->code);
}

static void compile_exidx(struct pf_cfi *cfi, const struct file *file)
{
    struct pf_cfi_section exidx = {0}, extab = {0};
    if (cfi->arch->machine != EM_ARM || !find_section(file, ".ARM.exidx", &exidx))
        return;
    find_section(file, ".ARM.extab", &extab);
    raise_limit(cfi, (uint64_t)exidx.bytes + extab.bytes);
    pf_cfi_compile_exidx(cfi, &exidx, &extab, &cfi->exidx);
}

/* .debug_frame has more than ARM's tables; where there is .eh_frame as well, both describe the same. */
static void add_parts(struct pf_cfi *cfi, const struct file *file)
{
    struct pf_cfi_section section = {.is_eh = true};
    if (cfi->base >= cfi->end)
        return;
    if (find_section(file, ".eh_frame", &section))
        add_part(cfi, file, &section);
    else if (find_eh_frame_by_header(file, cfi->swap, &section)) {
        section.is_eh = true;
        add_part(cfi, file, &section);
    }
    section = (struct pf_cfi_section){0};
    if (find_section(file, ".debug_frame", &section))
        add_part(cfi, file, &section);
}

/* The debug file is optional: when it cannot be read, the other tables are used. */
static void add_debug_file(struct pf_cfi *cfi, const char *path)
{
    struct file file = {.fd = -1, .allocator = cfi->allocator};
    struct pf_cfi_section section = {0};
    GElf_Ehdr header;
    if (open_file(&file, path, NULL) == 0 && gelf_getehdr(file.elf, &header) &&
        header.e_machine == cfi->arch->machine &&
        (header.e_ident[EI_DATA] == ELFDATA2MSB) == (cfi->swap != PF_NATIVE_BIG_ENDIAN) &&
        find_section(&file, ".debug_frame", &section))
        add_part(cfi, &file, &section);
    keep_file(cfi, &file);
}

static int fill(struct pf_cfi *cfi, const char *path, const char *debug_path, struct perfile_error *error)
{
    struct file file = {.fd = -1, .allocator = cfi->allocator};
    int result = open_file(&file, path, error);
    if (result == 0)
        result = read_header(cfi, &file, path, error);
    if (result == 0) {
        find_code(&file, cfi);
        add_parts(cfi, &file);
        if (debug_path)
            add_debug_file(cfi, debug_path);
        compile_exidx(cfi, &file);
        keep_code(cfi, &file);
    }
    keep_file(cfi, &file);
    return result < 0 ? result : cfi->short_of_memory ? pf_fail_memory(error, "call frame information") : 0;
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
    for (size_t i = 0; i < PF_CFI_FILES; i++)
        elf_end(cfi->files[i]);
    pf_map_close(&cfi->known);
    close_rows(cfi, &cfi->exidx);
    if (cfi->recent)
        pf_free(cfi->allocator, cfi->recent, recent_bytes(cfi));
    pf_free(cfi->allocator, cfi->pool, cfi->pool_capacity);
    pf_free(cfi->allocator, cfi, sizeof(*cfi));
}
