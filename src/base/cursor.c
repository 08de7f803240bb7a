/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"

#include <inttypes.h>

#include "base/counted.h"

void pf_cursor_fail(struct pf_cursor *c, uint64_t wanted)
{
    if (!c->failed) {
        c->failed = true;
        c->failed_at = pf_cursor_offset(c);
        c->wanted = wanted;
        c->had = pf_cursor_left(c);
    }
    c->at = c->end;
}

void pf_cursor_turn(const struct pf_cursor *c, const uint8_t *p, size_t bytes)
{
    uint8_t *copy = (uint8_t *)((uintptr_t)p + (uintptr_t)c->mirror);
    for (size_t i = 0; i < bytes; i++)
        copy[i] = p[bytes - 1 - i];
}

const uint8_t *pf_cursor_take_array(struct pf_cursor *c, uint64_t count, uint64_t stride)
{
    uint64_t bytes;
    if (!pf_multiply(count, stride, &bytes))
        bytes = UINT64_MAX;
    return pf_cursor_take(c, bytes);
}

const char *pf_cursor_text(struct pf_cursor *c, size_t *bytes)
{
    size_t left = pf_cursor_left(c);
    size_t length = pf_text_length(c->at, left);
    if (length == left) {
        pf_cursor_fail(c, (uint64_t)left + 1);
        *bytes = 0;
        return "";
    }
    *bytes = length;
    return (const char *)pf_cursor_take(c, length + 1);
}

int pf_cursor_error(const struct pf_cursor *c, const char *what, struct perfile_error *error)
{
    char bytes[PF_COUNTED_BYTES];
    return pf_fail(error, PERFILE_ERROR_DAMAGED, c->failed_at, what, "%s needed, %" PRIu64 " available",
                   pf_count_of(c->wanted, "bytes", bytes), c->had);
}
