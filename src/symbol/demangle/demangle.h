/* SPDX-License-Identifier: MIT */
/* Names of functions as people write them. */
#ifndef PF_SYMBOL_DEMANGLE_DEMANGLE_H
#define PF_SYMBOL_DEMANGLE_DEMANGLE_H

#include "base/memory.h"

/*
 * C++ (Itanium ABI, by the C++ runtime library when it can be loaded), Rust (legacy and v0, own code),
 * methods of Java as JITs write them, OCaml. The result is owned (pf_text_free); NULL when the name is not mangled or
 * not understood, and, with ENOMEM in errno, when out of memory. Recursion and output are bounded.
 */
char *pf_demangle(const struct perfile_allocator *allocator, const char *name);
/* Whether this is a name of C++ that would be understood if the C++ runtime library could be loaded. */
bool pf_demangle_needs_library(const char *name);

#endif
