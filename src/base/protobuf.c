/* SPDX-License-Identifier: MIT */
#include "base/protobuf.h"

enum wire_type { VARINT = 0, FIXED64 = 1, DELIMITED = 2 };

static char *put_tag(char *at, unsigned field, enum wire_type type)
{
    return pf_proto_varint(at, (uint64_t)field << 3 | type);
}

void pf_proto_put_varint(struct pf_text *text, uint64_t value)
{
    pf_text_commit(text, pf_proto_varint(pf_text_reserve(text, PF_LEB128_BYTES), value));
}

void pf_proto_put_number(struct pf_text *text, unsigned field, uint64_t value)
{
    if (value)
        pf_text_commit(text,
                       pf_proto_varint(put_tag(pf_text_reserve(text, 2 * PF_LEB128_BYTES), field, VARINT), value));
}

void pf_proto_put_packed_fixed(struct pf_text *text, uint64_t value)
{
    char *at = pf_text_reserve(text, sizeof(value));
    for (unsigned i = 0; i < sizeof(value); i++)
        *at++ = (char)(value >> 8 * i);
    pf_text_commit(text, at);
}

void pf_proto_put_fixed(struct pf_text *text, unsigned field, uint64_t value)
{
    if (!value)
        return;
    pf_text_commit(text, put_tag(pf_text_reserve(text, PF_LEB128_BYTES), field, FIXED64));
    pf_proto_put_packed_fixed(text, value);
}

void pf_proto_put_head(struct pf_text *text, unsigned field, size_t bytes)
{
    char *at = put_tag(pf_text_reserve(text, 2 * PF_LEB128_BYTES), field, DELIMITED);
    pf_text_commit(text, pf_proto_varint(at, bytes));
}

void pf_proto_put_bytes(struct pf_text *text, unsigned field, const void *data, size_t bytes)
{
    pf_proto_put_head(text, field, bytes);
    pf_put(text, data, bytes);
}

/* Starts a message with one byte for its length, since most messages are short; longer ones are moved at their end. */
size_t pf_proto_begin(struct pf_text *text, unsigned field)
{
    pf_proto_put_head(text, field, 0);
    return text->used;
}

void pf_proto_end(struct pf_text *text, size_t start)
{
    if (text->failed || text->used < start)
        return;
    const size_t bytes = text->used - start, more = pf_proto_varint_bytes(bytes) - 1;
    (void)pf_text_reserve(text, more);
    if (text->failed)
        return;
    memmove(text->data + start + more, text->data + start, bytes);
    text->data[start - 1] = (char)bytes;
    if (more)
        pf_proto_varint(text->data + start - 1, bytes);
    text->used += more;
}
