/* SPDX-License-Identifier: MIT */
/* The ring buffers that the kernel writes records to, one for each processor. */
#ifndef PF_RECORD_RING_H
#define PF_RECORD_RING_H

#include <perfile/recorder.h>

struct pf_ring {
    int fd;      /* of the event that it belongs to */
    void *pages; /* the control page, then the data */
    const uint8_t *data;
    const struct perfile_allocator *allocator;
    size_t bytes;  /* of the data: a power of two */
    uint64_t tail; /* up to here it was read */
    bool backward; /* overwrite mode: written from its end to its start */
};

/* `bytes` a power of two, at least a page. OPEN: errno says why. */
int pf_ring_open(struct pf_ring *ring, int fd, size_t bytes, bool backward);
void pf_ring_close(struct pf_ring *ring);
/* From true to false the kernel writes nothing, and counts what it would have written as lost. */
void pf_ring_pause(const struct pf_ring *ring, bool paused);

/* Consumes complete records without gaps between them. A non-zero result ends the drain with this result. */
typedef int pf_ring_taker(void *context, const uint8_t *records, size_t bytes, struct perfile_error *error);
/*
 * Hands over what is there, oldest first, in one to three pieces; a record that runs over the end of the buffer comes
 * by itself. One that is overwritten must be paused, and needs as much memory again. READ: what the kernel says makes
 * no sense; MEMORY.
 */
int pf_ring_drain(struct pf_ring *ring, pf_ring_taker *take, void *context, struct perfile_error *error);

#endif
