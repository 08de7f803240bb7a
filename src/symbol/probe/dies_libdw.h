/* SPDX-License-Identifier: MIT */
/* What DIEs of variables, members and types say, as libdw reads them: until src/symbol/probe reads through dwarf/units.h. */
#ifndef PF_SYMBOL_PROBE_DIES_LIBDW_H
#define PF_SYMBOL_PROBE_DIES_LIBDW_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define pf_die_type pf_libdw_die_type
#define pf_die_unqualified pf_libdw_die_unqualified
#define pf_die_name pf_libdw_die_name
#define pf_die_bit_field pf_libdw_die_bit_field
#define pf_die_member_offset pf_libdw_die_member_offset

enum { PF_DIE_CHAIN_MAX = 64 }; /* a type that refers to itself ends somewhere */

/* The type of a variable or a type, without const and the like; `through` typedefs, too. */
bool pf_die_type(Dwarf_Die *die, bool through, Dwarf_Die *type);
/* The DIE itself, or the type that its qualifiers, and with `through` its typedefs, stand for. */
bool pf_die_unqualified(Dwarf_Die *die, bool through, Dwarf_Die *type);

/* "struct in*": a prefix, a name, and what follows it. */
struct pf_die_name {
    const char *prefix;
    const char *name;
    const char *marks; /* in `text` */
    char text[2 * PF_DIE_CHAIN_MAX + 1];
};
/* That of a type, whose typedefs stay. */
void pf_die_name(Dwarf_Die *type, struct pf_die_name *name);

/* "b3@0/32" of a bit-field, and how many bytes from its structure its container begins. */
struct pf_die_bits {
    uint64_t container_offset;
    unsigned width, shift, container_bits;
};
/* False: it is not a bit-field. */
bool pf_die_bit_field(Dwarf_Die *member, struct pf_die_bits *bits);
/* Bytes from the start of the structure; false: not known. */
bool pf_die_member_offset(Dwarf_Die *member, int64_t *offset);

#endif
