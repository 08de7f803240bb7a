/* SPDX-License-Identifier: MIT */
/* Bytes in memory that grow at their end, for what is encoded: numbers are little-endian on every machine. */
#ifndef PF_OUTPUT_TABLE_BLOCK_H
#define PF_OUTPUT_TABLE_BLOCK_H

#include "base/memory.h"
#include "base/varint.h"

/*
 * All zeros but the allocator is an empty one. When memory is short nothing more goes in: the watch of the allocator
 * knows it.
 */
struct pf_block {
    const struct perfile_allocator *allocator;
    uint8_t *data;
    size_t used, capacity;
    bool failed;
};

static inline struct pf_block pf_block_make(const struct perfile_allocator *allocator)
{
    return (struct pf_block){.allocator = allocator};
}

static inline void pf_block_close(struct pf_block *block)
{
    pf_free(block->allocator, block->data, block->capacity);
    *block = pf_block_make(block->allocator);
}

/* Reserves `bytes` more, which the caller fills and adds to `used`; NULL when out of memory. */
static inline uint8_t *pf_block_reserve(struct pf_block *block, size_t bytes)
{
    if (PF_UNLIKELY(bytes > block->capacity - block->used || block->failed))
        block->failed = block->failed || bytes > SIZE_MAX - block->used ||
                        !pf_grow(block->allocator, &block->data, &block->capacity, block->used + bytes, 1);
    return block->failed ? NULL : block->data + block->used;
}

static inline void pf_block_put(struct pf_block *block, const void *data, size_t bytes)
{
    uint8_t *to = bytes ? pf_block_reserve(block, bytes) : NULL;
    if (to) {
        memcpy(to, data, bytes);
        block->used += bytes;
    }
}

static inline void pf_block_u8(struct pf_block *block, unsigned value)
{
    pf_block_put(block, &(uint8_t){(uint8_t)value}, 1);
}

static inline void pf_block_u32(struct pf_block *block, uint32_t value)
{
    value = pf_load32(&value, PF_NATIVE_BIG_ENDIAN);
    pf_block_put(block, &value, sizeof(value));
}

static inline void pf_block_u64(struct pf_block *block, uint64_t value)
{
    value = pf_load64(&value, PF_NATIVE_BIG_ENDIAN);
    pf_block_put(block, &value, sizeof(value));
}

static inline void pf_block_varint(struct pf_block *block, uint64_t value)
{
    for (; value > 127; value >>= 7)
        pf_block_u8(block, (unsigned)(value & 127) | 128);
    pf_block_u8(block, (unsigned)value);
}

#endif
