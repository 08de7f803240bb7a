/* SPDX-License-Identifier: MIT */
/* Machine instructions: how long they are, and what they are called. */
#ifndef PF_SYMBOL_UNWIND_INSN_H
#define PF_SYMBOL_UNWIND_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PF_INSN_BYTES_MAX = 16 };

/* What machine code is for, as the header of its ELF file says. */
struct pf_insn_machine {
    uint16_t elf_machine; /* EM_*; 0: not known */
    bool is_64;
    bool is_big_endian;
    bool is_thumb; /* of a function, not of its file */
};

/* Where control goes after it. */
enum pf_insn_flow {
    PF_INSN_NEXT, /* to the next one, or somewhere if a condition holds */
    PF_INSN_CALL,
    PF_INSN_JUMP, /* never to the next one */
    PF_INSN_RETURN,
};

struct pf_insn {
    unsigned bytes;
    bool jumps;             /* x86: control never continues after it, or comes back by a call */
    enum pf_insn_flow flow; /* x86, AArch64; PF_INSN_NEXT of others */
};

/*
 * Decodes the instruction at the start of `code`. False: it is not valid, not all of it is there, or the machine is one
 * whose instructions do not show their length (32-bit ARM, where the same bytes may be ARM or Thumb).
 */
bool pf_insn_decode(const struct pf_insn_machine *machine, const uint8_t *code, size_t bytes, struct pf_insn *insn);
bool pf_insn_decode_x86(bool is_64, const uint8_t *code, size_t bytes, struct pf_insn *insn);

#endif
