/* SPDX-License-Identifier: MIT */
/* What profiles take of look-ups besides <perfile/symbolize.h>. */
#ifndef PF_ANALYSIS_SYMBOLIZER_H
#define PF_ANALYSIS_SYMBOLIZER_H

#include <perfile/symbolize.h>

/* Of the last look-up: where the function that is not inlined begins, and its length; both 0: none was found. */
void pf_symbolizer_function(const struct perfile_symbolizer *symbolizer, uint64_t *address, uint64_t *bytes);
/* Of the last look-up: the address as the symbol table counts. */
uint64_t pf_symbolizer_address(const struct perfile_symbolizer *symbolizer);
/* The caller's. */
const struct perfile_allocator *pf_symbolizer_allocator(const struct perfile_symbolizer *symbolizer);

#endif
