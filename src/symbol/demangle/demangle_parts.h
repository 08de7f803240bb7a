/* SPDX-License-Identifier: MIT */
/* The languages that pf_demangle supports. */
#ifndef PF_SYMBOL_DEMANGLE_DEMANGLE_PARTS_H
#define PF_SYMBOL_DEMANGLE_DEMANGLE_PARTS_H

#include "base/memory.h"

/* Longer results are not made; the name then counts as not understood. */
enum { PF_DEMANGLE_LIMIT_BYTES = 1 << 20 };

/* Text that grows up to the limit; `failed` is sticky. */
struct pf_demangled {
    const struct perfile_allocator *allocator;
    char *data;
    size_t used, capacity;
    bool failed;
};

void pf_demangled_put(struct pf_demangled *out, const char *text, size_t bytes);
/* The text with its NUL, owned (pf_text_free); NULL when it failed. */
char *pf_demangled_take(struct pf_demangled *out);

/* NULL when the name is not one of Rust, or is wrong. Without the hash and without the numbers of crates. */
char *pf_demangle_rust_legacy(const struct perfile_allocator *allocator, const char *name, size_t bytes);
char *pf_demangle_rust_v0(const struct perfile_allocator *allocator, const char *name, size_t bytes);

/* NULL when it is not a Java method. */
char *pf_demangle_java(const struct perfile_allocator *allocator, const char *name);
/* NULL when it is not a function of OCaml. */
char *pf_demangle_ocaml(const struct perfile_allocator *allocator, const char *name);

#endif
