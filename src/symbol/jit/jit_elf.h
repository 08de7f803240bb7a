/* SPDX-License-Identifier: MIT */
/*
 * An ELF file of one piece of code that a JIT made, as `perf inject --jit` writes it, for readers of symbols and lines.
 */
#ifndef PF_SYMBOL_JIT_JIT_ELF_H
#define PF_SYMBOL_JIT_JIT_ELF_H

#include "base/text.h"
#include "symbol/jit/jitdump.h"

struct pf_jit_elf {
    uint32_t machine; /* EM_* */
    bool big_endian;
    const char *name;
    uint64_t address; /* where it was made: what the lines go by */
    const uint8_t *code;
    size_t code_bytes;
    const uint8_t *unwinding; /* .eh_frame and after it .eh_frame_hdr, or NULL */
    size_t unwinding_bytes;
    size_t unwinding_header_bytes;
    const struct pf_jitdump_line *lines; /* in any order */
    size_t line_count;
};

/* Where the code stands in the file, and so the pgoff of its mapping. */
uint64_t pf_jit_elf_text_offset(uint32_t machine);
/* Into `file`, which is open, grows and is empty. MEMORY. The build id is made from the content. */
int pf_jit_elf_make(const struct pf_jit_elf *elf, struct pf_text *file, uint8_t build_id[20]);

#endif
