/* SPDX-License-Identifier: MIT */
/* AArch64. */
#ifdef PF_HAVE_CAPSTONE

#include <string.h>

#include "base/elf_names.h"
#include "symbol/effect_parts.h"

enum { SP = 31, LINK = 30, FRAME = 29, W_BYTES = 4, X_BYTES = 8 };

static int8_t number_of(unsigned reg)
{
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
        return (int8_t)(reg - ARM64_REG_X0);
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
        return (int8_t)(reg - ARM64_REG_W0);
    return reg == ARM64_REG_X29                          ? FRAME
           : reg == ARM64_REG_X30                        ? LINK
           : reg == ARM64_REG_SP || reg == ARM64_REG_WSP ? SP
                                                         : PF_NO_REGISTER;
}

static bool is_x(const cs_arm64_op *operand)
{
    return operand->type == ARM64_OP_REG &&
           ((operand->reg >= ARM64_REG_X0 && operand->reg <= ARM64_REG_X28) || operand->reg == ARM64_REG_X29 ||
            operand->reg == ARM64_REG_X30 || operand->reg == ARM64_REG_SP || operand->reg == ARM64_REG_XZR);
}

static int8_t register_of(const cs_arm64_op *operand)
{
    return operand->type == ARM64_OP_REG ? number_of(operand->reg) : (int8_t)PF_NO_REGISTER;
}

/* How many bytes one register of the access has. */
static uint8_t bytes_of(const cs_insn *insn)
{
    static const struct {
        char last;
        uint8_t bytes;
    } ends[] = {{'b', 1}, {'h', 2}, {'w', W_BYTES}};
    const char *name = insn->mnemonic;
    const char last = name[0] ? name[strlen(name) - 1] : '\0';
    const cs_arm64_op *first = &insn->detail->arm64.operands[0];
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (last == ends[i].last)
            return ends[i].bytes;
    if (first->type != ARM64_OP_REG)
        return 0;
    return first->reg >= ARM64_REG_Q0 && first->reg <= ARM64_REG_Q31                    ? 16
           : is_x(first) || (first->reg >= ARM64_REG_D0 && first->reg <= ARM64_REG_D31) ? X_BYTES
                                                                                        : W_BYTES;
}

/* The memory operand, and by how much its base moves before or after the access. */
static void read_memory(const cs_insn *insn, unsigned at, struct pf_effect *effect)
{
    const cs_arm64 *arm = &insn->detail->arm64;
    const cs_arm64_op *operand = &arm->operands[at];
    const bool is_after = at + 1 < arm->op_count && arm->operands[at + 1].type == ARM64_OP_IMM;
    effect->has_memory = true;
    effect->memory = (struct pf_effect_memory){.base = number_of(operand->mem.base),
                                               .index = number_of(operand->mem.index),
                                               .scale = (uint8_t)(1u << (operand->shift.value & 7)),
                                               .bytes = bytes_of(insn),
                                               .offset = operand->mem.disp};
    if (arm->writeback) {
        effect->moved = effect->memory.base;
        effect->moved_by = (int32_t)(is_after ? arm->operands[at + 1].imm : operand->mem.disp);
    }
}

/* Loads of one or two registers; `first` and the next operand are registers before the memory operand. */
static void read_access(const cs_insn *insn, unsigned at, struct pf_effect *effect)
{
    const cs_arm64 *arm = &insn->detail->arm64;
    const int8_t first = register_of(&arm->operands[0]);
    const int8_t next = at == 2 ? register_of(&arm->operands[1]) : (int8_t)PF_NO_REGISTER;
    const char *name = insn->mnemonic;
    const bool is_store = name[0] == 's' && name[1] == 't';
    const bool is_exclusive = is_store && strchr(name, 'x') && name[2] != 'p'; /* the first operand is its result */
    read_memory(insn, at, effect);
    if (is_exclusive || (!is_store && (name[0] != 'l' || name[1] != 'd')))
        return;
    if (is_store) {
        effect->kind = first != PF_NO_REGISTER ? PF_EFFECT_STORE : PF_EFFECT_OTHER;
        effect->source = first;
        effect->second = next;
    } else {
        effect->kind = PF_EFFECT_LOAD;
        effect->target = first;
        effect->second = next;
    }
}

/* add and sub: of a number, or of a register. */
static void read_sum(const cs_insn *insn, struct pf_effect *effect)
{
    const cs_arm64_op *operands = insn->detail->arm64.operands;
    if (insn->detail->arm64.op_count != 3 || !is_x(&operands[0]))
        return;
    const bool is_sub = insn->id == ARM64_INS_SUB;
    effect->source = register_of(&operands[1]);
    if (operands[2].type == ARM64_OP_IMM) {
        const int64_t number = (int64_t)((uint64_t)operands[2].imm << (operands[2].shift.value & 63));
        effect->kind = PF_EFFECT_SUM;
        effect->number = is_sub ? -number : number;
    } else if (!is_sub && operands[2].type == ARM64_OP_REG) {
        effect->kind = PF_EFFECT_SUM;
        effect->second = register_of(&operands[2]);
    }
}

static void read_others(const cs_insn *insn, struct pf_effect *effect)
{
    const cs_arm64_op *operands = insn->detail->arm64.operands;
    const unsigned count = insn->detail->arm64.op_count;
    switch (insn->id) {
    case ARM64_INS_MOV:
    case ARM64_INS_MOVZ:
        effect->target = register_of(&operands[0]);
        effect->source = register_of(&operands[1]);
        if (operands[1].type == ARM64_OP_IMM) {
            effect->kind = PF_EFFECT_NUMBER;
            effect->number = (int64_t)((uint64_t)operands[1].imm << (operands[1].shift.value & 63));
        } else if (is_x(&operands[0]) && effect->source != PF_NO_REGISTER) {
            effect->kind = PF_EFFECT_COPY;
        }
        break;
    case ARM64_INS_ADR:
    case ARM64_INS_ADRP:
        effect->target = register_of(&operands[0]);
        effect->kind = PF_EFFECT_NUMBER;
        effect->number = count > 1 ? operands[1].imm : 0;
        break;
    case ARM64_INS_ADD:
    case ARM64_INS_SUB:
        effect->target = register_of(&operands[0]);
        read_sum(insn, effect);
        break;
    default:
        break;
    }
}

static void read_arm64(const cs_insn *insn, struct pf_effect *effect)
{
    const cs_arm64 *arm = &insn->detail->arm64;
    for (unsigned i = 0; i < arm->op_count && !effect->has_memory; i++)
        if (arm->operands[i].type == ARM64_OP_MEM)
            read_access(insn, i, effect);
    if (!effect->has_memory && arm->op_count >= 2)
        read_others(insn, effect);
}

const struct pf_effect_machine pf_effect_arm64 = {
    .elf_machine = EM_AARCH64,
    .read = read_arm64,
    .number = number_of,
    .clobbered = 0x4007ffff, /* x0 to x18 and the link register */
};

#endif
