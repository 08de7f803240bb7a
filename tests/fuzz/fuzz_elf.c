/* SPDX-License-Identifier: MIT */
/* A binary, ELF or PE: its symbols, and the rules by which its stacks are unwound. fuzz_dwarf has its debug info. */
#include "base/elf_names.h"
#include "made.h"
#include "symbol/table.h"
#include "symbol/unwind/cfi_rules.h"
#include "symbol/unwind/unwind.h"

enum { ADDRESSES = 64 };

/* Addresses all over the first bytes of its segments, and where its symbols are. */
static size_t find_addresses(const struct pf_symbol_table *table, uint64_t addresses[ADDRESSES])
{
    size_t count = 0;
    for (size_t i = 0; i < table->count && count < ADDRESSES / 2; i++)
        addresses[count++] = table->symbols[i].start + i % 8;
    for (size_t i = 0; i < table->segment_count && count + 8 <= ADDRESSES; i++)
        for (uint64_t k = 0; k < 8; k++)
            addresses[count++] = table->segments[i].address + k * (table->segments[i].bytes / 8);
    return count;
}

static void touch_symbols(const struct pf_symbol_table *table, const uint64_t *addresses, size_t count)
{
    uint64_t address;
    for (size_t i = 0; i < table->count; i++) {
        const char *name = pf_symbol_name(table, &table->symbols[i]);
        fuzz_touch_text(name);
        FUZZ_REQUIRE(!i || table->symbols[i - 1].start <= table->symbols[i].start);
    }
    for (size_t i = 0; i < count; i++) {
        (void)pf_symbol_table_find(table, addresses[i]);
        (void)pf_symbol_table_address(table, addresses[i], &address);
    }
}

static bool locate(void *context, uint64_t address, struct pf_unwind_location *position)
{
    *position = (struct pf_unwind_location){.cfi = context, .elf_address = address, .executable = true};
    return true;
}

/* A stack whose words are addresses of the file. */
static void unwind(struct pf_cfi *cfi, const char *arch, const uint64_t *addresses, size_t count)
{
    enum { REGISTERS = 33, FRAMES = 32, STACK = 0x7000 };
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    uint64_t registers[REGISTERS], found[FRAMES];
    struct pf_unwound unwound = {.addresses = found, .capacity = FRAMES};
    for (size_t i = 0; i < REGISTERS; i++)
        registers[i] = STACK + i * 8;
    sample.present = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    sample.ip = registers[8] = registers[15] = registers[32] = addresses[0];
    sample.regs_user.abi = 2;
    sample.regs_user.mask = (UINT64_C(1) << REGISTERS) - 1;
    sample.regs_user.values.data = (const void *)registers;
    sample.regs_user.values.count = REGISTERS;
    sample.stack_user.data = (const void *)addresses;
    sample.stack_user.bytes = sample.stack_user.used = count * 8;
    if (pf_unwind_sample(&sample, arch, locate, cfi, &unwound) >= 0)
        FUZZ_REQUIRE(unwound.count <= FRAMES);
}

/* As the machine that the header says; a byte of it that means nothing may choose another one. */
static const char *arch_of(const uint8_t *data, size_t bytes)
{
    static const char *const archs[] = {"x86_64", "aarch64", "armv7l", "s390x", "riscv64"};
    return archs[bytes > EI_NIDENT ? data[EI_NIDENT - 1] % PF_COUNT(archs) : 0];
}

static void read_rules(const char *path, const char *arch, const uint64_t *addresses, size_t count)
{
    struct pf_cfi *cfi;
    if (pf_cfi_open(path, NULL, pf_allocator_or_default(NULL), &cfi, NULL) < 0)
        return;
    for (size_t i = 0; i < count; i++)
        (void)pf_unwind_return_at(cfi, addresses[i]);
    if (count)
        unwind(cfi, arch, addresses, count);
    pf_cfi_close(cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pf_symbol_table *table;
    uint64_t addresses[ADDRESSES] = {0};
    const char *path = fuzz_memory_file(data, bytes);
    size_t count = 1;
    if (pf_symbol_table_from_elf(path, path, pf_allocator_or_default(NULL), &table, NULL) == 0) {
        count = find_addresses(table, addresses);
        touch_symbols(table, addresses, count);
        pf_symbol_table_close(table);
    }
    read_rules(path, arch_of(data, bytes), addresses, count);
    if (pf_symbol_table_from_pe_image(data, bytes, pf_allocator_or_default(NULL), &table, NULL) == 0) {
        touch_symbols(table, addresses, find_addresses(table, addresses));
        pf_symbol_table_close(table);
    }
    return 0;
}
