/* SPDX-License-Identifier: MIT */
/* Build ids by file names, as feature BUILD_ID has them. The caller visits the feature with pf_named_ids_take. */
#ifndef PF_BASE_NAMED_IDS_H
#define PF_BASE_NAMED_IDS_H

#include <string.h>

#include "base/map.h"

struct pf_named_id {
    uint8_t bytes[20];
    uint8_t count;
};

/* All zeros may be closed, too. */
struct pf_named_ids {
    struct pf_arena arena;
    struct pf_map of_name;  /* hash of a name to an entry, a pointer */
    bool kernel_is_vmlinux; /* the recorder found the kernel there */
    struct pf_named_id id;  /* in each entry of the feature it stands before the name */
    uint64_t misc;
};

void pf_named_ids_open(struct pf_named_ids *ids, const struct perfile_allocator *allocator);
void pf_named_ids_close(struct pf_named_ids *ids);
/* For struct perfile_visitor, whose context is the ids: 0, or 1 when out of memory. */
int pf_named_ids_take(void *ids, const struct perfile_value *value);
/* NULL: there is none. */
const struct pf_named_id *pf_named_ids_find(const struct pf_named_ids *ids, const char *name, size_t bytes);
static inline const struct pf_named_id *pf_named_ids_find_text(const struct pf_named_ids *ids, const char *name)
{
    return pf_named_ids_find(ids, name, strlen(name));
}

#endif
