/* SPDX-License-Identifier: MIT */
/*
 * ARM's own unwind tables ("Exception Handling ABI for the Arm Architecture"): a function's entry describes how its
 * frame is removed, so that one rule holds for all of the function. In prologues the rule is wrong, as in every
 * unwinder.
 */
#include "symbol/unwind/cfi_rules.h"

enum { CANTUNWIND = 1, SP = 13, LR = 14, PC = 15, REGISTERS = 16, MAX_BYTES = 4 * 256 };

/* The instructions of one entry while they run. */
struct teardown {
    uint8_t bytes[MAX_BYTES];
    size_t count, at;
    uint8_t base;    /* offsets are relative to this register's value */
    int64_t offset;  /* of the virtual stack pointer */
    uint32_t popped; /* registers */
    int64_t where[REGISTERS];
    bool failed, finished;
};

static uint8_t next_byte(struct teardown *t)
{
    return t->at < t->count ? t->bytes[t->at++] : 0xb0;
}

static void pop(struct teardown *t, uint32_t registers)
{
    for (unsigned i = 0; i < REGISTERS; i++) {
        if (!(registers >> i & 1))
            continue;
        t->popped |= 1u << i;
        t->where[i] = t->offset;
        t->offset += 4;
    }
}

static void set_base(struct teardown *t, uint8_t number)
{
    if (number == SP || number == PC || t->popped) {
        t->failed = true;
        return;
    }
    t->base = number;
    t->offset = 0;
}

static void pop_mask(struct teardown *t, uint8_t byte)
{
    uint32_t mask = (uint32_t)(byte & 0x0f) << 8 | next_byte(t);
    t->failed |= mask == 0; /* "refuse to unwind" */
    pop(t, mask << 4);
}

static void add_large(struct teardown *t)
{
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = next_byte(t);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) && shift < 35);
    t->offset += (int64_t)(0x204 + (value << 2));
}

/* 0xb0 to 0xbf */
static void step_b(struct teardown *t, uint8_t byte)
{
    if (byte == 0xb0)
        t->finished = true;
    else if (byte == 0xb1)
        pop(t, next_byte(t) & 0x0f);
    else if (byte == 0xb2)
        add_large(t);
    else if (byte == 0xb3)
        t->offset += ((next_byte(t) & 0x0f) + 1) * 8 + 4;
    else if (byte == 0xb4)
        t->offset += 4; /* a return address' authentication code */
    else if (byte >= 0xb8)
        t->offset += ((byte & 0x07) + 1) * 8 + 4;
    else
        t->failed = true;
}

static void step(struct teardown *t)
{
    uint8_t byte = next_byte(t);
    if (byte < 0x40)
        t->offset += (byte << 2) + 4;
    else if (byte < 0x80)
        t->offset -= ((byte & 0x3f) << 2) + 4;
    else if (byte < 0x90)
        pop_mask(t, byte);
    else if (byte < 0xa0)
        set_base(t, byte & 0x0f);
    else if (byte < 0xb0)
        pop(t, (uint32_t)(0xff0 & ((2u << ((byte & 7) + 4)) - 1)) | (byte & 8 ? 1u << LR : 0));
    else if (byte < 0xc0)
        step_b(t, byte);
    else if (byte == 0xc8 || byte == 0xc9)
        t->offset += ((next_byte(t) & 0x0f) + 1) * 8;
    else if (byte >= 0xd0 && byte < 0xd8)
        t->offset += ((byte & 0x07) + 1) * 8;
    else
        t->failed = true; /* spare, or of iWMMXt */
}

static uint32_t keep(struct pf_cfi *cfi, const struct teardown *t)
{
    struct {
        struct pf_cfi_rule rule;
        struct pf_cfi_entry entries[REGISTERS];
    } made = {.rule = {.cfa_slot = t->base, .ra = t->popped >> PC & 1 ? PC : LR, .cfa_value = (int32_t)t->offset}};
    for (uint8_t i = 0; i < REGISTERS; i++) {
        if (t->popped >> i & 1)
            made.entries[made.rule.count++] =
                (struct pf_cfi_entry){.slot = i, .kind = PF_RULE_OFFSET, .value = (int32_t)(t->where[i] - t->offset)};
    }
    return pf_cfi_keep(cfi, &made, sizeof(made.rule) + made.rule.count * sizeof(made.entries[0]));
}

static uint32_t run(struct pf_cfi *cfi, struct teardown *t)
{
    t->base = SP;
    while (!t->failed && !t->finished)
        step(t);
    return t->failed ? 0 : keep(cfi, t);
}

/* No frame above. */
static uint32_t outermost(struct pf_cfi *cfi)
{
    struct {
        struct pf_cfi_rule rule;
        struct pf_cfi_entry entry;
    } made = {.rule = {.cfa_slot = SP, .ra = LR, .count = 1}, .entry = {.slot = LR, .kind = PF_RULE_UNDEFINED}};
    return pf_cfi_keep(cfi, &made, sizeof(made));
}

static void add_bytes(struct teardown *t, uint32_t word, unsigned count)
{
    for (unsigned i = count; i-- > 0;) {
        if (t->count < MAX_BYTES)
            t->bytes[t->count++] = (uint8_t)(word >> 8 * i);
    }
}

/* The instructions at an address of .ARM.extab. */
static void read_extab(struct teardown *t, const struct pf_cfi_section *extab, uint32_t address, bool swap)
{
    uint64_t skip = address - (uint32_t)extab->address;
    if (skip >= extab->bytes) {
        t->failed = true;
        return;
    }
    struct pf_cursor c = pf_cursor_make(extab->data + skip, (size_t)(extab->bytes - skip), skip, swap);
    uint32_t word = pf_cursor_u32(&c), more, first = 3;
    if (!(word >> 31)) { /* a personality routine of its own, whose data begins as those of the common ones */
        word = pf_cursor_u32(&c);
        more = word >> 24;
    } else {
        uint32_t which = word >> 24 & 0x0f;
        more = which ? word >> 16 & 0xff : 0;
        first = which ? 2 : 3;
        t->failed = which > 2;
    }
    add_bytes(t, word, first);
    for (uint32_t i = 0; i < more; i++)
        add_bytes(t, pf_cursor_u32(&c), 4);
    t->failed |= c.failed;
}

static uint32_t prel31(uint32_t word, uint64_t location)
{
    return (uint32_t)location + ((word & 0x7fffffff) | (word & 0x40000000) << 1);
}

static uint32_t rule_of(struct pf_cfi *cfi, uint32_t word, uint64_t location, const struct pf_cfi_section *extab)
{
    struct teardown t;
    if (word == CANTUNWIND)
        return outermost(cfi);
    t = (struct teardown){.count = 0};
    if (!(word >> 31))
        read_extab(&t, extab, prel31(word, location), cfi->swap);
    else if ((word >> 24 & 0x7f) == 0)
        add_bytes(&t, word, 3);
    else
        t.failed = true;
    return run(cfi, &t);
}

/* The table is sorted; what is not in order is left out. */
void pf_cfi_compile_exidx(struct pf_cfi *cfi, const struct pf_cfi_section *exidx, const struct pf_cfi_section *extab,
                          struct pf_cfi_rows *rows)
{
    uint32_t last = 0;
    for (size_t at = 0; exidx->bytes - at >= 8 && !cfi->short_of_memory; at += 8) {
        uint64_t location = exidx->address + at;
        uint32_t start = prel31(pf_load32(exidx->data + at, cfi->swap), location);
        uint32_t word = pf_load32(exidx->data + at + 4, cfi->swap);
        if (start < cfi->base || start >= cfi->end || start - (uint32_t)cfi->base < last)
            continue;
        last = start - (uint32_t)cfi->base;
        pf_cfi_add_row(cfi, rows, last, rule_of(cfi, word, location + 4, extab));
    }
}
