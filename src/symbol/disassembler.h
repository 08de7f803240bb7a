/* SPDX-License-Identifier: MIT */
/* Instructions as text, by capstone. */
#ifndef PF_SYMBOL_DISASSEMBLER_H
#define PF_SYMBOL_DISASSEMBLER_H

#include "base/memory.h"
#include "symbol/effect.h"
#include "symbol/unwind/insn.h"

struct pf_disassembler;

enum {
    PF_FLOW_JUMP = 1 << 0,
    PF_FLOW_CALL = 1 << 1,
    PF_FLOW_RETURN = 1 << 2,
    PF_FLOW_CONDITIONAL = 1 << 3, /* a jump that may not be taken */
};

struct pf_insn_words {
    unsigned bytes; /* of the instruction */
    char mnemonic[32];
    char operands[160];
    bool has_target; /* its one operand is a number: where a jump or call goes, mostly */
    uint64_t target;
    unsigned flow;   /* PF_FLOW_* */
    bool has_branch; /* it jumps to or calls a fixed address */
    uint64_t branch;
};

/*
 * False: the build or this machine has no capstone, and nothing is disassembled; or out of memory, which is noted at
 * `allocator` (pf_watch).
 */
bool pf_disassembler_exists(const struct perfile_allocator *allocator);
/* NULL: out of memory. */
struct pf_disassembler *pf_disassembler_open(const struct perfile_allocator *allocator);
/* x86 in Intel's syntax from now on. */
void pf_disassembler_use_intel(struct pf_disassembler *disassembler);
/* It knows this machine. Also false when out of memory. */
bool pf_disassembler_knows(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine);
void pf_disassembler_close(struct pf_disassembler *disassembler);
/*
 * Decodes the instruction at the start of `code`; x86 in AT&T's syntax, unless Intel's was chosen. False: it is not a
 * valid instruction, or capstone does not know the machine.
 */
bool pf_disassemble(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine, const uint8_t *code,
                    size_t bytes, uint64_t address, struct pf_insn_words *words);
/* Whether effects of instructions of this machine are known. */
bool pf_disassembler_has_effects(const struct pf_insn_machine *machine);
/*
 * What the instruction at the start of `code` does. False: it is not a valid instruction, or one of a machine without
 * effects. x86 must be in Intel's syntax: see above.
 */
bool pf_disassemble_effect(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine,
                           const uint8_t *code, size_t bytes, uint64_t address, struct pf_effect *effect);

#endif
