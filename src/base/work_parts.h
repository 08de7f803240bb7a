/* SPDX-License-Identifier: MIT */
/* Work that falls into parts which have nothing to do with each other, on several threads. */
#ifndef PF_BASE_WORK_PARTS_H
#define PF_BASE_WORK_PARTS_H

#include "base/stages.h"

struct pf_work_parts {
    void (*work)(void *context, size_t part);
    void *context;
    size_t count;
    unsigned threads; /* the caller included; 0 is 1 */
};

/* All parts are done when it returns, in whatever order. Without the memory for threads the caller does them alone. */
void pf_work_parts_do(const struct pf_work_parts *parts, const struct perfile_allocator *allocator);

#endif
