/* SPDX-License-Identifier: MIT */
/*
 * ELF files of both classes and byte orders: headers, bytes of sections and segments, symbols, relocations and build ids.
 * Members have the names of the specification; their values come from base/elf_names.h. Nothing is trusted: what is not
 * completely in the file is absent.
 */
#ifndef PF_SYMBOL_ELF_FILE_H
#define PF_SYMBOL_ELF_FILE_H

#include "base/build_id.h"
#include "base/files.h"
#include "symbol/find/unpack.h"

/* Bytes of a file, once they were asked for. */
struct pf_elf_bytes {
    const uint8_t *data; /* NULL: they cannot be read */
    size_t bytes;
    bool is_read, is_own;
};

struct pf_elf_section {
    struct {
        uint32_t sh_name, sh_type;
        uint64_t sh_flags, sh_addr, sh_offset, sh_size;
        uint32_t sh_link, sh_info;
        uint64_t sh_addralign, sh_entsize;
    } header;
    const char *name; /* never NULL */
    uint64_t address; /* sh_addr; of relocatable files where the section comes to lie, see position_sections */
    bool is_placed;   /* it has an address */
    bool has_bytes;   /* all of them are in the file */
    struct pf_elf_bytes raw, inflated;
};

struct pf_elf_segment {
    uint32_t p_type, p_flags;
    uint64_t p_offset, p_vaddr, p_filesz, p_memsz;
    uint64_t file_bytes; /* of p_filesz those that are in the file */
    struct pf_elf_bytes raw;
};

/* It must not move while it is open. One thread at a time, but for pf_elf_contents: what is read first is kept. */
struct pf_elf {
    const struct perfile_allocator *allocator; /* that of the watch */
    struct pf_watch watch;
    int fd;                      /* negative: it is compressed, or in memory */
    struct pf_unpacked unpacked; /* of a compressed file */
    const uint8_t *image;        /* of the complete file; NULL: its parts are read */
    bool is_mapped;
    uint64_t file_bytes;
    struct pf_file_identity identity; /* all zeros: in memory */
    struct {
        uint16_t e_type, e_machine;
        uint64_t e_phoff, e_shoff;
        uint32_t e_flags;
        uint16_t e_phnum, e_shentsize, e_shnum, e_shstrndx;
    } header;
    bool is_64;
    bool is_big_endian;
    bool swap; /* its byte order is not this machine's */
    struct pf_elf_section *sections;
    size_t section_count;
    struct pf_elf_segment *segments;
    size_t segment_count;
};

/* The file may be compressed, as kernel modules are. Errors: OPEN, READ, FORMAT, DAMAGED, MEMORY. */
int pf_elf_open(struct pf_elf *elf, const char *path, const struct perfile_allocator *allocator,
                struct perfile_error *error);
/*
 * The same of a file that is mapped: of much debug info only what is looked at takes memory. A file that shrinks meanwhile
 * ends the process, so that only files are mapped that are not read for long.
 */
int pf_elf_open_mapped(struct pf_elf *elf, const char *path, const struct perfile_allocator *allocator,
                       struct perfile_error *error);
/* The image stays the caller's and must outlive it. */
int pf_elf_open_memory(struct pf_elf *elf, const uint8_t *image, size_t bytes,
                       const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_elf_close(struct pf_elf *elf);
/* Closes the descriptor alone: what was read stays. */
void pf_elf_close_file(struct pf_elf *elf);
/* MEMORY when out of memory for something of the file, which then seemed to be absent; else `result`. */
int pf_elf_check(const struct pf_elf *elf, int result);

/* Up to `bytes` bytes from an offset on; how many there were. */
size_t pf_elf_read(const struct pf_elf *elf, uint64_t offset, uint8_t *to, size_t bytes);
/* The first section of that name, or NULL. */
const struct pf_elf_section *pf_elf_section(const struct pf_elf *elf, const char *name);
/* The first section of that type that is not empty, or NULL. */
const struct pf_elf_section *pf_elf_section_of_type(const struct pf_elf *elf, unsigned type);
/* The bytes of a section as in the file, until that is closed. Returns NULL when the section is empty or incomplete. */
const uint8_t *pf_elf_bytes(const struct pf_elf *elf, const struct pf_elf_section *section, size_t *bytes);
bool pf_elf_is_compressed(const struct pf_elf_section *section);
/*
 * The same, inflated if it is compressed. Several threads may do so at a time, each with another section, if the allocator
 * is for any thread.
 */
const uint8_t *pf_elf_contents(const struct pf_elf *elf, const struct pf_elf_section *section, size_t *bytes);
/* The bytes at a virtual address up to the end of their section; NULL when no section with bytes holds it. */
const uint8_t *pf_elf_bytes_at(const struct pf_elf *elf, uint64_t address, size_t *bytes);
/* The bytes of a segment that are in the file. Returns NULL when none of them are. */
const uint8_t *pf_elf_segment_bytes(const struct pf_elf *elf, const struct pf_elf_segment *segment, size_t *bytes);

/* A section with symbols. */
struct pf_elf_symbols {
    const struct pf_elf *elf;
    const uint8_t *data;
    size_t count; /* the first one is empty */
    const uint8_t *names;
    size_t names_bytes, names_end; /* those before `names_end` end with a NUL */
    const uint8_t *indices;        /* of sections, for numbers above 16 bits; NULL: the file has no such table */
    size_t index_count;
};
struct pf_elf_symbol {
    uint32_t st_name;
    uint8_t st_type, st_bind, st_visibility;
    uint16_t st_shndx;
    uint64_t st_value, st_size;
    uint32_t section; /* its number; 0: it is in none of the file's */
};
/* False: they cannot be read. */
bool pf_elf_symbols_open(struct pf_elf_symbols *symbols, const struct pf_elf *elf,
                         const struct pf_elf_section *section);
/* `index` must be less than the count. */
struct pf_elf_symbol pf_elf_symbol_at(const struct pf_elf_symbols *symbols, size_t index);
/* NULL: it is not in the file. */
const char *pf_elf_symbol_name(const struct pf_elf_symbols *symbols, const struct pf_elf_symbol *symbol);

/* A section with relocations. */
struct pf_elf_relocations {
    const struct pf_elf *elf;
    const uint8_t *data;
    size_t count;
    bool with_addend;
};
struct pf_elf_relocation {
    uint64_t r_offset;
    uint32_t symbol; /* its index, or 0 */
    uint32_t type;
    uint64_t r_addend; /* 0: it is where the relocation is applied */
};
/* False: they cannot be read, or the section has another type. */
bool pf_elf_relocations_open(struct pf_elf_relocations *relocations, const struct pf_elf *elf,
                             const struct pf_elf_section *section);
struct pf_elf_relocation pf_elf_relocation_at(const struct pf_elf_relocations *relocations, size_t index);

/* Whether the file is a program, and not a library that can be loaded and unloaded. */
bool pf_elf_is_program(const char *path, const struct perfile_allocator *allocator);

/* The GNU build id, at most 20 bytes of it; its length, 0 when there is none. */
size_t pf_elf_note_build_id(const struct pf_elf *elf, uint8_t build_id[20]);

#endif
