/* SPDX-License-Identifier: MIT */
/* Opening ELF files and getting at their parts. */
#include "symbol/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <perfile/analysis.h>

#include "base/cursor.h"
#include "base/elf_names.h"
#include "base/locale.h"
#include "symbol/table.h"

static const char what[] = "ELF file";

/* ---- bytes ---- */

size_t pf_elf_read(const struct pf_elf *elf, uint64_t offset, uint8_t *to, size_t bytes)
{
    if (!elf->image)
        return elf->fd >= 0 ? pf_read_from(elf->fd, offset, to, bytes) : 0;
    if (offset >= elf->file_bytes)
        return 0;
    bytes = (size_t)pf_min(bytes, elf->file_bytes - offset);
    memcpy(to, elf->image + offset, bytes);
    return bytes;
}

static void close_bytes(const struct pf_elf *elf, struct pf_elf_bytes *b)
{
    if (b->is_own)
        pf_free(elf->allocator, (void *)(uintptr_t)b->data, b->bytes);
    *b = (struct pf_elf_bytes){0};
}

/*
 * All of them must be in the file. They are read into what pf_new gives: when that is large it has huge pages, which saves
 * more than its zeros cost.
 */
static void read_bytes(const struct pf_elf *elf, uint64_t offset, uint64_t bytes, struct pf_elf_bytes *b)
{
    *b = (struct pf_elf_bytes){.is_read = true};
    if (elf->image) {
        b->data = elf->image + offset;
        b->bytes = (size_t)bytes;
        return;
    }
    if (elf->fd < 0)
        return;
    uint8_t *own = bytes <= SIZE_MAX ? pf_new(elf->allocator, (size_t)bytes) : NULL;
    if (own && pf_elf_read(elf, offset, own, (size_t)bytes) == bytes)
        *b = (struct pf_elf_bytes){own, (size_t)bytes, true, true};
    else
        pf_free(elf->allocator, own, (size_t)bytes);
}

static bool is_in_file(const struct pf_elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->file_bytes && bytes <= elf->file_bytes - offset;
}

/*
 * Those of valid files hardly overlap. In a made file each may be the complete file; not more of them are read than a few
 * times its size.
 */
static bool take_from_budget(uint64_t *left, uint64_t bytes)
{
    if (bytes > *left)
        return false;
    *left -= bytes;
    return true;
}

static uint64_t budget_of(const struct pf_elf *elf)
{
    return elf->file_bytes <= UINT64_MAX / 4 ? 4 * elf->file_bytes : UINT64_MAX;
}

/* ---- headers ---- */

/* A number of 64 bits in files of 64 bits. */
static uint64_t take_word(struct pf_cursor *c, bool is_64)
{
    return is_64 ? pf_cursor_u64(c) : pf_cursor_u32(c);
}

static int read_header(struct pf_elf *elf, struct perfile_error *error)
{
    uint8_t raw[ELF64_EHDR_BYTES];
    const size_t bytes = pf_elf_read(elf, 0, raw, sizeof(raw));
    if (bytes < SELFMAG || memcmp(raw, ELFMAG, SELFMAG) != 0)
        return pf_fail(error, PERFILE_ERROR_FORMAT, 0, what, "no ELF header");
    elf->is_64 = bytes >= EI_NIDENT && raw[EI_CLASS] == ELFCLASS64;
    if (bytes < (elf->is_64 ? ELF64_EHDR_BYTES : ELF32_EHDR_BYTES))
        return pf_fail(error, PERFILE_ERROR_DAMAGED, 0, what, "truncated header");
    if ((!elf->is_64 && raw[EI_CLASS] != ELFCLASS32) || (raw[EI_DATA] != ELFDATA2LSB && raw[EI_DATA] != ELFDATA2MSB) ||
        raw[EI_VERSION] != EV_CURRENT)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, 0, what, "invalid header");
    elf->is_big_endian = raw[EI_DATA] == ELFDATA2MSB;
    elf->swap = elf->is_big_endian != PF_NATIVE_BIG_ENDIAN;
    struct pf_cursor c = pf_cursor_make(raw, bytes, 0, elf->swap);
    pf_cursor_take(&c, EI_NIDENT);
    elf->header.e_type = pf_cursor_u16(&c);
    elf->header.e_machine = pf_cursor_u16(&c);
    pf_cursor_u32(&c);         /* e_version */
    take_word(&c, elf->is_64); /* e_entry */
    elf->header.e_phoff = take_word(&c, elf->is_64);
    elf->header.e_shoff = take_word(&c, elf->is_64);
    elf->header.e_flags = pf_cursor_u32(&c);
    pf_cursor_u32(&c); /* e_ehsize, e_phentsize */
    elf->header.e_phnum = pf_cursor_u16(&c);
    elf->header.e_shentsize = pf_cursor_u16(&c);
    elf->header.e_shnum = pf_cursor_u16(&c);
    elf->header.e_shstrndx = pf_cursor_u16(&c);
    return 0;
}

static size_t section_header_bytes(const struct pf_elf *elf)
{
    return elf->is_64 ? ELF64_SHDR_BYTES : ELF32_SHDR_BYTES;
}

static void take_section_header(struct pf_cursor *c, bool is_64, struct pf_elf_section *section)
{
    section->header.sh_name = pf_cursor_u32(c);
    section->header.sh_type = pf_cursor_u32(c);
    section->header.sh_flags = take_word(c, is_64);
    section->header.sh_addr = take_word(c, is_64);
    section->header.sh_offset = take_word(c, is_64);
    section->header.sh_size = take_word(c, is_64);
    section->header.sh_link = pf_cursor_u32(c);
    section->header.sh_info = pf_cursor_u32(c);
    section->header.sh_addralign = take_word(c, is_64);
    section->header.sh_entsize = take_word(c, is_64);
}

/* The first section's header has the numbers that do not fit into 16 bits of the file's. All zero: it has none. */
static struct pf_elf_section first_section(const struct pf_elf *elf)
{
    uint8_t raw[ELF64_SHDR_BYTES];
    struct pf_elf_section first = {0};
    const size_t bytes = section_header_bytes(elf);
    if (elf->header.e_shoff && pf_elf_read(elf, elf->header.e_shoff, raw, bytes) == bytes) {
        struct pf_cursor c = pf_cursor_make(raw, bytes, 0, elf->swap);
        take_section_header(&c, elf->is_64, &first);
    }
    return first;
}

static void take_section(struct pf_elf *elf, struct pf_cursor *c, struct pf_elf_section *section, uint64_t *left)
{
    take_section_header(c, elf->is_64, section);
    section->name = "";
    section->address = section->header.sh_addr;
    section->is_placed = section->header.sh_flags & SHF_ALLOC;
    section->has_bytes = section->header.sh_type != SHT_NOBITS && section->header.sh_type != SHT_NULL &&
                         section->header.sh_size &&
                         is_in_file(elf, section->header.sh_offset, section->header.sh_size) &&
                         take_from_budget(left, section->header.sh_size);
}

/* A text that begins before this offset ends with a NUL. */
static size_t end_of_texts(const uint8_t *texts, size_t bytes)
{
    while (bytes && texts[bytes - 1])
        bytes--;
    return bytes;
}

static void name_sections(struct pf_elf *elf, size_t names_index)
{
    size_t bytes = 0;
    const uint8_t *names =
        names_index < elf->section_count ? pf_elf_bytes(elf, &elf->sections[names_index], &bytes) : NULL;
    bytes = end_of_texts(names, bytes);
    for (size_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].header.sh_name < bytes)
            elf->sections[i].name = (const char *)names + elf->sections[i].header.sh_name;
}

static int read_sections(struct pf_elf *elf, struct perfile_error *error)
{
    const struct pf_elf_section first = first_section(elf);
    const uint64_t count = elf->header.e_shnum ? elf->header.e_shnum : first.header.sh_size;
    const size_t each = section_header_bytes(elf);
    struct pf_elf_bytes raw;
    uint64_t left = budget_of(elf);
    if (!count)
        return 0;
    if (!elf->header.e_shoff || count > elf->file_bytes / each || !is_in_file(elf, elf->header.e_shoff, count * each))
        return pf_fail(error, PERFILE_ERROR_DAMAGED, elf->header.e_shoff, what, "truncated section headers");
    elf->sections = pf_new(elf->allocator, (size_t)count * sizeof(*elf->sections));
    if (!elf->sections)
        return pf_fail_memory(error, what);
    elf->section_count = (size_t)count;
    read_bytes(elf, elf->header.e_shoff, count * each, &raw);
    if (!raw.data)
        return pf_fail(error, PERFILE_ERROR_READ, elf->header.e_shoff, what, "section headers cannot be read");
    struct pf_cursor c = pf_cursor_make(raw.data, raw.bytes, 0, elf->swap);
    for (size_t i = 0; i < elf->section_count; i++)
        take_section(elf, &c, &elf->sections[i], &left);
    close_bytes(elf, &raw);
    name_sections(elf, elf->header.e_shstrndx == SHN_XINDEX ? first.header.sh_link : elf->header.e_shstrndx);
    return 0;
}

static void take_segment(struct pf_elf *elf, struct pf_cursor *c, struct pf_elf_segment *segment, uint64_t *left)
{
    segment->p_type = pf_cursor_u32(c);
    if (elf->is_64)
        segment->p_flags = pf_cursor_u32(c);
    segment->p_offset = take_word(c, elf->is_64);
    segment->p_vaddr = take_word(c, elf->is_64);
    take_word(c, elf->is_64); /* p_paddr */
    segment->p_filesz = take_word(c, elf->is_64);
    segment->p_memsz = take_word(c, elf->is_64);
    if (!elf->is_64)
        segment->p_flags = pf_cursor_u32(c);
    take_word(c, elf->is_64); /* p_align */
    if (segment->p_offset < elf->file_bytes)
        segment->file_bytes = pf_min(segment->p_filesz, elf->file_bytes - segment->p_offset);
    if (!take_from_budget(left, segment->file_bytes))
        segment->file_bytes = 0;
}

/* Those that are in the file. */
static int read_segments(struct pf_elf *elf, struct perfile_error *error)
{
    const size_t each = elf->is_64 ? ELF64_PHDR_BYTES : ELF32_PHDR_BYTES;
    const uint64_t at = elf->header.e_phoff;
    uint64_t left = budget_of(elf), count = elf->header.e_phnum;
    struct pf_elf_bytes raw;
    if (count == PN_XNUM)
        count = first_section(elf).header.sh_info;
    count = at && at < elf->file_bytes ? pf_min(count, (elf->file_bytes - at) / each) : 0;
    if (!count)
        return 0;
    elf->segments = pf_new(elf->allocator, (size_t)count * sizeof(*elf->segments));
    if (!elf->segments)
        return pf_fail_memory(error, what);
    elf->segment_count = (size_t)count;
    read_bytes(elf, at, count * each, &raw);
    if (!raw.data)
        return pf_fail(error, PERFILE_ERROR_READ, at, what, "program headers cannot be read");
    struct pf_cursor c = pf_cursor_make(raw.data, raw.bytes, 0, elf->swap);
    for (size_t i = 0; i < elf->segment_count; i++)
        take_segment(elf, &c, &elf->segments[i], &left);
    close_bytes(elf, &raw);
    return 0;
}

/* ---- opening and closing ---- */

static int open_file(struct pf_elf *elf, const char *path, struct perfile_error *error)
{
    struct stat about;
    elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (elf->fd < 0 && pf_memory_note_failure(elf->allocator))
        return pf_fail_memory(error, what);
    if (elf->fd < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, what, "%s: %s", path, pf_error_text(errno));
    if (fstat(elf->fd, &about) < 0)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, what, "%s: %s", path, pf_error_text(errno));
    if (!S_ISREG(about.st_mode))
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, what, "%s is not a regular file", path);
    elf->file_bytes = (uint64_t)about.st_size;
    elf->identity = pf_file_identity_of(&about);
    return 0;
}

/* A compressed file becomes its contents. */
static int unpack_file(struct pf_elf *elf, const char *path, struct perfile_error *error)
{
    enum { PACKED_BYTES_MAX = 64 << 20 };
    uint8_t start[8];
    struct pf_elf_bytes packed = {0};
    if (!pf_is_packed(start, pf_elf_read(elf, 0, start, sizeof(start))))
        return 0;
    if (elf->file_bytes <= PACKED_BYTES_MAX)
        read_bytes(elf, 0, elf->file_bytes, &packed);
    const bool done = packed.data && pf_unpack(elf->allocator, packed.data, packed.bytes, &elf->unpacked);
    close_bytes(elf, &packed);
    if (!done && pf_memory_was_short(elf->allocator))
        return pf_fail_memory(error, what);
    if (!done)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, PERFILE_NO_OFFSET, what, "%s cannot be unpacked", path);
    elf->image = elf->unpacked.data;
    elf->file_bytes = elf->unpacked.bytes;
    pf_elf_close_file(elf);
    return 0;
}

/* Where that is not possible, its parts are read. */
static int map_file(struct pf_elf *elf, struct perfile_error *error)
{
    if (elf->image || !elf->file_bytes || elf->file_bytes > SIZE_MAX)
        return 0;
    void *image = mmap(NULL, (size_t)elf->file_bytes, PROT_READ, MAP_PRIVATE, elf->fd, 0);
    if (image == MAP_FAILED)
        return pf_memory_note_failure(elf->allocator) ? pf_fail_memory(error, what) : 0;
    elf->image = image;
    elf->is_mapped = true;
    return 0;
}

/*
 * Sections of kernel modules have no addresses. The kernel lays those with code out one after the other, without those
 * that only the start needs, and the recording's map begins at the first; on s390 recordings begin it at .text.
 */
static void position_sections(struct pf_elf *elf)
{
    uint64_t at = 0;
    bool text_first = elf->header.e_machine == EM_S390;
    for (int turn = text_first ? 0 : 1; turn < 2; turn++) {
        for (size_t i = 0; i < elf->section_count; i++) {
            struct pf_elf_section *section = &elf->sections[i];
            bool is_text = strcmp(section->name, ".text") == 0;
            bool code = (section->header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR);
            if (turn == 0 ? !is_text : is_text && text_first)
                continue;
            uint64_t align = section->header.sh_addralign;
            section->is_placed = code && strncmp(section->name, ".init", 5) != 0;
            if (!section->is_placed)
                continue;
            if (align > 1 && !(align & (align - 1)) && align <= 1u << 20)
                at = (at + align - 1) & ~(align - 1);
            section->address = at;
            at += pf_min(section->header.sh_size, UINT32_MAX);
        }
    }
}

static void start(struct pf_elf *elf, const struct perfile_allocator *allocator)
{
    *elf = (struct pf_elf){.fd = -1};
    pf_watch_open(&elf->watch, allocator);
    elf->allocator = &elf->watch.allocator;
}

/* `code` is that of what was done before. */
static int read_headers(struct pf_elf *elf, int code, struct perfile_error *error)
{
    if (code == 0)
        code = read_header(elf, error);
    if (code == 0)
        code = read_segments(elf, error);
    if (code == 0)
        code = read_sections(elf, error);
    if (pf_memory_was_short(elf->allocator))
        code = pf_fail_memory(error, what);
    if (code == 0 && elf->header.e_type == ET_REL)
        position_sections(elf);
    if (code < 0)
        pf_elf_close(elf);
    return code;
}

static int open_path(struct pf_elf *elf, const char *path, bool mapped, const struct perfile_allocator *allocator,
                     struct perfile_error *error)
{
    start(elf, allocator);
    int code = open_file(elf, path, error);
    if (code == 0)
        code = unpack_file(elf, path, error);
    if (code == 0 && mapped)
        code = map_file(elf, error);
    return read_headers(elf, code, error);
}

int pf_elf_open(struct pf_elf *elf, const char *path, const struct perfile_allocator *allocator,
                struct perfile_error *error)
{
    return open_path(elf, path, false, allocator, error);
}

int pf_elf_open_mapped(struct pf_elf *elf, const char *path, const struct perfile_allocator *allocator,
                       struct perfile_error *error)
{
    return open_path(elf, path, true, allocator, error);
}

int pf_elf_open_memory(struct pf_elf *elf, const uint8_t *image, size_t bytes,
                       const struct perfile_allocator *allocator, struct perfile_error *error)
{
    start(elf, allocator);
    elf->image = image;
    elf->file_bytes = bytes;
    return read_headers(elf, 0, error);
}

void pf_elf_close_file(struct pf_elf *elf)
{
    if (elf->fd >= 0)
        close(elf->fd);
    elf->fd = -1;
}

void pf_elf_close(struct pf_elf *elf)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        close_bytes(elf, &elf->sections[i].raw);
        close_bytes(elf, &elf->sections[i].inflated);
    }
    for (size_t i = 0; i < elf->segment_count; i++)
        close_bytes(elf, &elf->segments[i].raw);
    pf_free(elf->allocator, elf->sections, elf->section_count * sizeof(*elf->sections));
    pf_free(elf->allocator, elf->segments, elf->segment_count * sizeof(*elf->segments));
    pf_elf_close_file(elf);
    if (elf->is_mapped)
        munmap((void *)(uintptr_t)elf->image, (size_t)elf->file_bytes);
    pf_unpacked_close(elf->allocator, &elf->unpacked);
    elf->sections = NULL;
    elf->segments = NULL;
    elf->section_count = elf->segment_count = 0;
    elf->image = NULL;
    elf->is_mapped = false;
}

int pf_elf_check(const struct pf_elf *elf, int result)
{
    return pf_memory_was_short(elf->allocator) ? PERFILE_ERROR_MEMORY : result;
}

/* ---- sections and segments ---- */

const struct pf_elf_section *pf_elf_section(const struct pf_elf *elf, const char *name)
{
    for (size_t i = 1; i < elf->section_count; i++)
        if (strcmp(elf->sections[i].name, name) == 0)
            return &elf->sections[i];
    return NULL;
}

const struct pf_elf_section *pf_elf_section_of_type(const struct pf_elf *elf, unsigned type)
{
    for (size_t i = 1; i < elf->section_count; i++)
        if (elf->sections[i].header.sh_type == type && elf->sections[i].header.sh_size)
            return &elf->sections[i];
    return NULL;
}

static const uint8_t *result_of(const struct pf_elf_bytes *b, size_t *bytes)
{
    *bytes = b->data ? b->bytes : 0;
    return b->data;
}

const uint8_t *pf_elf_bytes(const struct pf_elf *elf, const struct pf_elf_section *section, size_t *bytes)
{
    struct pf_elf_bytes *raw = &elf->sections[section - elf->sections].raw;
    if (!raw->is_read && section->has_bytes)
        read_bytes(elf, section->header.sh_offset, section->header.sh_size, raw);
    return result_of(raw, bytes);
}

/* What precedes compressed bytes. */
struct compression {
    enum pf_packing packing;
    size_t header_bytes;
    uint64_t bytes; /* of what they inflate to */
};

/* False: the section is not compressed, or in an unknown way. */
static bool find_compression(const struct pf_elf *elf, const struct pf_elf_section *section,
                             const struct pf_elf_bytes *packed, struct compression *found)
{
    struct pf_cursor c = pf_cursor_make(packed->data, packed->bytes, 0, elf->swap);
    if (!(section->header.sh_flags & SHF_COMPRESSED)) { /* as GNU tools did before: four letters, and big-endian */
        enum { OLD_BYTES = 12 };
        *found = (struct compression){PF_PACKED_ZLIB, OLD_BYTES, 0};
        if (packed->bytes < OLD_BYTES || memcmp(packed->data, "ZLIB", 4) != 0)
            return false;
        found->bytes = pf_load64(packed->data + 4, !PF_NATIVE_BIG_ENDIAN);
        return true;
    }
    const uint32_t type = pf_cursor_u32(&c);
    if (elf->is_64)
        pf_cursor_u32(&c); /* ch_reserved */
    found->packing = type == ELFCOMPRESS_ZSTD ? PF_PACKED_ZSTD : PF_PACKED_ZLIB;
    found->header_bytes = elf->is_64 ? ELF64_CHDR_BYTES : ELF32_CHDR_BYTES;
    found->bytes = take_word(&c, elf->is_64);
    take_word(&c, elf->is_64); /* ch_addralign */
    return !c.failed && (type == ELFCOMPRESS_ZLIB || type == ELFCOMPRESS_ZSTD);
}

/* zlib cannot make less than a 1032th of what it compresses; with zstd debug info never comes close to that. */
static void inflate_section(const struct pf_elf *elf, const struct pf_elf_section *section, struct pf_elf_bytes *to)
{
    enum { RATIO_MAX = 1032 };
    struct compression how;
    struct pf_elf_bytes packed;
    read_bytes(elf, section->header.sh_offset, section->header.sh_size, &packed);
    if (packed.data && find_compression(elf, section, &packed, &how) && how.bytes && how.bytes <= SIZE_MAX &&
        how.bytes / RATIO_MAX <= packed.bytes) {
        const size_t bytes = (size_t)how.bytes;
        uint8_t *own = pf_new(elf->allocator, bytes);
        if (own && pf_unpack_to(elf->allocator, how.packing, packed.data + how.header_bytes,
                                packed.bytes - how.header_bytes, own, bytes))
            *to = (struct pf_elf_bytes){own, bytes, true, true};
        else
            pf_free(elf->allocator, own, bytes);
    }
    close_bytes(elf, &packed);
}

bool pf_elf_is_compressed(const struct pf_elf_section *section)
{
    return section->header.sh_flags & SHF_COMPRESSED || pf_starts_with(section->name, ".zdebug_");
}

const uint8_t *pf_elf_contents(const struct pf_elf *elf, const struct pf_elf_section *section, size_t *bytes)
{
    struct pf_elf_bytes *inflated = &elf->sections[section - elf->sections].inflated;
    if (!pf_elf_is_compressed(section))
        return pf_elf_bytes(elf, section, bytes);
    if (!inflated->is_read && section->has_bytes) {
        inflated->is_read = true;
        inflate_section(elf, section, inflated);
    }
    return result_of(inflated, bytes);
}

const uint8_t *pf_elf_bytes_at(const struct pf_elf *elf, uint64_t address, size_t *bytes)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        uint64_t offset = address - section->address;
        if (!section->is_placed || address < section->address || offset >= section->header.sh_size)
            continue;
        const uint8_t *data = pf_elf_bytes(elf, section, bytes);
        if (!data || offset >= *bytes)
            return NULL;
        *bytes -= (size_t)offset;
        return data + offset;
    }
    return NULL;
}

const uint8_t *pf_elf_segment_bytes(const struct pf_elf *elf, const struct pf_elf_segment *segment, size_t *bytes)
{
    struct pf_elf_bytes *raw = &elf->segments[segment - elf->segments].raw;
    if (!raw->is_read && segment->file_bytes)
        read_bytes(elf, segment->p_offset, segment->file_bytes, raw);
    return result_of(raw, bytes);
}

/* ---- symbols ---- */

/* Indices of sections above 0xff00 are in a table of their own. */
static void find_indices(struct pf_elf_symbols *symbols, const struct pf_elf_section *table)
{
    const struct pf_elf *elf = symbols->elf;
    size_t bytes;
    for (size_t i = 1; i < elf->section_count && !symbols->indices; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        if (section->header.sh_type != SHT_SYMTAB_SHNDX || section->header.sh_link != (size_t)(table - elf->sections))
            continue;
        symbols->indices = pf_elf_bytes(elf, section, &bytes);
        symbols->index_count = bytes / sizeof(uint32_t);
    }
}

bool pf_elf_symbols_open(struct pf_elf_symbols *symbols, const struct pf_elf *elf, const struct pf_elf_section *section)
{
    const size_t link = section->header.sh_link;
    size_t bytes;
    *symbols = (struct pf_elf_symbols){.elf = elf};
    if (section->header.sh_type != SHT_SYMTAB && section->header.sh_type != SHT_DYNSYM)
        return false;
    symbols->data = pf_elf_bytes(elf, section, &bytes);
    symbols->count = bytes / (elf->is_64 ? ELF64_SYM_BYTES : ELF32_SYM_BYTES);
    if (link < elf->section_count)
        symbols->names = pf_elf_bytes(elf, &elf->sections[link], &symbols->names_bytes);
    symbols->names_end = end_of_texts(symbols->names, symbols->names_bytes);
    find_indices(symbols, section);
    return symbols->data;
}

static uint32_t section_of(const struct pf_elf_symbols *symbols, size_t index, uint16_t shndx)
{
    uint32_t section = shndx >= SHN_LORESERVE ? 0 : shndx;
    if (shndx == SHN_XINDEX && index < symbols->index_count)
        section = pf_load32(symbols->indices + index * sizeof(uint32_t), symbols->elf->swap);
    return section < symbols->elf->section_count ? section : 0;
}

struct pf_elf_symbol pf_elf_symbol_at(const struct pf_elf_symbols *symbols, size_t index)
{
    const bool is_64 = symbols->elf->is_64, swap = symbols->elf->swap;
    const uint8_t *p = symbols->data + index * (is_64 ? ELF64_SYM_BYTES : ELF32_SYM_BYTES);
    const uint8_t *kind = p + (is_64 ? 4 : 12); /* st_info, st_other, st_shndx */
    struct pf_elf_symbol symbol = {
        .st_name = pf_load32(p, swap),
        .st_type = kind[0] & 15,
        .st_bind = kind[0] >> 4,
        .st_visibility = kind[1] & 3,
        .st_shndx = pf_load16(kind + 2, swap),
        .st_value = is_64 ? pf_load64(p + 8, swap) : pf_load32(p + 4, swap),
        .st_size = is_64 ? pf_load64(p + 16, swap) : pf_load32(p + 8, swap),
    };
    symbol.section = section_of(symbols, index, symbol.st_shndx);
    return symbol;
}

const char *pf_elf_symbol_name(const struct pf_elf_symbols *symbols, const struct pf_elf_symbol *symbol)
{
    return symbol->st_name < symbols->names_end ? (const char *)symbols->names + symbol->st_name : NULL;
}

/* ---- relocations and the dynamic section ---- */

bool pf_elf_relocations_open(struct pf_elf_relocations *relocations, const struct pf_elf *elf,
                             const struct pf_elf_section *section)
{
    const size_t word = elf->is_64 ? 8 : 4;
    size_t bytes;
    *relocations = (struct pf_elf_relocations){.elf = elf, .with_addend = section->header.sh_type == SHT_RELA};
    if (!relocations->with_addend && section->header.sh_type != SHT_REL)
        return false;
    relocations->data = pf_elf_bytes(elf, section, &bytes);
    relocations->count = bytes / (word * (relocations->with_addend ? 3 : 2));
    return relocations->data;
}

struct pf_elf_relocation pf_elf_relocation_at(const struct pf_elf_relocations *relocations, size_t index)
{
    const bool is_64 = relocations->elf->is_64, swap = relocations->elf->swap;
    const size_t word = is_64 ? 8 : 4, count = relocations->with_addend ? 3 : 2;
    const uint8_t *p = relocations->data + index * word * count;
    struct pf_elf_relocation r = {.r_offset = is_64 ? pf_load64(p, swap) : pf_load32(p, swap)};
    const uint64_t info = is_64 ? pf_load64(p + word, swap) : pf_load32(p + word, swap);
    r.symbol = (uint32_t)(info >> (is_64 ? 32 : 8));
    r.type = (uint32_t)info & (is_64 ? UINT32_MAX : 0xff);
    if (relocations->with_addend)
        r.r_addend = is_64 ? pf_load64(p + 16, swap) : (uint64_t)(int32_t)pf_load32(p + 8, swap);
    return r;
}

static uint64_t dynamic_value(const struct pf_elf *elf, uint64_t wanted)
{
    size_t bytes = 0;
    const struct pf_elf_section *section = pf_elf_section_of_type(elf, SHT_DYNAMIC);
    const uint8_t *data = section ? pf_elf_bytes(elf, section, &bytes) : NULL;
    struct pf_cursor c = pf_cursor_make(data, bytes, 0, elf->swap);
    while (pf_cursor_left(&c)) {
        const uint64_t tag = take_word(&c, elf->is_64), value = take_word(&c, elf->is_64);
        if (tag == wanted)
            return value;
    }
    return 0;
}

/* ---- build id ---- */

static size_t build_id_of_segments(const struct pf_elf *elf, uint8_t build_id[20])
{
    size_t found = 0, bytes;
    for (size_t i = 0; i < elf->segment_count && !found; i++) {
        const struct pf_elf_segment *segment = &elf->segments[i];
        const uint8_t *notes = segment->p_type == PT_NOTE ? pf_elf_segment_bytes(elf, segment, &bytes) : NULL;
        if (notes)
            found = pf_notes_build_id(notes, bytes, elf->swap, build_id);
    }
    return found;
}

size_t pf_elf_note_build_id(const struct pf_elf *elf, uint8_t build_id[20])
{
    size_t found = 0, bytes;
    for (size_t i = 1; i < elf->section_count && !found; i++) {
        const uint8_t *notes =
            elf->sections[i].header.sh_type == SHT_NOTE ? pf_elf_bytes(elf, &elf->sections[i], &bytes) : NULL;
        if (notes)
            found = pf_notes_build_id(notes, bytes, elf->swap, build_id);
    }
    return found ? found : build_id_of_segments(elf, build_id);
}

int pf_elf_build_id(const struct perfile_allocator *allocator, const char *path, uint8_t build_id[20],
                    struct perfile_error *error)
{
    struct pf_elf elf;
    const int code = pf_elf_open(&elf, path, allocator, error);
    if (code < 0)
        return code;
    const int bytes = pf_elf_check(&elf, (int)pf_elf_note_build_id(&elf, build_id));
    pf_elf_close(&elf);
    return bytes < 0 ? pf_fail_memory(error, what) : bytes;
}

int perfile_elf_build_id(const char *path, uint8_t build_id[20], struct perfile_error *error)
{
    return pf_elf_build_id(NULL, path, build_id, error);
}

/* ---- programs ---- */

/* Position-independent ones name their interpreter, or are static and say that they are programs. */
static bool is_pie(const struct pf_elf *elf)
{
    for (size_t i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].p_type == PT_INTERP)
            return true;
    return dynamic_value(elf, DT_FLAGS_1) & DF_1_PIE;
}

bool pf_elf_is_program(const char *path, const struct perfile_allocator *allocator)
{
    struct pf_elf elf;
    if (pf_elf_open(&elf, path, allocator, NULL) < 0)
        return false;
    const bool is = elf.header.e_type == ET_EXEC || (elf.header.e_type == ET_DYN && is_pie(&elf));
    pf_elf_close(&elf);
    return is;
}
