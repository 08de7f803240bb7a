/* SPDX-License-Identifier: MIT */
/*
 * The instructions and functions of a binary, for formats that need them: where each instruction begins, which of them
 * never continue with the next one, and the extents of functions by the symbol table.
 */
#ifndef PF_ANALYSIS_PGO_CODE_H
#define PF_ANALYSIS_PGO_CODE_H

#include <perfile/pgo.h>

#include "symbol/unwind/insn.h"

/* A FUNC symbol; one without a size reaches up to the next one, or the end of its section. */
struct pf_pgo_function {
    uint64_t start;
    uint64_t end;     /* the first address after it */
    const char *name; /* as in the symbol table: a linkage name */
    bool has_size;
    bool is_local;
    uint32_t number; /* of local symbols of this name: 1 is the first in the order of the symbol table */
};

/* begin <= end <= begin + 1 MiB, both in executable segments; `end` is the address of the branch that ends it. */
struct pf_pgo_range {
    uint64_t begin, end;
    uint64_t count;
};

struct pf_pgo_code;

/* Reads the ELF file. Errors: OPEN, READ, FORMAT, DAMAGED, MEMORY. */
int pf_pgo_code_open(const char *path, const struct perfile_allocator *allocator, struct pf_pgo_code **code,
                     struct perfile_error *error);
/* NULL is allowed. */
void pf_pgo_code_close(struct pf_pgo_code *code);

/* By start; of several at one address those with a longer extent come last. */
const struct pf_pgo_function *pf_pgo_functions(const struct pf_pgo_code *code, size_t *count);
/* The last of the functions that starts at or before the address, or NULL; and the same only if it reaches it. */
const struct pf_pgo_function *pf_pgo_function_before(const struct pf_pgo_code *code, uint64_t address);
const struct pf_pgo_function *pf_pgo_function_at(const struct pf_pgo_code *code, uint64_t address);

/*
 * The name of an entry of a procedure linkage table, "qsort@plt", and its start; NULL where the address is not in one.
 */
const char *pf_pgo_stub_at(const struct pf_pgo_code *code, uint64_t address, uint64_t *start);

/* Returns whether the instructions of its machine are known: x86, AArch64. Else the functions below find nothing. */
bool pf_pgo_has_instructions(const struct pf_pgo_code *code);
/*
 * An instruction of a code section starts there; those of procedure linkage tables (.plt, .plt.sec ...) do not count.
 */
bool pf_pgo_is_instruction(const struct pf_pgo_code *code, uint64_t address);
/*
 * Finds the first instruction at or after the address, before or at `last`. Returns false where nothing starts there.
 */
bool pf_pgo_next_instruction(const struct pf_pgo_code *code, uint64_t address, uint64_t last, uint64_t *start);
/* Its bytes, up to where the next one starts. 0: no instruction starts there. */
unsigned pf_pgo_instruction_bytes(const struct pf_pgo_code *code, uint64_t address);
/* Where control goes after the instruction that starts there; PF_INSN_NEXT where no instruction starts. */
enum pf_insn_flow pf_pgo_flow_at(const struct pf_pgo_code *code, uint64_t address);
/* Finds the instruction before the address. Returns false where none of the bytes before it is the start of one. */
bool pf_pgo_previous_instruction(const struct pf_pgo_code *code, uint64_t address, uint64_t *start);
/*
 * Returns whether both ends of the range are instructions, and no instruction before the last one is an unconditional
 * jump or a return. A range that is not usable is counted by its reason.
 */
bool pf_pgo_range_is_usable(const struct pf_pgo_code *code, const struct pf_pgo_range *range,
                            struct perfile_pgo_counts *counts);

#endif
