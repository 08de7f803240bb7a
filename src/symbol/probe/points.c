/* SPDX-License-Identifier: MIT */
/* The addresses that a definition means: of functions, inlined functions and lines. */
#include <inttypes.h>
#include <string.h>

#include "base/locale.h"
#include "symbol/dwarf/names.h"
#include "symbol/probe/probe_parts.h"

struct search {
    struct pf_probe_target *target;
    const struct pf_probe_definition *definition;
    const struct pf_probe_point *point;
    int (*take)(void *context, struct pf_probe_site *site);
    void *context;
    struct pf_probe_unit *unit;
    struct pf_die function; /* that was found by its name */
    const char *file;       /* where the line is */
    int line;               /* absolute */
    uint64_t *taken;        /* addresses so far */
    size_t taken_count, taken_capacity;
    size_t shared;  /* lines at addresses that belong to other lines */
    size_t skipped; /* inlined copies that are not wanted */
    int instead;    /* the line that one of them belongs to */
    uint64_t count;
    int result;
};

/* ---- what is taken ----------------------------------------------------------------------------------------------- */

static bool is_taken(struct search *s, uint64_t address)
{
    for (size_t i = 0; i < s->taken_count; i++)
        if (s->taken[i] == address)
            return true;
    if (PF_PROBE_APPEND(s->target, s->taken, s->taken_count, s->taken_capacity, address))
        return false;
    s->result = pf_probe_no_memory(s->target);
    return true;
}

static void take(struct search *s, struct pf_probe_site *site)
{
    const uint64_t limit = s->target->options->max_probes ? s->target->options->max_probes : PERFILE_PROBES_MAX;
    if (s->result || !pf_probe_is_linked(s->target, site->address) || is_taken(s, site->address))
        return;
    if (s->count++ == limit)
        s->result = pf_probe_fail(s->target, PERFILE_ERROR_LIMIT,
                                  "%.200s has more addresses than the limit of %" PRIu64 " (max_probes)",
                                  s->point->text, limit);
    else
        s->result = s->take(s->context, site);
}

/* ---- lines of the unit ------------------------------------------------------------------------------------------- */

/* The function among those at the address, from the outermost to the innermost one, that the line is in. */
static bool find_scope(struct search *s, struct pf_probe_site *site)
{
    int nearest = INT32_MAX;
    struct pf_probe_line line;
    struct pf_die at;
    if (!pf_probe_function_at(s->target, s->unit, site->address, &site->function))
        return false;
    at = site->scope = site->function;
    do {
        const char *name = pf_die_text(&at, DW_AT_name);
        if (s->point->function && name && pf_glob_matches(s->point->function, name, false)) {
            site->scope = at;
            return true;
        }
        if (pf_probe_declared(s->target, &at, &line) && pf_probe_is_file(line.file, s->file) && line.line <= s->line &&
            s->line - line.line < nearest) {
            nearest = s->line - line.line;
            site->scope = at;
        }
    } while (pf_probe_inlined_at(s->target, &at, site->address, &at));
    return true;
}

static bool is_line(const struct search *s, const struct pf_probe_line *line)
{
    return line->line == s->line && pf_probe_is_file(line->file, s->file);
}

static void take_line(struct search *s, uint64_t address)
{
    struct pf_probe_site site = {.address = address, .unit = s->unit};
    struct pf_probe_line line;
    if (!pf_probe_is_linked(s->target, address))
        return;
    if (pf_probe_line_at(s->target, s->unit, address, &line) && !is_line(s, &line)) {
        s->shared++;
        s->instead = line.line;
    } else if (find_scope(s, &site)) {
        take(s, &site);
    }
}

/* Lines that no statement has: where functions are defined, and where others are inlined. */
static enum pf_walk look_at_call(void *context, const struct pf_die *die)
{
    struct search *s = context;
    const uint32_t tag = pf_die_tag(die);
    uint64_t address;
    struct pf_probe_line line;
    const bool is_function = tag == DW_TAG_subprogram, is_call = tag == DW_TAG_inlined_subroutine;
    const bool is_defined = (is_function || is_call) && pf_probe_declared(s->target, die, &line) && is_line(s, &line);
    if ((is_defined || (is_call && pf_probe_called(s->target, die, &line) && is_line(s, &line))) &&
        pf_probe_entry(die, &address))
        take_line(s, address);
    if (s->result)
        return PF_WALK_END;
    return is_function || is_call || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ? PF_WALK_INTO
                                                                                            : PF_WALK_SKIP;
}

static void search_line(struct search *s)
{
    struct pf_probe_lines *lines = pf_probe_lines_of(s->target, s->unit->top.unit);
    if (!lines)
        return;
    for (size_t i = 0; i < lines->count && !s->result && pf_probe_step(s->target); i++) {
        const struct pf_probe_row *row = &lines->rows[i];
        if (row->line == s->line && row->is_statement && pf_probe_is_file(pf_probe_file(lines, row->file), s->file))
            take_line(s, row->address);
    }
    pf_probe_walk(s->target, &s->unit->top, look_at_call, s);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Compilers note the options that they were called with; without them code is as it is without optimization. */
static bool is_optimized(const struct pf_die *unit)
{
    const char *producer = pf_die_text(unit, DW_AT_producer);
    const char *level = producer ? strstr(producer, " -O") : NULL;
    return level && level[3] != '0';
}

static bool reads_variables(const struct pf_probe_definition *definition)
{
    for (size_t i = 0; i < definition->argument_count; i++) {
        const char *variable = definition->arguments[i].variable;
        if (pf_probe_is_variable(variable) || strcmp(variable, "$vars") == 0 || strcmp(variable, "$params") == 0)
            return true;
    }
    return false;
}

/*
 * Unoptimized functions first store their parameters where the debug info says that they are. Some compilers mark where
 * that ends; else it is where the second row begins.
 */
static uint64_t after_prologue(struct search *s, const struct pf_die *function, uint64_t entry)
{
    const struct pf_probe_lines *lines = pf_probe_lines_of(s->target, s->unit->top.unit);
    uint64_t low, end, second = entry;
    if (!lines || !pf_probe_bounds(function, &low, &end))
        return entry;
    const size_t first = pf_probe_find_row(lines, entry);
    for (size_t i = first + 1; i < lines->count && lines->rows[i].address < end && pf_probe_step(s->target); i++) {
        second = i == first + 1 ? lines->rows[i].address : second;
        if (lines->rows[i].ends_prologue)
            return lines->rows[i].address;
    }
    return second;
}

static void take_function(struct search *s, const struct pf_die *function)
{
    struct pf_probe_site site = {.unit = s->unit, .function = *function, .scope = *function};
    uint64_t low, high;
    if (!pf_probe_entry(function, &site.address))
        return;
    if (s->point->offset && pf_probe_bounds(function, &low, &high) && s->point->offset >= high - site.address) {
        s->result = pf_probe_fail(s->target, PERFILE_ERROR_ARGUMENT, "%.200s: the function has %" PRIu64 " bytes",
                                  s->point->text, high - site.address);
        return;
    }
    if (!s->point->has_offset && !s->point->is_return && s->target->options->file && reads_variables(s->definition) &&
        !is_optimized(&s->unit->top))
        site.address = after_prologue(s, function, site.address);
    site.address += s->point->offset;
    take(s, &site);
}

static void take_inlined(struct search *s, const struct pf_die *inlined)
{
    struct pf_probe_site site = {.unit = s->unit, .scope = *inlined};
    if (s->point->is_return || s->target->options->no_inlines) {
        s->skipped++;
        return;
    }
    if (!pf_probe_entry(inlined, &site.address))
        return;
    site.address += s->point->offset;
    if (pf_probe_function_at(s->target, s->unit, site.address, &site.function))
        take(s, &site);
}

/* Its copies, in this unit. */
static enum pf_walk look_at_copy(void *context, const struct pf_die *die)
{
    struct search *s = context;
    const uint32_t tag = pf_die_tag(die);
    const bool is_code = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
    if (is_code && pf_probe_is_copy(die, &s->function)) {
        if (tag == DW_TAG_subprogram)
            take_function(s, die);
        else
            take_inlined(s, die);
    }
    if (s->result)
        return PF_WALK_END;
    return is_code || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_module ? PF_WALK_INTO
                                                                                                     : PF_WALK_SKIP;
}

static bool is_inline(const struct pf_die *function)
{
    uint64_t value;
    return pf_die_number(function, DW_AT_inline, &value) &&
           (value == DW_INL_inlined || value == DW_INL_declared_inlined);
}

static bool is_meant(const struct search *s, const struct pf_die *die)
{
    const char *names[] = {pf_die_text(die, DW_AT_name), pf_die_text(die, DW_AT_linkage_name)};
    struct pf_probe_line line;
    bool is_named = false;
    for (size_t i = 0; i < PF_COUNT(names); i++)
        is_named = is_named || (names[i] && pf_glob_matches(s->point->function, names[i], false));
    return is_named && (!s->point->file ||
                        (pf_probe_declared(s->target, die, &line) && pf_probe_is_file(line.file, s->point->file)));
}

static int search_line_of_unit(void *context, struct pf_probe_unit *unit)
{
    struct search *s = context;
    s->unit = unit;
    search_line(s);
    return s->result;
}

static int search_copies_of_unit(void *context, struct pf_probe_unit *unit)
{
    struct search *s = context;
    s->unit = unit;
    pf_probe_walk(s->target, &unit->top, look_at_copy, s);
    return s->result;
}

/* In the unit of the function; link-time optimization puts its code into other ones. */
static void search_units(struct search *s, int (*visit)(void *context, struct pf_probe_unit *unit))
{
    struct pf_probe_unit *unit = s->unit;
    const uint64_t before = s->count + s->shared;
    if (!visit(s, unit) && s->count + s->shared == before)
        pf_probe_units(s->target, visit, s);
    s->unit = unit;
}

static void search_function(struct search *s, const struct pf_die *die)
{
    uint64_t entry;
    struct pf_probe_line line;
    s->function = *die;
    if (s->point->has_line && s->point->line) {
        if (!pf_probe_declared(s->target, die, &line) || s->point->line > INT32_MAX - line.line)
            return;
        s->file = line.file;
        s->line = line.line + (int)s->point->line;
        search_units(s, search_line_of_unit);
    } else if (is_inline(die) || !pf_probe_entry(die, &entry)) {
        search_units(s, search_copies_of_unit);
    } else {
        take_function(s, die);
    }
}

static enum pf_walk look_for_function(void *context, const struct pf_die *die)
{
    struct search *s = context;
    const uint32_t tag = pf_die_tag(die);
    if (tag == DW_TAG_subprogram && !pf_die_has(die, DW_AT_declaration) && !pf_die_has(die, DW_AT_abstract_origin) &&
        is_meant(s, die))
        search_function(s, die);
    if (s->result)
        return PF_WALK_END;
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type || tag == DW_TAG_class_type
               ? PF_WALK_INTO
               : PF_WALK_SKIP;
}

/* ---- all units --------------------------------------------------------------------------------------------------- */

static int search_unit(void *context, struct pf_probe_unit *unit)
{
    struct search *s = context;
    s->unit = unit;
    if (s->point->function) {
        pf_probe_walk(s->target, &unit->top, look_for_function, s);
    } else {
        s->file = s->point->file;
        s->line = (int)s->point->line;
        search_line(s);
    }
    return s->result;
}

static int search_address(struct search *s)
{
    struct pf_probe_site site = {.address = s->point->address};
    if (!pf_probe_unit_at(s->target, site.address, &site.unit, &site.function))
        return 0;
    site.scope = site.function;
    take(s, &site);
    return s->result;
}

int pf_probe_sites(struct pf_probe_target *target, const struct pf_probe_definition *definition,
                   int (*take_site)(void *context, struct pf_probe_site *site), void *context)
{
    struct search s = {
        .target = target,
        .definition = definition,
        .point = &definition->point,
        .take = take_site,
        .context = context,
    };
    if (!pf_probe_has_debug(target))
        return pf_probe_no_debug(target);
    const int result = definition->point.has_address ? search_address(&s) : pf_probe_units(target, search_unit, &s);
    if (result || s.count)
        return result;
    if (s.skipped)
        return pf_probe_fail(target, PERFILE_ERROR_UNSUPPORTED,
                             "%.200s exists only where it is inlined: such copies have no return, or were excluded",
                             definition->point.function);
    if (s.shared)
        return pf_probe_fail(target, PERFILE_ERROR_ABSENT,
                             "%.200s has no address of its own: its code belongs to line %d of %.200s",
                             definition->point.text, s.instead, s.file);
    return pf_probe_fail(target, PERFILE_ERROR_ABSENT, "%.200s is not in %.200s", definition->point.text, target->path);
}
