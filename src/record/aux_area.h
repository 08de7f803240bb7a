/* SPDX-License-Identifier: MIT */
/* The buffers that hold AUX data: one beside each ring buffer whose event writes a hardware trace. */
#ifndef PF_RECORD_AUX_AREA_H
#define PF_RECORD_AUX_AREA_H

#include "record/ring.h"

struct pf_aux_area {
    void *control; /* the control page of the ring buffer */
    uint8_t *data; /* NULL: not mapped */
    size_t bytes;  /* a power of two */
    uint64_t tail; /* up to here it was read */
    bool overwrite;
    int fd; /* of the event that writes it */
    uint32_t index;
    int32_t cpu, tid; /* -1: of any */
};

/* Maps it after the ring buffer, with `bytes` (a power of two) or, as far as that is not allowed, half of it and so on
 * down to `least`. 0 or errno. */
int pf_aux_area_open(struct pf_aux_area *area, const struct pf_ring *ring, size_t bytes, size_t least);
void pf_aux_area_close(struct pf_aux_area *area);

/* AUX data in one or two pieces. */
struct pf_aux_piece {
    uint64_t offset; /* of all that was written to the area */
    const uint8_t *data[2];
    size_t bytes[2];
};
/* What came since the last call; of an area that is overwritten what is in it, oldest first. False: nothing. */
bool pf_aux_area_take(struct pf_aux_area *area, size_t alignment, struct pf_aux_piece *piece);
/* The piece is not needed any more. */
void pf_aux_area_release(struct pf_aux_area *area);

#endif
