/* SPDX-License-Identifier: MIT */
/* Numbers in as few bytes as they need: LEB128, as in Parquet, protobuf and DWARF. */
#ifndef PF_BASE_VARINT_H
#define PF_BASE_VARINT_H

#include "base/bytes.h"

enum { PF_LEB128_BYTES = 10 }; /* at most */

/*
 * Writes a number and returns its end. For a number of one byte 2 may be written: small numbers take no branch, as the
 * processor cannot predict how many bytes they have.
 */
static inline uint8_t *pf_leb128_put(uint8_t *at, uint64_t value)
{
    if (PF_LIKELY(value < 1 << 14)) {
        const unsigned more = value > 127;
        at[0] = (uint8_t)((value & 127) | more << 7);
        at[1] = (uint8_t)(value >> 7);
        return at + 1 + more;
    }
    for (; value > 127; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

/* Moves *at after the number. False: it does not end before `end`, or is too long. */
static inline bool pf_leb128_take(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return true;
    }
    return false;
}

/* Small numbers of either sign have few bits then. */
static inline uint64_t pf_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t pf_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

#endif
