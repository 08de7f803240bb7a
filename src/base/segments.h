/* SPDX-License-Identifier: MIT */
/*
 * A growing array whose elements never move: one thread may add while others read the elements that existed when they
 * got the count. Each segment is twice as long as the one before.
 */
#ifndef PF_BASE_SEGMENTS_H
#define PF_BASE_SEGMENTS_H

#include "base/memory.h"

enum { PF_SEGMENT_FIRST_BITS = 8, PF_SEGMENTS = 32 - PF_SEGMENT_FIRST_BITS };

struct pf_segments {
    const struct perfile_allocator *allocator;
    size_t bytes; /* of an element */
    void *parts[PF_SEGMENTS + 1];
};

static inline unsigned pf_segment_of(uint64_t *index)
{
    *index += (uint64_t)1 << PF_SEGMENT_FIRST_BITS;
    const unsigned bit = 63 - (unsigned)__builtin_clzll(*index);
    *index -= (uint64_t)1 << bit;
    return bit - PF_SEGMENT_FIRST_BITS;
}

/* NULL when there is no such element. Index: 32 bits. */
static inline void *pf_segments_at(const struct pf_segments *segments, uint32_t index)
{
    uint64_t at = index;
    const unsigned part = pf_segment_of(&at);
    return segments->parts[part] ? (char *)segments->parts[part] + at * segments->bytes : NULL;
}

static inline void pf_segments_open(struct pf_segments *segments, size_t bytes,
                                    const struct perfile_allocator *allocator)
{
    *segments = (struct pf_segments){.allocator = allocator, .bytes = bytes};
}

/* Makes sure that there is such an element; new ones are zeroes. NULL when out of memory. */
static inline void *pf_segments_make(struct pf_segments *segments, uint32_t index)
{
    uint64_t at = index;
    const unsigned part = pf_segment_of(&at);
    if (part + PF_SEGMENT_FIRST_BITS >= 8 * sizeof(size_t))
        return NULL;
    if (!segments->parts[part])
        segments->parts[part] =
            pf_new(segments->allocator, ((size_t)1 << (part + PF_SEGMENT_FIRST_BITS)) * segments->bytes);
    return pf_segments_at(segments, index);
}

static inline void pf_segments_close(struct pf_segments *segments)
{
    for (unsigned part = 0; part <= PF_SEGMENTS; part++)
        if (segments->parts[part]) /* the last is too large for 32-bit machines */
            pf_free(segments->allocator, segments->parts[part],
                    ((size_t)1 << (part + PF_SEGMENT_FIRST_BITS)) * segments->bytes);
    pf_segments_open(segments, segments->bytes, segments->allocator);
}

#endif
