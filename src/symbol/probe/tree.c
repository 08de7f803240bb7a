/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/elf_names.h"
#include "base/sort.h"
#include "symbol/dwarf/names.h"
#include "symbol/probe/probe_parts.h"

/* In the order of the bytes: what is skipped is passed over, and not read again for each of its parents. */
bool pf_probe_walk(struct pf_probe_target *target, const struct pf_die *top, pf_visit *visit, void *context)
{
    const uint8_t *at = pf_die_has_children(top) ? pf_die_end(top) : NULL;
    uint64_t depth = 1, skipped = UINT64_MAX; /* what is deeper is skipped */
    struct pf_die die;
    while (at && at < top->unit->end && depth && pf_probe_step(target)) {
        if (*at == 0) {
            at++;
            depth--;
            continue;
        }
        if (!pf_die_at(top->unit, at, &die))
            return false;
        const enum pf_walk next = depth <= skipped ? visit(context, &die) : PF_WALK_SKIP;
        if (next == PF_WALK_END)
            return true;
        skipped = next == PF_WALK_INTO ? UINT64_MAX : pf_min(skipped, depth);
        const bool is_parent = pf_die_has_children(&die);
        const uint8_t *after = is_parent && next == PF_WALK_SKIP ? pf_die_after_children(&die) : NULL;
        depth += is_parent && !after;
        at = after ? after : pf_die_end(&die);
    }
    return false;
}

/* ---- units ------------------------------------------------------------------------------------------------------ */

static struct pf_probe_unit *open_unit(struct pf_probe_target *target, size_t number)
{
    struct pf_probe_unit *unit = &target->units[number];
    struct pf_unit *found = &target->debug.file.debug.units[number];
    if (!unit->is_open)
        unit->is_readable = pf_unit_top(pf_debug_module_unit(&target->debug, found), &unit->top);
    unit->is_open = true;
    return unit->is_readable && pf_die_tag(&unit->top) == DW_TAG_compile_unit ? unit : NULL;
}

int pf_probe_units(struct pf_probe_target *target, int (*visit)(void *context, struct pf_probe_unit *unit),
                   void *context)
{
    int result = 0;
    for (size_t i = 0; i < target->debug.file.debug.info_count && result == 0 && pf_probe_step(target); i++) {
        struct pf_probe_unit *unit = open_unit(target, i);
        result = unit ? visit(context, unit) : 0;
    }
    return result;
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

struct collection {
    struct pf_probe_target *target;
    struct pf_probe_unit *unit;
};

/* Sections of unlinked files all begin at 0. */
bool pf_probe_is_linked(const struct pf_probe_target *target, uint64_t address)
{
    const struct pf_elf *elf = &target->elf;
    return !elf->section_count || elf->header.e_type == ET_REL || pf_probe_is_code(target, address);
}

/* Each range takes steps for the memory that it takes. */
static enum pf_walk collect(void *context, const struct pf_die *die)
{
    enum { STEPS = 64 };
    const struct collection *c = context;
    struct pf_probe_unit *unit = c->unit;
    const uint32_t tag = pf_die_tag(die);
    struct pf_die_range range;
    if (tag != DW_TAG_subprogram)
        return tag == DW_TAG_namespace || tag == DW_TAG_module ? PF_WALK_INTO : PF_WALK_SKIP;
    struct pf_die_ranges ranges = pf_die_ranges(die);
    while (pf_die_next_range(&ranges, &range) && pf_probe_steps(c->target, STEPS + c->target->elf.section_count))
        if (range.low < range.high && pf_probe_is_linked(c->target, range.low))
            (void)PF_PROBE_APPEND(c->target, unit->functions, unit->function_count, unit->function_capacity,
                                  (struct pf_probe_function){range.low, range.high, *die});
    return PF_WALK_SKIP;
}

static uint64_t low_of(const void *function)
{
    return ((const struct pf_probe_function *)function)->low;
}

static void find_functions(struct pf_probe_target *target, struct pf_probe_unit *unit)
{
    struct collection c = {target, unit};
    unit->has_functions = true;
    pf_probe_walk(target, &unit->top, collect, &c);
    struct pf_probe_function *other = pf_arena_new(&target->arena, (unit->function_count + 1) * sizeof(*other));
    if (other)
        unit->functions = pf_sort(unit->functions, other, unit->function_count, sizeof(*other), low_of);
    else
        unit->function_count = 0;
}

bool pf_probe_function_at(struct pf_probe_target *target, struct pf_probe_unit *unit, uint64_t address,
                          struct pf_die *function)
{
    if (!unit->has_functions)
        find_functions(target, unit);
    const size_t before = PF_COUNT_BEFORE(unit->function_count, i, unit->functions[i].high <= address);
    if (before == unit->function_count || address < unit->functions[before].low)
        return false;
    *function = unit->functions[before].die;
    return true;
}

bool pf_probe_holds(struct pf_probe_target *target, const struct pf_die *die, uint64_t address)
{
    struct pf_die_ranges ranges = pf_die_ranges(die);
    struct pf_die_range range;
    while (pf_die_next_range(&ranges, &range) && pf_probe_step(target))
        if (address >= range.low && address < range.high)
            return true;
    return false;
}

struct at {
    struct pf_probe_target *target;
    uint64_t address;
    struct pf_die *found;
};

static enum pf_walk look_at_inlined(void *context, const struct pf_die *die)
{
    const struct at *at = context;
    const uint32_t tag = pf_die_tag(die);
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    if ((!is_inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_subprogram) ||
        !pf_probe_holds(at->target, die, at->address))
        return PF_WALK_SKIP;
    if (is_inlined)
        *at->found = *die;
    return is_inlined ? PF_WALK_END : PF_WALK_INTO;
}

bool pf_probe_inlined_at(struct pf_probe_target *target, const struct pf_die *function, uint64_t address,
                         struct pf_die *inlined)
{
    const struct pf_die top = *function;
    struct at at = {target, address, inlined};
    return pf_probe_walk(target, &top, look_at_inlined, &at);
}

bool pf_probe_entry(const struct pf_die *die, uint64_t *address)
{
    struct pf_attribute entry;
    if ((pf_die_attribute(die, DW_AT_entry_pc, &entry) || pf_die_attribute(die, DW_AT_low_pc, &entry)) &&
        pf_attribute_address(&entry, address))
        return true;
    if (!pf_die_attribute(die, DW_AT_ranges, &entry))
        return false;
    struct pf_die_ranges ranges = pf_attribute_ranges(&entry);
    struct pf_die_range first;
    const bool is_there = pf_die_next_range(&ranges, &first);
    *address = is_there ? first.low : *address;
    return is_there;
}

bool pf_probe_bounds(const struct pf_die *die, uint64_t *low, uint64_t *high)
{
    const struct pf_die_ranges ranges = pf_die_ranges(die);
    *low = ranges.only.low;
    *high = ranges.only.high;
    return ranges.has_only;
}

struct unit_at {
    struct pf_probe_target *target;
    uint64_t address;
    struct pf_probe_unit *unit;
    struct pf_die *function;
};

static int look_at_unit(void *context, struct pf_probe_unit *unit)
{
    struct unit_at *at = context;
    at->unit = unit;
    return pf_probe_function_at(at->target, unit, at->address, at->function);
}

bool pf_probe_unit_at(struct pf_probe_target *target, uint64_t address, struct pf_probe_unit **unit,
                      struct pf_die *function)
{
    struct unit_at at = {.target = target, .address = address, .function = function};
    const bool is_found = pf_probe_units(target, look_at_unit, &at) > 0;
    *unit = at.unit;
    return is_found;
}

bool pf_probe_is_copy(const struct pf_die *die, const struct pf_die *origin)
{
    struct pf_attribute attribute;
    struct pf_die from;
    return pf_die_attribute(die, DW_AT_abstract_origin, &attribute) && pf_attribute_die(&attribute, &from) &&
           from.at == origin->at;
}
