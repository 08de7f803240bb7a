/* SPDX-License-Identifier: MIT */
/*
 * What registers hold at each instruction: the code of a function is decoded once, and the state goes from block to
 * block until it does not change any more. What is different on two ways to a block is not known there.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/elf_names.h"
#include "base/sort.h"
#include "symbol/dwarf/types_parts.h"

enum {
    POINTER_BYTES = 8,
    EFFECTS_MAX = 1 << 16, /* of one function: larger ones have the first ones */
    VISITS_PER_BLOCK = 16, /* states only lose what they know, so that this is rarely reached */
};

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* A typedef is the same as the type that it stands for. */
static bool is_same_type(const struct pf_type_node *a, const struct pf_type_node *b)
{
    return a == b || (a && b && a->real.at == b->real.at);
}

/* Of what they point to. */
static bool is_same_target(const struct pf_held_value *a, const struct pf_held_value *b)
{
    return a->kind == b->kind && (!a->kind || (is_same_type(a->type, b->type) && a->offset == b->offset));
}

static bool is_same(const struct pf_held_value *a, const struct pf_held_value *b)
{
    return is_same_target(a, b) && is_same_type(a->own, b->own);
}

/* Both are in elements of the same array: a number of complete elements apart. */
static bool are_elements(struct pf_types *types, const struct pf_held_value *a, const struct pf_held_value *b)
{
    if (a->kind != PF_HELD_POINTER || b->kind != PF_HELD_POINTER || !a->type || !is_same_type(a->type, b->type))
        return false;
    const int64_t bytes = (int64_t)a->type->public.bytes;
    const int64_t low = a->offset < b->offset ? a->offset : b->offset, apart = a->offset + b->offset - 2 * low;
    if (bytes && apart % bytes == 0)
        return true;
    uint64_t inner = (uint64_t)low;
    const struct pf_type_node *element = low < 0 || low >= bytes ? NULL : pf_types_inner(types, a->type, &inner);
    return element && element->public.bytes && apart % (int64_t)element->public.bytes == 0;
}

static struct pf_held_value join(struct pf_types *types, const struct pf_held_value *a, const struct pf_held_value *b)
{
    struct pf_held_value both = *a;
    both.own = is_same_type(a->own, b->own) ? a->own : NULL;
    if (is_same_target(a, b))
        return both;
    if (!are_elements(types, a, b))
        return (struct pf_held_value){.kind = PF_HELD_UNKNOWN, .own = both.own};
    const int64_t bytes = (int64_t)a->type->public.bytes;
    const bool is_ordered = a->offset < b->offset;
    const int64_t low = is_ordered ? a->offset : b->offset, high = is_ordered ? b->offset : a->offset;
    both.offset = low < 0 && high < bytes ? high : low;
    return both;
}

static void drop_slot(struct pf_held_state *state, uint32_t index)
{
    state->slots[index] = state->slots[--state->slot_count];
}

static const struct pf_held_value *slot_at(const struct pf_held_state *state, int64_t at)
{
    for (uint32_t i = 0; i < state->slot_count; i++)
        if (state->slots[i].at == at)
            return &state->slots[i].value;
    return NULL;
}

/* What the memory at an offset of the frame holds now; it does not hold what overlapped that. */
static void set_slot(struct pf_held_state *state, int64_t at, uint8_t bytes, const struct pf_held_value *value)
{
    bytes = bytes ? bytes : POINTER_BYTES;
    for (uint32_t i = state->slot_count; i-- > 0;)
        if (state->slots[i].at < at + bytes && at < state->slots[i].at + state->slots[i].bytes)
            drop_slot(state, i);
    if ((value->kind || value->own) && state->slot_count < PF_TRACKED_SLOTS)
        state->slots[state->slot_count++] = (struct pf_held_slot){.at = at, .value = *value, .bytes = bytes};
}

/* Adds another way to the block; true: less is known there than before. */
static bool join_states(struct pf_types *types, struct pf_held_state *entry, const struct pf_held_state *from)
{
    bool has_changed = false;
    if (!entry->is_reached) {
        *entry = *from;
        entry->is_reached = true;
        return true;
    }
    for (unsigned i = 0; i < PF_TRACKED_REGISTERS; i++) {
        const struct pf_held_value both = join(types, &entry->registers[i], &from->registers[i]);
        has_changed |= !is_same(&both, &entry->registers[i]);
        entry->registers[i] = both;
    }
    for (uint32_t i = entry->slot_count; i-- > 0;) {
        const struct pf_held_value *other = slot_at(from, entry->slots[i].at);
        const struct pf_held_value unknown = {.kind = PF_HELD_UNKNOWN};
        const struct pf_held_value both = join(types, &entry->slots[i].value, other ? other : &unknown);
        has_changed |= !is_same(&both, &entry->slots[i].value);
        entry->slots[i].value = both;
        if (!both.kind && !both.own)
            drop_slot(entry, i);
    }
    return has_changed;
}

/* ---- one instruction --------------------------------------------------------------------------------------------- */

struct step {
    struct pf_types *types;
    const struct pf_types_function *function;
    struct pf_types_access access;
    const struct pf_effect *effect;
    struct pf_held_state *state;
};

static struct pf_held_value held(const struct step *s, int8_t reg)
{
    struct pf_held_value value = pf_types_held(s->types, s->function, &s->access, reg);
    if (reg == PF_NO_REGISTER)
        return value;
    const struct pf_type_node *own = pf_types_variable_in(s->function, s->access.address, reg);
    value.own = own ? own : s->state->registers[reg].own;
    return value;
}

/* What the memory that is `more` bytes after the operand is: an offset in the frame, or false. */
static bool is_in_frame(const struct step *s, int64_t more, int64_t *at)
{
    const struct pf_effect_memory *memory = &s->effect->memory;
    if (memory->base == PF_NO_REGISTER || memory->index != PF_NO_REGISTER || memory->segment)
        return false;
    const struct pf_held_value *base = &s->state->registers[memory->base];
    *at = (int64_t)((uint64_t)base->offset + (uint64_t)memory->offset + (uint64_t)more);
    return base->kind == PF_HELD_FRAME;
}

/* What is loaded from a variable or member has its type. */
static struct pf_held_value loaded(const struct step *s, int64_t more)
{
    struct pf_effect_memory memory = s->effect->memory;
    struct pf_held_value object, value = {.kind = PF_HELD_UNKNOWN};
    const struct pf_held_value *slot;
    uint8_t reason;
    int64_t at;
    if (is_in_frame(s, more, &at) && (slot = slot_at(s->state, at)))
        return *slot;
    memory.offset += more;
    const struct pf_types_access access = {.address = s->access.address, .memory = &memory, .state = s->access.state};
    if (!pf_types_locate(s->types, s->function, &access, &object, &reason))
        return value;
    uint64_t inner = (uint64_t)object.offset;
    const struct pf_type_node *type = pf_types_inner(s->types, object.type, &inner);
    if (inner || !type || type->public.bytes != memory.bytes)
        return value;
    value.own = type;
    if (type->public.kind == PF_TYPE_POINTER) {
        value.kind = PF_HELD_POINTER;
        value.type = pf_types_target(s->types, type);
    }
    return value;
}

/*
 * A pointer that moves by complete objects points to an object as before; but to smaller addresses, from a member to
 * the structure that it is in, mostly.
 */
static void move(struct pf_held_value *value, int64_t by)
{
    const struct pf_type *type = value->kind == PF_HELD_POINTER && value->type ? &value->type->public : NULL;
    if (type && type->bytes && by % (int64_t)type->bytes == 0 && (by > 0 || type->kind != PF_TYPE_RECORD))
        return;
    value->offset = (int64_t)((uint64_t)value->offset + (uint64_t)by);
}

/* What an index may be added to: the sum is in an element of the same array, which is where its first one is. */
static bool is_array(const struct pf_held_value *value)
{
    enum { ADDRESS_MIN = 4096 };
    return value->kind == PF_HELD_POINTER || value->kind == PF_HELD_FRAME ||
           (value->kind == PF_HELD_NUMBER && value->offset >= ADDRESS_MIN);
}

static struct pf_held_value sum(const struct step *s)
{
    struct pf_held_value value = held(s, s->effect->source);
    if (s->effect->second == PF_NO_REGISTER) {
        move(&value, s->effect->number);
        return value;
    }
    const struct pf_held_value other = held(s, s->effect->second);
    if (value.kind == PF_HELD_NUMBER && other.kind == PF_HELD_NUMBER) {
        move(&value, other.offset);
        return value;
    }
    return is_array(&value) && (value.kind == PF_HELD_POINTER || other.kind != PF_HELD_POINTER) ? value
           : is_array(&other)                                                                   ? other
                              : (struct pf_held_value){.kind = PF_HELD_UNKNOWN};
}

/* The address of a variable or of a part of an object. */
static struct pf_held_value address_of(const struct step *s)
{
    const struct pf_effect_memory *memory = &s->effect->memory;
    struct pf_held_value value = {.kind = PF_HELD_UNKNOWN};
    if (memory->is_fixed)
        return (struct pf_held_value){.kind = PF_HELD_NUMBER, .offset = memory->offset};
    if (memory->base != PF_NO_REGISTER)
        value = held(s, memory->base);
    if (!value.kind && memory->index != PF_NO_REGISTER && memory->scale == 1)
        value = held(s, memory->index);
    value.own = NULL;
    if (value.kind == PF_HELD_NUMBER && memory->index != PF_NO_REGISTER) /* an element of a global array */
        return value;
    move(&value, memory->offset);
    return value;
}

static void store(const struct step *s)
{
    const int8_t sources[] = {s->effect->source, s->effect->second};
    const struct pf_held_value unknown = {.kind = PF_HELD_UNKNOWN};
    int64_t at;
    for (unsigned i = 0; i < PF_COUNT(sources); i++) {
        if ((i && sources[i] == PF_NO_REGISTER) || !is_in_frame(s, (int64_t)i * POINTER_BYTES, &at))
            continue;
        const bool is_known = s->effect->kind == PF_EFFECT_STORE && sources[i] != PF_NO_REGISTER;
        struct pf_held_value value = is_known ? held(s, sources[i]) : unknown;
        if (s->effect->memory.bytes != POINTER_BYTES)
            value.kind = PF_HELD_UNKNOWN;
        if (value.own && value.own->public.bytes != s->effect->memory.bytes)
            value.own = NULL;
        set_slot(s->state, at, s->effect->memory.bytes, &value);
    }
}

static struct pf_held_value result_of(const struct step *s)
{
    switch (s->effect->kind) {
    case PF_EFFECT_COPY:
        return held(s, s->effect->source);
    case PF_EFFECT_NUMBER:
        return (struct pf_held_value){.kind = PF_HELD_NUMBER, .offset = s->effect->number};
    case PF_EFFECT_SUM:
        return sum(s);
    case PF_EFFECT_ADDRESS:
        return address_of(s);
    case PF_EFFECT_LOAD:
        return loaded(s, 0);
    default:
        return (struct pf_held_value){.kind = PF_HELD_UNKNOWN};
    }
}

/* The type that the called function returns: by the description of the call, or of a function of the same unit. */
static void take_result(const struct step *s, const struct pf_types_function *function)
{
    const uint64_t after = s->access.address + s->effect->bytes;
    const struct pf_type_node *type = NULL;
    for (size_t i = 0; i < function->call_count && !type; i++)
        if (function->calls[i].address == after)
            type = function->calls[i].type;
    if (!type && s->effect->has_branch)
        type = pf_types_result_of(s->types, function->unit, s->effect->branch);
    if (type && type->public.kind == PF_TYPE_POINTER)
        s->state->registers[0] =
            (struct pf_held_value){.kind = PF_HELD_POINTER, .type = pf_types_target(s->types, type), .own = type};
}

/* Registers of DWARF variables first: what they hold follows from the state before the instruction. */
static void take_step(const struct step *s)
{
    const struct pf_effect *effect = s->effect;
    const struct pf_held_value first = result_of(s);
    const bool has_second = effect->kind == PF_EFFECT_LOAD && effect->second != PF_NO_REGISTER;
    const struct pf_held_value second =
        has_second ? loaded(s, POINTER_BYTES) : (struct pf_held_value){.kind = PF_HELD_UNKNOWN};
    struct pf_held_value moved = {.kind = PF_HELD_UNKNOWN};
    if (effect->moved != PF_NO_REGISTER)
        moved = effect->moved == effect->target && effect->kind == PF_EFFECT_COPY ? first : held(s, effect->moved);
    if (effect->has_memory && effect->kind != PF_EFFECT_LOAD && effect->kind != PF_EFFECT_ADDRESS)
        store(s);
    for (unsigned i = 0; i < PF_TRACKED_REGISTERS; i++)
        if (effect->written & (uint32_t)1 << i && !(effect->is_stack && (int8_t)i == s->function->stack_pointer))
            s->state->registers[i] = (struct pf_held_value){.kind = PF_HELD_UNKNOWN};
    if (effect->target != PF_NO_REGISTER)
        s->state->registers[effect->target] = first;
    if (has_second)
        s->state->registers[effect->second] = second;
    if (effect->moved != PF_NO_REGISTER) {
        move(&moved, effect->moved_by);
        s->state->registers[effect->moved] = moved;
    }
    if (effect->flow & PF_FLOW_CALL)
        take_result(s, s->function);
}

/* Variables whose location begins at the address: their registers keep what they hold when the location has ended. */
static void take_variables(struct pf_types *types, const struct pf_types_function *function, uint64_t address,
                           struct pf_held_state *state)
{
    const struct pf_types_variable *all = function->starting;
    size_t i = PF_COUNT_BEFORE(function->starting_count, at, all[at].low < address);
    uint64_t done = 0; /* all variables of a register have their turn at once */
    for (; i < function->starting_count && all[i].low == address; i++) {
        if (done & UINT64_C(1) << all[i].reg)
            continue;
        done |= UINT64_C(1) << all[i].reg;
        struct pf_held_value value = pf_types_held_by_variable(types, function, address, all[i].reg, 0);
        value.own = pf_types_variable_in(function, address, all[i].reg);
        if (state->registers[all[i].reg].kind == PF_HELD_FRAME) /* the variable is a pointer into the frame */
            continue;
        if (value.kind && value.type && value.type->public.bytes)
            state->registers[all[i].reg] = value;
        else if (value.own)
            state->registers[all[i].reg].own = value.own;
    }
}

static void run(struct pf_types *types, const struct pf_types_function *function, size_t from, size_t to,
                struct pf_held_state *state)
{
    for (size_t i = from; i < to; i++) {
        take_variables(types, function, function->addresses[i], state);
        const struct step step = {
            .types = types,
            .function = function,
            .access = {.address = function->addresses[i], .memory = &function->effects[i].memory, .state = state},
            .effect = &function->effects[i],
            .state = state};
        if (function->effects[i].is_valid)
            take_step(&step);
        else
            memset(state->registers, 0, sizeof(state->registers));
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static bool decode(struct pf_types *types, struct pf_types_function *function)
{
    const struct pf_types_code *code = &function->code;
    const size_t unit = code->machine.elf_machine == EM_X86_64 ? 1 : 4;
    struct pf_effect effect;
    for (size_t at = 0; at < code->bytes && function->effect_count < EFFECTS_MAX;) {
        size_t count = function->effect_count;
        const bool is_valid = pf_disassemble_effect(types->disassembler, &code->machine, code->code + at,
                                                    code->bytes - at, code->address + at, &effect);
        if (!PF_APPEND(types->allocator, function->addresses, count, function->address_capacity, code->address + at) ||
            !PF_APPEND(types->allocator, function->effects, function->effect_count, function->effect_capacity, effect))
            return false;
        at += is_valid ? effect.bytes : unit;
    }
    return true;
}

/* The instruction at an address, or `effect_count`. */
static size_t index_of(const struct pf_types_function *function, uint64_t address)
{
    const size_t at = PF_COUNT_BEFORE(function->effect_count, i, function->addresses[i] < address);
    return at < function->effect_count && function->addresses[at] == address ? at : function->effect_count;
}

static struct pf_types_block *block_of(const struct pf_types_function *function, size_t index)
{
    const size_t after = PF_COUNT_BEFORE(function->block_count, i, function->blocks[i].first <= index);
    return &function->blocks[after - 1];
}

static size_t block_end(const struct pf_types_function *function, const struct pf_types_block *block)
{
    return block + 1 < function->blocks + function->block_count ? block[1].first : function->effect_count;
}

static bool ends_block(const struct pf_effect *effect)
{
    return effect->flow & (PF_FLOW_JUMP | PF_FLOW_RETURN);
}

static bool make_blocks(struct pf_types *types, struct pf_types_function *function, const uint8_t *starts)
{
    for (size_t i = 0; i < function->effect_count; i++)
        if ((starts[i] || !i) && !PF_APPEND(types->allocator, function->blocks, function->block_count,
                                            function->block_capacity, (struct pf_types_block){.first = (uint32_t)i}))
            return false;
    return true;
}

static bool find_blocks(struct pf_types *types, struct pf_types_function *function)
{
    const size_t count = function->effect_count + 1;
    uint8_t *starts = pf_new(types->allocator, count);
    if (!starts)
        return false;
    for (size_t i = 0; i < function->effect_count; i++) {
        if (!ends_block(&function->effects[i]))
            continue;
        starts[i + 1] = 1;
        if (function->effects[i].has_branch)
            starts[index_of(function, function->effects[i].branch)] = 1;
    }
    const bool enough = make_blocks(types, function, starts);
    pf_free(types->allocator, starts, count);
    return enough;
}

static void wait_for(struct pf_types_function *function, struct pf_types_block *block)
{
    function->waiting_count += !block->is_waiting;
    block->is_waiting = true;
}

static bool visit(struct pf_types *types, struct pf_types_function *function, size_t index,
                  const struct pf_held_state *state)
{
    if (index >= function->effect_count)
        return false;
    struct pf_types_block *block = block_of(function, index);
    const bool is_new = block->first == index && join_states(types, &block->entry, state);
    if (is_new)
        wait_for(function, block);
    return is_new;
}

/* The state at the end of a block goes to those that follow it. True: one of them has changed. */
static bool leave_block(struct pf_types *types, struct pf_types_function *function, struct pf_types_block *block)
{
    struct pf_held_state state = block->entry;
    const size_t end = block_end(function, block);
    const struct pf_effect *last = &function->effects[end - 1];
    block->is_waiting = false;
    function->waiting_count--;
    run(types, function, block->first, end, &state);
    const bool goes_on = !ends_block(last) || last->flow & PF_FLOW_CONDITIONAL;
    bool has_changed = last->flow & PF_FLOW_JUMP && last->has_branch &&
                       visit(types, function, index_of(function, last->branch), &state);
    if (goes_on)
        has_changed |= visit(types, function, end, &state);
    return has_changed;
}

/* No block before this one is waiting. */
static void settle(struct pf_types *types, struct pf_types_function *function, size_t first)
{
    bool has_changed = true;
    for (unsigned round = 0; has_changed && round < VISITS_PER_BLOCK; round++) {
        has_changed = false;
        for (size_t i = round ? 0 : first; i < function->block_count && function->waiting_count; i++)
            if (function->blocks[i].is_waiting)
                has_changed |= leave_block(types, function, &function->blocks[i]);
    }
}

/* It only fills the space before the next block. */
static bool is_padding(const struct pf_types_function *function, const struct pf_types_block *block)
{
    const size_t end = block_end(function, block);
    size_t i = block->first;
    while (i < end && strncmp(function->effects[i].mnemonic, "nop", 3) == 0)
        i++;
    return i == end;
}

/*
 * At the entry the stack pointer is known. Blocks that only computed jumps lead to begin with what the first block
 * left.
 */
static void settle_all(struct pf_types *types, struct pf_types_function *function)
{
    const bool is_x86 = function->code.machine.elf_machine == EM_X86_64;
    struct pf_held_state *entry = &function->blocks[0].entry;
    function->stack_pointer = is_x86 ? 7 : 31;
    entry->is_reached = true;
    entry->registers[function->stack_pointer] = (struct pf_held_value){
        .kind = function->is_entry ? PF_HELD_FRAME : PF_HELD_UNKNOWN, .offset = is_x86 ? -POINTER_BYTES : 0};
    wait_for(function, &function->blocks[0]);
    settle(types, function, 0);
    for (size_t i = 1; i < function->block_count; i++) {
        struct pf_types_block *block = &function->blocks[i];
        if (block->entry.is_reached || is_padding(function, block))
            continue;
        for (unsigned k = 0; k < PF_TRACKED_REGISTERS; k++)
            if (block[-1].entry.registers[k].kind == PF_HELD_FRAME)
                block->entry.registers[k] = block[-1].entry.registers[k];
        const size_t first = function->waiting_count ? 0 : i;
        block->entry.is_reached = true;
        wait_for(function, block);
        settle(types, function, first);
    }
}

/* Decodes the function and finds the states, once. False: out of memory. */
static bool track(struct pf_types *types, struct pf_types_function *function)
{
    if (function->is_tracked)
        return true;
    function->is_tracked = true;
    if (!decode(types, function) || !find_blocks(types, function))
        return false;
    if (function->block_count)
        settle_all(types, function);
    return true;
}

uint64_t pf_types_fused(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                        struct pf_effect *effect)
{
    const size_t index = track(types, function) ? index_of(function, address) : 0;
    if (!index || index == function->effect_count)
        return 0;
    *effect = function->effects[index - 1];
    return effect->fuses && effect->has_memory ? function->addresses[index - 1] : 0;
}

bool pf_types_state_at(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                       struct pf_held_state *state)
{
    if (!track(types, function))
        return false;
    const size_t index = index_of(function, address);
    if (!function->block_count || index == function->effect_count)
        return false;
    const struct pf_types_block *block = block_of(function, index);
    *state = block->entry;
    run(types, function, block->first, index, state);
    return true;
}
