/* SPDX-License-Identifier: MIT */
/* "4711 samples have", "1 sample has". */
#ifndef PF_BASE_COUNTED_H
#define PF_BASE_COUNTED_H

#include "base/bytes.h"

#define PF_COUNTED_BYTES 160
/*
 * The count and what it counts, "records of unknown types are read". Of one, the first word that ends in s is singular, and so
 * are the verbs after it that are one of are, were, have and do. Returns the buffer.
 */
const char *pf_count_of(uint64_t count, const char *what, char buffer[PF_COUNTED_BYTES]);

#endif
