/* SPDX-License-Identifier: MIT */
/* All files that the debug info of a module lies in: its own, that of dwz, the package and the files of split units. */
#ifndef PF_SYMBOL_DWARF_DEBUG_MODULE_H
#define PF_SYMBOL_DWARF_DEBUG_MODULE_H

#include "symbol/dwarf/debug_file.h"

struct pf_debug_split;

/* All zero: it is closed. It must not move while it is open. */
struct pf_debug_module {
    const struct perfile_allocator *allocator;
    const char *path; /* must stay until the module is closed */
    struct pf_debug_file file, alternate, package;
    struct pf_debug_split *splits; /* those that are open */
    bool failed;                   /* out of memory, in one that is closed again */
};

/*
 * `alternate` is a dwz file, which is used if it belongs to the file, or NULL. Errors: those of pf_debug_file_open, and
 * ABSENT (no debug info). What is open is to be closed in any case.
 */
int pf_debug_module_open(struct pf_debug_module *module, const char *path, const char *alternate,
                         const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_debug_module_close(struct pf_debug_module *module);
/* The split unit that a skeleton stands for, if it is found; else the unit itself. */
struct pf_unit *pf_debug_module_unit(struct pf_debug_module *module, struct pf_unit *unit);
/* Closes the split units: no entry of theirs is used any more. */
void pf_debug_module_close_splits(struct pf_debug_module *module);
/* Something was not read when out of memory. */
bool pf_debug_module_failed(const struct pf_debug_module *module);

#endif
