/* SPDX-License-Identifier: MIT */
/*
 * ELF files of both classes and byte orders, as they are made here, and damaged. What is read of them is what libelf reads, where
 * it is installed. `test_elf FILE...` compares the two on other files, and prints where they differ.
 */
#include "made_cfi.h"
#include "made_elf.h"

#include <zlib.h>
#include <zstd.h>

#include "symbol/elf_file.h"

#ifdef PF_HAVE_LIBELF
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>

/* ---- what libelf reads ------------------------------------------------------------------------------------------- */

struct both {
    const char *path;
    struct pf_elf elf;
    Elf *other;
    unsigned differences;
};

static void expect(struct both *b, bool is_equal, const char *what, size_t index)
{
    if (!is_equal)
        printf("%s: %s %zu\n", b->path, what, index);
    b->differences += !is_equal;
}

static bool is_same(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return a_bytes == b_bytes && (!a_bytes || memcmp(a, b, a_bytes) == 0);
}

static void compare_segments(struct both *b)
{
    size_t count = 0;
    GElf_Phdr other;
    expect(b, elf_getphdrnum(b->other, &count) == 0 && count == b->elf.segment_count, "segments", count);
    for (size_t i = 0; i < b->elf.segment_count; i++) {
        const struct pf_elf_segment *own = &b->elf.segments[i];
        expect(b,
               gelf_getphdr(b->other, (int)i, &other) && own->p_type == other.p_type && own->p_flags == other.p_flags &&
                   own->p_offset == other.p_offset && own->p_vaddr == other.p_vaddr &&
                   own->p_filesz == other.p_filesz && own->p_memsz == other.p_memsz,
               "segment", i);
    }
}

static void compare_symbols(struct both *b, size_t index, Elf_Scn *section)
{
    struct pf_elf_symbols symbols;
    Elf_Data *data = elf_getdata(section, NULL), *indices = NULL;
    GElf_Shdr header;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(b->other, s));)
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_SYMTAB_SHNDX && header.sh_link == index)
            indices = elf_getdata(s, NULL);
    if (!pf_elf_symbols_open(&symbols, &b->elf, &b->elf.sections[index])) {
        expect(b, !data || !data->d_buf, "symbols of section", index);
        return;
    }
    for (size_t i = 0; i < symbols.count; i++) {
        const struct pf_elf_symbol own = pf_elf_symbol_at(&symbols, i);
        GElf_Sym other;
        Elf32_Word section_index = 0;
        if (!gelf_getsymshndx(data, indices, (int)i, &other, &section_index))
            memset(&other, 0xff, sizeof(other));
        if (other.st_shndx != SHN_XINDEX)
            section_index = other.st_shndx < SHN_LORESERVE ? other.st_shndx : 0;
        const char *name = pf_elf_symbol_name(&symbols, &own);
        const char *other_name = elf_strptr(b->other, b->elf.sections[index].header.sh_link, other.st_name);
        expect(b,
               own.st_name == other.st_name && own.st_type == GELF_ST_TYPE(other.st_info) &&
                   own.st_bind == GELF_ST_BIND(other.st_info) &&
                   own.st_visibility == GELF_ST_VISIBILITY(other.st_other) && own.st_shndx == other.st_shndx &&
                   own.st_value == other.st_value && own.st_size == other.st_size &&
                   (own.section == section_index || (!own.section && section_index >= b->elf.section_count)) &&
                   (name ? other_name && strcmp(name, other_name) == 0 : !other_name),
               "symbol", i);
    }
}

static void compare_relocations(struct both *b, size_t index, Elf_Scn *section)
{
    struct pf_elf_relocations relocations;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!pf_elf_relocations_open(&relocations, &b->elf, &b->elf.sections[index])) {
        expect(b, !data || !data->d_buf, "relocations of section", index);
        return;
    }
    for (size_t i = 0; i < relocations.count; i++) {
        const struct pf_elf_relocation own = pf_elf_relocation_at(&relocations, i);
        GElf_Rela other = {0};
        GElf_Rel short_other;
        bool is_there = relocations.with_addend ? gelf_getrela(data, (int)i, &other) != NULL
                                                : gelf_getrel(data, (int)i, &short_other) != NULL;
        if (!relocations.with_addend && is_there)
            other = (GElf_Rela){short_other.r_offset, short_other.r_info, 0};
        expect(b,
               is_there && own.r_offset == other.r_offset && own.symbol == GELF_R_SYM(other.r_info) &&
                   own.type == GELF_R_TYPE(other.r_info) && own.r_addend == (uint64_t)other.r_addend,
               "relocation", i);
    }
}

/* libelf changes a section that it inflates. Versions before 0.189 cannot with zstd. */
static void compare_contents(struct both *b, size_t index, Elf_Scn *section)
{
    const struct pf_elf_section *own = &b->elf.sections[index];
    const bool is_old = strncmp(own->name, ".zdebug_", 8) == 0;
    GElf_Chdr header;
    size_t bytes;
    if (!is_old && !(own->header.sh_flags & SHF_COMPRESSED))
        return;
    const uint8_t *contents = pf_elf_contents(&b->elf, own, &bytes);
    if (!is_old && gelf_getchdr(section, &header) && header.ch_type != ELFCOMPRESS_ZLIB)
        return;
    const bool inflates = is_old ? elf_compress_gnu(section, 0, 0) >= 0 : elf_compress(section, 0, 0) >= 0;
    Elf_Data *data = inflates ? elf_rawdata(section, NULL) : NULL;
    expect(b, is_same(contents, bytes, data ? data->d_buf : NULL, data ? data->d_size : 0), "contents of section",
           index);
}

static void compare_section(struct both *b, size_t index, size_t names)
{
    const struct pf_elf_section *own = &b->elf.sections[index];
    Elf_Scn *section = elf_getscn(b->other, index);
    GElf_Shdr header;
    size_t bytes;
    if (!section || !gelf_getshdr(section, &header)) {
        expect(b, false, "section", index);
        return;
    }
    const char *name = elf_strptr(b->other, names, header.sh_name);
    expect(b,
           own->header.sh_name == header.sh_name && own->header.sh_type == header.sh_type &&
               own->header.sh_flags == header.sh_flags && own->header.sh_addr == header.sh_addr &&
               own->header.sh_offset == header.sh_offset && own->header.sh_size == header.sh_size &&
               own->header.sh_link == header.sh_link && own->header.sh_info == header.sh_info &&
               own->header.sh_addralign == header.sh_addralign && own->header.sh_entsize == header.sh_entsize,
           "header of section", index);
    expect(b, strcmp(own->name, name ? name : "") == 0, "name of section", index);
    if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL)
        return;
    const uint8_t *data = pf_elf_bytes(&b->elf, own, &bytes);
    const Elf_Data *raw = elf_rawdata(section, NULL);
    expect(b, is_same(data, bytes, raw && raw->d_buf ? raw->d_buf : NULL, raw && raw->d_buf ? raw->d_size : 0),
           "bytes of section", index);
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
        compare_symbols(b, index, section);
    if (header.sh_type == SHT_RELA || header.sh_type == SHT_REL)
        compare_relocations(b, index, section);
    compare_contents(b, index, section);
}

static void compare_build_ids(struct both *b)
{
    uint8_t id[20];
    const void *other = NULL;
    const size_t bytes = pf_elf_note_build_id(&b->elf, id);
    const ssize_t other_bytes = dwelf_elf_gnu_build_id(b->other, &other);
    expect(b,
           is_same(id, bytes, other,
                   other_bytes > 20  ? 20
                   : other_bytes > 0 ? (size_t)other_bytes
                                     : 0),
           "build id", bytes);
}

static void compare_open(struct both *b)
{
    size_t count = 0, names = 0;
    GElf_Ehdr header;
    expect(b,
           gelf_getehdr(b->other, &header) && header.e_type == b->elf.header.e_type &&
               header.e_machine == b->elf.header.e_machine && header.e_flags == b->elf.header.e_flags &&
               (header.e_ident[EI_CLASS] == ELFCLASS64) == b->elf.is_64 &&
               (header.e_ident[EI_DATA] == ELFDATA2MSB) == b->elf.is_big_endian,
           "header", 0);
    expect(b, elf_getshdrnum(b->other, &count) == 0 && count == b->elf.section_count, "sections", count);
    elf_getshdrstrndx(b->other, &names);
    compare_segments(b);
    compare_build_ids(b);
    for (size_t i = 1; i < b->elf.section_count && i < count; i++)
        compare_section(b, i, names);
}

/* How many differences there are. */
static unsigned compare(const char *path, bool mapped)
{
    struct both b = {.path = path};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    b.other = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const int code = (mapped ? pf_elf_open_mapped : pf_elf_open)(&b.elf, path, pf_allocator_or_default(NULL), NULL);
    const bool is_elf = elf_kind(b.other) == ELF_K_ELF;
    if (code == 0 && b.elf.fd >= 0)
        is_elf ? compare_open(&b) : expect(&b, false, "not ELF for libelf", 0);
    else
        expect(&b, code == 0 || !is_elf, "ELF for libelf", (size_t)-code);
    if (code == 0)
        pf_elf_close(&b.elf);
    elf_end(b.other);
    close(fd);
    return b.differences;
}

#else
static unsigned compare(const char *path, bool mapped)
{
    struct pf_elf elf;
    assert_int_equal((mapped ? pf_elf_open_mapped : pf_elf_open)(&elf, path, pf_allocator_or_default(NULL), NULL), 0);
    pf_elf_close(&elf);
    return 0;
}
#endif

/* ---- made files -------------------------------------------------------------------------------------------------- */

enum {
    TEXT = 1,
    NOTE,
    SYMTAB,
    STRTAB,
    INDICES,
    RELA,
    REL,
    ZLIB,
    ZSTD,
    OLD,
    NAMES,
    SECTIONS,
    INFLATED = 1000,
    BASE = 0x1000
};

struct kind {
    bool is_64, big, is_extended; /* numbers that do not fit into 16 bits, though they do */
};

struct extent {
    size_t offset, bytes;
};

static void fill_plain(uint8_t plain[INFLATED])
{
    for (unsigned i = 0; i < INFLATED; i++)
        plain[i] = (uint8_t)(i / 7);
}

static void put_file_header(struct blob *b, const struct kind *kind, size_t sections_at)
{
    const uint8_t ident[EI_NIDENT] = {
        0x7f, 'E', 'L', 'F', kind->is_64 ? ELFCLASS64 : ELFCLASS32, kind->big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};
    put_bytes(b, ident, sizeof(ident));
    put(b, ET_DYN, 2);
    put(b, EM_PPC64, 2);
    put(b, EV_CURRENT, 4);
    put_word(b, 0);
    put_word(b, kind->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    put_word(b, sections_at);
    put(b, 0x1234, 4);
    put(b, kind->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
    put(b, kind->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
    put(b, kind->is_extended ? PN_XNUM : 2, 2);
    put(b, kind->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
    put(b, kind->is_extended ? 0 : SECTIONS, 2);
    put(b, kind->is_extended ? SHN_XINDEX : NAMES, 2);
}

static void put_program_header(struct blob *b, uint32_t type, uint32_t flags, const struct extent *extent)
{
    put(b, type, 4);
    if (b->is_64)
        put(b, flags, 4);
    put_word(b, extent->offset);
    put_word(b, BASE + extent->offset);
    put_word(b, 0);
    put_word(b, extent->bytes);
    put_word(b, extent->bytes + 16);
    if (!b->is_64)
        put(b, flags, 4);
    put_word(b, 1);
}

static void put_symbol(struct blob *b, uint32_t name, unsigned info, unsigned section, uint64_t value)
{
    put(b, name, 4);
    if (!b->is_64) {
        put_word(b, value);
        put_word(b, 0x20);
    }
    put(b, info, 1);
    put(b, STV_HIDDEN, 1);
    put(b, section, 2);
    if (b->is_64) {
        put_word(b, value);
        put_word(b, 0x20);
    }
}

static void put_relocation(struct blob *b, uint64_t offset, uint32_t symbol, uint32_t type)
{
    put_word(b, offset);
    put_word(b, b->is_64 ? (uint64_t)symbol << 32 | type : symbol << 8 | type);
}

static void put_compressed(struct blob *b, unsigned section, const uint8_t plain[INFLATED])
{
    uint8_t packed[INFLATED];
    uLongf bytes = sizeof(packed);
    const uint64_t plain_bytes = INFLATED;
    if (section == ZSTD)
        bytes = ZSTD_compress(packed, sizeof(packed), plain, INFLATED, 1);
    else
        assert_int_equal(compress(packed, &bytes, plain, INFLATED), Z_OK);
    if (section == OLD) {
        put_bytes(b, "ZLIB\0\0\0\0", 8);
        const uint8_t big_endian[] = {0, 0, INFLATED >> 8, INFLATED & 0xff};
        put_bytes(b, big_endian, sizeof(big_endian));
    } else {
        put(b, section == ZSTD ? 2 : ELFCOMPRESS_ZLIB, 4);
        if (b->is_64)
            put(b, 0, 4);
        put_word(b, plain_bytes);
        put_word(b, 1);
    }
    put_bytes(b, packed, bytes);
}

static const char names[] =
    "\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.symtab_shndx\0.rela.dyn\0.rel.dyn\0.debug_info\0.debug_str\0"
    ".zdebug_line\0.shstrtab";
static const char symbol_names[] = "\0first\0second\0cut";

static void put_contents(struct blob *b, unsigned section)
{
    uint8_t plain[INFLATED];
    fill_plain(plain);
    switch (section) {
    case TEXT:
        put_bytes(b, plain, 64);
        break;
    case NOTE:
        put(b, 4, 4);
        put(b, 20, 4);
        put(b, NT_GNU_BUILD_ID, 4);
        put_bytes(b, "GNU", 4);
        put_bytes(b, plain + 100, 20);
        break;
    case SYMTAB:
        put_symbol(b, 0, 0, 0, 0);
        put_symbol(b, 1, STB_GLOBAL << 4 | STT_FUNC, TEXT, BASE + 0x100);
        put_symbol(b, 7, STB_WEAK << 4 | STT_OBJECT, SHN_XINDEX, BASE + 0x120);
        put_symbol(b, 14, STB_LOCAL << 4 | STT_NOTYPE, SHN_ABS, 5);
        break;
    case STRTAB:
        put_bytes(b, symbol_names, sizeof(symbol_names) - 1); /* the last name does not end */
        break;
    case INDICES:
        for (unsigned i = 0; i < 4; i++)
            put(b, i == 2 ? NOTE : 0, 4);
        break;
    case RELA:
    case REL:
        for (uint32_t i = 0; i < 3; i++) {
            put_relocation(b, BASE + 8 * i, i, 22 + i);
            if (section == RELA)
                put_word(b, (uint64_t)0 - i);
        }
        break;
    case NAMES:
        put_bytes(b, names, sizeof(names));
        break;
    default:
        put_compressed(b, section, plain);
    }
}

static void put_section_header(struct blob *b, const struct kind *kind, unsigned section, const struct extent *extent)
{
    static const uint32_t types[SECTIONS] = {SHT_NULL,     SHT_PROGBITS,     SHT_NOTE,     SHT_SYMTAB,
                                             SHT_STRTAB,   SHT_SYMTAB_SHNDX, SHT_RELA,     SHT_REL,
                                             SHT_PROGBITS, SHT_PROGBITS,     SHT_PROGBITS, SHT_STRTAB};
    const bool is_loaded = section == TEXT || section == NOTE, first = section == 0;
    uint32_t name = 0;
    for (unsigned i = 0; i < section; i++)
        name += (uint32_t)strlen(names + name) + 1;
    put(b, name, 4);
    put(b, types[section], 4);
    put_word(b, (is_loaded ? SHF_ALLOC : 0) | (section == TEXT ? SHF_EXECINSTR : 0) |
                    (section == ZLIB || section == ZSTD ? SHF_COMPRESSED : 0));
    put_word(b, is_loaded ? BASE + extent->offset : 0);
    put_word(b, extent->offset);
    put_word(b, first && kind->is_extended ? SECTIONS : extent->bytes);
    put(b, first && kind->is_extended ? NAMES : section == SYMTAB ? STRTAB : section == INDICES ? SYMTAB : 0, 4);
    put(b, first && kind->is_extended ? 2 : 0, 4);
    put_word(b, 1);
    put_word(b, 0);
}

/* `extents` are those of the sections. */
static struct blob make(const struct kind *kind, struct extent extents[SECTIONS])
{
    struct blob b;
    size_t sections_at = 0;
    memset(extents, 0, SECTIONS * sizeof(*extents));
    for (int round = 0; round < 2; round++) { /* the second one knows where everything is */
        b = (struct blob){.is_64 = kind->is_64, .big = kind->big};
        put_file_header(&b, kind, sections_at);
        put_program_header(&b, PT_LOAD, PF_R | PF_X, &extents[TEXT]);
        put_program_header(&b, PT_NOTE, PF_R, &extents[NOTE]);
        for (unsigned i = 1; i < SECTIONS; i++) {
            b.used = (b.used + 7) & ~(size_t)7;
            extents[i].offset = b.used;
            put_contents(&b, i);
            extents[i].bytes = b.used - extents[i].offset;
        }
        b.used = sections_at = (b.used + 7) & ~(size_t)7;
    }
    for (unsigned i = 0; i < SECTIONS; i++)
        put_section_header(&b, kind, i, &extents[i]);
    return b;
}

static void check_sections(const struct pf_elf *elf, const struct blob *file, const struct extent extents[SECTIONS])
{
    uint8_t plain[INFLATED], id[20];
    size_t bytes;
    fill_plain(plain);
    assert_int_equal(elf->header.e_type, ET_DYN);
    assert_int_equal(elf->header.e_machine, EM_PPC64);
    assert_int_equal(elf->header.e_flags, 0x1234);
    assert_int_equal(elf->section_count, SECTIONS);
    assert_int_equal(elf->segment_count, 2);
    assert_int_equal(elf->segments[0].p_vaddr, BASE + extents[TEXT].offset);
    assert_int_equal(elf->segments[0].p_memsz, 64 + 16);
    assert_int_equal(elf->segments[0].p_flags, PF_R | PF_X);
    assert_memory_equal(pf_elf_segment_bytes(elf, &elf->segments[0], &bytes), plain, 64);
    assert_int_equal(bytes, 64);
    for (unsigned i = 1; i < SECTIONS; i++) {
        const uint8_t *data = pf_elf_bytes(elf, &elf->sections[i], &bytes);
        assert_int_equal(bytes, extents[i].bytes);
        assert_memory_equal(data, file->data + extents[i].offset, bytes);
        if (i != ZLIB && i != ZSTD && i != OLD)
            continue;
        data = pf_elf_contents(elf, &elf->sections[i], &bytes);
        assert_int_equal(bytes, INFLATED);
        assert_memory_equal(data, plain, INFLATED);
    }
    assert_ptr_equal(pf_elf_section(elf, ".shstrtab"), &elf->sections[NAMES]);
    assert_null(pf_elf_section(elf, ".bss"));
    assert_memory_equal(pf_elf_bytes_at(elf, BASE + extents[TEXT].offset + 60, &bytes), plain + 60, 4);
    assert_int_equal(bytes, 4);
    assert_int_equal(pf_elf_note_build_id(elf, id), 20);
    assert_memory_equal(id, plain + 100, 20);
}

static void check_tables(const struct pf_elf *elf)
{
    static const char *const found[] = {"", "first", "second", NULL};
    static const unsigned sections[] = {0, TEXT, NOTE, 0};
    struct pf_elf_symbols symbols;
    struct pf_elf_relocations relocations;
    assert_true(pf_elf_symbols_open(&symbols, elf, &elf->sections[SYMTAB]));
    assert_int_equal(symbols.count, 4);
    for (unsigned i = 0; i < 4; i++) {
        const struct pf_elf_symbol symbol = pf_elf_symbol_at(&symbols, i);
        const char *name = pf_elf_symbol_name(&symbols, &symbol);
        assert_int_equal(symbol.section, sections[i]);
        assert_true(name ? found[i] && strcmp(name, found[i]) == 0 : !found[i]);
    }
    const struct pf_elf_symbol second = pf_elf_symbol_at(&symbols, 2);
    assert_int_equal(second.st_value, BASE + 0x120);
    assert_int_equal(second.st_size, 0x20);
    assert_int_equal(second.st_type, STT_OBJECT);
    assert_int_equal(second.st_bind, STB_WEAK);
    assert_int_equal(second.st_visibility, STV_HIDDEN);
    assert_false(pf_elf_symbols_open(&symbols, elf, &elf->sections[TEXT]));
    for (unsigned section = RELA; section <= REL; section++) {
        assert_true(pf_elf_relocations_open(&relocations, elf, &elf->sections[section]));
        assert_int_equal(relocations.count, 3);
        const struct pf_elf_relocation last = pf_elf_relocation_at(&relocations, 2);
        assert_int_equal(last.r_offset, BASE + 16);
        assert_int_equal(last.symbol, 2);
        assert_int_equal(last.type, 24);
        assert_int_equal(last.r_addend, section == RELA ? (uint64_t)-2 : 0);
    }
    assert_false(pf_elf_relocations_open(&relocations, elf, &elf->sections[SYMTAB]));
}

/* Both classes, both byte orders; numbers in the first section's header; in memory, read and mapped. */
static void test_made(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        const struct kind kind = {i & 1, i & 2, i & 4};
        struct extent extents[SECTIONS];
        struct blob file = make(&kind, extents);
        struct counting c;
        struct pf_elf elf;
        counting_open(&c, -1);
        for (int way = 0; way < 3; way++) {
            const char *path = made_file("made", file.data, file.used);
            const int code = way == 0   ? pf_elf_open_memory(&elf, file.data, file.used, &c.allocator, NULL)
                             : way == 1 ? pf_elf_open(&elf, path, &c.allocator, NULL)
                                        : pf_elf_open_mapped(&elf, path, &c.allocator, NULL);
            assert_int_equal(code, 0);
            assert_int_equal(elf.is_64, kind.is_64);
            assert_int_equal(elf.is_big_endian, kind.big);
            check_sections(&elf, &file, extents);
            check_tables(&elf);
            assert_int_equal(pf_elf_check(&elf, 0), 0);
            pf_elf_close(&elf);
            assert_int_equal(compare(path, way == 2), 0);
        }
        counting_close(&c);
    }
}

/* What was read stays when the descriptor is closed, what was not is absent. */
static void test_closed_descriptor(void **state)
{
    (void)state;
    struct extent extents[SECTIONS];
    struct blob file = make(&(struct kind){true, false, false}, extents);
    struct pf_elf elf;
    size_t bytes;
    assert_int_equal(pf_elf_open(&elf, made_file("made", file.data, file.used), pf_allocator_or_default(NULL), NULL),
                     0);
    const uint8_t *text = pf_elf_bytes(&elf, &elf.sections[TEXT], &bytes);
    pf_elf_close_file(&elf);
    assert_ptr_equal(pf_elf_bytes(&elf, &elf.sections[TEXT], &bytes), text);
    assert_null(pf_elf_bytes(&elf, &elf.sections[NOTE], &bytes));
    assert_int_equal(bytes, 0);
    pf_elf_close(&elf);
}

/* ---- damaged files and little memory ----------------------------------------------------------------------------- */

static volatile uint8_t read_sum; /* so that all bytes are read */

/* All that can be asked of a file. */
static void read_all(const struct pf_elf *elf)
{
    struct pf_elf_symbols symbols;
    struct pf_elf_relocations relocations;
    uint8_t id[20], sum = 0;
    size_t bytes;
    for (size_t i = 0; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        const uint8_t *data = pf_elf_bytes(elf, section, &bytes);
        for (size_t k = 0; k < bytes; k++)
            sum ^= data[k];
        data = pf_elf_contents(elf, section, &bytes);
        for (size_t k = 0; k < bytes; k++)
            sum ^= data[k];
        if (pf_elf_symbols_open(&symbols, elf, section))
            for (size_t k = 0; k < symbols.count; k++) {
                const struct pf_elf_symbol symbol = pf_elf_symbol_at(&symbols, k);
                const char *name = pf_elf_symbol_name(&symbols, &symbol);
                sum ^= (uint8_t)(symbol.st_value ^ (name ? strlen(name) : 0));
                assert_true(symbol.section == 0 || symbol.section < elf->section_count);
            }
        if (pf_elf_relocations_open(&relocations, elf, section))
            for (size_t k = 0; k < relocations.count; k++)
                sum ^= (uint8_t)pf_elf_relocation_at(&relocations, k).r_offset;
        sum ^= (uint8_t)strlen(section->name);
    }
    for (size_t i = 0; i < elf->segment_count; i++) {
        const uint8_t *data = pf_elf_segment_bytes(elf, &elf->segments[i], &bytes);
        sum ^= bytes ? data[bytes - 1] : 0;
    }
    assert_true(pf_elf_note_build_id(elf, id) <= 20);
    read_sum = sum;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Whatever the bytes are: reading ends, stays within the file, and takes memory in proportion to it. */
static void test_mutants(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (unsigned i = 0; i < 600; i++) {
        const struct kind kind = {i & 1, i & 2, i & 4};
        struct extent extents[SECTIONS];
        struct blob file = make(&kind, extents);
        struct counting c;
        struct pf_elf elf;
        const size_t headers = file.used - 200, bytes = i % 5 ? file.used : next_random(&seed) % (file.used + 1);
        for (unsigned k = next_random(&seed) % 8; k-- > 0;) {
            const size_t start = k % 2 ? headers : 0, at = start + next_random(&seed) % 200;
            file.data[at] = (uint8_t)next_random(&seed);
        }
        file.data[next_random(&seed) % file.used] = (uint8_t)next_random(&seed);
        uint8_t *image = made_block(file.data, bytes);
        counting_open(&c, -1);
        if (pf_elf_open_memory(&elf, image, bytes, &c.allocator, NULL) == 0) {
            read_all(&elf);
            pf_elf_close(&elf);
        }
        assert_true(c.max_bytes < (1 << 23));
        counting_close(&c);
        free(image);
    }
}

/* As many bytes as the file has sections of its complete size would take all memory. */
static void test_overlapping_sections(void **state)
{
    (void)state;
    enum { COUNT = 100, FILLED = 1024 };
    struct blob b = {.is_64 = true};
    struct counting c;
    struct pf_elf elf;
    put_file_header(&b, &(struct kind){true, false, false}, 64);
    patch32(&b, 56, (uint32_t)sizeof(Elf64_Shdr) << 16); /* no program headers */
    patch32(&b, 60, COUNT);                              /* the names are those of section 0 */
    for (unsigned i = 0; i < COUNT; i++) {
        put(&b, 0, 4);
        put(&b, SHT_NOTE, 4);
        put_word(&b, 0);
        put_word(&b, 0);
        put_word(&b, 0);
        put_word(&b, 64 + COUNT * sizeof(Elf64_Shdr));
        put(&b, 0, 8);
        put_word(&b, 0);
        put_word(&b, 0);
    }
    counting_open(&c, -1);
    assert_int_equal(pf_elf_open(&elf, made_file("overlap", b.data, b.used), &c.allocator, NULL), 0);
    assert_int_equal(elf.section_count, COUNT);
    const size_t before = c.live_bytes;
    read_all(&elf);
    assert_true(c.live_bytes - before <= 4 * b.used);
    assert_true(c.live_bytes > before);
    pf_elf_close(&elf);
    counting_close(&c);
}

static int open_all(void *context, const struct perfile_allocator *allocator)
{
    struct pf_elf elf;
    const int code = pf_elf_open(&elf, context, allocator, NULL);
    if (code < 0)
        return code;
    read_all(&elf);
    const int result = pf_elf_check(&elf, 0);
    pf_elf_close(&elf);
    return result;
}

static void test_memory_short(void **state)
{
    (void)state;
    struct extent extents[SECTIONS];
    struct blob file = make(&(struct kind){true, false, true}, extents);
    char path[512];
    snprintf(path, sizeof(path), "%s", made_file("made", file.data, file.used));
    assert_true(counting_exhaust(open_all, path, 100) > SECTIONS);
}

static void test_not_elf(void **state)
{
    (void)state;
    struct extent extents[SECTIONS];
    struct blob file = make(&(struct kind){true, false, false}, extents);
    struct pf_elf elf;
    const struct {
        size_t bytes, at;
        uint8_t value;
        int code;
    } cases[] = {
        {0, 0, 0x7f, PERFILE_ERROR_FORMAT},
        {3, 0, 0x7f, PERFILE_ERROR_FORMAT},
        {64, 0, 0x7e, PERFILE_ERROR_FORMAT},
        {63, 0, 0x7f, PERFILE_ERROR_DAMAGED},
        {64, EI_CLASS, 3, PERFILE_ERROR_DAMAGED},
        {64, EI_DATA, 0, PERFILE_ERROR_DAMAGED},
        {file.used - 1, 0, 0x7f, PERFILE_ERROR_DAMAGED}, /* the last section's header is cut off */
    };
    for (size_t i = 0; i < PF_COUNT(cases); i++) {
        struct blob copy = file;
        copy.data[cases[i].at] = cases[i].value;
        const char *path = made_file("bad", copy.data, cases[i].bytes);
        assert_int_equal(pf_elf_open(&elf, path, pf_allocator_or_default(NULL), NULL), cases[i].code);
        assert_int_equal(pf_elf_open_mapped(&elf, path, pf_allocator_or_default(NULL), NULL), cases[i].code);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),         cmocka_unit_test(test_closed_descriptor),
        cmocka_unit_test(test_mutants),      cmocka_unit_test(test_overlapping_sections),
        cmocka_unit_test(test_memory_short), cmocka_unit_test(test_not_elf),
    };
    unsigned differences = 0;
    for (int i = 1; i < argc; i++)
        differences += compare(argv[i], i % 2);
    if (argc > 1)
        printf("%d files, %u differences\n", argc - 1, differences);
    return argc > 1 ? differences != 0 : cmocka_run_group_tests(tests, made_directory_open, made_directory_close);
}
