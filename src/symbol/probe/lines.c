/* SPDX-License-Identifier: MIT */
/* The source lines that probes can be put on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "symbol/dwarf/names.h"
#include "symbol/probe/probe_parts.h"

struct listing {
    struct pf_probe_target *target;
    const struct pf_probe_range *range;
    struct pf_probe_unit *unit;
    struct pf_die scope; /* the function, whose lines alone count */
    bool is_copied;      /* it was inlined: its own code is that of its copies */
    const char *file;    /* NULL: not found yet */
    int first;           /* line that the lines are counted from */
    int64_t from, to;    /* absolute */
    uint64_t *lines;
    size_t count, capacity;
};

static bool is_listed(const struct listing *l, const struct pf_probe_line *line)
{
    return line->line >= l->from && line->line <= l->to && line->file && strcmp(line->file, l->file) == 0;
}

/* The address is in a copy of the function, and in no other function inside that. */
static bool is_in_copy(struct listing *l, uint64_t address)
{
    struct pf_die at;
    if (!pf_probe_function_at(l->target, l->unit, address, &at))
        return false;
    while (pf_probe_inlined_at(l->target, &at, address, &at))
        continue;
    return pf_probe_is_copy(&at, &l->scope);
}

/* Rows of code that was inlined from elsewhere belong to the line of the call. */
static bool is_own(struct listing *l, uint64_t address)
{
    struct pf_die inlined;
    if (!l->range->function)
        return true;
    if (l->is_copied)
        return is_in_copy(l, address);
    return pf_probe_holds(l->target, &l->scope, address) &&
           !pf_probe_inlined_at(l->target, &l->scope, address, &inlined);
}

static void add_line(struct listing *l, int line)
{
    (void)PF_PROBE_APPEND(l->target, l->lines, l->count, l->capacity, (uint64_t)line);
}

/* The line at this address, unless the address is that of another line. */
static void add_address(struct listing *l, const struct pf_probe_line *line, uint64_t address)
{
    struct pf_probe_line at;
    if (is_listed(l, line) && pf_probe_is_linked(l->target, address) && is_own(l, address) &&
        (!pf_probe_line_at(l->target, l->unit, address, &at) ||
         (at.line == line->line && !strcmp(at.file, line->file))))
        add_line(l, line->line);
}

static void add_rows(struct listing *l, struct pf_probe_lines *lines)
{
    for (size_t i = 0; i < lines->count && pf_probe_step(l->target); i++) {
        const struct pf_probe_row *row = &lines->rows[i];
        const struct pf_probe_line line = {pf_probe_file(lines, row->file), row->line};
        if (row->is_statement)
            add_address(l, &line, row->address);
    }
}

/* Where functions are defined, and where others are inlined into them: the address of a call is in what is inlined. */
static enum pf_walk add_function(void *context, const struct pf_die *die)
{
    struct listing *l = context;
    const uint32_t tag = pf_die_tag(die);
    struct pf_probe_line line, at;
    uint64_t address;
    const bool is_function = tag == DW_TAG_subprogram && !l->range->function;
    if ((!is_function && tag != DW_TAG_inlined_subroutine) || !pf_probe_entry(die, &address) ||
        !pf_probe_is_linked(l->target, address))
        return tag == DW_TAG_formal_parameter || tag == DW_TAG_variable ? PF_WALK_SKIP : PF_WALK_INTO;
    if (is_function && pf_probe_declared(l->target, die, &line))
        add_address(l, &line, address);
    if (!is_function && pf_probe_called(l->target, die, &line) && is_listed(l, &line) &&
        pf_probe_line_at(l->target, l->unit, address, &at) && at.line == line.line)
        add_line(l, line.line);
    return PF_WALK_INTO;
}

/* ---- what is listed ---------------------------------------------------------------------------------------------- */

static bool is_copied(const struct pf_die *die)
{
    uint64_t address;
    return !pf_probe_entry(die, &address);
}

/* The function itself, not a copy of it. */
static enum pf_walk look_for_function(void *context, const struct pf_die *die)
{
    struct listing *l = context;
    const uint32_t tag = pf_die_tag(die);
    struct pf_probe_line line;
    const char *name = tag == DW_TAG_subprogram ? pf_die_text(die, DW_AT_name) : NULL;
    if (!name || pf_die_has(die, DW_AT_declaration) || !pf_glob_matches(l->range->function, name, false))
        return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ? PF_WALK_INTO
                                                                                                   : PF_WALK_SKIP;
    if (!pf_probe_declared(l->target, die, &line) || (l->range->file && !pf_probe_is_file(line.file, l->range->file)))
        return PF_WALK_SKIP;
    l->file = line.file;
    l->first = line.line;
    l->scope = *die;
    l->is_copied = is_copied(die);
    return PF_WALK_END;
}

/* The first file of the table that is meant. */
static void look_for_file(struct listing *l, struct pf_probe_lines *lines)
{
    for (size_t i = 0; i < lines->path_count && !l->file; i++) {
        const char *path = pf_probe_file(lines, i);
        l->file = pf_probe_is_file(path, l->range->file) ? path : NULL;
    }
}

static int list_unit(void *context, struct pf_probe_unit *unit)
{
    struct listing *l = context;
    l->unit = unit;
    if (l->range->function && !pf_probe_walk(l->target, &unit->top, look_for_function, l))
        return 0;
    struct pf_probe_lines *lines = pf_probe_lines_of(l->target, unit->top.unit);
    if (!l->range->function && lines)
        look_for_file(l, lines);
    l->from = l->range->from + l->first;
    l->to = l->range->to == INT32_MAX ? INT32_MAX : l->range->to + l->first;
    if (!lines || !l->file)
        return l->file != NULL;
    add_rows(l, lines);
    const struct pf_probe_line first = {l->file, l->first};
    if (l->range->function && is_listed(l, &first))
        add_line(l, l->first);
    pf_probe_walk(l->target, l->range->function ? &l->scope : &unit->top, add_function, l);
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
    if (pf_memory_was_short(target->allocator))
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
