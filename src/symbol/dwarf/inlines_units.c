/* SPDX-License-Identifier: MIT */
/*
 * DWARF in bulk: every unit is walked once, in the order of its bytes, so that the cost does not depend on how deep the
 * tree is nor on DW_AT_sibling (which LLVM does not write).
 */
#include "symbol/dwarf/inlines_units.h"

#include "base/sort.h"
#include "symbol/dwarf/debug_module.h"
#include "symbol/dwarf/locations.h"
#include "symbol/dwarf/names.h"

static const uint32_t no_node = (uint32_t)PF_INLINES_NONE;

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
static struct declaration find_declaration(struct pf_unit_reader *r, const struct attributes *own)
{
    enum { LONGEST_CHAIN = 16 };
    struct attributes a = *own;
    const char *plain = NULL, *linkage = NULL;
    uint64_t line = 0;
    unsigned steps = 0;
    for (unsigned i = 0; i < LONGEST_CHAIN && (!linkage || (r->builder->detailed && !line)); i++) {
        linkage = linkage ? linkage : pf_attribute_text(&a.linkage);
        plain = plain ? plain : pf_attribute_text(&a.name);
        line = line ? line : number_of(&a.declared);
        struct pf_die next;
        if (!pf_attribute_die(a.origin.name ? &a.origin : &a.specification, &next))
            break;
        steps += pf_die_steps(&next);
        if (steps > PF_CHAIN_STEPS_MAX)
            break;
        keep_attributes(&next, &a);
    }
    return (struct declaration){pf_builder_text(r->builder, linkage ? linkage : plain), (uint32_t)line};
}

/* Through the cache when all of it stands elsewhere: many bodies share one origin. */
static struct declaration declaration_of(struct pf_unit_reader *r, const struct attributes *a)
{
    struct pf_die origin;
    uint64_t cached;
    if (a->linkage.name || a->name.name || (r->builder->detailed && a->declared.name) ||
        !pf_attribute_die(a->origin.name ? &a->origin : &a->specification, &origin))
        return find_declaration(r, a);
    if (pf_map_get(&r->declarations, (uintptr_t)origin.at, &cached) && cached)
        return (struct declaration){(uint32_t)cached, (uint32_t)(cached >> 32)};
    const struct declaration found = find_declaration(r, a);
    if (!pf_map_put(&r->declarations, (uintptr_t)origin.at, (uint64_t)found.line << 32 | found.name))
        r->builder->failed = true;
    return found;
}

/* ---- functions ------------------------------------------------------------------------------------------------ */

/* The first range of a subprogram begins with its entry. */
static void claim_range(struct pf_unit_reader *r, uint32_t node, uint64_t low, uint64_t high)
{
    struct pf_claim claim = {low, high, (uint64_t)(UINT32_MAX - r->unit) << 32 | node, node};
    if (low >= high || !pf_builder_is_code(r->builder, low))
        return;
    (void)pf_take_steps(&r->builder->steps, PF_KEPT_STEPS);
    pf_builder_claim(r->builder, &r->builder->node_claims, &claim);
    if (r->builder->detailed && !r->builder->details[node].entry)
        r->builder->details[node].entry = low;
}

static void claim_ranges(struct pf_unit_reader *r, uint32_t node, const struct attributes *a)
{
    struct pf_die_range range;
    if (!a->low.name || !a->high.name) {
        struct pf_die_ranges ranges = pf_attribute_ranges(&a->ranges);
        ranges.steps = &r->builder->steps;
        while (!r->builder->failed && pf_die_next_range(&ranges, &range))
            claim_range(r, node, range.low, range.high);
    } else if (pf_attribute_address(&a->low, &range.low)) {
        if (!pf_attribute_address(&a->high, &range.high))
            range.high = range.low + number_of(&a->high); /* since DWARF 4 it may be a length */
        claim_range(r, node, range.low, range.high);
    }
}

/* The node for what is inside this DIE. */
static uint32_t take_function(struct pf_unit_reader *r, const struct attributes *a, bool inlined, uint32_t outer)
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
    uint32_t number = pf_builder_node(r->builder, &node);
    if (number == no_node)
        return no_node;
    if (r->builder->detailed)
        r->builder->details[number] = (struct pf_node_detail){.declared = declaration.line,
                                                              .discriminator = (uint32_t)number_of(&a->discriminator)};
    if (has_code)
        claim_ranges(r, number, a);
    return number;
}

/* ---- the tree ------------------------------------------------------------------------------------------------- */

struct walk {
    struct pf_unit_reader *reader;
    struct pf_die die;
    size_t depth;
    const uint8_t *to; /* where it ends, if the unit does not end before */
    bool is_c;         /* where types hold no functions */
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
    struct pf_unit_reader *r = w->reader;
    if (!pf_grow(r->builder->allocator, &r->enclosing, &r->depth_capacity, w->depth + 2, sizeof(*r->enclosing))) {
        r->builder->failed = true;
        return false;
    }
    r->enclosing[++w->depth] = node;
    return true;
}

/* To the next DIE in the order of the bytes, `at` or after the ends of lists; false at the end of the unit. */
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
    struct pf_unit_reader *r = w->reader;
    struct attributes attributes;
    bool more = true;
    while (more && !r->builder->failed && pf_take_steps(&r->builder->steps, pf_die_steps(&w->die))) {
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
        more = go_on(w, after, node) && w->die.at < w->to;
    }
}

static bool is_c_language(uint64_t language)
{
    return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

/* A part, see struct pf_unit_part. Returns whether the walk came to `to` as to a child of the top. */
static bool read_functions(struct pf_unit_reader *r, struct pf_unit *unit, const uint8_t *from, const uint8_t *to)
{
    struct walk w = {.reader = r, .to = to ? to : unit->end};
    struct pf_attribute language;
    if (!pf_unit_top(unit, &w.die) || !pf_die_has_children(&w.die))
        return !to;
    pf_die_attribute(&w.die, DW_AT_language, &language);
    w.is_c = is_c_language(number_of(&language));
    const uint8_t *children = from ? from : pf_die_end(&w.die);
    if (!pf_grow(r->builder->allocator, &r->enclosing, &r->depth_capacity, 1, sizeof(*r->enclosing))) {
        r->builder->failed = true;
        return false;
    }
    r->enclosing[0] = no_node;
    if (children && go_to(&w, children))
        walk_tree(&w);
    return !to || (w.die.at == to && w.depth == 0);
}

/* ---- parts of units --------------------------------------------------------------------------------------------- */

const uint8_t *pf_unit_cut(struct pf_unit *unit, const uint8_t *from, uint64_t bytes)
{
    struct pf_die die;
    const uint8_t *start = from ? from : unit->first;
    if (!pf_die_at(unit, start, &die) || (!from && !pf_die_child(&die, &die)))
        return NULL;
    while ((uint64_t)(die.at - start) < bytes)
        if (!pf_die_sibling(&die, &die))
            return NULL;
    return die.at;
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

static void read_lines(struct pf_unit_reader *r, const struct pf_die *top, bool with_rows)
{
    struct pf_attribute attribute;
    uint64_t offset;
    if (!pf_die_attribute(top, DW_AT_stmt_list, &attribute) || !pf_attribute_number(&attribute, &offset))
        return;
    if (pf_die_attribute(top, DW_AT_comp_dir, &attribute))
        r->files.compilation_directory = pf_attribute_text(&attribute);
    pf_line_table_read(r->builder, r->units->sections, offset, r->unit, with_rows, &r->files);
}

/*
 * The rest of a skeleton from the file that it names, or from the package; false when it is in neither. Each unit of that
 * file is a step: it was looked for among them.
 */
static bool read_split(struct pf_unit_reader *r, struct pf_unit *skeleton)
{
    struct pf_debug_split split;
    struct pf_unit *unit = pf_debug_split_open(&split, r->units->module, skeleton);
    if (unit && pf_take_steps(&r->builder->steps, unit->debug->unit_count)) {
        read_functions(r, unit, NULL, NULL);
        pf_map_clear(&r->declarations); /* its addresses are of memory that will be used again */
    }
    r->builder->failed = r->builder->failed || pf_debug_split_failed(&split);
    pf_debug_split_close(&split);
    return unit;
}

/* The rows belong to the first part, and so do the steps that the line table takes. */
static bool read_rest(struct pf_unit_reader *r, struct pf_unit *unit, const struct pf_die *top,
                      const struct pf_unit_part *part)
{
    const uint64_t steps = r->builder->steps;
    r->builder->steps = UINT64_MAX;
    read_lines(r, top, false);
    r->builder->steps = steps;
    return read_functions(r, unit, part->from, part->to);
}

/* A line table that adds files while its rows are read can only be read at once. */
static bool read_first(struct pf_unit_reader *r, struct pf_unit *unit, const struct pf_die *top,
                       const struct pf_unit_part *part)
{
    read_lines(r, top, r->units->uses[r->unit] == PF_UNIT_COMPLETE);
    if (unit->type == DW_UT_skeleton && read_split(r, unit))
        return true;
    return read_functions(r, unit, NULL, part->to) && (!part->to || !r->files.has_grown);
}

bool pf_unit_reader_read_part(struct pf_unit_reader *r, uint32_t number, const struct pf_unit_part *part)
{
    struct pf_die top;
    struct pf_unit *unit = &r->units->debug->units[number];
    r->unit = number;
    if ((!part->from && !pf_builder_step(r->builder)) || r->units->uses[number] == PF_UNIT_UNUSED ||
        !pf_unit_top(unit, &top))
        return true;
    r->files = (struct pf_line_files){.builder = r->builder};
    const bool is_cut = part->from ? read_rest(r, unit, &top, part) : read_first(r, unit, &top, part);
    pf_line_files_close(&r->files);
    return is_cut;
}

void pf_unit_reader_open(struct pf_unit_reader *r, const struct pf_units *units, struct pf_inlines_builder *builder)
{
    *r = (struct pf_unit_reader){.units = units, .builder = builder};
    pf_map_open(&r->declarations, builder->allocator);
}

void pf_unit_reader_close(struct pf_unit_reader *r)
{
    pf_map_close(&r->declarations);
    pf_free(r->builder->allocator, r->enclosing, r->depth_capacity * sizeof(*r->enclosing));
}

void pf_unit_reader_read(struct pf_unit_reader *r, uint32_t first, uint32_t after)
{
    for (uint32_t i = first; i < after && !r->builder->failed && r->builder->steps; i++)
        (void)pf_unit_reader_read_part(r, i, &(struct pf_unit_part){NULL, NULL});
}

void pf_unit_reader_clear(struct pf_unit_reader *r)
{
    pf_map_clear(&r->declarations);
}

/* ---- which units are read --------------------------------------------------------------------------------------- */

/* Whether an address from low on, before high, is wanted. */
static bool is_wanted(const struct pf_inlines_request *request, uint64_t low, uint64_t high)
{
    const size_t before = PF_COUNT_BEFORE(request->wanted_count, i, request->wanted[i].high <= low);
    return before < request->wanted_count && request->wanted[before].low < high;
}

struct choosing {
    struct pf_units *units;
    struct pf_inlines_builder *builder;
    struct pf_map line_tables; /* offset -> 1: a unit has its rows */
};

/* Whether the unit says which code is in it, and none of that is wanted. */
static bool is_unwanted(struct choosing *c, const struct pf_die *top)
{
    struct pf_die_ranges ranges = pf_die_ranges(top);
    struct pf_die_range range;
    bool says = false;
    ranges.steps = &c->builder->steps;
    while (c->units->request->wanted_count && pf_die_next_range(&ranges, &range)) {
        if (is_wanted(c->units->request, range.low, range.high))
            return false;
        says = true;
    }
    return says && !ranges.failed;
}

/* Several units may share a line table. */
static bool has_rows(struct choosing *c, const struct pf_die *top)
{
    struct pf_attribute attribute;
    uint64_t offset, known;
    if (!pf_die_attribute(top, DW_AT_stmt_list, &attribute) || !pf_attribute_number(&attribute, &offset) ||
        pf_map_get(&c->line_tables, offset, &known))
        return false;
    if (!pf_map_put(&c->line_tables, offset, 1))
        c->builder->failed = true;
    return true;
}

static enum pf_unit_use use_of(struct choosing *c, struct pf_unit *unit)
{
    struct pf_die top;
    if (!pf_unit_top(unit, &top) || unit->type == DW_UT_type || unit->type == DW_UT_split_type || is_unwanted(c, &top))
        return PF_UNIT_UNUSED;
    return has_rows(c, &top) ? PF_UNIT_COMPLETE : PF_UNIT_FUNCTIONS;
}

void pf_units_choose(struct pf_units *units, struct pf_inlines_builder *builder)
{
    struct choosing choosing = {.units = units, .builder = builder};
    const size_t count = units->debug->unit_count;
    units->uses = pf_new(builder->allocator, count + 1);
    if (!units->uses) {
        builder->failed = true;
        return;
    }
    pf_map_open(&choosing.line_tables, builder->allocator);
    for (size_t i = 0; i < count && !builder->failed; i++)
        units->uses[i] = (uint8_t)use_of(&choosing, &units->debug->units[i]);
    pf_map_close(&choosing.line_tables);
}

void pf_units_close(struct pf_units *units, const struct perfile_allocator *allocator)
{
    pf_free(allocator, units->uses, units->debug->unit_count + 1);
}
