/* SPDX-License-Identifier: MIT */
#include "output/table/decode.h"

#include "base/varint.h"
#include "output/table/thrift.h"

enum { DEEPEST = 16, DOUBLE = 7, BYTE = 3, SET = 10, MAP = 11 };

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

const uint8_t *pf_bytes_take(struct pf_bytes *bytes, uint64_t count)
{
    const uint8_t *at = bytes->at;
    if (count > pf_bytes_left(bytes)) {
        bytes->bad = true;
        return NULL;
    }
    bytes->at += count;
    return at;
}

static uint64_t read_varint(struct pf_bytes *bytes)
{
    uint64_t value = 0;
    bytes->bad = bytes->bad || !pf_leb128_take(&bytes->at, bytes->end, &value);
    return bytes->bad ? 0 : value;
}

uint32_t pf_bytes_u32(struct pf_bytes *bytes)
{
    const uint8_t *at = pf_bytes_take(bytes, sizeof(uint32_t));
    return at ? pf_load32(at, PF_NATIVE_BIG_ENDIAN) : 0;
}

/* ---- packed numbers ---------------------------------------------------------------------------------------------- */

/* Up to 64 bits that begin with bit `bit`; the bytes are there. */
static uint64_t bits_at(const uint8_t *bytes, uint64_t bit, unsigned width)
{
    uint64_t value = 0;
    for (unsigned got = 0; got < width;) {
        const unsigned inside = (unsigned)(bit % 8), some = width - got < 8 - inside ? width - got : 8 - inside;
        value |= ((uint64_t)bytes[bit / 8] >> inside & ((1u << some) - 1)) << got;
        got += some;
        bit += some;
    }
    return value;
}

static size_t take_packed(struct pf_bytes *from, uint32_t *numbers, size_t capacity, uint64_t groups, unsigned width)
{
    const uint8_t *at = groups > UINT32_MAX ? NULL : pf_bytes_take(from, groups * width);
    const size_t count = at ? (size_t)(groups * 8 < capacity ? groups * 8 : capacity) : 0;
    from->bad |= !at;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)bits_at(at, (uint64_t)i * width, width);
    return count;
}

static size_t take_run(struct pf_bytes *from, uint32_t *numbers, size_t capacity, uint64_t length, unsigned width)
{
    const uint8_t *at = pf_bytes_take(from, (width + 7) / 8);
    const size_t count = at ? (size_t)(length < capacity ? length : capacity) : 0;
    uint32_t number = 0;
    for (unsigned i = 0; at && i < (width + 7) / 8; i++)
        number |= (uint32_t)at[i] << 8 * i;
    for (size_t i = 0; i < count; i++)
        numbers[i] = number;
    return count;
}

bool pf_decode_runs(struct pf_bytes *from, uint32_t *numbers, size_t count, unsigned width)
{
    size_t done = 0;
    if (width > 32)
        return false;
    while (done < count && !from->bad) {
        const uint64_t head = read_varint(from);
        if (!(head >> 1))
            return false;
        done += (head & 1 ? take_packed : take_run)(from, numbers + done, count - done, head >> 1, width);
    }
    return done == count && !from->bad;
}

/* ---- deltas ------------------------------------------------------------------------------------------------------ */

/* The layout of a block, which the page says. */
struct delta_shape {
    uint64_t block, parts, part; /* numbers of a block, its parts, and numbers of one */
};

static size_t take_delta_block(struct pf_bytes *from, const struct delta_shape *shape, int64_t *numbers,
                               size_t capacity)
{
    const uint64_t min = (uint64_t)pf_unzigzag(read_varint(from));
    const uint8_t *widths = pf_bytes_take(from, shape->parts);
    size_t done = 0;
    for (uint64_t part = 0; widths && part < shape->parts && done < capacity; part++) {
        const uint8_t *at = widths[part] > 64 ? NULL : pf_bytes_take(from, shape->part / 8 * widths[part]);
        from->bad |= !at;
        for (uint64_t i = 0; at && i < shape->part && done < capacity; i++, done++)
            numbers[done] =
                (int64_t)((uint64_t)numbers[(ptrdiff_t)done - 1] + min + bits_at(at, i * widths[part], widths[part]));
        if (!at)
            break;
    }
    return done;
}

bool pf_decode_deltas(struct pf_bytes *from, int64_t *numbers, size_t count)
{
    enum { MAX_BLOCK = 1 << 16 };
    struct delta_shape shape = {.block = read_varint(from)};
    shape.parts = read_varint(from);
    const uint64_t total = read_varint(from);
    const int64_t first = pf_unzigzag(read_varint(from));
    if (from->bad || total != count || !shape.parts || shape.block > MAX_BLOCK || shape.block % shape.parts)
        return false;
    shape.part = shape.block / shape.parts;
    if (!shape.part || shape.part % 8)
        return false;
    if (count)
        numbers[0] = first;
    for (size_t done = 1; done < count && !from->bad;)
        done += take_delta_block(from, &shape, numbers + done, count - done);
    return !from->bad;
}

/* ---- plain ------------------------------------------------------------------------------------------------------- */

bool pf_decode_plain(struct pf_bytes *from, int64_t *numbers, size_t count, size_t width)
{
    const uint8_t *at = pf_bytes_take(from, (uint64_t)count * width);
    for (size_t i = 0; at && i < count; i++)
        numbers[i] = width == sizeof(int32_t) ? (int32_t)pf_load32(at + i * width, PF_NATIVE_BIG_ENDIAN)
                                              : (int64_t)pf_load64(at + i * width, PF_NATIVE_BIG_ENDIAN);
    return at;
}

bool pf_decode_bits(struct pf_bytes *from, int64_t *numbers, size_t count)
{
    const uint8_t *at = pf_bytes_take(from, ((uint64_t)count + 7) / 8);
    for (size_t i = 0; at && i < count; i++)
        numbers[i] = at[i / 8] >> i % 8 & 1;
    return at;
}

/* ---- Thrift ------------------------------------------------------------------------------------------------------ */

struct pf_thrift_reader pf_thrift_open(struct pf_bytes *from)
{
    return (struct pf_thrift_reader){.from = from};
}

bool pf_thrift_next(struct pf_thrift_reader *reader)
{
    const uint8_t *head = pf_bytes_take(reader->from, 1);
    if (!head || !*head)
        return false;
    reader->type = *head & 15;
    reader->field = *head >> 4 ? reader->field + (*head >> 4) : (int)(int16_t)pf_unzigzag(read_varint(reader->from));
    return !reader->from->bad;
}

static size_t list_head(struct pf_bytes *from, int *type)
{
    const uint8_t *head = pf_bytes_take(from, 1);
    const uint64_t count = !head ? 0 : *head >> 4 < 15 ? *head >> 4 : read_varint(from);
    *type = head ? *head & 15 : 0;
    if (count > pf_bytes_left(from)) /* an item has a byte at least */
        from->bad = true;
    return from->bad ? 0 : (size_t)count;
}

static void skip(struct pf_bytes *from, int type, bool is_item, unsigned depth);

static void skip_list(struct pf_bytes *from, unsigned depth)
{
    int type;
    for (size_t left = list_head(from, &type); left && !from->bad; left--)
        skip(from, type, true, depth + 1);
}

static void skip_struct(struct pf_bytes *from, unsigned depth)
{
    struct pf_thrift_reader reader = pf_thrift_open(from);
    while (pf_thrift_next(&reader))
        skip(from, reader.type, false, depth + 1);
}

/* Booleans that are members have no value of their own. */
static void skip(struct pf_bytes *from, int type, bool is_item, unsigned depth)
{
    if (depth > DEEPEST || type == MAP)
        from->bad = true;
    else if (type == PF_THRIFT_LIST || type == SET)
        skip_list(from, depth);
    else if (type == PF_THRIFT_STRUCT)
        skip_struct(from, depth);
    else if (type == PF_THRIFT_BINARY)
        (void)pf_bytes_take(from, read_varint(from));
    else if (type == DOUBLE)
        (void)pf_bytes_take(from, sizeof(double));
    else if (type == BYTE || (is_item && type <= PF_THRIFT_FALSE))
        (void)pf_bytes_take(from, 1);
    else if (type > PF_THRIFT_FALSE)
        (void)read_varint(from);
}

void pf_thrift_skip(struct pf_thrift_reader *reader)
{
    skip(reader->from, reader->type, false, 0);
}

int64_t pf_thrift_take_number(struct pf_thrift_reader *reader)
{
    if (reader->type >= PF_THRIFT_I16 && reader->type <= PF_THRIFT_I64)
        return pf_unzigzag(read_varint(reader->from));
    pf_thrift_skip(reader);
    return 0;
}

const char *pf_thrift_take_text(struct pf_thrift_reader *reader, size_t *bytes)
{
    *bytes = 0;
    if (reader->type != PF_THRIFT_BINARY) {
        pf_thrift_skip(reader);
        return "";
    }
    const uint64_t count = read_varint(reader->from);
    const uint8_t *at = pf_bytes_take(reader->from, count);
    *bytes = at ? (size_t)count : 0;
    return at ? (const char *)at : "";
}

size_t pf_thrift_take_list(struct pf_thrift_reader *reader, int type)
{
    int found = 0;
    if (reader->type != PF_THRIFT_LIST) {
        pf_thrift_skip(reader);
        return 0;
    }
    const size_t count = list_head(reader->from, &found);
    if (count && found != type)
        reader->from->bad = true;
    return reader->from->bad ? 0 : count;
}
