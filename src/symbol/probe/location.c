/* SPDX-License-Identifier: MIT */
/* From the location of a variable in DWARF to what a probe of the kernel can read. */
#include "base/elf_names.h"
#include "symbol/dwarf/names.h"
#include "symbol/probe/probe_parts.h"

/* The kernel's names of registers, by their number in DWARF. */
#define TABLE(name, ...) static const char *const name[] = {__VA_ARGS__};
TABLE(x86_64, "%ax", "%dx", "%cx", "%bx", "%si", "%di", "%bp", "%sp", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13",
      "%r14", "%r15")
TABLE(x86_32, "%ax", "%cx", "%dx", "%bx", "$stack", "%bp", "%si", "%di")
TABLE(arm64, "%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7", "%x8", "%x9", "%x10", "%x11", "%x12", "%x13",
      "%x14", "%x15", "%x16", "%x17", "%x18", "%x19", "%x20", "%x21", "%x22", "%x23", "%x24", "%x25", "%x26", "%x27",
      "%x28", "%x29", "%lr", "%sp")
TABLE(arm, "%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%fp", "%ip", "%sp", "%lr",
      "%pc")
TABLE(riscv, "%zero", "%ra", "%sp", "%gp", "%tp", "%t0", "%t1", "%t2", "%s0", "%s1", "%a0", "%a1", "%a2", "%a3", "%a4",
      "%a5", "%a6", "%a7", "%s2", "%s3", "%s4", "%s5", "%s6", "%s7", "%s8", "%s9", "%s10", "%s11", "%t3", "%t4", "%t5",
      "%t6")
TABLE(s390, "%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13",
      "%r14", "%r15")
#undef TABLE

static const struct {
    unsigned machine;
    const char *const *names;
    size_t count;
} machines[] = {
    {EM_X86_64, x86_64, PF_COUNT(x86_64)}, {EM_386, x86_32, PF_COUNT(x86_32)}, {EM_AARCH64, arm64, PF_COUNT(arm64)},
    {EM_ARM, arm, PF_COUNT(arm)},          {EM_RISCV, riscv, PF_COUNT(riscv)}, {EM_S390, s390, PF_COUNT(s390)},
};

/* NULL: the machine is not known, or the register not readable by the kernel. */
static const char *register_name(unsigned machine, uint64_t number)
{
    for (size_t i = 0; i < PF_COUNT(machines); i++)
        if (machines[i].machine == machine)
            return number < machines[i].count ? machines[i].names[number] : NULL;
    return NULL;
}

/* Offsets of hostile files may be anything. */
void pf_probe_move(struct pf_probe_location *location, int64_t offset)
{
    int64_t *last = &location->references[location->count - 1];
    *last = (int64_t)((uint64_t)*last + (uint64_t)offset);
}

bool pf_probe_dereference(struct pf_probe_location *location, int64_t offset)
{
    if (location->count == PF_PROBE_REFERENCES)
        return false;
    location->references[location->count++] = offset;
    return true;
}

static const char no_register[] = "it is in a register that probes cannot read";
static const char computed[] = "its value is computed, which probes cannot do";
static const char too_deep[] = "its location has too many steps";

static const char *use_register(unsigned machine, uint64_t number, struct pf_probe_location *location)
{
    location->base = register_name(machine, number);
    return location->base ? NULL : no_register;
}

static const char *use_memory(unsigned machine, uint64_t number, int64_t offset, struct pf_probe_location *location)
{
    const char *why = use_register(machine, number, location);
    return why || pf_probe_dereference(location, offset) ? why : too_deep;
}

static const char *use_frame(const struct pf_probe_target *target, const struct pf_unit *unit, int64_t offset,
                             const struct pf_probe_frame *frame, struct pf_probe_location *location)
{
    if (!frame || !frame->is_known)
        return "the frame of its function is not known";
    const char *why = frame->is_register
                          ? use_memory(target->elf.header.e_machine, frame->number, frame->offset, location)
                          : pf_probe_locate(target, unit, frame->expression, NULL, location);
    if (why)
        return why;
    if (!location->count && !pf_probe_dereference(location, 0)) /* a register holds the address of the frame */
        return too_deep;
    pf_probe_move(location, offset);
    return NULL;
}

/* The first operation: what the location starts from. */
static const char *start(const struct pf_probe_target *target, const struct pf_unit *unit,
                         const struct pf_operation *op, const struct pf_probe_frame *frame,
                         struct pf_probe_location *location)
{
    const unsigned machine = target->elf.header.e_machine;
    uint64_t number;
    int64_t offset;
    if (pf_operation_address(unit, op, &location->address))
        return pf_probe_dereference(location, 0) ? NULL : too_deep;
    if (op->code == DW_OP_fbreg)
        return use_frame(target, unit, (int64_t)op->numbers[0], frame, location);
    if (pf_operation_register(op, &number))
        return use_register(machine, number, location);
    if (pf_operation_based(op, &number, &offset))
        return use_memory(machine, number, offset, location);
    return op->code == DW_OP_piece ? "it has been optimized out" : computed;
}

/* A value instead of its address: only what a register or memory holds as it is. */
static const char *use_value(struct pf_probe_location *location)
{
    if (!location->count || !location->base || location->references[location->count - 1] != 0)
        return computed;
    location->count--;
    return NULL;
}

static const char *step(const struct pf_operation *op, bool is_last, struct pf_probe_location *location)
{
    if (op->code == DW_OP_plus_uconst && location->count && op->numbers[0] <= INT32_MAX) {
        pf_probe_move(location, (int64_t)op->numbers[0]);
        return NULL;
    }
    if (op->code == DW_OP_deref && location->count)
        return pf_probe_dereference(location, 0) ? NULL : too_deep;
    return op->code == DW_OP_stack_value && is_last ? use_value(location) : computed;
}

const char *pf_probe_locate(const struct pf_probe_target *target, const struct pf_unit *unit,
                            struct pf_section expression, const struct pf_probe_frame *frame,
                            struct pf_probe_location *location)
{
    struct pf_operations operations = pf_operations_of(unit, expression);
    struct pf_operation op;
    *location = (struct pf_probe_location){0};
    if (!expression.bytes)
        return "it has been optimized out";
    const char *why = pf_next_operation(&operations, &op) ? start(target, unit, &op, frame, location) : computed;
    while (!why && pf_next_operation(&operations, &op))
        why = step(&op, !pf_cursor_left(&operations.c), location);
    return why ? why : operations.c.failed ? computed : NULL;
}
