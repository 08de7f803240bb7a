/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson and Bernstein 2012): without the key it is not possible to make texts that collide. */
#ifndef PF_BASE_SIPHASH_H
#define PF_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t pf_siphash(const uint64_t key[2], const void *data, size_t bytes);

#endif
