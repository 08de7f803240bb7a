/* SPDX-License-Identifier: MIT */
/* For tests of unwinding: ELF files with call frame information, and no symbols. */
#ifndef PF_TESTS_MADE_CFI_H
#define PF_TESTS_MADE_CFI_H

#include <elf.h>
#include <stdio.h>

#include "counting.h"

enum { CODE = 0x1000, CODE_BYTES = 0x1000, CFI = 0x3000, EXIDX = 0x5000 };

/* ---- making an ELF file ------------------------------------------------------------------------------------------ */

struct blob {
    uint8_t data[8192];
    size_t used;
    bool big;
    bool is_64;
};

static inline void put(struct blob *b, uint64_t value, unsigned bytes)
{
    assert_true(b->used + bytes <= sizeof(b->data));
    for (unsigned i = 0; i < bytes; i++)
        b->data[b->used++] = (uint8_t)(value >> 8 * (b->big ? bytes - 1 - i : i));
}

static inline void put_word(struct blob *b, uint64_t value)
{
    put(b, value, b->is_64 ? 8 : 4);
}

static inline void put_bytes(struct blob *b, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        put(b, ((const uint8_t *)data)[i], 1);
}

static inline void patch32(struct blob *b, size_t position, uint32_t value)
{
    size_t used = b->used;
    b->used = position;
    put(b, value, 4);
    b->used = used;
}

static inline void put_section(struct blob *b, uint32_t name, uint32_t type, uint64_t address, size_t offset,
                               size_t bytes)
{
    put(b, name, 4);
    put(b, type, 4);
    put_word(b, 0); /* flags */
    put_word(b, address);
    put_word(b, offset);
    put_word(b, bytes);
    put(b, 0, 4); /* link */
    put(b, 0, 4); /* info */
    put_word(b, 1);
    put_word(b, 0);
}

static inline void put_segment(struct blob *b, uint64_t address, uint64_t bytes)
{
    put(b, PT_LOAD, 4);
    if (b->is_64)
        put(b, PF_X | PF_R, 4);
    put_word(b, 0);
    put_word(b, address);
    put_word(b, address);
    put_word(b, bytes);
    put_word(b, bytes);
    if (!b->is_64)
        put(b, PF_X | PF_R, 4);
    put_word(b, 4096);
}

static inline void put_header(struct blob *b, uint16_t machine, size_t phoff, size_t shoff, uint16_t sections)
{
    const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', b->is_64 ? 2 : 1, b->big ? 2 : 1, 1};
    put_bytes(b, ident, sizeof(ident));
    put(b, ET_DYN, 2);
    put(b, machine, 2);
    put(b, 1, 4);
    put_word(b, CODE);
    put_word(b, phoff);
    put_word(b, shoff);
    put(b, 0, 4);
    put(b, b->is_64 ? 64 : 52, 2);
    put(b, b->is_64 ? 56 : 32, 2);
    put(b, 1, 2);
    put(b, b->is_64 ? 64 : 40, 2);
    put(b, sections, 2);
    put(b, sections - 1u, 2);
}

/* A file with a section `name` and, if exidx is not NULL, .ARM.exidx. */
static inline struct blob make_elf(uint16_t machine, const struct blob *cfi, const char *name, const struct blob *exidx)
{
    struct blob b = {.big = cfi->big, .is_64 = cfi->is_64};
    char names[64] = "";
    size_t header = b.is_64 ? 64 : 52, segment = b.is_64 ? 56 : 32;
    size_t exidx_bytes = exidx ? exidx->used : 0, data = header + segment;
    size_t shoff = data + cfi->used + exidx_bytes + sizeof(names);
    snprintf(names + 1, sizeof(names) - 1, "%s", name);
    memcpy(names + 32, ".ARM.exidx", 11);
    put_header(&b, machine, header, shoff, 4);
    put_segment(&b, CODE, CODE_BYTES);
    put_bytes(&b, cfi->data, cfi->used);
    put_bytes(&b, exidx ? exidx->data : NULL, exidx_bytes);
    put_bytes(&b, names, sizeof(names));
    put_section(&b, 0, 0, 0, 0, 0);
    put_section(&b, 1, SHT_PROGBITS, CFI, data, cfi->used);
    put_section(&b, exidx ? 32 : 0, SHT_PROGBITS, EXIDX, data + cfi->used, exidx_bytes);
    put_section(&b, 0, SHT_STRTAB, 0, data + cfi->used + exidx_bytes, sizeof(names));
    return b;
}

/* ---- making call frame information ------------------------------------------------------------------------------- */

static inline size_t begin_entry(struct blob *b)
{
    put(b, 0, 4);
    return b->used;
}

static inline void end_entry(struct blob *b, size_t start)
{
    while ((b->used - start) % 4)
        put(b, 0, 1); /* DW_CFA_nop */
    patch32(b, start - 4, (uint32_t)(b->used - start));
}

/* A CIE of .eh_frame with code alignment 1, data alignment -word and absolute pointers, and its program. */
static inline size_t put_cie(struct blob *b, const char *letters, uint8_t ra, const void *program, size_t bytes)
{
    size_t start = begin_entry(b);
    put(b, 0, 4);
    put(b, 1, 1);
    put_bytes(b, letters, strlen(letters) + 1);
    put(b, 1, 1);
    put(b, b->is_64 ? 0x78 : 0x7c, 1); /* -8 or -4 */
    put(b, ra, 1);
    put(b, 1, 1);
    put(b, 0, 1); /* DW_EH_PE_absptr */
    put_bytes(b, program, bytes);
    end_entry(b, start);
    return start - 4;
}

static inline void put_fde(struct blob *b, size_t cie, uint64_t address, uint64_t length, const void *program,
                           size_t bytes)
{
    size_t start = begin_entry(b);
    put(b, start - cie, 4);
    put_word(b, address);
    put_word(b, length);
    put(b, 0, 1);
    put_bytes(b, program, bytes);
    end_entry(b, start);
}

#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

#endif
