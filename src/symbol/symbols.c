/* SPDX-License-Identifier: MIT */
/* The symbols of a recording: opening and closing them, and what is reported of modules that have none. */
#include "base/counted.h"
#include "symbol/symbols_parts.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/locale.h"
#include "base/memory_name.h"
#include "symbol/find/archive.h"
#include "symbol/find/bundle.h"

/* Notes that symfs is not a folder. As in perf it then counts as an empty one. */
static void check_symfs(const struct pf_find_options *find)
{
    struct stat about;
    if (!find->symfs || !*find->symfs)
        return;
    const bool exists = stat(find->symfs, &about) == 0;
    if (!exists || !S_ISDIR(about.st_mode))
        pf_find_note(find, "no binaries found below %s: %s", find->symfs, pf_error_text(exists ? ENOTDIR : errno));
}

int pf_symbols_open(struct perfile_reader *reader, const struct pf_find_options *find, struct pf_symbols **symbols,
                    struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(find ? find->allocator : NULL);
    struct pf_symbols *made = pf_new(allocator, sizeof(*made));
    *symbols = NULL;
    if (!made)
        return pf_fail_memory(error, "symbols");
    made->allocator = allocator;
    made->reader = reader;
    made->vdso_file = -1;
    if (find)
        made->find = *find;
    if (made->find.was_short || pf_bundle_load(&made->find) < 0) {
        pf_free(allocator, made, sizeof(*made));
        return pf_fail_memory(error, "bundle");
    }
    pf_find_read_names(&made->find, reader);
    pf_arena_open(&made->arena, allocator);
    pf_segments_open(&made->modules, sizeof(struct pf_module_data), allocator);
    pf_map_open(&made->by_key, allocator);
    pf_map_open(&made->vdsos, allocator);
    pf_map_open(&made->perf_maps, allocator);
    pf_map_open(&made->readable, allocator);
    if (pf_embedded_open(&made->embedded, reader, allocator, error) < 0) {
        pf_symbols_close(made);
        return PERFILE_ERROR_MEMORY;
    }
    if (pf_recorded_ids_open(&made->recorded_ids, reader, allocator, error) < 0) {
        pf_symbols_close(made);
        return PERFILE_ERROR_MEMORY;
    }
    check_symfs(&made->find);
    pf_debuginfod_limit(&made->debuginfod, made->find.debuginfod_seconds, made->find.debuginfod_bytes);
    if (made->find.asks_debuginfod)
        made->find.debuginfod = &made->debuginfod;
    if (made->find.archive && pf_archive_open(&made->find, made->find.archive, &made->archive) < 0) {
        pf_symbols_close(made);
        return pf_fail_memory(error, "archive");
    }
    made->find.archive_dir = made->archive;
    *symbols = made;
    return 0;
}

void pf_symbols_use_jit(struct pf_symbols *symbols, struct pf_jit *jit)
{
    symbols->jit = jit;
}

static void close_module(struct pf_module_data *module, const struct perfile_allocator *allocator)
{
    if (module->names)
        pf_free(allocator, module->names, module->table->count * sizeof(*module->names));
    if (!module->embedded)
        pf_symbol_table_close(module->table);
    pf_cfi_close(module->cfi);
    pf_inlines_close(module->inlines);
}

/* What debuginfod could not give. */
static void report_debuginfod(const struct pf_symbols *symbols)
{
    const struct pf_debuginfod *d = &symbols->debuginfod;
    const struct pf_find_options *find = &symbols->find;
    char files[PF_COUNTED_BYTES];
    if (d->is_missing)
        pf_find_note(find, "debuginfod was not asked: libdebuginfod (libdebuginfod.so.1) is missing");
    if (d->absent)
        pf_find_note(find, "debuginfod does not have %s", pf_part_of(d->absent, d->asked, "files", files));
    if (d->failed)
        pf_find_note(find, "debuginfod failed for %s: %s", pf_part_of(d->failed, d->asked, "files", files),
                     pf_error_text(d->last_error));
    if (d->late)
        pf_find_note(find, "debuginfod was too slow for %s", pf_part_of(d->late, d->asked, "files", files));
    if (d->large)
        pf_find_note(find, "what debuginfod sent for %s is above the size limit (debuginfod_bytes)",
                     pf_part_of(d->large, d->asked, "files", files));
    if (d->refused)
        pf_find_note(find, "debuginfod was not asked for %s: the size limit was reached (debuginfod_bytes)",
                     pf_count_of(d->refused, "more files", files));
    if (d->skipped)
        pf_find_note(find, "debuginfod was not asked for %s: the time limit was reached (debuginfod_seconds)",
                     pf_count_of(d->skipped, "more files", files));
}

bool pf_module_is_missing(const struct pf_module *module)
{
    return module->addresses && !module->resolved && (module->looked_for || module->table);
}

/* Modules without a symbol. */
static void report_missing(const struct pf_symbols *symbols)
{
    static const unsigned kinds[PF_MISSING_COUNT] = {
        [PF_MISSING_FILE] = PERFILE_TROUBLE_NO_FILE,   [PF_MISSING_BUILD] = PERFILE_TROUBLE_OTHER_BUILD,
        [PF_MISSING_NAMES] = PERFILE_TROUBLE_NO_NAMES, [PF_MISSING_KERNEL] = PERFILE_TROUBLE_NO_KERNEL,
        [PF_MISSING_JIT] = PERFILE_TROUBLE_NO_JIT_MAP,
    };
    uint64_t total = 0;
    for (uint32_t i = 0; i < symbols->count; i++)
        total += pf_symbols_module(symbols, i)->addresses;
    for (uint32_t i = 0; i < symbols->count && symbols->find.trouble; i++) {
        const struct pf_module *module = pf_symbols_module(symbols, i);
        const struct perfile_trouble trouble = {.kind = kinds[pf_module_missing_kind(module)],
                                                .name = module->name,
                                                .short_name = module->short_name,
                                                .path = module->path,
                                                .build_id = module->build_id,
                                                .other_build_id = module->other_build_id,
                                                .count = module->addresses,
                                                .total = total,
                                                .recording = symbols->find.recording};
        if (pf_module_is_missing(module))
            symbols->find.trouble(symbols->find.trouble_context, &trouble);
    }
}

void pf_symbols_take_data(struct pf_symbols *symbols)
{
    symbols->wants_data = true;
}

void pf_symbols_close(struct pf_symbols *symbols)
{
    if (!symbols)
        return;
    report_debuginfod(symbols);
    report_missing(symbols);
    for (size_t i = 0; i < symbols->count; i++)
        close_module(pf_module_at(symbols, i), symbols->allocator);
    pf_segments_close(&symbols->modules);
    pf_embedded_close(&symbols->embedded);
    pf_free(symbols->allocator, symbols->known_maps, sizeof(*symbols->known_maps) << PF_KNOWN_MAP_BITS);
    pf_map_close(&symbols->vdsos);
    pf_map_close(&symbols->perf_maps);
    pf_map_close(&symbols->readable);
    pf_symbols_close_code(symbols);
    if (symbols->vdso_file >= 0)
        close(symbols->vdso_file);
    pf_free(symbols->allocator, symbols->kallsyms, symbols->kallsyms_bytes + 1);
    if (symbols->live_code)
        pf_free(symbols->allocator, symbols->live_code, sizeof(*symbols->live_code) << PF_LIVE_CODE_BITS);
    pf_text_free(symbols->allocator, symbols->cache);
    pf_text_free(symbols->allocator, symbols->archive);
    pf_bundle_unload(&symbols->find);
    pf_map_close(&symbols->by_key);
    pf_named_ids_close(&symbols->recorded_ids);
    pf_arena_close(&symbols->arena);
    pf_free(symbols->allocator, symbols, sizeof(*symbols));
}

const struct perfile_allocator *pf_symbols_allocator(const struct pf_symbols *symbols)
{
    return symbols->allocator;
}

enum pf_missing pf_module_missing_kind(const struct pf_module *module)
{
    if (module->table && !module->jit)
        return PF_MISSING_NAMES;
    if (module->kernel || pf_starts_with(module->name, "[vdso"))
        return PF_MISSING_KERNEL;
    if (module->jit || module->name[0] != '/' || pf_is_memory_name(module->name))
        return PF_MISSING_JIT;
    return module->build_id_differs ? PF_MISSING_BUILD : PF_MISSING_FILE;
}

size_t pf_symbols_module_count(const struct pf_symbols *symbols)
{
    return symbols->count;
}

size_t pf_symbols_build_id(const struct pf_symbols *symbols, uint32_t number, const uint8_t **build_id)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    *build_id = module->build_id;
    return module->build_id_bytes;
}

const struct pf_module *pf_symbols_module(const struct pf_symbols *symbols, uint32_t module)
{
    const struct pf_module_data *known = pf_module_at(symbols, module); /* not `count`, which may be growing */
    return known && known->public.name ? &known->public : NULL;
}
