/* SPDX-License-Identifier: MIT */
/*
 * .eh_frame and .debug_frame: from CIEs and FDEs to rows. At first only what the FDEs are for is read; the program of
 * each is run when an address of it is asked for, and its rows are kept: of a compiler's 60,000 functions few are
 * sampled.
 */
#include "base/sort.h"
#include "symbol/unwind/cfi_rules.h"

enum {
    /* Limits for hostile files; real ones stay far below. */
    REMEMBERED = 16,         /* nested DW_CFA_remember_state */
    CIE_PROGRAM_BYTES = 512, /* they run again for each FDE */
    EXPRESSION_BYTES = 512,
    CIES_KEPT = 16,
};

/* DW_EH_PE_*, see "DWARF Exception Header Encoding" in the Linux Standard Base */
enum { PE_OMIT = 0xff, PE_FORMAT = 0x0f, PE_BASE = 0x70, PE_INDIRECT = 0x80 };
enum { PE_SDATA4 = 0x0b, PE_PCREL = 0x10, PE_TEXTREL = 0x20, PE_DATAREL = 0x30, PE_FUNCREL = 0x40, PE_ALIGNED = 0x50 };

/* What is known of the caller's registers at one address. */
struct state {
    uint8_t cfa_slot; /* PF_UNWIND_NO_SLOT: expression */
    bool cfa_known;
    int32_t cfa_value;
    uint64_t ruled; /* slots with a rule */
    uint8_t kinds[PF_UNWIND_SLOTS];
    int32_t values[PF_UNWIND_SLOTS];
};

struct cie {
    uint64_t offset;
    bool valid;
    bool augmented; /* 'z': FDEs have augmentation data */
    bool is_signal;
    bool is_plain; /* 8-byte addresses that are written as 4-byte distances, and augmentation data */
    uint8_t pointer_encoding;
    uint8_t address_bytes;
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_column;
    uint8_t ra_slot;
    struct state initial;
};

/* What an FDE says before its program. */
struct fde {
    uint32_t start, end; /* minus base */
    const struct cie *cie;
    struct pf_cursor program;
};

/* One function, as far as no other one that starts before it covers it. */
struct function {
    uint32_t start, end; /* minus base */
    uint64_t entry;      /* offset of its FDE */
    uint32_t row;        /* of the section's */
    uint32_t rows;       /* NOT_RUN: not yet known */
};
enum { NOT_RUN = UINT32_MAX };

struct pf_cfi_part {
    struct pf_cfi *cfi;
    struct pf_cfi_section section;
    struct function *functions;
    uint32_t *starts; /* of the functions: what is searched is small */
    size_t count, capacity;
    struct pf_cfi_rows rows; /* of functions that were asked for */
    struct pf_cfi_rows made; /* of the one that is run */
    struct cie cies[CIES_KEPT];
};

/* A program while it runs. */
struct program {
    struct pf_cfi_part *part;
    const struct cie *cie;
    struct pf_cursor c;
    struct state state;
    struct state remembered[REMEMBERED];
    unsigned depth;
    uint64_t location;  /* minus base */
    uint32_t from, end; /* rows are wanted in between */
    int32_t deepest;    /* the greatest distance of the CFA from the stack pointer before */
    bool writes;        /* false: a CIE's */
    bool failed;
};

static struct pf_cursor cursor_at(const struct pf_cfi_part *k, uint64_t offset, uint64_t bytes)
{
    const struct pf_cfi_section *s = &k->section;
    offset = pf_min(offset, s->bytes);
    bytes = pf_min(bytes, s->bytes - offset);
    return pf_cursor_make(s->data + offset, (size_t)bytes, offset, k->cfi->swap);
}

static uint64_t read_offset(struct pf_cursor *c, bool is_64)
{
    return is_64 ? pf_cursor_u64(c) : pf_cursor_u32(c);
}

static uint64_t read_address(struct pf_cursor *c, unsigned bytes)
{
    return bytes == 8 ? pf_cursor_u64(c) : pf_cursor_u32(c);
}

/* ---- pointers --------------------------------------------------------------------------------------------------- */

static uint64_t read_format(struct pf_cursor *c, uint8_t format, unsigned address_bytes)
{
    switch (format) {
    case 0x01:
        return pf_cursor_leb(c, false);
    case 0x02:
        return pf_cursor_u16(c);
    case 0x03:
        return pf_cursor_u32(c);
    case 0x04:
    case 0x0c:
        return pf_cursor_u64(c);
    case 0x09:
        return pf_cursor_leb(c, true);
    case 0x0a:
        return (uint64_t)(int16_t)pf_cursor_u16(c);
    case 0x0b:
        return (uint64_t)(int32_t)pf_cursor_u32(c);
    default:
        return read_address(c, address_bytes);
    }
}

static uint64_t base_of(const struct pf_cfi_part *k, uint8_t encoding, uint64_t location)
{
    switch (encoding & PE_BASE) {
    case PE_PCREL:
        return k->section.address + location;
    case PE_TEXTREL:
        return k->section.text;
    case PE_DATAREL:
        return k->section.got;
    default:
        return 0;
    }
}

/* Reads a pointer of .eh_frame; indirect ones are only skipped, because their targets are not needed. */
static uint64_t read_encoded(const struct pf_cfi_part *k, struct pf_cursor *c, uint8_t encoding, unsigned address_bytes)
{
    if (encoding == PE_OMIT)
        return 0;
    if ((encoding & PE_BASE) == PE_ALIGNED) {
        uint64_t address = k->section.address + pf_cursor_offset(c);
        pf_cursor_take(c, -address & (address_bytes - 1));
        encoding = 0;
    }
    uint64_t location = pf_cursor_offset(c);
    uint64_t value = read_format(c, encoding & PE_FORMAT, address_bytes);
    if (value) /* null stays null */
        value += base_of(k, encoding, location);
    return address_bytes == 4 ? (uint32_t)value : value;
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

static void set_rule(struct state *state, uint8_t slot, uint8_t kind, int32_t value)
{
    if (slot == PF_UNWIND_NO_SLOT)
        return;
    state->ruled |= 1ull << slot;
    state->kinds[slot] = kind;
    state->values[slot] = value;
}

static uint8_t slot_of(const struct program *p, uint64_t number)
{
    if (number == p->cie->ra_column)
        return p->cie->ra_slot;
    return pf_unwind_slot(p->part->cfi->arch, number);
}

/*
 * Epilogues pop registers without saying so: the rule goes on to name what is no longer on the stack. It is another
 * matter if it never was there, but beyond the end of the stack from the start, where leaf functions may keep
 * registers.
 */
static bool is_popped(const struct program *p, uint8_t slot)
{
    const struct state *s = &p->state;
    return s->kinds[slot] == PF_RULE_OFFSET && s->cfa_slot == p->part->cfi->arch->sp &&
           (int64_t)s->cfa_value + s->values[slot] < 0 && (int64_t)p->deepest + s->values[slot] >= 0;
}

static void note_depth(struct program *p)
{
    const bool is_by_sp = p->state.cfa_slot == p->part->cfi->arch->sp;
    const int32_t depth = is_by_sp ? p->state.cfa_value : INT32_MAX;
    p->deepest = depth > p->deepest ? depth : p->deepest;
}

/* The state as a rule in the pool. */
static uint32_t keep_state(const struct program *p)
{
    struct {
        struct pf_cfi_rule rule;
        struct pf_cfi_entry entries[PF_UNWIND_SLOTS];
    } made;
    const struct state *s = &p->state;
    if (!s->cfa_known)
        return 0;
    made.rule = (struct pf_cfi_rule){
        .cfa_slot = s->cfa_slot, .ra = p->cie->ra_slot, .signal = p->cie->is_signal, .cfa_value = s->cfa_value};
    uint8_t count = 0;
    for (uint64_t left = s->ruled; left; left &= left - 1) {
        uint8_t slot = (uint8_t)__builtin_ctzll(left);
        if (!is_popped(p, slot))
            made.entries[count++] =
                (struct pf_cfi_entry){.slot = slot, .kind = s->kinds[slot], .value = s->values[slot]};
    }
    made.rule.count = count;
    return pf_cfi_keep(p->part->cfi, &made, sizeof(made.rule) + count * sizeof(made.entries[0]));
}

/* The state holds from p->location to `next`. */
static void emit(struct program *p, uint64_t next)
{
    uint64_t start = pf_max(p->location, p->from);
    if (next > p->location)
        note_depth(p);
    if (p->writes && start < pf_min(next, p->end))
        pf_cfi_add_row(p->part->cfi, &p->part->made, (uint32_t)start, keep_state(p));
}

/* ---- instructions ----------------------------------------------------------------------------------------------- */

static void fail(struct program *p)
{
    p->failed = true;
}

static void go_to(struct program *p, uint64_t location)
{
    if (location < p->location) {
        fail(p);
        return;
    }
    emit(p, location);
    p->location = location;
    if (location >= p->end)
        p->c.at = p->c.end; /* the rest is after the function */
}

static void advance(struct program *p, uint64_t delta)
{
    uint64_t bytes, location;
    if (!pf_multiply(delta, p->cie->code_align, &bytes) || !pf_add(p->location, bytes, &location))
        fail(p);
    else
        go_to(p, location);
}

/* Numbers that do not fit do not occur in valid files. */
static int32_t narrow(struct program *p, int64_t value)
{
    if (value != (int32_t)value)
        fail(p);
    return (int32_t)value;
}

static int32_t factored(struct program *p, uint64_t number)
{
    int64_t value;
    if (__builtin_mul_overflow((int64_t)number, p->cie->data_align, &value))
        fail(p);
    return p->failed ? 0 : narrow(p, value);
}

static uint64_t uleb(struct program *p)
{
    return pf_cursor_leb(&p->c, false);
}

static uint64_t sleb(struct program *p)
{
    return pf_cursor_leb(&p->c, true);
}

/* A block, in the pool. */
static int32_t expression(struct program *p)
{
    struct {
        uint32_t bytes;
        uint8_t data[EXPRESSION_BYTES];
    } made;
    uint64_t bytes = uleb(p);
    const uint8_t *data = pf_cursor_take(&p->c, bytes);
    if (!data || bytes > sizeof(made.data)) {
        fail(p);
        return 0;
    }
    made.bytes = (uint32_t)bytes;
    memcpy(made.data, data, (size_t)bytes);
    uint32_t location = pf_cfi_keep(p->part->cfi, &made, sizeof(made.bytes) + (size_t)bytes);
    if (!location)
        fail(p);
    return (int32_t)location;
}

static void restore(struct program *p, uint64_t number)
{
    uint8_t slot = slot_of(p, number);
    const struct state *initial = &p->cie->initial;
    if (slot == PF_UNWIND_NO_SLOT)
        return;
    if (initial->ruled & 1ull << slot)
        set_rule(&p->state, slot, initial->kinds[slot], initial->values[slot]);
    else
        p->state.ruled &= ~(1ull << slot);
}

static void define_cfa(struct program *p, uint64_t number, int32_t offset)
{
    p->state.cfa_slot = slot_of(p, number);
    p->state.cfa_known = p->state.cfa_slot != PF_UNWIND_NO_SLOT;
    p->state.cfa_value = offset;
}

static void op_nop(struct program *p)
{
    (void)p;
}

static void op_set_loc(struct program *p)
{
    const struct cie *cie = p->cie;
    const struct pf_cfi *cfi = p->part->cfi;
    uint64_t to = read_encoded(p->part, &p->c, cie->pointer_encoding, cie->address_bytes);
    if (to < cfi->base)
        fail(p);
    else
        go_to(p, to - cfi->base);
}

static void op_advance1(struct program *p)
{
    advance(p, pf_cursor_u8(&p->c));
}

static void op_advance2(struct program *p)
{
    advance(p, pf_cursor_u16(&p->c));
}

static void op_advance4(struct program *p)
{
    advance(p, pf_cursor_u32(&p->c));
}

static void op_advance8(struct program *p)
{
    advance(p, pf_cursor_u64(&p->c));
}

static void op_offset_extended(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    set_rule(&p->state, slot, PF_RULE_OFFSET, factored(p, uleb(p)));
}

static void op_offset_extended_sf(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    set_rule(&p->state, slot, PF_RULE_OFFSET, factored(p, sleb(p)));
}

static void op_negative_offset(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    set_rule(&p->state, slot, PF_RULE_OFFSET, factored(p, -uleb(p)));
}

static void op_restore_extended(struct program *p)
{
    restore(p, uleb(p));
}

static void op_undefined(struct program *p)
{
    set_rule(&p->state, slot_of(p, uleb(p)), PF_RULE_UNDEFINED, 0);
}

static void op_same_value(struct program *p)
{
    set_rule(&p->state, slot_of(p, uleb(p)), PF_RULE_SAME, 0);
}

static void op_register(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    uint8_t source = slot_of(p, uleb(p));
    if (source == PF_UNWIND_NO_SLOT)
        set_rule(&p->state, slot, PF_RULE_UNDEFINED, 0);
    else
        set_rule(&p->state, slot, PF_RULE_REGISTER, source);
}

static void op_remember(struct program *p)
{
    if (p->depth == REMEMBERED)
        fail(p);
    else
        p->remembered[p->depth++] = p->state;
}

static void op_restore_state(struct program *p)
{
    if (p->depth == 0)
        fail(p);
    else
        p->state = p->remembered[--p->depth];
}

static void op_def_cfa(struct program *p)
{
    uint64_t number = uleb(p);
    define_cfa(p, number, narrow(p, (int64_t)uleb(p)));
}

static void op_def_cfa_sf(struct program *p)
{
    uint64_t number = uleb(p);
    define_cfa(p, number, factored(p, sleb(p)));
}

static void op_def_cfa_register(struct program *p)
{
    define_cfa(p, uleb(p), p->state.cfa_value);
}

static void op_def_cfa_offset(struct program *p)
{
    p->state.cfa_value = narrow(p, (int64_t)uleb(p));
}

static void op_def_cfa_offset_sf(struct program *p)
{
    p->state.cfa_value = factored(p, sleb(p));
}

static void op_def_cfa_expression(struct program *p)
{
    p->state.cfa_value = expression(p);
    p->state.cfa_slot = PF_UNWIND_NO_SLOT;
    p->state.cfa_known = !p->failed;
}

static void op_expression(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    set_rule(&p->state, slot, PF_RULE_EXPRESSION, expression(p));
}

static void op_val_offset(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    set_rule(&p->state, slot, PF_RULE_VAL_OFFSET, factored(p, uleb(p)));
}

static void op_val_offset_sf(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    set_rule(&p->state, slot, PF_RULE_VAL_OFFSET, factored(p, sleb(p)));
}

static void op_val_expression(struct program *p)
{
    uint8_t slot = slot_of(p, uleb(p));
    set_rule(&p->state, slot, PF_RULE_VAL_EXPRESSION, expression(p));
}

static void op_args_size(struct program *p)
{
    uleb(p);
}

/* DW_CFA_* by number; the three with an operand in the opcode are in step(). */
static void (*const operations[0x40])(struct program *) = {
    [0x00] = op_nop,
    [0x01] = op_set_loc,
    [0x02] = op_advance1,
    [0x03] = op_advance2,
    [0x04] = op_advance4,
    [0x05] = op_offset_extended,
    [0x06] = op_restore_extended,
    [0x07] = op_undefined,
    [0x08] = op_same_value,
    [0x09] = op_register,
    [0x0a] = op_remember,
    [0x0b] = op_restore_state,
    [0x0c] = op_def_cfa,
    [0x0d] = op_def_cfa_register,
    [0x0e] = op_def_cfa_offset,
    [0x0f] = op_def_cfa_expression,
    [0x10] = op_expression,
    [0x11] = op_offset_extended_sf,
    [0x12] = op_def_cfa_sf,
    [0x13] = op_def_cfa_offset_sf,
    [0x14] = op_val_offset,
    [0x15] = op_val_offset_sf,
    [0x16] = op_val_expression,
    [0x1d] = op_advance8,        /* MIPS */
    [0x2c] = op_nop,             /* AArch64: the return address is signed with the PC */
    [0x2d] = op_nop,             /* AArch64: it is signed, or not any more; signatures are always taken off */
    [0x2e] = op_args_size,       /* GNU */
    [0x2f] = op_negative_offset, /* GNU */
};

static void step(struct program *p)
{
    uint8_t opcode = pf_cursor_u8(&p->c);
    uint8_t low = opcode & 0x3f;
    switch (opcode & 0xc0) {
    case 0x40:
        advance(p, low);
        break;
    case 0x80:
        set_rule(&p->state, slot_of(p, low), PF_RULE_OFFSET, factored(p, uleb(p)));
        break;
    case 0xc0:
        restore(p, low);
        break;
    default:
        if (operations[low])
            operations[low](p);
        else
            fail(p);
    }
}

/* To its end, or to what cannot be understood: from there on there is no rule. */
static void run(struct program *p)
{
    while (pf_cursor_left(&p->c) && !p->failed && !p->c.failed)
        step(p);
    p->failed |= p->c.failed;
    if (p->failed)
        p->state.cfa_known = false;
    emit(p, p->end);
}

/* ---- CIEs ------------------------------------------------------------------------------------------------------- */

/* An entry by the length at its start, as a cursor of its own; false at the end. *is_64: the 64-bit format. */
static bool next_entry(struct pf_cursor *c, struct pf_cursor *entry, bool *is_64)
{
    uint64_t bytes = pf_cursor_u32(c);
    *is_64 = bytes == UINT32_MAX;
    if (*is_64)
        bytes = pf_cursor_u64(c);
    if (c->failed || bytes > pf_cursor_left(c))
        return false;
    uint64_t offset = pf_cursor_offset(c);
    *entry = pf_cursor_make(pf_cursor_take(c, bytes), (size_t)bytes, offset, c->swap);
    return true;
}

/* Reads the letters after the 'z'; an unknown one ends them, but the length of the data shows where the rest is. */
static void read_augmentation(const struct pf_cfi_part *k, struct cie *cie, const char *letters, struct pf_cursor *c)
{
    uint64_t bytes = pf_cursor_leb(c, false);
    uint64_t offset = pf_cursor_offset(c);
    const uint8_t *data = pf_cursor_take(c, bytes);
    if (!data)
        return;
    struct pf_cursor a = pf_cursor_make(data, (size_t)bytes, offset, c->swap);
    for (const char *l = letters; *l; l++) {
        if (*l == 'R')
            cie->pointer_encoding = pf_cursor_u8(&a);
        else if (*l == 'L')
            pf_cursor_u8(&a);
        else if (*l == 'P')
            read_encoded(k, &a, pf_cursor_u8(&a), cie->address_bytes);
        else if (*l == 'S')
            cie->is_signal = true;
        else if (*l != 'B' && *l != 'G')
            return;
    }
}

/* What stands before the initial instructions. */
static bool read_cie_head(const struct pf_cfi_part *k, struct cie *cie, struct pf_cursor *c)
{
    uint8_t version = pf_cursor_u8(c);
    size_t length;
    const char *letters = pf_cursor_text(c, &length);
    if (!letters || version == 0 || version == 2 || version > 4)
        return false;
    cie->address_bytes = k->cfi->arch->word_bytes;
    if (version == 4) {
        cie->address_bytes = pf_cursor_u8(c);
        if (pf_cursor_u8(c) != 0 || (cie->address_bytes != 4 && cie->address_bytes != 8)) /* segments are not used */
            return false;
    }
    if (strcmp(letters, "eh") == 0)
        pf_cursor_take(c, cie->address_bytes); /* before gcc 3 */
    cie->code_align = pf_cursor_leb(c, false);
    cie->data_align = (int64_t)pf_cursor_leb(c, true);
    cie->ra_column = version == 1 ? pf_cursor_u8(c) : pf_cursor_leb(c, false);
    cie->augmented = letters[0] == 'z';
    if (cie->augmented)
        read_augmentation(k, cie, letters + 1, c);
    else if (letters[0] && strcmp(letters, "eh") != 0)
        return false;
    return !c->failed;
}

static void run_cie(struct pf_cfi_part *k, struct cie *cie, struct pf_cursor *c)
{
    struct program p = {.part = k, .cie = cie, .c = *c};
    run(&p);
    cie->valid = !p.failed;
    cie->initial = p.state;
}

static void read_cie(struct pf_cfi_part *k, struct cie *cie)
{
    struct pf_cursor c = cursor_at(k, cie->offset, UINT64_MAX), entry;
    bool is_64;
    if (!next_entry(&c, &entry, &is_64))
        return;
    uint64_t id = read_offset(&entry, is_64 && !k->section.is_eh);
    if (id != (k->section.is_eh ? 0 : is_64 ? UINT64_MAX : UINT32_MAX) || !read_cie_head(k, cie, &entry))
        return;
    cie->ra_slot = pf_unwind_slot(k->cfi->arch, cie->ra_column);
    if (cie->ra_slot == PF_UNWIND_NO_SLOT)
        cie->ra_slot = k->cfi->arch->pc; /* a column made up for a signal frame */
    if (pf_cursor_left(&entry) <= CIE_PROGRAM_BYTES)
        run_cie(k, cie, &entry);
}

static size_t cie_index(uint64_t offset)
{
    return offset / 4 % CIES_KEPT;
}

/* The CIE at an offset of the section; NULL when it cannot be used. */
static const struct cie *cie_at(struct pf_cfi_part *k, uint64_t offset)
{
    struct cie *cie = &k->cies[cie_index(offset)];
    if (cie->offset != offset) {
        *cie = (struct cie){.offset = offset};
        read_cie(k, cie);
        cie->is_plain =
            cie->valid && cie->augmented && cie->pointer_encoding == (PE_PCREL | PE_SDATA4) && cie->address_bytes == 8;
    }
    return cie->valid ? cie : NULL;
}

/* ---- FDEs ------------------------------------------------------------------------------------------------------- */

/* False: the range is not in the code. */
static bool set_range(const struct pf_cfi *cfi, uint64_t start, uint64_t bytes, struct fde *fde)
{
    if (start < cfi->base || start >= cfi->end || !bytes)
        return false;
    fde->start = (uint32_t)(start - cfi->base);
    fde->end = (uint32_t)(start - cfi->base + pf_min(bytes, cfi->end - start));
    return true;
}

/* What stands before the program; false when it cannot be used. */
static bool read_fde_head(struct pf_cfi_part *k, uint64_t cie_offset, struct pf_cursor *c, struct fde *fde)
{
    const struct cie *cie = cie_at(k, cie_offset);
    if (!cie)
        return false;
    const uint64_t start = read_encoded(k, c, cie->pointer_encoding, cie->address_bytes);
    const uint64_t bytes = read_encoded(k, c, cie->pointer_encoding & PE_FORMAT, cie->address_bytes);
    if (cie->augmented)
        pf_cursor_take(c, pf_cursor_leb(c, false));
    if (c->failed || !set_range(k->cfi, start, bytes, fde))
        return false;
    fde->cie = cie;
    fde->program = *c;
    return true;
}

/*
 * The FDE at the cursor, which is at the length before it; false at the end. fde->cie is NULL when there is none to
 * use.
 */
static bool next_fde(struct pf_cfi_part *k, struct pf_cursor *c, struct fde *fde)
{
    const bool is_eh = k->section.is_eh;
    struct pf_cursor entry;
    bool is_64;
    fde->cie = NULL;
    if (!next_entry(c, &entry, &is_64))
        return false;
    const uint64_t location = pf_cursor_offset(&entry);
    if (!pf_cursor_left(&entry))
        return true;
    const uint64_t id = read_offset(&entry, is_64 && !is_eh);
    if (entry.failed || id == (is_eh ? 0 : is_64 ? UINT64_MAX : UINT32_MAX))
        return true; /* CIEs are read when they are asked for */
    if ((is_eh && id > location) || !read_fde_head(k, is_eh ? location - id : id, &entry, fde))
        fde->cie = NULL;
    return true;
}

/*
 * The same for what nearly all FDEs are, without their programs: in .eh_frame, with a CIE that was just read, and with
 * the usual encoding of the range. False, and nothing is read: it is another one.
 */
static bool next_plain_fde(struct pf_cfi_part *k, struct pf_cursor *c, struct fde *fde)
{
    enum { HEAD_BYTES = 17, LONGEST = 0x7fffffff }; /* up to the length of the augmentation data */
    const uint8_t *at = c->at;
    if (!k->section.is_eh || pf_cursor_left(c) < HEAD_BYTES)
        return false;
    const uint32_t bytes = pf_load32(at, c->swap), id = pf_load32(at + 4, c->swap);
    const uint64_t location = pf_cursor_offset(c) + 4;
    if (bytes < HEAD_BYTES - 4 || bytes > LONGEST || bytes > pf_cursor_left(c) - 4 || !id || id > location ||
        at[16] > 0x7f || at[16] > bytes - (HEAD_BYTES - 4))
        return false;
    const struct cie *cie = &k->cies[cie_index(location - id)];
    const uint64_t distance = (uint64_t)(int32_t)pf_load32(at + 8, c->swap);
    if (cie->offset != location - id || !cie->is_plain || !distance)
        return false;
    const uint64_t start = k->section.address + location + 4 + distance;
    fde->cie = set_range(k->cfi, start, (uint64_t)(int32_t)pf_load32(at + 12, c->swap), fde) ? cie : NULL;
    pf_cursor_take(c, 4 + (uint64_t)bytes);
    return true;
}

static bool add_function(struct pf_cfi_part *k, const struct fde *fde, uint64_t entry)
{
    return PF_APPEND(k->cfi->allocator, k->functions, k->count, k->capacity,
                     (struct function){.start = fde->start, .end = fde->end, .entry = entry, .rows = NOT_RUN});
}

static uint64_t start_of(const void *function)
{
    return ((const struct function *)function)->start;
}

/* By their starts; as they stand in the section where those are equal. */
static bool sort_functions(struct pf_cfi_part *k)
{
    struct function *functions = k->functions;
    const size_t bytes = k->capacity * sizeof(*functions);
    struct function *other = pf_resize(k->cfi->allocator, NULL, 0, bytes);
    if (!other)
        return false;
    k->functions = pf_sort(functions, other, k->count, sizeof(*functions), start_of);
    pf_free(k->cfi->allocator, k->functions == other ? functions : other, bytes);
    return true;
}

/* Of FDEs that overlap, the one that starts first counts where they do. */
static void cut_overlaps(struct pf_cfi_part *k)
{
    size_t kept = 0;
    uint32_t covered = 0;
    for (size_t i = 0; i < k->count; i++) {
        struct function function = k->functions[i];
        if (function.end <= covered)
            continue;
        function.start = function.start > covered ? function.start : covered;
        covered = function.end;
        k->functions[kept++] = function;
    }
    k->count = kept;
}

static bool find_functions(struct pf_cfi_part *k)
{
    struct pf_cursor c = cursor_at(k, 0, UINT64_MAX);
    struct fde fde;
    for (uint64_t entry = 0; pf_cursor_left(&c) && (next_plain_fde(k, &c, &fde) || next_fde(k, &c, &fde));
         entry = pf_cursor_offset(&c))
        if (fde.cie && !add_function(k, &fde, entry))
            return false;
    if (!pf_is_sorted(k->functions, k->count, sizeof(*k->functions), start_of) && !sort_functions(k))
        return false;
    cut_overlaps(k);
    struct function *fitting = pf_resize(k->cfi->allocator, k->functions, k->capacity * sizeof(*fitting),
                                         pf_max_size(k->count, 1) * sizeof(*fitting));
    if (fitting) {
        k->functions = fitting;
        k->capacity = pf_max_size(k->count, 1);
    }
    k->starts = pf_resize(k->cfi->allocator, NULL, 0, (k->count + 1) * sizeof(*k->starts));
    for (size_t i = 0; k->starts && i < k->count; i++)
        k->starts[i] = k->functions[i].start;
    return k->starts;
}

struct pf_cfi_part *pf_cfi_part_open(struct pf_cfi *cfi, const struct pf_cfi_section *section)
{
    struct pf_cfi_part *k = pf_new(cfi->allocator, sizeof(*k));
    if (!k)
        return NULL;
    k->cfi = cfi;
    k->section = *section;
    for (size_t i = 0; i < CIES_KEPT; i++)
        k->cies[i].offset = UINT64_MAX;
    if (find_functions(k))
        return k;
    pf_cfi_part_close(k);
    return NULL;
}

void pf_cfi_part_close(struct pf_cfi_part *part)
{
    if (!part)
        return;
    const struct perfile_allocator *allocator = part->cfi->allocator;
    pf_free(allocator, part->functions, part->capacity * sizeof(*part->functions));
    if (part->starts)
        pf_free(allocator, part->starts, (part->count + 1) * sizeof(*part->starts));
    pf_free(allocator, part->rows.rows, part->rows.capacity * sizeof(*part->rows.rows));
    pf_free(allocator, part->made.rows, part->made.capacity * sizeof(*part->made.rows));
    pf_free(allocator, part, sizeof(*part));
}

size_t pf_cfi_part_count(const struct pf_cfi_part *part)
{
    return part->count;
}

bool pf_cfi_part_covers(const struct pf_cfi_part *part, uint32_t start, uint32_t end)
{
    enum { MAX_GAP = 63 };
    for (size_t i = 0; i < part->count && start + MAX_GAP < end; i++) {
        const struct function *function = &part->functions[i];
        if (function->end <= start)
            continue;
        if (function->start > start + MAX_GAP)
            return false;
        start = function->end;
    }
    return start + MAX_GAP >= end;
}

/* ---- functions that are asked for ------------------------------------------------------------------------------- */

static void run_fde(struct pf_cfi_part *k, const struct fde *fde, const struct function *function)
{
    struct program p;
    p.part = k;
    p.cie = fde->cie;
    p.c = fde->program;
    p.state = fde->cie->initial;
    p.depth = 0;
    p.location = fde->start;
    p.from = function->start;
    p.end = fde->end;
    p.deepest = 0;
    p.writes = true;
    p.failed = false;
    run(&p);
}

/* Without memory there are none. */
static void make_rows(struct pf_cfi_part *k, struct function *function)
{
    struct pf_cursor c = cursor_at(k, function->entry, UINT64_MAX);
    struct fde fde;
    k->made.count = 0;
    if (next_fde(k, &c, &fde) && fde.cie)
        run_fde(k, &fde, function);
    function->row = (uint32_t)k->rows.count;
    function->rows = 0;
    if (k->made.count > UINT32_MAX - k->rows.count || !pf_grow(k->cfi->allocator, &k->rows.rows, &k->rows.capacity,
                                                               k->rows.count + k->made.count, sizeof(*k->rows.rows)))
        return;
    function->rows = (uint32_t)k->made.count;
    for (size_t i = 0; i < k->made.count; i++)
        k->rows.rows[k->rows.count++] = k->made.rows[i];
}

static struct function *function_at(const struct pf_cfi_part *part, uint32_t start)
{
    if (!part->count)
        return NULL;
    struct function *function = &part->functions[pf_last_below(part->starts, part->count, start)];
    return function->start <= start && start < function->end ? function : NULL;
}

uint32_t pf_cfi_part_find(struct pf_cfi_part *part, uint32_t start)
{
    struct function *function = function_at(part, start);
    if (!function)
        return 0;
    if (function->rows == NOT_RUN)
        make_rows(part, function);
    if (!function->rows)
        return 0;
    const struct pf_cfi_rows rows = {.rows = part->rows.rows + function->row, .count = function->rows};
    return pf_cfi_rows_find(&rows, start);
}
