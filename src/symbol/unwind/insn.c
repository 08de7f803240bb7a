/* SPDX-License-Identifier: MIT */
#include "symbol/unwind/insn.h"

#include <elf.h>

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
    return insn->bytes;
}
