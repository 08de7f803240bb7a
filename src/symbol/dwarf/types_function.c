/* SPDX-License-Identifier: MIT */
/* The variables of a function, of its blocks and of the functions that are inlined there, with their locations. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "symbol/dwarf/names.h"
#include "symbol/dwarf/types_parts.h"

enum { SCOPE_RANGES_MAX = 16 };

/* What DW_OP_fbreg counts from: the canonical frame address, or a register. */
struct frame_base {
    bool is_known;
    uint8_t holder; /* PF_HELD_AT_FRAME or PF_HELD_AT_REGISTER */
    int8_t reg;
    int64_t offset;
};

struct scope {
    struct pf_types_range ranges[SCOPE_RANGES_MAX];
    unsigned range_count;
    uint16_t depth;
};

struct reading {
    struct pf_types *types;
    struct pf_types_function *function;
    struct frame_base frame;
};

static bool register_of(const Dwarf_Op *op, int8_t *reg)
{
    uint64_t number = UINT64_MAX;
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        number = (uint64_t)op->atom - DW_OP_reg0;
    else if (op->atom == DW_OP_regx)
        number = op->number;
    *reg = (int8_t)(number < PF_TRACKED_REGISTERS ? (int)number : PF_NO_REGISTER);
    return number != UINT64_MAX;
}

static bool based_on_register(const Dwarf_Op *op, int8_t *reg, int64_t *offset)
{
    uint64_t number = UINT64_MAX;
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        number = (uint64_t)op->atom - DW_OP_breg0;
        *offset = (int64_t)op->number;
    } else if (op->atom == DW_OP_bregx) {
        number = op->number;
        *offset = (int64_t)op->number2;
    }
    *reg = (int8_t)(number < PF_TRACKED_REGISTERS ? (int)number : PF_NO_REGISTER);
    return number != UINT64_MAX && *reg != PF_NO_REGISTER;
}

static struct frame_base frame_of(Dwarf_Die *function)
{
    struct frame_base frame = {.holder = PF_HELD_AT_REGISTER};
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1)
        return frame;
    if (ops[0].atom == DW_OP_call_frame_cfa) {
        frame.holder = PF_HELD_AT_FRAME;
        frame.is_known = true;
    } else if (register_of(&ops[0], &frame.reg)) {
        frame.is_known = frame.reg != PF_NO_REGISTER;
    } else {
        frame.is_known = based_on_register(&ops[0], &frame.reg, &frame.offset);
    }
    return frame;
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* Of one piece; false: it is nowhere that accesses can show. */
static bool read_location(const struct reading *r, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
                          struct pf_types_variable *variable)
{
    uint64_t address;
    const bool is_value = count == 2 && ops[1].atom == DW_OP_stack_value;
    if (count == 1 && register_of(&ops[0], &variable->reg)) {
        variable->holder = PF_HELD_IN_REGISTER;
        return variable->reg != PF_NO_REGISTER;
    }
    if ((count == 1 || is_value) && based_on_register(&ops[0], &variable->reg, &variable->offset)) {
        variable->holder = is_value ? PF_HELD_IN_REGISTER : PF_HELD_AT_REGISTER;
        return true;
    }
    if (count == 1 && ops[0].atom == DW_OP_fbreg && r->frame.is_known) {
        variable->holder = r->frame.holder;
        variable->reg = r->frame.reg;
        variable->offset = (int64_t)(ops[0].number + (uint64_t)r->frame.offset);
        return true;
    }
    if (count == 1 && pf_types_address(attribute, &ops[0], &address)) {
        variable->holder = PF_HELD_AT_ADDRESS;
        variable->offset = (int64_t)address;
        return true;
    }
    return false;
}

static size_t piece_end(const Dwarf_Op *ops, size_t count, size_t from)
{
    while (from < count && ops[from].atom != DW_OP_piece)
        from++;
    return from;
}

/* Variables that compilers split are in several locations, each of a member. */
static bool add_location(const struct reading *r, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
                         const struct pf_types_variable *model)
{
    uint64_t offset = 0;
    bool enough = true;
    for (size_t from = 0, end; from < count && enough; from = end + 1) {
        struct pf_types_variable variable = *model;
        uint64_t inner = offset;
        end = piece_end(ops, count, from);
        const bool is_piece = end < count;
        if (is_piece && model->type)
            variable.type = pf_types_inner(r->types, model->type, &inner);
        if (variable.type && (!is_piece || inner == 0) &&
            read_location(r, attribute, ops + from, end - from, &variable))
            enough = PF_APPEND(r->types->allocator, r->function->variables, r->function->variable_count,
                               r->function->variable_capacity, variable);
        offset += is_piece ? ops[end].number : 0;
    }
    return enough;
}

/* A variable with one location has it in all of its scope. */
static bool add_variable(const struct reading *r, const struct scope *scope, Dwarf_Die *die)
{
    struct pf_types_variable variable = {.depth = scope->depth};
    Dwarf_Attribute attribute;
    Dwarf_Addr base, low, high;
    Dwarf_Op *ops;
    size_t count;
    bool enough = true;
    if (!dwarf_attr(die, DW_AT_location, &attribute) || !(variable.type = pf_types_type_of(r->types, die)))
        return true;
    const bool is_list = dwarf_getlocation(&attribute, &ops, &count) != 0;
    for (unsigned i = 0; i < scope->range_count && !is_list && enough; i++) {
        variable.low = scope->ranges[i].low;
        variable.high = scope->ranges[i].high;
        enough = add_location(r, &attribute, ops, count, &variable);
    }
    for (ptrdiff_t next = 0; is_list && enough && pf_types_step(r->types) &&
                             (next = dwarf_getlocations(&attribute, next, &base, &low, &high, &ops, &count)) > 0;) {
        variable.low = low;
        variable.high = high;
        enough = add_location(r, &attribute, ops, count, &variable);
    }
    return enough;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool add_call(const struct reading *r, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr address;
    Dwarf_Die callee;
    const bool has_address =
        dwarf_attr(die, DW_AT_call_return_pc, &attribute) || dwarf_attr(die, DW_AT_low_pc, &attribute);
    if (!has_address || dwarf_formaddr(&attribute, &address) != 0)
        return true;
    const bool has_callee =
        dwarf_attr(die, DW_AT_call_origin, &attribute) || dwarf_attr(die, DW_AT_abstract_origin, &attribute);
    if (!has_callee || !dwarf_formref_die(&attribute, &callee))
        return true;
    const struct pf_type_node *type = pf_types_type_of(r->types, &callee);
    return !type || type->public.kind != PF_TYPE_POINTER ||
           PF_APPEND(r->types->allocator, r->function->calls, r->function->call_count, r->function->call_capacity,
                     (struct pf_types_call){address, type});
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

/* More ranges than fit become one: addresses between them belong to other scopes, mostly. */
static void read_ranges(const struct reading *r, Dwarf_Die *die, struct scope *scope)
{
    Dwarf_Addr base, low, high;
    scope->range_count = 0;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(die, next, &base, &low, &high)) > 0 && pf_types_step(r->types);) {
        if (low >= high)
            continue;
        if (scope->range_count < SCOPE_RANGES_MAX) {
            scope->ranges[scope->range_count++] = (struct pf_types_range){.low = low, .high = high};
        } else {
            struct pf_types_range *last = &scope->ranges[SCOPE_RANGES_MAX - 1];
            last->low = pf_min(last->low, low);
            last->high = pf_max(last->high, high);
        }
    }
}

static bool read_scope(const struct reading *r, Dwarf_Die *of, const struct scope *scope)
{
    struct scope inner = {.depth = (uint16_t)(scope->depth + 1)};
    Dwarf_Die die;
    bool enough = true;
    if (scope->depth == PF_SCOPE_DEPTH_MAX || dwarf_child(of, &die) != 0)
        return true;
    do {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) {
            enough = add_variable(r, scope, &die);
        } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) {
            read_ranges(r, &die, &inner);
            enough = read_scope(r, &die, inner.range_count ? &inner : scope);
        } else if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) {
            enough = add_call(r, &die);
        }
    } while (enough && pf_types_step(r->types) && dwarf_siblingof(&die, &die) == 0);
    return enough;
}

static unsigned key_of(uint8_t holder, int8_t reg)
{
    const bool is_register = holder == PF_HELD_IN_REGISTER || holder == PF_HELD_AT_REGISTER;
    return (unsigned)holder * PF_TRACKED_REGISTERS + (is_register ? (unsigned)reg : 0);
}

static int order_variables(const void *a, const void *b)
{
    const struct pf_types_variable *x = a, *y = b;
    const unsigned left = key_of(x->holder, x->reg), right = key_of(y->holder, y->reg);
    return left != right ? (left > right) - (left < right) : (x->low > y->low) - (x->low < y->low);
}

size_t pf_types_variables(const struct pf_types_function *function, uint8_t holder, int8_t reg, size_t *end)
{
    const struct pf_types_variable *all = function->variables;
    const unsigned key = key_of(holder, reg);
    *end = PF_COUNT_BEFORE(function->variable_count, i, key_of(all[i].holder, all[i].reg) <= key);
    return PF_COUNT_BEFORE(*end, i, key_of(all[i].holder, all[i].reg) < key);
}

static int order_starts(const void *a, const void *b)
{
    const struct pf_types_variable *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

/* False: out of memory. */
static bool sort_variables(struct pf_types *types, struct pf_types_function *function)
{
    if (!function->variable_count)
        return true;
    qsort(function->variables, function->variable_count, sizeof(*function->variables), order_variables);
    const struct pf_types_variable *all = function->variables;
    const size_t count = PF_COUNT_BEFORE(function->variable_count, i, all[i].holder == PF_HELD_IN_REGISTER);
    if (!count)
        return true;
    function->starting = pf_arena_new(&types->arena, count * sizeof(*function->starting));
    if (!function->starting)
        return false;
    memcpy(function->starting, all, count * sizeof(*all));
    qsort(function->starting, count, sizeof(*function->starting), order_starts);
    function->starting_count = count;
    return true;
}

bool pf_types_read_function(struct pf_types *types, struct pf_types_function *function)
{
    struct reading r = {.types = types, .function = function};
    struct scope scope = {.depth = 0};
    struct pf_types_unit *unit;
    Dwarf_Die die;
    if (!pf_types_unit_at(types, function->code.address, &unit, &die))
        return true;
    function->unit = unit;
    r.frame = frame_of(&die);
    read_ranges(&r, &die, &scope);
    function->is_entry = scope.range_count && scope.ranges[0].low == function->code.address;
    return read_scope(&r, &die, &scope) && sort_variables(types, function);
}
