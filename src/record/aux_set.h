/* SPDX-License-Identifier: MIT */
/* All AUX areas of a recording, and what is written of them. */
#ifndef PF_RECORD_AUX_SET_H
#define PF_RECORD_AUX_SET_H

#include "record/aux_area.h"
#include "record/events.h"

struct pf_aux_set {
    const struct perfile_allocator *allocator;
    struct pf_aux_area *items;
    size_t count, capacity;
    bool overwrite; /* only snapshots or samples are recorded */
};

/* Adds the area of the event, which has the ring buffer. 0, or errno. */
int pf_aux_set_add(struct pf_aux_set *set, const struct pf_ring *ring, const struct pf_opened *one,
                   const struct pf_target *target, uint64_t bytes);
void pf_aux_set_close(struct pf_aux_set *set);
/* Writes what is new in the areas, and adds its size. WRITE, MEMORY. */
int pf_aux_set_write(struct pf_aux_set *set, size_t alignment, struct perfile_writer *writer, uint64_t *written,
                     struct perfile_error *error);
/* Whether there is anything to write. */
bool pf_aux_set_has_new(const struct pf_aux_set *set);

#endif
