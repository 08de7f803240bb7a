/* SPDX-License-Identifier: MIT */
/*
 * Writes FlatBuffers, the format of Arrow's metadata, from the end to the start, so that an object is there before what
 * points at it. A position is the distance from the end.
 */
#ifndef PF_OUTPUT_TABLE_FLAT_H
#define PF_OUTPUT_TABLE_FLAT_H

#include "base/bytes.h"
#include "base/memory.h"

enum { PF_FLAT_FIELDS = 8 };

struct pf_flat {
    const struct perfile_allocator *allocator;
    uint8_t *data; /* the written bytes are at its end */
    size_t capacity, used;
    size_t fields[PF_FLAT_FIELDS]; /* of the table that is open: their positions; 0: not there */
    size_t table;                  /* `used` where it began */
};

/* Positions are size_t; 0 means that there is no object. Out of memory, bytes are lost: the allocator notes it. */
void pf_flat_close(struct pf_flat *flat);
size_t pf_flat_text(struct pf_flat *flat, const char *text, size_t bytes);
/* Puts a list of tables or texts, by their positions. */
size_t pf_flat_list(struct pf_flat *flat, const size_t *positions, size_t count);
/* Puts a list of structs of 64-bit numbers: `count` structs of `numbers` each. */
size_t pf_flat_structs(struct pf_flat *flat, const uint64_t *values, size_t count, size_t numbers);

/* One table at a time is open; what its members point at must be there before. */
void pf_flat_begin(struct pf_flat *flat);
void pf_flat_number(struct pf_flat *flat, unsigned field, uint64_t value, size_t bytes);
/* Puts nothing when the position is 0. */
void pf_flat_point(struct pf_flat *flat, unsigned field, size_t position);
size_t pf_flat_end(struct pf_flat *flat);
/*
 * Returns all bytes, with the table `root`; a multiple of 8 bytes. Another buffer may be started after that. NULL: out
 * of memory.
 */
const uint8_t *pf_flat_finish(struct pf_flat *flat, size_t root, size_t *bytes);

#endif
