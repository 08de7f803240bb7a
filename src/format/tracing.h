/* SPDX-License-Identifier: MIT */
/* The tracing data blob: feature 1, and the payload of HEADER_TRACING_DATA. */
#ifndef PF_FORMAT_TRACING_H
#define PF_FORMAT_TRACING_H

#include "base/cursor.h"
#include "format/emit.h"

struct pf_tracing;

/*
 * Parses a blob; everything is copied. The caller has to close *tracing. A blob that is damaged after its header is
 * kept as far as it goes: then 1 is returned and *error says why. Errors: DAMAGED (not a blob), MEMORY.
 */
int pf_tracing_open(const uint8_t *data, size_t bytes, uint64_t offset, const struct perfile_allocator *allocator,
                    struct pf_tracing **tracing, struct perfile_error *error);
void pf_tracing_close(struct pf_tracing *tracing);
/* The public view. */
const struct perfile_tracing *pf_tracing_view(const struct pf_tracing *tracing);
/* The tracepoint with this id (attr.config), or NULL. */
const struct perfile_tracepoint *pf_tracing_find(const struct pf_tracing *tracing, uint64_t id);

/* Where the formats of all events stand in a blob. */
struct pf_tracing_systems {
    size_t start; /* of their u32 count */
    size_t end;
    uint32_t count;
    uint8_t long_bytes;
    bool big_endian;
    bool swap;
};
/* False: the blob is damaged. */
bool pf_tracing_find_systems(const uint8_t *data, size_t bytes, struct pf_tracing_systems *systems);
/* Shows the blob as an object called `name`; damaged: what can be read, then an `error` text.
 * Returns how many bytes are left after it. */
size_t pf_tracing_emit(const uint8_t *data, size_t bytes, uint64_t offset, const char *name, struct pf_emit *e);

#endif
