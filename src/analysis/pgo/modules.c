/* SPDX-License-Identifier: MIT */
#include "analysis/pgo/modules.h"

#include "base/build_id.h"

void pf_pgo_modules_open(struct pf_pgo_modules *modules, const struct pf_pgo_wanted *wanted,
                         const struct perfile_allocator *allocator)
{
    *modules = (struct pf_pgo_modules){.allocator = allocator, .wanted = *wanted};
    pf_arena_open(&modules->names, allocator);
    pf_map_open(&modules->by_name, allocator);
    pf_map_open(&modules->part_of, allocator);
    pf_map_open(&modules->of_map, allocator);
}

void pf_pgo_modules_close(struct pf_pgo_modules *modules)
{
    pf_arena_close(&modules->names);
    pf_map_close(&modules->by_name);
    pf_map_close(&modules->part_of);
    pf_map_close(&modules->of_map);
    pf_free(modules->allocator, modules->modules, modules->capacity * sizeof(*modules->modules));
    pf_free(modules->allocator, modules->parts, modules->part_capacity * sizeof(*modules->parts));
}

void pf_pgo_modules_discard_maps(struct pf_pgo_modules *modules)
{
    pf_map_close(&modules->of_map);
    memset(modules->recent, 0, sizeof(modules->recent));
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool is_same(const struct pf_pgo_module *module, const struct perfile_map *map)
{
    if (!module->build_id_bytes != !map->build_id_bytes || module->kernel != map->kernel)
        return false;
    return map->build_id_bytes
               ? pf_build_id_is_same(module->build_id, module->build_id_bytes, map->build_id, map->build_id_bytes)
               : strcmp(module->name, map->filename) == 0;
}

/*
 * Whether the code of a module is counted. A build id decides; the name does where the recording or the file has no
 * build id. Without a file that was asked for, all is.
 */
static bool is_wanted(struct pf_pgo_modules *modules, const struct pf_pgo_module *module, uint32_t number)
{
    const struct pf_pgo_wanted *wanted = &modules->wanted;
    if (module->kernel != wanted->kernel)
        return false;
    if (!wanted->name && !wanted->build_id_bytes)
        return true;
    if (module->build_id_bytes &&
        pf_build_id_is_same(module->build_id, module->build_id_bytes, wanted->build_id, wanted->build_id_bytes))
        return true;
    if (!wanted->name || (strcmp(last_part(module->name), wanted->name) != 0 && !module->kernel))
        return false;
    if (!module->build_id_bytes || wanted->any_build)
        return true;
    modules->other_build = number + 1;
    return false;
}

/* The number of a new module plus one, or 0. */
static uint64_t add_module(struct pf_pgo_modules *modules, const struct perfile_map *map, uint64_t hash, uint64_t next)
{
    struct pf_pgo_module made = {.name = pf_arena_text(&modules->names, map->filename, strlen(map->filename)),
                                 .build_id_bytes = map->build_id_bytes,
                                 .kernel = map->kernel,
                                 .next = (uint32_t)next};
    memcpy(made.build_id, map->build_id, sizeof(made.build_id));
    if (!made.name || modules->count >= UINT32_MAX - 1 ||
        !PF_APPEND(modules->allocator, modules->modules, modules->count, modules->capacity, made))
        return 0;
    struct pf_pgo_module *added = &modules->modules[modules->count - 1];
    added->is_wanted = is_wanted(modules, added, (uint32_t)modules->count - 1);
    return pf_map_put(&modules->by_name, hash, modules->count) ? modules->count : 0;
}

/* The number of the module that the map shows plus one; 0: out of memory. */
static uint64_t module_of(struct pf_pgo_modules *modules, const struct perfile_map *map)
{
    const uint64_t hash = map->build_id_bytes
                              ? pf_hash_bytes(1, map->build_id, pf_build_id_length(map->build_id, map->build_id_bytes))
                              : pf_hash_text(map->filename);
    uint64_t first = 0;
    pf_map_get(&modules->by_name, hash, &first);
    for (uint64_t number = first; number; number = modules->modules[number - 1].next)
        if (is_same(&modules->modules[number - 1], map))
            return number;
    return add_module(modules, map, hash, first);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* The number of the part plus one; 0: out of memory, or there are too many. */
static uint64_t part_of(struct pf_pgo_modules *modules, const struct pf_pgo_part *part)
{
    uint64_t hash = pf_hash_bytes(part->module, &part->pgoff, sizeof(part->pgoff)), number;
    for (;; hash++) {
        if (!pf_map_get(&modules->part_of, hash, &number))
            break;
        if (modules->parts[number].module == part->module && modules->parts[number].pgoff == part->pgoff)
            return number + 1;
    }
    modules->is_full = modules->part_count >= ((size_t)1 << PF_PART_BITS) - 1;
    if (modules->is_full || !pf_map_put(&modules->part_of, hash, modules->part_count) ||
        !PF_APPEND(modules->allocator, modules->parts, modules->part_count, modules->part_capacity, *part))
        return 0;
    return modules->part_count;
}

/* What is code of a file, or of the kernel. */
static bool has_code(const struct perfile_map *map)
{
    return map && !map->symbol && !map->code && !map->data && map->filename[0];
}

/*
 * The offset of the map's first address in a location, and what is known of its part. Of the kernel, whose mapping is
 * cut in pieces by other code, it is the low bits of the address itself. False: it does not fit.
 */
static bool position(const struct perfile_map *map, uint64_t *offset, uint64_t *pgoff)
{
    const uint64_t length = map->end - map->start;
    uint64_t end;
    *offset = map->kernel ? map->start & PF_OFFSET_MASK : map->pgoff;
    *pgoff = map->pgoff;
    return pf_add(*offset, length, &end) && end <= PF_OFFSET_MASK;
}

/* What is to be added to addresses of the map for their locations; 0: they are not counted. */
static uint64_t base_of(struct pf_pgo_modules *modules, const struct perfile_map *map)
{
    struct pf_pgo_part part;
    uint64_t base = 0, offset, number = 0;
    if (pf_map_get(&modules->of_map, map->id, &base) || !has_code(map) || !position(map, &offset, &part.pgoff))
        return base;
    const uint64_t module = module_of(modules, map);
    part.module = (uint32_t)module - 1;
    if (module && modules->modules[module - 1].is_wanted)
        number = part_of(modules, &part);
    base = number ? (number << PF_OFFSET_BITS) + offset - map->start : 0;
    (void)pf_map_put(&modules->of_map, map->id, base == UINT64_MAX ? 0 : base);
    return base;
}

static uint64_t remember(struct pf_pgo_modules *modules, uint64_t address, struct pf_recent_map found)
{
    found.space = modules->space_id;
    *pf_pgo_recent(modules, address) = found;
    return found.base ? address + found.base : 0;
}

/* Nothing is mapped at the address: nor near it, mostly. */
static uint64_t locate_nothing(struct pf_pgo_modules *modules, uint64_t address)
{
    const struct pf_recent_map gap = {.start = address & ~PF_RECENT_MASK, .end = address | PF_RECENT_MASK};
    const struct perfile_map *below = perfile_space_below(modules->space, gap.end);
    return below && below->end > gap.start ? 0 : remember(modules, address, gap);
}

uint64_t pf_pgo_locate_slowly(struct pf_pgo_modules *modules, uint64_t address)
{
    const struct perfile_map *map = modules->space ? perfile_space_find(modules->space, address) : NULL;
    if (!map)
        return modules->space ? locate_nothing(modules, address) : 0;
    /* of memory that a program has put over its code, that code counts */
    const struct perfile_map *code = map->replaced ? map->replaced : map;
    const struct pf_recent_map found = {
        .start = pf_max_u64(map->start, code->start),
        .end = pf_min_u64(map->end, code->end),
        .base = code->kernel || code->executed >= modules->executed ? base_of(modules, code) : 0};
    return address >= found.start && address < found.end ? remember(modules, address, found) : 0;
}
