/* SPDX-License-Identifier: MIT */
/* Compressed files and sections, unpacked into memory: .gnu_debugdata, kernel modules, debug info. */
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

enum pf_packing { PF_PACKED_ZLIB, PF_PACKED_ZSTD };
/* Unpacks what comes to exactly `to_bytes` bytes. False as above; `to` is the caller's in any case. */
bool pf_unpack_to(const struct perfile_allocator *allocator, enum pf_packing packing, const uint8_t *data, size_t bytes,
                  uint8_t *to, size_t to_bytes);

#endif
