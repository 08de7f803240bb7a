/* SPDX-License-Identifier: MIT */
/* The units of a file and, once an address asks for them, their functions and variables. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "symbol/dwarf/names.h"
#include "symbol/dwarf/types_parts.h"

static int order_ranges(const void *a, const void *b)
{
    const struct pf_types_range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

static void sort_ranges(struct pf_types_range *ranges, size_t count)
{
    if (count)
        qsort(ranges, count, sizeof(*ranges), order_ranges);
}

/* Ranges of functions do not overlap; those of units may in files that linkers joined. */
static const struct pf_types_range *range_at(const struct pf_types_range *ranges, size_t count, uint64_t address)
{
    const size_t after = PF_COUNT_BEFORE(count, i, ranges[i].low <= address);
    for (size_t i = after; i-- > 0 && after - i <= 4;)
        if (address < ranges[i].high)
            return &ranges[i];
    return NULL;
}

/* As long as the debug info has steps left for it; false: out of memory. */
static bool add_range(struct pf_types *types, struct pf_types_range **ranges, size_t *count, size_t *capacity,
                      const struct pf_types_range *range, uint64_t *steps)
{
    return !pf_take_steps(steps, PF_KEPT_STEPS) || PF_APPEND(types->allocator, *ranges, *count, *capacity, *range);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static bool add_unit(struct pf_types *types, struct pf_unit *unit, const struct pf_die *top)
{
    const uint32_t number = (uint32_t)types->unit_count;
    struct pf_die_ranges ranges = pf_die_ranges(top);
    struct pf_die_range range;
    if (!PF_APPEND(types->allocator, types->units, types->unit_count, types->unit_capacity,
                   (struct pf_types_unit){.unit = unit}))
        return false;
    while (pf_die_next_range(&ranges, &range))
        if (range.low < range.high && !add_range(types, &types->ranges, &types->range_count, &types->range_capacity,
                                                 &(struct pf_types_range){range.low, range.high, number}, ranges.steps))
            return false;
    return true;
}

bool pf_types_read_units(struct pf_types *types)
{
    struct pf_debug *debug = &types->module.file.debug;
    struct pf_die top;
    for (size_t i = 0; i < debug->unit_count; i++) {
        struct pf_unit *unit = &debug->units[i];
        if (pf_unit_top(unit, &top) && (unit->type == DW_UT_compile || unit->type == DW_UT_skeleton) &&
            !add_unit(types, unit, &top))
            return false;
    }
    sort_ranges(types->ranges, types->range_count);
    return true;
}

/* ---- functions and variables ------------------------------------------------------------------------------------- */

static bool add_function(struct pf_types *types, struct pf_types_unit *unit, const struct pf_die *die)
{
    const uint32_t number = (uint32_t)unit->function_count;
    struct pf_die_ranges ranges = pf_die_ranges(die);
    struct pf_die_range range;
    bool has_code = false;
    while (pf_die_next_range(&ranges, &range)) {
        if (range.low >= range.high)
            continue;
        has_code = true;
        if (!add_range(types, &unit->ranges, &unit->range_count, &unit->range_capacity,
                       &(struct pf_types_range){range.low, range.high, number}, ranges.steps))
            return false;
    }
    return !has_code ||
           PF_APPEND(types->allocator, unit->functions, unit->function_count, unit->function_capacity, *die);
}

static bool add_global(struct pf_types *types, struct pf_types_unit *unit, const struct pf_die *die)
{
    struct pf_types_global global = {.address = UINT64_MAX,
                                     .name = pf_die_text(die, DW_AT_name),
                                     .linkage = pf_die_text(die, DW_AT_linkage_name),
                                     .die = *die};
    struct pf_attribute attribute;
    struct pf_section expression;
    struct pf_operation operation;
    uint64_t address;
    if (pf_die_attribute(die, DW_AT_location, &attribute) && pf_attribute_block(&attribute, &expression) &&
        pf_only_operation(die->unit, expression, &operation) && pf_operation_address(die->unit, &operation, &address))
        global.address = address;
    return PF_APPEND(types->allocator, unit->globals, unit->global_count, unit->global_capacity, global);
}

/* Functions and variables outside of functions, in namespaces, too. */
static bool read_scope(struct pf_types *types, struct pf_types_unit *unit, const struct pf_die *scope, unsigned depth)
{
    struct pf_die die;
    bool enough = true;
    if (depth == PF_SCOPE_DEPTH_MAX || !pf_die_child(scope, &die))
        return true;
    do {
        const uint32_t tag = pf_die_tag(&die);
        if (tag == DW_TAG_subprogram)
            enough = add_function(types, unit, &die);
        else if (tag == DW_TAG_variable)
            enough = add_global(types, unit, &die);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_module)
            enough = read_scope(types, unit, &die, depth + 1);
    } while (enough && pf_die_sibling(&die, &die));
    return enough;
}

static bool read_unit(struct pf_types *types, struct pf_types_unit *unit)
{
    struct pf_die top;
    unit->is_read = true;
    if (pf_unit_top(pf_debug_module_unit(&types->module, unit->unit), &top) && !read_scope(types, unit, &top, 0))
        return false;
    sort_ranges(unit->ranges, unit->range_count);
    return true;
}

const struct pf_die *pf_types_function_in(const struct pf_types_unit *unit, uint64_t address)
{
    const struct pf_types_range *range = range_at(unit->ranges, unit->range_count, address);
    return range && range->number < unit->function_count ? &unit->functions[range->number] : NULL;
}

bool pf_types_unit_at(struct pf_types *types, uint64_t address, struct pf_types_unit **unit, struct pf_die *function)
{
    const struct pf_types_range *range = range_at(types->ranges, types->range_count, address);
    if (!range)
        return false;
    *unit = &types->units[range->number];
    if (!(*unit)->is_read && !read_unit(types, *unit))
        return false;
    const struct pf_die *found = pf_types_function_in(*unit, address);
    if (found)
        *function = *found;
    return found;
}

const struct pf_types_global *pf_types_global_at(const struct pf_types_unit *unit, uint64_t address)
{
    const struct pf_types_global *best = NULL;
    for (size_t i = 0; i < unit->global_count; i++) {
        const struct pf_types_global *global = &unit->globals[i];
        if (global->address <= address && (!best || global->address > best->address))
            best = global;
    }
    return best;
}

static bool is_called(const struct pf_types_global *global, const char *name)
{
    return (global->name && strcmp(global->name, name) == 0) || (global->linkage && strcmp(global->linkage, name) == 0);
}

const struct pf_types_global *pf_types_global_named(const struct pf_types_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->global_count; i++)
        if (is_called(&unit->globals[i], name))
            return &unit->globals[i];
    return NULL;
}
