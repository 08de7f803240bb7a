/* SPDX-License-Identifier: MIT */
/* Build ids: where ELF files and kernels have them, and which are equal. */
#ifndef PF_BASE_BUILD_ID_H
#define PF_BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PF_BUILD_ID_BYTES = 20 }; /* of the longest one that recordings have */

/*
 * The GNU build id in ELF notes, as they are in a file, or as the kernel reports its own; at most 20 bytes of it. Its
 * length, 0 when there is none. `swap`: the notes have the other byte order.
 */
size_t pf_notes_build_id(const uint8_t *notes, size_t bytes, bool swap, uint8_t build_id[PF_BUILD_ID_BYTES]);
/* The length without the zeros that recordings add to short build ids; 0: only zeros, which is not a build id. */
size_t pf_build_id_length(const uint8_t *id, size_t bytes);
/* The same but for such zeros. */
bool pf_build_id_is_same(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes);

#endif
