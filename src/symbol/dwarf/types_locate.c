/* SPDX-License-Identifier: MIT */
/* From the operand of an access to the variable that it accesses, or to what a pointer points to. */
#include "base/bytes.h"
#include "symbol/dwarf/types_parts.h"

static bool is_at(const struct pf_types_variable *variable, uint64_t address)
{
    return address >= variable->low && address < variable->high;
}

/* A variable that may be what a register holds. */
struct candidate {
    struct pf_held_value value;
    uint16_t depth;
    bool fits; /* the access is in what it points to */
};

static bool fits(const struct pf_held_value *value, int64_t offset)
{
    const int64_t at = (int64_t)((uint64_t)value->offset + (uint64_t)offset);
    return value->type && at >= 0 && (uint64_t)at < value->type->public.bytes;
}

static unsigned rank_of(const struct candidate *one)
{
    const struct pf_type *type = one->value.type ? &one->value.type->public : NULL;
    return (one->fits ? 4u : 0) + (type && type->bytes ? 2u : 0) + (type && type->kind == PF_TYPE_RECORD ? 1u : 0);
}

/*
 * Whether the first of two says more: that which the access fits into, types with a size and members; of a structure
 * and a member the structure; inner scopes.
 */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
    const unsigned left = rank_of(a), right = rank_of(b);
    if (!b->value.kind || left != right)
        return !b->value.kind || left > right;
    const uint64_t left_bytes = a->value.type ? a->value.type->public.bytes : 0;
    const uint64_t right_bytes = b->value.type ? b->value.type->public.bytes : 0;
    return left_bytes != right_bytes ? left_bytes > right_bytes : a->depth > b->depth;
}

struct pf_held_value pf_types_held_by_variable(struct pf_types *types, const struct pf_types_function *function,
                                               uint64_t address, int8_t reg, int64_t offset)
{
    struct candidate best = {.value = {.kind = PF_HELD_UNKNOWN}};
    size_t end, i = pf_types_variables(function, PF_HELD_IN_REGISTER, reg, &end);
    for (; i < end && function->variables[i].low <= address; i++) {
        const struct pf_types_variable *variable = &function->variables[i];
        const struct pf_type_node *pointer = is_at(variable, address) ? pf_types_pointer(types, variable->type) : NULL;
        struct candidate one = {.depth = variable->depth};
        if (!pointer)
            continue;
        one.value = (struct pf_held_value){
            .kind = PF_HELD_POINTER, .type = pf_types_target(types, pointer), .offset = -variable->offset};
        one.fits = fits(&one.value, offset);
        if (is_better(&one, &best))
            best = one;
    }
    return best.value;
}

const struct pf_type_node *pf_types_variable_in(const struct pf_types_function *function, uint64_t address, int8_t reg)
{
    const struct pf_types_variable *best = NULL;
    size_t end, i = pf_types_variables(function, PF_HELD_IN_REGISTER, reg, &end);
    for (; i < end && function->variables[i].low <= address; i++)
        if (is_at(&function->variables[i], address) && !function->variables[i].offset &&
            (!best || function->variables[i].depth > best->depth))
            best = &function->variables[i];
    return best ? best->type : NULL;
}

struct pf_held_value pf_types_held(struct pf_types *types, const struct pf_types_function *function,
                                   const struct pf_types_access *access, int8_t reg)
{
    struct pf_held_value value = {.kind = PF_HELD_UNKNOWN};
    if (reg == PF_NO_REGISTER)
        return value;
    const struct pf_held_value *tracked = access->state ? &access->state->registers[reg] : NULL;
    const int64_t offset = access->memory->offset;
    if (tracked && reg == function->stack_pointer) /* variables in it are pointers into the frame */
        return *tracked;
    value = pf_types_held_by_variable(types, function, access->address, reg, offset);
    const bool is_typed = value.kind && value.type && value.type->public.bytes;
    const bool is_worse = is_typed && tracked && !fits(&value, offset) && fits(tracked, offset);
    return tracked && tracked->kind && (!is_typed || is_worse) ? *tracked : value;
}

/* ---- variables in memory ----------------------------------------------------------------------------------------- */

static bool is_scalar(const struct pf_type_node *type)
{
    return type->public.kind == PF_TYPE_VALUE || type->public.kind == PF_TYPE_POINTER;
}

/* Where a variable in memory begins from the canonical frame address; false: that is not known. */
static bool frame_offset(const struct pf_types_variable *variable, const struct pf_held_state *state, int64_t *offset)
{
    *offset = variable->offset;
    if (variable->holder == PF_HELD_AT_FRAME)
        return true;
    const struct pf_held_value *base =
        state && variable->holder == PF_HELD_AT_REGISTER ? &state->registers[variable->reg] : NULL;
    if (!base || base->kind != PF_HELD_FRAME)
        return false;
    *offset = (int64_t)((uint64_t)*offset + (uint64_t)base->offset);
    return true;
}

/* Takes the variable if it holds the byte at `offset` from its beginning, and has a scope inside that of the last. */
static bool take(const struct pf_types_variable *variable, int64_t offset, struct pf_held_value *object,
                 uint16_t *depth)
{
    const bool holds = offset >= 0 && (uint64_t)offset < variable->type->public.bytes;
    if (!holds || (object->kind && variable->depth <= *depth))
        return false;
    *object = (struct pf_held_value){.kind = PF_HELD_POINTER, .type = variable->type, .offset = offset};
    *depth = variable->depth;
    return true;
}

/* What was stored there by a known instruction, where the debug info has no variable. */
static struct pf_held_value in_slot(const struct pf_held_state *state, int64_t at)
{
    struct pf_held_value object = {.kind = PF_HELD_UNKNOWN};
    for (uint32_t i = 0; state && i < state->slot_count; i++) {
        const struct pf_held_slot *slot = &state->slots[i];
        if (slot->value.own && slot->at <= at && at - slot->at < slot->bytes)
            object = (struct pf_held_value){.kind = PF_HELD_POINTER, .type = slot->value.own, .offset = at - slot->at};
    }
    return object;
}

/* The variable at an offset from the canonical frame address. */
static struct pf_held_value in_frame(const struct pf_types_function *function, const struct pf_types_access *access,
                                     int64_t at)
{
    struct pf_held_value object = {.kind = PF_HELD_UNKNOWN};
    uint16_t depth = 0;
    int64_t start;
    for (size_t i = 0; i < function->variable_count; i++)
        if (is_at(&function->variables[i], access->address) &&
            frame_offset(&function->variables[i], access->state, &start))
            (void)take(&function->variables[i], at - start, &object, &depth);
    return object;
}

/* The variable that the debug info says is at this register. */
static struct pf_held_value at_register(const struct pf_types_function *function, const struct pf_types_access *access,
                                        int8_t reg)
{
    struct pf_held_value object = {.kind = PF_HELD_UNKNOWN};
    uint16_t depth = 0;
    size_t end, i = pf_types_variables(function, PF_HELD_AT_REGISTER, reg, &end);
    for (; i < end; i++) {
        const struct pf_types_variable *variable = &function->variables[i];
        if (is_at(variable, access->address))
            (void)take(variable, access->memory->offset - variable->offset, &object, &depth);
    }
    return object;
}

/* ---- global variables -------------------------------------------------------------------------------------------- */

static struct pf_held_value of_global(struct pf_types *types, const struct pf_types_global *global, uint64_t offset)
{
    struct pf_held_value object = {.kind = PF_HELD_UNKNOWN};
    const struct pf_type_node *type = global ? pf_types_type_of(types, &global->die) : NULL;
    if (type && offset < type->public.bytes)
        object = (struct pf_held_value){.kind = PF_HELD_POINTER, .type = type, .offset = (int64_t)offset};
    return object;
}

static struct pf_held_value by_symbol(struct pf_types *types, const struct pf_types_unit *unit, uint64_t address)
{
    uint64_t offset = 0;
    const char *name = types->symbols.at ? types->symbols.at(types->symbols.context, address, &offset) : NULL;
    return of_global(types, name ? pf_types_global_named(unit, name) : NULL, offset);
}

static bool is_record(const struct pf_held_value *object)
{
    return object->kind == PF_HELD_POINTER && object->type->public.kind == PF_TYPE_RECORD;
}

/* A variable of the function; `record`: a structure. */
static struct pf_held_value of_function(const struct pf_types_function *function, uint64_t address, bool record)
{
    struct pf_held_value object = {.kind = PF_HELD_UNKNOWN};
    uint16_t depth = 0;
    size_t end, i = pf_types_variables(function, PF_HELD_AT_ADDRESS, 0, &end);
    for (; i < end; i++) {
        const struct pf_types_variable *variable = &function->variables[i];
        if (!record || variable->type->public.kind == PF_TYPE_RECORD)
            (void)take(variable, (int64_t)(address - (uint64_t)variable->offset), &object, &depth);
    }
    return object;
}

/*
 * A variable of the function, of its unit, or one that the unit only declares. A scalar of the function may be a copy of
 * a member of a structure that stays where it is.
 */
static struct pf_held_value at_address(struct pf_types *types, const struct pf_types_function *function,
                                       uint64_t address)
{
    struct pf_held_value object = of_function(function, address, true);
    if (!object.kind)
        object = of_function(function, address, false);
    if (!function->unit || (object.kind && !is_scalar(object.type)))
        return object;
    const struct pf_types_global *found = pf_types_global_at(function->unit, address);
    const struct pf_held_value global = of_global(types, found, found ? address - found->address : 0);
    if (object.kind)
        return is_record(&global) ? global : object;
    return global.kind ? global : by_symbol(types, function->unit, address);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/*
 * A variable in memory at a register is often a copy of a member, which the compiler did not load into a register: of a
 * structure that the register points to the member says more.
 */
static struct pf_held_value through(struct pf_types *types, const struct pf_types_function *function,
                                    const struct pf_types_access *access, int8_t reg)
{
    const struct pf_held_value value = pf_types_held(types, function, access, reg);
    const bool is_in_record = fits(&value, access->memory->offset) && is_record(&value);
    struct pf_held_value object = at_register(function, access, reg);
    if (object.kind && !(is_in_record && is_scalar(object.type)))
        return object;
    const int64_t offset = (int64_t)((uint64_t)value.offset + (uint64_t)access->memory->offset);
    if (value.kind == PF_HELD_NUMBER)
        return at_address(types, function, (uint64_t)offset);
    if (value.kind == PF_HELD_FRAME) {
        object = in_frame(function, access, offset);
        return object.kind ? object : in_slot(access->state, offset);
    }
    object = value;
    object.offset = offset;
    return object;
}

/* Elements of arrays that pointers go through: an offset in one of them. */
static void fold(struct pf_held_value *object)
{
    const struct pf_type *type = &object->type->public;
    if (type->bytes && (type->kind == PF_TYPE_VALUE || type->kind == PF_TYPE_POINTER)) {
        const int64_t bytes = (int64_t)type->bytes, rest = object->offset % bytes;
        object->offset = rest < 0 ? rest + bytes : rest;
    }
}

static uint8_t check(struct pf_held_value *object)
{
    if (!object->kind)
        return PF_TYPE_NO_VAR;
    if (!object->type)
        return PF_TYPE_NO_TYPEINFO;
    if (!object->type->public.bytes)
        return PF_TYPE_INVALID_SIZE;
    fold(object);
    return object->offset < 0 || (uint64_t)object->offset >= object->type->public.bytes ? PF_TYPE_BAD_OFFSET
                                                                                        : PF_TYPE_FOUND;
}

bool pf_types_locate(struct pf_types *types, const struct pf_types_function *function,
                     const struct pf_types_access *access, struct pf_held_value *object, uint8_t *reason)
{
    const struct pf_effect_memory *memory = access->memory;
    *object = (struct pf_held_value){.kind = PF_HELD_UNKNOWN};
    if (memory->is_fixed || (memory->base == PF_NO_REGISTER && memory->scale > 1))
        *object = at_address(types, function, (uint64_t)memory->offset);
    else if (memory->base != PF_NO_REGISTER)
        *object = through(types, function, access, memory->base);
    *reason = check(object);
    if (*reason != PF_TYPE_FOUND && memory->index != PF_NO_REGISTER && memory->scale == 1) {
        struct pf_held_value other = through(types, function, access, memory->index);
        const uint8_t why = check(&other);
        if (why == PF_TYPE_FOUND) {
            *object = other;
            *reason = why;
        }
    }
    return *reason == PF_TYPE_FOUND;
}

bool pf_types_stored(const struct pf_types_function *function, const struct pf_types_access *access,
                     const struct pf_effect *effect, struct pf_held_value *object)
{
    const struct pf_effect_memory *memory = access->memory;
    if (effect->kind != PF_EFFECT_STORE || effect->source == PF_NO_REGISTER || memory->base == PF_NO_REGISTER ||
        memory->index != PF_NO_REGISTER || access->state->registers[memory->base].kind != PF_HELD_FRAME)
        return false;
    const struct pf_type_node *own = pf_types_variable_in(function, access->address, effect->source);
    own = own ? own : access->state->registers[effect->source].own;
    if (!own || own->public.bytes != memory->bytes)
        return false;
    *object = (struct pf_held_value){.kind = PF_HELD_POINTER, .type = own};
    return true;
}
