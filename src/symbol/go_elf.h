/* SPDX-License-Identifier: MIT */
/* Finding the table of Go's functions in an ELF file. */
#ifndef PF_SYMBOL_GO_ELF_H
#define PF_SYMBOL_GO_ELF_H

#include "symbol/elf_file.h"
#include "symbol/go_table.h"
#include "symbol/table_build.h"

struct pf_go_elf {
    struct pf_go_table table;
    const struct perfile_allocator *allocator;
    uint8_t *relocated; /* a copy of the table whose addresses were filled in, or NULL */
    size_t relocated_bytes;
};

/*
 * ABSENT: it has none, or one that contradicts the file: the functions of a table that is used lie in one section with
 * code.
 */
int pf_go_elf_open(struct pf_go_elf *go, const struct pf_elf *elf);
void pf_go_elf_close(struct pf_go_elf *go);
/* Adds the functions to a table of symbols. False: out of memory. */
bool pf_build_add_go(struct pf_symbol_build *build, const struct pf_elf *elf);

#endif
