/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/inlines_dwp.h"

#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"

/* ---- the ELF file --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint8_t id_2, id_5; /* in the index of GNU's version 2 and of DWARF 5; 0: all units share the section */
} kinds[] = {
    {".debug_info.dwo", 1, 1},     {".debug_abbrev.dwo", 3, 3},   {".debug_line.dwo", 4, 4},
    {".debug_loc.dwo", 5, 0},      {".debug_loclists.dwo", 0, 5}, {".debug_str_offsets.dwo", 6, 6},
    {".debug_rnglists.dwo", 0, 8},
};

static uint64_t field64(const struct pf_dwp *dwp, uint64_t at)
{
    return at + 8 <= dwp->bytes ? pf_load64(dwp->map + at, dwp->swap) : 0;
}

static uint32_t field32(const struct pf_dwp *dwp, uint64_t at)
{
    return at + 4 <= dwp->bytes ? pf_load32(dwp->map + at, dwp->swap) : 0;
}

static uint16_t field16(const struct pf_dwp *dwp, uint64_t at)
{
    return at + 2 <= dwp->bytes ? pf_load16(dwp->map + at, dwp->swap) : 0;
}

/* Where the header of the section of that name is; 0 means none. */
static uint64_t find_section(const struct pf_dwp *dwp, const char *name)
{
    uint64_t headers = field64(dwp, offsetof(Elf64_Ehdr, e_shoff));
    uint64_t count = field16(dwp, offsetof(Elf64_Ehdr, e_shnum));
    uint64_t names = headers + sizeof(Elf64_Shdr) * field16(dwp, offsetof(Elf64_Ehdr, e_shstrndx));
    if (headers > dwp->bytes || dwp->bytes - headers < count * sizeof(Elf64_Shdr) ||
        field16(dwp, offsetof(Elf64_Ehdr, e_shentsize)) != sizeof(Elf64_Shdr))
        return 0;
    uint64_t text = field64(dwp, names + offsetof(Elf64_Shdr, sh_offset));
    for (uint64_t i = 1; i < count; i++) {
        uint64_t at = headers + i * sizeof(Elf64_Shdr), start;
        if (pf_add(text, field32(dwp, at), &start) && start < dwp->bytes && dwp->bytes - start > strlen(name) &&
            strcmp((const char *)dwp->map + start, name) == 0)
            return at;
    }
    return 0;
}

static struct pf_section section_at(const struct pf_dwp *dwp, uint64_t header)
{
    uint64_t offset = field64(dwp, header + offsetof(Elf64_Shdr, sh_offset));
    uint64_t bytes = field64(dwp, header + offsetof(Elf64_Shdr, sh_size)), end;
    bool is_plain = header && !(field64(dwp, header + offsetof(Elf64_Shdr, sh_flags)) & SHF_COMPRESSED);
    if (!is_plain || !pf_add(offset, bytes, &end) || end > dwp->bytes)
        return (struct pf_section){NULL, 0};
    return (struct pf_section){dwp->map + offset, (size_t)bytes};
}

static bool take_index(struct pf_dwp *dwp)
{
    dwp->index = section_at(dwp, find_section(dwp, ".debug_cu_index"));
    struct pf_cursor c = pf_cursor_make(dwp->index.data, dwp->index.bytes, 0, dwp->swap);
    uint32_t version = pf_cursor_u32(&c);
    struct pf_cursor short_version = pf_cursor_make(dwp->index.data, dwp->index.bytes, 0, dwp->swap);
    dwp->is_5 = pf_cursor_u16(&short_version) == 5;
    dwp->columns = pf_cursor_u32(&c);
    dwp->units = pf_cursor_u32(&c);
    dwp->slots = pf_cursor_u32(&c);
    uint64_t table = (uint64_t)dwp->columns * dwp->units;
    pf_cursor_take_array(&c, dwp->slots, 12);
    pf_cursor_take_array(&c, dwp->columns, 4);
    pf_cursor_take_array(&c, table, 8);
    return !c.failed && dwp->slots && !(dwp->slots & (dwp->slots - 1)) && (dwp->is_5 || version == 2);
}

/* A file with an index is not taken for one of a single unit. */
static void hide_section(struct pf_dwp *dwp, const char *name)
{
    uint64_t at = find_section(dwp, name);
    if (at)
        memset(dwp->map + at + offsetof(Elf64_Shdr, sh_name), 0, sizeof(uint32_t));
}

static bool map_file(struct pf_dwp *dwp, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr))
        return false;
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return false;
    dwp->identity = pf_file_identity_of(&status);
    dwp->map = map;
    dwp->bytes = (size_t)status.st_size;
    dwp->swap = (dwp->map[EI_DATA] == ELFDATA2MSB) != PF_NATIVE_BIG_ENDIAN;
    return memcmp(map, ELFMAG, SELFMAG) == 0 && dwp->map[EI_CLASS] == ELFCLASS64;
}

bool pf_dwp_name(char name[4096], const char *path)
{
    return snprintf(name, 4096, "%s.dwp", path) < 4096;
}

void pf_dwp_open(struct pf_dwp *dwp, const char *path)
{
    char name[4096];
    *dwp = (struct pf_dwp){.map = NULL};
    if (!pf_dwp_name(name, path))
        return;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (!map_file(dwp, fd) || !take_index(dwp))
        pf_dwp_close(dwp);
    close(fd);
    hide_section(dwp, ".debug_cu_index");
    hide_section(dwp, ".debug_tu_index");
}

/* What libdw finds first decides whether the file is one of split DWARF: only that is left. */
static void hide_plain_sections(struct pf_dwp *dwp)
{
    const uint64_t headers = field64(dwp, offsetof(Elf64_Ehdr, e_shoff));
    const uint64_t count = field16(dwp, offsetof(Elf64_Ehdr, e_shnum));
    const uint64_t names = headers + sizeof(Elf64_Shdr) * field16(dwp, offsetof(Elf64_Ehdr, e_shstrndx));
    const uint64_t text = field64(dwp, names + offsetof(Elf64_Shdr, sh_offset));
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t at = headers + i * sizeof(Elf64_Shdr);
        const uint64_t start = text + field32(dwp, at);
        const size_t bytes = start < dwp->bytes ? pf_text_length(dwp->map + start, dwp->bytes - start) : 0;
        const char *name = (const char *)dwp->map + start;
        if (bytes > 7 && memcmp(name, ".debug_", 7) == 0 && memcmp(name + bytes - 4, ".dwo", 4) != 0)
            memset(dwp->map + at + offsetof(Elf64_Shdr, sh_name), 0, sizeof(uint32_t));
    }
}

static const char *text_of(Dwarf_Die *die, unsigned standard, unsigned gnu)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, standard, &attribute) || dwarf_attr(die, gnu, &attribute) ? dwarf_formstring(&attribute)
                                                                                     : NULL;
}

static bool take_object(struct pf_dwp *dwp, int fd)
{
    if (!map_file(dwp, fd) || !find_section(dwp, ".debug_info.dwo"))
        return false;
    const struct pf_section info = section_at(dwp, find_section(dwp, ".debug_info.dwo"));
    struct pf_cursor c = pf_cursor_make(info.data, info.bytes, 0, dwp->swap);
    (void)pf_cursor_u32(&c); /* its length */
    dwp->is_5 = pf_cursor_u16(&c) == 5;
    dwp->is_object = !c.failed;
    hide_plain_sections(dwp);
    return dwp->is_object;
}

void pf_dwp_open_object(struct pf_dwp *dwp, Dwarf_Die *skeleton)
{
    char path[4096];
    const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    const char *folder = text_of(skeleton, DW_AT_comp_dir, DW_AT_comp_dir);
    *dwp = (struct pf_dwp){.map = NULL};
    const bool is_below = name && name[0] != '/' && folder;
    if (!name ||
        snprintf(path, sizeof(path), "%s%s%s", is_below ? folder : "", is_below ? "/" : "", name) >= (int)sizeof(path))
        return;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (!take_object(dwp, fd))
        pf_dwp_close(dwp);
    close(fd);
}

void pf_dwp_close(struct pf_dwp *dwp)
{
    if (dwp->map)
        munmap(dwp->map, dwp->bytes);
    *dwp = (struct pf_dwp){.map = NULL};
}

/* ---- one unit ------------------------------------------------------------------------------------------------- */

/* Its row in the tables, from 1; 0 means none. */
static uint32_t find_row(const struct pf_dwp *dwp, uint64_t id)
{
    const uint8_t *ids = dwp->index.data + 16, *rows = ids + 8 * (size_t)dwp->slots;
    uint32_t mask = dwp->slots - 1, slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < dwp->slots; i++, slot = (slot + step) & mask) {
        uint32_t row = pf_load32(rows + 4 * (size_t)slot, dwp->swap);
        if (!row)
            return 0;
        if (pf_load64(ids + 8 * (size_t)slot, dwp->swap) == id)
            return row <= dwp->units ? row : 0;
    }
    return 0;
}

/* The part of a section that belongs to the unit; false when the index has no such column. */
static bool find_part(const struct pf_dwp *dwp, uint32_t row, uint32_t id, uint32_t *offset, uint32_t *bytes)
{
    const uint8_t *columns = dwp->index.data + 16 + 12 * (size_t)dwp->slots;
    const uint8_t *offsets = columns + 4 * (size_t)dwp->columns;
    const uint8_t *sizes = offsets + 4 * (size_t)dwp->columns * dwp->units;
    for (size_t i = 0; i < dwp->columns; i++) {
        if (pf_load32(columns + 4 * i, dwp->swap) != id)
            continue;
        size_t cell = 4 * ((row - 1) * (size_t)dwp->columns + i);
        *offset = pf_load32(offsets + cell, dwp->swap);
        *bytes = pf_load32(sizes + cell, dwp->swap);
        return true;
    }
    return false;
}

/* The headers as they stand in the file; they are put back when the unit is closed. */
struct saved_header {
    uint64_t at, offset, bytes;
};

static void write_header(struct pf_dwp *dwp, uint64_t at, uint64_t offset, uint64_t bytes)
{
    offset = pf_load64(&offset, dwp->swap);
    bytes = pf_load64(&bytes, dwp->swap);
    memcpy(dwp->map + at + offsetof(Elf64_Shdr, sh_offset), &offset, sizeof(offset));
    memcpy(dwp->map + at + offsetof(Elf64_Shdr, sh_size), &bytes, sizeof(bytes));
}

/* Makes the section as small as the unit's part; what it was goes to *saved. */
static void narrow_section(struct pf_dwp *dwp, uint32_t row, size_t kind, struct saved_header *saved,
                           struct pf_dwp_unit *unit)
{
    uint32_t id = dwp->is_5 ? kinds[kind].id_5 : kinds[kind].id_2, offset, bytes;
    uint64_t at = find_section(dwp, kinds[kind].name);
    struct pf_section section = section_at(dwp, at);
    *saved = (struct saved_header){0, 0, 0};
    if (!section.data || !id)
        return;
    bool has_part = find_part(dwp, row, id, &offset, &bytes);
    if (!has_part || offset > section.bytes || bytes > section.bytes - offset)
        offset = bytes = 0;
    *saved = (struct saved_header){at, (uint64_t)(section.data - dwp->map), section.bytes};
    write_header(dwp, at, saved->offset + offset, bytes);
    if (id == 1)
        unit->info = (struct pf_section){section.data + offset, bytes};
    if (id == 8)
        unit->ranges = (struct pf_section){section.data + offset, bytes};
}

static uint64_t base_of(Dwarf_Die *skeleton, unsigned standard, unsigned gnu)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(skeleton, standard, &attribute) && !dwarf_attr(skeleton, gnu, &attribute))
        return 0;
    return dwarf_formudata(&attribute, &value) == 0 ? value : 0;
}

/* All of the sections of an object file. */
static void take_sections(struct pf_dwp *dwp, struct pf_dwp_unit *unit)
{
    unit->info = section_at(dwp, find_section(dwp, ".debug_info.dwo"));
    if (dwp->is_5)
        unit->ranges = section_at(dwp, find_section(dwp, ".debug_rnglists.dwo"));
}

/* The unit of a package is the first one; that of an object file has the id, else the file belongs to another build. */
static bool find_unit(const struct pf_dwp *dwp, uint64_t id, struct pf_dwp_unit *unit)
{
    Dwarf_CU *at = NULL;
    uint64_t found;
    while (dwarf_get_units(unit->dwarf, at, &at, NULL, NULL, &unit->top, NULL) == 0)
        if (!dwp->is_object || (dwarf_cu_info(at, NULL, NULL, NULL, NULL, &found, NULL, NULL) == 0 && found == id))
            return true;
    return false;
}

bool pf_dwp_unit_open(struct pf_dwp *dwp, Dwarf_Die *skeleton, uint64_t id, Dwarf_OOM leave, struct pf_dwp_unit *unit)
{
    struct saved_header saved[sizeof(kinds) / sizeof(*kinds)] = {{0, 0, 0}};
    uint32_t row = dwp->map && !dwp->is_object ? find_row(dwp, id) : 0;
    if (!row && !dwp->is_object)
        return false;
    unit->swap = dwp->swap;
    unit->is_5 = dwp->is_5;
    unit->address_base = base_of(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base);
    unit->ranges_base = base_of(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
    if (dwarf_lowpc(skeleton, &unit->low_pc) != 0)
        unit->low_pc = 0;
    for (size_t i = 0; i < PF_COUNT(kinds) && row; i++)
        narrow_section(dwp, row, i, &saved[i], unit);
    if (dwp->is_object)
        take_sections(dwp, unit);
    unit->elf = elf_memory((char *)dwp->map, dwp->bytes);
    unit->dwarf = unit->elf ? dwarf_begin_elf(unit->elf, DWARF_C_READ, NULL) : NULL;
    if (unit->dwarf)
        dwarf_new_oom_handler(unit->dwarf, leave);
    bool fine = unit->dwarf && find_unit(dwp, id, unit);
    for (size_t i = 0; i < PF_COUNT(kinds); i++) /* libelf has read the headers by now */
        if (saved[i].at)
            write_header(dwp, saved[i].at, saved[i].offset, saved[i].bytes);
    if (!fine)
        pf_dwp_unit_close(unit);
    return fine;
}

void pf_dwp_unit_close(struct pf_dwp_unit *unit)
{
    dwarf_end(unit->dwarf);
    elf_end(unit->elf);
    unit->dwarf = NULL;
    unit->elf = NULL;
}

/* ---- addresses ------------------------------------------------------------------------------------------------ */

static struct pf_cursor cursor_at(const struct pf_section *section, uint64_t offset, bool swap)
{
    struct pf_cursor c = pf_cursor_make(section->data, section->bytes, 0, swap);
    pf_cursor_take(&c, offset);
    return c;
}

static struct pf_cursor cursor_of(const struct pf_dwp_unit *unit, const Dwarf_Attribute *attribute)
{
    return cursor_at(&unit->info, (uint64_t)(attribute->valp - unit->info.data), unit->swap);
}

/* The number `index` of the skeleton's part of .debug_addr. */
static uint64_t address_number(const struct pf_dwp_unit *unit, uint64_t index, bool *fine)
{
    uint64_t offset;
    if (!pf_multiply(index, 8, &offset) || !pf_add(offset, unit->address_base, &offset)) {
        *fine = false;
        return 0;
    }
    struct pf_cursor c = cursor_at(&unit->addresses, offset, unit->swap);
    uint64_t address = pf_cursor_u64(&c);
    *fine = *fine && !c.failed;
    return address;
}

bool pf_dwp_address(const struct pf_dwp_unit *unit, const Dwarf_Attribute *attribute, uint64_t *address)
{
    struct pf_cursor c = cursor_of(unit, attribute);
    uint64_t index;
    bool fine = true;
    switch (attribute->form) {
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
        index = pf_cursor_leb(&c, false);
        break;
    case DW_FORM_addrx1:
        index = pf_cursor_u8(&c);
        break;
    case DW_FORM_addrx2:
        index = pf_cursor_u16(&c);
        break;
    case DW_FORM_addrx4:
        index = pf_cursor_u32(&c);
        break;
    default:
        return false;
    }
    *address = address_number(unit, index, &fine);
    return fine && !c.failed;
}

/* ---- ranges --------------------------------------------------------------------------------------------------- */

typedef bool take_range(void *context, uint64_t low, uint64_t high);

/* Before DWARF 5: pairs in the main file. */
static void old_ranges(const struct pf_dwp_unit *unit, uint64_t offset, take_range *take, void *context)
{
    struct pf_cursor c = cursor_at(&unit->ranges, offset + unit->ranges_base, unit->swap);
    uint64_t base = unit->low_pc;
    for (;;) {
        uint64_t low = pf_cursor_u64(&c), high = pf_cursor_u64(&c);
        if (c.failed || (!low && !high))
            return;
        if (low == UINT64_MAX)
            base = high;
        else if (!take(context, base + low, base + high))
            return;
    }
}

/* Reads one entry of a list of DWARF 5; false at its end. An entry without a range becomes an empty one. */
static bool take_entry(const struct pf_dwp_unit *unit, struct pf_cursor *c, uint64_t *base, uint64_t *low,
                       uint64_t *high)
{
    bool fine = true;
    uint8_t kind = pf_cursor_u8(c);
    *low = *high = 0;
    switch (kind) {
    case DW_RLE_base_addressx:
        *base = address_number(unit, pf_cursor_leb(c, false), &fine);
        break;
    case DW_RLE_startx_endx:
        *low = address_number(unit, pf_cursor_leb(c, false), &fine);
        *high = address_number(unit, pf_cursor_leb(c, false), &fine);
        break;
    case DW_RLE_startx_length:
        *low = address_number(unit, pf_cursor_leb(c, false), &fine);
        *high = *low + pf_cursor_leb(c, false);
        break;
    case DW_RLE_offset_pair:
        *low = *base + pf_cursor_leb(c, false);
        *high = *base + pf_cursor_leb(c, false);
        break;
    case DW_RLE_base_address:
        *base = pf_cursor_u64(c);
        break;
    case DW_RLE_start_end:
        *low = pf_cursor_u64(c);
        *high = pf_cursor_u64(c);
        break;
    case DW_RLE_start_length:
        *low = pf_cursor_u64(c);
        *high = *low + pf_cursor_leb(c, false);
        break;
    default:
        return false;
    }
    return fine && !c->failed;
}

static void list_ranges(const struct pf_dwp_unit *unit, uint64_t offset, take_range *take, void *context)
{
    struct pf_cursor c = cursor_at(&unit->ranges, offset, unit->swap);
    uint64_t base = unit->low_pc, low, high;
    while (take_entry(unit, &c, &base, &low, &high))
        if (low < high && !take(context, low, high))
            return;
}

void pf_dwp_ranges(const struct pf_dwp_unit *unit, const Dwarf_Attribute *attribute, take_range *take, void *context)
{
    enum { LIST_HEADER = 12 }; /* of the unit's one table; the offsets of its lists follow, from there */
    struct pf_cursor c = cursor_of(unit, attribute);
    uint64_t offset, index;
    if (attribute->form == DW_FORM_rnglistx) {
        index = pf_cursor_leb(&c, false);
        if (!pf_multiply(index, 4, &offset) || !pf_add(offset, LIST_HEADER, &offset))
            return;
        struct pf_cursor table = cursor_at(&unit->ranges, offset, unit->swap);
        list_ranges(unit, (uint64_t)LIST_HEADER + pf_cursor_u32(&table), take, context);
    } else if (attribute->form == DW_FORM_sec_offset || attribute->form == DW_FORM_data4) {
        offset = pf_cursor_u32(&c);
        if (unit->is_5)
            list_ranges(unit, offset, take, context);
        else
            old_ranges(unit, offset, take, context);
    }
}
