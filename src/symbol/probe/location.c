/* SPDX-License-Identifier: MIT */
/* From the location of a variable in DWARF to what a probe of the kernel can read. */
#include <dwarf.h>
#include <elf.h>

#include "base/bytes.h"
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

static const char *use_frame(unsigned machine, const Dwarf_Op *op, const struct pf_probe_frame *frame,
                             struct pf_probe_location *location)
{
    const char *why = computed;
    if (!frame || !frame->base || !frame->count)
        return "the frame of its function is not known";
    why = pf_probe_locate(machine, frame->base, frame->count, NULL, location);
    if (why)
        return why;
    if (!location->count && !pf_probe_dereference(location, 0)) /* a register holds the address of the frame */
        return too_deep;
    pf_probe_move(location, (int64_t)op->number);
    return NULL;
}

/* The first operation: what the location starts from. */
static const char *start(unsigned machine, const Dwarf_Op *op, const struct pf_probe_frame *frame,
                         struct pf_probe_location *location)
{
    if (op->atom == DW_OP_addr) {
        location->address = op->number;
        return pf_probe_dereference(location, 0) ? NULL : too_deep;
    }
    if (op->atom == DW_OP_fbreg)
        return use_frame(machine, op, frame, location);
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        return use_register(machine, (uint64_t)op->atom - DW_OP_reg0, location);
    if (op->atom == DW_OP_regx)
        return use_register(machine, op->number, location);
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return use_memory(machine, (uint64_t)op->atom - DW_OP_breg0, (int64_t)op->number, location);
    if (op->atom == DW_OP_bregx)
        return use_memory(machine, op->number, (int64_t)op->number2, location);
    return op->atom == DW_OP_piece ? "it has been optimized out" : computed;
}

/* A value instead of its address: only what a register or memory holds as it is. */
static const char *use_value(struct pf_probe_location *location)
{
    if (!location->count || !location->base || location->references[location->count - 1] != 0)
        return computed;
    location->count--;
    return NULL;
}

static const char *step(const Dwarf_Op *op, bool is_last, struct pf_probe_location *location)
{
    if (op->atom == DW_OP_plus_uconst && location->count && op->number <= INT32_MAX) {
        pf_probe_move(location, (int64_t)op->number);
        return NULL;
    }
    if (op->atom == DW_OP_deref && location->count)
        return pf_probe_dereference(location, 0) ? NULL : too_deep;
    return op->atom == DW_OP_stack_value && is_last ? use_value(location) : computed;
}

const char *pf_probe_locate(unsigned machine, const Dwarf_Op *ops, size_t count, const struct pf_probe_frame *frame,
                            struct pf_probe_location *location)
{
    *location = (struct pf_probe_location){0};
    if (!count)
        return "it has been optimized out";
    const char *why = start(machine, &ops[0], frame, location);
    for (size_t i = 1; i < count && !why; i++)
        why = step(&ops[i], i + 1 == count, location);
    return why;
}
