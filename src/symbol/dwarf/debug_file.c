/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "base/sort.h"
#include "base/work_parts.h"
#include "symbol/dwarf/names.h"

/* ---- sections --------------------------------------------------------------------------------------------------- */

/* In the order of enum pf_debug_sections; in packages the columns of the index, in GNU's version 2 and in DWARF 5. */
static const struct {
    const char *name;
    uint8_t column_2, column_5; /* 0: all units share the section */
    bool is_of_variables;       /* nothing else needs it */
} kinds[PF_DEBUG_SECTIONS] = {
    {"info", 1, 1, false},   {"types", 2, 0, true},     {"abbrev", 3, 3, false},      {"str", 0, 0, false},
    {"line", 4, 4, false},   {"line_str", 0, 0, false}, {"str_offsets", 6, 6, false}, {"addr", 0, 0, false},
    {"ranges", 0, 0, false}, {"rnglists", 0, 8, false}, {"loc", 5, 0, true},          {"loclists", 0, 5, true},
};

/* The number of the section; PF_DEBUG_SECTIONS: it is another one, or not needed. */
static unsigned kind_of(const struct pf_elf_section *section, const struct pf_debug_file *file,
                        const struct pf_debug_opening *opening)
{
    const char *name = section->name;
    if (!pf_starts_with(name, ".debug_") && !pf_starts_with(name, ".zdebug_"))
        return PF_DEBUG_SECTIONS;
    name = strchr(name, '_') + 1;
    for (unsigned i = 0; i < PF_DEBUG_SECTIONS; i++) {
        const size_t bytes = strlen(kinds[i].name);
        if (strncmp(name, kinds[i].name, bytes) == 0 && strcmp(name + bytes, file->debug.is_split ? ".dwo" : "") == 0)
            return kinds[i].is_of_variables && !opening->with_variables ? PF_DEBUG_SECTIONS : i;
    }
    return PF_DEBUG_SECTIONS;
}

static struct pf_section contents_of(const struct pf_elf *elf, const struct pf_elf_section *section)
{
    struct pf_section contents = {NULL, 0};
    contents.data = pf_elf_contents(elf, section, &contents.bytes);
    return contents;
}

/* The first section of each kind. */
struct firsts {
    const struct pf_elf *elf;
    const struct pf_elf_section *sections[PF_DEBUG_SECTIONS];
};

static void inflate_first(void *context, size_t part)
{
    const struct firsts *firsts = context;
    (void)contents_of(firsts->elf, firsts->sections[part]);
}

static int compare_bytes(const void *a, const void *b)
{
    const struct pf_elf_section *const *x = a, *const *y = b;
    return -PF_COMPARE((*x)->header.sh_size, (*y)->header.sh_size);
}

/* On several threads, the largest ones first: without that they are inflated one by one when they are taken. */
static void inflate_sections(const struct pf_debug_file *file, const struct pf_debug_opening *opening)
{
    struct firsts firsts = {.elf = &file->elf};
    size_t count = 0;
    bool is_known[PF_DEBUG_SECTIONS] = {false};
    for (size_t i = 1; i < file->elf.section_count; i++) {
        const unsigned kind = kind_of(&file->elf.sections[i], file, opening);
        if (kind < PF_DEBUG_SECTIONS && !is_known[kind]) {
            is_known[kind] = true;
            if (pf_elf_is_compressed(&file->elf.sections[i]))
                firsts.sections[count++] = &file->elf.sections[i];
        }
    }
    if (count < 2)
        return;
    qsort(firsts.sections, count, sizeof(*firsts.sections), compare_bytes);
    pf_work_parts_do(&(struct pf_work_parts){inflate_first, &firsts, count, opening->threads}, opening->allocator);
}

/* False: out of memory. */
static bool add_other(struct pf_debug_file *file, const struct pf_elf_section *section, unsigned kind,
                      const struct pf_debug_opening *opening)
{
    const struct pf_unit_section other = {contents_of(&file->elf, section), kind == PF_DEBUG_TYPES};
    const bool done = PF_APPEND(opening->allocator, file->others, file->debug.other_count, file->other_capacity, other);
    file->debug.others = file->others;
    return done;
}

/* Of files that are not split the linker has joined the sections of a kind. False: out of memory. */
static bool take_sections(struct pf_debug_file *file, const struct pf_debug_opening *opening)
{
    if (opening->threads > 1)
        inflate_sections(file, opening);
    for (size_t i = 1; i < file->elf.section_count; i++) {
        const struct pf_elf_section *section = &file->elf.sections[i];
        const unsigned kind = kind_of(section, file, opening);
        if (file->debug.is_split && strcmp(section->name, ".debug_cu_index") == 0 && !file->index.data)
            file->index = contents_of(&file->elf, section);
        if (file->debug.is_split && strcmp(section->name, ".debug_tu_index") == 0 && !file->type_index.data)
            file->type_index = contents_of(&file->elf, section);
        if (kind < PF_DEBUG_SECTIONS && !file->debug.sections[kind].data)
            file->debug.sections[kind] = contents_of(&file->elf, section);
        else if (kind <= PF_DEBUG_TYPES && file->debug.is_split && !add_other(file, section, kind, opening))
            return false;
    }
    return true;
}

int pf_debug_file_open(struct pf_debug_file *file, const char *path, bool is_split,
                       const struct pf_debug_opening *opening, struct perfile_error *error)
{
    const int result = pf_elf_open_mapped(&file->elf, path, opening->allocator, error);
    if (result < 0)
        return result;
    file->is_open = true;
    file->debug.is_split = is_split;
    file->debug.swap = file->elf.swap;
    return take_sections(file, opening) && pf_elf_check(&file->elf, 0) == 0 &&
                   (is_split || pf_debug_open(&file->debug, opening->allocator))
               ? 0
               : pf_fail_memory(error, path);
}

static void close_types(struct pf_debug_file *file)
{
    const struct perfile_allocator *allocator = file->elf.allocator;
    for (size_t i = 0; i < file->type_count; i++) {
        pf_debug_close(file->types[i]);
        pf_free(allocator, file->types[i], sizeof(*file->types[i]));
    }
    pf_free(allocator, file->types, file->type_capacity * sizeof(struct pf_debug *));
    if (file->debug.find_type)
        pf_map_close(&file->type_numbers);
}

void pf_debug_file_close(struct pf_debug_file *file)
{
    if (!file->is_open)
        return;
    close_types(file);
    pf_free(file->elf.allocator, file->others, file->other_capacity * sizeof(*file->others));
    pf_debug_close(&file->debug);
    pf_elf_close(&file->elf);
    *file = (struct pf_debug_file){0};
}

/* ---- dwz -------------------------------------------------------------------------------------------------------- */

/* The build id that the file says its alternate has; of no bytes: it has none. */
static struct pf_section alternate_id(const struct pf_debug_file *file)
{
    size_t bytes = 0;
    const struct pf_elf_section *section = pf_elf_section(&file->elf, ".gnu_debugaltlink");
    const uint8_t *link = section ? pf_elf_bytes(&file->elf, section, &bytes) : NULL;
    const size_t text = link ? pf_text_length(link, bytes) : 0;
    return text < bytes ? (struct pf_section){link + text + 1, bytes - text - 1} : (struct pf_section){NULL, 0};
}

bool pf_debug_file_use_alternate(struct pf_debug_file *file, struct pf_debug_file *alternate)
{
    uint8_t there[PF_BUILD_ID_BYTES];
    const struct pf_section wanted = alternate_id(file);
    const size_t bytes = wanted.bytes ? pf_elf_note_build_id(&alternate->elf, there) : 0;
    if (!bytes || bytes != pf_min(wanted.bytes, sizeof(there)) || memcmp(wanted.data, there, bytes) != 0)
        return false;
    file->debug.alternate = &alternate->debug;
    return true;
}

/* ---- packages --------------------------------------------------------------------------------------------------- */

struct package_index {
    struct pf_section data;
    bool is_5, swap;
    uint32_t columns, units, slots;
};

/* Of valid packages; of others each unit must not cost what all of the index has. */
enum { COLUMNS_MAX = 16, PROBES_MAX = 1024 };

static bool take_index(const struct pf_section *data, bool swap, struct package_index *index)
{
    struct pf_cursor c = pf_cursor_make(data->data, data->bytes, 0, swap);
    struct pf_cursor short_version = c;
    const uint32_t version = pf_cursor_u32(&c);
    *index = (struct package_index){.data = *data, .swap = swap};
    index->is_5 = pf_cursor_u16(&short_version) == 5;
    index->columns = pf_cursor_u32(&c);
    index->units = pf_cursor_u32(&c);
    index->slots = pf_cursor_u32(&c);
    uint64_t table = (uint64_t)index->columns * index->units;
    pf_cursor_take_array(&c, index->slots, 12);
    pf_cursor_take_array(&c, index->columns, 4);
    pf_cursor_take_array(&c, table, 8);
    return !c.failed && index->columns <= COLUMNS_MAX && index->slots && !(index->slots & (index->slots - 1)) &&
           (index->is_5 || version == 2);
}

bool pf_package_name(char name[4096], const char *path)
{
    return snprintf(name, 4096, "%s.dwp", path) < 4096;
}

/* The row of the unit in the tables, from 1; 0: it is not in the package. */
static uint32_t find_row(const struct package_index *index, uint64_t id)
{
    const uint8_t *ids = index->data.data + 16, *rows = ids + 8 * (size_t)index->slots;
    uint32_t mask = index->slots - 1, slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < index->slots && i < PROBES_MAX; i++, slot = (slot + step) & mask) {
        uint32_t row = pf_load32(rows + 4 * (size_t)slot, index->swap);
        if (!row)
            return 0;
        if (pf_load64(ids + 8 * (size_t)slot, index->swap) == id)
            return row <= index->units ? row : 0;
    }
    return 0;
}

/* The part of a section that belongs to the unit: nothing when the index does not have such a column. */
static struct pf_section part_of(const struct package_index *index, uint32_t row, uint32_t column,
                                 struct pf_section section)
{
    const uint8_t *columns = index->data.data + 16 + 12 * (size_t)index->slots;
    const uint8_t *offsets = columns + 4 * (size_t)index->columns;
    const uint8_t *sizes = offsets + 4 * (size_t)index->columns * index->units;
    for (size_t i = 0; i < index->columns; i++) {
        if (pf_load32(columns + 4 * i, index->swap) != column)
            continue;
        const size_t cell = 4 * ((row - 1) * (size_t)index->columns + i);
        const uint32_t offset = pf_load32(offsets + cell, index->swap), bytes = pf_load32(sizes + cell, index->swap);
        if (offset <= section.bytes && bytes <= section.bytes - offset)
            return (struct pf_section){section.data + offset, bytes};
        break;
    }
    return (struct pf_section){NULL, 0};
}

static struct pf_unit *unit_of(struct pf_debug *debug, uint64_t id, bool is_only)
{
    struct pf_die top;
    for (size_t i = 0; i < debug->unit_count; i++) {
        struct pf_unit *unit = &debug->units[i];
        if (pf_unit_top(unit, &top) && unit->type == DW_UT_split_compile && (is_only || unit->id == id))
            return unit;
    }
    return NULL;
}

/* The sections of one unit. False: it is not in the package, or out of memory. */
static bool open_part(const struct pf_debug_file *package, const struct pf_section *data, uint64_t id,
                      const struct perfile_allocator *allocator, struct pf_debug *part)
{
    struct package_index index;
    *part = (struct pf_debug){.swap = package->debug.swap,
                              .is_split = true,
                              .is_part = true,
                              .find_type = package->debug.find_type,
                              .types = package->debug.types};
    const uint32_t row = take_index(data, package->debug.swap, &index) ? find_row(&index, id) : 0;
    for (unsigned i = 0; row && i < PF_DEBUG_SECTIONS; i++) {
        const uint32_t column = index.is_5 ? kinds[i].column_5 : kinds[i].column_2;
        const struct pf_section section = package->debug.sections[i];
        part->sections[i] = column && section.data ? part_of(&index, row, column, section) : section;
    }
    return row && pf_debug_open(part, allocator);
}

struct pf_unit *pf_package_unit(const struct pf_debug_file *package, const struct pf_unit *skeleton,
                                struct pf_debug *part)
{
    const struct perfile_allocator *allocator = skeleton->debug->allocator;
    struct pf_unit *unit =
        open_part(package, &package->index, skeleton->id, allocator, part) ? unit_of(part, skeleton->id, true) : NULL;
    if (unit)
        pf_unit_attach(unit, skeleton);
    return unit;
}

static uint64_t bytes_of_units(const struct pf_debug *part)
{
    const struct pf_section *sections = part->sections;
    return (uint64_t)sections[PF_DEBUG_INFO].bytes + sections[PF_DEBUG_TYPES].bytes + sections[PF_DEBUG_ABBREV].bytes;
}

/* A part that has no such unit stays, so that it is not looked for again. NULL: out of memory. */
static struct pf_debug *add_type(struct pf_debug_file *package, uint64_t id)
{
    const struct perfile_allocator *allocator = package->elf.allocator;
    struct pf_debug *part = pf_new(allocator, sizeof(*part));
    if (!part || !PF_APPEND(allocator, package->types, package->type_count, package->type_capacity, part)) {
        pf_free(allocator, part, sizeof(*part));
        return NULL;
    }
    if (package->type_bytes_left)
        (void)open_part(package, &package->type_index, id, allocator, part);
    package->type_bytes_left -= pf_min(package->type_bytes_left, bytes_of_units(part));
    return pf_map_put(&package->type_numbers, id, package->type_count - 1) ? part : NULL;
}

static struct pf_unit *find_type(void *types, uint64_t id)
{
    struct pf_debug_file *package = types;
    uint64_t number;
    struct pf_debug *part =
        pf_map_get(&package->type_numbers, id, &number) ? package->types[number] : add_type(package, id);
    package->debug.failed = package->debug.failed || !part || part->failed;
    for (size_t i = 0; part && i < part->unit_count; i++)
        if (part->units[i].id == id && part->units[i].type_offset)
            return &part->units[i];
    return NULL;
}

void pf_package_open(struct pf_debug_file *package, const char *path, const struct pf_debug_opening *opening)
{
    char name[4096];
    struct package_index index;
    *package = (struct pf_debug_file){0};
    if (!pf_package_name(name, path))
        return;
    if (pf_debug_file_open(package, name, true, opening, NULL) < 0 ||
        !take_index(&package->index, package->debug.swap, &index)) {
        pf_debug_file_close(package);
        return;
    }
    if (!opening->with_variables || !package->type_index.data)
        return;
    pf_map_open(&package->type_numbers, package->elf.allocator);
    package->type_bytes_left = 8 * package->elf.file_bytes;
    package->debug.find_type = find_type;
    package->debug.types = package;
}

/* ---- files of split DWARF --------------------------------------------------------------------------------------- */

static struct pf_unit *open_split(struct pf_debug_file *split, const char *path, struct pf_unit *skeleton,
                                  const struct pf_debug_opening *opening)
{
    struct pf_unit *unit = NULL;
    if (pf_debug_file_open(split, path, true, opening, NULL) == 0 && split->debug.sections[PF_DEBUG_INFO].data &&
        !split->index.data && pf_debug_open(&split->debug, opening->allocator))
        unit = unit_of(&split->debug, skeleton->id, false);
    if (unit)
        pf_unit_attach(unit, skeleton);
    else
        pf_debug_file_close(split);
    return unit;
}

/* Joins folders and a name as far as they are not absolute; false when it is too long. */
static bool join_path(char to[PATH_MAX], const char *base, const char *folder, const char *name)
{
    const bool is_below = name[0] != '/', is_deep = is_below && folder[0] != '/';
    return snprintf(to, PATH_MAX, "%s%s%s%s%s", is_deep ? base : "", is_deep ? "/" : "", is_below ? folder : "",
                    is_below && *folder ? "/" : "", name) < PATH_MAX;
}

static const char *text_of(const struct pf_die *die, unsigned standard, unsigned gnu)
{
    struct pf_attribute a;
    return pf_die_attribute(die, standard, &a) || pf_die_attribute(die, gnu, &a) ? pf_attribute_text(&a) : NULL;
}

/* The folder of the file itself, which may be a link. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    if (!realpath(path, folder))
        snprintf(folder, PATH_MAX, "%s", path);
    char *end = strrchr(folder, '/');
    if (!end)
        snprintf(folder, PATH_MAX, ".");
    else
        *end = 0;
}

struct pf_unit *pf_split_unit(struct pf_debug_file *split, const char *path, const struct pf_die *skeleton,
                              const struct pf_debug_opening *opening)
{
    char base[PATH_MAX], full[PATH_MAX];
    struct pf_unit *unit = NULL;
    const char *name = text_of(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    const char *folder = text_of(skeleton, DW_AT_comp_dir, DW_AT_comp_dir);
    *split = (struct pf_debug_file){0};
    if (!name)
        return NULL;
    folder_of(path, base);
    if (join_path(full, base, "", name))
        unit = open_split(split, full, skeleton->unit, opening);
    if (!unit && folder && name[0] != '/' && join_path(full, base, folder, name))
        unit = open_split(split, full, skeleton->unit, opening);
    return unit;
}
