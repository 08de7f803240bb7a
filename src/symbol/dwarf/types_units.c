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

/* ---- units ------------------------------------------------------------------------------------------------------- */

static bool add_unit(struct pf_types *types, Dwarf_Die *die, Dwarf_Die *code)
{
    const uint32_t number = (uint32_t)types->unit_count;
    Dwarf_Addr base, low, high;
    if (!PF_APPEND(types->allocator, types->units, types->unit_count, types->unit_capacity,
                   (struct pf_types_unit){.die = *die}))
        return false;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(code, next, &base, &low, &high)) > 0 && pf_types_step(types);)
        if (low < high && !PF_APPEND(types->allocator, types->ranges, types->range_count, types->range_capacity,
                                     (struct pf_types_range){low, high, number}))
            return false;
    return true;
}

bool pf_types_read_units(struct pf_types *types)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    while (dwarf_get_units(types->file.dwarf, unit, &unit, NULL, &type, &die, &split) == 0 && pf_types_step(types)) {
        const bool is_split = type == DW_UT_skeleton && split.addr;
        if ((type == DW_UT_compile || type == DW_UT_skeleton) && !add_unit(types, is_split ? &split : &die, &die))
            return false;
    }
    sort_ranges(types->ranges, types->range_count);
    return true;
}

/* ---- functions and variables ------------------------------------------------------------------------------------- */

static bool add_function(struct pf_types *types, struct pf_types_unit *unit, Dwarf_Die *die)
{
    const uint32_t number = (uint32_t)unit->function_count;
    Dwarf_Addr base, low, high;
    bool has_code = false;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &low, &high)) > 0 && pf_types_step(types);) {
        has_code |= low < high;
        if (low < high && !PF_APPEND(types->allocator, unit->ranges, unit->range_count, unit->range_capacity,
                                     (struct pf_types_range){low, high, number}))
            return false;
    }
    return !has_code ||
           PF_APPEND(types->allocator, unit->functions, unit->function_count, unit->function_capacity, *die);
}

bool pf_types_address(Dwarf_Attribute *attribute, const Dwarf_Op *op, uint64_t *address)
{
    Dwarf_Attribute indexed;
    Dwarf_Addr value;
    if (op->atom == DW_OP_addr) {
        *address = op->number;
        return true;
    }
    if ((op->atom != DW_OP_addrx && op->atom != DW_OP_GNU_addr_index) ||
        dwarf_getlocation_attr(attribute, op, &indexed) != 0 || dwarf_formaddr(&indexed, &value) != 0)
        return false;
    *address = value;
    return true;
}

static bool add_global(struct pf_types *types, struct pf_types_unit *unit, Dwarf_Die *die)
{
    struct pf_types_global global = {.address = UINT64_MAX, .die = *die};
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_attr(die, DW_AT_location, &attribute) && dwarf_getlocation(&attribute, &ops, &count) == 0 && count == 1)
        (void)pf_types_address(&attribute, &ops[0], &global.address);
    return PF_APPEND(types->allocator, unit->globals, unit->global_count, unit->global_capacity, global);
}

/* Functions and variables outside of functions, in namespaces, too. */
static bool read_scope(struct pf_types *types, struct pf_types_unit *unit, Dwarf_Die *scope, unsigned depth)
{
    Dwarf_Die die;
    bool enough = true;
    if (depth == PF_SCOPE_DEPTH_MAX || dwarf_child(scope, &die) != 0)
        return true;
    do {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram)
            enough = add_function(types, unit, &die);
        else if (tag == DW_TAG_variable)
            enough = add_global(types, unit, &die);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_module)
            enough = read_scope(types, unit, &die, depth + 1);
    } while (enough && pf_types_step(types) && dwarf_siblingof(&die, &die) == 0);
    return enough;
}

static bool read_unit(struct pf_types *types, struct pf_types_unit *unit)
{
    unit->is_read = true;
    if (!read_scope(types, unit, &unit->die, 0))
        return false;
    sort_ranges(unit->ranges, unit->range_count);
    return true;
}

Dwarf_Die *pf_types_function_in(const struct pf_types_unit *unit, uint64_t address)
{
    const struct pf_types_range *range = range_at(unit->ranges, unit->range_count, address);
    return range && range->number < unit->function_count ? &unit->functions[range->number] : NULL;
}

bool pf_types_unit_at(struct pf_types *types, uint64_t address, struct pf_types_unit **unit, Dwarf_Die *function)
{
    const struct pf_types_range *range = range_at(types->ranges, types->range_count, address);
    if (!range)
        return false;
    *unit = &types->units[range->number];
    if (!(*unit)->is_read && !read_unit(types, *unit))
        return false;
    const Dwarf_Die *found = pf_types_function_in(*unit, address);
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

static bool is_called(Dwarf_Die *die, const char *name)
{
    Dwarf_Attribute attribute;
    const char *plain = dwarf_diename(die);
    const char *linkage =
        dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
    return (plain && strcmp(plain, name) == 0) || (linkage && strcmp(linkage, name) == 0);
}

const struct pf_types_global *pf_types_global_named(const struct pf_types_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->global_count; i++)
        if (is_called(&unit->globals[i].die, name))
            return &unit->globals[i];
    return NULL;
}
