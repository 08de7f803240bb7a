/* SPDX-License-Identifier: MIT */
/* <perfile/symbolize.h>: addresses in binaries, without a recording. */
#include <perfile/symbolize.h>

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/complete_options.h"
#include "analysis/describe.h"
#include "analysis/symbolizer.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/text.h"

enum { FRAMES = 64 };

/* Binaries are found as those of a recording are: this one is a stream without a record. */
static const uint8_t no_recording[16] = "PERFILE2\x10";

struct perfile_symbolizer {
    struct pf_watch watch;
    struct perfile_reader *reader;
    struct pf_symbols *symbols;
    struct pf_arena names;
    struct perfile_map *maps; /* by the number of a binary: all of it, from address 0 on */
    size_t capacity;
    uint32_t map_count;
    struct perfile_symbol frames[FRAMES]; /* of the last look-up */
    size_t count;
    struct pf_location location; /* of the last look-up */
};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int open_parts(struct perfile_symbolizer *made, const struct perfile_symbolizer_options *all,
                      struct perfile_error *error)
{
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    options.allocator = &made->watch.allocator;
    struct pf_find_options find = pf_find_options_of(all->symbols, &made->watch.allocator);
    find.threads = all->threads;
    const int result = perfile_open_memory(no_recording, sizeof(no_recording), &options, &made->reader, error);
    return result < 0 ? result : pf_symbols_open(made->reader, &find, &made->symbols, error);
}

int perfile_symbolizer_open(const struct perfile_symbolizer_options *options, struct perfile_symbolizer **symbolizer,
                            struct perfile_error *error)
{
    struct perfile_symbolizer_options all = PERFILE_SYMBOLIZER_OPTIONS_INIT;
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    *symbolizer = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "symbolizer options", error);
    if (result == 0)
        result = pf_complete_symbols(&symbols, NULL, all.symbols, error);
    if (result < 0)
        return result;
    struct perfile_symbolizer *made = pf_new(pf_allocator_or_default(all.allocator), sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "symbolizer");
    pf_watch_open(&made->watch, all.allocator);
    pf_arena_open(&made->names, &made->watch.allocator);
    all.symbols = &symbols;
    result = open_parts(made, &all, error);
    if (result == 0)
        *symbolizer = made;
    else
        perfile_symbolizer_close(made);
    return result;
}

void perfile_symbolizer_close(struct perfile_symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    pf_symbols_close(symbolizer->symbols);
    perfile_close(symbolizer->reader);
    pf_arena_close(&symbolizer->names);
    pf_free(&symbolizer->watch.allocator, symbolizer->maps, symbolizer->capacity * sizeof(*symbolizer->maps));
    pf_free(symbolizer->watch.below, symbolizer, sizeof(*symbolizer));
}

/* ---- binaries ---------------------------------------------------------------------------------------------------- */

/* The path in full, as recordings have it; a build id alone has a name that no file has. NULL: out of memory. */
static const char *name_of(struct perfile_symbolizer *symbolizer, const struct perfile_binary *binary)
{
    char folder[PATH_MAX] = "", text[PATH_MAX + 64], *end = text;
    const char *path = binary->path ? binary->path : "";
    if (path[0] == '/')
        return pf_arena_text(&symbolizer->names, path, strlen(path));
    if (binary->path && (!getcwd(folder, sizeof(folder)) || strlen(folder) + strlen(path) >= PATH_MAX))
        folder[0] = '\0';
    end += snprintf(text, sizeof(text), "%s/%.*s", folder, PATH_MAX, path);
    if (!binary->path)
        end = pf_hex_bytes(end, binary->build_id, binary->build_id_bytes);
    return pf_arena_text(&symbolizer->names, text, (size_t)(end - text));
}

/* The number of the binary, which is that of its module; UINT32_MAX when out of memory. */
static uint32_t add_binary(struct perfile_symbolizer *symbolizer, const struct perfile_binary *binary)
{
    struct pf_location location;
    struct perfile_map map = {.size = sizeof(map),
                              .end = UINT64_MAX,
                              .filename = name_of(symbolizer, binary),
                              .prot = PERFILE_PROT_EXEC,
                              .build_id_bytes = (uint8_t)binary->build_id_bytes,
                              .id = symbolizer->map_count++};
    memcpy(map.build_id, binary->build_id, binary->build_id_bytes);
    if (!map.filename || !pf_symbols_locate(symbolizer->symbols, &map, 0, &location) ||
        !pf_grow(&symbolizer->watch.allocator, &symbolizer->maps, &symbolizer->capacity, (size_t)location.module + 1,
                 sizeof(*symbolizer->maps)))
        return UINT32_MAX;
    symbolizer->maps[location.module] = map;
    return location.module;
}

int perfile_symbolizer_add(struct perfile_symbolizer *symbolizer, const struct perfile_binary *binary, uint32_t *number,
                           struct perfile_error *error)
{
    struct perfile_binary all = PERFILE_BINARY_INIT;
    *number = PERFILE_NO_ID;
    const int result = binary ? pf_sized_take(&all, sizeof(all), binary, "binary", error) : 0;
    if (result < 0)
        return result;
    if ((!all.path || !*all.path) && !all.build_id_bytes)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "binary", "has neither a path nor a build id");
    if (all.build_id_bytes > sizeof(all.build_id))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "binary", "build_id_bytes is above 20");
    *number = add_binary(symbolizer, &all);
    return *number == PERFILE_NO_ID || pf_memory_was_short(&symbolizer->watch.allocator)
               ? pf_fail_memory(error, "symbolizer")
               : 0;
}

int perfile_symbolizer_module(const struct perfile_symbolizer *symbolizer, uint32_t number,
                              struct perfile_module *module)
{
    return pf_describe_module(symbolizer->symbols, number, module);
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static struct pf_location locate(struct perfile_symbolizer *symbolizer, uint32_t binary, uint64_t address)
{
    uint64_t offset;
    struct pf_location location = {
        .module = binary, .address = address, .in_module = address, .table_address = address, .offset = address};
    location.symbol = pf_symbols_at(symbolizer->symbols, binary, address, &offset);
    if (location.symbol != PF_NO_SYMBOL)
        location.offset = offset;
    return location;
}

static void put_source(struct perfile_symbolizer *symbolizer, const struct pf_source_frame *source)
{
    symbolizer->frames[symbolizer->count++] = (struct perfile_symbol){
        .name = source->function ? pf_symbols_readable(symbolizer->symbols, source->function) : NULL,
        .linkage = source->function,
        .file = source->file,
        .line = source->line,
        .column = source->column,
        .inlined = source->inlined,
    };
}

/* The function around all that is inlined has the name that the symbol table gives it. */
static void name_last(struct perfile_symbolizer *symbolizer, const struct pf_location *location)
{
    if (location->symbol == PF_NO_SYMBOL)
        return;
    if (!symbolizer->count || symbolizer->frames[symbolizer->count - 1].inlined)
        symbolizer->frames[symbolizer->count++] = (struct perfile_symbol){.size = 0};
    struct perfile_symbol *last = &symbolizer->frames[symbolizer->count - 1];
    last->name = pf_symbols_name(symbolizer->symbols, location->module, location->symbol);
    last->linkage = pf_symbols_raw_name(symbolizer->symbols, location->module, location->symbol);
    last->offset = location->offset;
}

int perfile_symbolizer_find(struct perfile_symbolizer *symbolizer, uint32_t binary, uint64_t address, uint32_t flags,
                            struct perfile_error *error)
{
    struct pf_source_frame sources[FRAMES - 1];
    struct pf_location location;
    symbolizer->count = 0;
    if (binary >= pf_symbols_module_count(symbolizer->symbols))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "binary", "has no number of this symbolizer");
    const int result = pf_check_known_flags(flags, PERFILE_SYMBOLIZE_OFFSET, error);
    if (result < 0)
        return result;
    if (!(flags & PERFILE_SYMBOLIZE_OFFSET))
        location = locate(symbolizer, binary, address);
    else if (!pf_symbols_locate(symbolizer->symbols, &symbolizer->maps[binary], address, &location))
        return pf_fail_memory(error, "symbolizer");
    symbolizer->location = location;
    const size_t count = pf_symbols_inlines(symbolizer->symbols, &location, sources, FRAMES - 1);
    for (size_t i = 0; i < count; i++)
        put_source(symbolizer, &sources[i]);
    name_last(symbolizer, &location);
    return pf_memory_was_short(&symbolizer->watch.allocator) ? pf_fail_memory(error, "symbolizer")
                                                             : (int)symbolizer->count;
}

int perfile_symbolizer_frame(const struct perfile_symbolizer *symbolizer, size_t index, struct perfile_symbol *symbol)
{
    return index < symbolizer->count
               ? pf_sized_give(symbol, &symbolizer->frames[index], sizeof(symbolizer->frames[index]))
               : PERFILE_ERROR_ARGUMENT;
}

void pf_symbolizer_function(const struct perfile_symbolizer *symbolizer, uint64_t *address, uint64_t *bytes)
{
    const struct pf_location *location = &symbolizer->location;
    uint64_t start = 0, end = 0;
    (void)pf_symbols_range(symbolizer->symbols, location->module, location->symbol, &start, &end);
    *address = start;
    *bytes = end - start;
}

uint64_t pf_symbolizer_address(const struct perfile_symbolizer *symbolizer)
{
    return symbolizer->location.table_address;
}

const struct perfile_allocator *pf_symbolizer_allocator(const struct perfile_symbolizer *symbolizer)
{
    return symbolizer->watch.below;
}
