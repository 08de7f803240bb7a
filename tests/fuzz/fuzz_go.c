/* SPDX-License-Identifier: MIT */
/*
 * The table of functions of a program in Go: the input is the table itself when it starts like one, else an ELF file
 * with one. All of its bytes serve as trees of inlined functions, too.
 */
#include "made.h"
#include "symbol/dwarf/inlines.h"
#include "symbol/go_elf.h"

enum { FUNCTIONS_MAX = 256, STEPS_MAX = 1024, FRAMES = 8 };

static void touch_frames(const struct pf_inlines *inlines, uint64_t address)
{
    struct pf_source_frame frames[FRAMES];
    const size_t found = pf_inlines_find(inlines, address, frames, FRAMES);
    for (size_t i = 0; i < found && i < FRAMES; i++) {
        fuzz_touch_text(frames[i].function);
        fuzz_touch_text(frames[i].file);
    }
}

static void touch_function(const struct pf_go_table *table, const struct pf_go_function *function)
{
    struct pf_go_steps steps = pf_go_steps_of(table, function, function->file_steps);
    struct pf_go_inlined inlined;
    FUZZ_REQUIRE(function->start < function->end);
    fuzz_touch_text(function->name);
    for (unsigned i = 0; i < STEPS_MAX && pf_go_steps_next(&steps); i++)
        fuzz_touch_text(pf_go_table_file(table, function, steps.value));
    for (int32_t i = -1; i < 8; i++)
        if (pf_go_table_inlined(table, function, i, &inlined))
            fuzz_touch_text(inlined.name);
}

static void touch_table(struct pf_go_table *table)
{
    struct pf_go_function function;
    struct pf_inlines *inlines;
    if (!table->trees) {
        table->trees = table->data;
        table->tree_bytes = table->bytes;
    }
    for (uint64_t i = 0; i < table->count && i < FUNCTIONS_MAX; i++)
        if (pf_go_table_function(table, i, &function))
            touch_function(table, &function);
    if (pf_inlines_from_go(table, pf_allocator_or_default(NULL), &inlines, NULL) < 0)
        return;
    for (uint64_t i = 0; i < table->count && i < FUNCTIONS_MAX; i++)
        if (pf_go_table_function(table, i, &function))
            for (uint64_t k = 0; k < 8; k++)
                touch_frames(inlines, function.start + k * (function.end - function.start) / 8);
    pf_inlines_close(inlines);
}

static void read_file(const uint8_t *data, size_t bytes)
{
    struct pf_elf elf;
    struct pf_go_elf go;
    if (pf_elf_open(&elf, fuzz_memory_file(data, bytes), pf_allocator_or_default(NULL), NULL) == 0) {
        if (pf_go_elf_open(&go, &elf) == 0)
            touch_table(&go.table);
        pf_go_elf_close(&go);
        pf_elf_close(&elf);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pf_go_table table;
    bool is_table = false;
    for (int swap = 0; swap < 2 && !is_table; swap++) {
        is_table = pf_go_table_open(&table, data, bytes, swap);
        if (is_table)
            touch_table(&table);
    }
    if (!is_table)
        read_file(data, bytes);
    return 0;
}
