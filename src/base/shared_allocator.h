/* SPDX-License-Identifier: MIT */
/* The allocator of a caller, which may be called by one thread at a time, for work on several threads. */
#ifndef PF_BASE_SHARED_ALLOCATOR_H
#define PF_BASE_SHARED_ALLOCATOR_H

#include <pthread.h>

#include "base/memory.h"

struct pf_shared_allocator {
    const struct perfile_allocator *below;
    struct perfile_allocator locked; /* `below`, by one thread at a time */
    struct pf_watch watch;           /* of that */
    pthread_mutex_t lock;
    bool is_locked; /* malloc is for any number of threads anyway */
};

/* The allocator that any thread may use until the close. What was made with it may be freed with `below` afterwards. */
const struct perfile_allocator *pf_shared_allocator_open(struct pf_shared_allocator *shared,
                                                         const struct perfile_allocator *below);
/* If memory was short, that is noted at `below`. */
void pf_shared_allocator_close(struct pf_shared_allocator *shared);

#endif
