/* SPDX-License-Identifier: MIT */
#include "symbol/unwind/code_exit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/x86.h"

enum {
    MAX_STEPS = 600,
    MAX_OFFSET = 1 << 24,
    REX_W = 8,
    REX_R = 4,
    REX_X = 2,
    REX_B = 1,
    NO_REGISTER = 0xff,
};

/* An instruction with its operands. */
struct operands {
    struct pf_x86_insn insn;
    const uint8_t *code;
    uint8_t reg, rm; /* rm: the register, or the base of the address; NO_REGISTER: neither */
    bool is_memory;
    int32_t offset; /* from the base */
};

static unsigned word_bytes(const struct pf_code_walk *walk)
{
    return walk->is_64 ? 8 : 4;
}

static void move(struct pf_code_slot *slot, int64_t by)
{
    const int64_t offset = slot->offset + by;
    slot->is_known &= offset > -MAX_OFFSET && offset < MAX_OFFSET;
    slot->offset = slot->is_known ? (int32_t)offset : 0;
}

static int32_t load_offset(const uint8_t *code, unsigned bytes)
{
    return bytes == 1 ? (int8_t)*code : bytes == 4 ? (int32_t)pf_load32(code, PF_NATIVE_BIG_ENDIAN) : 0;
}

/*
 * The base of an address, and what is added to it. Addresses with an index have no base that would count here, nor have
 * those of 16 bits, which are shorter than their first byte makes them seem.
 */
static void read_address(struct operands *o, unsigned mod)
{
    const unsigned first = o->insn.modrm + 1u, bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    const bool has_sib = (o->code[o->insn.modrm] & 7) == PF_CODE_SP;
    o->rm = NO_REGISTER;
    if (first + has_sib + bytes > o->insn.bytes)
        return;
    const uint8_t last = o->code[first - 1 + has_sib], base = last & 7;
    const bool has_index = has_sib && ((last >> 3 & 7) != PF_CODE_SP || (o->insn.rex & REX_X));
    if (has_index || (mod == 0 && base == PF_CODE_FP))
        return;
    o->rm = (uint8_t)(base | (o->insn.rex & REX_B) << 3);
    o->offset = load_offset(o->code + first + has_sib, bytes);
}

static void read_operands(struct operands *o)
{
    const uint8_t modrm = o->code[o->insn.modrm];
    const unsigned mod = modrm >> 6;
    o->reg = (uint8_t)((modrm >> 3 & 7) | (o->insn.rex & REX_R) << 1);
    o->is_memory = mod != 3;
    o->rm = (uint8_t)((modrm & 7) | (o->insn.rex & REX_B) << 3);
    o->offset = 0;
    if (o->is_memory)
        read_address(o, mod);
}

/* ---- what instructions do ---- */

static const struct pf_code_slot unknown = {.is_known = false};

/* A register gets what is at an address of the stack. What the way itself pushed is there again: nothing changed. */
static void load(struct pf_code_state *state, uint8_t number, const struct pf_code_slot *from)
{
    if (from->is_known && !from->by_fp && from->offset < 0)
        return;
    state->saved[number] = *from;
    if (number == PF_CODE_SP)
        state->sp = unknown;
    if (number == PF_CODE_FP)
        state->fp = unknown;
}

static void pop(struct pf_code_walk *walk, uint8_t number)
{
    const struct pf_code_slot from = walk->state.sp;
    move(&walk->state.sp, word_bytes(walk));
    if (number != NO_REGISTER)
        load(&walk->state, number, &from);
}

/* The slot that an address names. */
static struct pf_code_slot slot_at(const struct pf_code_state *state, const struct operands *o)
{
    struct pf_code_slot slot = o->rm == PF_CODE_SP ? state->sp : o->rm == PF_CODE_FP ? state->fp : unknown;
    move(&slot, o->offset);
    return slot;
}

static void do_move(struct pf_code_state *state, uint8_t to, uint8_t from)
{
    const struct pf_code_slot slot = from == PF_CODE_SP ? state->sp : from == PF_CODE_FP ? state->fp : unknown;
    if (to == PF_CODE_SP)
        state->sp = slot;
    else if (to == PF_CODE_FP)
        state->fp = slot;
}

/* mov and lea; loads from elsewhere than the stack are not those that a function ends with. */
static void do_load(struct pf_code_state *state, const struct operands *o)
{
    const struct pf_code_slot slot = slot_at(state, o);
    if (o->insn.opcode == 0x8d) {
        if (o->reg == PF_CODE_SP)
            state->sp = slot;
        else if (o->reg == PF_CODE_FP)
            state->fp = slot;
    } else if (!o->is_memory) {
        do_move(state, o->reg, o->rm);
    } else if (slot.is_known || o->reg == PF_CODE_SP) {
        load(state, o->reg, &slot);
    }
}

/* Arithmetic with a constant: 83 has one byte of it, 81 four. */
static void do_arithmetic(struct pf_code_state *state, const struct operands *o)
{
    const unsigned bytes = o->insn.opcode == 0x83 ? 1 : 4;
    const int32_t value = load_offset(o->code + o->insn.bytes - bytes, bytes);
    enum { ADD = 0, SUBTRACT = 5, COMPARE = 7 };
    const unsigned kind = o->reg & 7;
    if (o->is_memory || o->rm != PF_CODE_SP || kind == COMPARE)
        return;
    if (kind == ADD || kind == SUBTRACT)
        move(&state->sp, kind == ADD ? value : -(int64_t)value);
    else
        state->sp = unknown;
}

static void do_leave(struct pf_code_walk *walk)
{
    walk->state.sp = walk->state.fp;
    pop(walk, PF_CODE_FP);
}

/* Arithmetic and moves between registers, which may change the stack pointer by what is not known. */
static void do_other(struct pf_code_state *state, const struct operands *o)
{
    const uint8_t opcode = o->insn.opcode;
    const bool is_arithmetic = opcode < 0x40 && (opcode & 7) < 4 && opcode < 0x38;
    const bool to_reg = (is_arithmetic && (opcode & 2)) || opcode == 0x63 || opcode == 0x69 || opcode == 0x6b;
    const bool to_rm = (is_arithmetic && !(opcode & 2)) || opcode == 0xc7 || opcode == 0x87;
    if ((to_reg && o->reg == PF_CODE_SP) || (to_rm && !o->is_memory && o->rm == PF_CODE_SP))
        state->sp = unknown;
}

static void do_with_operands(struct pf_code_walk *walk, struct operands *o)
{
    struct pf_code_state *state = &walk->state;
    read_operands(o);
    switch (o->insn.opcode) {
    case 0x81:
    case 0x83:
        do_arithmetic(state, o);
        break;
    case 0x89:
        if (!o->is_memory)
            do_move(state, o->rm, o->reg);
        break;
    case 0x8b:
    case 0x8d:
        do_load(state, o);
        break;
    case 0x8f:
        pop(walk, o->is_memory ? NO_REGISTER : o->rm);
        break;
    case 0xff:
        if ((o->reg & 7) == 6)
            move(&state->sp, -(int64_t)word_bytes(walk));
        break;
    default:
        do_other(state, o);
    }
}

static void do_plain(struct pf_code_walk *walk, struct operands *o)
{
    const uint8_t opcode = o->insn.opcode;
    const bool pushes = (opcode & 0xf8) == 0x50 || opcode == 0x68 || opcode == 0x6a || opcode == 0x9c;
    if (o->insn.modrm)
        do_with_operands(walk, o);
    else if (pushes || (opcode == 0xe8 && o->insn.displacement == 0)) /* a call of the next one pushes its address */
        move(&walk->state.sp, -(int64_t)word_bytes(walk));
    else if ((opcode & 0xf8) == 0x58)
        pop(walk, (uint8_t)((opcode & 7) | (o->insn.rex & REX_B) << 3));
    else if (opcode == 0x9d)
        pop(walk, NO_REGISTER);
    else if (opcode == 0xc9)
        do_leave(walk);
    else if (opcode == 0xc8)
        walk->state.sp = unknown;
}

/* ---- the way ---- */

/* Instructions after which a program does not go on: hlt, int3, ud2. */
static bool is_dead_end(const struct operands *o)
{
    const uint8_t *code = o->code;
    return o->insn.bytes == 1 ? *code == 0xf4 || *code == 0xcc : code[0] == 0x0f && code[1] == 0x0b;
}

static bool is_end(enum pf_x86_flow flow)
{
    return flow == PF_X86_SYSTEM_RETURN || flow == PF_X86_INTERRUPT_RETURN || flow == PF_X86_FAR_JUMP ||
           flow == PF_X86_FAR_RETURN;
}

/* Goes by the displacement; false: out of the code. */
static bool go(const struct pf_code_walk *walk, struct pf_code_state *state, const struct pf_x86_insn *insn)
{
    const int64_t to = (int64_t)state->at + (int64_t)insn->bytes + insn->displacement;
    if (to < 0 || (uint64_t)to >= walk->bytes)
        return false;
    state->at = (size_t)to;
    return true;
}

static void keep_branch(struct pf_code_walk *walk, const struct pf_x86_insn *insn)
{
    struct pf_code_state *state = &walk->branches[walk->branch_count];
    if (walk->branch_count == PF_CODE_BRANCHES)
        return;
    *state = walk->state;
    walk->branch_count += go(walk, state, insn);
}

/* Loops are not followed twice. */
static bool is_followed(struct pf_code_walk *walk)
{
    uint32_t *jump = &walk->jumps[walk->state.at % PF_CODE_JUMPS];
    const bool before = *jump == walk->state.at + 1;
    *jump = (uint32_t)walk->state.at + 1;
    return before;
}

enum progress { GOES_ON, AT_EXIT, LOST };

static enum progress step(struct pf_code_walk *walk, struct pf_code_exit *exit)
{
    struct pf_code_state *state = &walk->state;
    struct operands o = {.code = walk->code + state->at};
    if (!pf_x86_decode(walk->is_64, o.code, walk->bytes - state->at, &o.insn) || is_dead_end(&o))
        return LOST;
    if (o.insn.flow == PF_X86_RETURN || o.insn.flow == PF_X86_JUMP_INDIRECT) {
        *exit =
            (struct pf_code_exit){.address = state->sp, .is_jump = o.insn.flow != PF_X86_RETURN, .saved = state->saved};
        return state->sp.is_known ? AT_EXIT : LOST;
    }
    const bool jumps = o.insn.flow == PF_X86_JUMP || o.insn.flow == PF_X86_CONDITIONAL;
    if (is_end(o.insn.flow) || (jumps && is_followed(walk)))
        return LOST;
    if (o.insn.is_plain)
        do_plain(walk, &o);
    if (o.insn.flow == PF_X86_JUMP)
        return go(walk, state, &o.insn) ? GOES_ON : LOST;
    if (o.insn.flow == PF_X86_CONDITIONAL)
        keep_branch(walk, &o.insn);
    state->at += o.insn.bytes;
    return state->at < walk->bytes ? GOES_ON : LOST;
}

void pf_code_walk_start(struct pf_code_walk *walk, bool is_64, const uint8_t *code, size_t bytes, size_t at)
{
    walk->code = code;
    walk->bytes = bytes;
    walk->is_64 = is_64;
    walk->branch_count = 0;
    walk->steps = at < bytes ? 0 : MAX_STEPS;
    memset(&walk->state, 0, sizeof(walk->state));
    memset(walk->jumps, 0, sizeof(walk->jumps));
    walk->state.at = at;
    walk->state.sp.is_known = true;
    walk->state.fp = (struct pf_code_slot){.is_known = true, .by_fp = true};
}

static bool take_branch(struct pf_code_walk *walk)
{
    if (walk->branch_count == 0)
        return false;
    walk->state = walk->branches[--walk->branch_count];
    return true;
}

bool pf_code_walk_next(struct pf_code_walk *walk, struct pf_code_exit *exit)
{
    while (walk->steps < MAX_STEPS) {
        walk->steps++;
        const enum progress progress = step(walk, exit);
        if (progress == AT_EXIT) {
            walk->exit = walk->state;
            exit->saved = walk->exit.saved;
        }
        if (progress != GOES_ON && !take_branch(walk))
            walk->steps = MAX_STEPS;
        if (progress == AT_EXIT)
            return true;
    }
    return false;
}

bool pf_code_is_called(bool is_64, const uint8_t *code, size_t bytes, size_t at)
{
    enum { MIN_CALL = 2, MAX_CALL = 8 };
    struct pf_x86_insn insn;
    for (size_t before = MIN_CALL; before <= MAX_CALL && before <= at && at <= bytes; before++)
        if (pf_x86_decode(is_64, code + at - before, before, &insn) && insn.bytes == before &&
            (insn.flow == PF_X86_CALL || insn.flow == PF_X86_CALL_INDIRECT))
            return true;
    return false;
}
