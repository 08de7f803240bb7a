/* SPDX-License-Identifier: MIT */
/* The features of Android's simpleperf. */
#include "format/features.h"
#include "format/features_walk.h"

enum { DSO_KERNEL_MODULE = 1, DSO_ELF = 2, DSO_DEX = 3 }; /* file types of simpleperf that have more to say */

/* Keys and values up to the end. */
void pf_feature_simpleperf_meta_info(struct pf_feature_walk *w, const char *name)
{
    pf_emit_begin(w->e, name, false);
    while (pf_feature_goes_on(w) && pf_cursor_left(w->c)) {
        size_t bytes;
        const char *key = pf_cursor_text(w->c, &bytes);
        SHOW(w, NAME(key));
    }
    pf_emit_end(w->e, false);
}

/* Objects with their size in front of them, up to the end. */
static void show_files(struct pf_feature_walk *w, const char *name, void (*show)(struct pf_feature_walk *w))
{
    pf_emit_begin(w->e, name, true);
    while (pf_feature_goes_on(w) && pf_cursor_left(w->c)) {
        pf_emit_begin(w->e, NULL, false);
        pf_feature_show_part(w, pf_cursor_u32(w->c), show);
        pf_emit_end(w->e, false);
    }
    pf_emit_end(w->e, true);
}

/* ---- FILE ----------------------------------------------------------------------------------------------------- */

static void show_file(struct pf_feature_walk *w)
{
    PF_FEATURE_OBJECT(symbol, ROW("vaddr", U64, ADDRESS), ROW("len", U32, BYTES), NAME("name"));
    static const struct pf_feature_element offset = {
        .show = pf_feature_show_u64, .min_bytes = 8, .argument = PERFILE_MEANS_ADDRESS};
    SHOW(w, NAME("path"));
    uint64_t type = SHOW(w, U32("type"));
    SHOW(w, ROW("min_vaddr", U64, ADDRESS));
    pf_feature_show_counted(w, "symbols", &symbol);
    if (type == DSO_DEX)
        pf_feature_show_counted(w, "dex_file_offsets", &offset);
    else if ((type == DSO_ELF || type == DSO_KERNEL_MODULE) && pf_cursor_left(w->c))
        SHOW(w, ROW("file_offset_of_min_vaddr", U64, ADDRESS));
}

void pf_feature_simpleperf_file(struct pf_feature_walk *w, const char *name)
{
    show_files(w, name, show_file);
}

/* ---- FILE2: protobuf ---------------------------------------------------------------------------------------- */

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct field {
    uint32_t number;
    unsigned wire;
    uint64_t value;        /* of a number */
    struct pf_cursor body; /* of a text or a message */
};

static uint64_t take_varint(struct pf_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = pf_cursor_u8(c);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    pf_cursor_fail(c, 1); /* no number has more than 10 bytes */
    return 0;
}

/* The next field of a message; false at its end, or when the cursor failed. */
static bool take_field(struct pf_cursor *c, struct field *field)
{
    if (!pf_cursor_left(c))
        return false;
    uint64_t key = take_varint(c);
    *field = (struct field){.number = key >> 3 > UINT32_MAX ? 0 : (uint32_t)(key >> 3), .wire = key & 7};
    uint64_t bytes = 0;
    switch (field->wire) {
    case WIRE_VARINT:
        field->value = take_varint(c);
        break;
    case WIRE_64:
        bytes = 8;
        break;
    case WIRE_BYTES:
        bytes = take_varint(c);
        break;
    case WIRE_32:
        bytes = 4;
        break;
    default: /* groups, which simpleperf does not use */
        pf_cursor_fail(c, 0);
    }
    uint64_t offset = pf_cursor_offset(c);
    const uint8_t *body = pf_cursor_take(c, bytes);
    if (!c->failed)
        field->body = pf_cursor_make(body, (size_t)bytes, offset, c->swap);
    return !c->failed;
}

static void emit_field_text(struct pf_feature_walk *w, const char *name, const struct field *field)
{
    pf_emit_text(w->e, name, field->body.at, pf_text_length(field->body.at, pf_cursor_left(&field->body)));
}

/* Symbol {1 vaddr, 2 len, 3 name}; protobuf leaves out what is 0. */
static void show_symbol(struct pf_feature_walk *w)
{
    struct field field, known[4] = {{0}};
    while (take_field(w->c, &field))
        if (field.number < PF_COUNT(known))
            known[field.number] = field;
    pf_emit_begin(w->e, NULL, false);
    pf_emit_unsigned(w->e, "vaddr", PERFILE_MEANS_ADDRESS, known[1].value);
    pf_emit_unsigned(w->e, "len", PERFILE_MEANS_BYTES, known[2].value);
    emit_field_text(w, "name", &known[3]);
    pf_emit_end(w->e, false);
}

static void show_numbers(struct pf_feature_walk *w)
{
    while (pf_feature_goes_on(w) && pf_cursor_left(w->c)) {
        uint64_t number = take_varint(w->c);
        if (!w->c->failed)
            pf_emit_unsigned(w->e, NULL, PERFILE_MEANS_ADDRESS, number);
    }
}

/* DexFile {1 repeated offset}: one field each, or all in one. */
static void show_dex_file(struct pf_feature_walk *w)
{
    struct field field;
    pf_emit_begin(w->e, "dex_file_offsets", true);
    while (pf_feature_goes_on(w) && take_field(w->c, &field)) {
        if (field.number != 1)
            continue;
        if (field.wire == WIRE_VARINT)
            pf_emit_unsigned(w->e, NULL, PERFILE_MEANS_ADDRESS, field.value);
        else
            pf_feature_show_within(w, field.body, show_numbers);
    }
    pf_emit_end(w->e, true);
}

/* ElfFile and KernelModule {1 offset} */
static void show_offset(struct pf_feature_walk *w, const char *name)
{
    struct field field, offset = {0};
    while (take_field(w->c, &field))
        if (field.number == 1)
            offset = field;
    pf_emit_unsigned(w->e, name, PERFILE_MEANS_ADDRESS, offset.value);
}

static void show_elf_file(struct pf_feature_walk *w)
{
    show_offset(w, "file_offset_of_min_vaddr");
}

static void show_module(struct pf_feature_walk *w)
{
    show_offset(w, "memory_offset_of_min_vaddr");
}

/*
 * FileFeature {1 path, 2 type, 3 min_vaddr, 4 repeated Symbol, 5 DexFile, 6 ElfFile, 7 KernelModule}, and of perfile's
 * own 100 content: the complete file
 */
enum { FILE_PATH = 1, FILE_TYPE, FILE_MIN_VADDR, FILE_SYMBOL, FILE_DEX, FILE_ELF, FILE_MODULE, FILE_FIELDS };
enum { FILE_CONTENT = 100 };

/* Fields may come in any order, so the single ones are collected before the symbols are walked. */
static void show_file2(struct pf_feature_walk *w)
{
    static void (*const details[FILE_FIELDS])(struct pf_feature_walk *) = {
        [FILE_DEX] = show_dex_file, [FILE_ELF] = show_elf_file, [FILE_MODULE] = show_module};
    struct field field, single[FILE_FIELDS] = {{0}}, content = {0};
    for (struct pf_cursor message = *w->c; take_field(&message, &field);)
        if (field.number < FILE_FIELDS)
            single[field.number] = field;
        else if (field.number == FILE_CONTENT)
            content = field;
    emit_field_text(w, "path", &single[FILE_PATH]);
    pf_emit_unsigned(w->e, "type", PERFILE_MEANS_NUMBER, single[FILE_TYPE].value);
    pf_emit_unsigned(w->e, "min_vaddr", PERFILE_MEANS_ADDRESS, single[FILE_MIN_VADDR].value);
    if (content.number)
        pf_emit_bytes(w->e, "content", content.body.at, pf_cursor_left(&content.body));
    pf_emit_begin(w->e, "symbols", true);
    while (!w->e->stopped && take_field(w->c, &field))
        if (field.number == FILE_SYMBOL)
            pf_feature_show_within(w, field.body, show_symbol);
    pf_emit_end(w->e, true);
    for (unsigned i = FILE_DEX; i < FILE_FIELDS; i++)
        if (single[i].number)
            pf_feature_show_within(w, single[i].body, details[i]);
}

void pf_feature_simpleperf_file2(struct pf_feature_walk *w, const char *name)
{
    show_files(w, name, show_file2);
}
