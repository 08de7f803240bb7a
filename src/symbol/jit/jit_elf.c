/* SPDX-License-Identifier: MIT */
#include "symbol/jit/jit_elf.h"

#include "base/elf_names.h"
#include "base/siphash.h"
#include "base/sort.h"

enum {
    TEXT_OFFSET_64 = 0x80, /* after the header and one program header, at a multiple of 16 */
    TEXT_OFFSET_32 = 0x60,
    PAGE_BYTES = 0x1000,
    FILES_LOOKED_AT = 64, /* names of source files that are compared with a new one */
    BUILD_ID_BYTES = 20,
};

/* ---- bytes ---- */

struct making {
    const struct pf_jit_elf *elf;
    struct pf_text *file;
    bool swap;
    bool is_64;
    size_t id_at; /* of the build id */
};

static void put16(struct making *m, uint16_t value)
{
    value = pf_load16(&value, m->swap);
    pf_put(m->file, &value, sizeof(value));
}

static void put32(struct making *m, uint32_t value)
{
    value = pf_load32(&value, m->swap);
    pf_put(m->file, &value, sizeof(value));
}

static void put64(struct making *m, uint64_t value)
{
    value = pf_load64(&value, m->swap);
    pf_put(m->file, &value, sizeof(value));
}

/* An address or an offset. */
static void put_word(struct making *m, uint64_t value)
{
    if (m->is_64)
        put64(m, value);
    else
        put32(m, (uint32_t)value);
}

static void put8(struct making *m, unsigned value)
{
    pf_put_char(m->file, (char)value);
}

static void put_zeros_to(struct making *m, size_t offset)
{
    while (m->file->used < offset && !m->file->failed)
        put8(m, 0);
}

static void align(struct making *m, size_t step)
{
    put_zeros_to(m, (m->file->used + step - 1) / step * step);
}

static void put_text(struct making *m, const char *text)
{
    pf_put(m->file, text, strlen(text) + 1);
}

static void put_uleb(struct making *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put8(m, (unsigned)(value & 0x7f) | 0x80);
    put8(m, (unsigned)value);
}

static void put_sleb(struct making *m, int64_t value)
{
    for (; value < -64 || value >= 64; value >>= 7)
        put8(m, (unsigned)(value & 0x7f) | 0x80);
    put8(m, (unsigned)(value & 0x7f));
}

/* A length that is known later stands here. */
static size_t begin_length(struct making *m)
{
    put32(m, 0);
    return m->file->used;
}

static void end_length(struct making *m, size_t begin)
{
    uint32_t bytes = (uint32_t)(m->file->used - begin);
    if (m->file->failed)
        return;
    bytes = pf_load32(&bytes, m->swap);
    memcpy(m->file->data + begin - sizeof(bytes), &bytes, sizeof(bytes));
}

/* ---- what machines have ---- */

static bool is_64(uint32_t machine)
{
    static const uint32_t narrow[] = {EM_386, EM_ARM, EM_PPC, EM_MIPS, EM_SPARC, EM_SH, EM_68K, EM_CSKY, EM_XTENSA};
    for (size_t i = 0; i < PF_COUNT(narrow); i++)
        if (narrow[i] == machine)
            return false;
    return true;
}

uint64_t pf_jit_elf_text_offset(uint32_t machine)
{
    return is_64(machine) ? TEXT_OFFSET_64 : TEXT_OFFSET_32;
}

static uint64_t text_end(const struct making *m)
{
    return pf_jit_elf_text_offset(m->elf->machine) + m->elf->code_bytes;
}

/* ---- DWARF 2: lines, and just enough of a unit that readers find them by an address ---- */

static uint64_t address_of(const void *line)
{
    return ((const struct pf_jitdump_line *)line)->address;
}

/* Memory for the lines, and for sorting them. */
static size_t line_bytes(const struct pf_jit_elf *elf)
{
    return (elf->line_count + 1) * 2 * sizeof(struct pf_jitdump_line);
}

/* Sorted by address, and then as they stand, those of the code alone; in `lines`, which has line_bytes(). */
static struct pf_jitdump_line *sort_lines(const struct pf_jit_elf *elf, struct pf_jitdump_line *lines, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < elf->line_count; i++)
        if (elf->lines[i].address - elf->address < elf->code_bytes)
            lines[(*count)++] = elf->lines[i];
    return pf_sort(lines, lines + *count, *count, sizeof(*lines), address_of);
}

/* The number of a file in the table, which begins with 1; *is_new: it is not there yet. */
static size_t number_of(const char *const *files, size_t count, const char *name, bool *is_new)
{
    const size_t min = count > FILES_LOOKED_AT ? count - FILES_LOOKED_AT : 0;
    for (size_t i = count; i-- > min;)
        if (files[i] == name || strcmp(files[i], name) == 0) {
            *is_new = false;
            return i + 1;
        }
    *is_new = true;
    return count + 1;
}

static void put_file_table(struct making *m, const char *const *files, size_t count)
{
    put8(m, 0); /* no directories */
    for (size_t i = 0; i < count; i++) {
        put_text(m, files[i]);
        put8(m, 0); /* directory, time, length */
        put8(m, 0);
        put8(m, 0);
    }
    put8(m, 0);
}

static void put_rows(struct making *m, const struct pf_jitdump_line *lines, const size_t *numbers, size_t count)
{
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, END_SEQUENCE = 1, SET_ADDRESS = 2 };
    const uint64_t base = pf_jit_elf_text_offset(m->elf->machine);
    uint64_t at = m->elf->address;
    uint32_t line = 1;
    put8(m, 0);
    put_uleb(m, m->is_64 ? 9 : 5);
    put8(m, SET_ADDRESS);
    put_word(m, base);
    for (size_t i = 0; i < count; i++) {
        put8(m, ADVANCE_PC);
        put_uleb(m, lines[i].address - at);
        put8(m, SET_FILE);
        put_uleb(m, numbers[i]);
        put8(m, ADVANCE_LINE);
        put_sleb(m, (int64_t)lines[i].line - line);
        put8(m, COPY);
        at = lines[i].address;
        line = lines[i].line;
    }
    put8(m, ADVANCE_PC);
    put_uleb(m, m->elf->address + m->elf->code_bytes - at);
    put8(m, 0);
    put_uleb(m, 1);
    put8(m, END_SEQUENCE);
}

/* False: out of memory. */
static bool put_line_table(struct making *m, const struct pf_jitdump_line *lines, size_t count)
{
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1};
    const struct perfile_allocator *allocator = m->file->allocator;
    const char **files = pf_resize(allocator, NULL, 0, (count + 1) * sizeof(*files));
    size_t *numbers = pf_resize(allocator, NULL, 0, (count + 1) * sizeof(*numbers)), file_count = 0;
    for (size_t i = 0; files && numbers && i < count; i++) {
        bool is_new;
        numbers[i] = number_of(files, file_count, lines[i].file, &is_new);
        if (is_new)
            files[file_count++] = lines[i].file;
    }
    if (files && numbers) {
        const size_t unit = begin_length(m);
        put16(m, 2);
        const size_t header = begin_length(m);
        put8(m, 1); /* the shortest instruction */
        put8(m, 1); /* rows are statements */
        put8(m, 1); /* the special opcodes, which are not used: base, range, first */
        put8(m, 1);
        put8(m, sizeof(operands) + 1);
        pf_put(m->file, operands, sizeof(operands));
        put_file_table(m, files, file_count);
        end_length(m, header);
        put_rows(m, lines, numbers, count);
        end_length(m, unit);
    }
    const bool done = files && numbers;
    pf_free(allocator, files, (count + 1) * sizeof(*files));
    pf_free(allocator, numbers, (count + 1) * sizeof(*numbers));
    return done;
}

static void put_abbreviations(struct making *m)
{
    static const uint8_t table[] = {
        1,    0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x06, 0x11, 0x01,
        0x12, 0x01, 0, 0,                                           /* unit: name, directory, lines, from, to */
        2,    0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x01, 0,    0, /* function: name, from, to */
        0,
    };
    pf_put(m->file, table, sizeof(table));
}

static void put_unit(struct making *m, const char *source)
{
    const size_t unit = begin_length(m);
    put16(m, 2);
    put32(m, 0); /* abbreviations */
    put8(m, m->is_64 ? 8 : 4);
    put_uleb(m, 1);
    put_text(m, source);
    put_text(m, "."); /* names of sources are as they are */
    put32(m, 0);      /* lines */
    put_word(m, pf_jit_elf_text_offset(m->elf->machine));
    put_word(m, text_end(m));
    put_uleb(m, 2);
    put_text(m, m->elf->name);
    put_word(m, pf_jit_elf_text_offset(m->elf->machine));
    put_word(m, text_end(m));
    put8(m, 0);
    end_length(m, unit);
}

/* Programs that read through elfutils find units by nothing else. */
static void put_ranges(struct making *m)
{
    const size_t start = m->file->used, range = begin_length(m);
    const size_t word_bytes = m->is_64 ? 8 : 4;
    put16(m, 2);
    put32(m, 0); /* the unit */
    put8(m, (unsigned)word_bytes);
    put8(m, 0);
    while ((m->file->used - start) % (2 * word_bytes) && !m->file->failed)
        put8(m, 0);
    put_word(m, pf_jit_elf_text_offset(m->elf->machine));
    put_word(m, m->elf->code_bytes);
    put_word(m, 0);
    put_word(m, 0);
    end_length(m, range);
}

/* ---- sections ---- */

struct section {
    const char *name;
    uint32_t type;
    uint32_t flags;
    uint32_t align;
    uint32_t entry_bytes;
    size_t at, bytes;
};

enum { SECTIONS_MAX = 12 };

struct sections {
    struct making making;
    struct section list[SECTIONS_MAX];
    size_t count;
};

/* It begins here; the one before it ends. */
static void begin_section(struct sections *s, const struct section *like)
{
    struct section *section = &s->list[s->count++];
    *section = *like;
    align(&s->making, section->align);
    section->at = s->making.file->used;
}

static void end_section(struct sections *s)
{
    struct section *section = &s->list[s->count - 1];
    section->bytes = s->making.file->used - section->at;
}

static void put_symbols(struct making *m)
{
    const uint64_t value = pf_jit_elf_text_offset(m->elf->machine);
    const uint8_t info = STB_GLOBAL << 4 | STT_FUNC;
    enum { NAME_AT = 1, TEXT_SECTION = 1 };
    put_zeros_to(m, m->file->used + (m->is_64 ? ELF64_SYM_BYTES : ELF32_SYM_BYTES));
    put32(m, NAME_AT);
    if (!m->is_64) {
        put32(m, (uint32_t)value);
        put32(m, (uint32_t)m->elf->code_bytes);
    }
    put8(m, info);
    put8(m, 0);
    put16(m, TEXT_SECTION);
    if (m->is_64) {
        put64(m, value);
        put64(m, m->elf->code_bytes);
    }
}

static void put_note(struct making *m)
{
    put32(m, sizeof("GNU"));
    put32(m, BUILD_ID_BYTES);
    put32(m, NT_GNU_BUILD_ID);
    put_text(m, "GNU");
    m->id_at = m->file->used;
    put_zeros_to(m, m->id_at + BUILD_ID_BYTES);
}

static void put_unwinding(struct sections *s)
{
    const struct pf_jit_elf *elf = s->making.elf;
    const size_t tables = elf->unwinding_bytes - elf->unwinding_header_bytes;
    begin_section(s, &(struct section){".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8, 0, 0, 0});
    pf_put(s->making.file, elf->unwinding, tables);
    end_section(s);
    begin_section(s, &(struct section){".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 1, 0, 0, 0});
    pf_put(s->making.file, elf->unwinding + tables, elf->unwinding_header_bytes);
    end_section(s);
}

static bool put_debug_info(struct sections *s)
{
    struct making *m = &s->making;
    size_t count = 0;
    struct pf_jitdump_line *memory = pf_resize(m->file->allocator, NULL, 0, line_bytes(m->elf));
    const struct pf_jitdump_line *lines = memory ? sort_lines(m->elf, memory, &count) : NULL;
    bool done = lines;
    if (done && count) {
        begin_section(s, &(struct section){".debug_line", SHT_PROGBITS, 0, 1, 0, 0, 0});
        done = put_line_table(m, lines, count);
        end_section(s);
        begin_section(s, &(struct section){".debug_abbrev", SHT_PROGBITS, 0, 1, 0, 0, 0});
        put_abbreviations(m);
        end_section(s);
        begin_section(s, &(struct section){".debug_info", SHT_PROGBITS, 0, 1, 0, 0, 0});
        put_unit(m, lines[0].file);
        end_section(s);
        begin_section(s, &(struct section){".debug_aranges", SHT_PROGBITS, 0, 1, 0, 0, 0});
        put_ranges(m);
        end_section(s);
    }
    pf_free(m->file->allocator, memory, line_bytes(m->elf));
    return done;
}

static bool put_sections(struct sections *s)
{
    struct making *m = &s->making;
    s->count = 1; /* section 0 is reserved */
    put_zeros_to(m, pf_jit_elf_text_offset(m->elf->machine));
    begin_section(s, &(struct section){".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 1, 0, 0, 0});
    pf_put(m->file, m->elf->code, m->elf->code_bytes);
    end_section(s);
    if (m->elf->unwinding)
        put_unwinding(s);
    begin_section(s,
                  &(struct section){".symtab", SHT_SYMTAB, 0, 8, m->is_64 ? ELF64_SYM_BYTES : ELF32_SYM_BYTES, 0, 0});
    put_symbols(m);
    end_section(s);
    begin_section(s, &(struct section){".strtab", SHT_STRTAB, 0, 1, 0, 0, 0});
    put8(m, 0);
    put_text(m, m->elf->name);
    end_section(s);
    begin_section(s, &(struct section){".note.gnu.build-id", SHT_NOTE, 0, 4, 0, 0, 0});
    put_note(m);
    end_section(s);
    return put_debug_info(s);
}

/* ---- headers ---- */

/* Their names, and the table that ends the file; where it begins. */
static size_t put_section_headers(struct sections *s)
{
    struct making *m = &s->making;
    size_t names[SECTIONS_MAX] = {0};
    begin_section(s, &(struct section){".shstrtab", SHT_STRTAB, 0, 1, 0, 0, 0});
    put8(m, 0);
    for (size_t i = 1; i < s->count; i++) {
        names[i] = m->file->used - s->list[s->count - 1].at;
        put_text(m, s->list[i].name);
    }
    end_section(s);
    align(m, 8);
    const size_t table = m->file->used;
    for (size_t i = 0; i < s->count; i++) {
        const struct section *section = &s->list[i];
        const bool symbols = section->type == SHT_SYMTAB;
        put32(m, (uint32_t)names[i]);
        put32(m, section->type);
        put_word(m, section->flags);
        put_word(m, section->flags & SHF_ALLOC ? section->at : 0);
        put_word(m, section->at);
        put_word(m, section->bytes);
        put32(m, symbols ? (uint32_t)i + 1 : 0); /* .strtab is the next one */
        put32(m, symbols ? 1 : 0);               /* the first symbol that is global */
        put_word(m, section->align);
        put_word(m, section->entry_bytes);
    }
    return table;
}

static void put_program_header(struct making *m, uint64_t loaded_bytes)
{
    put32(m, PT_LOAD);
    if (m->is_64)
        put32(m, PF_R | PF_X);
    put_word(m, 0); /* all from the start of the file */
    put_word(m, 0);
    put_word(m, 0);
    put_word(m, loaded_bytes);
    put_word(m, loaded_bytes);
    if (!m->is_64)
        put32(m, PF_R | PF_X);
    put_word(m, PAGE_BYTES);
}

/* Writes the header to the start of the file, which was kept free. */
static void fill_in_header(struct sections *s, size_t section_table)
{
    struct making *m = &s->making;
    const uint8_t ident[EI_NIDENT] = {
        0x7f,      'E', 'L', 'F', m->is_64 ? ELFCLASS64 : ELFCLASS32, m->elf->big_endian ? ELFDATA2MSB : ELFDATA2LSB,
        EV_CURRENT};
    const struct section *loaded = &s->list[m->elf->unwinding ? 3 : 1];
    const size_t used = m->file->used;
    const uint16_t header_bytes = m->is_64 ? ELF64_EHDR_BYTES : ELF32_EHDR_BYTES;
    m->file->used = 0;
    pf_put(m->file, ident, sizeof(ident));
    put16(m, ET_DYN);
    put16(m, (uint16_t)m->elf->machine);
    put32(m, EV_CURRENT);
    put_word(m, pf_jit_elf_text_offset(m->elf->machine)); /* entry */
    put_word(m, header_bytes);
    put_word(m, section_table);
    put32(m, 0); /* flags */
    put16(m, header_bytes);
    put16(m, m->is_64 ? ELF64_PHDR_BYTES : ELF32_PHDR_BYTES);
    put16(m, 1);
    put16(m, m->is_64 ? ELF64_SHDR_BYTES : ELF32_SHDR_BYTES);
    put16(m, (uint16_t)s->count);
    put16(m, (uint16_t)(s->count - 1)); /* .shstrtab */
    put_program_header(m, loaded->at + loaded->bytes);
    m->file->used = used;
}

/* The same for the same content: hashes with keys of its own, put in a row. */
static void make_build_id(const struct pf_text *file, uint8_t build_id[BUILD_ID_BYTES])
{
    uint8_t hashes[24];
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t key[2] = {i, 0}, hash = pf_siphash(key, file->data, file->used);
        for (unsigned byte = 0; byte < 8; byte++)
            hashes[8 * i + byte] = (uint8_t)(hash >> 8 * byte);
    }
    memcpy(build_id, hashes, BUILD_ID_BYTES);
}

int pf_jit_elf_make(const struct pf_jit_elf *elf, struct pf_text *file, uint8_t build_id[20])
{
    struct sections s = {
        .making = {
            .elf = elf, .file = file, .swap = elf->big_endian != PF_NATIVE_BIG_ENDIAN, .is_64 = is_64(elf->machine)}};
    if (!put_sections(&s))
        return PERFILE_ERROR_MEMORY;
    const size_t table = put_section_headers(&s);
    if (file->failed)
        return file->failed;
    fill_in_header(&s, table);
    make_build_id(file, build_id);
    memcpy(file->data + s.making.id_at, build_id, BUILD_ID_BYTES);
    return 0;
}
