/* SPDX-License-Identifier: MIT */
#include "symbol/code.h"

#include "base/bytes.h"
#include "base/elf_names.h"
#include "symbol/elf_file.h"

/* Where some code is in a file. */
struct extent {
    uint64_t offset;
    uint64_t bytes;
};

/* What of a part of the file lies at the address; false: nothing. */
static bool take_extent(const struct pf_elf *elf, uint64_t start, const struct extent *part, uint64_t address,
                        struct extent *extent)
{
    const uint64_t skipped = address - start;
    if (address < start || skipped >= part->bytes || part->offset > elf->file_bytes ||
        skipped >= elf->file_bytes - part->offset)
        return false;
    extent->offset = part->offset + skipped;
    extent->bytes = part->bytes - skipped;
    return true;
}

static bool find_in_sections(const struct pf_elf *elf, uint64_t address, struct extent *extent)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        const struct extent part = {section->header.sh_offset, section->header.sh_size};
        if (section->is_placed && section->header.sh_flags & SHF_EXECINSTR && section->header.sh_type != SHT_NOBITS &&
            take_extent(elf, section->address, &part, address, extent))
            return true;
    }
    return false;
}

/* Of files without sections: copies of the kernel's memory, and what was stripped of them. */
static bool find_in_segments(const struct pf_elf *elf, uint64_t address, struct extent *extent)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct pf_elf_segment *segment = &elf->segments[i];
        const struct extent part = {segment->p_offset, segment->p_filesz};
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
            take_extent(elf, segment->p_vaddr, &part, address, extent))
            return true;
    }
    return false;
}

static bool read_elf(const struct perfile_allocator *allocator, const char *path, uint64_t address, size_t count,
                     struct pf_code_bytes *code)
{
    struct pf_elf elf;
    struct extent extent;
    if (pf_elf_open(&elf, path, allocator, NULL) < 0)
        return false;
    code->machine = (struct pf_insn_machine){elf.header.e_machine, elf.is_64, elf.is_big_endian};
    if (find_in_sections(&elf, address, &extent) || (!elf.section_count && find_in_segments(&elf, address, &extent)))
        code->count = pf_elf_read(&elf, extent.offset, code->bytes, (size_t)pf_min(extent.bytes, count));
    pf_elf_close(&elf);
    return code->count;
}

int pf_code_bytes_read(struct pf_symbols *symbols, uint32_t module, uint64_t address, size_t count,
                       struct pf_code_bytes *code)
{
    const struct perfile_allocator *allocator = pf_symbols_allocator(symbols);
    struct pf_code_file file;
    *code = (struct pf_code_bytes){0};
    if (!pf_symbols_code_file(symbols, module, &file))
        return PF_CODE_NO_FILE;
    code->path = file.path;
    if (!(code->bytes = pf_resize(allocator, NULL, 0, count)))
        return PERFILE_ERROR_MEMORY;
    code->capacity = count;
    const bool found =
        file.jit ? (code->count = pf_jit_read(file.jit, file.code, address, code->bytes, count, &code->machine))
                 : read_elf(allocator, file.path, address, count, code);
    return found ? PF_CODE_READ : PF_CODE_NO_BYTES;
}

void pf_code_bytes_close(struct pf_symbols *symbols, struct pf_code_bytes *code)
{
    pf_free(pf_symbols_allocator(symbols), code->bytes, code->capacity);
    *code = (struct pf_code_bytes){0};
}
