/* SPDX-License-Identifier: MIT */
/* For tests of symbols: small ELF files made by hand. */
#ifndef PF_TESTS_MADE_ELF_H
#define PF_TESTS_MADE_ELF_H

#include <elf.h>

#include "made_folder.h"

/* Notes with this build id, as a kernel reports them in /sys/kernel/notes. */
static inline void made_notes(const char *name, const uint8_t *id, uint32_t id_bytes)
{
    uint8_t notes[64] = {0};
    const uint32_t words[] = {4, id_bytes, 3};
    memcpy(notes, words, sizeof(words));
    memcpy(notes + sizeof(words), "GNU", 4);
    memcpy(notes + sizeof(words) + 4, id, id_bytes);
    made_file(name, notes, sizeof(words) + 4 + id_bytes);
}

/* ---- ELF ------------------------------------------------------------------------------------------------------ */

struct made_symbol {
    uint64_t value;
    uint64_t size;
    uint8_t type;     /* STT_* */
    uint8_t bind;     /* STB_* */
    uint16_t section; /* MADE_TEXT ... */
    const char *name;
};

/* Sections, in this order. .text and .opd are loaded: file offset 0x80 is address MADE_ADDRESS + 0x80. */
enum { MADE_TEXT = 1, MADE_OPD, MADE_NOTES, MADE_LINK, MADE_SYMTAB, MADE_STRTAB, MADE_NAMES, MADE_SECTIONS };
enum {
    MADE_ADDRESS = 0x10000,
    MADE_TEXT_AT = 0x80,
    MADE_TEXT_BYTES = 0x80,
    MADE_OPD_AT = 0x100,
    MADE_OPD_BYTES = 0x40
};

struct made_elf {
    uint16_t type; /* ET_* */
    uint16_t machine;
    bool big_endian;
    uint8_t id;       /* repeated as the build id; 0: none */
    const char *link; /* .gnu_debuglink, or NULL */
    uint32_t link_crc;
    const struct made_symbol *symbols;
    size_t count;
    uint64_t zeros;  /* bytes of the segment that are not in the file */
    uint64_t opd[2]; /* first words of two function descriptors */
};

static inline void made_section(struct made *m, uint32_t name, uint32_t type, uint64_t flags, uint64_t at,
                                uint64_t bytes, uint32_t link)
{
    made_u32(m, name);
    made_u32(m, type);
    made_u64(m, flags);
    made_u64(m, flags ? MADE_ADDRESS + at : 0);
    made_u64(m, at);
    made_u64(m, bytes);
    made_u32(m, link);
    made_u32(m, 0);
    made_u64(m, 4);
    made_u64(m, type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0);
}

static inline void made_elf_header(struct made *m, const struct made_elf *elf, uint64_t sections_at)
{
    const uint8_t ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', ELFCLASS64, elf->big_endian ? ELFDATA2MSB : ELFDATA2LSB, 1};
    made_bytes(m, ident, sizeof(ident));
    made_u16(m, elf->type);
    made_u16(m, elf->machine);
    made_u32(m, 1);
    made_u64(m, 0);
    made_u64(m, elf->type == ET_REL ? 0 : 64);
    made_u64(m, sections_at);
    made_u32(m, 0);
    made_u16(m, 64);
    made_u16(m, 56);
    made_u16(m, elf->type == ET_REL ? 0 : 1);
    made_u16(m, 64);
    made_u16(m, MADE_SECTIONS);
    made_u16(m, MADE_NAMES);
    made_u32(m, PT_LOAD);
    made_u32(m, PF_R | PF_X);
    made_u64(m, 0);
    made_u64(m, MADE_ADDRESS);
    made_u64(m, MADE_ADDRESS);
    made_u64(m, MADE_OPD_AT + MADE_OPD_BYTES);
    made_u64(m, MADE_OPD_AT + MADE_OPD_BYTES + elf->zeros);
    made_u64(m, 4096);
}

static inline void made_elf(struct made *m, const struct made_elf *elf)
{
    static const char names[] = "\0.text\0.opd\0.note.gnu.build-id\0.gnu_debuglink\0.symtab\0.strtab\0.shstrtab";
    uint64_t at[MADE_SECTIONS + 1] = {0, MADE_TEXT_AT, MADE_OPD_AT};
    uint32_t name = 1;
    /* what is before the sections' headers first, to know where these come */
    for (int round = 0; round < 2; round++) {
        *m = (struct made){.swap = elf->big_endian != PF_NATIVE_BIG_ENDIAN};
        made_elf_header(m, elf, at[MADE_SECTIONS]);
        made_fill(m, 0, MADE_TEXT_AT - m->bytes);
        made_fill(m, 0x90, MADE_TEXT_BYTES);
        made_u64(m, elf->opd[0]);
        made_fill(m, 0, 16);
        made_u64(m, elf->opd[1]);
        made_fill(m, 0, MADE_OPD_AT + MADE_OPD_BYTES - m->bytes);
        at[MADE_NOTES] = m->bytes;
        if (elf->id) {
            made_u32(m, 4);
            made_u32(m, 20);
            made_u32(m, 3);
            made_bytes(m, "GNU", 4);
            made_fill(m, elf->id, 20);
        }
        at[MADE_LINK] = m->bytes;
        if (elf->link) {
            made_name(m, elf->link);
            made_fill(m, 0, -m->bytes & 3);
            made_u32(m, elf->link_crc);
        }
        made_fill(m, 0, -m->bytes & 7);
        at[MADE_SYMTAB] = m->bytes;
        made_fill(m, 0, 24);
        uint32_t text = 1;
        for (size_t i = 0; i < elf->count; i++) {
            const struct made_symbol *s = &elf->symbols[i];
            made_u32(m, text);
            made_fill(m, (uint8_t)(s->bind << 4 | s->type), 1);
            made_fill(m, 0, 1);
            made_u16(m, s->section);
            made_u64(m, s->value);
            made_u64(m, s->size);
            text += (uint32_t)strlen(s->name) + 1;
        }
        at[MADE_STRTAB] = m->bytes;
        made_fill(m, 0, 1);
        for (size_t i = 0; i < elf->count; i++)
            made_name(m, elf->symbols[i].name);
        at[MADE_NAMES] = m->bytes;
        made_bytes(m, names, sizeof(names));
        made_fill(m, 0, -m->bytes & 7);
        at[MADE_SECTIONS] = m->bytes;
    }
    static const uint32_t types[] = {SHT_NULL,     SHT_PROGBITS, SHT_PROGBITS, SHT_NOTE,
                                     SHT_PROGBITS, SHT_SYMTAB,   SHT_STRTAB,   SHT_STRTAB};
    for (uint32_t i = 0; i < MADE_SECTIONS; i++) {
        uint64_t flags = i == MADE_TEXT ? SHF_ALLOC | SHF_EXECINSTR : i == MADE_OPD ? SHF_ALLOC : 0;
        uint64_t end = i == MADE_OPD ? MADE_OPD_AT + MADE_OPD_BYTES : at[i + 1];
        made_section(m, i ? name : 0, types[i], flags, at[i], i ? end - at[i] : 0, i == MADE_SYMTAB ? MADE_STRTAB : 0);
        name += i ? (uint32_t)strlen(names + name) + 1 : 0;
    }
}

#endif
