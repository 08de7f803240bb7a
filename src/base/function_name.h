/* SPDX-License-Identifier: MIT */
/* Names of functions as people type them: "compute" for "double geometry::compute<int>(double) const". */
#ifndef PF_BASE_FUNCTION_NAME_H
#define PF_BASE_FUNCTION_NAME_H

#include "base/bytes.h"

/* What of a demangled name is where; nothing within brackets counts. */
struct pf_function_parts {
    size_t qualified;   /* after what is returned */
    size_t last;        /* after the last ::, or what is returned */
    size_t arguments;   /* of the template, where they open; without any `parameters` */
    size_t parameters;  /* where they open; without any the end */
    size_t suffix;      /* after them and what qualifies them; mostly the end */
    bool is_conversion; /* "operator bool", whose name has spaces */
};

struct pf_function_parts pf_function_split(const char *name);

/*
 * Removes the parameters at the end, and their qualifiers: "run(int)::{lambda()#1}::operator()() const" becomes
 * "run(int)::{lambda()#1}::operator()". Other brackets stay: those of enclosing functions, of types, and of names that
 * are not C++ functions.
 */
void pf_function_drop_parameters(char *name);

/*
 * True when `wanted` is the demangled name without its parameters, its last template arguments, what it returns, its
 * namespaces and classes, or any of these together. What is left has to agree wholly; `wanted` may have * and ? for any
 * text and any character, unless it has brackets or is an operator.
 */
bool pf_function_is_called(const char *name, const char *wanted);

/* Has * or ? that are taken for any text. */
bool pf_function_is_pattern(const char *wanted);

#endif
