/* SPDX-License-Identifier: MIT */
/* The longer parts of a sample: registers, branches, what BPF programs wrote, control groups. */
#include "output/script/script.h"

/* ---- registers --------------------------------------------------------------------------------------------------- */

static char *put_register(struct pf_script *script, char *at, unsigned number, uint64_t value)
{
    const char *name = script->arch ? perfile_register_name(script->arch, number) : NULL;
    size_t bytes;
    if (!name)
        name = "unknown";
    bytes = strlen(name);
    memset(at, ' ', 8);
    at += bytes < 5 ? 5 - bytes : 0;
    memcpy(at, name, bytes);
    at += bytes;
    memcpy(at, ":0x", 3);
    at = pf_hex_digits(at + 3, value);
    *at = ' ';
    return at + 1;
}

static char *put_registers(struct pf_script *script, char *at, const struct perfile_regs *regs)
{
    uint64_t mask = regs->mask;
    if (!regs->values.count)
        return at;
    memcpy(at, " ABI:", 5);
    at = pf_digits(at + 5, regs->abi);
    *at++ = ' ';
    for (uint64_t i = 0; i < regs->values.count && mask; i++, mask &= mask - 1) {
        if (i % 16 == 15) {
            pf_script_leave(script, at);
            at = pf_script_enter(script);
        }
        at = put_register(script, at, (unsigned)__builtin_ctzll(mask), perfile_u64_at(&regs->values, i));
    }
    pf_script_leave(script, at);
    return pf_script_enter(script);
}

char *pf_script_put_iregs(struct pf_script *script, char *at)
{
    return put_registers(script, at, &script->item.sample.regs_intr);
}

char *pf_script_put_uregs(struct pf_script *script, char *at)
{
    return put_registers(script, at, &script->item.sample.regs_user);
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

static const char *branch_type_name(const struct perfile_branch *branch)
{
    static const char *const names[16] = {"",    "COND",    "UNCOND", "IND",       "CALL",     "IND_CALL",
                                          "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET",
                                          "IRQ", "SERROR",  "NO_TX",  ""};
    static const char *const more[8] = {"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
                                        "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5"};
    if (branch->type != PERFILE_BR_EXTEND_ABI)
        return names[branch->type & 15];
    return branch->new_type < PF_COUNT(more) ? more[branch->new_type] : "(null)";
}

/* "The branch was not taken" came with perf 6.15; the bit has no name in the kernel's header. */
static bool was_not_taken(const struct perfile_branch_stack *stack, uint64_t index)
{
    uint64_t flags = perfile_u64_at(&stack->entries, index * 3 + 2);
    return flags >> (stack->big_endian ? 30 : 33) & 1;
}

static char *put_text(char *at, const char *text)
{
    size_t bytes = strlen(text);
    memcpy(at, text, bytes);
    return at + bytes;
}

static char *put_branch_flags(char *at, const struct perfile_branch *branch, bool not_taken)
{
    static const char *const speculation[4] = {"-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH", "SPEC_CORRECT_PATH"};
    *at++ = '/';
    *at++ = branch->predicted ? 'P' : branch->mispred || not_taken ? 'M' : '-';
    if (not_taken)
        *at++ = 'N';
    *at++ = '/';
    *at++ = branch->in_tx ? 'X' : '-';
    *at++ = '/';
    *at++ = branch->abort ? 'A' : '-';
    *at++ = '/';
    at = pf_digits(at, branch->cycles);
    *at++ = '/';
    at = put_text(at, branch_type_name(branch));
    *at++ = '/';
    at = put_text(at, speculation[branch->spec & 3]);
    *at++ = ' ';
    return at;
}

static char *put_branch_end(struct pf_script *script, char *at, uint64_t address)
{
    if (PF_LIKELY(!script->plan->branch_locations)) {
        at = put_text(at, "0x");
        return pf_hex_digits(at, address);
    }
    pf_script_leave(script, at);
    pf_script_put_location(script, script->plan->branch_locations, address);
    return pf_script_enter(script);
}

static char *put_branches(struct pf_script *script, char *at, const char *lead)
{
    const struct perfile_branch_stack *stack = &script->item.sample.branch_stack;
    struct perfile_branch branch;
    for (uint64_t i = 0; i < stack->count; i++) {
        if (i % 8 == 0) {
            pf_script_leave(script, at);
            at = pf_script_enter(script);
        }
        perfile_branch_at(stack, i, &branch, sizeof(branch));
        at = put_text(at, lead);
        at = put_branch_end(script, at, branch.from);
        *at++ = '/';
        at = put_branch_end(script, at, branch.to);
        at = put_branch_flags(at, &branch, was_not_taken(stack, i));
    }
    pf_script_leave(script, at);
    return pf_script_enter(script);
}

char *pf_script_put_brstack(struct pf_script *script, char *at)
{
    return put_branches(script, at, " ");
}

char *pf_script_put_brstacksym(struct pf_script *script, char *at)
{
    return put_branches(script, at, "");
}

char *pf_script_put_brstackoff(struct pf_script *script, char *at)
{
    return put_branches(script, at, " ");
}

/* ---- BPF output -------------------------------------------------------------------------------------------------- */

static bool is_printable(uint8_t c)
{
    return c >= 0x20 && c < 0x7f;
}

/* Printable up to a NUL, and nothing but NULs from there on. */
static bool is_string(const struct perfile_bytes *raw)
{
    bool ended = false;
    for (uint64_t i = 0; i < raw->bytes; i++) {
        if (raw->data[i] && (ended || !is_printable(raw->data[i])))
            return false;
        ended |= !raw->data[i];
    }
    return ended;
}

static void put_bpf_row(struct pf_script *script, const struct perfile_bytes *raw, uint64_t start)
{
    struct pf_text *out = script->out;
    uint64_t end = pf_min(raw->bytes, start + 8);
    pf_put_format(out, "%17s %04" PRIx64 ":", start ? "" : "BPF output:", start);
    for (uint64_t i = start; i < start + 8; i++)
        pf_put_format(out, i < end ? " %02x" : "   ", i < end ? raw->data[i] : 0u);
    pf_put_string(out, "  ");
    for (uint64_t i = start; i < start + 8; i++)
        pf_put_char(out, i >= end ? ' ' : is_printable(raw->data[i]) ? (char)raw->data[i] : '.');
    pf_put_char(out, '\n');
}

char *pf_script_put_bpf_output(struct pf_script *script, char *at)
{
    const struct perfile_attr *attr = script->plan->event->attr;
    const struct perfile_bytes *raw = &script->item.sample.raw;
    if (attr->type != SCRIPT_TYPE_SOFTWARE || attr->config != PERFILE_COUNT_SW_BPF_OUTPUT)
        return at;
    pf_script_leave(script, at);
    pf_put_char(script->out, '\n');
    for (uint64_t start = 0; start < raw->bytes; start += 8)
        put_bpf_row(script, raw, start);
    if (is_string(raw)) {
        pf_put_format(script->out, "%17s \"", "BPF string:");
        pf_put(script->out, raw->data, strnlen((const char *)raw->data, (size_t)raw->bytes));
        pf_put_string(script->out, "\"\n");
    }
    return pf_script_enter(script);
}

/* ---- control groups ---------------------------------------------------------------------------------------------- */

char *pf_script_put_cgroup(struct pf_script *script, char *at)
{
    pf_script_leave(script, at);
    pf_put_char(script->out, ' ');
    const char *path =
        script->is_copy ? script->cgroup : perfile_session_cgroup(script->session, script->item.sample.cgroup);
    pf_put_name(script->out, path ? path : "unknown");
    return pf_script_enter(script);
}
