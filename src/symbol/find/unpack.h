/* SPDX-License-Identifier: MIT */
/* Compressed files, unpacked into memory: .gnu_debugdata and kernel modules. */
#ifndef PF_SYMBOL_FIND_UNPACK_H
#define PF_SYMBOL_FIND_UNPACK_H

#include "base/memory.h"

struct pf_unpacked {
    uint8_t *data; /* of `capacity` bytes */
    size_t bytes;
    size_t capacity;
};

/* The bytes begin as xz or zstd do (whether or not this build can unpack them). */
bool pf_is_packed(const uint8_t *data, size_t bytes);
/*
 * Unpacks xz (when built with liblzma) and zstd, at most 256 MiB. False when the data is neither, or damaged, or memory
 * is short, which is noted at the allocator (pf_watch): nothing is kept then.
 */
bool pf_unpack(const struct perfile_allocator *allocator, const uint8_t *data, size_t bytes, struct pf_unpacked *out);
void pf_unpacked_close(const struct perfile_allocator *allocator, struct pf_unpacked *out);

#endif
