/* SPDX-License-Identifier: MIT */
/* What DIEs of variables, members and types say. */
#ifndef PF_SYMBOL_DWARF_DIES_H
#define PF_SYMBOL_DWARF_DIES_H

#include "symbol/dwarf/units.h"

enum { PF_DIE_CHAIN_MAX = 64 }; /* a type that refers to itself ends somewhere */

/* The type of a variable or a type, without const and the like; `through` typedefs, too. */
bool pf_die_type(const struct pf_die *die, bool through, struct pf_die *type);
/* The DIE itself, or the type that its qualifiers, and with `through` its typedefs, stand for. */
bool pf_die_unqualified(const struct pf_die *die, bool through, struct pf_die *type);

/* "struct in*": a prefix, a name, and what follows it. */
struct pf_die_name {
    const char *prefix;
    const char *name;
    const char *marks; /* in `text` */
    char text[2 * PF_DIE_CHAIN_MAX + 1];
};
/* That of a type, whose typedefs stay. */
void pf_die_name(const struct pf_die *type, struct pf_die_name *name);

/* "b3@0/32" of a bit-field, and how many bytes from its structure its container begins. */
struct pf_die_bits {
    uint64_t container_offset;
    unsigned width, shift, container_bits;
};
/* False: it is not a bit-field. */
bool pf_die_bit_field(const struct pf_die *member, struct pf_die_bits *bits);
/* Bytes from the start of the structure; false: not known. */
bool pf_die_member_offset(const struct pf_die *member, int64_t *offset);
/* Bytes of a type, whose elements have all the same; false: not known. */
bool pf_die_bytes(const struct pf_die *type, uint64_t *bytes);

#endif
