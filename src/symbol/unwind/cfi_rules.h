/* SPDX-License-Identifier: MIT */
/*
 * Call frame information as it is kept: flat arrays of rows, address -> rule. Few rules differ, so that each is stored
 * once in a pool, together with the expressions that rules refer to.
 */
#ifndef PF_SYMBOL_UNWIND_CFI_RULES_H
#define PF_SYMBOL_UNWIND_CFI_RULES_H

#include "base/cursor.h"
#include "base/map.h"
#include "symbol/elf_file.h"
#include "symbol/unwind/unwind_arch.h"

enum pf_rule_kind {
    PF_RULE_SAME,
    PF_RULE_UNDEFINED,
    PF_RULE_OFFSET,         /* at CFA + value */
    PF_RULE_VAL_OFFSET,     /* is CFA + value */
    PF_RULE_REGISTER,       /* in the slot `value` */
    PF_RULE_EXPRESSION,     /* at the address that the expression at pool[value] gives */
    PF_RULE_VAL_EXPRESSION, /* is what that gives */
};

/* How the caller's register in `slot` is found. */
struct pf_cfi_entry {
    uint8_t slot;
    uint8_t kind; /* enum pf_rule_kind */
    uint16_t zero;
    int32_t value;
};

/* Followed by its entries. */
struct pf_cfi_rule {
    uint8_t cfa_slot; /* CFA = register + cfa_value; PF_UNWIND_NO_SLOT: by the expression at pool[cfa_value] */
    uint8_t ra;       /* the slot that holds the return address afterwards */
    uint8_t signal;   /* 1: the caller was interrupted, its address is not a return address */
    uint8_t count;
    int32_t cfa_value;
};

/* In ascending order of slots; registers that are not there keep their values. */
static inline const struct pf_cfi_entry *pf_cfi_entries(const struct pf_cfi_rule *rule)
{
    return (const void *)(rule + 1);
}

struct pf_cfi_row {
    uint32_t start; /* address minus base */
    uint32_t rule;  /* offset in the pool; 0: no rule from here on */
};

struct pf_cfi_rows {
    struct pf_cfi_row *rows;
    size_t count, capacity;
};

enum {
    PF_CFI_PARTS = 3, /* .eh_frame, .debug_frame, and that of the debug file */
    PF_CFI_FILES = 2,
};

/* The functions of one section. */
struct pf_cfi_part;

/* A piece of an ELF file. */
struct pf_cfi_section {
    const uint8_t *data;
    size_t bytes;
    uint64_t address;
    uint64_t text, got; /* what textrel and datarel pointers count from */
    bool is_eh;         /* .eh_frame, not .debug_frame */
};

/* Look-ups run what was not asked for before: one thread at a time. */
struct pf_cfi {
    const struct perfile_allocator *allocator;
    const struct pf_unwind_arch *arch;
    bool swap;     /* the file's byte order is not this machine's */
    uint64_t base; /* of the code */
    uint64_t end;
    struct pf_cfi_part *parts[PF_CFI_PARTS]; /* the first that has a rule for an address counts */
    unsigned part_count;
    struct pf_cfi_rows exidx;          /* where they have none */
    struct pf_cfi_section code;        /* where there are functions without rules; x86 alone */
    struct pf_elf files[PF_CFI_FILES]; /* closed but for the data of the sections */
    unsigned file_count;
    struct pf_cfi_row *recent; /* by a hash of the address: what was found for it, start + 1; NULL before the first */
    unsigned recent_bits;
    uint8_t *pool;
    size_t pool_used, pool_capacity, pool_limit;
    struct pf_map known; /* hash -> offset in the pool */
    bool short_of_memory;
};

/* The rule at `start`, or 0. */
static inline uint32_t pf_cfi_rows_find(const struct pf_cfi_rows *rows, uint32_t start)
{
    const struct pf_cfi_row *row = rows->rows;
    if (!rows->count)
        return 0;
    for (size_t left = rows->count; left > 1;) {
        size_t half = left / 2;
        row += row[half].start <= start ? half : 0;
        left -= half;
    }
    return row->start <= start ? row->rule : 0;
}

/* The rule for an address of the file, or NULL; valid until the next look-up. */
const struct pf_cfi_rule *pf_cfi_find(struct pf_cfi *cfi, uint64_t address);
/*
 * The offset of the bytes in the pool, where they are kept once; 0 when they do not fit. Their beginning must determine
 * their length, so that equal beginnings mean equal lengths.
 */
uint32_t pf_cfi_keep(struct pf_cfi *cfi, const void *data, size_t bytes);
/* From `start` on the rule holds. Starts must not descend; an equal one replaces. */
void pf_cfi_add_row(struct pf_cfi *cfi, struct pf_cfi_rows *rows, uint32_t start, uint32_t rule);

/* The FDEs of a section, whose data must stay. NULL: out of memory. */
struct pf_cfi_part *pf_cfi_part_open(struct pf_cfi *cfi, const struct pf_cfi_section *section);
void pf_cfi_part_close(struct pf_cfi_part *part);
/* Whether there are rules for all of the code between two addresses minus base, but for what aligns functions. */
bool pf_cfi_part_covers(const struct pf_cfi_part *part, uint32_t start, uint32_t end);
/* How many functions there are. */
size_t pf_cfi_part_count(const struct pf_cfi_part *part);
/* The rule at `start`, or 0. What cannot be understood becomes no rule. */
uint32_t pf_cfi_part_find(struct pf_cfi_part *part, uint32_t start);
/* ARM's table of functions: section holds .ARM.exidx, extab .ARM.extab. */
void pf_cfi_compile_exidx(struct pf_cfi *cfi, const struct pf_cfi_section *exidx, const struct pf_cfi_section *extab,
                          struct pf_cfi_rows *rows);

#endif
