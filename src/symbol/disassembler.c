/* SPDX-License-Identifier: MIT */
#include "symbol/disassembler.h"

#ifdef PF_HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>

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
};

struct pf_disassembler {
    const struct perfile_allocator *allocator;
    struct library library;
    struct pf_insn_machine machine; /* of the handle */
    bool is_loaded;
    bool is_open;
    csh handle;
    cs_insn *insn;
};

/* Modes of 32-bit and of 64-bit files; those that are big-endian get that mode, too. */
static const struct {
    uint16_t elf_machine;
    cs_arch arch;
    cs_mode mode_32, mode_64;
} machines[] = {
    {EM_X86_64, CS_ARCH_X86, CS_MODE_32, CS_MODE_64},        {EM_386, CS_ARCH_X86, CS_MODE_32, CS_MODE_32},
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, CS_MODE_ARM},   {EM_S390, CS_ARCH_SYSZ, 0, 0},
    {EM_PPC, CS_ARCH_PPC, CS_MODE_32, CS_MODE_32},           {EM_PPC64, CS_ARCH_PPC, CS_MODE_64, CS_MODE_64},
    {EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS32, CS_MODE_MIPS64},
};

/* The version that the headers are of. Once loaded it stays: who asks whether it exists wants it next. */
static bool load_library(struct library *library, const struct perfile_allocator *allocator)
{
    char name[32];
    snprintf(name, sizeof(name), "libcapstone.so.%d", CS_API_MAJOR);
    library->handle = pf_library_open(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!library->handle)
        (void)pf_memory_note_failure(allocator);
    return library->handle && pf_library_function(library->handle, "cs_open", &library->open) &&
           pf_library_function(library->handle, "cs_close", &library->close) &&
           pf_library_function(library->handle, "cs_option", &library->option) &&
           pf_library_function(library->handle, "cs_malloc", &library->malloc) &&
           pf_library_function(library->handle, "cs_free", &library->free) &&
           pf_library_function(library->handle, "cs_disasm_iter", &library->disasm_iter);
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
        const unsigned mode = (unsigned)(machine->is_64 ? machines[i].mode_64 : machines[i].mode_32);
        if (d->library.open(machines[i].arch,
                            (cs_mode)(mode | (machine->is_big_endian ? (unsigned)CS_MODE_BIG_ENDIAN : 0)),
                            &d->handle) != CS_ERR_OK) {
            (void)pf_memory_note_failure(d->allocator);
            return false;
        }
        d->is_open = true;
        if (machines[i].arch == CS_ARCH_X86) {
            d->library.option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
            d->library.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
        }
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
        d->machine.is_big_endian == machine->is_big_endian)
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

bool pf_disassemble(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine, const uint8_t *code,
                    size_t bytes, uint64_t address, struct pf_insn_words *words)
{
    *words = (struct pf_insn_words){0};
    if (!disassembler->is_loaded || !choose_machine(disassembler, machine) ||
        !disassembler->library.disasm_iter(disassembler->handle, &code, &bytes, &address, disassembler->insn))
        return false;
    words->bytes = disassembler->insn->size;
    snprintf(words->mnemonic, sizeof(words->mnemonic), "%s", disassembler->insn->mnemonic);
    snprintf(words->operands, sizeof(words->operands), "%s", disassembler->insn->op_str);
    find_target(disassembler, words);
    return true;
}

#else

bool pf_disassembler_exists(const struct perfile_allocator *allocator)
{
    (void)allocator;
    return false;
}

struct pf_disassembler *pf_disassembler_open(const struct perfile_allocator *allocator)
{
    (void)allocator;
    return NULL;
}

void pf_disassembler_close(struct pf_disassembler *disassembler)
{
    (void)disassembler;
}

bool pf_disassemble(struct pf_disassembler *disassembler, const struct pf_insn_machine *machine, const uint8_t *code,
                    size_t bytes, uint64_t address, struct pf_insn_words *words)
{
    (void)disassembler;
    (void)machine;
    (void)code;
    (void)bytes;
    (void)address;
    *words = (struct pf_insn_words){0};
    return false;
}

#endif
