/* SPDX-License-Identifier: MIT */
/* Which module a mapping belongs to, and its names. */
#include "symbol/symbols_parts.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/text.h"

/* Memory without a file: its code, if any, was made at run time. */
static bool is_anonymous(const struct perfile_map *map)
{
    static const char *const starts[] = {"/anon_hugepage", "/dev/zero", "[stack", "/SYSV"};
    if (strcmp(map->filename, "//anon") == 0 || strcmp(map->filename, "[heap]") == 0 ||
        map->flags & PERFILE_MAP_HUGETLB)
        return true;
    for (size_t i = 0; i < PF_COUNT(starts); i++)
        if (pf_starts_with(map->filename, starts[i]))
            return true;
    return false;
}

bool pf_map_is_executable(const struct perfile_map *map)
{
    return !map->data && (map->prot == 0 || map->prot & PERFILE_PROT_EXEC);
}

enum pf_module_kind pf_module_kind_of(const struct perfile_map *map)
{
    if (map->symbol)
        return PF_MODULE_SYMBOL;
    if (map->code)
        return PF_MODULE_JIT;
    if (pf_is_kernel_map(map->filename))
        return PF_MODULE_KERNEL;
    if (map->kernel)
        return PF_MODULE_KERNEL_MODULE;
    if (is_anonymous(map))
        return pf_map_is_executable(map) ? PF_MODULE_PERF_MAP : PF_MODULE_NONE;
    if (pf_starts_with(map->filename, "[vdso"))
        return PF_MODULE_VDSO;
    return map->filename[0] == '/' ? PF_MODULE_ELF : PF_MODULE_NONE;
}

/* The name that perf shows. */
static const char *shown_name(struct pf_symbols *symbols, const struct perfile_map *map, const char *map_name,
                              enum pf_module_kind kind)
{
    char text[64];
    if (kind == PF_MODULE_PERF_MAP) {
        snprintf(text, sizeof(text), "/tmp/perf-%d.map", (int)map->pid);
        return pf_arena_text(&symbols->arena, text, strlen(text));
    }
    if (kind == PF_MODULE_VDSO32)
        return "[vdso32]";
    if (kind == PF_MODULE_KERNEL)
        return pf_kernel_name(map_name);
    return map_name;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] && name[0] != '[' ? slash + 1 : name;
}

/* The length of the module's name in the name of its file: all before ".ko", ".ko.gz" ...; 0: not a module's file. */
static size_t module_part(const char *file)
{
    static const char *const ends[] = {".ko", ".ko.gz", ".ko.xz", ".ko.zst"};
    for (size_t i = 0; i < PF_COUNT(ends); i++) {
        const size_t bytes = strlen(file), end = strlen(ends[i]);
        if (bytes > end && strcmp(file + bytes - end, ends[i]) == 0)
            return bytes - end;
    }
    return 0;
}

/* "[snd_hda_intel]": the kernel's own name of the module. */
static const char *bracketed(struct pf_symbols *symbols, const char *name, size_t bytes)
{
    char *text = pf_arena_new(&symbols->arena, bytes + sizeof("[]"));
    for (size_t i = 0; text && i < bytes; i++)
        text[i + 1] = name[i] == '-' ? '_' : name[i];
    if (text) {
        text[0] = '[';
        text[bytes + 1] = ']';
    }
    return text;
}

/* The short name as in perf: for code made at run time and for the kernel's it is not a part of a path. */
static const char *short_name(struct pf_symbols *symbols, const struct perfile_map *map,
                              const struct pf_module_data *module)
{
    char text[64];
    const char *last = last_part(module->public.name);
    const size_t part = module->kind == PF_MODULE_KERNEL_MODULE ? module_part(last) : 0;
    if (part)
        return bracketed(symbols, last, part);
    if (module->kind == PF_MODULE_KERNEL && symbols->recorded_ids.kernel_is_vmlinux &&
        !pf_starts_with(map->filename, "[guest"))
        return "[kernel.vmlinux]";
    if (module->kind != PF_MODULE_PERF_MAP)
        return last;
    snprintf(text, sizeof(text), "[JIT] tid %d", (int)map->pid);
    return pf_arena_text(&symbols->arena, text, strlen(text));
}

static bool add_module(struct pf_symbols *symbols, const struct perfile_map *map, enum pf_module_kind kind,
                       uint64_t hash)
{
    struct pf_module_data *module =
        symbols->count < PF_NO_SYMBOL - 1 ? pf_segments_make(&symbols->modules, (uint32_t)symbols->count) : NULL;
    if (!module)
        return false;
    module->kind = kind;
    module->map_name =
        pf_arena_text(&symbols->arena, map->filename, strlen(map->filename)); /* maps may be given back */
    if (!module->map_name)
        return false;
    module->code = map->code;
    module->pid = map->pid;
    module->map_start = map->start;
    module->map_end = map->end;
    module->executed = map->executed;
    module->inode = map->inode;
    module->device_major = map->device_major;
    module->device_minor = map->device_minor;
    module->reference = map->pgoff;
    module->public.name = shown_name(symbols, map, module->map_name, module->kind);
    module->public.kernel = map->kernel;
    module->public.jit = module->kind == PF_MODULE_PERF_MAP || module->kind == PF_MODULE_JIT;
    module->build_id_bytes = map->build_id_bytes;
    memcpy(module->build_id, map->build_id, sizeof(module->build_id));
    if (!module->public.name)
        return false;
    module->public.short_name = short_name(symbols, map, module);
    if (!module->public.short_name)
        return false;
    const struct pf_named_id *id = pf_named_ids_find_text(&symbols->recorded_ids, module->public.name);
    if (!module->build_id_bytes && id) {
        module->build_id_bytes = id->count;
        memcpy(module->build_id, id->bytes, sizeof(module->build_id));
    }
    uint64_t before;
    if (pf_map_get(&symbols->by_key, hash, &before))
        module->same_hash = (uint32_t)before + 1;
    return pf_map_put(&symbols->by_key, hash, symbols->count++);
}

static bool is_module_of(const struct pf_module_data *module, const struct perfile_map *map, enum pf_module_kind kind)
{
    if (strcmp(module->map_name, map->filename) != 0 || module->kind != kind || module->code != map->code)
        return false;
    return map->build_id_bytes == 0 || (map->build_id_bytes == module->build_id_bytes &&
                                        memcmp(map->build_id, module->build_id, map->build_id_bytes) == 0);
}

/* Which of them a vdso is depends on what was mapped when it was asked for first. */
static bool may_be_vdso32(const struct perfile_map *map)
{
    return map->filename[0] == '[' && map->start <= UINT32_MAX && pf_module_kind_of(map) == PF_MODULE_VDSO;
}

static struct pf_known_map *known_at(const struct pf_symbols *symbols, const struct perfile_map *map)
{
    return &symbols->known_maps[map->id & ((1u << PF_KNOWN_MAP_BITS) - 1)];
}

/* True and the number of the module of the map, when it is remembered. */
bool pf_symbols_knows_module(const struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number)
{
    uint64_t vdso;
    if (PF_UNLIKELY(!symbols->known_maps))
        return false;
    const struct pf_known_map *known = known_at(symbols, map);
    if (PF_LIKELY(known->map == map->id && known->module)) {
        *number = known->module - 1;
        return true;
    }
    if (PF_LIKELY(!symbols->vdsos.used) || !may_be_vdso32(map) || !pf_map_get(&symbols->vdsos, map->id, &vdso))
        return false;
    *number = (uint32_t)vdso;
    return true;
}

/* False: out of memory. */
static bool remember_module_of(struct pf_symbols *symbols, const struct perfile_map *map, uint32_t number)
{
    if (!symbols->known_maps)
        symbols->known_maps = pf_new(symbols->allocator, sizeof(*symbols->known_maps) << PF_KNOWN_MAP_BITS);
    if (!symbols->known_maps || (may_be_vdso32(map) && !pf_map_put(&symbols->vdsos, map->id, number)))
        return false;
    *known_at(symbols, map) = (struct pf_known_map){map->id, number + 1};
    return true;
}

/* The number of a module that there is; UINT32_MAX: there is none. */
static uint32_t find_module(const struct pf_symbols *symbols, const struct perfile_map *map, enum pf_module_kind kind,
                            uint64_t hash)
{
    uint64_t number;
    if (!pf_map_get(&symbols->by_key, hash, &number))
        return UINT32_MAX;
    for (;;) {
        const struct pf_module_data *module = pf_module_at(symbols, number);
        if (PF_LIKELY(is_module_of(module, map, kind)))
            return (uint32_t)number;
        if (!module->same_hash)
            return UINT32_MAX;
        number = module->same_hash - 1;
    }
}

static uint64_t hash_of(const struct perfile_map *map, enum pf_module_kind kind)
{
    uint64_t hash = pf_hash_bytes(pf_hash_text(map->filename), map->build_id, map->build_id_bytes);
    hash = pf_hash_bytes(hash, kind == PF_MODULE_VDSO32 ? "32" : "", kind == PF_MODULE_VDSO32 ? 2 : 0);
    if (kind == PF_MODULE_PERF_MAP)
        hash = pf_hash_bytes(hash, &map->pid, sizeof(map->pid));
    return pf_hash_bytes(hash, &map->code, sizeof(map->code));
}

/* True and the number of the module of the map, when it is known without what was asked for before. */
bool pf_symbols_has_module(const struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number)
{
    if (pf_symbols_knows_module(symbols, map, number))
        return true;
    if (may_be_vdso32(map))
        return false;
    const enum pf_module_kind kind = pf_module_kind_of(map);
    *number = find_module(symbols, map, kind, hash_of(map, kind));
    return *number != UINT32_MAX;
}

/* The number of the module, which gets that kind when it is a new one; UINT32_MAX when out of memory. */
uint32_t pf_symbols_module_of_kind(struct pf_symbols *symbols, const struct perfile_map *map, enum pf_module_kind kind)
{
    uint32_t number;
    if (pf_symbols_knows_module(symbols, map, &number))
        return number;
    const uint64_t hash = hash_of(map, kind);
    number = find_module(symbols, map, kind, hash);
    if (number == UINT32_MAX && add_module(symbols, map, kind, hash))
        number = (uint32_t)(symbols->count - 1);
    return number != UINT32_MAX && remember_module_of(symbols, map, number) ? number : UINT32_MAX;
}

uint32_t pf_symbols_module_of(struct pf_symbols *symbols, const struct perfile_map *map)
{
    uint32_t number;
    if (PF_LIKELY(pf_symbols_knows_module(symbols, map, &number)))
        return number;
    return pf_symbols_module_of_kind(symbols, map, pf_module_kind_of(map));
}

/* ---- the map of a process ---- */

const struct perfile_map *pf_symbols_known_perf_map(const struct pf_symbols *symbols, int32_t pid)
{
    uint64_t known;
    return pf_map_get(&symbols->perf_maps, (uint32_t)pid, &known) ? (const struct perfile_map *)(uintptr_t)known : NULL;
}

const struct perfile_map *pf_symbols_perf_map(struct pf_symbols *symbols, const struct perfile_map *of_process)
{
    const struct perfile_map *known = pf_symbols_known_perf_map(symbols, of_process->pid);
    struct perfile_map *made = known ? NULL : pf_arena_new(&symbols->arena, sizeof(*made));
    if (!made)
        return known;
    /* mappings of the recording count their ids from the other end */
    *made = (struct perfile_map){.size = sizeof(*made),
                                 .end = UINT64_MAX,
                                 .filename = "//anon",
                                 .pid = of_process->pid,
                                 .prot = PERFILE_PROT_EXEC,
                                 .executed = of_process->executed,
                                 .id = UINT32_MAX - (uint32_t)symbols->perf_maps.used};
    return pf_map_put(&symbols->perf_maps, (uint32_t)made->pid, (uintptr_t)made) ? made : NULL;
}
