/* SPDX-License-Identifier: MIT */
/* SHA-1 (FIPS 180-4): build ids by the content of a file, as linkers make them. */
#ifndef PF_BASE_SHA1_H
#define PF_BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { PF_SHA1_BYTES = 20 };

void pf_sha1(const void *data, size_t bytes, uint8_t digest[PF_SHA1_BYTES]);

#endif
