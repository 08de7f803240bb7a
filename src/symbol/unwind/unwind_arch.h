/* SPDX-License-Identifier: MIT */
/* What the unwinder knows of an architecture: the rows of unwind_arch.def. */
#ifndef PF_SYMBOL_UNWIND_UNWIND_ARCH_H
#define PF_SYMBOL_UNWIND_UNWIND_ARCH_H

#include "base/bytes.h"

enum { PF_UNWIND_SLOTS = 34, PF_UNWIND_NO_SLOT = 0xff };

struct pf_unwind_arch {
    const uint8_t *perf_slots; /* by bit of sample_regs_user */
    uint8_t perf_count;
    uint16_t machine; /* e_machine */
    uint8_t word_bytes;
    uint8_t slots;
    uint8_t plain_slots; /* DWARF numbers below are slots themselves */
    uint8_t extra_dwarf; /* the DWARF number of slot `plain_slots`, or 0 */
    uint8_t sp, fp, ra, pc;
    int16_t sp_bias;
    int16_t frame_fp, frame_ra, frame_sp; /* relative to the frame pointer; all 0: frames are not chained */
    uint64_t address_mask;
    uint16_t signal_registers; /* offset in a signal frame; 0: trampolines have rules */
};

/* By uname -m and the abi of the sampled registers (1: 32-bit, 2: 64-bit); NULL when unknown. */
const struct pf_unwind_arch *pf_unwind_arch_find(const char *name, uint64_t abi);
/* By the ELF file's e_machine; NULL when unknown. */
const struct pf_unwind_arch *pf_unwind_arch_of_machine(uint16_t machine, bool is_64);

/* The slot of a DWARF register number, or PF_UNWIND_NO_SLOT. */
static inline uint8_t pf_unwind_slot(const struct pf_unwind_arch *arch, uint64_t number)
{
    if (number < arch->plain_slots)
        return (uint8_t)number;
    return arch->extra_dwarf && number == arch->extra_dwarf ? arch->plain_slots : PF_UNWIND_NO_SLOT;
}

#endif
