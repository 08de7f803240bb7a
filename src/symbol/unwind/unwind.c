/* SPDX-License-Identifier: MIT */
/* From the registers and the piece of stack of a sample to return addresses. */
#include "base/elf_names.h"
#include "symbol/unwind/cfi_rules.h"
#include "symbol/unwind/code_exit.h"
#include "symbol/unwind/unwind.h"

enum {
    EXPRESSION_STACK = 64,
    EXPRESSION_STEPS = 1000,     /* expressions may branch backwards */
    TRUNCATED_WITHIN = 64 << 20, /* an address this far after the dumped stack is still on the stack */
};

/* One sample while it is unwound. */
struct unwinding {
    const struct pf_unwind_arch *arch;
    bool swap;
    const uint8_t *stack;
    uint64_t stack_address, stack_bytes;
    uint64_t needed; /* of these bytes */
    uint64_t known;  /* slots with a value */
    uint64_t values[PF_UNWIND_SLOTS];
    uint64_t cfa;
    bool exact;     /* the program counter is an interrupted instruction, not a return address */
    bool truncated; /* a read was after the dumped stack */
};

/* What a frame leads to. */
enum step { STEP_ON, STEP_OUTERMOST, STEP_LOST };

static bool known(const struct unwinding *u, unsigned slot)
{
    return slot < PF_UNWIND_SLOTS && (u->known >> slot & 1);
}

static void set(struct unwinding *u, unsigned slot, uint64_t value)
{
    u->known |= 1ull << slot;
    u->values[slot] = u->arch->word_bytes == 4 ? (uint32_t)value : value;
}

/* `bytes` bytes of the stack at an address. */
static bool read_stack(struct unwinding *u, uint64_t address, unsigned bytes, uint64_t *value)
{
    if (u->arch->word_bytes == 4)
        address = (uint32_t)address;
    uint64_t skip = address - u->stack_address;
    if (skip >= u->stack_bytes || bytes > u->stack_bytes - skip) {
        u->truncated = address >= u->stack_address && skip < u->stack_bytes + TRUNCATED_WITHIN;
        return false;
    }
    const uint8_t *at = u->stack + skip;
    u->needed = pf_max(u->needed, skip + bytes);
    *value = bytes == 8   ? pf_load64(at, u->swap)
             : bytes == 4 ? pf_load32(at, u->swap)
             : bytes == 2 ? pf_load16(at, u->swap)
                          : *at;
    return true;
}

static bool read_word(struct unwinding *u, uint64_t address, uint64_t *value)
{
    return read_stack(u, address, u->arch->word_bytes, value);
}

/* ---- expressions ------------------------------------------------------------------------------------------------ */

struct evaluation {
    struct unwinding *u;
    struct pf_cursor c;
    uint64_t stack[EXPRESSION_STACK];
    unsigned depth;
    bool failed;
};

static void push(struct evaluation *e, uint64_t value)
{
    if (e->depth == EXPRESSION_STACK)
        e->failed = true;
    else
        e->stack[e->depth++] = e->u->arch->word_bytes == 4 ? (uint32_t)value : value;
}

static uint64_t take(struct evaluation *e)
{
    if (e->depth == 0) {
        e->failed = true;
        return 0;
    }
    return e->stack[--e->depth];
}

/* The element `down` below the top. */
static void pick(struct evaluation *e, unsigned down)
{
    if (down >= e->depth)
        e->failed = true;
    else
        push(e, e->stack[e->depth - 1 - down]);
}

/* The top goes below the next `below`. */
static void rotate(struct evaluation *e, unsigned below)
{
    if (below >= e->depth) {
        e->failed = true;
        return;
    }
    uint64_t *top = &e->stack[e->depth - 1], value = *top;
    memmove(top - below + 1, top - below, below * sizeof(*top));
    top[-(int)below] = value;
}

static void dereference(struct evaluation *e, unsigned bytes)
{
    uint64_t value = 0;
    if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || !read_stack(e->u, take(e), bytes, &value))
        e->failed = true;
    push(e, value);
}

static void push_register(struct evaluation *e, uint64_t number, uint64_t offset)
{
    uint8_t slot = pf_unwind_slot(e->u->arch, number);
    if (!known(e->u, slot))
        e->failed = true;
    else
        push(e, e->u->values[slot] + offset);
}

/* As signed numbers of the architecture. */
static int64_t signed_of(const struct evaluation *e, uint64_t value)
{
    return e->u->arch->word_bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static uint64_t divide(struct evaluation *e, uint64_t a, uint64_t b)
{
    int64_t by = signed_of(e, b);
    if (by == 0)
        e->failed = true;
    return by == 0 ? 0 : by == -1 ? -a : (uint64_t)(signed_of(e, a) / by);
}

static uint64_t modulo(struct evaluation *e, uint64_t a, uint64_t b)
{
    if (b == 0)
        e->failed = true;
    return b == 0 ? 0 : a % b;
}

static uint64_t shift_arithmetically(const struct evaluation *e, uint64_t a, uint64_t b)
{
    return (uint64_t)(signed_of(e, a) >> (b > 63 ? 63 : b));
}

/* DW_OP_and 0x1a to DW_OP_xor 0x27, without the unary ones among them; DW_OP_eq 0x29 to DW_OP_ne 0x2e */
static uint64_t binary(struct evaluation *e, uint8_t op)
{
    uint64_t b = take(e), a = take(e);
    int64_t x = signed_of(e, a), y = signed_of(e, b);
    switch (op) {
    case 0x1a:
        return a & b;
    case 0x1b:
        return divide(e, a, b);
    case 0x1c:
        return a - b;
    case 0x1d:
        return modulo(e, a, b);
    case 0x1e:
        return a * b;
    case 0x21:
        return a | b;
    case 0x22:
        return a + b;
    case 0x24:
        return b > 63 ? 0 : a << b;
    case 0x25:
        return b > 63 ? 0 : a >> b;
    case 0x26:
        return shift_arithmetically(e, a, b);
    case 0x27:
        return a ^ b;
    case 0x29:
        return x == y;
    case 0x2a:
        return x >= y;
    case 0x2b:
        return x > y;
    case 0x2c:
        return x <= y;
    case 0x2d:
        return x < y;
    default:
        return x != y;
    }
}

/* DW_OP_abs 0x19, DW_OP_neg 0x1f, DW_OP_not 0x20 */
static void unary(struct evaluation *e, uint8_t op)
{
    uint64_t a = take(e);
    if (op == 0x20)
        push(e, ~a);
    else
        push(e, op == 0x1f || signed_of(e, a) < 0 ? -a : a);
}

static void branch(struct evaluation *e, bool conditional)
{
    int16_t distance = (int16_t)pf_cursor_u16(&e->c);
    if (conditional && take(e) == 0)
        return;
    int64_t to = (e->c.at - e->c.start) + distance;
    if (e->c.failed || to < 0 || to > e->c.end - e->c.start)
        e->failed = true;
    else
        e->c.at = e->c.start + to;
}

/* DW_OP_addr 0x03, DW_OP_const1u 0x08 to DW_OP_consts 0x11 */
static uint64_t constant(struct evaluation *e, uint8_t op)
{
    struct pf_cursor *c = &e->c;
    switch (op) {
    case 0x03:
        return e->u->arch->word_bytes == 8 ? pf_cursor_u64(c) : pf_cursor_u32(c);
    case 0x08:
        return pf_cursor_u8(c);
    case 0x09:
        return (uint64_t)(int8_t)pf_cursor_u8(c);
    case 0x0a:
        return pf_cursor_u16(c);
    case 0x0b:
        return (uint64_t)(int16_t)pf_cursor_u16(c);
    case 0x0c:
        return pf_cursor_u32(c);
    case 0x0d:
        return (uint64_t)(int32_t)pf_cursor_u32(c);
    case 0x0e:
    case 0x0f:
        return pf_cursor_u64(c);
    default:
        return pf_cursor_leb(c, op == 0x11);
    }
}

/* What is neither a constant nor arithmetic. */
static void other(struct evaluation *e, uint8_t op)
{
    switch (op) {
    case 0x06: /* DW_OP_deref */
        dereference(e, e->u->arch->word_bytes);
        break;
    case 0x94: /* DW_OP_deref_size */
        dereference(e, pf_cursor_u8(&e->c));
        break;
    case 0x12: /* DW_OP_dup */
        pick(e, 0);
        break;
    case 0x14: /* DW_OP_over */
        pick(e, 1);
        break;
    case 0x15: /* DW_OP_pick */
        pick(e, pf_cursor_u8(&e->c));
        break;
    case 0x13: /* DW_OP_drop */
        take(e);
        break;
    case 0x16: /* DW_OP_swap */
        rotate(e, 1);
        break;
    case 0x17: /* DW_OP_rot */
        rotate(e, 2);
        break;
    case 0x23: /* DW_OP_plus_uconst */
        push(e, take(e) + pf_cursor_leb(&e->c, false));
        break;
    case 0x28: /* DW_OP_bra */
    case 0x2f: /* DW_OP_skip */
        branch(e, op == 0x28);
        break;
    case 0x96: /* DW_OP_nop */
        break;
    default:
        e->failed = true;
    }
}

static void evaluate_one(struct evaluation *e)
{
    uint8_t op = pf_cursor_u8(&e->c);
    if (op >= 0x30 && op <= 0x4f) /* DW_OP_lit0 ... */
        push(e, op - 0x30u);
    else if (op >= 0x70 && op <= 0x8f) /* DW_OP_breg0 ... */
        push_register(e, op - 0x70u, pf_cursor_leb(&e->c, true));
    else if (op == 0x92) { /* DW_OP_bregx */
        uint64_t number = pf_cursor_leb(&e->c, false);
        push_register(e, number, pf_cursor_leb(&e->c, true));
    } else if (op == 0x03 || (op >= 0x08 && op <= 0x11))
        push(e, constant(e, op));
    else if (op == 0x19 || op == 0x1f || op == 0x20)
        unary(e, op);
    else if (op >= 0x1a && op <= 0x2e && op != 0x23 && op != 0x28)
        push(e, binary(e, op));
    else
        other(e, op);
}

/* Evaluates the expression at an offset in the pool; `first`, if any, is on its stack at the start. */
static bool evaluate(struct unwinding *u, const struct pf_cfi *cfi, int32_t location, const uint64_t *first,
                     uint64_t *value)
{
    struct evaluation e;
    const uint8_t *kept = cfi->pool + location;
    e.u = u;
    e.c = pf_cursor_make(kept + 4, pf_load32(kept, false), 0, cfi->swap);
    e.depth = 0;
    e.failed = false;
    if (first)
        push(&e, *first);
    for (int steps = 0; pf_cursor_left(&e.c) && !e.failed; steps++) {
        if (steps == EXPRESSION_STEPS)
            return false;
        evaluate_one(&e);
    }
    *value = take(&e);
    return !e.failed && !e.c.failed;
}

/* ---- one frame -------------------------------------------------------------------------------------------------- */

static bool find_cfa(struct unwinding *u, const struct pf_cfi *cfi, const struct pf_cfi_rule *rule, uint64_t *cfa)
{
    if (rule->cfa_slot == PF_UNWIND_NO_SLOT)
        return evaluate(u, cfi, rule->cfa_value, NULL, cfa);
    if (!known(u, rule->cfa_slot))
        return false;
    *cfa = u->values[rule->cfa_slot] + (uint64_t)(int64_t)rule->cfa_value;
    if (u->arch->word_bytes == 4)
        *cfa = (uint32_t)*cfa;
    return true;
}

/* The caller's value of one register; false: it is lost. */
static bool find_value(struct unwinding *u, const struct pf_cfi *cfi, const struct pf_cfi_entry *entry, uint64_t cfa,
                       uint64_t *value)
{
    uint64_t address = cfa + (uint64_t)(int64_t)entry->value;
    switch (entry->kind) {
    case PF_RULE_OFFSET:
        return read_word(u, address, value);
    case PF_RULE_VAL_OFFSET:
        *value = address;
        return true;
    case PF_RULE_SAME:
    case PF_RULE_REGISTER: {
        unsigned from = entry->kind == PF_RULE_SAME ? entry->slot : (unsigned)entry->value;
        *value = known(u, from) ? u->values[from] : 0;
        return known(u, from);
    }
    case PF_RULE_EXPRESSION:
        return evaluate(u, cfi, entry->value, &cfa, &address) && read_word(u, address, value);
    case PF_RULE_VAL_EXPRESSION:
        return evaluate(u, cfi, entry->value, &cfa, value);
    default:
        return false;
    }
}

/* All registers of the caller; those of the callee are needed until the last is found. */
static void apply(struct unwinding *u, const struct pf_cfi *cfi, const struct pf_cfi_rule *rule, uint64_t cfa)
{
    const struct pf_cfi_entry *entries = pf_cfi_entries(rule);
    uint64_t found[PF_UNWIND_SLOTS], is_known = 0;
    for (unsigned i = 0; i < rule->count; i++)
        is_known |= (uint64_t)find_value(u, cfi, &entries[i], cfa, &found[i]) << i;
    set(u, u->arch->sp, cfa - (uint64_t)(int64_t)u->arch->sp_bias);
    for (unsigned i = 0; i < rule->count; i++) {
        if (is_known >> i & 1)
            set(u, entries[i].slot, found[i]);
        else
            u->known &= ~(1ull << entries[i].slot);
    }
}

static const struct pf_cfi_entry *entry_of(const struct pf_cfi_rule *rule, uint8_t slot)
{
    const struct pf_cfi_entry *entries = pf_cfi_entries(rule);
    for (unsigned i = 0; i < rule->count; i++) {
        if (entries[i].slot == slot)
            return &entries[i];
    }
    return NULL;
}

static enum step step_by_rule(struct unwinding *u, const struct pf_cfi *cfi, const struct pf_cfi_rule *rule)
{
    uint64_t cfa;
    const struct pf_cfi_entry *ra = entry_of(rule, rule->ra);
    if (ra && ra->kind == PF_RULE_UNDEFINED)
        return STEP_OUTERMOST;
    /* Only a function without calls leaves its return address where it was. */
    if ((!ra || ra->kind == PF_RULE_SAME) && (!u->exact || rule->ra == u->arch->pc))
        return STEP_LOST;
    u->truncated = false;
    if (!find_cfa(u, cfi, rule, &cfa) || (cfa == u->cfa && !u->exact))
        return STEP_LOST;
    apply(u, cfi, rule, cfa);
    u->cfa = cfa;
    u->exact = rule->signal;
    if (!known(u, rule->ra))
        return STEP_LOST;
    u->truncated = false;
    set(u, u->arch->pc, u->values[rule->ra]);
    return STEP_ON;
}

enum pf_return_at pf_unwind_return_at(struct pf_cfi *cfi, uint64_t elf_address)
{
    const struct pf_cfi_rule *rule = cfi->arch ? pf_cfi_find(cfi, elf_address) : NULL;
    const struct pf_cfi_entry *ra = rule ? entry_of(rule, rule->ra) : NULL;
    if (!rule || rule->signal || (ra && ra->kind == PF_RULE_UNDEFINED))
        return PF_RETURN_UNKNOWN;
    if (ra && ra->kind != PF_RULE_SAME && ra->kind != PF_RULE_REGISTER)
        return PF_RETURN_ON_STACK;
    const bool has_frame = rule->cfa_slot != cfi->arch->sp || rule->cfa_value != 0;
    return has_frame ? PF_RETURN_IN_REGISTER_STILL : PF_RETURN_IN_REGISTER;
}

/*
 * Trampolines of aarch64 (since 5.8) and riscv64 have no rules; one has to know the kernel's struct rt_sigframe: 128
 * bytes of siginfo, then uc_flags and uc_link, which are 0, and further on the registers.
 */
static bool is_signal_frame(struct unwinding *u, pf_unwind_locate *locate, void *context)
{
    const struct pf_unwind_arch *arch = u->arch;
    struct pf_unwind_location location;
    uint64_t flags, link, pc;
    if (!arch->signal_registers || u->exact || !known(u, arch->sp))
        return false;
    uint64_t frame = u->values[arch->sp], registers = frame + arch->signal_registers;
    unsigned at = 0;
    while (arch->perf_slots[at] != arch->pc)
        at++;
    return read_word(u, frame + 128, &flags) && flags == 0 && read_word(u, frame + 136, &link) && link == 0 &&
           read_word(u, registers + 8 * at, &pc) && pc != 0 && locate(context, pc, &location) && location.executable;
}

static enum step step_by_signal_frame(struct unwinding *u)
{
    uint64_t registers = u->values[u->arch->sp] + u->arch->signal_registers, value;
    u->truncated = false;
    for (unsigned i = 0; i < u->arch->perf_count; i++) {
        if (!read_word(u, registers + 8 * i, &value))
            return STEP_LOST;
        set(u, u->arch->perf_slots[i], value);
    }
    u->cfa = registers;
    u->exact = true;
    return STEP_ON;
}

/* A leaf function of which nothing is known: its return address is still in the register. */
static bool step_by_link(struct unwinding *u, pf_unwind_locate *locate, void *context)
{
    struct pf_unwind_location location;
    const struct pf_unwind_arch *arch = u->arch;
    if (!u->exact || arch->ra == arch->pc || !known(u, arch->ra))
        return false;
    uint64_t address = u->values[arch->ra] & arch->address_mask;
    if (address == 0 || !locate(context, address - 1, &location) || !location.executable)
        return false;
    set(u, arch->pc, address);
    u->exact = false;
    return true;
}

static enum step step_by_frame(struct unwinding *u, pf_unwind_locate *locate, void *context)
{
    const struct pf_unwind_arch *arch = u->arch;
    uint64_t fp, ra;
    u->truncated = false;
    if (step_by_link(u, locate, context))
        return STEP_ON;
    if (arch->frame_fp == arch->frame_ra || !known(u, arch->fp) || !known(u, arch->sp))
        return STEP_LOST;
    uint64_t frame = u->values[arch->fp], sp = frame + (uint64_t)(int64_t)arch->frame_sp;
    if (frame == 0) /* so the kernel starts programs */
        return u->exact ? STEP_LOST : STEP_OUTERMOST;
    if (sp <= u->values[arch->sp] || !read_word(u, frame + (uint64_t)(int64_t)arch->frame_fp, &fp) ||
        !read_word(u, frame + (uint64_t)(int64_t)arch->frame_ra, &ra))
        return STEP_LOST;
    set(u, arch->fp, fp);
    set(u, arch->sp, sp);
    set(u, arch->pc, ra);
    u->cfa = sp;
    u->exact = false;
    return STEP_ON;
}

/* ---- by the code of the function --------------------------------------------------------------------------------- */

/* Instructions number registers in another order than DWARF does. */
static uint8_t slot_of_code(const struct unwinding *u, unsigned number)
{
    static const uint8_t first[] = {0, 2, 1, 3, 7, 6, 4, 5};
    return u->arch->word_bytes == 8 && number < sizeof(first) ? first[number] : (uint8_t)number;
}

static bool address_of_slot(const struct unwinding *u, const struct pf_code_slot *slot, uint64_t *address)
{
    const unsigned from = slot->by_fp ? u->arch->fp : u->arch->sp;
    *address = u->values[from] + (uint64_t)(int64_t)slot->offset;
    return slot->is_known && known(u, from) && *address >= u->values[u->arch->sp] &&
           *address % u->arch->word_bytes == 0;
}

/* The code at a location, of its file or of memory. */
struct code {
    const uint8_t *data;
    size_t bytes;
    size_t at;
};

static bool find_code(const struct unwinding *u, const struct pf_unwind_location *location, struct code *code)
{
    const struct pf_cfi *cfi = location->cfi;
    const bool is_of_file = cfi && cfi->arch == u->arch && cfi->code.data && location->elf_address >= cfi->code.address;
    if (is_of_file)
        *code = (struct code){cfi->code.data, cfi->code.bytes, location->elf_address - cfi->code.address};
    else
        *code = (struct code){location->code, location->code_bytes, location->code_at};
    return code->data && (u->arch->machine == EM_X86_64 || u->arch->machine == EM_386);
}

/*
 * Whether a word may be a return address: there must be code that calls, as far as the code is known. A function that
 * jumps on may be one that jumps by a table instead, where the word is anything: code must be known then.
 */
static bool is_return_address(const struct unwinding *u, uint64_t address, bool is_certain, pf_unwind_locate *locate,
                              void *context)
{
    struct pf_unwind_location location = {NULL};
    struct code code;
    if (!address || !locate(context, address - 1, &location) || !location.executable)
        return false;
    if (find_code(u, &location, &code))
        return pf_code_is_called(u->arch->word_bytes == 8, code.data, code.bytes, code.at + 1);
    return is_certain || (location.cfi && pf_cfi_find(location.cfi, location.elf_address));
}

/* The registers that the function loads from its frame before it returns. */
static void load_saved(struct unwinding *u, const struct pf_code_exit *exit)
{
    uint64_t found[PF_CODE_REGISTERS], address;
    uint32_t is_found = 0;
    for (unsigned i = 0; i < PF_CODE_REGISTERS; i++)
        if (address_of_slot(u, &exit->saved[i], &address) && read_word(u, address, &found[i]))
            is_found |= 1u << i;
    for (unsigned i = 0; i < PF_CODE_REGISTERS; i++)
        if (is_found >> i & 1)
            set(u, slot_of_code(u, i), found[i]);
}

static enum step step_by_code(struct unwinding *u, const struct pf_unwind_location *location, pf_unwind_locate *locate,
                              void *context)
{
    struct pf_code_walk walk;
    struct pf_code_exit exit;
    struct code code;
    uint8_t own[PF_UNWIND_CODE_BYTES];
    uint64_t address, ra;
    if (!find_code(u, location, &code))
        return STEP_LOST;
    if (code.data == location->code) {
        code.bytes = pf_min_size(code.bytes, sizeof(own));
        code.data = memcpy(own, code.data, code.bytes);
    }
    pf_code_walk_start(&walk, u->arch->word_bytes == 8, code.data, code.bytes, code.at + !u->exact);
    while (pf_code_walk_next(&walk, &exit)) {
        if (!address_of_slot(u, &exit.address, &address) || !read_word(u, address, &ra) ||
            !is_return_address(u, ra, !exit.is_jump, locate, context))
            continue;
        load_saved(u, &exit);
        u->cfa = address + u->arch->word_bytes;
        set(u, u->arch->sp, u->cfa);
        set(u, u->arch->pc, ra);
        u->exact = false;
        u->truncated = false;
        return STEP_ON;
    }
    return STEP_LOST;
}

/* How a frame's caller is to be found. */
struct way {
    struct pf_cfi *cfi;
    const struct pf_cfi_rule *rule; /* NULL: without */
    bool is_signal;                 /* a trampoline */
};

static struct way way_from(struct unwinding *u, const struct pf_unwind_location *location, pf_unwind_locate *locate,
                           void *context)
{
    struct way way = {.cfi = location->cfi};
    if (way.cfi && way.cfi->arch == u->arch)
        way.rule = pf_cfi_find(way.cfi, location->elf_address);
    if (way.rule && way.rule->signal && !entry_of(way.rule, way.rule->ra))
        way.rule = NULL; /* riscv64's is marked as one, and that is all */
    way.is_signal = way.rule ? way.rule->signal : is_signal_frame(u, locate, context);
    return way;
}

static enum step step(struct unwinding *u, const struct way *way, const struct pf_unwind_location *location,
                      pf_unwind_locate *locate, void *context)
{
    if (way->rule)
        return step_by_rule(u, way->cfi, way->rule);
    if (way->is_signal)
        return step_by_signal_frame(u);
    return step_by_code(u, location, locate, context) == STEP_ON ? STEP_ON : step_by_frame(u, locate, context);
}

/* ---- the sample ------------------------------------------------------------------------------------------------- */

static void load_registers(struct unwinding *u, const struct perfile_regs *regs)
{
    uint64_t index = 0;
    for (uint64_t left = regs->mask; left && index < regs->values.count; left &= left - 1, index++) {
        int bit = __builtin_ctzll(left);
        if (bit < u->arch->perf_count && u->arch->perf_slots[bit] != PF_UNWIND_NO_SLOT)
            set(u, u->arch->perf_slots[bit], perfile_u64_at(&regs->values, index));
    }
}

static int prepare(struct unwinding *u, const struct perfile_sample *sample, const char *arch)
{
    const struct perfile_regs *regs = &sample->regs_user;
    if (!(sample->present & PERFILE_SAMPLE_REGS_USER) || !(sample->present & PERFILE_SAMPLE_STACK_USER) || !regs->abi)
        return PERFILE_ERROR_ABSENT;
    u->arch = pf_unwind_arch_find(arch, regs->abi);
    if (!u->arch)
        return PERFILE_ERROR_UNSUPPORTED;
    u->swap = regs->values.swapped;
    load_registers(u, regs);
    if (!known(u, u->arch->pc) || !known(u, u->arch->sp))
        return PERFILE_ERROR_ABSENT;
    u->stack = sample->stack_user.data;
    u->stack_address = u->values[u->arch->sp];
    u->stack_bytes = pf_min(sample->stack_user.used, sample->stack_user.bytes);
    u->cfa = UINT64_MAX;
    u->exact = true;
    return 0;
}

/* Where the frame is: at its instruction, or at the call before its return address. */
static bool locate_frame(struct unwinding *u, pf_unwind_locate *locate, void *context,
                         struct pf_unwind_location *location)
{
    uint64_t pc = u->values[u->arch->pc] & u->arch->address_mask;
    set(u, u->arch->pc, pc);
    *location = (struct pf_unwind_location){NULL};
    return locate(context, pc - !u->exact, location) && location->executable;
}

/*
 * Callers subtract 1 from a return address to find the call. Addresses of interrupted instructions, and the start of
 * the code that returns from a signal, were not called: 1 is added so that the result is that address itself.
 */
static uint64_t address_of(const struct unwinding *u, const struct way *way, bool first)
{
    return u->values[u->arch->pc] + (!first && (u->exact || way->is_signal));
}

static int end_of(const struct unwinding *u, enum step reached)
{
    if (reached == STEP_OUTERMOST)
        return PF_UNWIND_DONE;
    return u->truncated ? PF_UNWIND_TRUNCATED : PF_UNWIND_NO_RULE;
}

int pf_unwind_sample(const struct perfile_sample *sample, const char *arch, pf_unwind_locate *locate, void *context,
                     struct pf_unwound *unwound)
{
    struct unwinding u = {.known = 0};
    struct pf_unwind_location location;
    unwound->count = 0;
    unwound->bytes = 0;
    unwound->guessed = false;
    int result = prepare(&u, sample, arch);
    while (result == 0) {
        bool found = locate_frame(&u, locate, context, &location);
        unwound->bytes = u.needed;
        if (u.values[u.arch->pc] == 0)
            return PF_UNWIND_DONE;
        if (!found && unwound->count)
            return PF_UNWIND_NO_RULE;
        if (unwound->count == unwound->capacity)
            return PF_UNWIND_LIMIT;
        struct way way = {NULL};
        if (found)
            way = way_from(&u, &location, locate, context);
        unwound->addresses[unwound->count] = address_of(&u, &way, unwound->count == 0);
        unwound->count++;
        enum step reached = found ? step(&u, &way, &location, locate, context) : STEP_LOST;
        if (reached != STEP_ON)
            return end_of(&u, reached);
        unwound->guessed |= !way.rule && !way.is_signal;
    }
    return result;
}
