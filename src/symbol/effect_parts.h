/* SPDX-License-Identifier: MIT */
/* What the disassembler and the files of the machines share: they look at an instruction as capstone decoded it. */
#ifndef PF_SYMBOL_EFFECT_PARTS_H
#define PF_SYMBOL_EFFECT_PARTS_H

#include <capstone/capstone.h>

#include "symbol/effect.h"

struct pf_effect_machine {
    uint16_t elf_machine;
    void (*read)(const cs_insn *insn, struct pf_effect *effect);
    int8_t (*number)(unsigned reg); /* of a register of capstone; PF_NO_REGISTER: not a general one */
    uint32_t clobbered;             /* by calls */
};

extern const struct pf_effect_machine pf_effect_x86_64, pf_effect_arm64;

#endif
