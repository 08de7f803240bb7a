/* SPDX-License-Identifier: MIT */
/* "4711 samples have", "1 sample has". */
#ifndef PF_BASE_COUNTED_H
#define PF_BASE_COUNTED_H

#include "base/bytes.h"

#define PF_COUNTED_BYTES 160
/*
 * Writes the count and what it counts, as in "2 records of unknown types are read". For a count of one, the first word
 * that ends in s becomes singular, and so do "are", "were", "have" and "do" after it. Returns the buffer.
 */
const char *pf_count_of(uint64_t count, const char *what, char buffer[PF_COUNTED_BYTES]);
/* The same for a part of them, as in "1 of 2 records is damaged". */
const char *pf_part_of(uint64_t part, uint64_t all, const char *what, char buffer[PF_COUNTED_BYTES]);

#endif
