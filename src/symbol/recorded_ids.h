/* SPDX-License-Identifier: MIT */
/* The build ids that the recording's header has for files, by name: feature BUILD_ID. */
#ifndef PF_SYMBOL_RECORDED_IDS_H
#define PF_SYMBOL_RECORDED_IDS_H

#include "base/named_ids.h"

/* 0, or MEMORY; a table that is damaged has the ids before the damage. Close it also then. */
int pf_recorded_ids_open(struct pf_named_ids *ids, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator, struct perfile_error *error);
/* The mapping is the kernel itself, which is called by the symbol it was found by: [kernel.kallsyms]_text. */
bool pf_is_kernel_map(const char *filename);
/* The name that the table has for the file of such a mapping. Static. */
const char *pf_kernel_name(const char *filename);

#endif
