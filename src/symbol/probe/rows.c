/* SPDX-License-Identifier: MIT */
/* The line tables of units, sorted by address. Sequences of one address begin with the end of the one before. */
#include "base/sort.h"
#include "symbol/dwarf/names.h"
#include "symbol/probe/probe_parts.h"

static void take_row(void *context, const struct pf_line_state *row)
{
    struct pf_probe_lines *lines = context;
    const struct pf_probe_row taken = {row->address,       (uint32_t)pf_min(row->file, UINT32_MAX),
                                       (int)row->line,     row->is_statement && !row->ends_sequence,
                                       row->ends_prologue, row->ends_sequence};
    (void)PF_APPEND(lines->target->allocator, lines->rows, lines->count, lines->capacity, taken);
}

/* Ends are before other rows of their address. The highest bit of an address makes no difference. */
static uint64_t order_of(const void *row)
{
    const struct pf_probe_row *r = row;
    return r->address << 1 | !r->ends_sequence;
}

static void sort_rows(struct pf_probe_lines *lines)
{
    const struct perfile_allocator *allocator = lines->target->allocator;
    const size_t bytes = lines->capacity * sizeof(*lines->rows);
    struct pf_probe_row *rows = lines->rows, *other = lines->count ? pf_resize(allocator, NULL, 0, bytes) : NULL;
    if (!other) {
        lines->count = 0;
        return;
    }
    lines->rows = pf_sort(rows, other, lines->count, sizeof(*rows), order_of);
    lines->rows[lines->count - 1].is_statement = false; /* nothing is after it */
    pf_free(allocator, lines->rows == other ? rows : other, bytes);
}

static struct pf_probe_lines *read_lines(struct pf_probe_target *target, const struct pf_unit *unit,
                                         const struct pf_die *top, uint64_t offset)
{
    struct pf_attribute directory;
    struct pf_probe_lines *lines = pf_arena_new(&target->arena, sizeof(*lines));
    if (!lines || !PF_PROBE_APPEND(target, target->tables, target->table_count, target->table_capacity, lines))
        return NULL;
    const struct pf_line_sections from = pf_debug_line_sections(unit->debug);
    lines->target = target;
    lines->files = (struct pf_line_files){.builder = &target->reader, .take = take_row, .context = lines};
    if (pf_die_attribute(top, DW_AT_comp_dir, &directory))
        lines->files.compilation_directory = pf_attribute_text(&directory);
    pf_line_table_read(&target->reader, &from, offset, 0, true, &lines->files);
    sort_rows(lines);
    lines->path_count = lines->files.file_count + (lines->files.version < 5);
    lines->paths = pf_arena_new(&target->arena, lines->path_count * sizeof(*lines->paths) + 1);
    return lines->paths ? lines : NULL;
}

/* Those of a split unit are in the main file. Units may share a table. */
struct pf_probe_lines *pf_probe_lines_of(struct pf_probe_target *target, const struct pf_unit *unit)
{
    struct pf_attribute attribute;
    struct pf_die top;
    uint64_t offset, number;
    unit = unit->skeleton ? unit->skeleton : unit;
    if (!pf_unit_top((struct pf_unit *)unit, &top) || !pf_die_attribute(&top, DW_AT_stmt_list, &attribute) ||
        !pf_attribute_number(&attribute, &offset) || offset >= unit->debug->sections[PF_DEBUG_LINE].bytes)
        return NULL;
    const uint64_t key = (uintptr_t)(unit->debug->sections[PF_DEBUG_LINE].data + offset);
    if (pf_map_get(&target->table_numbers, key, &number))
        return target->tables[number];
    struct pf_probe_lines *lines = read_lines(target, unit, &top, offset);
    return lines && pf_map_put(&target->table_numbers, key, target->table_count - 1) ? lines : NULL;
}

void pf_probe_close_lines(struct pf_probe_target *target)
{
    for (size_t i = 0; i < target->table_count; i++) {
        struct pf_probe_lines *lines = target->tables[i];
        pf_line_files_close(&lines->files);
        pf_free(target->allocator, lines->rows, lines->capacity * sizeof(*lines->rows));
    }
    pf_map_close(&target->table_numbers);
}

const char *pf_probe_file(struct pf_probe_lines *lines, uint64_t number)
{
    char path[PF_LINE_PATH_BYTES];
    if (number >= lines->path_count)
        return NULL;
    const char **kept = &lines->paths[number];
    if (!*kept && pf_line_file_path(&lines->files, number, path) && pf_probe_steps(lines->target, 4 * strlen(path)))
        *kept = pf_arena_text(&lines->target->arena, path, strlen(path));
    return *kept;
}

size_t pf_probe_find_row(const struct pf_probe_lines *lines, uint64_t address)
{
    return PF_COUNT_BEFORE(lines->count, i, lines->rows[i].address < address);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool line_of(struct pf_probe_target *target, const struct pf_attribute *file, const struct pf_attribute *line,
                    struct pf_probe_line *found)
{
    uint64_t file_number, line_number;
    struct pf_probe_lines *lines =
        pf_attribute_number(line, &line_number) && line_number <= INT32_MAX && pf_attribute_number(file, &file_number)
            ? pf_probe_lines_of(target, file->unit)
            : NULL;
    *found = lines ? (struct pf_probe_line){pf_probe_file(lines, file_number), (int)line_number}
                   : (struct pf_probe_line){NULL, 0};
    return found->file;
}

bool pf_probe_declared(struct pf_probe_target *target, const struct pf_die *die, struct pf_probe_line *line)
{
    struct pf_attribute file, number;
    pf_die_integrated(die, DW_AT_decl_file, &file);
    pf_die_integrated(die, DW_AT_decl_line, &number);
    return line_of(target, &file, &number, line);
}

bool pf_probe_called(struct pf_probe_target *target, const struct pf_die *die, struct pf_probe_line *line)
{
    struct pf_attribute file, number;
    pf_die_attribute(die, DW_AT_call_file, &file);
    pf_die_attribute(die, DW_AT_call_line, &number);
    return line_of(target, &file, &number, line);
}

bool pf_probe_line_at(struct pf_probe_target *target, struct pf_probe_unit *unit, uint64_t address,
                      struct pf_probe_line *line)
{
    struct pf_die function;
    uint64_t entry;
    if (pf_probe_function_at(target, unit, address, &function) && pf_probe_entry(&function, &entry) &&
        entry == address && pf_probe_declared(target, &function, line))
        return true;
    struct pf_probe_lines *lines = pf_probe_lines_of(target, unit->top.unit);
    for (size_t i = lines ? pf_probe_find_row(lines, address) : 0; lines && i < lines->count && pf_probe_step(target);
         i++) {
        const struct pf_probe_row *row = &lines->rows[i];
        if (row->address != address)
            break;
        if (row->is_statement) {
            *line = (struct pf_probe_line){pf_probe_file(lines, row->file), row->line};
            return line->file;
        }
    }
    return false;
}

bool pf_probe_is_file(const char *path, const char *wanted)
{
    const size_t all = path ? strlen(path) : 0, bytes = strlen(wanted);
    if (all < bytes || strcmp(path + all - bytes, wanted) != 0)
        return false;
    return all == bytes || path[all - bytes - 1] == '/' || wanted[0] == '/';
}
