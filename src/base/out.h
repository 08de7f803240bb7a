/* SPDX-License-Identifier: MIT */
/*
 * The counterpart of the cursor: writes bytes into a block of fixed size. The first value that does not fit
 * makes it fail for good; a complete layout can be written before the result is checked.
 */
#ifndef PF_BASE_OUT_H
#define PF_BASE_OUT_H

#include "base/bytes.h"

struct pf_out {
    uint8_t *start;
    uint8_t *at;
    uint8_t *end;
    bool swap;
    bool failed;
};

static inline struct pf_out pf_out_make(void *data, size_t capacity, bool swap)
{
    uint8_t *start = data;
    return (struct pf_out){.start = start, .at = start, .end = start + capacity, .swap = swap};
}

static inline size_t pf_out_bytes_used(const struct pf_out *o)
{
    return (size_t)(o->at - o->start);
}

/* Reserves `bytes` bytes and returns their address, or NULL. */
static inline uint8_t *pf_out_take(struct pf_out *o, uint64_t bytes)
{
    if (PF_UNLIKELY(o->failed || bytes > (size_t)(o->end - o->at))) {
        o->failed = true;
        return NULL;
    }
    uint8_t *p = o->at;
    o->at += bytes;
    return p;
}

static inline void pf_out_put(struct pf_out *o, const void *data, uint64_t bytes)
{
    uint8_t *p = pf_out_take(o, bytes);
    if (p && bytes)
        memcpy(p, data, (size_t)bytes);
}

static inline void pf_out_zeros(struct pf_out *o, uint64_t bytes)
{
    uint8_t *p = pf_out_take(o, bytes);
    if (p && bytes)
        memset(p, 0, (size_t)bytes);
}

/* Zeros up to a multiple of `step`, a power of two, counted from the start. */
static inline void pf_out_align(struct pf_out *o, size_t step)
{
    pf_out_zeros(o, (step - pf_out_bytes_used(o) % step) % step);
}

static inline void pf_out_u8(struct pf_out *o, uint8_t value)
{
    pf_out_put(o, &value, sizeof(value));
}

static inline void pf_out_u16(struct pf_out *o, uint16_t value)
{
    uint16_t v = pf_load16(&value, o->swap);
    pf_out_put(o, &v, sizeof(v));
}

static inline void pf_out_u32(struct pf_out *o, uint32_t value)
{
    uint32_t v = pf_load32(&value, o->swap);
    pf_out_put(o, &v, sizeof(v));
}

static inline void pf_out_u64(struct pf_out *o, uint64_t value)
{
    uint64_t v = pf_load64(&value, o->swap);
    pf_out_put(o, &v, sizeof(v));
}

#endif
