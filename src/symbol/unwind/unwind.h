/* SPDX-License-Identifier: MIT */
/*
 * Unwinding of dumped user stacks (PERF_SAMPLE_REGS_USER and STACK_USER) offline, by the call frame information of the
 * binaries, for any architecture on any machine.
 */
#ifndef PF_SYMBOL_UNWIND_UNWIND_H
#define PF_SYMBOL_UNWIND_UNWIND_H

#include <perfile/perfile.h>

#include "base/memory.h"

/* A module's CFI: .eh_frame and .debug_frame. The rules of a function are made when it is met, and kept. */
struct pf_cfi;
int pf_cfi_open(const char *path, const char *debug_path, const struct perfile_allocator *allocator,
                struct pf_cfi **cfi, struct perfile_error *error);
void pf_cfi_close(struct pf_cfi *cfi);

enum { PF_UNWIND_CODE_BYTES = 1024 };

/* What the unwinder asks for: the module at an address at the sample's time. */
struct pf_unwind_location {
    struct pf_cfi *cfi;   /* NULL: no binary; frame pointers are tried */
    uint64_t elf_address; /* the address in the file's own virtual addresses */
    bool executable;      /* there is a mapping at all */
    /* Code around the address where no file has it, valid until the next one is located; NULL: it is not known. */
    const uint8_t *code;
    size_t code_bytes; /* PF_UNWIND_CODE_BYTES at most */
    size_t code_at;    /* the address in it */
};
typedef bool pf_unwind_locate(void *context, uint64_t address, struct pf_unwind_location *location);

enum pf_unwind_end {
    PF_UNWIND_DONE,      /* came to the outermost frame */
    PF_UNWIND_TRUNCATED, /* the dumped stack ends before */
    PF_UNWIND_NO_RULE,   /* no CFI and no sensible frame pointer */
    PF_UNWIND_LIMIT,     /* `capacity` frames */
};

/* What a stack was unwound to. */
struct pf_unwound {
    uint64_t *addresses; /* the caller's, for `capacity` of them */
    size_t capacity;
    size_t count;
    uint64_t bytes; /* of the dumped stack that were needed */
    bool guessed;   /* a caller was found without call frame information, by a frame pointer or the link register */
};
/*
 * Unwinds the sample's user registers and stack; `arch` is uname -m of the recording. The first address is the sampled
 * instruction, the others are return addresses. Why it ended is the result; negative: UNSUPPORTED (architecture),
 * ABSENT (no registers or stack).
 */
int pf_unwind_sample(const struct perfile_sample *sample, const char *arch, pf_unwind_locate *locate, void *context,
                     struct pf_unwound *unwound);

/* Where a function keeps its return address at one of its instructions. */
enum pf_return_at {
    PF_RETURN_UNKNOWN,
    PF_RETURN_ON_STACK,
    PF_RETURN_IN_REGISTER,       /* the link register, or one that it was moved to: nothing was put on the stack */
    PF_RETURN_IN_REGISTER_STILL, /* the same, but the frame is made */
};
enum pf_return_at pf_unwind_return_at(struct pf_cfi *cfi, uint64_t elf_address);

#endif
