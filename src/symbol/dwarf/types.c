/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/types.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "symbol/dwarf/types_parts.h"

enum { CANARY_OFFSET = 0x28 }; /* of the thread's memory, on x86-64 */

/* ---- opening ----------------------------------------------------------------------------------------------------- */

int pf_types_open(const struct pf_types_files *files, const struct pf_types_symbols *symbols,
                  struct pf_disassembler *disassembler, const struct perfile_allocator *allocator,
                  struct pf_types **types, struct perfile_error *error)
{
    struct pf_types *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "types");
    made->below = allocator;
    pf_watch_open(&made->watch, allocator);
    made->allocator = allocator = &made->watch.allocator;
    made->symbols = *symbols;
    made->disassembler = disassembler;
    pf_arena_open(&made->arena, allocator);
    pf_map_open(&made->nodes, allocator);
    pf_map_open(&made->by_start, allocator);
    const struct pf_debug_opening opening = {.allocator = allocator, .with_variables = true};
    int result = pf_debug_module_open(&made->module, files->debug, files->alternate, &opening, error);
    if (result == 0 && (!pf_types_read_units(made) || pf_memory_was_short(allocator)))
        result = pf_fail_memory(error, "types");
    if (result == 0)
        *types = made;
    else
        pf_types_close(made);
    return result;
}

static void close_function(const struct perfile_allocator *allocator, struct pf_types_function *function)
{
    pf_free(allocator, function->variables, function->variable_capacity * sizeof(*function->variables));
    pf_free(allocator, function->calls, function->call_capacity * sizeof(*function->calls));
    pf_free(allocator, function->effects, function->effect_capacity * sizeof(*function->effects));
    pf_free(allocator, function->addresses, function->address_capacity * sizeof(*function->addresses));
    pf_free(allocator, function->blocks, function->block_capacity * sizeof(*function->blocks));
    pf_free(allocator, function, sizeof(*function));
}

static void close_unit(const struct perfile_allocator *allocator, struct pf_types_unit *unit)
{
    pf_free(allocator, unit->ranges, unit->range_capacity * sizeof(*unit->ranges));
    pf_free(allocator, unit->functions, unit->function_capacity * sizeof(*unit->functions));
    pf_free(allocator, unit->globals, unit->global_capacity * sizeof(*unit->globals));
}

void pf_types_close(struct pf_types *types)
{
    if (!types)
        return;
    const struct perfile_allocator *allocator = types->allocator;
    for (struct pf_types_function *function = types->functions, *next; function; function = next) {
        next = function->next;
        close_function(allocator, function);
    }
    for (size_t i = 0; i < types->unit_count; i++)
        close_unit(allocator, &types->units[i]);
    pf_free(allocator, types->units, types->unit_capacity * sizeof(*types->units));
    pf_free(allocator, types->ranges, types->range_capacity * sizeof(*types->ranges));
    pf_map_close(&types->nodes);
    pf_map_close(&types->by_start);
    pf_arena_close(&types->arena);
    pf_debug_module_close(&types->module);
    pf_free(types->below, types, sizeof(*types));
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

struct pf_types_function *pf_types_function(struct pf_types *types, const struct pf_types_code *code)
{
    uint64_t known;
    if (pf_map_get(&types->by_start, code->address, &known))
        return (struct pf_types_function *)(uintptr_t)known;
    struct pf_types_function *made = pf_new(types->allocator, sizeof(*made));
    if (!made)
        return NULL;
    made->code = *code;
    made->next = types->functions;
    types->functions = made;
    const bool enough = pf_map_put(&types->by_start, code->address, (uintptr_t)made) &&
                        pf_types_read_function(types, made) && !pf_memory_was_short(types->allocator);
    return enough ? made : NULL;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static bool is_canary(const struct pf_effect *effect)
{
    const struct pf_effect_memory *memory = &effect->memory;
    return memory->segment != PF_SEGMENT_NONE && memory->is_fixed && memory->offset == CANARY_OFFSET;
}

static void use_object(struct pf_types *types, const struct pf_held_value *object, const struct pf_effect *effect,
                       struct pf_type_use *use)
{
    use->type = pf_types_named(types, object->type);
    use->offset = (uint64_t)object->offset;
    use->bytes = effect->memory.bytes;
}

/* By what the debug info says of this address, else with what the instructions before it did. */
static void find_object(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                        const struct pf_effect *effect, struct pf_type_use *use)
{
    struct pf_types_access access = {.address = address, .memory = &effect->memory};
    struct pf_held_state state;
    struct pf_held_value object;
    uint8_t reason;
    if (pf_types_locate(types, function, &access, &object, &use->reason)) {
        use_object(types, &object, effect, use);
        return;
    }
    if (!pf_types_state_at(types, function, address, &state))
        return;
    access.state = &state;
    if (pf_types_locate(types, function, &access, &object, &reason) ||
        pf_types_stored(function, &access, effect, &object)) {
        reason = PF_TYPE_FOUND;
        use_object(types, &object, effect, use);
        use->is_tracked = true;
    }
    use->reason = reason;
}

static void use_stack(const struct pf_type *type, struct pf_type_use *use)
{
    use->type = type;
    use->offset = 0;
    use->reason = PF_TYPE_FOUND;
}

/* Calls and pushes access the stack, too: that counts when what else they access is not known. */
static void find(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                 const struct pf_effect *effect, struct pf_type_use *use)
{
    const bool accesses = effect->has_memory && effect->kind != PF_EFFECT_ADDRESS;
    use->reason = !accesses ? PF_TYPE_NO_MEM_OPS : PF_TYPE_NO_CUINFO;
    if (accesses && is_canary(effect))
        use_stack(&pf_type_stack_canary, use);
    else if (accesses && function->unit)
        find_object(types, function, address, effect, use);
    if (!use->type && effect->is_stack)
        use_stack(&pf_type_stack_operation, use);
}

/* A jump that is executed as one with the instruction before it accesses what that accesses. */
static void find_fused(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                       const struct pf_effect *effect, struct pf_type_use *use)
{
    struct pf_effect before;
    const bool may_be_fused = effect->flow & PF_FLOW_CONDITIONAL && !effect->has_memory && function->unit;
    const uint64_t first = may_be_fused ? pf_types_fused(types, function, address, &before) : 0;
    if (first)
        find(types, function, first, &before, use);
    else
        find(types, function, address, effect, use);
}

static bool decode(struct pf_types *types, const struct pf_types_code *code, uint64_t address, struct pf_effect *effect)
{
    const uint64_t at = address - code->address;
    return at < code->bytes && pf_disassemble_effect(types->disassembler, &code->machine, code->code + at,
                                                     code->bytes - (size_t)at, address, effect);
}

bool pf_types_find(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                   struct pf_type_use *use)
{
    const struct pf_types_code *code = &function->code;
    struct pf_effect effect;
    *use = (struct pf_type_use){.reason = PF_TYPE_NO_INSN};
    if (!pf_disassembler_has_effects(&code->machine))
        use->reason = PF_TYPE_NO_INSN_OPS;
    if (!decode(types, code, address, &effect))
        return true;
    memcpy(use->mnemonic, effect.mnemonic, sizeof(use->mnemonic));
    find_fused(types, function, address, &effect, use);
    return !pf_memory_was_short(types->allocator);
}

const char *pf_type_reason_name(unsigned reason, const char **doc)
{
    static const struct {
        const char *name, *doc;
    } reasons[PF_TYPE_REASONS] = {
        {"ok", "the type is known"},
#define PF_TYPE_REASON(id, name, doc) {name, doc},
#include "symbol/dwarf/types.def"
    };
    if (reason >= PF_TYPE_REASONS)
        return NULL;
    if (doc)
        *doc = reasons[reason].doc;
    return reasons[reason].name;
}
