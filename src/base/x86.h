/* SPDX-License-Identifier: MIT */
/* x86 instructions: how long they are, and where the program goes after them. */
#ifndef PF_BASE_X86_H
#define PF_BASE_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the program goes. */
enum pf_x86_flow {
    PF_X86_ON,            /* to the next instruction */
    PF_X86_CONDITIONAL,   /* there, or by the displacement */
    PF_X86_JUMP,          /* by the displacement */
    PF_X86_CALL,          /* ... and comes back */
    PF_X86_JUMP_INDIRECT, /* from here on: to where the instruction alone does not say */
    PF_X86_CALL_INDIRECT,
    PF_X86_RETURN,
    PF_X86_SYSTEM_CALL, /* and SYSENTER */
    PF_X86_SYSTEM_RETURN,
    PF_X86_INTERRUPT,
    PF_X86_INTERRUPT_RETURN,
    PF_X86_FAR_CALL,
    PF_X86_FAR_JUMP,
    PF_X86_FAR_RETURN,
    PF_X86_VM_ENTRY,
    PF_X86_PTWRITE, /* to the next instruction, and writes a packet into a trace */
};

struct pf_x86_insn {
    unsigned bytes;
    enum pf_x86_flow flow;
    int64_t displacement; /* of direct calls and jumps: from the next instruction on */
    bool is_plain;        /* of the first map of opcodes; the members below are those of these instructions */
    uint8_t opcode;
    uint8_t rex;   /* the prefix; 0 in instructions without one */
    uint8_t modrm; /* its offset; 0 in instructions without one */
};

/* Decodes the instruction at the start of `code`. False: it is not valid, or not all of it is there. */
bool pf_x86_decode(bool is_64, const uint8_t *code, size_t bytes, struct pf_x86_insn *insn);

#endif
