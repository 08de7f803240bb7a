/* SPDX-License-Identifier: MIT */
#include "symbol/disassembler.h"

#ifdef PF_HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_names.h"
#include "symbol/effect_parts.h"
#include "symbol/find/library.h"

/* Loaded when it is wanted: its many relocations would double the time that perfile takes to start. */
struct library {
    void *handle;
    __typeof__(&cs_open) open;
    __typeof__(&cs_close) close;
    __typeof__(&cs_option) option;
    __typeof__(&cs_malloc) malloc;
    __typeof__(&cs_free) free;
    __typeof__(&cs_disasm_iter) disasm_iter;
    __typeof__(&cs_regs_access) regs_access;
};

struct pf_disassembler {
    const struct perfile_allocator *allocator;
    struct library library;
    struct pf_insn_machine machine; /* of the handle */
    bool is_loaded;
    bool is_open;
    bool intel;
    csh handle;
    cs_insn *insn;
};

/* Modes of 32-bit and of 64-bit files; those that are big-endian get that mode, too. */
static const struct {
    uint16_t elf_machine;
    cs_arch arch;
    cs_mode mode_32, mode_64;
} machines[] = {
    {EM_X86_64, CS_ARCH_X86, CS_MODE_32, CS_MODE_64},
    {EM_386, CS_ARCH_X86, CS_MODE_32, CS_MODE_32},
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, CS_MODE_ARM},
    {EM_S390, CS_ARCH_SYSZ, 0, 0},
    {EM_PPC, CS_ARCH_PPC, CS_MODE_32, CS_MODE_32},
    {EM_PPC64, CS_ARCH_PPC, CS_MODE_64, CS_MODE_64},
    {EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS32, CS_MODE_MIPS64},
    {EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, CS_MODE_ARM},
#if CS_API_MAJOR >= 5
    {EM_RISCV, CS_ARCH_RISCV, CS_MODE_RISCV32 | CS_MODE_RISCVC, CS_MODE_RISCV64 | CS_MODE_RISCVC},
#endif
};

/* Loads the version that the headers belong to. It stays loaded, because callers that check for it use it next. */
static bool load_library(struct library *library, const struct perfile_allocator *allocator)
{
    library->handle = pf_library_open(PF_LIBRARY_CAPSTONE, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!library->handle)
        (void)pf_memory_note_failure(allocator);
    return library->handle && pf_library_function(library->handle, "cs_open", &library->open) &&
           pf_library_function(library->handle, "cs_close", &library->close) &&
           pf_library_function(library->handle, "cs_option", &library->option) &&
           pf_library_function(library->handle, "cs_malloc", &library->malloc) &&
           pf_library_function(library->handle, "cs_free", &library->free) &&
           pf_library_function(library->handle, "cs_disasm_iter", &library->disasm_iter) &&
           pf_library_function(library->handle, "cs_regs_access", &library->regs_access);
}

bool pf_disassembler_exists(const struct perfile_allocator *allocator)
{
    struct library library = {0};
    const bool found = load_library(&library, allocator);
    pf_library_close(library.handle);
    return found;
}

struct pf_disassembler *pf_disassembler_open(const struct perfile_allocator *allocator)
{
    struct pf_disassembler *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return NULL;
    made->allocator = allocator;
    made->is_loaded = load_library(&made->library, allocator);
    return made;
}

static void close_handle(struct pf_disassembler *disassembler)
{
    if (disassembler->insn)
        disassembler->library.free(disassembler->insn, 1);
    if (disassembler->is_open)
        disassembler->library.close(&disassembler->handle);
    disassembler->insn = NULL;
    disassembler->is_open = false;
}

void pf_disassembler_close(struct pf_disassembler *disassembler)
{
    if (!disassembler)
        return;
    close_handle(disassembler);
    pf_library_close(disassembler->library.handle);
    pf_free(disassembler->allocator, disassembler, sizeof(*disassembler));
}

static bool open_handle(struct pf_disassembler *d, const struct pf_insn_machine *machine)
{
    errno = 0;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (machines[i].elf_machine != machine->elf_machine)
            continue;
        const unsigned mode = machine->is_thumb
                                  ? (unsigned)CS_MODE_THUMB
                                  : (unsigned)(machine->is_64 ? machines[i].mode_64 : machines[i].mode_32);
        if (d->library.open(machines[i].arch,
                            (cs_mode)(mode | (machine->is_big_endian ? (unsigned)CS_MODE_BIG_ENDIAN : 0)),
                            &d->handle) != CS_ERR_OK) {
            (void)pf_memory_note_failure(d->allocator);
            return false;
        }
        d->is_open = true;
        if (machines[i].arch == CS_ARCH_X86 && !d->intel)
            d->library.option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
        d->library.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
        d->insn = d->library.malloc(d->handle);
        if (!d->insn)
            (void)pf_memory_note_failure(d->allocator);
        return d->insn;
    }
    return false;
}

/* One handle is kept: neighbouring samples tend to be of one machine. */
static bool choose_machine(struct pf_disassembler *d, const struct pf_insn_machine *machine)
{
    if (d->machine.elf_machine == machine->elf_machine && d->machine.is_64 == machine->is_64 &&
        d->machine.is_big_endian == machine->is_big_endian && d->machine.is_thumb == machine->is_thumb)
        return d->insn;
    close_handle(d);
    d->machine = *machine;
    return open_handle(d, machine);
}

static void find_target(const struct pf_disassembler *d, struct pf_insn_words *words)
{
    const bool is_x86 = d->machine.elf_machine == EM_X86_64 || d->machine.elf_machine == EM_386;
    if (!is_x86 || !d->insn->detail || d->insn->detail->x86.op_count != 1 ||
        d->insn->detail->x86.operands[0].type != X86_OP_IMM)
        return;
    words->has_target = true;
    words->target = (uint64_t)d->insn->detail->x86.operands[0].imm;
}

void pf_disassembler_use_intel(struct pf_disassembler *disassembler)
{
    disassembler->intel = true;
}

bool pf_disassembler_knows(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine)
{
    return disassembler->is_loaded && choose_machine(disassembler, machine);
}

/*
 * Instructions that capstone's groups do not describe, or describe differently on each machine: by the mnemonic and the
 * start of its operands. Jumps that are not in this table are conditional.
 */
static const struct {
    uint16_t elf_machine, other;
    const char *mnemonic, *operands;
    unsigned flow;
} flows[] = {
    {EM_X86_64, EM_386, "jmp", "", PF_FLOW_JUMP},       {EM_X86_64, EM_386, "jmpq", "", PF_FLOW_JUMP},
    {EM_X86_64, EM_386, "jmpl", "", PF_FLOW_JUMP},      {EM_X86_64, EM_386, "ljmp", "", PF_FLOW_JUMP},
    {EM_AARCH64, EM_ARM, "bl", "", PF_FLOW_CALL},       {EM_AARCH64, EM_ARM, "blr", "", PF_FLOW_CALL},
    {EM_AARCH64, EM_ARM, "blx", "", PF_FLOW_CALL},      {EM_AARCH64, EM_ARM, "b", "", PF_FLOW_JUMP},
    {EM_AARCH64, EM_ARM, "b.w", "", PF_FLOW_JUMP},      {EM_AARCH64, EM_ARM, "br", "", PF_FLOW_JUMP},
    {EM_AARCH64, EM_ARM, "bx", "lr", PF_FLOW_RETURN},   {EM_AARCH64, EM_ARM, "bx", "", PF_FLOW_JUMP},
    {EM_PPC64, EM_PPC, "bl", "", PF_FLOW_CALL},         {EM_PPC64, EM_PPC, "bctrl", "", PF_FLOW_CALL},
    {EM_PPC64, EM_PPC, "blr", "", PF_FLOW_RETURN},      {EM_PPC64, EM_PPC, "b", "", PF_FLOW_JUMP},
    {EM_PPC64, EM_PPC, "bctr", "", PF_FLOW_JUMP},       {EM_S390, EM_S390, "brasl", "", PF_FLOW_CALL},
    {EM_S390, EM_S390, "bras", "", PF_FLOW_CALL},       {EM_S390, EM_S390, "basr", "", PF_FLOW_CALL},
    {EM_S390, EM_S390, "br", "%r14", PF_FLOW_RETURN},   {EM_S390, EM_S390, "br", "", PF_FLOW_JUMP},
    {EM_S390, EM_S390, "j", "", PF_FLOW_JUMP},          {EM_S390, EM_S390, "jg", "", PF_FLOW_JUMP},
    {EM_MIPS, EM_MIPS, "jal", "", PF_FLOW_CALL},        {EM_MIPS, EM_MIPS, "jalr", "", PF_FLOW_CALL},
    {EM_MIPS, EM_MIPS, "bal", "", PF_FLOW_CALL},        {EM_MIPS, EM_MIPS, "jr", "$ra", PF_FLOW_RETURN},
    {EM_MIPS, EM_MIPS, "jr", "", PF_FLOW_JUMP},         {EM_MIPS, EM_MIPS, "j", "", PF_FLOW_JUMP},
    {EM_MIPS, EM_MIPS, "b", "", PF_FLOW_JUMP},          {EM_RISCV, EM_RISCV, "jal", "", PF_FLOW_CALL},
    {EM_RISCV, EM_RISCV, "jalr", "", PF_FLOW_CALL},     {EM_RISCV, EM_RISCV, "c.jalr", "", PF_FLOW_CALL},
    {EM_RISCV, EM_RISCV, "ret", "", PF_FLOW_RETURN},    {EM_RISCV, EM_RISCV, "j", "", PF_FLOW_JUMP},
    {EM_RISCV, EM_RISCV, "c.j", "", PF_FLOW_JUMP},      {EM_RISCV, EM_RISCV, "jr", "", PF_FLOW_JUMP},
    {EM_RISCV, EM_RISCV, "c.jr", "ra", PF_FLOW_RETURN}, {EM_RISCV, EM_RISCV, "c.jr", "", PF_FLOW_JUMP},
};

static unsigned flow_of_groups(const cs_insn *insn)
{
    static const struct {
        uint8_t group;
        unsigned flow;
    } groups[] = {{CS_GRP_JUMP, PF_FLOW_JUMP | PF_FLOW_CONDITIONAL},
                  {CS_GRP_BRANCH_RELATIVE, PF_FLOW_JUMP | PF_FLOW_CONDITIONAL},
                  {CS_GRP_CALL, PF_FLOW_CALL},
                  {CS_GRP_RET, PF_FLOW_RETURN}};
    unsigned flow = 0;
    for (unsigned i = 0; insn->detail && i < insn->detail->groups_count; i++)
        for (size_t k = 0; k < sizeof(groups) / sizeof(groups[0]); k++)
            flow |= insn->detail->groups[i] == groups[k].group ? groups[k].flow : 0;
    return flow & PF_FLOW_CALL ? PF_FLOW_CALL : flow;
}

static unsigned flow_of(const struct pf_disassembler *d)
{
    const cs_insn *insn = d->insn;
    const uint16_t machine = d->machine.elf_machine;
    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
        if ((machine == flows[i].elf_machine || machine == flows[i].other) &&
            strcmp(insn->mnemonic, flows[i].mnemonic) == 0 &&
            strncmp(insn->op_str, flows[i].operands, strlen(flows[i].operands)) == 0)
            return flows[i].flow;
    const bool is_power = machine == EM_PPC64 || machine == EM_PPC;
    return is_power && insn->mnemonic[0] == 'b' ? PF_FLOW_JUMP | PF_FLOW_CONDITIONAL : flow_of_groups(insn);
}

/* The number that the last operand is: of all machines it is written in hexadecimal, as an address. */
static bool last_number(const char *operands, uint64_t *number)
{
    const char *comma = strrchr(operands, ',');
    const char *at = comma ? comma + 1 : operands;
    char *end;
    at += strspn(at, " #$");
    const bool is_negative = *at == '-';
    at += is_negative;
    if (at[0] != '0' || at[1] != 'x')
        return false;
    *number = strtoull(at, &end, 16);
    *number = is_negative ? -*number : *number;
    return *end == '\0';
}

/* What RISC-V's jumps have is a distance. */
static void find_branch(const struct pf_disassembler *d, struct pf_insn_words *words)
{
    words->flow = flow_of(d);
    words->has_branch = words->flow & (PF_FLOW_JUMP | PF_FLOW_CALL) && last_number(words->operands, &words->branch);
    if (words->has_branch && d->machine.elf_machine == EM_RISCV)
        words->branch += d->insn->address;
}

static bool decode(struct pf_disassembler *d, const struct pf_insn_machine *machine, const uint8_t *code, size_t bytes,
                   uint64_t address)
{
    return d->is_loaded && choose_machine(d, machine) &&
           d->library.disasm_iter(d->handle, &code, &bytes, &address, d->insn);
}

bool pf_disassemble(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine, const uint8_t *code,
                    size_t bytes, uint64_t address, struct pf_insn_words *words)
{
    *words = (struct pf_insn_words){0};
    if (!decode(disassembler, machine, code, bytes, address))
        return false;
    words->bytes = disassembler->insn->size;
    snprintf(words->mnemonic, sizeof(words->mnemonic), "%s", disassembler->insn->mnemonic);
    snprintf(words->operands, sizeof(words->operands), "%s", disassembler->insn->op_str);
    find_target(disassembler, words);
    find_branch(disassembler, words);
    return true;
}

/* ---- effects ----------------------------------------------------------------------------------------------------- */

static const struct pf_effect_machine *effects_of(uint16_t elf_machine)
{
    static const struct pf_effect_machine *const all[] = {&pf_effect_x86_64, &pf_effect_arm64};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i]->elf_machine == elf_machine)
            return all[i];
    return NULL;
}

bool pf_disassembler_has_effects(const struct pf_insn_machine *machine)
{
    return machine->is_64 && effects_of(machine->elf_machine);
}

static uint32_t written_by(const struct pf_disassembler *d, const struct pf_effect_machine *machine)
{
    cs_regs read, written;
    uint8_t read_count, written_count;
    uint32_t all = 0;
    if (d->library.regs_access(d->handle, d->insn, read, &read_count, written, &written_count) != CS_ERR_OK)
        return UINT32_MAX;
    for (unsigned i = 0; i < written_count; i++) {
        const int8_t number = machine->number(written[i]);
        all |= number == PF_NO_REGISTER ? 0 : (uint32_t)1 << number;
    }
    return all;
}

bool pf_disassemble_effect(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine,
                           const uint8_t *code, size_t bytes, uint64_t address, struct pf_effect *effect)
{
    const struct pf_effect_machine *reader = effects_of(machine->elf_machine);
    *effect = (struct pf_effect){.target = PF_NO_REGISTER,
                                 .second = PF_NO_REGISTER,
                                 .source = PF_NO_REGISTER,
                                 .moved = PF_NO_REGISTER,
                                 .memory = {.base = PF_NO_REGISTER, .index = PF_NO_REGISTER}};
    if (!reader || !decode(disassembler, machine, code, bytes, address) || !disassembler->insn->detail)
        return false;
    effect->is_valid = true;
    effect->bytes = (uint8_t)disassembler->insn->size;
    snprintf(effect->mnemonic, sizeof(effect->mnemonic), "%.15s", disassembler->insn->mnemonic);
    effect->flow = (uint8_t)flow_of(disassembler);
    effect->has_branch =
        effect->flow & (PF_FLOW_JUMP | PF_FLOW_CALL) && last_number(disassembler->insn->op_str, &effect->branch);
    effect->written = written_by(disassembler, reader);
    reader->read(disassembler->insn, effect);
    if (effect->flow & PF_FLOW_CALL)
        effect->written |= reader->clobbered;
    return true;
}

#else

bool pf_disassembler_exists(const struct perfile_allocator *allocator)
{
    (void)allocator;
    return false;
}

#pragma GCC diagnostic ignored "-Wunused-parameter" /* nothing is disassembled */

struct pf_disassembler *pf_disassembler_open(const struct perfile_allocator *allocator)
{
    return NULL;
}

void pf_disassembler_close(struct pf_disassembler *disassembler)
{
}

void pf_disassembler_use_intel(struct pf_disassembler *disassembler)
{
}

bool pf_disassembler_knows(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine)
{
    return false;
}

bool pf_disassemble(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine, const uint8_t *code,
                    size_t bytes, uint64_t address, struct pf_insn_words *words)
{
    *words = (struct pf_insn_words){0};
    return false;
}

bool pf_disassembler_has_effects(const struct pf_insn_machine *machine)
{
    return false;
}

bool pf_disassemble_effect(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine,
                           const uint8_t *code, size_t bytes, uint64_t address, struct pf_effect *effect)
{
    *effect = (struct pf_effect){0};
    return false;
}

#endif
