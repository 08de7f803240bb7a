/* SPDX-License-Identifier: MIT */
/*
 * Packages of split DWARF (.dwp), which libdw knows since elfutils 0.191 only. Each unit of a package is shown to libdw
 * as the .dwo file that it was made of; what such a file has in common with the main one (addresses, ranges) libdw can
 * not find then, and is resolved here.
 */
#ifndef PF_SYMBOL_DWARF_INLINES_DWP_H
#define PF_SYMBOL_DWARF_INLINES_DWP_H

#include <elfutils/libdw.h>

#include "symbol/dwarf/inlines_tables.h"

/*
 * A package, mapped privately: its section headers are rewritten for each unit. Or an object file that has split DWARF
 * besides its own (-gsplit-dwarf=single), whose units are complete sections. All zero: there is none.
 */
struct pf_dwp {
    struct pf_file_identity identity;
    uint8_t *map;
    size_t bytes;
    bool swap;
    struct pf_section index; /* .debug_cu_index */
    bool is_5;
    bool is_object;
    uint32_t columns, units, slots;
};

/* One unit of it, and what its skeleton says. */
struct pf_dwp_unit {
    Elf *elf;
    Dwarf *dwarf;
    Dwarf_Die top;
    struct pf_section info; /* bounds of everything that an attribute may point to */
    struct pf_section addresses, ranges;
    uint64_t address_base, ranges_base, low_pc;
    bool swap, is_5;
};

/* FILE.dwp; false when it is too long. */
bool pf_dwp_name(char name[4096], const char *path);
/* FILE.dwp next to the file; nothing when there is none or it cannot be used. 64-bit ELF only. */
void pf_dwp_open(struct pf_dwp *dwp, const char *path);
/* The object file that a skeleton names; nothing when there is none or it has no split DWARF. */
void pf_dwp_open_object(struct pf_dwp *dwp, Dwarf_Die *skeleton);
void pf_dwp_close(struct pf_dwp *dwp);
/*
 * Sections of the main file, for `addresses` and `ranges`, must be set before; false: the package has no such unit, or
 * memory is short. `leave` is for dwarf_new_oom_handler; after it jumped out, the two _close calls free everything.
 */
bool pf_dwp_unit_open(struct pf_dwp *dwp, Dwarf_Die *skeleton, uint64_t id, Dwarf_OOM leave, struct pf_dwp_unit *unit);
void pf_dwp_unit_close(struct pf_dwp_unit *unit);
/* Reads an address attribute; false: it is not one. */
bool pf_dwp_address(const struct pf_dwp_unit *unit, const Dwarf_Attribute *attribute, uint64_t *address);
/* A DW_AT_ranges attribute; take() returns false to end it. */
void pf_dwp_ranges(const struct pf_dwp_unit *unit, const Dwarf_Attribute *attribute,
                   bool (*take)(void *context, uint64_t low, uint64_t high), void *context);

#endif
