/* SPDX-License-Identifier: MIT */
/* Names of functions as people type them: "compute" for "double geometry::compute<int>(double) const". */
#ifndef PF_BASE_FUNCTION_NAME_H
#define PF_BASE_FUNCTION_NAME_H

#include "base/bytes.h"

/*
 * True when `wanted` is the demangled name without its parameters, its last template arguments, what it returns, its
 * namespaces and classes, or any of these together. What is left has to agree wholly; `wanted` may have * and ? for any
 * text and any character, unless it has brackets or is an operator.
 */
bool pf_function_is_called(const char *name, const char *wanted);

/* Has * or ? that are taken for any text. */
bool pf_function_is_pattern(const char *wanted);

/* Behind "operator+" at `at`, where brackets are no parameters and < and > no template arguments; NULL: it is none. */
const char *pf_operator_end(const char *at);

#endif
