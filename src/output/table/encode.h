/* SPDX-License-Identifier: MIT */
/* The encodings of Parquet's pages. */
#ifndef PF_OUTPUT_TABLE_ENCODE_H
#define PF_OUTPUT_TABLE_ENCODE_H

#include "output/table/block.h"

/* Bits of a number; 0 has one. */
static inline unsigned pf_bits_of(uint64_t value)
{
    return 64 - (unsigned)__builtin_clzll(value | 1);
}

/* RLE: numbers of `width` bits (1 to 32) as runs of equal ones, and packed where there are none. */
void pf_encode_runs(struct pf_block *to, const uint32_t *numbers, size_t count, unsigned width);
/* DELTA_BINARY_PACKED, of 64 bits. */
void pf_encode_deltas(struct pf_block *to, const int64_t *numbers, size_t count);
/* PLAIN: `width` (4 or 8) lower bytes of each. */
void pf_encode_plain(struct pf_block *to, const int64_t *numbers, size_t count, size_t width);
/* PLAIN of booleans: a bit of each. */
void pf_encode_bits(struct pf_block *to, const int64_t *numbers, size_t count);

#endif
