/* SPDX-License-Identifier: MIT */
/*
 * Symbols of one module as one flat, sorted table: made once, then only read, from any number of threads.
 *
 * Addresses are those of the source: of ELF files the virtual addresses of the file (st_value), of kallsyms and
 * perf-PID.map run-time addresses.
 */
#ifndef PF_SYMBOL_TABLE_H
#define PF_SYMBOL_TABLE_H

#include <perfile/perfile.h>

#include "base/memory.h"

struct pf_symbol {
    uint64_t start;
    uint64_t end;   /* first address after it */
    uint32_t name;  /* offset of its NUL-terminated name in the table's text */
    uint32_t flags; /* PF_SYMBOL_* */
};

enum {
    PF_SYMBOL_GLOBAL = 1 << 0,
    PF_SYMBOL_WEAK = 1 << 1,
    PF_SYMBOL_PLT = 1 << 2,         /* made up for an entry of a procedure linkage table: "memcpy@plt" */
    PF_SYMBOL_GUESSED_END = 1 << 3, /* the source gives no size */
    PF_SYMBOL_THUMB = 1 << 5,       /* arm: its code is Thumb's */
    PF_SYMBOL_PIECE = 1 << 4,       /* continues an earlier entry after a symbol inside that */
};

/* Where a piece of a file is in memory: PT_LOAD segments. */
struct pf_segment {
    uint64_t offset; /* in the file */
    uint64_t bytes;
    uint64_t address;
    uint64_t zeros; /* bytes after them that are in memory only */
};

/* Sections of the kernel that its symbols name: functions that sleep, and those of spinlocks. */
enum pf_text_section { PF_TEXT_SCHED, PF_TEXT_LOCK, PF_TEXT_SECTIONS };
struct pf_text_range {
    uint64_t start, end; /* 0: not known */
};

struct pf_symbol_table {
    const struct perfile_allocator *allocator;
    struct pf_symbol *symbols; /* sorted by start, not overlapping */
    size_t count;
    uint32_t
        *starts; /* of the symbols, minus the first one's: what is searched is small. NULL: they are too far apart */
    char *text;  /* names */
    size_t text_bytes;
    struct pf_segment *segments; /* ELF only */
    size_t segment_count;
    struct pf_text_range sections[PF_TEXT_SECTIONS];
    uint8_t build_id[20];
    uint8_t build_id_bytes; /* 0: none */
    uint16_t e_machine;
    bool is_64;
    bool is_big_endian;
    bool has_symtab; /* false: only .dynsym, or less */
};

/* Only where the file's parts are mapped, without a symbol. Errors as pf_symbol_table_from_elf. */
int pf_segment_table_from_elf(const char *path, const struct perfile_allocator *allocator,
                              struct pf_symbol_table **table, struct perfile_error *error);
/*
 * From an ELF file: .symtab, else .dynsym, .gnu_debugdata (xz) and .gopclntab (see go_table.h) together; PLT entries
 * get names; of symbols at one address the one that perf shows wins (see table.c). `debug_path` may name a separate
 * debug file with the .symtab, or be NULL. Errors: OPEN, READ, FORMAT (not ELF), DAMAGED, MEMORY.
 */
int pf_symbol_table_from_elf(const char *path, const char *debug_path, const struct perfile_allocator *allocator,
                             struct pf_symbol_table **table, struct perfile_error *error);
/*
 * From a PE file, of Windows: COFF symbols of functions, or the functions that it exports. Errors: FORMAT (also when it
 * cannot be read), MEMORY.
 */
int pf_symbol_table_from_pe(const char *path, const struct perfile_allocator *allocator, struct pf_symbol_table **table,
                            struct perfile_error *error);
/* The same of a file in memory, which is not kept. */
int pf_symbol_table_from_pe_image(const uint8_t *data, size_t bytes, const struct perfile_allocator *allocator,
                                  struct pf_symbol_table **table, struct perfile_error *error);
/* The text of /proc/kallsyms, and what of it is wanted. */
struct pf_kallsyms {
    const char *text;
    size_t bytes;
    const char *module; /* NULL: the kernel itself, else the symbols in [module] */
    bool data;          /* with variables, which else only end the functions before them */
};
int pf_symbol_table_from_kallsyms(const struct pf_kallsyms *from, const struct perfile_allocator *allocator,
                                  struct pf_symbol_table **table, struct perfile_error *error);
/* From the text of a perf-PID.map. */
int pf_symbol_table_from_perf_map(const char *text, size_t bytes, const struct perfile_allocator *allocator,
                                  struct pf_symbol_table **table, struct perfile_error *error);
void pf_symbol_table_close(struct pf_symbol_table *table);

/* The symbol that covers the address, or NULL. */
const struct pf_symbol *pf_symbol_table_find(const struct pf_symbol_table *table, uint64_t address);
/* How many symbols start at the address or before it. */
size_t pf_symbol_table_after(const struct pf_symbol_table *table, uint64_t address);
static inline const char *pf_symbol_name(const struct pf_symbol_table *table, const struct pf_symbol *symbol)
{
    return table->text + symbol->name;
}
/* The address of an offset in the file; false when no segment holds it. */
bool pf_symbol_table_address(const struct pf_symbol_table *table, uint64_t file_offset, uint64_t *address);

/* The build id of an ELF file; its length, 0 when there is none. Errors: those of pf_symbol_table_from_elf. */
int pf_elf_build_id(const struct perfile_allocator *allocator, const char *path, uint8_t build_id[20],
                    struct perfile_error *error);

#endif
