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

static bool register_of(const struct pf_operation *operation, int8_t *reg)
{
    uint64_t number;
    const bool is_one = pf_operation_register(operation, &number);
    *reg = (int8_t)(is_one && number < PF_TRACKED_REGISTERS ? (int)number : PF_NO_REGISTER);
    return is_one;
}

static bool based_on_register(const struct pf_operation *operation, int8_t *reg, int64_t *offset)
{
    uint64_t number;
    const bool is_one = pf_operation_based(operation, &number, offset);
    *reg = (int8_t)(is_one && number < PF_TRACKED_REGISTERS ? (int)number : PF_NO_REGISTER);
    return *reg != PF_NO_REGISTER;
}

static struct frame_base frame_of(const struct pf_die *function)
{
    struct frame_base frame = {.holder = PF_HELD_AT_REGISTER};
    struct pf_attribute attribute;
    struct pf_section expression;
    struct pf_operation operation;
    if (!pf_die_integrated(function, DW_AT_frame_base, &attribute) || !pf_attribute_block(&attribute, &expression) ||
        !pf_only_operation(attribute.unit, expression, &operation))
        return frame;
    if (operation.code == DW_OP_call_frame_cfa) {
        frame.holder = PF_HELD_AT_FRAME;
        frame.is_known = true;
    } else if (register_of(&operation, &frame.reg)) {
        frame.is_known = frame.reg != PF_NO_REGISTER;
    } else {
        frame.is_known = based_on_register(&operation, &frame.reg, &frame.offset);
    }
    return frame;
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* A variable, or a piece of one, and the operations of its location. */
struct piece {
    struct pf_operation operations[2];
    size_t count; /* more than two say nothing here */
};

/* False: it is nowhere that accesses can show. */
static bool find_location(const struct reading *r, const struct pf_unit *unit, const struct piece *piece,
                          struct pf_types_variable *variable)
{
    const struct pf_operation *first = &piece->operations[0];
    uint64_t address;
    const bool is_value = piece->count == 2 && piece->operations[1].code == DW_OP_stack_value;
    if (piece->count == 1 && register_of(first, &variable->reg)) {
        variable->holder = PF_HELD_IN_REGISTER;
        return variable->reg != PF_NO_REGISTER;
    }
    if ((piece->count == 1 || is_value) && based_on_register(first, &variable->reg, &variable->offset)) {
        variable->holder = is_value ? PF_HELD_IN_REGISTER : PF_HELD_AT_REGISTER;
        return true;
    }
    if (piece->count == 1 && first->code == DW_OP_fbreg && r->frame.is_known) {
        variable->holder = r->frame.holder;
        variable->reg = r->frame.reg;
        variable->offset = (int64_t)(first->numbers[0] + (uint64_t)r->frame.offset);
        return true;
    }
    if (piece->count == 1 && pf_operation_address(unit, first, &address)) {
        variable->holder = PF_HELD_AT_ADDRESS;
        variable->offset = (int64_t)address;
        return true;
    }
    return false;
}

static bool read_location(const struct reading *r, const struct pf_unit *unit, const struct piece *piece,
                          struct pf_types_variable *variable)
{
    return find_location(r, unit, piece, variable) &&
           (variable->holder == PF_HELD_AT_ADDRESS ||
            (variable->offset >= -PF_TYPES_BYTES_MAX && variable->offset <= PF_TYPES_BYTES_MAX));
}

/* The operations up to DW_OP_piece, which is left in *last, or to the end. */
static struct piece take_piece(struct pf_operations *operations, struct pf_operation *last)
{
    struct piece piece = {.count = 0};
    while (pf_next_operation(operations, last) && last->code != DW_OP_piece) {
        if (piece.count < PF_COUNT(piece.operations))
            piece.operations[piece.count] = *last;
        piece.count++;
    }
    return piece;
}

/* Variables that compilers split are in several locations, each of a member. As long as the debug info has steps. */
static bool add_location(const struct reading *r, const struct pf_unit *unit, struct pf_section expression,
                         const struct pf_types_variable *model)
{
    struct pf_operations operations = pf_operations_of(unit, expression);
    uint64_t *steps = &unit->debug->steps_left, offset = 0;
    bool enough = true;
    while (pf_cursor_left(&operations.c) && !operations.c.failed && enough && pf_take_step(steps)) {
        struct pf_types_variable variable = *model;
        struct pf_operation last = {.code = 0};
        uint64_t inner = offset;
        const struct piece piece = take_piece(&operations, &last);
        const bool is_piece = last.code == DW_OP_piece;
        if (is_piece && model->type)
            variable.type = pf_types_inner(r->types, model->type, &inner);
        if (variable.type && (!is_piece || inner == 0) && !operations.c.failed &&
            read_location(r, unit, &piece, &variable) && pf_take_steps(steps, PF_KEPT_STEPS))
            enough = PF_APPEND(r->types->allocator, r->function->variables, r->function->variable_count,
                               r->function->variable_capacity, variable);
        offset += is_piece ? last.numbers[0] : 0;
    }
    return enough;
}

/* A variable with one location has it in all of its scope. */
static bool add_variable(const struct reading *r, const struct scope *scope, const struct pf_die *die)
{
    struct pf_types_variable variable = {.depth = scope->depth};
    struct pf_attribute attribute;
    struct pf_die_range range;
    bool enough = true;
    if (!pf_die_attribute(die, DW_AT_location, &attribute) || !(variable.type = pf_types_type_of(r->types, die)))
        return true;
    struct pf_die_ranges ranges = pf_attribute_locations(&attribute);
    while (enough && pf_die_next_range(&ranges, &range)) {
        variable.low = range.low;
        variable.high = range.high;
        if (!ranges.has_only)
            enough = add_location(r, die->unit, range.expression, &variable);
        for (unsigned i = 0; i < scope->range_count && ranges.has_only && enough; i++) {
            variable.low = scope->ranges[i].low;
            variable.high = scope->ranges[i].high;
            enough = add_location(r, die->unit, range.expression, &variable);
        }
    }
    return enough;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool add_call(const struct reading *r, const struct pf_die *die)
{
    struct pf_attribute attribute;
    uint64_t address;
    struct pf_die callee;
    const bool has_address =
        pf_die_attribute(die, DW_AT_call_return_pc, &attribute) || pf_die_attribute(die, DW_AT_low_pc, &attribute);
    if (!has_address || !pf_attribute_address(&attribute, &address))
        return true;
    const bool has_callee = pf_die_attribute(die, DW_AT_call_origin, &attribute) ||
                            pf_die_attribute(die, DW_AT_abstract_origin, &attribute);
    if (!has_callee || !pf_attribute_die(&attribute, &callee))
        return true;
    const struct pf_type_node *type = pf_types_type_of(r->types, &callee);
    return !type || type->public.kind != PF_TYPE_POINTER ||
           PF_APPEND(r->types->allocator, r->function->calls, r->function->call_count, r->function->call_capacity,
                     (struct pf_types_call){address, type});
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

/* More ranges than fit become one: addresses between them belong to other scopes, mostly. */
static void read_ranges(const struct pf_die *die, struct scope *scope)
{
    struct pf_die_ranges ranges = pf_die_ranges(die);
    struct pf_die_range range;
    scope->range_count = 0;
    while (pf_die_next_range(&ranges, &range)) {
        if (range.low >= range.high)
            continue;
        if (scope->range_count < SCOPE_RANGES_MAX) {
            scope->ranges[scope->range_count++] = (struct pf_types_range){.low = range.low, .high = range.high};
        } else {
            struct pf_types_range *last = &scope->ranges[SCOPE_RANGES_MAX - 1];
            last->low = pf_min(last->low, range.low);
            last->high = pf_max(last->high, range.high);
        }
    }
}

static bool read_scope(const struct reading *r, const struct pf_die *of, const struct scope *scope)
{
    struct scope inner = {.depth = (uint16_t)(scope->depth + 1)};
    struct pf_die die;
    bool enough = true;
    if (scope->depth == PF_SCOPE_DEPTH_MAX || !pf_die_child(of, &die))
        return true;
    do {
        const uint32_t tag = pf_die_tag(&die);
        if (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) {
            enough = add_variable(r, scope, &die);
        } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) {
            read_ranges(&die, &inner);
            enough = read_scope(r, &die, inner.range_count ? &inner : scope);
        } else if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) {
            enough = add_call(r, &die);
        }
    } while (enough && pf_die_sibling(&die, &die));
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
    struct pf_die die;
    if (!pf_types_unit_at(types, function->code.address, &unit, &die))
        return true;
    function->unit = unit;
    r.frame = frame_of(&die);
    read_ranges(&die, &scope);
    function->is_entry = scope.range_count && scope.ranges[0].low == function->code.address;
    return read_scope(&r, &die, &scope) && sort_variables(types, function);
}
