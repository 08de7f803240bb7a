/* SPDX-License-Identifier: MIT */
/* All files that the debug info of a module lies in: its own, that of dwz, the package and the files of split units. */
#ifndef PF_SYMBOL_DWARF_DEBUG_MODULE_H
#define PF_SYMBOL_DWARF_DEBUG_MODULE_H

#include "symbol/dwarf/debug_file.h"

/* A split unit. It must not move while it is open. */
struct pf_debug_split {
    struct pf_debug_split *next; /* of those that a module keeps */
    struct pf_unit *unit;
    struct pf_debug_file file; /* closed when the unit belongs to the package, of which it has a part */
    struct pf_debug part;
};

/* All zero: it is closed. It must not move while it is open. */
struct pf_debug_module {
    struct pf_debug_opening opening; /* of its files */
    const char *path;                /* must stay until the module is closed */
    struct pf_debug_file file, alternate, package;
    struct pf_debug_split *splits; /* those that pf_debug_module_unit has opened */
    bool failed;                   /* out of memory */
};

/*
 * `alternate` is a dwz file, which is used if it belongs to the file, or NULL. Errors: those of pf_debug_file_open, and
 * ABSENT (no debug info). What is open is to be closed in any case.
 */
int pf_debug_module_open(struct pf_debug_module *module, const char *path, const char *alternate,
                         const struct pf_debug_opening *opening, struct perfile_error *error);
void pf_debug_module_close(struct pf_debug_module *module);
/* The split unit that a skeleton stands for, if it is found, which stays open as long as the module; else the unit. */
struct pf_unit *pf_debug_module_unit(struct pf_debug_module *module, struct pf_unit *unit);
/* Something was not read when out of memory. */
bool pf_debug_module_failed(const struct pf_debug_module *module);

/*
 * The unit that a skeleton stands for, from the file that it names or from the package; NULL: it is in neither. It is
 * to be closed in any case. Threads may do so at the same time once pf_debug_prepare was called for the module's file.
 */
struct pf_unit *pf_debug_split_open(struct pf_debug_split *split, const struct pf_debug_module *module,
                                    struct pf_unit *skeleton);
void pf_debug_split_close(struct pf_debug_split *split);
/* As pf_debug_module_failed. */
bool pf_debug_split_failed(const struct pf_debug_split *split);

#endif
