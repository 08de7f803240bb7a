/* SPDX-License-Identifier: MIT */
/*
 * DWARF in bulk: every unit is walked once, in the order of its bytes, so that the cost does not depend on how deep the
 * tree is nor on DW_AT_sibling (which LLVM does not write). The files are closed before the first look-up.
 */
#include <errno.h>

#include "base/elf_names.h"
#include "base/error.h"
#include "base/sort.h"
#include "symbol/dwarf/debug_module.h"
#include "symbol/dwarf/inlines_tables.h"
#include "symbol/dwarf/locations.h"
#include "symbol/dwarf/names.h"

static const uint32_t no_node = (uint32_t)PF_INLINES_NONE;

struct reading {
    const struct pf_inlines_request *request;
    struct pf_inlines_builder builder;
    struct pf_inlines_files made_of;
    struct pf_debug_module module;
    struct pf_line_sections sections;
    struct pf_line_files files; /* of the current unit */
    struct pf_map declarations; /* address of a DIE in memory -> line and name of its function */
    struct pf_map line_tables;  /* offset -> 1: its rows are taken */
    uint32_t unit;
    uint32_t *enclosing; /* for each depth of the tree the node around it */
    size_t depth_capacity;
};

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* What matters of a DIE; members that it does not have are all zero. */
struct attributes {
    struct pf_attribute low, high, ranges;
    struct pf_attribute linkage, name, origin, specification, declared;
    struct pf_attribute call_file, call_line, call_column, discriminator;
};

static struct pf_attribute *member_for(struct attributes *a, unsigned code)
{
    switch (code) {
    case DW_AT_low_pc:
        return &a->low;
    case DW_AT_high_pc:
        return &a->high;
    case DW_AT_ranges:
        return &a->ranges;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        return &a->linkage;
    case DW_AT_name:
        return &a->name;
    case DW_AT_abstract_origin:
        return &a->origin;
    case DW_AT_specification:
        return &a->specification;
    case DW_AT_decl_line:
        return &a->declared;
    case DW_AT_call_file:
        return &a->call_file;
    case DW_AT_call_line:
        return &a->call_line;
    case DW_AT_call_column:
        return &a->call_column;
    case DW_AT_GNU_discriminator:
        return &a->discriminator;
    default:
        return NULL;
    }
}

/* Returns what follows the DIE; NULL when it is damaged: those before the damage count. */
static const uint8_t *keep_attributes(const struct pf_die *die, struct attributes *kept)
{
    struct pf_attributes all = pf_die_attributes(die);
    struct pf_attribute attribute;
    memset(kept, 0, sizeof(*kept));
    while (pf_next_attribute(&all, &attribute)) {
        struct pf_attribute *member = member_for(kept, attribute.name);
        if (member)
            *member = attribute;
    }
    return all.failed ? NULL : all.at;
}

static uint64_t number_of(const struct pf_attribute *attribute)
{
    uint64_t value;
    return pf_attribute_number(attribute, &value) ? value : 0;
}

/* What a function is called, and the line where it is declared. */
struct declaration {
    uint32_t name; /* in the text of the tables */
    uint32_t line; /* 0 unless the tables are detailed */
};

/*
 * The linkage name may stand at this DIE or at one that it refers to; only when none has one, the plain name counts. Of
 * the lines the first one counts.
 */
static struct declaration find_declaration(struct reading *r, const struct attributes *own)
{
    enum { LONGEST_CHAIN = 16 };
    struct attributes a = *own;
    const char *plain = NULL, *linkage = NULL;
    uint64_t line = 0;
    for (unsigned i = 0; i < LONGEST_CHAIN && (!linkage || (r->builder.detailed && !line)); i++) {
        linkage = linkage ? linkage : pf_attribute_text(&a.linkage);
        plain = plain ? plain : pf_attribute_text(&a.name);
        line = line ? line : number_of(&a.declared);
        struct pf_die next;
        if (!pf_attribute_die(a.origin.name ? &a.origin : &a.specification, &next))
            break;
        keep_attributes(&next, &a);
    }
    return (struct declaration){pf_builder_text(&r->builder, linkage ? linkage : plain), (uint32_t)line};
}

/* Through the cache when all of it stands elsewhere: many bodies share one origin. */
static struct declaration declaration_of(struct reading *r, const struct attributes *a)
{
    struct pf_die origin;
    uint64_t cached;
    if (a->linkage.name || (r->builder.detailed && a->declared.name) ||
        !pf_attribute_die(a->origin.name ? &a->origin : &a->specification, &origin))
        return find_declaration(r, a);
    if (pf_map_get(&r->declarations, (uintptr_t)origin.at, &cached) && cached)
        return (struct declaration){(uint32_t)cached, (uint32_t)(cached >> 32)};
    const struct declaration found = find_declaration(r, a);
    if (!pf_map_put(&r->declarations, (uintptr_t)origin.at, (uint64_t)found.line << 32 | found.name))
        r->builder.failed = true;
    return found;
}

/* ---- functions ------------------------------------------------------------------------------------------------ */

/* The first range of a subprogram begins with its entry. */
static void claim_range(struct reading *r, uint32_t node, uint64_t low, uint64_t high)
{
    struct pf_claim claim = {low, high, (uint64_t)(UINT32_MAX - r->unit) << 32 | node, node};
    if (low >= high || !pf_builder_is_code(&r->builder, low))
        return;
    pf_builder_claim(&r->builder, &r->builder.node_claims, &claim);
    if (r->builder.detailed && !r->builder.details[node].entry)
        r->builder.details[node].entry = low;
}

static void claim_ranges(struct reading *r, uint32_t node, const struct attributes *a)
{
    struct pf_die_range range;
    if (!a->low.name || !a->high.name) {
        struct pf_die_ranges ranges = pf_attribute_ranges(&a->ranges);
        while (pf_die_next_range(&ranges, &range) && !r->builder.failed && pf_builder_step(&r->builder))
            claim_range(r, node, range.low, range.high);
    } else if (pf_attribute_address(&a->low, &range.low)) {
        if (!pf_attribute_address(&a->high, &range.high))
            range.high = range.low + number_of(&a->high); /* since DWARF 4 it may be a length */
        claim_range(r, node, range.low, range.high);
    }
}

/* The node for what is inside this DIE. */
static uint32_t take_function(struct reading *r, const struct attributes *a, bool inlined, uint32_t outer)
{
    const bool has_code = (a->low.name && a->high.name) || a->ranges.name;
    if (!has_code && (!inlined || outer == no_node))
        return no_node;
    const struct declaration declaration = declaration_of(r, a);
    struct pf_inline_node node = {.parent = inlined ? outer : no_node, .function = declaration.name};
    if (inlined) {
        node.call_file = a->call_file.name ? pf_line_files_path(&r->files, number_of(&a->call_file)) : 0;
        node.call_line = (uint32_t)number_of(&a->call_line);
        node.call_column = (uint32_t)number_of(&a->call_column);
    }
    uint32_t number = pf_builder_node(&r->builder, &node);
    if (number == no_node)
        return no_node;
    if (r->builder.detailed)
        r->builder.details[number] = (struct pf_node_detail){.declared = declaration.line,
                                                             .discriminator = (uint32_t)number_of(&a->discriminator)};
    if (has_code)
        claim_ranges(r, number, a);
    return number;
}

/* ---- the tree ------------------------------------------------------------------------------------------------- */

struct walk {
    struct reading *reading;
    struct pf_die die;
    size_t depth;
    bool is_c; /* where types hold no functions */
};

static bool may_hold_functions(const struct walk *w, uint32_t tag)
{
    switch (tag) {
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return !w->is_c;
    case DW_TAG_enumeration_type:
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        return false;
    default:
        return true;
    }
}

static bool go_down(struct walk *w, uint32_t node)
{
    struct reading *r = w->reading;
    if (!pf_grow(r->builder.allocator, &r->enclosing, &r->depth_capacity, w->depth + 2, sizeof(*r->enclosing))) {
        r->builder.failed = true;
        return false;
    }
    r->enclosing[++w->depth] = node;
    return true;
}

/* To the next DIE in the order of the bytes, `at` or after the ends of lists of children; false at the end of the unit. */
static bool go_to(struct walk *w, const uint8_t *at)
{
    struct pf_unit *unit = w->die.unit;
    for (; at < unit->end && *at == 0; at++)
        if (w->depth-- == 0)
            return false;
    return pf_die_at(unit, at, &w->die);
}

/* `after` is what follows the DIE, NULL: it is damaged, which ends the unit. */
static bool go_on(struct walk *w, const uint8_t *after, uint32_t node)
{
    if (after && pf_die_has_children(&w->die)) {
        const bool may_skip = !may_hold_functions(w, pf_die_tag(&w->die));
        const uint8_t *sibling = may_skip ? pf_die_after_children(&w->die) : NULL;
        if (sibling)
            after = sibling;
        else if (!go_down(w, node))
            return false;
    }
    return after && go_to(w, after);
}

static void walk_tree(struct walk *w)
{
    struct reading *r = w->reading;
    struct attributes attributes;
    bool more = true;
    while (more && !r->builder.failed && pf_builder_step(&r->builder)) {
        const uint32_t tag = pf_die_tag(&w->die);
        const bool is_inlined = tag == DW_TAG_inlined_subroutine;
        uint32_t node = r->enclosing[w->depth];
        const uint8_t *after;
        if (is_inlined || tag == DW_TAG_subprogram) {
            after = keep_attributes(&w->die, &attributes);
            node = take_function(r, &attributes, is_inlined, node);
        } else {
            after = pf_die_end(&w->die);
        }
        more = go_on(w, after, node);
    }
}

static bool is_c_language(uint64_t language)
{
    return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

static void read_functions(struct reading *r, struct pf_unit *unit)
{
    struct walk w = {.reading = r};
    struct pf_attribute language;
    if (!pf_unit_top(unit, &w.die) || !pf_die_has_children(&w.die))
        return;
    pf_die_attribute(&w.die, DW_AT_language, &language);
    w.is_c = is_c_language(number_of(&language));
    const uint8_t *children = pf_die_end(&w.die);
    if (!pf_grow(r->builder.allocator, &r->enclosing, &r->depth_capacity, 1, sizeof(*r->enclosing))) {
        r->builder.failed = true;
        return;
    }
    r->enclosing[0] = no_node;
    if (children && go_to(&w, children))
        walk_tree(&w);
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

static void read_lines(struct reading *r, const struct pf_die *top)
{
    struct pf_attribute attribute;
    uint64_t offset, consumed;
    if (!pf_die_attribute(top, DW_AT_stmt_list, &attribute) || !pf_attribute_number(&attribute, &offset))
        return;
    if (pf_die_attribute(top, DW_AT_comp_dir, &attribute))
        r->files.compilation_directory = pf_attribute_text(&attribute);
    bool is_new = !pf_map_get(&r->line_tables, offset, &consumed);
    pf_line_table_read(&r->builder, &r->sections, offset, r->unit, is_new, &r->files);
    if (!pf_map_put(&r->line_tables, offset, 1))
        r->builder.failed = true;
}

/* Of a skeleton the rest is in the file that it names, or in the package. */
static void read_split(struct reading *r, struct pf_unit *unit)
{
    read_functions(r, pf_debug_module_unit(&r->module, unit));
    if (!r->module.splits)
        return;
    pf_debug_module_close_splits(&r->module);
    pf_map_close(&r->declarations); /* its addresses are of memory that will be used again */
    pf_map_open(&r->declarations, r->builder.allocator);
}

/* Whether an address from low on, before high, is wanted. */
static bool is_wanted(const struct pf_inlines_request *request, uint64_t low, uint64_t high)
{
    const size_t before = PF_COUNT_BEFORE(request->wanted_count, i, request->wanted[i].high <= low);
    return before < request->wanted_count && request->wanted[before].low < high;
}

/* Whether the unit says which code is in it, and none of that is wanted. */
static bool is_unwanted(struct reading *r, const struct pf_die *top)
{
    struct pf_die_ranges ranges = pf_die_ranges(top);
    struct pf_die_range range;
    bool says = false;
    while (r->request->wanted_count && pf_die_next_range(&ranges, &range)) {
        if (is_wanted(r->request, range.low, range.high) || !pf_builder_step(&r->builder))
            return false;
        says = true;
    }
    return says && !ranges.failed;
}

static void read_unit(struct reading *r, struct pf_unit *unit)
{
    struct pf_die top;
    if (!pf_unit_top(unit, &top) || unit->type == DW_UT_type || unit->type == DW_UT_split_type || is_unwanted(r, &top))
        return;
    r->files = (struct pf_line_files){.builder = &r->builder};
    read_lines(r, &top);
    read_split(r, unit);
    pf_line_files_close(&r->files);
}

static void read_units(struct reading *r)
{
    struct pf_debug *debug = &r->module.file.debug;
    for (; r->unit < debug->unit_count && !r->builder.failed && pf_builder_step(&r->builder); r->unit++)
        read_unit(r, &debug->units[r->unit]);
    r->builder.failed = r->builder.failed || pf_debug_module_failed(&r->module);
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* Where code lies: what is elsewhere was thrown away by the linker. */
static void claim_code(struct reading *r)
{
    const struct pf_elf *elf = &r->module.file.elf;
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct pf_elf_section *section = &elf->sections[i];
        struct pf_claim code = {.low = section->header.sh_addr};
        if (section->header.sh_flags & SHF_EXECINSTR && pf_add(code.low, section->header.sh_size, &code.high))
            pf_builder_claim(&r->builder, &r->builder.code, &code);
    }
    pf_builder_sort_code(&r->builder);
}

static int read_module(struct reading *r, struct perfile_error *error)
{
    const char *path = r->request->path;
    struct pf_debug_module *module = &r->module;
    const int result = pf_debug_module_open(module, path, r->request->alternate_path, r->builder.allocator, error);
    if (result < 0)
        return result;
    if (module->file.elf.header.e_type == ET_REL)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, path, "debug info of an unlinked file");
    r->builder.steps = 64 * module->file.elf.identity.bytes + (1 << 20);
    r->sections = pf_debug_line_sections(&module->file.debug);
    claim_code(r);
    r->made_of = (struct pf_inlines_files){.debug = module->file.elf.identity,
                                           .alternate = module->alternate.elf.identity,
                                           .package = module->package.elf.identity};
    read_units(r);
    return 0;
}

static void close_reading(struct reading *r)
{
    const struct perfile_allocator *allocator = r->builder.allocator;
    pf_line_files_close(&r->files);
    pf_map_close(&r->declarations);
    pf_map_close(&r->line_tables);
    pf_free(allocator, r->enclosing, r->depth_capacity * sizeof(*r->enclosing));
    pf_debug_module_close(&r->module);
    pf_builder_close(&r->builder);
}

static int open_tables(const struct pf_inlines_request *request, bool detailed,
                       const struct perfile_allocator *allocator, struct pf_inlines **inlines,
                       struct perfile_error *error)
{
    struct reading r = {.request = request};
    *inlines = NULL;
    allocator = pf_allocator_or_default(allocator);
    pf_builder_open(&r.builder, allocator);
    r.builder.detailed = detailed;
    r.files.builder = &r.builder;
    pf_map_open(&r.declarations, allocator);
    pf_map_open(&r.line_tables, allocator);
    int result = read_module(&r, error);
    if (result == 0)
        result = pf_builder_finish(&r.builder, inlines, error);
    if (result == 0 && pf_memory_was_short(allocator)) { /* something is missing: the tables must not be kept */
        pf_inlines_close(*inlines);
        *inlines = NULL;
        result = pf_fail_memory(error, request->path);
    }
    if (result == 0)
        (*inlines)->files = r.made_of;
    close_reading(&r);
    return result;
}

int pf_inlines_open(const char *path, const char *alternate_path, const struct perfile_allocator *allocator,
                    struct pf_inlines **inlines, struct perfile_error *error)
{
    const struct pf_inlines_request request = {.path = path, .alternate_path = alternate_path};
    return open_tables(&request, false, allocator, inlines, error);
}

int pf_inlines_open_detailed(const struct pf_inlines_request *request, const struct perfile_allocator *allocator,
                             struct pf_inlines **inlines, struct perfile_error *error)
{
    return open_tables(request, true, allocator, inlines, error);
}
