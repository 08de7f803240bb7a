/* SPDX-License-Identifier: MIT */
/* How the counts of a struct pf_pgo_lines are added up: lines_tree.c adds, lines.c knows what. */
#ifndef PF_ANALYSIS_PGO_LINES_PARTS_H
#define PF_ANALYSIS_PGO_LINES_PARTS_H

#include "analysis/pgo/lines.h"

void pf_pgo_lines_make(struct pf_pgo_lines *lines, const struct perfile_allocator *allocator);
/*
 * The instance of a function that is called on this line, or of one that is not inlined for PF_PGO_TOP. Returns its
 * number; UINT32_MAX when out of memory. Equal names must be equal pointers.
 */
uint32_t pf_pgo_lines_instance(struct pf_pgo_lines *lines, uint32_t line, const char *function);
/* The line of an instance; UINT32_MAX when out of memory. */
uint32_t pf_pgo_lines_line(struct pf_pgo_lines *lines, uint32_t instance, uint64_t location);
/* The line ran so often, or more often if it says so already. */
void pf_pgo_lines_raise(struct pf_pgo_lines *lines, uint32_t line, uint64_t count);
void pf_pgo_lines_call(struct pf_pgo_lines *lines, uint32_t line, const char *function, uint64_t count);
/* Sorts all; numbers are not valid any more. */
void pf_pgo_lines_sort(struct pf_pgo_lines *lines);

#endif
