/* SPDX-License-Identifier: MIT */
/* The source lines that probes can be put on. */
#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "symbol/probe/probe_parts.h"

struct listing {
    struct pf_probe_target *target;
    const struct pf_probe_range *range;
    Dwarf_Die unit;
    struct pf_probe_rows rows; /* of the unit */
    Dwarf_Die scope;           /* the function, whose lines alone count */
    bool is_copied;            /* it was inlined: its own code is that of its copies */
    const char *file;          /* NULL: not found yet */
    int first;                 /* line that the lines are counted from */
    int64_t from, to;          /* absolute */
    uint64_t *lines;
    size_t count, capacity;
    bool failed;
};

static bool is_listed(const struct listing *l, const char *file, int line)
{
    return line >= l->from && line <= l->to && file && strcmp(file, l->file) == 0;
}

/* The address is in a copy of the function, and in no other function inside that. */
static bool is_in_copy(struct listing *l, Dwarf_Addr address)
{
    Dwarf_Die at, origin;
    Dwarf_Attribute attribute;
    if (!pf_probe_function_at(l->target, &l->unit, address, &at))
        return false;
    while (pf_probe_inlined_at(l->target, &at, address, &at))
        continue;
    return dwarf_attr(&at, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin) &&
           origin.addr == l->scope.addr;
}

/* Rows of code that was inlined from elsewhere belong to the line of the call. */
static bool is_own(struct listing *l, Dwarf_Addr address)
{
    Dwarf_Die inlined;
    if (!l->range->function)
        return true;
    if (l->is_copied)
        return is_in_copy(l, address);
    return dwarf_haspc(&l->scope, address) > 0 && !pf_probe_inlined_at(l->target, &l->scope, address, &inlined);
}

/* The line at this address, unless the address is that of another line. */
static void add_address(struct listing *l, const char *file, int line, Dwarf_Addr address)
{
    struct pf_probe_row row;
    if (is_listed(l, file, line) && is_own(l, address) &&
        (!pf_probe_line_at(l->target, &l->rows, address, &row) || (row.line == line && !strcmp(row.file, file))) &&
        !PF_PROBE_APPEND(l->target, l->lines, l->count, l->capacity, (uint64_t)line))
        l->failed = true;
}

static void add_rows(struct listing *l)
{
    struct pf_probe_row row;
    for (size_t i = 0; i < l->rows.count && pf_probe_step(l->target); i++)
        if (pf_probe_read_row(&l->rows, i, &row) && row.is_statement)
            add_address(l, row.file, row.line, row.address);
}

/* The address of a call is in what is inlined there. */
static void add_call(struct listing *l, const char *file, int line, Dwarf_Addr address)
{
    struct pf_probe_row row;
    if (is_listed(l, file, line) && pf_probe_line_at(l->target, &l->rows, address, &row) && row.line == line &&
        !PF_PROBE_APPEND(l->target, l->lines, l->count, l->capacity, (uint64_t)line))
        l->failed = true;
}

/* Where functions are defined, and where others are inlined into them. */
static enum pf_walk add_function(void *context, Dwarf_Die *die)
{
    struct listing *l = context;
    const int tag = dwarf_tag(die);
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    Dwarf_Addr address;
    size_t count;
    int number;
    if (tag == DW_TAG_subprogram && !l->range->function && pf_probe_entry(die, &address) &&
        dwarf_decl_line(die, &number) == 0)
        add_address(l, pf_probe_decl_file(die), number, address);
    if (tag == DW_TAG_inlined_subroutine && pf_probe_entry(die, &address) &&
        dwarf_attr(die, DW_AT_call_line, &attribute) && dwarf_formudata(&attribute, &line) == 0 &&
        dwarf_attr(die, DW_AT_call_file, &attribute) && dwarf_formudata(&attribute, &file) == 0 &&
        dwarf_getsrcfiles(&l->unit, &files, &count) == 0 && line <= INT32_MAX)
        add_call(l, dwarf_filesrc(files, file, NULL, NULL), (int)line, address);
    return l->failed                                                  ? PF_WALK_END
           : tag == DW_TAG_formal_parameter || tag == DW_TAG_variable ? PF_WALK_SKIP
                                                                      : PF_WALK_INTO;
}

/* ---- what is listed ---------------------------------------------------------------------------------------------- */

static bool is_copied(Dwarf_Die *die)
{
    Dwarf_Addr address;
    return !pf_probe_entry(die, &address);
}

/* The function itself, not a copy of it. */
static enum pf_walk look_for_function(void *context, Dwarf_Die *die)
{
    struct listing *l = context;
    const int tag = dwarf_tag(die);
    const char *name = tag == DW_TAG_subprogram ? dwarf_diename(die) : NULL;
    if (!name || dwarf_hasattr(die, DW_AT_declaration) || !pf_glob_matches(l->range->function, name, false) ||
        (l->range->file && !pf_probe_is_file(pf_probe_decl_file(die), l->range->file)))
        return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ? PF_WALK_INTO
                                                                                                   : PF_WALK_SKIP;
    l->file = pf_probe_decl_file(die);
    if (!l->file || dwarf_decl_line(die, &l->first) != 0)
        return PF_WALK_SKIP;
    l->scope = *die;
    l->is_copied = is_copied(die);
    return PF_WALK_END;
}

static int list_unit(void *context, Dwarf_Die *unit)
{
    struct listing *l = context;
    l->unit = *unit;
    if (l->range->function) {
        if (!pf_probe_walk(l->target, unit, look_for_function, l))
            return 0;
    } else {
        Dwarf_Files *files;
        size_t count;
        if (dwarf_getsrcfiles(unit, &files, &count) != 0)
            return 0;
        for (size_t i = 0; i < count && !l->file; i++) {
            const char *path = dwarf_filesrc(files, i, NULL, NULL);
            l->file = path && pf_probe_is_file(path, l->range->file) ? path : NULL;
        }
        if (!l->file)
            return 0;
    }
    l->from = l->range->from + l->first;
    l->to = l->range->to == INT32_MAX ? INT32_MAX : l->range->to + l->first;
    if (!pf_probe_rows_of(unit, &l->rows))
        return 1;
    add_rows(l);
    if (l->range->function && is_listed(l, l->file, l->first) &&
        !PF_PROBE_APPEND(l->target, l->lines, l->count, l->capacity, (uint64_t)l->first))
        l->failed = true;
    pf_probe_walk(l->target, l->range->function ? &l->scope : unit, add_function, l);
    return 1;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int list(struct pf_probe_target *target, struct listing *l, const char *text)
{
    if (!pf_probe_has_debug(target))
        return pf_probe_no_debug(target);
    pf_probe_units(target, list_unit, l);
    if (l->failed)
        return pf_probe_no_memory(target);
    if (!l->file)
        return pf_probe_fail(target, PERFILE_ERROR_ABSENT, "%.200s is not in %.200s", text, target->path);
    if (l->count)
        qsort(l->lines, l->count, sizeof(*l->lines), compare);
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (!kept || l->lines[kept - 1] != l->lines[i])
            l->lines[kept++] = l->lines[i];
    l->count = kept;
    return 0;
}

struct request {
    const char *text;
    int (*take)(void *context, const struct perfile_probe_listing *lines);
    void *context;
};

static int run(void *context, struct pf_probe_target *target)
{
    const struct request *request = context;
    struct pf_probe_range range;
    int result = pf_probe_parse_range(&target->arena, request->text, &range, target->error);
    struct listing l = {.target = target, .range = &range};
    if (result == 0)
        result = list(target, &l, request->text);
    if (result == 0) {
        const struct perfile_probe_listing lines = {
            .size = sizeof(lines),
            .file = l.file,
            .function = range.function,
            .first = range.function ? (uint64_t)l.first : 0,
            .from = (uint64_t)l.from,
            .to = (uint64_t)l.to,
            .lines = l.lines,
            .line_count = l.count,
        };
        result = request->take(request->context, &lines) ? PERFILE_ERROR_STOPPED : 0;
    }
    return result;
}

int perfile_probe_lines(const struct perfile_probe_options *options, const char *text,
                        int (*take)(void *context, const struct perfile_probe_listing *lines), void *context,
                        struct perfile_error *error)
{
    struct request request = {text, take, context};
    return pf_probe_with_target(options, run, &request, error);
}
