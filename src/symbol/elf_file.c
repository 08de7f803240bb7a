/* SPDX-License-Identifier: MIT */
/* Opening ELF files and getting at their parts through libelf. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfile/analysis.h>

#include "base/files.h"
#include "base/error.h"
#include "base/locale.h"
#include "symbol/elf_file.h"
#include "symbol/table.h"

/* Reports that libelf failed. The numbers of its errors are not public, but a shortage of memory is in errno, too. */
static int fail(const struct pf_elf *elf, const char *what, struct perfile_error *error)
{
    if (pf_memory_note_failure(elf->allocator))
        return pf_fail_memory(error, "ELF file");
    const struct pf_locale locale = pf_locale_enter();
    const char *why = elf_errmsg(-1);
    pf_locale_leave(&locale);
    return pf_fail(error, PERFILE_ERROR_DAMAGED, PERFILE_NO_OFFSET, "ELF file", "%s: %s", what, why ? why : "damaged");
}

static int open_file(struct pf_elf *elf, const char *path, struct perfile_error *error)
{
    struct stat about;
    elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (elf->fd < 0 && pf_memory_note_failure(elf->allocator))
        return pf_fail_memory(error, "ELF file");
    if (elf->fd < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "ELF file", "%s: %s", path, pf_error_text(errno));
    if (fstat(elf->fd, &about) < 0)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "ELF file", "%s: %s", path, pf_error_text(errno));
    if (!S_ISREG(about.st_mode))
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "ELF file", "%s is not a regular file", path);
    elf->file_bytes = (uint64_t)about.st_size;
    return 0;
}

/* Reads the complete file; NULL when it is too large, or cannot be read. */
static uint8_t *read_file(const struct pf_elf *elf)
{
    enum { PACKED_BYTES_MAX = 64 << 20 };
    size_t bytes = elf->file_bytes <= PACKED_BYTES_MAX ? (size_t)elf->file_bytes : 0;
    uint8_t *data = bytes ? pf_resize(elf->allocator, NULL, 0, bytes) : NULL;
    if (data && pf_read_from(elf->fd, 0, data, bytes) == bytes)
        return data;
    pf_free(elf->allocator, data, bytes);
    return NULL;
}

/* A compressed file becomes its contents. */
static int unpack_file(struct pf_elf *elf, const char *path, struct perfile_error *error)
{
    uint8_t start[8];
    ssize_t got = pread(elf->fd, start, sizeof(start), 0);
    if (got <= 0 || !pf_is_packed(start, (size_t)got))
        return 0;
    uint8_t *data = read_file(elf);
    bool done = data && pf_unpack(elf->allocator, data, (size_t)elf->file_bytes, &elf->image);
    pf_free(elf->allocator, data, (size_t)elf->file_bytes);
    if (!done && pf_memory_note_failure(elf->allocator))
        return pf_fail_memory(error, "ELF file");
    if (!done)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, PERFILE_NO_OFFSET, "ELF file", "%s cannot be unpacked", path);
    elf->file_bytes = elf->image.bytes;
    close(elf->fd);
    elf->fd = -1;
    return 0;
}

/* libelf does not distinguish files with half a header from other files. */
static bool begins_as_elf(const struct pf_elf *elf)
{
    char start[SELFMAG];
    return elf->fd >= 0 && pread(elf->fd, start, SELFMAG, 0) == SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0;
}

void pf_elf_read_segments(Elf *elf, const struct perfile_allocator *allocator)
{
    size_t count = 0;
    GElf_Phdr first;
    errno = 0;
    if (elf_getphdrnum(elf, &count) < 0 || (count && !gelf_getphdr(elf, 0, &first)))
        (void)pf_memory_note_failure(allocator);
}

static int read_header(struct pf_elf *elf, struct perfile_error *error)
{
    if (elf_kind(elf->elf) != ELF_K_ELF)
        return begins_as_elf(elf) ? pf_fail(error, PERFILE_ERROR_DAMAGED, 0, "ELF file", "truncated header")
                                  : pf_fail(error, PERFILE_ERROR_FORMAT, 0, "ELF file", "no ELF header");
    if (!gelf_getehdr(elf->elf, &elf->header))
        return fail(elf, "header", error);
    elf->is_64 = elf->header.e_ident[EI_CLASS] == ELFCLASS64;
    elf->is_big_endian = elf->header.e_ident[EI_DATA] == ELFDATA2MSB;
    pf_elf_read_segments(elf->elf, elf->allocator);
    return 0;
}

/* libelf takes sections that are cut off as none. */
static bool holds_section_headers(const struct pf_elf *elf, size_t count)
{
    uint64_t each = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    uint64_t at = elf->header.e_shoff;
    if (elf->header.e_shnum && !count)
        return false;
    return !count || (at <= elf->file_bytes && count <= (elf->file_bytes - at) / each);
}

static int read_section_headers(struct pf_elf *elf, struct perfile_error *error)
{
    size_t names = 0;
    bool named = elf_getshdrstrndx(elf->elf, &names) == 0;
    for (size_t i = 0; i < elf->section_count; i++) {
        struct pf_elf_section *section = &elf->sections[i];
        section->scn = elf_getscn(elf->elf, i);
        if (!section->scn || !gelf_getshdr(section->scn, &section->header))
            return fail(elf, "section header", error);
        const char *name = named ? elf_strptr(elf->elf, names, section->header.sh_name) : NULL;
        if (!name && pf_memory_note_failure(elf->allocator))
            return pf_fail_memory(error, "ELF file");
        section->name = name ? name : "";
        section->address = section->header.sh_addr;
        section->is_placed = (section->header.sh_flags & SHF_ALLOC) != 0;
    }
    return 0;
}

static int read_sections(struct pf_elf *elf, struct perfile_error *error)
{
    size_t count = 0;
    if (elf_getshdrnum(elf->elf, &count) < 0)
        return fail(elf, "section headers", error);
    if (!holds_section_headers(elf, count))
        return pf_fail(error, PERFILE_ERROR_DAMAGED, elf->header.e_shoff, "ELF file", "truncated section headers");
    if (count == 0)
        return 0;
    elf->sections = pf_new(elf->allocator, count * sizeof(*elf->sections));
    if (!elf->sections)
        return pf_fail_memory(error, "ELF file");
    elf->section_count = count;
    return read_section_headers(elf, error);
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

int pf_elf_open(struct pf_elf *elf, const char *path, const struct perfile_allocator *allocator,
                struct perfile_error *error)
{
    *elf = (struct pf_elf){.allocator = allocator, .fd = -1};
    errno = 0;
    int code = open_file(elf, path, error);
    if (code == 0)
        code = unpack_file(elf, path, error);
    if (code == 0) {
        elf_version(EV_CURRENT);
        elf->elf = elf->image.data ? elf_memory((char *)elf->image.data, elf->image.bytes)
                                   : elf_begin(elf->fd, ELF_C_READ, NULL);
        code = elf->elf ? read_header(elf, error) : fail(elf, "start", error);
    }
    if (code == 0)
        code = read_sections(elf, error);
    if (code == 0 && elf->header.e_type == ET_REL)
        position_sections(elf);
    if (code < 0)
        pf_elf_close(elf);
    return code;
}

int pf_elf_open_memory(struct pf_elf *elf, uint8_t *image, size_t bytes, const struct perfile_allocator *allocator,
                       struct perfile_error *error)
{
    *elf = (struct pf_elf){.allocator = allocator, .fd = -1, .file_bytes = bytes};
    errno = 0;
    elf_version(EV_CURRENT);
    elf->elf = elf_memory((char *)image, bytes);
    int code = elf->elf ? read_header(elf, error) : fail(elf, "start", error);
    if (code == 0)
        code = read_sections(elf, error);
    if (code < 0)
        pf_elf_close(elf);
    return code;
}

void pf_elf_close(struct pf_elf *elf)
{
    pf_free(elf->allocator, elf->sections, elf->section_count * sizeof(*elf->sections));
    elf_end(elf->elf);
    if (elf->fd >= 0)
        close(elf->fd);
    pf_unpacked_close(elf->allocator, &elf->image);
    *elf = (struct pf_elf){.allocator = elf->allocator, .fd = -1};
}

const struct pf_elf_section *pf_elf_section(const struct pf_elf *elf, const char *name)
{
    for (size_t i = 1; i < elf->section_count; i++)
        if (strcmp(elf->sections[i].name, name) == 0)
            return &elf->sections[i];
    return NULL;
}

static bool has_bytes(const struct pf_elf *elf, const struct pf_elf_section *section)
{
    uint64_t end;
    return section->header.sh_type != SHT_NOBITS && section->header.sh_type != SHT_NULL && section->header.sh_size &&
           pf_add(section->header.sh_offset, section->header.sh_size, &end) && end <= elf->file_bytes;
}

/* As libelf gives it, which may be NULL. */
static Elf_Data *note_missing(const struct pf_elf *elf, Elf_Data *data)
{
    if (!data || !data->d_buf)
        (void)pf_memory_note_failure(elf->allocator);
    return data;
}

const uint8_t *pf_elf_bytes(const struct pf_elf *elf, const struct pf_elf_section *section, size_t *bytes)
{
    errno = 0;
    Elf_Data *data = has_bytes(elf, section) ? note_missing(elf, elf_rawdata(section->scn, NULL)) : NULL;
    *bytes = data && data->d_buf ? data->d_size : 0;
    return *bytes ? data->d_buf : NULL;
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

bool pf_elf_table(const struct pf_elf *elf, const struct pf_elf_section *section, Elf_Type type, Elf_Data **data,
                  size_t *count)
{
    size_t each = gelf_fsize(elf->elf, type, 1, EV_CURRENT);
    errno = 0;
    *data = each && has_bytes(elf, section) ? note_missing(elf, elf_getdata(section->scn, NULL)) : NULL;
    if (!*data || !(*data)->d_buf || (*data)->d_type != type)
        return false;
    *count = (*data)->d_size / each;
    return true;
}

/* ---- build id ---- */

static size_t build_id_of_segments(const struct pf_elf *elf, bool swap, uint8_t build_id[20])
{
    size_t count = 0, found = 0;
    GElf_Phdr segment;
    if (elf_getphdrnum(elf->elf, &count) < 0)
        return 0;
    for (size_t i = 0; i < count && !found && gelf_getphdr(elf->elf, (int)i, &segment); i++) {
        uint64_t end;
        if (segment.p_type != PT_NOTE || !pf_add(segment.p_offset, segment.p_filesz, &end) || end > elf->file_bytes)
            continue;
        errno = 0;
        Elf_Data *data = note_missing(
            elf, elf_getdata_rawchunk(elf->elf, (int64_t)segment.p_offset, (size_t)segment.p_filesz, ELF_T_BYTE));
        if (data && data->d_buf)
            found = pf_notes_build_id(data->d_buf, data->d_size, swap, build_id);
    }
    return found;
}

size_t pf_elf_note_build_id(const struct pf_elf *elf, uint8_t build_id[20])
{
    bool swap = elf->is_big_endian != PF_NATIVE_BIG_ENDIAN;
    size_t found = 0, bytes;
    for (size_t i = 1; i < elf->section_count && !found; i++) {
        const uint8_t *notes =
            elf->sections[i].header.sh_type == SHT_NOTE ? pf_elf_bytes(elf, &elf->sections[i], &bytes) : NULL;
        if (notes)
            found = pf_notes_build_id(notes, bytes, swap, build_id);
    }
    return found ? found : build_id_of_segments(elf, swap, build_id);
}

int pf_elf_build_id(const struct perfile_allocator *allocator, const char *path, uint8_t build_id[20],
                    struct perfile_error *error)
{
    struct pf_elf elf;
    struct pf_watch watch;
    pf_watch_open(&watch, allocator);
    const int code = pf_elf_open(&elf, path, &watch.allocator, error);
    if (code < 0)
        return code;
    const size_t bytes = pf_elf_note_build_id(&elf, build_id);
    pf_elf_close(&elf);
    return pf_memory_was_short(&watch.allocator) ? pf_fail_memory(error, "ELF file") : (int)bytes;
}

int perfile_elf_build_id(const char *path, uint8_t build_id[20], struct perfile_error *error)
{
    return pf_elf_build_id(NULL, path, build_id, error);
}

/* ---- programs ---- */

/* Position-independent ones name their interpreter, or are static and say that they are programs. */
static bool is_pie(const struct pf_elf *elf)
{
    size_t count = 0;
    GElf_Phdr segment;
    GElf_Dyn entry;
    if (elf_getphdrnum(elf->elf, &count) < 0)
        return false;
    for (size_t i = 0; i < count && i <= INT32_MAX && gelf_getphdr(elf->elf, (int)i, &segment); i++)
        if (segment.p_type == PT_INTERP)
            return true;
    for (size_t i = 1; i < elf->section_count; i++) {
        Elf_Data *data;
        if (elf->sections[i].header.sh_type != SHT_DYNAMIC ||
            !pf_elf_table(elf, &elf->sections[i], ELF_T_DYN, &data, &count))
            continue;
        for (size_t k = 0; k < count && k <= INT32_MAX && gelf_getdyn(data, (int)k, &entry); k++)
            if (entry.d_tag == DT_FLAGS_1)
                return entry.d_un.d_val & DF_1_PIE;
    }
    return false;
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
