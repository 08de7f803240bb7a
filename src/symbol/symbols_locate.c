/* SPDX-License-Identifier: MIT */
/* Looking up: the symbol at an address, its range and its name. */
#include "symbol/symbols_parts.h"

#include <errno.h>

#include "base/memory_name.h"
#include "base/text.h"
#include "symbol/demangle/demangle.h"

/* ---- addresses ---- */

/* The address in the terms of the module's table. */
bool pf_module_address(const struct pf_module_data *module, const struct perfile_map *map, uint64_t ip,
                       uint64_t *address)
{
    if (module->embedded) {
        *address = pf_embedded_address(module->embedded, map, ip);
        return true;
    }
    if (module->is_relative) {
        *address = ip - map->start + map->pgoff;
        return true;
    }
    if (module->kind == PF_MODULE_KERNEL || module->kind == PF_MODULE_KERNEL_MODULE ||
        module->kind == PF_MODULE_PERF_MAP) {
        *address = ip - module->relocation;
        return true;
    }
    uint64_t offset = ip - map->start + (pf_module_is_vdso(module) ? 0 : map->pgoff);
    return pf_symbol_table_address(module->table, offset, address);
}

/* The first entry of the symbol that a piece belongs to: an entry before it with its name that is not a piece. */
static const struct pf_symbol *complete_symbol(const struct pf_symbol_table *table, const struct pf_symbol *symbol)
{
    const struct pf_symbol *first = symbol;
    while (first && first->flags & PF_SYMBOL_PIECE && first > table->symbols) {
        first--;
        if (first->name == symbol->name && !(first->flags & PF_SYMBOL_PIECE))
            return first;
    }
    return symbol;
}

/* PF_NO_SYMBOL: none covers the address. */
static uint32_t symbol_at(const struct pf_symbol_table *table, uint64_t address)
{
    const struct pf_symbol *symbol = complete_symbol(table, pf_symbol_table_find(table, address));
    return symbol ? (uint32_t)(symbol - table->symbols) : PF_NO_SYMBOL;
}

/* The mapping may be longer than the code, and lie elsewhere than where it was made. */
static void locate_code(const struct pf_symbols *symbols, struct pf_module_data *module, const struct perfile_map *map,
                        uint64_t ip, struct pf_location *location)
{
    const struct pf_jit_code *code = pf_jit_code(symbols->jit, module->code);
    location->offset = ip - map->start + map->pgoff;
    if (!code || location->offset - PF_JIT_TEXT_OFFSET >= code->bytes)
        return;
    location->symbol = 0;
    location->offset -= PF_JIT_TEXT_OFFSET;
    location->address = location->table_address = code->address + location->offset;
    module->public.resolved++;
}

/* Of a module with a table. */
static void locate_in_table(struct pf_module_data *module, const struct perfile_map *map, uint64_t ip,
                            struct pf_location *location)
{
    uint64_t address;
    if (!module->table || !pf_module_address(module, map, ip, &address))
        return;
    location->address = module->kind == PF_MODULE_ELF || pf_module_is_vdso(module) ? address : 0;
    location->table_address = address;
    location->symbol = symbol_at(module->table, address);
    if (location->symbol != PF_NO_SYMBOL) {
        location->offset = address - module->table->symbols[location->symbol].start;
        module->public.resolved++;
    }
}

bool pf_symbols_locate(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip,
                       struct pf_location *location)
{
    *location = (struct pf_location){
        .module = PF_NO_SYMBOL, .symbol = PF_NO_SYMBOL, .offset = ip, .in_module = ip, .table_address = ip};
    if (!map)
        return true;
    uint32_t number;
    struct pf_module_data *module = pf_symbols_loaded(symbols, map, &number);
    if (!module)
        return false;
    location->module = number;
    location->offset = module->kind == PF_MODULE_ELF ? ip - map->start + map->pgoff
                       : pf_module_is_vdso(module)   ? ip - map->start
                                                     : ip;
    location->in_module = location->table_address = location->offset;
    if (!pf_symbols_are_wanted(symbols, module))
        return true;
    module->public.addresses++;
    if (module->kind == PF_MODULE_SYMBOL) {
        location->symbol = 0;
        location->offset = ip - map->start;
        module->public.resolved++;
    } else if (module->kind == PF_MODULE_JIT) {
        locate_code(symbols, module, map, ip, location);
    } else {
        locate_in_table(module, map, ip, location);
    }
    return true;
}

/* ---- mappings ---- */

/* Whether the loaded module has a symbol there. */
static bool has_symbol(const struct pf_module_data *module, const struct perfile_map *map, uint64_t ip)
{
    uint64_t address;
    return module->table && pf_module_address(module, map, ip, &address) &&
           symbol_at(module->table, address) != PF_NO_SYMBOL;
}

/* Memory, and files that are gone, as the kernel calls them: no other machine has their code. */
static bool is_gone(const char *name)
{
    static const char deleted[] = " (deleted)";
    const size_t bytes = strlen(name), end = sizeof(deleted) - 1;
    return pf_is_memory_name(name) || pf_starts_with(name, "/dev/") ||
           (bytes > end && strcmp(name + bytes - end, deleted) == 0);
}

/*
 * Code that no file explains may be described by the map of its process, whatever its memory is called: .NET maps
 * "/memfd:doublemapper", V8 "[anon:v8]", others deleted files. That of a file which is only missing here is not: a map
 * on this machine would belong to another process.
 */
static bool may_have_perf_map(const struct pf_symbols *symbols, const struct pf_module_data *module,
                              const struct perfile_map *map)
{
    const struct pf_find_options *find = &symbols->find;
    return !module->table && (module->kind == PF_MODULE_ELF || module->kind == PF_MODULE_NONE) &&
           pf_map_is_executable(map) && map->pid > 0 &&
           (find->same_machine || !pf_find_is_local(find) || is_gone(module->map_name));
}

/* The map of the process if it names the address, else NULL. */
static const struct perfile_map *named_by_perf_map(struct pf_symbols *symbols, const struct perfile_map *map,
                                                   uint64_t ip)
{
    uint32_t number;
    const struct perfile_map *all = pf_symbols_perf_map(symbols, map);
    const struct pf_module_data *module = all ? pf_symbols_loaded(symbols, all, &number) : NULL;
    return module && has_symbol(module, all, ip) ? all : NULL;
}

static bool is_program(const struct pf_symbols *symbols, struct pf_module_data *module)
{
    if (!module->program_tried && module->binary)
        module->is_program = pf_elf_is_program(module->binary, symbols->allocator);
    module->program_tried = true;
    return module->is_program;
}

/*
 * The code that memory was put over, as programs do that move themselves to large pages; NULL: it may be anything. Of a
 * program only: a library can be unloaded, which no record says, and other code can be made at its addresses.
 */
static const struct perfile_map *moved_code(struct pf_symbols *symbols, const struct perfile_map *map)
{
    uint32_t number;
    struct pf_module_data *module = map->replaced ? pf_symbols_loaded(symbols, map->replaced, &number) : NULL;
    if (!module || module->kind != PF_MODULE_ELF || !module->table || !is_program(symbols, module))
        return NULL;
    if (!module->reported_moved)
        pf_find_note(&symbols->find, "%s: its code was moved to large pages; samples there have its names",
                     module->public.name);
    module->reported_moved = true;
    return map->replaced;
}

/* The mapping that names an address of `map` if that is another one. NULL: it is not, or memory is short. */
static const struct perfile_map *named_by_other(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip)
{
    uint32_t number;
    const struct pf_module_data *module = pf_symbols_loaded(symbols, map, &number);
    if (!module || (module->table && module->kind != PF_MODULE_PERF_MAP) || !pf_map_is_executable(map))
        return NULL;
    const struct perfile_map *named =
        may_have_perf_map(symbols, module, map) ? named_by_perf_map(symbols, map, ip) : NULL;
    return named || has_symbol(module, map, ip) ? named : moved_code(symbols, map);
}

/*
 * The vdso of a 32-bit program, of whatever machine: it lies below 4 GiB, and as perf wants it, the first binary below
 * it that is available has 32 bits.
 */
static bool is_vdso32(struct pf_symbols *symbols, const struct perfile_space *space, const struct perfile_map *vdso)
{
    enum { TRIES_MAX = 64 };
    const struct perfile_map *map = vdso;
    if (pf_module_kind_of(vdso) != PF_MODULE_VDSO || vdso->start > UINT32_MAX)
        return false;
    for (int tries = 0; tries < TRIES_MAX && map->start; tries++) {
        map = perfile_space_below(space, map->start - 1);
        const uint32_t number =
            map && pf_module_kind_of(map) == PF_MODULE_ELF ? pf_symbols_module_of(symbols, map) : UINT32_MAX;
        if (!map)
            return false;
        if (number == UINT32_MAX)
            continue;
        if (!pf_module_at(symbols, number)->public.looked_for)
            pf_module_load(symbols, pf_module_at(symbols, number));
        if (pf_symbols_open_code(symbols, number) && symbols->code_machine.elf_machine)
            return !symbols->code_machine.is_64;
    }
    return false;
}

const struct perfile_map *pf_symbols_map(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    const struct perfile_map *map = perfile_space_find(space, ip);
    struct pf_location location;
    uint32_t known;
    if (map && map->filename[0] == '[' && !pf_symbols_knows_module(symbols, map, &known) &&
        is_vdso32(symbols, space, map))
        (void)pf_symbols_module_of_kind(symbols, map, PF_MODULE_VDSO32);
    if (map) {
        const struct perfile_map *named = named_by_other(symbols, map, ip);
        return named ? named : map;
    }
    map = perfile_space_below(space, ip);
    if (!map || !map->kernel || pf_module_kind_of(map) != PF_MODULE_KERNEL ||
        !pf_symbols_locate(symbols, map, ip, &location))
        return NULL;
    return location.symbol != PF_NO_SYMBOL ? map : NULL;
}

static bool is_loaded(const struct pf_symbols *symbols, const struct perfile_map *map,
                      const struct pf_module_data **module)
{
    uint32_t number;
    if (!pf_symbols_has_module(symbols, map, &number))
        return false;
    *module = pf_module_at(symbols, number);
    return (*module)->public.looked_for;
}

bool pf_symbols_is_settled(const struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip, bool lines)
{
    const struct perfile_map *map = perfile_space_find(space, ip), *all;
    const struct pf_module_data *module, *other;
    if (!map)
        map = perfile_space_below(space, ip);
    if (!map || (ip >= map->end && (!map->kernel || pf_module_kind_of(map) != PF_MODULE_KERNEL)))
        return true; /* nothing is mapped, as pf_symbols_map has it */
    if (!is_loaded(symbols, map, &module) || map->replaced)
        return false;
    if (may_have_perf_map(symbols, module, map)) {
        all = pf_symbols_known_perf_map(symbols, map->pid);
        return all && is_loaded(symbols, all, &other);
    }
    return !lines || !pf_module_has_inlines(module) || module->inlines_tried;
}

/* ---- extents ---- */

void pf_symbols_count_address(struct pf_symbols *symbols, uint32_t number)
{
    struct pf_module_data *module = pf_module_at(symbols, number);
    if (module && pf_symbols_are_wanted(symbols, module))
        module->public.addresses++;
}

/* Cuts off what is not in [start, end). */
static void clip(struct pf_extent *extent, uint64_t start, uint64_t end)
{
    extent->first = pf_max(extent->first, start);
    extent->last = pf_min(extent->last, end - 1);
}

/* Whether the address is as far from that of the location in the module as in memory: not in another segment. */
static bool is_beside(const struct pf_module_data *module, const struct perfile_map *map, uint64_t ip,
                      const struct pf_location *location, uint64_t other)
{
    uint64_t address;
    return pf_module_address(module, map, other, &address) && address - location->table_address == other - ip;
}

/* Those in a table: the piece of a symbol, or a gap between two. */
static bool clip_to_symbol(const struct pf_module_data *module, const struct perfile_map *map, uint64_t ip,
                           const struct pf_location *location, struct pf_extent *extent)
{
    const struct pf_symbol_table *table = module->table;
    const uint64_t address = location->table_address, to_memory = ip - address;
    const size_t after = pf_symbol_table_after(table, address);
    const struct pf_symbol *at = after ? &table->symbols[after - 1] : NULL; /* a table may have none */
    if (at && address < at->end)
        clip(extent, at->start + to_memory, at->end + to_memory);
    else if (at)
        clip(extent, at->end + to_memory, extent->last + 1);
    if (after < table->count)
        clip(extent, extent->first, table->symbols[after].start + to_memory);
    return extent->first <= ip && ip <= extent->last && is_beside(module, map, ip, location, extent->first) &&
           is_beside(module, map, ip, location, extent->last);
}

bool pf_symbols_extent(const struct pf_symbols *symbols, const struct perfile_space *space,
                       const struct perfile_map *map, uint64_t ip, const struct pf_location *location,
                       struct pf_extent *extent)
{
    const struct perfile_map *held = perfile_space_find(space, ip);
    const struct pf_module_data *module = held ? pf_module_at(symbols, location->module) : NULL;
    const bool is_moved = held && map == held->replaced; /* code that was made later may have names, too */
    if (!module || is_moved || module->kind == PF_MODULE_JIT || (map != held && location->symbol == PF_NO_SYMBOL))
        return false;
    *extent = (struct pf_extent){held->start, held->end - 1};
    if (module->table && pf_symbols_are_wanted(symbols, module))
        return clip_to_symbol(module, map, ip, location, extent);
    return !held->replaced && !may_have_perf_map(symbols, module, map);
}

/* ---- symbols ---- */

/* The end of the last piece of this symbol after symbols inside it. */
static uint64_t end_of_pieces(const struct pf_symbol_table *table, const struct pf_symbol *symbol)
{
    enum { PIECES_MAX = 1024 };
    const struct pf_symbol *after = table->symbols + table->count;
    uint64_t end = symbol->end, reached = symbol->end;
    for (const struct pf_symbol *at = symbol + 1; at < after && at - symbol < PIECES_MAX && at->start <= reached;
         at++) {
        reached = pf_max(reached, at->end);
        if (at->flags & PF_SYMBOL_PIECE && at->name == symbol->name)
            end = at->end;
    }
    return end;
}

bool pf_symbols_range(const struct pf_symbols *symbols, uint32_t number, uint32_t symbol, uint64_t *start,
                      uint64_t *end)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    const struct pf_jit_code *code =
        module && module->kind == PF_MODULE_JIT ? pf_jit_code(symbols->jit, module->code) : NULL;
    *start = *end = 0;
    if (code) {
        *start = code->address;
        *end = code->address + code->bytes;
    } else if (module && module->table && symbol < module->table->count) {
        *start = module->table->symbols[symbol].start;
        *end = end_of_pieces(module->table, &module->table->symbols[symbol]);
    }
    return *end > *start;
}

bool pf_symbols_is_thumb(const struct pf_symbols *symbols, uint32_t number, uint32_t symbol)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    return module && module->table && symbol < module->table->count &&
           module->table->symbols[symbol].flags & PF_SYMBOL_THUMB;
}

const char *pf_symbols_raw_name(const struct pf_symbols *symbols, uint32_t number, uint32_t symbol)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    if (!module || symbol == PF_NO_SYMBOL)
        return NULL;
    if (module->kind == PF_MODULE_SYMBOL)
        return module->map_name;
    if (module->kind == PF_MODULE_JIT)
        return pf_jit_code(symbols->jit, module->code)->name;
    return pf_symbol_name(module->table, &module->table->symbols[symbol]);
}

uint32_t pf_symbols_at(struct pf_symbols *symbols, uint32_t number, uint64_t address, uint64_t *offset)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    uint64_t start, end;
    *offset = 0;
    uint32_t symbol = module && module->kind == PF_MODULE_JIT ? 0 : PF_NO_SYMBOL;
    if (module && module->table && pf_symbols_are_wanted(symbols, module))
        symbol = symbol_at(module->table, address);
    if (symbol == PF_NO_SYMBOL || !pf_symbols_range(symbols, number, symbol, &start, &end) || address < start ||
        address >= end)
        return PF_NO_SYMBOL;
    *offset = address - start;
    return symbol;
}

/* ---- names ---- */

char *pf_symbols_demangle(const struct pf_symbols *symbols, const struct perfile_allocator *allocator, const char *name)
{
    errno = 0;
    return symbols->find.no_demangle ? NULL : pf_demangle(allocator, name);
}

/* Once. */
static void report_mangled(struct pf_symbols *symbols, const char *raw)
{
    if (symbols->reported_mangled || symbols->find.no_demangle || !pf_demangle_needs_library(raw))
        return;
    symbols->reported_mangled = true;
    pf_find_note(&symbols->find, "names of C++ stay mangled (%.40s): libstdc++.so.6 cannot be loaded", raw);
}

static const char *code_name(struct pf_symbols *symbols, struct pf_module_data *module)
{
    const char *raw = pf_jit_code(symbols->jit, module->code)->name;
    char *readable = module->code_name ? NULL : pf_symbols_demangle(symbols, symbols->allocator, raw);
    if (!module->code_name && !readable) {
        (void)pf_memory_note_failure(symbols->allocator);
        report_mangled(symbols, raw);
    }
    if (readable)
        module->code_name = pf_arena_text(&symbols->arena, readable, strlen(readable));
    pf_text_free(symbols->allocator, readable);
    if (!module->code_name)
        module->code_name = raw;
    return module->code_name;
}

/* NULL: out of memory. */
static const char *readable_name(struct pf_symbols *symbols, const char *raw)
{
    char *readable = pf_symbols_demangle(symbols, symbols->allocator, raw);
    if (!readable && pf_memory_note_failure(symbols->allocator))
        return NULL;
    if (!readable) {
        report_mangled(symbols, raw);
        return raw;
    }
    const char *name = pf_arena_text(&symbols->arena, readable, strlen(readable));
    pf_text_free(symbols->allocator, readable);
    return name;
}

const char *pf_symbols_readable(struct pf_symbols *symbols, const char *linkage)
{
    uint64_t known;
    if (pf_map_get(&symbols->readable, (uintptr_t)linkage, &known))
        return (const char *)(uintptr_t)known;
    const char *made = readable_name(symbols, linkage);
    return made && pf_map_put(&symbols->readable, (uintptr_t)linkage, (uintptr_t)made) ? made : NULL;
}

size_t pf_symbols_inlined_names(struct pf_symbols *symbols, const struct pf_location *location, const char **names,
                                size_t max_names)
{
    struct pf_source_frame frames[PF_INLINED_MAX];
    const size_t count = pf_symbols_inlined(symbols, location, frames, PF_INLINED_MAX);
    size_t named = 0;
    for (size_t i = 0; i < count && frames[i].inlined && named < max_names; i++) {
        const char *name = frames[i].function ? pf_symbols_readable(symbols, frames[i].function) : NULL;
        if (name)
            names[named++] = name;
    }
    return named;
}

const char *pf_symbols_name(struct pf_symbols *symbols, uint32_t number, uint32_t symbol)
{
    if (number >= symbols->count || symbol == PF_NO_SYMBOL)
        return NULL;
    struct pf_module_data *module = pf_module_at(symbols, number);
    if (module->kind == PF_MODULE_SYMBOL)
        return module->map_name;
    if (module->kind == PF_MODULE_JIT)
        return code_name(symbols, module);
    const char *raw = pf_symbol_name(module->table, &module->table->symbols[symbol]);
    if (raw[0] != '_' && raw[0] != '.' && raw[0] != 'L' && raw[0] != 'c')
        return raw; /* no mangled name starts otherwise */
    if (!module->names)
        module->names = pf_new(symbols->allocator, module->table->count * sizeof(*module->names));
    if (module->names && !module->names[symbol])
        module->names[symbol] = readable_name(symbols, raw);
    if (module->names && module->names[symbol])
        return module->names[symbol];
    pf_memory_note_short(symbols->allocator);
    return raw;
}
