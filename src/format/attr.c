/* SPDX-License-Identifier: MIT */
#include "format/attr.h"

uint32_t pf_attr_stated_bytes(const uint8_t *data, bool swap)
{
    uint32_t bytes = pf_load32(data + 4, swap);
    return bytes ? bytes : PF_ATTR_SIZE_MIN;
}

/* Bit-fields are laid out from the lowest bit by little-endian compilers and from the highest by big-endian ones. */
static uint64_t bits_of(uint64_t word, unsigned word_bits, bool big_endian, unsigned first, unsigned width)
{
    unsigned shift = big_endian ? word_bits - first - width : first;
    return word >> shift & ((1ull << width) - 1);
}

struct flags {
    uint64_t word;
    unsigned bits;
};

static struct flags flags_at(const uint8_t *data, size_t bytes, size_t offset, unsigned bits, bool swap)
{
    if (offset + bits / 8 > bytes)
        return (struct flags){0, 0};
    return (struct flags){bits == 64 ? pf_load64(data + offset, swap) : pf_load32(data + offset, swap), bits};
}

void pf_attr_decode(const uint8_t *data, size_t bytes, bool swap, bool big_endian, struct perfile_attr *attr)
{
    struct flags flags;
    memset(attr, 0, sizeof(*attr));
#define U16(offset, field, meaning, doc)                                                                               \
    if ((offset) + 2 <= bytes)                                                                                         \
        attr->field = pf_load16(data + (offset), swap);
#define U32(offset, field, meaning, doc)                                                                               \
    if ((offset) + 4 <= bytes)                                                                                         \
        attr->field = pf_load32(data + (offset), swap);
#define U64(offset, field, meaning, doc)                                                                               \
    if ((offset) + 8 <= bytes)                                                                                         \
        attr->field = pf_load64(data + (offset), swap);
#define S32(offset, field, meaning, doc)                                                                               \
    if ((offset) + 4 <= bytes)                                                                                         \
        attr->field = (int32_t)pf_load32(data + (offset), swap);
#define FLAGS(offset, bits) flags = flags_at(data, bytes, offset, bits, swap);
#define BITS(first, width, field, doc)                                                                                 \
    if (flags.bits)                                                                                                    \
        attr->field = (__typeof__(attr->field))bits_of(flags.word, flags.bits, big_endian, first, width);
#define END_FLAGS()
#include "schema/attr.def"
#include "schema/undef.h"
    if (attr->size == 0)
        attr->size = PF_ATTR_SIZE_MIN;
}

void pf_attr_emit(struct pf_emit *e, const char *name, const uint8_t *data, size_t bytes, bool swap, bool big_endian)
{
    struct flags flags;
    pf_emit_begin(e, name, false);
#define U16(offset, field, meaning, doc)                                                                               \
    if ((offset) + 2 <= bytes)                                                                                         \
        pf_emit_unsigned(e, #field, PERFILE_MEANS_##meaning, pf_load16(data + (offset), swap));
#define U32(offset, field, meaning, doc)                                                                               \
    if ((offset) + 4 <= bytes)                                                                                         \
        pf_emit_unsigned(e, #field, PERFILE_MEANS_##meaning, pf_load32(data + (offset), swap));
#define U64(offset, field, meaning, doc)                                                                               \
    if ((offset) + 8 <= bytes)                                                                                         \
        pf_emit_unsigned(e, #field, PERFILE_MEANS_##meaning, pf_load64(data + (offset), swap));
#define S32(offset, field, meaning, doc)                                                                               \
    if ((offset) + 4 <= bytes)                                                                                         \
        pf_emit_signed(e, #field, PERFILE_MEANS_##meaning, (int32_t)pf_load32(data + (offset), swap));
#define FLAGS(offset, bits) flags = flags_at(data, bytes, offset, bits, swap);
#define BITS(first, width, field, doc)                                                                                 \
    if (flags.bits)                                                                                                    \
        pf_emit_unsigned(e, #field, PERFILE_MEANS_NUMBER, bits_of(flags.word, flags.bits, big_endian, first, width));
#define END_FLAGS()
#include "schema/attr.def"
    pf_emit_end(e, false);
}
