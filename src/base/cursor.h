/* SPDX-License-Identifier: MIT */
/*
 * All bytes of files are read through a cursor: a position that never leaves its range. The first value that does
 * not fit makes the cursor fail for good; from then on every value is 0 and every piece empty, so that a complete
 * layout can be read before the result is checked.
 */
#ifndef PF_BASE_CURSOR_H
#define PF_BASE_CURSOR_H

#include "base/bytes.h"
#include "base/error.h"

struct pf_cursor {
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
    uint64_t offset; /* of `start` in the file */
    bool swap;
    bool failed;
    ptrdiff_t mirror;   /* not 0: how far away a copy is in which each number that is read gets the other byte order */
    uint64_t failed_at; /* offset in the file */
    uint64_t wanted;    /* bytes that were asked for there */
    uint64_t had;       /* bytes that there were */
};

static inline struct pf_cursor pf_cursor_make(const void *data, size_t bytes, uint64_t offset, bool swap)
{
    const uint8_t *start = data;
    const uint8_t *end = bytes ? start + bytes : start; /* of nothing there is no start to add to */
    return (struct pf_cursor){.start = start, .at = start, .end = end, .offset = offset, .swap = swap};
}

static inline size_t pf_cursor_left(const struct pf_cursor *c)
{
    return (size_t)(c->end - c->at);
}

static inline uint64_t pf_cursor_offset(const struct pf_cursor *c)
{
    return c->offset + (uint64_t)(c->at - c->start);
}

void pf_cursor_fail(struct pf_cursor *c, uint64_t wanted);

/* The next `bytes` bytes, or NULL. */
static inline const uint8_t *pf_cursor_take(struct pf_cursor *c, uint64_t bytes)
{
    if (PF_UNLIKELY(bytes > pf_cursor_left(c))) {
        pf_cursor_fail(c, bytes);
        return NULL;
    }
    const uint8_t *p = c->at;
    c->at = bytes ? p + bytes : p; /* of an empty range p may be NULL, to which not even 0 may be added */
    return p;
}

/* Puts the `bytes` bytes at p into the copy, the last one first. */
void pf_cursor_turn(const struct pf_cursor *c, const uint8_t *p, size_t bytes);

static inline uint8_t pf_cursor_u8(struct pf_cursor *c)
{
    const uint8_t *p = pf_cursor_take(c, 1);
    return p ? *p : 0;
}

/* The next byte without taking it; 0 at the end. */
static inline uint8_t pf_cursor_peek8(const struct pf_cursor *c)
{
    return pf_cursor_left(c) ? *c->at : 0;
}

static inline uint16_t pf_cursor_u16(struct pf_cursor *c)
{
    const uint8_t *p = pf_cursor_take(c, 2);
    if (PF_UNLIKELY(c->mirror && p))
        pf_cursor_turn(c, p, 2);
    return p ? pf_load16(p, c->swap) : 0;
}

static inline uint32_t pf_cursor_u32(struct pf_cursor *c)
{
    const uint8_t *p = pf_cursor_take(c, 4);
    if (PF_UNLIKELY(c->mirror && p))
        pf_cursor_turn(c, p, 4);
    return p ? pf_load32(p, c->swap) : 0;
}

static inline uint64_t pf_cursor_u64(struct pf_cursor *c)
{
    const uint8_t *p = pf_cursor_take(c, 8);
    if (PF_UNLIKELY(c->mirror && p))
        pf_cursor_turn(c, p, 8);
    return p ? pf_load64(p, c->swap) : 0;
}

/* `count` elements of `stride` bytes each; NULL when they do not fit. */
const uint8_t *pf_cursor_take_array(struct pf_cursor *c, uint64_t count, uint64_t stride);

/* Text up to its NUL, which is consumed; without a NUL the cursor fails. Not copied. */
const char *pf_cursor_text(struct pf_cursor *c, size_t *bytes);

/* Why the cursor failed, as an error of the part `what`. */
int pf_cursor_error(const struct pf_cursor *c, const char *what, struct perfile_error *error);

/* A LEB128 number of any length, its low 64 bits; 0 when the bytes end before it does. */
static inline uint64_t pf_cursor_leb(struct pf_cursor *c, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t *p = pf_cursor_take(c, 1);
        if (!p)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(*p & 0x7f) << shift;
        if (*p & 0x80)
            continue;
        if (is_signed && *p & 0x40 && shift + 7 < 64)
            value |= UINT64_MAX << (shift + 7);
        return value;
    }
}

#endif
