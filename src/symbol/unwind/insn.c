/* SPDX-License-Identifier: MIT */
#include "symbol/unwind/insn.h"

#include "base/elf_names.h"
#include "base/x86.h"

/* The first two bits of the first byte say how many halfwords there are. */
static unsigned s390_bytes(const struct pf_insn_machine *machine, const uint8_t *code)
{
    static const unsigned char bytes[4] = {2, 4, 4, 6};
    (void)machine;
    return bytes[code[0] >> 6];
}

/* Compressed instructions have other lowest bits than 11. */
static unsigned riscv_bytes(const struct pf_insn_machine *machine, const uint8_t *code)
{
    (void)machine;
    return (code[0] & 3) != 3 ? 2 : (code[0] & 0x1f) != 0x1f ? 4 : (code[0] & 0x3f) == 0x1f ? 6 : 8;
}

/* Primary opcode 1 is a prefix: a second word follows. */
static unsigned powerpc_bytes(const struct pf_insn_machine *machine, const uint8_t *code)
{
    return code[machine->is_big_endian ? 0 : 3] >> 2 == 1 ? 8 : 4;
}

static unsigned four_bytes(const struct pf_insn_machine *machine, const uint8_t *code)
{
    (void)machine;
    (void)code;
    return 4;
}

static const struct {
    uint16_t elf_machine;
    unsigned (*bytes)(const struct pf_insn_machine *machine, const uint8_t *code);
} machines[] = {
    {EM_AARCH64, four_bytes},  {EM_MIPS, four_bytes},   {EM_PPC, powerpc_bytes},
    {EM_PPC64, powerpc_bytes}, {EM_RISCV, riscv_bytes}, {EM_S390, s390_bytes},
};

/* Instructions are little-endian whatever the data are. */
static enum pf_insn_flow aarch64_flow(const uint8_t *code)
{
    static const struct {
        uint32_t mask, value;
        enum pf_insn_flow flow;
    } forms[] = {
        {0xfc000000, 0x14000000, PF_INSN_JUMP},   /* b */
        {0xfc000000, 0x94000000, PF_INSN_CALL},   /* bl */
        {0xfefff000, 0xd61f0000, PF_INSN_JUMP},   /* br, braaz, braa */
        {0xfefff000, 0xd63f0000, PF_INSN_CALL},   /* blr, blraaz, blraa */
        {0xfffff000, 0xd65f0000, PF_INSN_RETURN}, /* ret, retaa */
        {0xffffffff, 0xd69f03e0, PF_INSN_RETURN}, /* eret */
    };
    const uint32_t word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if ((word & forms[i].mask) == forms[i].value)
            return forms[i].flow;
    return PF_INSN_NEXT;
}

static enum pf_insn_flow x86_flow(enum pf_x86_flow flow)
{
    switch (flow) {
    case PF_X86_CALL:
    case PF_X86_CALL_INDIRECT:
    case PF_X86_FAR_CALL:
        return PF_INSN_CALL;
    case PF_X86_JUMP:
    case PF_X86_JUMP_INDIRECT:
    case PF_X86_FAR_JUMP:
        return PF_INSN_JUMP;
    case PF_X86_RETURN:
    case PF_X86_FAR_RETURN:
    case PF_X86_INTERRUPT_RETURN:
        return PF_INSN_RETURN;
    default:
        return PF_INSN_NEXT;
    }
}

bool pf_insn_decode_x86(bool is_64, const uint8_t *code, size_t bytes, struct pf_insn *insn)
{
    struct pf_x86_insn decoded;
    const bool valid = pf_x86_decode(is_64, code, bytes, &decoded);
    *insn = (struct pf_insn){.bytes = decoded.bytes,
                             .flow = x86_flow(decoded.flow),
                             .jumps = decoded.flow >= PF_X86_JUMP && decoded.flow <= PF_X86_FAR_RETURN};
    return valid;
}

bool pf_insn_decode(const struct pf_insn_machine *machine, const uint8_t *code, size_t bytes, struct pf_insn *insn)
{
    *insn = (struct pf_insn){0};
    if (machine->elf_machine == EM_X86_64 || machine->elf_machine == EM_386)
        return pf_insn_decode_x86(machine->is_64, code, bytes, insn);
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]) && bytes >= 4; i++)
        if (machines[i].elf_machine == machine->elf_machine)
            insn->bytes = machines[i].bytes(machine, code);
    if (insn->bytes > bytes)
        insn->bytes = 0;
    if (insn->bytes && machine->elf_machine == EM_AARCH64)
        insn->flow = aarch64_flow(code);
    return insn->bytes;
}
