/* SPDX-License-Identifier: MIT */
/* Where debug info lies: ELF files, the files and packages (.dwp) of split DWARF. */
#ifndef PF_SYMBOL_DWARF_DEBUG_FILE_H
#define PF_SYMBOL_DWARF_DEBUG_FILE_H

#include "symbol/dwarf/units.h"
#include "symbol/elf_file.h"

/* How debug info is opened. */
struct pf_debug_opening {
    const struct perfile_allocator *allocator;
    bool with_variables; /* also the sections that nothing but their types and locations needs */
    unsigned
        threads; /* that may inflate sections, the caller's included, for any of which the allocator is then; 0 is 1 */
};

/* All zero: it is closed. It must not move while it is open. */
struct pf_debug_file {
    bool is_open;
    struct pf_elf elf;
    struct pf_debug debug;
    struct pf_unit_section *others; /* those of debug */
    size_t other_capacity;
    struct pf_section index, type_index; /* .debug_cu_index and .debug_tu_index of a package */
    struct pf_debug **types;             /* the parts of a package that references have led to */
    size_t type_count, type_capacity;
    uint64_t type_bytes_left;   /* which they may have: parts that overlap must not cost much */
    struct pf_map type_numbers; /* id -> number of the part */
};

/*
 * With `is_split` the sections are those of split DWARF, and no unit is found before pf_debug_open. Errors: OPEN, FORMAT
 * (not ELF), READ, MEMORY. What is open is to be closed in any case.
 */
int pf_debug_file_open(struct pf_debug_file *file, const char *path, bool is_split,
                       const struct pf_debug_opening *opening, struct perfile_error *error);
void pf_debug_file_close(struct pf_debug_file *file);
/* Whether `alternate` is the dwz file that the debug info was made with; if so, it is used from here on. */
bool pf_debug_file_use_alternate(struct pf_debug_file *file, struct pf_debug_file *alternate);

/* FILE.dwp; false when it is too long. */
bool pf_package_name(char name[4096], const char *path);
/* FILE.dwp next to the file; it stays closed when it does not exist or cannot be used. */
void pf_package_open(struct pf_debug_file *package, const char *path, const struct pf_debug_opening *opening);
/*
 * The unit of a package or of an object file that belongs to the skeleton. Of a package, `part` becomes the sections of that
 * unit, and is to be closed with pf_debug_close; NULL: no unit has that id.
 */
struct pf_unit *pf_package_unit(const struct pf_debug_file *package, const struct pf_unit *skeleton,
                                struct pf_debug *part);
/*
 * The file that the skeleton of the file at `path` names, next to it or where it was compiled, and its unit; NULL and nothing to
 * close: no unit has that id.
 */
struct pf_unit *pf_split_unit(struct pf_debug_file *split, const char *path, const struct pf_die *skeleton,
                              const struct pf_debug_opening *opening);

#endif
