/* SPDX-License-Identifier: MIT */
#include "base/btf.h"

#include "base/cursor.h"

enum {
    MAGIC = 0xeb9f,
    KIND_INT = 1,
    KIND_ARRAY = 3,
    KIND_STRUCT = 4,
    KIND_UNION = 5,
    KIND_ENUM = 6,
    KIND_FUNC_PROTO = 13,
    KIND_VAR = 14,
    KIND_DATASEC = 15,
    KIND_DECL_TAG = 17,
    KIND_ENUM64 = 19,
};

/* The bytes of a type after its common part. */
static uint64_t tail_bytes(uint32_t info)
{
    const uint32_t kind = info >> 24 & 31;
    const uint64_t count = info & 0xffff;
    switch (kind) {
    case KIND_INT:
    case KIND_VAR:
    case KIND_DECL_TAG:
        return 4;
    case KIND_ARRAY:
        return 12;
    case KIND_STRUCT:
    case KIND_UNION:
    case KIND_DATASEC:
    case KIND_ENUM64:
        return 12 * count;
    case KIND_ENUM:
    case KIND_FUNC_PROTO:
        return 8 * count;
    default:
        return 0;
    }
}

/* Offsets are from the end of the header. */
const char *pf_btf_name(const uint8_t *btf, size_t bytes, bool swap, uint32_t id)
{
    struct pf_cursor head = pf_cursor_make(btf, bytes, 0, swap);
    const uint16_t magic = pf_cursor_u16(&head);
    pf_cursor_take(&head, 2); /* version and flags */
    const uint32_t head_bytes = pf_cursor_u32(&head), types = pf_cursor_u32(&head), types_bytes = pf_cursor_u32(&head);
    const uint32_t texts_at = pf_cursor_u32(&head), texts_bytes = pf_cursor_u32(&head);
    if (head.failed || magic != MAGIC || head_bytes > bytes || types > bytes - head_bytes ||
        types_bytes > bytes - head_bytes - types || texts_at > bytes - head_bytes ||
        texts_bytes > bytes - head_bytes - texts_at)
        return NULL;
    struct pf_cursor c = pf_cursor_make(btf + head_bytes + types, types_bytes, 0, swap);
    const char *texts = (const char *)btf + head_bytes + texts_at;
    for (uint32_t at = 1; !c.failed && at <= id; at++) {
        const uint32_t name = pf_cursor_u32(&c), info = pf_cursor_u32(&c);
        pf_cursor_u32(&c);
        pf_cursor_take(&c, tail_bytes(info));
        if (at == id && !c.failed && name < texts_bytes && memchr(texts + name, 0, texts_bytes - name))
            return texts + name;
    }
    return NULL;
}
