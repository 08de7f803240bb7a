/* SPDX-License-Identifier: MIT */
/* The machine code of functions, from wherever it is: binaries, the kernel's memory, what JITs wrote down. */
#ifndef PF_SYMBOL_CODE_H
#define PF_SYMBOL_CODE_H

#include "symbol/symbols.h"

enum pf_code_state {
    PF_CODE_READ,
    PF_CODE_NO_FILE,  /* the binary was not found */
    PF_CODE_NO_BYTES, /* it cannot be read, or has no code there */
};

/* Code that was read, which is the caller's. */
struct pf_code_bytes {
    uint8_t *bytes; /* of the allocator; NULL: none */
    size_t count;   /* of them */
    size_t capacity;
    struct pf_insn_machine machine;
    const char *path; /* of the file that it is from; NULL: none was found */
};

/*
 * Reads `count` bytes from an address on, which counts as the module's symbols do; as many as there are. Returns an
 * enum pf_code_state, or MEMORY.
 */
int pf_code_bytes_read(struct pf_symbols *symbols, uint32_t module, uint64_t address, size_t count,
                       struct pf_code_bytes *code);
void pf_code_bytes_close(struct pf_symbols *symbols, struct pf_code_bytes *code);

#endif
