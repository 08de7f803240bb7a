/* SPDX-License-Identifier: MIT */
/*
 * Build ids of files that are mapped while the recorder runs, put into the MMAP2 records of the kernel. The kernel
 * could write them (attr.build_id), but then sets their bit in the records of all other recorders, too, and older
 * versions of perf, such as 6.1, abort at that.
 */
#ifndef PF_RECORD_MAPPED_IDS_H
#define PF_RECORD_MAPPED_IDS_H

#include "base/memory.h"

/* More than the longest path needs. */
enum { PF_MAPPED_BYTES = 8192 };

struct pf_build_ids;
struct pf_mapped_ids {
    const struct perfile_allocator *allocator;
    struct pf_build_ids *files; /* those that were read; NULL: no build ids are required */
};

/* False when out of memory. */
bool pf_mapped_ids_open(struct pf_mapped_ids *mapped, const struct perfile_allocator *allocator);
void pf_mapped_ids_close(struct pf_mapped_ids *mapped);
/*
 * An MMAP2 record of an event that does not ask for build ids. True: `changed` has it with the id of its file, or
 * without the bit that another recorder's event has left in it.
 */
bool pf_mapped_ids_change(const struct pf_mapped_ids *mapped, const uint8_t *record, size_t bytes,
                          uint8_t changed[PF_MAPPED_BYTES]);

#endif
