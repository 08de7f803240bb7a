/* SPDX-License-Identifier: MIT */
#include "base/shared_allocator.h"

static void *resize_locked(void *context, void *pointer, size_t old, size_t size)
{
    struct pf_shared_allocator *shared = context;
    pthread_mutex_lock(&shared->lock);
    void *p = pf_resize(shared->below, pointer, old, size);
    pthread_mutex_unlock(&shared->lock);
    return p;
}

const struct perfile_allocator *pf_shared_allocator_open(struct pf_shared_allocator *shared,
                                                         const struct perfile_allocator *below)
{
    *shared = (struct pf_shared_allocator){.below = below, .is_locked = !pf_memory_is_malloc(below)};
    if (!shared->is_locked)
        return below;
    pthread_mutex_init(&shared->lock, NULL);
    shared->locked = (struct perfile_allocator){shared, resize_locked};
    pf_watch_open(&shared->watch, &shared->locked);
    return &shared->watch.allocator;
}

void pf_shared_allocator_close(struct pf_shared_allocator *shared)
{
    if (!shared->is_locked)
        return;
    if (pf_memory_was_short(&shared->watch.allocator))
        pf_memory_note_short(shared->below);
    pthread_mutex_destroy(&shared->lock);
}
