/* SPDX-License-Identifier: MIT */
#include "output/table/thrift.h"

static void put_field(struct pf_thrift *thrift, int field, enum pf_thrift_type type)
{
    const int step = field - thrift->last[thrift->depth];
    pf_block_u8(thrift->to, (unsigned)(step > 0 && step < 16 ? step : 0) << 4 | (unsigned)type);
    if (step <= 0 || step > 15)
        pf_block_varint(thrift->to, pf_zigzag(field));
    thrift->last[thrift->depth] = field;
}

void pf_thrift_item_number(struct pf_thrift *thrift, int64_t value)
{
    pf_block_varint(thrift->to, pf_zigzag(value));
}

static void put_bytes(struct pf_thrift *thrift, const void *data, size_t bytes)
{
    pf_block_varint(thrift->to, bytes);
    pf_block_put(thrift->to, data, bytes);
}

void pf_thrift_item_text(struct pf_thrift *thrift, const char *text)
{
    put_bytes(thrift, text, strlen(text));
}

void pf_thrift_number(struct pf_thrift *thrift, int field, enum pf_thrift_type type, int64_t value)
{
    put_field(thrift, field, type);
    pf_thrift_item_number(thrift, value);
}

void pf_thrift_bool(struct pf_thrift *thrift, int field, bool value)
{
    put_field(thrift, field, value ? PF_THRIFT_TRUE : PF_THRIFT_FALSE);
}

void pf_thrift_bytes(struct pf_thrift *thrift, int field, const void *data, size_t bytes)
{
    put_field(thrift, field, PF_THRIFT_BINARY);
    put_bytes(thrift, data, bytes);
}

void pf_thrift_text(struct pf_thrift *thrift, int field, const char *text)
{
    pf_thrift_bytes(thrift, field, text, strlen(text));
}

void pf_thrift_list(struct pf_thrift *thrift, int field, enum pf_thrift_type type, size_t count)
{
    put_field(thrift, field, PF_THRIFT_LIST);
    pf_block_u8(thrift->to, (unsigned)(count < 15 ? count : 15) << 4 | (unsigned)type);
    if (count >= 15)
        pf_block_varint(thrift->to, count);
}

void pf_thrift_begin(struct pf_thrift *thrift, int field)
{
    if (field)
        put_field(thrift, field, PF_THRIFT_STRUCT);
    thrift->last[++thrift->depth] = 0;
}

void pf_thrift_end(struct pf_thrift *thrift)
{
    pf_block_u8(thrift->to, 0);
    thrift->depth--;
}
