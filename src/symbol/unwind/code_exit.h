/* SPDX-License-Identifier: MIT */
/*
 * How a function returns, read from its code: x86 alone. The instructions are followed from an address to the return,
 * and what they do to the stack pointer shows where the return address and the saved registers are.
 */
#ifndef PF_SYMBOL_UNWIND_CODE_EXIT_H
#define PF_SYMBOL_UNWIND_CODE_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PF_CODE_REGISTERS = 16,
    PF_CODE_SP = 4, /* as instructions number them */
    PF_CODE_FP = 5,
    PF_CODE_BRANCHES = 12, /* that are tried, too */
    PF_CODE_JUMPS = 256,
};

/* Relative to what the stack pointer or the frame pointer is at the address. */
struct pf_code_slot {
    bool is_known;
    bool by_fp;
    int32_t offset;
};

/* Where things are at one instruction of the way. */
struct pf_code_state {
    size_t at; /* the instruction */
    struct pf_code_slot sp, fp;
    struct pf_code_slot saved[PF_CODE_REGISTERS]; /* registers that were loaded from the stack */
};

struct pf_code_walk {
    const uint8_t *code;
    size_t bytes;
    bool is_64;
    struct pf_code_state state, exit;
    struct pf_code_state branches[PF_CODE_BRANCHES]; /* the ways that were not followed yet */
    unsigned branch_count;
    unsigned steps;
    uint32_t jumps[PF_CODE_JUMPS]; /* that were followed, by the last bits of their addresses: address + 1 */
};

/* What the way came to. */
struct pf_code_exit {
    struct pf_code_slot address; /* where the return address is */
    bool is_jump;                /* to another function, as it seems; or a jump by a table */
    const struct pf_code_slot *saved;
};

/* `at`: where the function will go on. */
void pf_code_walk_start(struct pf_code_walk *walk, bool is_64, const uint8_t *code, size_t bytes, size_t at);
/* The next exit that can be reached; false: there are no more, or too many instructions are before it. */
bool pf_code_walk_next(struct pf_code_walk *walk, struct pf_code_exit *exit);
/* Whether a call may end before `at`. */
bool pf_code_is_called(bool is_64, const uint8_t *code, size_t bytes, size_t at);

#endif
