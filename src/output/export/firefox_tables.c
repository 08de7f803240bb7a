/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/describe.h"
#include "base/bytes.h"
#include "output/export/firefox.h"

/* What a number in JSON can be for its readers in JavaScript. */
#define EXACT ((uint64_t)1 << 53)

/* ---- texts ------------------------------------------------------------------------------------------------------- */

uint32_t pf_firefox_text(struct pf_firefox_tables *tables, const char *text)
{
    const uint64_t hash = pf_hash_text(text);
    uint64_t known;
    if (pf_map_get(&tables->texts_of, hash, &known) && strcmp(tables->texts[known], text) == 0)
        return (uint32_t)known;
    const size_t position = tables->text_count;
    if (position >= PF_FIREFOX_NONE ||
        !pf_grow(tables->allocator, &tables->texts, &tables->text_capacity, position + 1, sizeof(*tables->texts)) ||
        !pf_map_put(&tables->texts_of, hash, position))
        return PF_FIREFOX_NONE;
    tables->texts[tables->text_count++] = text;
    return (uint32_t)position;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

/* Addresses count from where the library begins: where its first segment would lie, or the kernel's first symbol. */
static uint64_t base_of(const struct pf_module *module)
{
    const struct pf_symbol_table *table = module->table;
    if (!table)
        return 0;
    if (table->segment_count)
        return table->segments[0].address - pf_min(table->segments[0].offset, table->segments[0].address);
    for (size_t i = 0; module->kernel && i < table->count; i++)
        if (strcmp(pf_symbol_name(table, &table->symbols[i]), "_text") == 0)
            return table->symbols[i].start;
    return module->kernel && table->count && table->symbols[0].start >= EXACT ? table->symbols[0].start : 0;
}

/* PF_FIREFOX_NONE: out of memory. */
static uint32_t number_library(struct pf_firefox_tables *tables, uint32_t module)
{
    uint64_t known;
    if (pf_map_get(&tables->libraries_of, module, &known))
        return (uint32_t)known;
    const size_t position = tables->library_count;
    if (!pf_grow(tables->allocator, &tables->libraries, &tables->library_capacity, position + 1,
                 sizeof(*tables->libraries)) ||
        !pf_grow(tables->allocator, &tables->bases, &tables->base_capacity, position + 1, sizeof(*tables->bases)) ||
        !pf_map_put(&tables->libraries_of, module, position))
        return PF_FIREFOX_NONE;
    tables->libraries[position] = module;
    tables->bases[position] = base_of(pf_symbols_module(pf_profile_symbols(tables->timeline->profile), module));
    tables->library_count++;
    return (uint32_t)position;
}

static uint64_t address_in(const struct pf_firefox_tables *tables, uint32_t library, uint64_t address)
{
    const uint64_t base = library == PF_FIREFOX_NONE ? 0 : tables->bases[library];
    return address >= base && address - base < EXACT ? address - base : UINT64_MAX;
}

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

/* False: out of memory. *number is PF_FIREFOX_NONE where the frame has no symbol of a table. */
static bool number_symbol(struct pf_firefox_tables *tables, const struct pf_frame_info *info,
                          const struct pf_firefox_function *function, uint32_t *number)
{
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(tables->timeline->profile), info->module);
    const struct pf_symbol_table *table = module ? module->table : NULL;
    *number = PF_FIREFOX_NONE;
    if (!table || info->symbol >= table->count || info->kind == PF_FRAME_INLINED)
        return true;
    if (pf_pairs_get(&tables->symbols_of, info->module, info->symbol, number))
        return true;
    const struct pf_symbol *symbol = &table->symbols[info->symbol];
    const struct pf_firefox_symbol made = {.library = function->library,
                                           .name = function->name,
                                           .address = address_in(tables, function->library, symbol->start),
                                           .bytes =
                                               symbol->flags & PF_SYMBOL_GUESSED_END ? 0 : symbol->end - symbol->start};
    const size_t position = tables->symbol_count;
    if (made.address == UINT64_MAX)
        return true;
    if (!pf_grow(tables->allocator, &tables->symbols, &tables->symbol_capacity, position + 1, sizeof(made)) ||
        !pf_pairs_put(&tables->symbols_of, info->module, info->symbol, (uint32_t)position))
        return false;
    tables->symbols[tables->symbol_count++] = made;
    *number = (uint32_t)position;
    return true;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static uint32_t number_name(struct pf_firefox_tables *tables, const struct pf_frame_info *info)
{
    char text[32];
    const char *name = info->name;
    if (!name) {
        info = pf_profile_frame(tables->timeline->profile, info->function);
        name = pf_arena_text(&tables->arena, text, (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, info->address));
    }
    return name ? pf_firefox_text(tables, name) : PF_FIREFOX_NONE;
}

/*
 * The function of a frame. It has one file in this format, so code from several files is several functions; addresses
 * whose file is not known are of the first.
 */
static uint32_t number_function(struct pf_firefox_tables *tables, uint32_t frame)
{
    const struct pf_frame_info *info = pf_profile_frame(tables->timeline->profile, frame);
    const char *source = pf_frame_address(info)->file;
    uint32_t file = source ? pf_firefox_text(tables, source) : tables->files[info->function], known;
    if (source && file == PF_FIREFOX_NONE)
        return PF_FIREFOX_NONE;
    if (pf_pairs_get(&tables->functions_of, info->function, file, &known))
        return known;
    struct pf_firefox_function made = {.file = file, .library = PF_FIREFOX_NONE};
    if (file == tables->files[info->function])
        made.start_line = tables->start_lines[info->function];
    const size_t position = tables->function_count;
    made.name = number_name(tables, info);
    if (info->module != PF_NO_SYMBOL)
        made.library = number_library(tables, info->module);
    if (made.name == PF_FIREFOX_NONE || (info->module != PF_NO_SYMBOL && made.library == PF_FIREFOX_NONE) ||
        !pf_grow(tables->allocator, &tables->functions, &tables->function_capacity, position + 1, sizeof(made)) ||
        !pf_pairs_put(&tables->functions_of, info->function, file, (uint32_t)position))
        return PF_FIREFOX_NONE;
    tables->functions[tables->function_count++] = made;
    return (uint32_t)position;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static uint8_t category_of(const struct pf_frame_info *info)
{
    static const uint8_t categories[] = {[PF_FRAME_USER] = PF_FIREFOX_USER,
                                         [PF_FRAME_KERNEL] = PF_FIREFOX_KERNEL,
                                         [PF_FRAME_INLINED] = PF_FIREFOX_INLINED,
                                         [PF_FRAME_JIT] = PF_FIREFOX_JIT,
                                         [PF_FRAME_UNKNOWN] = PF_FIREFOX_OTHER};
    return categories[info->kind];
}

/* Inlined functions are in the frame above, and have its symbol. */
static uint32_t number_frame(struct pf_firefox_tables *tables, uint32_t frame, uint32_t above)
{
    const struct pf_frame_info *info = pf_profile_frame(tables->timeline->profile, frame);
    const bool inlined = info->kind == PF_FRAME_INLINED && above != PF_FIREFOX_NONE;
    const uint32_t depth = inlined ? tables->frames[above].depth + 1 : 0;
    uint32_t known;
    if (pf_pairs_get(&tables->frames_of, frame, depth, &known))
        return known;
    struct pf_firefox_frame made = {.function = number_function(tables, frame),
                                    .line = pf_frame_address(info)->line,
                                    .depth = depth,
                                    .category = category_of(info)};
    if (made.function == PF_FIREFOX_NONE ||
        !number_symbol(tables, info, &tables->functions[made.function], &made.symbol))
        return PF_FIREFOX_NONE;
    const uint64_t address = pf_frame_address(info)->ip ? pf_frame_address(info)->table_address : info->address;
    made.address = address_in(tables, tables->functions[made.function].library, address);
    if (inlined) {
        made.symbol = tables->frames[above].symbol;
        made.address = tables->frames[above].address;
    }
    const size_t position = tables->frame_count;
    if (!pf_grow(tables->allocator, &tables->frames, &tables->frame_capacity, position + 1, sizeof(made)) ||
        !pf_pairs_put(&tables->frames_of, frame, depth, (uint32_t)position))
        return PF_FIREFOX_NONE;
    tables->frames[tables->frame_count++] = made;
    return (uint32_t)position;
}

/* Finds the file that each function begins in; where that is not known, the first file that a frame of it names. */
static bool find_files(struct pf_firefox_tables *tables)
{
    struct pf_profile *profile = tables->timeline->profile;
    const size_t count = pf_profile_frame_count(profile);
    memset(tables->files, 0xff, count * sizeof(*tables->files));
    for (uint32_t i = 0; i < count; i++) {
        const char *file = NULL;
        const struct pf_frame_info *info = pf_profile_frame(profile, i);
        if (info->function == i)
            pf_describe_start(pf_profile_symbols(profile), info, &file, &tables->start_lines[i]);
        if (file && (tables->files[i] = pf_firefox_text(tables, file)) == PF_FIREFOX_NONE)
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct pf_frame_info *info = pf_profile_frame(profile, i);
        const char *file = pf_frame_address(info)->file;
        if (file && tables->files[info->function] == PF_FIREFOX_NONE &&
            (tables->files[info->function] = pf_firefox_text(tables, file)) == PF_FIREFOX_NONE)
            return false;
    }
    return true;
}

static bool make_frames(struct pf_firefox_tables *tables)
{
    const struct pf_tree_node *nodes = tables->timeline->tree.nodes;
    tables->frame_of[0] = PF_FIREFOX_NONE;
    for (size_t i = 1; i < tables->node_count; i++) {
        tables->frame_of[i] = number_frame(tables, nodes[i].frame, tables->frame_of[nodes[i].parent]);
        if (tables->frame_of[i] == PF_FIREFOX_NONE)
            return false;
    }
    return true;
}

bool pf_firefox_tables_open(struct pf_firefox_tables *tables, struct pf_timeline *timeline)
{
    const struct perfile_allocator *allocator = timeline->allocator;
    *tables =
        (struct pf_firefox_tables){.allocator = allocator, .timeline = timeline, .node_count = timeline->tree.count};
    pf_map_open(&tables->texts_of, allocator);
    pf_map_open(&tables->libraries_of, allocator);
    pf_pairs_open(&tables->frames_of, allocator);
    pf_pairs_open(&tables->functions_of, allocator);
    pf_pairs_open(&tables->symbols_of, allocator);
    pf_arena_open(&tables->arena, allocator);
    tables->frame_of = pf_new(allocator, tables->node_count * sizeof(*tables->frame_of));
    tables->files = pf_new(allocator, (pf_profile_frame_count(timeline->profile) + 1) * sizeof(*tables->files));
    tables->start_lines =
        pf_new(allocator, (pf_profile_frame_count(timeline->profile) + 1) * sizeof(*tables->start_lines));
    return tables->frame_of && tables->files && tables->start_lines && find_files(tables) && make_frames(tables);
}

void pf_firefox_tables_close(struct pf_firefox_tables *tables)
{
    const struct perfile_allocator *allocator = tables->allocator;
    pf_map_close(&tables->texts_of);
    pf_map_close(&tables->libraries_of);
    pf_pairs_close(&tables->frames_of);
    pf_pairs_close(&tables->functions_of);
    pf_pairs_close(&tables->symbols_of);
    pf_arena_close(&tables->arena);
    pf_free(allocator, tables->texts, tables->text_capacity * sizeof(*tables->texts));
    pf_free(allocator, tables->frames, tables->frame_capacity * sizeof(*tables->frames));
    pf_free(allocator, tables->functions, tables->function_capacity * sizeof(*tables->functions));
    pf_free(allocator, tables->symbols, tables->symbol_capacity * sizeof(*tables->symbols));
    pf_free(allocator, tables->libraries, tables->library_capacity * sizeof(*tables->libraries));
    pf_free(allocator, tables->bases, tables->base_capacity * sizeof(*tables->bases));
    pf_free(allocator, tables->frame_of, tables->node_count * sizeof(*tables->frame_of));
    pf_free(allocator, tables->start_lines,
            (pf_profile_frame_count(tables->timeline->profile) + 1) * sizeof(*tables->start_lines));
    pf_free(allocator, tables->files, (pf_profile_frame_count(tables->timeline->profile) + 1) * sizeof(*tables->files));
}
