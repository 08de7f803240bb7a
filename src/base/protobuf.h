/* SPDX-License-Identifier: MIT */
/*
 * Writes protocol buffers. The fields of a message are put one after the other; fields that are 0 are left out, as in
 * proto3. A message in a message follows its length, which is known at its end only: such messages go into a text
 * without a sink. For a message that is made often it is cheaper to add up its length first (pf_proto_*_bytes).
 */
#ifndef PF_BASE_PROTOBUF_H
#define PF_BASE_PROTOBUF_H

#include "base/text.h"
#include "base/varint.h"

/* How many bytes a varint takes. */
static inline unsigned pf_proto_varint_bytes(uint64_t value)
{
    const unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    return (bits + 6) / 7;
}

/* pf_leb128_put for texts: after a number of one byte there must be one byte more. */
static inline char *pf_proto_varint(char *at, uint64_t value)
{
    return (char *)pf_leb128_put((uint8_t *)at, value);
}

/* Fields, and how many bytes one takes whose number is below 16. */
void pf_proto_put_number(struct pf_text *text, unsigned field, uint64_t value);
static inline size_t pf_proto_number_bytes(uint64_t value)
{
    return value ? 1 + pf_proto_varint_bytes(value) : 0;
}
/* Of the wire type fixed64. */
void pf_proto_put_fixed(struct pf_text *text, unsigned field, uint64_t value);
/* Texts, bytes and messages that are ready; an empty one is put, too: it may be an element of a list. */
void pf_proto_put_bytes(struct pf_text *text, unsigned field, const void *data, size_t bytes);
/* What stands before `bytes` bytes of a text, a message or a packed list. */
void pf_proto_put_head(struct pf_text *text, unsigned field, size_t bytes);

/* A message or packed list whose fields come next; hand what is returned to the end. The text has no sink. */
size_t pf_proto_begin(struct pf_text *text, unsigned field);
void pf_proto_end(struct pf_text *text, size_t start);
/* Values of packed lists. */
void pf_proto_put_varint(struct pf_text *text, uint64_t value);
void pf_proto_put_packed_fixed(struct pf_text *text, uint64_t value);

#endif
