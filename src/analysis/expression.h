/* SPDX-License-Identifier: MIT */
/*
 * Sums, products and the like of numbers that have names: "1000 * cache-misses / instructions". Names are those that
 * the caller knows, and may contain any characters: at each position the longest name that matches is used.
 */
#ifndef PF_ANALYSIS_EXPRESSION_H
#define PF_ANALYSIS_EXPRESSION_H

#include <perfile/perfile.h>

#include "base/memory.h"

enum { PF_EXPRESSION_DEPTH = 64 };

struct pf_expression_step;

struct pf_expression {
    const struct perfile_allocator *allocator;
    struct pf_expression_step *steps; /* each step uses results of those before it */
    size_t count, capacity;
};

/* How many bytes at the beginning of the text are a name, and its number; 0: none. */
typedef size_t pf_expression_name(const void *context, const char *text, uint32_t *number);
/* NAN: not known. */
typedef double pf_expression_value(const void *context, uint32_t number);

/*
 * Parses + - * / % < > ( ) min(a, b) max(a, b) d_ratio(a, b) "a if c else b" and numbers. The result of / and % by 0 is
 * not known, that of d_ratio is 0. Errors: ARGUMENT with the position, MEMORY; close it then, too. All zeros may be
 * closed.
 */
int pf_expression_open(struct pf_expression *expression, const char *text, pf_expression_name *name,
                       const void *context, const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_expression_close(struct pf_expression *expression);
/* NAN: something that it needs is not known. */
double pf_expression_of(const struct pf_expression *expression, pf_expression_value *value, const void *context);

#endif
