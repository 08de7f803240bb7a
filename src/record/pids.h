/* SPDX-License-Identifier: MIT */
/* Which processes belong to a recording by now: a set of their numbers. */
#ifndef PF_RECORD_PIDS_H
#define PF_RECORD_PIDS_H

#include "base/memory.h"

enum { PF_PID_LIMIT = 1 << 22 }; /* include/linux/threads.h: PID_MAX_LIMIT */

struct pf_pids {
    const struct perfile_allocator *allocator;
    uint64_t *bits; /* NULL: the set is not kept */
};

/* False: out of memory. */
bool pf_pids_open(struct pf_pids *pids, const struct perfile_allocator *allocator);
void pf_pids_close(struct pf_pids *pids);
void pf_pids_clear(struct pf_pids *pids);
/* Numbers that no process can have are not kept. */
void pf_pids_set(struct pf_pids *pids, uint32_t pid, bool there);
/* Writes all to `to`, which is large enough for them or NULL; returns how many there are. */
size_t pf_pids_list(const struct pf_pids *pids, int32_t *to);

#endif
