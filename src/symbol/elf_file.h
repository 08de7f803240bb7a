/* SPDX-License-Identifier: MIT */
/* ELF files as libelf gives them. */
#ifndef PF_SYMBOL_ELF_FILE_H
#define PF_SYMBOL_ELF_FILE_H

#include <gelf.h>

#include "base/build_id.h"
#include "symbol/find/unpack.h"

#ifndef EM_LOONGARCH /* musl 1.2.3 */
#define EM_LOONGARCH 258
#endif

struct pf_elf_section {
    Elf_Scn *scn;
    GElf_Shdr header;
    const char *name; /* never NULL */
    uint64_t address; /* sh_addr; of relocatable files where the section comes to lie, see position_sections */
    bool is_placed;   /* it has an address */
};

struct pf_elf {
    const struct perfile_allocator *allocator;
    int fd;                   /* -1: in memory */
    struct pf_unpacked image; /* of a compressed file */
    Elf *elf;
    uint64_t file_bytes;
    GElf_Ehdr header;
    bool is_64;
    bool is_big_endian;
    struct pf_elf_section *sections;
    size_t section_count;
};

/* The file may be compressed, as kernel modules are. Errors: OPEN, READ, FORMAT, DAMAGED, MEMORY. */
int pf_elf_open(struct pf_elf *elf, const char *path, const struct perfile_allocator *allocator,
                struct perfile_error *error);
/* The image stays the caller's and must outlive it. */
int pf_elf_open_memory(struct pf_elf *elf, uint8_t *image, size_t bytes, const struct perfile_allocator *allocator,
                       struct perfile_error *error);
void pf_elf_close(struct pf_elf *elf);
/* Makes libelf read the program headers, which it does at the first access: a shortage of memory is noted now. */
void pf_elf_read_segments(Elf *elf, const struct perfile_allocator *allocator);
/* The first section of that name, or NULL. */
const struct pf_elf_section *pf_elf_section(const struct pf_elf *elf, const char *name);
/* Its bytes as in the file; NULL when there are none, or not all. */
const uint8_t *pf_elf_bytes(const struct pf_elf *elf, const struct pf_elf_section *section, size_t *bytes);
/* The bytes at a virtual address up to the end of their section; NULL when no section with bytes holds it. */
const uint8_t *pf_elf_bytes_at(const struct pf_elf *elf, uint64_t address, size_t *bytes);
/* The elements of a table section as libelf translates them; false when they cannot be read. */
bool pf_elf_table(const struct pf_elf *elf, const struct pf_elf_section *section, Elf_Type type, Elf_Data **data,
                  size_t *count);

/* Whether the file is a program, and not a library that can be loaded and unloaded. */
bool pf_elf_is_program(const char *path, const struct perfile_allocator *allocator);

/* The GNU build id, at most 20 bytes of it; its length, 0 when there is none. */
size_t pf_elf_note_build_id(const struct pf_elf *elf, uint8_t build_id[20]);

#endif
