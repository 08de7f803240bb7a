/* SPDX-License-Identifier: MIT */
/*
 * Symbols of PE files, the programs and libraries of Windows, which Wine maps: functions of the COFF symbol table, or
 * those that the file exports and whose extents its table of functions (.pdata) has. Addresses count from the image's
 * start.
 */
#include "symbol/table.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/files.h"
#include "symbol/table_build.h"
#include "symbol/table_elf.h"

enum { MACHINE_I386 = 0x14c, MACHINE_AMD64 = 0x8664 };
enum { DIRECTORY_EXPORTS = 0, DIRECTORY_FUNCTIONS = 3 };
enum { HEADER_BYTES = 24, SECTION_BYTES = 40, SYMBOL_BYTES = 18, FUNCTION_BYTES = 12, EXPORTS_BYTES = 40 };
enum { SECTIONS_MAX = 96, NAME_BYTES_MAX = 4096, SYMBOLS_MAX = 1 << 22 };

struct section {
    uint32_t address, bytes;     /* in memory */
    uint32_t offset, file_bytes; /* in the file */
    bool is_code;
};

struct text {
    const uint8_t *data;
    size_t bytes;
};

struct pe {
    const uint8_t *data;
    size_t bytes;
    uint16_t machine;
    struct section sections[SECTIONS_MAX];
    size_t section_count;
    uint32_t symbols_offset, symbol_count;
    size_t directories; /* offset of the data directories, and how many there are */
    uint32_t directory_count;
    const uint8_t *functions; /* .pdata, sorted by start; NULL: the file does not have it */
    size_t function_count;
};

/* ---- bytes ---- */

/* NULL when they are not all in the file. */
static const uint8_t *at(const struct pe *pe, uint64_t offset, uint64_t bytes)
{
    return bytes <= pe->bytes && offset <= pe->bytes - bytes ? pe->data + offset : NULL;
}

static uint16_t u16(const uint8_t *data)
{
    return pf_load16(data, PF_NATIVE_BIG_ENDIAN);
}

static uint32_t u32(const uint8_t *data)
{
    return pf_load32(data, PF_NATIVE_BIG_ENDIAN);
}

static const struct section *section_at(const struct pe *pe, uint64_t address)
{
    for (size_t i = 0; i < pe->section_count; i++)
        if (address - pe->sections[i].address < pe->sections[i].bytes && address >= pe->sections[i].address)
            return &pe->sections[i];
    return NULL;
}

/* What lies at an address of the image, in one section of the file; NULL: not all of it. */
static const uint8_t *in_image(const struct pe *pe, uint32_t address, uint64_t bytes)
{
    const struct section *section = section_at(pe, address);
    const uint64_t skipped = section ? address - section->address : 0;
    return section && skipped <= section->file_bytes && bytes <= section->file_bytes - skipped
               ? at(pe, section->offset + skipped, bytes)
               : NULL;
}

/* ---- headers ---- */

static bool read_sections(struct pe *pe, uint64_t offset, unsigned count)
{
    enum { IS_CODE = 0x20, MAY_EXECUTE = 0x20000000 };
    for (unsigned i = 0; i < count && i < SECTIONS_MAX; i++) {
        const uint8_t *header = at(pe, offset + (uint64_t)i * SECTION_BYTES, SECTION_BYTES);
        if (!header)
            return false;
        struct section *section = &pe->sections[pe->section_count++];
        *section = (struct section){.address = u32(header + 12),
                                    .bytes = (uint32_t)pf_max(u32(header + 8), u32(header + 16)),
                                    .offset = u32(header + 20),
                                    .file_bytes = u32(header + 16),
                                    .is_code = u32(header + 36) & (IS_CODE | MAY_EXECUTE)};
    }
    return true;
}

/* The range of a data directory; 0 bytes: the file does not have it. */
static uint32_t directory(const struct pe *pe, unsigned number, uint32_t *bytes)
{
    const uint8_t *entry = number < pe->directory_count ? at(pe, pe->directories + 8 * number, 8) : NULL;
    *bytes = entry ? u32(entry + 4) : 0;
    return entry ? u32(entry) : 0;
}

static void read_functions(struct pe *pe)
{
    uint32_t bytes;
    const uint32_t address = directory(pe, DIRECTORY_FUNCTIONS, &bytes);
    if (pe->machine != MACHINE_AMD64 || bytes < FUNCTION_BYTES)
        return;
    pe->functions = in_image(pe, address, bytes);
    pe->function_count = pe->functions ? bytes / FUNCTION_BYTES : 0;
}

/* False: it is not a PE file. */
static bool read_headers(struct pe *pe)
{
    const uint8_t *start = at(pe, 0, 64), *header = start ? at(pe, u32(start + 60), HEADER_BYTES) : NULL;
    if (!header || memcmp(start, "MZ", 2) != 0 || memcmp(header, "PE\0\0", 4) != 0)
        return false;
    const uint64_t optional = (uint64_t)u32(start + 60) + HEADER_BYTES;
    const uint16_t optional_bytes = u16(header + 20);
    const uint8_t *magic = at(pe, optional, optional_bytes);
    pe->machine = u16(header + 4);
    pe->symbols_offset = u32(header + 12);
    pe->symbol_count = u32(header + 16);
    const unsigned counted_at = magic && optional_bytes >= 2 && u16(magic) == 0x20b ? 108 : 92;
    if (magic && optional_bytes >= counted_at + 4) {
        pe->directories = (size_t)optional + counted_at + 4;
        pe->directory_count = (uint32_t)pf_min(u32(magic + counted_at), (optional_bytes - counted_at - 4) / 8u);
    }
    if (!read_sections(pe, optional + optional_bytes, u16(header + 6)))
        return false;
    read_functions(pe);
    return true;
}

/* The end of the function that starts at the address, by .pdata; 0: it does not have it. */
static uint32_t end_of_function(const struct pe *pe, uint32_t start)
{
    size_t first = 0, count = pe->function_count;
    while (count > 1) {
        const size_t half = count / 2;
        if (u32(pe->functions + (first + half) * FUNCTION_BYTES) <= start)
            first += half;
        count -= half;
    }
    const uint8_t *function = count ? pe->functions + first * FUNCTION_BYTES : NULL;
    return function && u32(function) == start && u32(function + 4) > start ? u32(function + 4) : 0;
}

/* ---- symbols ---- */

/* False when out of memory. Without a known end it is that of the next symbol; 32-bit names have an underscore more. */
static bool add(const struct pe *pe, struct pf_symbol_build *build, uint32_t address, struct text name)
{
    const uint32_t end = end_of_function(pe, address);
    uint32_t number;
    if (pe->machine == MACHINE_I386 && name.bytes > 1 && name.data[0] == '_')
        name = (struct text){name.data + 1, name.bytes - 1};
    return !name.bytes || (pf_build_text(build, name.data, name.bytes, &number) &&
                           pf_build_add(build, address, end ? end : address, number, PF_SYMBOL_GLOBAL));
}

/* Up to its NUL; nothing when that is not in the file. */
static struct text text_at(const uint8_t *start, const struct pe *pe)
{
    const size_t left = start ? (size_t)(pe->data + pe->bytes - start) : 0, length = pf_text_length(start, left);
    return length < left && length <= NAME_BYTES_MAX ? (struct text){start, length} : (struct text){NULL, 0};
}

/* Up to eight bytes, or an offset in the text after all symbols. */
static struct text name_of(const struct pe *pe, const uint8_t *symbol)
{
    const uint64_t texts = pe->symbols_offset + (uint64_t)pe->symbol_count * SYMBOL_BYTES;
    if (u32(symbol) == 0)
        return text_at(at(pe, texts + u32(symbol + 4), 1), pe);
    return (struct text){symbol, pf_text_length(symbol, 8)};
}

/* False when out of memory. */
static bool add_symbols(const struct pe *pe, struct pf_symbol_build *build)
{
    enum { FUNCTION = 0x20, EXTERNAL = 2, STATIC = 3 };
    const uint32_t count = pe->symbols_offset ? (uint32_t)pf_min(pe->symbol_count, (uint32_t)SYMBOLS_MAX) : 0;
    const uint8_t *symbol;
    for (uint32_t i = 0; i < count; i += 1u + symbol[17]) {
        symbol = at(pe, pe->symbols_offset + (uint64_t)i * SYMBOL_BYTES, SYMBOL_BYTES);
        if (!symbol)
            return true;
        const unsigned number = u16(symbol + 12) - 1u, kind = symbol[16];
        if (u16(symbol + 14) != FUNCTION || (kind != EXTERNAL && kind != STATIC) || number >= pe->section_count ||
            u32(symbol + 8) >= pe->sections[number].bytes)
            continue;
        if (!add(pe, build, pe->sections[number].address + u32(symbol + 8), name_of(pe, symbol)))
            return false;
    }
    return true;
}

/* Functions that are not exported lie between: only an extent shows where one ends. False when out of memory. */
static bool add_exports(const struct pe *pe, struct pf_symbol_build *build)
{
    uint32_t bytes;
    const uint32_t address = directory(pe, DIRECTORY_EXPORTS, &bytes);
    const uint8_t *exports = bytes >= EXPORTS_BYTES ? in_image(pe, address, EXPORTS_BYTES) : NULL;
    if (!exports || u32(exports + 20) > SYMBOLS_MAX || u32(exports + 24) > SYMBOLS_MAX)
        return true;
    const uint32_t function_count = u32(exports + 20), name_count = u32(exports + 24);
    const uint8_t *functions = in_image(pe, u32(exports + 28), 4ull * function_count);
    const uint8_t *names = in_image(pe, u32(exports + 32), 4ull * name_count);
    const uint8_t *numbers = in_image(pe, u32(exports + 36), 2ull * name_count);
    for (uint32_t i = 0; functions && names && numbers && i < name_count; i++) {
        const uint32_t number = u16(numbers + 2 * (size_t)i);
        const uint32_t start = number < function_count ? u32(functions + 4 * (size_t)number) : 0;
        if (end_of_function(pe, start) &&
            !add(pe, build, start, text_at(in_image(pe, u32(names + 4 * (size_t)i), 1), pe)))
            return false;
    }
    return true;
}

/* No function is longer than its section. */
static void end_entries(const struct pe *pe, struct pf_symbol_build *build)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = build->count; i-- > 0;) {
        struct pf_symbol_entry *entry = &build->entries[i];
        const struct section *section = section_at(pe, entry->start);
        const uint64_t end = section ? (uint64_t)section->address + section->bytes : entry->start;
        if (entry->end == entry->start)
            entry->end = pf_min(end, next);
        if (!i || build->entries[i - 1].start != entry->start)
            next = entry->start;
    }
}

static bool add_segments(const struct pe *pe, struct pf_symbol_table *table)
{
    table->segments = pf_new(table->allocator, pe->section_count * sizeof(*table->segments));
    if (!table->segments)
        return !pe->section_count;
    table->segment_count = pe->section_count;
    for (size_t i = 0; i < pe->section_count; i++) {
        const struct section *section = &pe->sections[i];
        table->segments[i] =
            (struct pf_segment){.offset = section->offset, .bytes = section->file_bytes, .address = section->address};
    }
    return true;
}

static bool make_symbols(const struct pe *pe, struct pf_symbol_build *build)
{
    if (!add_symbols(pe, build) || (!build->count && !add_exports(pe, build)) || !pf_build_sort(build))
        return false;
    end_entries(pe, build);
    pf_build_choose(build);
    return true;
}

/* ---- files ---- */

int pf_symbol_table_from_pe_image(const uint8_t *data, size_t bytes, const struct perfile_allocator *allocator,
                                  struct pf_symbol_table **out, struct perfile_error *error)
{
    struct pe pe = {.data = data, .bytes = bytes};
    struct pf_symbol_build build;
    if (!read_headers(&pe))
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "symbols", "not a PE file");
    allocator = pf_allocator_or_default(allocator);
    struct pf_symbol_table *table = pf_symbol_table_new(allocator);
    pf_build_open(&build, allocator);
    const bool done = table && add_segments(&pe, table) && make_symbols(&pe, &build) && pf_build_finish(&build, table);
    pf_build_close(&build);
    if (!done) {
        pf_symbol_table_close(table);
        return pf_fail_memory(error, "symbols");
    }
    *out = table;
    return 0;
}

/* By its first bytes: other files may be large. */
static bool is_pe(const char *path)
{
    char magic[2] = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_read = file >= 0 && pf_read_from(file, 0, magic, sizeof(magic)) == sizeof(magic);
    if (file >= 0)
        close(file);
    return is_read && memcmp(magic, "MZ", sizeof(magic)) == 0;
}

int pf_symbol_table_from_pe(const char *path, const struct perfile_allocator *allocator, struct pf_symbol_table **table,
                            struct perfile_error *error)
{
    size_t bytes;
    errno = 0;
    char *data = is_pe(path) ? pf_read_text(pf_allocator_or_default(allocator), path, &bytes) : NULL;
    if (!data)
        return errno == ENOMEM ? pf_fail_memory(error, "symbols")
                               : pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "symbols", "not a PE file");
    const int result = pf_symbol_table_from_pe_image((const uint8_t *)data, bytes, allocator, table, error);
    pf_free(pf_allocator_or_default(allocator), data, bytes + 1);
    return result;
}
