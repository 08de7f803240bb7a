/* SPDX-License-Identifier: MIT */
/* The build ids that the recording's header has for files, by name: feature BUILD_ID. */
#ifndef PF_SYMBOL_RECORDED_IDS_H
#define PF_SYMBOL_RECORDED_IDS_H

#include <perfile/perfile.h>

#include "base/map.h"

struct pf_recorded_id {
    uint8_t bytes[20];
    uint8_t count;
};

/* All zeros may be closed, too. */
struct pf_recorded_ids {
    struct pf_arena arena;
    struct pf_map of_name;  /* hash of a name to its id, a pointer */
    bool kernel_is_vmlinux; /* the recorder found the kernel there */
};

/* 0, or MEMORY; a table that is damaged has the ids before the damage. Close it also then. */
int pf_recorded_ids_open(struct pf_recorded_ids *ids, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_recorded_ids_close(struct pf_recorded_ids *ids);
/* NULL: there is none. */
const struct pf_recorded_id *pf_recorded_ids_find(const struct pf_recorded_ids *ids, const char *name);
/* The mapping is the kernel itself, which is called by the symbol it was found by: [kernel.kallsyms]_text. */
bool pf_is_kernel_map(const char *filename);
/* The name that the table has for the file of such a mapping. Static. */
const char *pf_kernel_name(const char *filename);

#endif
