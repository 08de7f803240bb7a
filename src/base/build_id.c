/* SPDX-License-Identifier: MIT */
#include "base/build_id.h"

#include <string.h>

#include "base/cursor.h"
#include "base/elf_names.h"

/* Each part of a note ends at a multiple of 4; of the last one the padding may be missing. */
static const uint8_t *take_part(struct pf_cursor *c, uint32_t bytes)
{
    const uint8_t *part = pf_cursor_take(c, bytes);
    pf_cursor_take(c, pf_min((size_t)(-bytes & 3), pf_cursor_left(c)));
    return part;
}

size_t pf_notes_build_id(const uint8_t *notes, size_t bytes, bool swap, uint8_t build_id[PF_BUILD_ID_BYTES])
{
    struct pf_cursor c = pf_cursor_make(notes, bytes, 0, swap);
    while (pf_cursor_left(&c) >= ELF_NHDR_BYTES) {
        const uint32_t name_bytes = pf_cursor_u32(&c), id_bytes = pf_cursor_u32(&c), type = pf_cursor_u32(&c);
        const uint8_t *name = take_part(&c, name_bytes), *id = take_part(&c, id_bytes);
        if (!name || !id)
            return 0;
        if (type != NT_GNU_BUILD_ID || name_bytes != 4 || memcmp(name, "GNU", 4) != 0 || !id_bytes)
            continue;
        const size_t consumed = pf_min((size_t)id_bytes, (size_t)PF_BUILD_ID_BYTES);
        memcpy(build_id, id, consumed);
        return consumed;
    }
    return 0;
}

size_t pf_build_id_length(const uint8_t *id, size_t bytes)
{
    while (bytes && !id[bytes - 1])
        bytes--;
    return bytes;
}

bool pf_build_id_is_same(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    const size_t bytes = pf_build_id_length(a, a_bytes);
    return bytes == pf_build_id_length(b, b_bytes) && memcmp(a, b, bytes) == 0;
}
