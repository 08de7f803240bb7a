/* SPDX-License-Identifier: MIT */
/* x86-64: operands in Intel's order, the written one first. */
#ifdef PF_HAVE_CAPSTONE

#include "base/elf_names.h"
#include "symbol/effect_parts.h"

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, POINTER_BYTES = 8 };

#define BIT(number) ((uint32_t)1 << (number))
#define NAMES(number, r64, r32, r16, r8)                                                                               \
    [X86_REG_##r64] = (number) + 1, [X86_REG_##r32] = (number) + 1, [X86_REG_##r16] = (number) + 1,                    \
    [X86_REG_##r8] = (number) + 1
static const uint8_t numbers[X86_REG_ENDING] = {
    NAMES(RAX, RAX, EAX, AX, AL),
    NAMES(RDX, RDX, EDX, DX, DL),
    NAMES(RCX, RCX, ECX, CX, CL),
    NAMES(RBX, RBX, EBX, BX, BL),
    NAMES(RSI, RSI, ESI, SI, SIL),
    NAMES(RDI, RDI, EDI, DI, DIL),
    NAMES(RBP, RBP, EBP, BP, BPL),
    NAMES(RSP, RSP, ESP, SP, SPL),
    NAMES(R8, R8, R8D, R8W, R8B),
    NAMES(R9, R9, R9D, R9W, R9B),
    NAMES(R10, R10, R10D, R10W, R10B),
    NAMES(R11, R11, R11D, R11W, R11B),
    NAMES(R12, R12, R12D, R12W, R12B),
    NAMES(R13, R13, R13D, R13W, R13B),
    NAMES(R14, R14, R14D, R14W, R14B),
    NAMES(R15, R15, R15D, R15W, R15B),
    [X86_REG_AH] = RAX + 1,
    [X86_REG_BH] = RBX + 1,
    [X86_REG_CH] = RCX + 1,
    [X86_REG_DH] = RDX + 1,
};
#undef NAMES

static int8_t number_of(unsigned reg)
{
    return (int8_t)(reg < X86_REG_ENDING && numbers[reg] ? numbers[reg] - 1 : PF_NO_REGISTER);
}

static void read_memory(const cs_insn *insn, const cs_x86_op *operand, struct pf_effect *effect)
{
    const x86_op_mem *memory = &operand->mem;
    const bool is_relative = memory->base == X86_REG_RIP || memory->base == X86_REG_EIP;
    effect->has_memory = true;
    effect->memory = (struct pf_effect_memory){
        .base = number_of(memory->base),
        .index = number_of(memory->index),
        .scale = (uint8_t)memory->scale,
        .bytes = operand->size,
        .segment = memory->segment == X86_REG_FS   ? PF_SEGMENT_FS
                   : memory->segment == X86_REG_GS ? PF_SEGMENT_GS
                                                   : PF_SEGMENT_NONE,
        .is_fixed = is_relative || (memory->base == X86_REG_INVALID && memory->index == X86_REG_INVALID),
        .offset = (int64_t)((uint64_t)memory->disp + (is_relative ? insn->address + insn->size : 0)),
    };
}

/* Two operands, the first one a register that is only written or changed. */
static void read_register(const cs_insn *insn, struct pf_effect *effect)
{
    const cs_x86_op *to = &insn->detail->x86.operands[0], *from = &insn->detail->x86.operands[1];
    const bool is_pointer = to->size == POINTER_BYTES;
    const int8_t source = from->type == X86_OP_REG ? number_of(from->reg) : PF_NO_REGISTER;
    effect->target = number_of(to->reg);
    switch (insn->id) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
        effect->kind = from->type == X86_OP_MEM                 ? PF_EFFECT_LOAD
                       : from->type == X86_OP_IMM               ? PF_EFFECT_NUMBER
                       : is_pointer && source != PF_NO_REGISTER ? PF_EFFECT_COPY
                                                                : PF_EFFECT_OTHER;
        effect->source = source;
        effect->number = from->type == X86_OP_IMM ? from->imm : 0;
        break;
    case X86_INS_LEA:
        effect->kind = PF_EFFECT_ADDRESS;
        break;
    case X86_INS_ADD:
    case X86_INS_SUB:
        if (from->type == X86_OP_IMM && is_pointer) {
            effect->kind = PF_EFFECT_SUM;
            effect->source = effect->target;
            effect->number = insn->id == X86_INS_ADD ? from->imm : -from->imm;
        } else if (insn->id == X86_INS_ADD && is_pointer && from->type == X86_OP_REG) {
            effect->kind = PF_EFFECT_SUM;
            effect->source = effect->target;
            effect->second = source;
        }
        break;
    case X86_INS_XOR:
        if (source == effect->target && source != PF_NO_REGISTER)
            effect->kind = PF_EFFECT_NUMBER;
        break;
    default:
        break;
    }
}

static void read_store(const cs_insn *insn, struct pf_effect *effect)
{
    const cs_x86_op *from = &insn->detail->x86.operands[1];
    if (insn->id == X86_INS_MOV && from->type == X86_OP_REG) {
        effect->kind = PF_EFFECT_STORE;
        effect->source = number_of(from->reg);
    }
}

/* How the stack pointer moves. */
static void read_stack(const cs_insn *insn, struct pf_effect *effect)
{
    const cs_x86_op *operand = &insn->detail->x86.operands[0];
    effect->is_stack = true;
    switch (insn->id) {
    case X86_INS_PUSH:
    case X86_INS_PUSHFQ:
        effect->moved = RSP;
        effect->moved_by = -POINTER_BYTES;
        break;
    case X86_INS_POP:
    case X86_INS_POPFQ:
        effect->moved = RSP;
        effect->moved_by = POINTER_BYTES;
        effect->target =
            insn->id == X86_INS_POP && operand->type == X86_OP_REG ? number_of(operand->reg) : PF_NO_REGISTER;
        break;
    default: /* the callee pops its return address */
        break;
    }
}

static bool is_one_of(const cs_insn *insn, const uint16_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (insn->id == ids[i])
            return true;
    return false;
}

static const uint16_t on_stack[] = {X86_INS_PUSH,  X86_INS_POP,  X86_INS_PUSHFQ,
                                    X86_INS_POPFQ, X86_INS_CALL, X86_INS_RET};
static const uint16_t fusing[] = {X86_INS_CMP, X86_INS_TEST, X86_INS_ADD, X86_INS_SUB,
                                  X86_INS_AND, X86_INS_INC,  X86_INS_DEC};
#define IS_ONE_OF(insn, ids) is_one_of(insn, ids, sizeof(ids) / sizeof((ids)[0]))

/* Instructions with a memory operand that they do not access. */
static bool is_access(const cs_insn *insn)
{
    return insn->id != X86_INS_NOP;
}

static void read_x86_64(const cs_insn *insn, struct pf_effect *effect)
{
    const cs_x86 *x86 = &insn->detail->x86;
    for (unsigned i = 0; i < x86->op_count && is_access(insn); i++)
        if (x86->operands[i].type == X86_OP_MEM && !effect->has_memory)
            read_memory(insn, &x86->operands[i], effect);
    effect->fuses = IS_ONE_OF(insn, fusing);
    if (IS_ONE_OF(insn, on_stack))
        read_stack(insn, effect);
    else if (x86->op_count >= 2 && x86->operands[0].type == X86_OP_REG && x86->operands[0].access & CS_AC_WRITE)
        read_register(insn, effect);
    else if (x86->op_count == 2 && x86->operands[0].type == X86_OP_MEM)
        read_store(insn, effect);
    if (insn->id == X86_INS_LEAVE) { /* the stack pointer becomes the frame pointer, which is popped */
        effect->kind = PF_EFFECT_COPY;
        effect->target = RSP;
        effect->source = RBP;
        effect->moved = RSP;
        effect->moved_by = POINTER_BYTES;
    }
}

const struct pf_effect_machine pf_effect_x86_64 = {
    .elf_machine = EM_X86_64,
    .read = read_x86_64,
    .number = number_of,
    .clobbered = BIT(RAX) | BIT(RDX) | BIT(RCX) | BIT(RSI) | BIT(RDI) | BIT(R8) | BIT(R9) | BIT(R10) | BIT(R11),
};

#endif
