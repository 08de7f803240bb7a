/* SPDX-License-Identifier: MIT */
/* What the makers of symbol tables read from ELF files and from the text of kallsyms. */
#ifndef PF_SYMBOL_TABLE_ELF_H
#define PF_SYMBOL_TABLE_ELF_H

#include "symbol/elf_file.h"
#include "symbol/table_build.h"

/*
 * The address of the first symbol of that name in .symtab, also of those that a table leaves out for an alias: the
 * kernel's mapping is relocated by the one it names. Errors as pf_elf_open; ABSENT when there is none.
 */
int pf_elf_symbol_address(const struct perfile_allocator *allocator, const char *path, const char *name,
                          uint64_t *address);
/*
 * A complete file as it is now, in *bytes + 1 bytes of the allocator's; files of /proc do not state their length. NULL:
 * it cannot be read to its end, or it is larger than 1 GiB; or out of memory, then errno is ENOMEM.
 */
char *pf_read_text(const struct perfile_allocator *allocator, const char *path, size_t *bytes);
/* Moves the lines of modules to the front of such a text, in place; their length. */
size_t pf_kallsyms_keep_modules(char *text, size_t bytes);
/* The same in the text of /proc/kallsyms, of the kernel's own symbols; false when there is none. */
bool pf_kallsyms_address(const char *text, size_t bytes, const char *name, uint64_t *address);

/* Symbols "name@plt" for the entries of procedure linkage tables; what cannot be read gets no names. */
bool pf_build_add_plt(struct pf_symbol_build *build, const struct pf_elf *elf);

#endif
