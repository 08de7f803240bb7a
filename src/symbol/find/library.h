/* SPDX-License-Identifier: MIT */
/* Functions of libraries that are loaded when they are wanted; the public perfile_library_at lists them. */
#ifndef PF_SYMBOL_FIND_LIBRARY_H
#define PF_SYMBOL_FIND_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>

enum pf_library { PF_LIBRARY_STDCXX, PF_LIBRARY_CAPSTONE, PF_LIBRARY_DEBUGINFOD, PF_LIBRARY_ARCHIVE };

/* As dlopen. NULL: it cannot be loaded; errno is ENOMEM when memory was short, else another number. */
void *pf_library_open(enum pf_library which, int flags);

/* `function` is the address of a pointer to a function: C has no conversion from one of data. */
bool pf_library_function(void *library, const char *name, void *function);

/* NULL does nothing. */
void pf_library_close(void *library);

#endif
