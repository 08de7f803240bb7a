/* SPDX-License-Identifier: MIT */
/*
 * What an instruction does to registers and memory, as far as the types of data need it: which memory it accesses, and
 * what the registers that it writes hold then. Registers have their numbers in DWARF. One file per machine translates
 * capstone's operands.
 */
#ifndef PF_SYMBOL_EFFECT_H
#define PF_SYMBOL_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PF_NO_REGISTER = -1,
    PF_TRACKED_REGISTERS = 32, /* the general ones of all known machines */
};

/* What `target` holds afterwards. */
enum pf_effect_kind {
    PF_EFFECT_OTHER,    /* unknown, of all written registers */
    PF_EFFECT_COPY,     /* source */
    PF_EFFECT_NUMBER,   /* number */
    PF_EFFECT_SUM,      /* source + number, or source + index when there is one */
    PF_EFFECT_ADDRESS,  /* the address of the memory operand, which is not accessed */
    PF_EFFECT_LOAD,     /* what is in the memory; `second` what follows it */
    PF_EFFECT_STORE,    /* `source` goes to the memory, `second` to what follows it */
    PF_EFFECT_EXCHANGE, /* source, which holds what target held */
};

enum pf_effect_segment { PF_SEGMENT_NONE, PF_SEGMENT_FS, PF_SEGMENT_GS };

struct pf_effect_memory {
    int8_t base, index; /* PF_NO_REGISTER: it has none */
    uint8_t scale;      /* of the index */
    uint8_t bytes;      /* that are accessed; 0: unknown */
    uint8_t segment;    /* enum pf_effect_segment */
    bool is_fixed;      /* `offset` is the address itself */
    int64_t offset;
};

struct pf_effect {
    char mnemonic[16];
    uint8_t bytes; /* of the instruction */
    uint8_t flow;  /* PF_FLOW_* */
    uint8_t kind;  /* enum pf_effect_kind */
    bool is_valid;
    bool has_memory; /* `memory` is accessed, or its address is taken (ADDRESS) */
    bool fuses;      /* a conditional jump after it is executed as one with it */
    bool is_stack;   /* it pushes, pops, calls or returns */
    bool has_branch; /* it goes to or calls `branch` */
    int8_t target, second, source;
    uint32_t written; /* the other registers that it writes, or that its callee may write: a bit for each number */
    int64_t number;
    struct pf_effect_memory memory;
    int8_t moved; /* its register is `moved_by` larger afterwards: the stack pointer, or a base with write-back */
    int32_t moved_by;
    uint64_t branch;
};

#endif
