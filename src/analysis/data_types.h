/* SPDX-License-Identifier: MIT */
/*
 * What the instructions of samples access: a type and an offset in it. The result of an address of a binary is computed
 * once, when the first sample asks for it.
 */
#ifndef PF_ANALYSIS_DATA_TYPES_H
#define PF_ANALYSIS_DATA_TYPES_H

#include "symbol/dwarf/types.h"
#include "symbol/symbols.h"

enum { PF_DATA_LINE_BYTES = 64 }; /* of a cache line: as perf, types are thought to begin at the start of one */

struct pf_data_use {
    struct pf_type_use use;
    const char *type;   /* the name of the type, "(unknown)"; equal names are equal pointers */
    const char *member; /* "in.y"; "": there is no member; NULL: the type is not known. Interned, too */
    const char *label;  /* "struct node +0x14 (in.y)", "(unknown)"; interned, too */
    const struct pf_data_use *first_use,
        *first_of_line;      /* the first ones with this label, and with this line of the type */
    struct pf_types *types;  /* of its binary, for the members of the type; NULL: it has none */
    uint32_t module, number; /* of the use, in the order of pf_data_types_next */
    uint64_t samples;        /* that callers counted */
};

struct pf_data_types;

/* The symbols must outlive them. NULL: out of memory. */
struct pf_data_types *pf_data_types_open(struct pf_symbols *symbols, const struct perfile_allocator *allocator);
void pf_data_types_close(struct pf_data_types *data);
/* Whether there is a disassembler: without one no type is known. */
bool pf_data_types_work(const struct pf_data_types *data);
/* NULL: out of memory. It stays valid, at its address, until the types are closed. */
struct pf_data_use *pf_data_types_at(struct pf_data_types *data, uint32_t module, uint32_t symbol, uint64_t address);
/* The same for an address of memory. */
struct pf_data_use *pf_data_types_in(struct pf_data_types *data, const struct perfile_space *space, uint64_t ip);
/* All that were asked for, in that order; NULL after the last. */
struct pf_data_use *pf_data_types_next(const struct pf_data_types *data, size_t *index);

#endif
