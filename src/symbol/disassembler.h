/* SPDX-License-Identifier: MIT */
/* Instructions as text, by capstone. */
#ifndef PF_SYMBOL_DISASSEMBLER_H
#define PF_SYMBOL_DISASSEMBLER_H

#include "base/memory.h"
#include "symbol/unwind/insn.h"

struct pf_disassembler;

struct pf_insn_words {
    unsigned bytes; /* of the instruction */
    char mnemonic[32];
    char operands[160];
    bool has_target; /* its one operand is a number: where a jump or call goes, mostly */
    uint64_t target;
};

/*
 * False: the build or this machine has no capstone, and nothing is disassembled; or out of memory, which `allocator` is
 * told (pf_watch).
 */
bool pf_disassembler_exists(const struct perfile_allocator *allocator);
/* NULL: out of memory. */
struct pf_disassembler *pf_disassembler_open(const struct perfile_allocator *allocator);
void pf_disassembler_close(struct pf_disassembler *disassembler);
/* The instruction at the start of `code`; x86 in AT&T's syntax. False: it is none, or capstone does not know the machine. */
bool pf_disassemble(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine, const uint8_t *code,
                    size_t bytes, uint64_t address, struct pf_insn_words *words);

#endif
