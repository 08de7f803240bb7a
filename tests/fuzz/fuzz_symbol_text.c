/* SPDX-License-Identifier: MIT */
/* Symbols that are text: /proc/kallsyms, and perf-PID.map of JITs. */
#include "fuzz.h"
#include "symbol/table.h"
#include "symbol/table_elf.h"

static void touch_table(struct pf_symbol_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct pf_symbol *symbol = &table->symbols[i];
        const char *name = pf_symbol_name(table, symbol);
        fuzz_touch_text(name);
        FUZZ_REQUIRE(symbol->start <= symbol->end && (!i || symbol[-1].end <= symbol->start));
        FUZZ_REQUIRE(symbol->start == symbol->end || pf_symbol_table_find(table, symbol->start) == symbol);
    }
    pf_symbol_table_close(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const modules[] = {NULL, "ext4", "bpf"};
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    struct pf_symbol_table *table;
    uint64_t address;
    char *text = malloc(bytes + 1);
    FUZZ_REQUIRE(text);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    for (size_t i = 0; i < 2 * PF_COUNT(modules); i++) {
        const struct pf_kallsyms from = {text, bytes, modules[i / 2], i % 2};
        if (pf_symbol_table_from_kallsyms(&from, allocator, &table, NULL) == 0)
            touch_table(table);
    }
    if (pf_symbol_table_from_perf_map(text, bytes, allocator, &table, NULL) == 0)
        touch_table(table);
    (void)pf_kallsyms_address(text, bytes, "_text", &address);
    FUZZ_REQUIRE(pf_kallsyms_keep_modules(text, bytes) <= bytes);
    free(text);
    return 0;
}
