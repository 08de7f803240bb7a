/* SPDX-License-Identifier: MIT */
#include "symbol/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"
#include "base/map.h"
#include "base/segments.h"
#include "base/text.h"
#include "symbol/find/archive.h"
#include "symbol/find/bundle.h"
#include "symbol/unwind/callchain.h"
#include "symbol/demangle/demangle.h"
#include "symbol/embedded.h"
#include "symbol/recorded_ids.h"
#include "symbol/table_elf.h"

enum module_kind {
    KIND_NONE, /* nothing to look for */
    KIND_ELF,
    KIND_VDSO,
    KIND_VDSO32, /* of 32-bit programs on 64-bit machines */
    KIND_KERNEL,
    KIND_KERNEL_MODULE,
    KIND_PERF_MAP, /* code made at run time, named by a text file */
    KIND_SYMBOL,   /* the mapping is one symbol */
    KIND_JIT,      /* the mapping is one piece of code of a jitdump */
};

struct module {
    struct pf_module public;
    enum module_kind kind;
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    const char *map_name; /* the file name in the recording */
    uint64_t relocation;  /* run-time address minus the table's */
    bool is_relative;     /* the table's addresses count from where the map begins */
    uint32_t code;        /* KIND_JIT: its number, and its name once it was asked for */
    const char *code_name;
    int32_t pid;        /* KIND_PERF_MAP */
    uint64_t map_start; /* where it was first seen */
    uint64_t map_end;
    uint64_t reference; /* kernel: run-time address of the symbol that its mapping names */
    struct pf_symbol_table *table;
    const struct pf_embedded_file *embedded; /* whose table it is, or NULL */
    const char *binary;                      /* the file itself, and its separate debug file; NULL: not found */
    const char *debug;
    const char *alternate; /* what the debug info refers to */
    struct pf_cfi *cfi;
    bool cfi_tried;
    struct pf_inlines *inlines;
    bool inlines_tried;
    const char **names; /* demangled, by symbol; NULL: not asked for yet */
    uint32_t same_hash; /* the one before of the same hash; module + 1 */
};

/* The module of a map. */
struct known_map {
    uint32_t map;
    uint32_t module; /* + 1; 0: nothing */
};
enum { KNOWN_MAP_BITS = 14 };

/* Where a table's symbol was found. */
struct recent {
    uint64_t address; /* the table's */
    uint32_t module;  /* + 1; 0: nothing */
    uint32_t symbol;
};
enum { RECENT_BITS = 14 };

struct pf_symbols {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct perfile_reader *reader;
    struct pf_find_options find;
    struct pf_segments modules; /* struct module: others may look at those they know of while more come */
    size_t count;
    struct pf_map by_key; /* hash of name and build id to the number of a module */
    struct pf_named_ids recorded_ids;
    struct known_map *known_maps; /* by the last bits of their ids; others of the same bits replace them */
    struct pf_map vdsos;          /* ids of maps that may be of 32-bit programs to the number of the module */
    bool reported_mangled;
    char *kallsyms; /* the text of kallsyms_path; NULL: there is none */
    size_t kallsyms_bytes;
    bool wants_data; /* the kernel's variables, too */
    const char *kallsyms_path;
    bool kallsyms_complete; /* else only the lines of modules are left */
    uint32_t code_module;   /* whose binary is open for its code; module + 1 */
    int code_file;
    struct pf_insn_machine code_machine;
    char *archive; /* the folder that it stands for, or NULL */
    char *cache;   /* the folder, or NULL */
    bool cache_tried;
    bool kernel_tried; /* for its modules */
    struct pf_debuginfod debuginfod;
    struct pf_embedded embedded;
    struct pf_jit *jit;    /* may be NULL */
    struct recent *recent; /* by a hash; processes have the same code at many addresses */
};

/* NULL: there is no such module. */
static struct module *module_at(const struct pf_symbols *symbols, size_t number)
{
    return pf_segments_at(&symbols->modules, (uint32_t)number);
}

/* ---- names and build ids ---- */

/* perf takes a folder that is none for an empty one. */
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
    if (find)
        made->find = *find;
    if (made->find.was_short || pf_bundle_load(&made->find) < 0) {
        pf_free(allocator, made, sizeof(*made));
        return pf_fail_memory(error, "bundle");
    }
    pf_find_load(&made->find, reader);
    made->recent = pf_new(allocator, sizeof(*made->recent) << RECENT_BITS);
    pf_arena_open(&made->arena, allocator);
    pf_segments_open(&made->modules, sizeof(struct module), allocator);
    pf_map_open(&made->by_key, allocator);
    pf_map_open(&made->vdsos, allocator);
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

static void close_module(struct module *module, const struct perfile_allocator *allocator)
{
    if (module->names)
        pf_free(allocator, module->names, module->table->count * sizeof(*module->names));
    if (!module->embedded)
        pf_symbol_table_close(module->table);
    pf_cfi_close(module->cfi);
    pf_inlines_close(module->inlines);
}

static void close_code(struct pf_symbols *symbols)
{
    if (symbols->code_module && symbols->code_file >= 0)
        close(symbols->code_file);
    symbols->code_module = 0;
}

/* What debuginfod could not give. */
static void report_debuginfod(const struct pf_symbols *symbols)
{
    const struct pf_debuginfod *d = &symbols->debuginfod;
    if (d->is_missing)
        pf_find_note(&symbols->find, "debuginfod was not asked: libdebuginfod (libdebuginfod.so.1) is missing");
    if (d->absent)
        pf_find_note(&symbols->find, "debuginfod does not have %u of %u files", d->absent, d->asked);
    if (d->failed)
        pf_find_note(&symbols->find, "debuginfod failed for %u of %u files: %s", d->failed, d->asked,
                     pf_error_text(d->last_error));
    if (d->late)
        pf_find_note(&symbols->find, "debuginfod was too slow for %u of %u files", d->late, d->asked);
    if (d->large)
        pf_find_note(&symbols->find, "debuginfod sent too much for %u of %u files (debuginfod_bytes)", d->large,
                     d->asked);
    if (d->refused)
        pf_find_note(&symbols->find,
                     "debuginfod was not asked for %u more files: it has sent too much (debuginfod_bytes)", d->refused);
    if (d->skipped)
        pf_find_note(&symbols->find,
                     "debuginfod was not asked for %u more files: its time is over (debuginfod_seconds)", d->skipped);
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
                                                .total = total};
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
        close_module(module_at(symbols, i), symbols->allocator);
    pf_segments_close(&symbols->modules);
    pf_embedded_close(&symbols->embedded);
    pf_free(symbols->allocator, symbols->known_maps, sizeof(*symbols->known_maps) << KNOWN_MAP_BITS);
    pf_map_close(&symbols->vdsos);
    close_code(symbols);
    pf_free(symbols->allocator, symbols->kallsyms, symbols->kallsyms_bytes + 1);
    if (symbols->recent)
        pf_free(symbols->allocator, symbols->recent, sizeof(*symbols->recent) << RECENT_BITS);
    pf_text_free(symbols->allocator, symbols->cache);
    pf_text_free(symbols->allocator, symbols->archive);
    pf_bundle_unload(&symbols->find);
    pf_map_close(&symbols->by_key);
    pf_named_ids_close(&symbols->recorded_ids);
    pf_arena_close(&symbols->arena);
    pf_free(symbols->allocator, symbols, sizeof(*symbols));
}

/* ---- which module a mapping belongs to ---- */

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

static bool is_executable(const struct perfile_map *map)
{
    return !map->data && (map->prot == 0 || map->prot & PERFILE_PROT_EXEC);
}

static enum module_kind kind_of(const struct perfile_map *map)
{
    if (map->symbol)
        return KIND_SYMBOL;
    if (map->code)
        return KIND_JIT;
    if (pf_is_kernel_map(map->filename))
        return KIND_KERNEL;
    if (map->kernel)
        return KIND_KERNEL_MODULE;
    if (is_anonymous(map))
        return is_executable(map) ? KIND_PERF_MAP : KIND_NONE;
    if (pf_starts_with(map->filename, "[vdso"))
        return KIND_VDSO;
    return map->filename[0] == '/' ? KIND_ELF : KIND_NONE;
}

/* The name that perf shows. */
static const char *shown_name(struct pf_symbols *symbols, const struct perfile_map *map, const char *map_name,
                              enum module_kind kind)
{
    char text[64];
    if (kind == KIND_PERF_MAP) {
        snprintf(text, sizeof(text), "/tmp/perf-%d.map", (int)map->pid);
        return pf_arena_text(&symbols->arena, text, strlen(text));
    }
    if (kind == KIND_VDSO32)
        return "[vdso32]";
    if (kind == KIND_KERNEL)
        return pf_kernel_name(map_name);
    return map_name;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] && name[0] != '[' ? slash + 1 : name;
}

/* How much of the name of a file is the module's: all before ".ko", ".ko.gz" ...; 0: the file is none. */
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

/* perf's: of code made at run time and of the kernel's it is no path. */
static const char *short_name(struct pf_symbols *symbols, const struct perfile_map *map, const struct module *module)
{
    char text[64];
    const char *last = last_part(module->public.name);
    const size_t part = module->kind == KIND_KERNEL_MODULE ? module_part(last) : 0;
    if (part)
        return bracketed(symbols, last, part);
    if (module->kind == KIND_KERNEL && symbols->recorded_ids.kernel_is_vmlinux &&
        !pf_starts_with(map->filename, "[guest"))
        return "[kernel.vmlinux]";
    if (module->kind != KIND_PERF_MAP)
        return last;
    snprintf(text, sizeof(text), "[JIT] tid %d", (int)map->pid);
    return pf_arena_text(&symbols->arena, text, strlen(text));
}

static bool add_module(struct pf_symbols *symbols, const struct perfile_map *map, enum module_kind kind, uint64_t hash)
{
    struct module *module =
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
    module->reference = map->pgoff;
    module->public.name = shown_name(symbols, map, module->map_name, module->kind);
    module->public.kernel = map->kernel;
    module->public.jit = module->kind == KIND_PERF_MAP || module->kind == KIND_JIT;
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

static bool is_module_of(const struct module *module, const struct perfile_map *map, enum module_kind kind)
{
    if (strcmp(module->map_name, map->filename) != 0 || module->kind != kind || module->code != map->code)
        return false;
    return map->build_id_bytes == 0 || (map->build_id_bytes == module->build_id_bytes &&
                                        memcmp(map->build_id, module->build_id, map->build_id_bytes) == 0);
}

/* Which of them a vdso is depends on what was mapped when it was asked for first. */
static bool may_be_vdso32(const struct perfile_map *map)
{
    return map->filename[0] == '[' && map->start <= UINT32_MAX && kind_of(map) == KIND_VDSO;
}

static struct known_map *known_at(const struct pf_symbols *symbols, const struct perfile_map *map)
{
    return &symbols->known_maps[map->id & ((1u << KNOWN_MAP_BITS) - 1)];
}

/* True and the number of the module of the map, when it is remembered. */
static bool knows_module_of(const struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number)
{
    uint64_t vdso;
    if (PF_UNLIKELY(!symbols->known_maps))
        return false;
    const struct known_map *known = known_at(symbols, map);
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
        symbols->known_maps = pf_new(symbols->allocator, sizeof(*symbols->known_maps) << KNOWN_MAP_BITS);
    if (!symbols->known_maps || (may_be_vdso32(map) && !pf_map_put(&symbols->vdsos, map->id, number)))
        return false;
    *known_at(symbols, map) = (struct known_map){map->id, number + 1};
    return true;
}

/* The number of a module that there is; UINT32_MAX: there is none. */
static uint32_t find_module(const struct pf_symbols *symbols, const struct perfile_map *map, enum module_kind kind,
                            uint64_t hash)
{
    uint64_t number;
    if (!pf_map_get(&symbols->by_key, hash, &number))
        return UINT32_MAX;
    for (;;) {
        const struct module *module = module_at(symbols, number);
        if (PF_LIKELY(is_module_of(module, map, kind)))
            return (uint32_t)number;
        if (!module->same_hash)
            return UINT32_MAX;
        number = module->same_hash - 1;
    }
}

static uint64_t hash_of(const struct perfile_map *map, enum module_kind kind)
{
    uint64_t hash = pf_hash_bytes(pf_hash_text(map->filename), map->build_id, map->build_id_bytes);
    hash = pf_hash_bytes(hash, kind == KIND_VDSO32 ? "32" : "", kind == KIND_VDSO32 ? 2 : 0);
    if (kind == KIND_PERF_MAP)
        hash = pf_hash_bytes(hash, &map->pid, sizeof(map->pid));
    return pf_hash_bytes(hash, &map->code, sizeof(map->code));
}

/* True and the number of the module of the map, when it is known without what was asked for before. */
static bool has_module_of(const struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number)
{
    if (knows_module_of(symbols, map, number))
        return true;
    if (may_be_vdso32(map))
        return false;
    const enum module_kind kind = kind_of(map);
    *number = find_module(symbols, map, kind, hash_of(map, kind));
    return *number != UINT32_MAX;
}

/* The number of the module, which is of that kind when it is a new one; UINT32_MAX when out of memory. */
static uint32_t module_of_kind(struct pf_symbols *symbols, const struct perfile_map *map, enum module_kind kind)
{
    uint32_t number;
    if (knows_module_of(symbols, map, &number))
        return number;
    const uint64_t hash = hash_of(map, kind);
    number = find_module(symbols, map, kind, hash);
    if (number == UINT32_MAX && add_module(symbols, map, kind, hash))
        number = (uint32_t)(symbols->count - 1);
    return number != UINT32_MAX && remember_module_of(symbols, map, number) ? number : UINT32_MAX;
}

static uint32_t module_of(struct pf_symbols *symbols, const struct perfile_map *map)
{
    uint32_t number;
    if (PF_LIKELY(knows_module_of(symbols, map, &number)))
        return number;
    return module_of_kind(symbols, map, kind_of(map));
}

static bool is_vdso(const struct module *module)
{
    return module->kind == KIND_VDSO || module->kind == KIND_VDSO32;
}

/* ---- loading ---- */

static char *read_text(const struct pf_symbols *symbols, const char *path, size_t *bytes)
{
    char *text = pf_read_text(symbols->allocator, path, bytes);
    if (!text)
        (void)pf_memory_note_failure(symbols->allocator);
    return text;
}

static void free_text(const struct pf_symbols *symbols, char *text, size_t bytes)
{
    pf_free(symbols->allocator, text, bytes + 1);
}

/* The build id in the notes of the kernel that runs here equals that of the recording's kernel. */
static bool kernel_runs_here(const struct pf_symbols *symbols, const struct module *kernel)
{
    size_t bytes = 0;
    if (!kernel->build_id_bytes)
        return false;
    char *notes = read_text(symbols, "/sys/kernel/notes", &bytes);
    bool found = notes && memmem(notes, bytes, kernel->build_id, kernel->build_id_bytes);
    free_text(symbols, notes, bytes);
    return found;
}

static bool is_elf(const struct pf_symbols *symbols, const char *path)
{
    uint8_t id[20];
    return pf_memory_check(symbols->allocator, pf_elf_build_id(symbols->allocator, path, id)) >= 0;
}

/* The symbol that the kernel's mapping names, "[kernel.kallsyms]_text", or NULL. */
static const char *reference_of(const struct module *kernel)
{
    const char *name = strchr(kernel->map_name, ']');
    return name && name[1] && kernel->reference ? name + 1 : NULL;
}

static const char *hex_of(struct pf_symbols *symbols, const uint8_t *id, size_t bytes);

/* The kernel that runs here is the recording's. */
static const char *report_running_kernel(struct pf_symbols *symbols, const struct module *kernel)
{
    static const char path[] = "/proc/kallsyms";
    size_t bytes = kernel->build_id_bytes;
    while (bytes && !kernel->build_id[bytes - 1])
        bytes--;
    const struct perfile_used_file file = {.kind = "kallsyms",
                                           .name = "[kernel.kallsyms]",
                                           .path = path,
                                           .build_id = hex_of(symbols, kernel->build_id, bytes)};
    if (symbols->find.used)
        symbols->find.used(symbols->find.used_context, &file);
    return path;
}

/* What stands for the kernel: `*elf` is an ELF file or NULL, and the text of kallsyms is read when there is any. */
static void find_kernel(struct pf_symbols *symbols, const struct module *kernel, const char **elf)
{
    struct pf_found found = {0};
    struct pf_find_options find = symbols->find;
    const char *text = find.kallsyms;
    *elf = NULL;
    if (find.vmlinux && !is_elf(symbols, find.vmlinux))
        find.vmlinux = NULL;
    find.reference = reference_of(kernel);
    find.reference_address = kernel->reference;
    if (!text && pf_find_binary(&find, "[kernel.kallsyms]", kernel->build_id, kernel->build_id_bytes, &found) == 0 &&
        found.path) {
        char *path = pf_arena_text(&symbols->arena, found.path, strlen(found.path));
        if (path && is_elf(symbols, path))
            *elf = path;
        else
            text = path;
    }
    /* never this machine's symbols for another machine's addresses */
    if (!text && !*elf && pf_find_is_local(&find) &&
        (kernel->build_id_bytes ? kernel_runs_here(symbols, kernel) : find.same_machine))
        text = report_running_kernel(symbols, kernel);
    if (text && !symbols->kallsyms_path)
        symbols->kallsyms_path = pf_arena_text(&symbols->arena, text, strlen(text));
    if (symbols->kallsyms_path && !symbols->kallsyms_complete) {
        free_text(symbols, symbols->kallsyms, symbols->kallsyms_bytes);
        symbols->kallsyms = read_text(symbols, symbols->kallsyms_path, &symbols->kallsyms_bytes);
        symbols->kallsyms_complete = symbols->kallsyms;
        if (!symbols->kallsyms)
            symbols->kallsyms_path = NULL;
    }
    pf_found_close(&found);
}

/* The mapping of the kernel names a symbol and its run-time address: the table may have it elsewhere. */
static void relocate(const struct pf_symbols *symbols, struct module *module)
{
    const char *name = reference_of(module);
    uint64_t address;
    if (!name)
        return;
    bool known =
        module->public.path
            ? pf_memory_check(symbols->allocator,
                              pf_elf_symbol_address(symbols->allocator, module->public.path, name, &address)) == 0
            : pf_kallsyms_address(symbols->kallsyms, symbols->kallsyms_bytes, name, &address);
    if (known)
        module->relocation = module->reference - address;
}

/* Ids may be padded with zeros to 20 bytes. */
static bool same_build_id(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    while (a_bytes && !a[a_bytes - 1])
        a_bytes--;
    while (b_bytes && !b[b_bytes - 1])
        b_bytes--;
    return a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0;
}

/* The kernel's own symbols are in its table now. A kernel of a guest would need them again, and read them again. */
static void drop_kernel_lines(struct pf_symbols *symbols)
{
    if (!symbols->kallsyms)
        return;
    const size_t before = symbols->kallsyms_bytes, kept = pf_kallsyms_keep_modules(symbols->kallsyms, before);
    char *smaller = pf_resize(symbols->allocator, symbols->kallsyms, before + 1, kept + 1);
    if (!smaller) { /* it is out of memory then, and the rest does not matter */
        free_text(symbols, symbols->kallsyms, before);
        symbols->kallsyms_bytes = 0;
    } else {
        symbols->kallsyms_bytes = kept;
    }
    symbols->kallsyms = smaller;
    symbols->kallsyms_complete = false;
}

static const char *hex_of(struct pf_symbols *symbols, const uint8_t *id, size_t bytes)
{
    char hex[2 * 20];
    const char *end = pf_hex_bytes(hex, id, pf_min(bytes, (size_t)20));
    const char *text = pf_arena_text(&symbols->arena, hex, (size_t)(end - hex));
    return text ? text : "";
}

static void report_of_another(struct pf_symbols *symbols, struct module *module, const struct pf_found *found)
{
    module->public.build_id_differs = found->build_id_differs;
    if (found->build_id_differs)
        module->public.other_build_id =
            pf_arena_text(&symbols->arena, found->other_build_id, strlen(found->other_build_id));
}

/* The kernel that the user named; false: it is none, or not the recording's. */
static bool load_vmlinux(struct pf_symbols *symbols, struct module *module)
{
    const char *elf = symbols->find.vmlinux, *wrong = NULL;
    uint8_t id[20];
    struct perfile_error error;
    if (!elf)
        return false;
    const int bytes = pf_memory_check(symbols->allocator, pf_elf_build_id(symbols->allocator, elf, id));
    if (bytes < 0) {
        wrong = "not an ELF file";
    } else if (bytes && module->build_id_bytes &&
               !same_build_id(id, (size_t)bytes, module->build_id, module->build_id_bytes)) {
        module->public.build_id_differs = true;
        module->public.other_build_id = hex_of(symbols, id, (size_t)bytes);
        wrong = "it is another kernel than the recording's";
    } else if (pf_symbol_table_from_elf(elf, NULL, symbols->allocator, &module->table, &error) < 0) {
        wrong = error.message;
    }
    if (wrong)
        pf_find_note(&symbols->find, "%s is not used: %s", elf, wrong);
    else
        module->public.path = elf;
    return !wrong;
}

static void take_kallsyms(const struct pf_symbols *symbols, struct module *module, const char *name)
{
    const struct pf_kallsyms from = {symbols->kallsyms, symbols->kallsyms_bytes, name, symbols->wants_data};
    (void)pf_symbol_table_from_kallsyms(&from, symbols->allocator, &module->table, NULL);
}

static void load_kernel(struct pf_symbols *symbols, struct module *module)
{
    const char *elf = NULL;
    const bool done = load_vmlinux(symbols, module);
    if (!done)
        find_kernel(symbols, module, &elf);
    symbols->kernel_tried = true;
    if (elf && pf_symbol_table_from_elf(elf, NULL, symbols->allocator, &module->table, NULL) == 0)
        module->public.path = elf;
    else if (!done && symbols->kallsyms)
        take_kallsyms(symbols, module, NULL);
    if (!done && symbols->find.kallsyms && !(module->table && module->table->count))
        pf_find_note(&symbols->find, "%s is not used: it has no symbols with addresses", symbols->find.kallsyms);
    if (module->table)
        relocate(symbols, module);
    drop_kernel_lines(symbols);
}

static void load_module_file(struct pf_symbols *symbols, struct module *module)
{
    struct pf_found found = {0};
    struct pf_symbol_table *table;
    if (pf_find_kernel_module(&symbols->find, module->map_name, module->build_id, module->build_id_bytes, &found) < 0)
        return;
    if (found.path && pf_symbol_table_from_elf(found.path, NULL, symbols->allocator, &table, NULL) == 0) {
        module->table = table;
        module->public.path = pf_arena_text(&symbols->arena, found.path, strlen(found.path));
        module->is_relative = true;
    }
    report_of_another(symbols, module, &found);
    pf_found_close(&found);
}

/* The kernel's module, or one that is made of what the recording says of the kernel. */
static const struct module *kernel_of(const struct pf_symbols *symbols, struct module *made)
{
    static const char name[] = "[kernel.kallsyms]";
    for (size_t i = 0; i < symbols->count; i++)
        if (module_at(symbols, i)->kind == KIND_KERNEL)
            return module_at(symbols, i);
    *made = (struct module){.map_name = name};
    const struct pf_named_id *id = pf_named_ids_find_text(&symbols->recorded_ids, name);
    if (id) {
        made->build_id_bytes = id->count;
        memcpy(made->build_id, id->bytes, sizeof(made->build_id));
    }
    return made;
}

/* The text knows the module where it was recorded: in another boot it lay elsewhere. */
static bool lies_in_map(const struct module *module)
{
    const struct pf_symbol_table *table = module->table;
    return table && table->count && table->symbols[0].start >= module->map_start &&
           table->symbols[0].start < module->map_end;
}

/* As perf: from the text that the kernel's own symbols come from, else from the module's file. */
static void load_kernel_module(struct pf_symbols *symbols, struct module *module)
{
    struct module made;
    char name[128];
    const char *elf;
    if (!symbols->kallsyms && !symbols->kernel_tried)
        find_kernel(symbols, kernel_of(symbols, &made), &elf);
    symbols->kernel_tried = true;
    pf_kernel_module_name(name, sizeof(name), module->map_name);
    if (symbols->kallsyms)
        take_kallsyms(symbols, module, name);
    if (lies_in_map(module))
        return;
    pf_symbol_table_close(module->table);
    module->table = NULL;
    load_module_file(symbols, module);
}

static void load_elf(struct pf_symbols *symbols, struct module *module)
{
    struct pf_found found = {0};
    const char *name = module->kind == KIND_VDSO32 ? module->public.name : module->map_name;
    if (pf_find_binary(&symbols->find, name, module->build_id, module->build_id_bytes, &found) < 0)
        return;
    if (found.path)
        module->binary = pf_arena_text(&symbols->arena, found.path, strlen(found.path));
    if (found.debug_path)
        module->debug = pf_arena_text(&symbols->arena, found.debug_path, strlen(found.debug_path));
    if (found.alternate_path)
        module->alternate = pf_arena_text(&symbols->arena, found.alternate_path, strlen(found.alternate_path));
    const char *path = module->binary ? module->binary : module->debug;
    if (path && (pf_symbol_table_from_elf(path, module->debug, symbols->allocator, &module->table, NULL) == 0 ||
                 pf_symbol_table_from_elf(path, NULL, symbols->allocator, &module->table, NULL) == 0))
        module->public.path = path;
    report_of_another(symbols, module, &found);
    pf_found_close(&found);
}

static void load_perf_map(struct pf_symbols *symbols, struct module *module)
{
    char *path;
    size_t bytes = 0;
    if (pf_find_perf_map(&symbols->find, module->pid, &path) < 0)
        return;
    char *text = path ? read_text(symbols, path, &bytes) : NULL;
    if (text && pf_symbol_table_from_perf_map(text, bytes, symbols->allocator, &module->table, NULL) == 0)
        module->public.path = pf_arena_text(&symbols->arena, path, strlen(path));
    free_text(symbols, text, bytes);
    pf_text_free(symbols->allocator, path);
}

/* No name alone, and no file without its symbols, is better than what the recorder knew. */
static bool has_better_table(const struct module *module)
{
    const bool kernel = module->kind == KIND_KERNEL || module->kind == KIND_KERNEL_MODULE;
    return module->table && (kernel || (module->build_id_bytes && module->table->has_symtab));
}

static void use_embedded(const struct pf_symbols *symbols, struct module *module)
{
    char perf_map[32];
    snprintf(perf_map, sizeof(perf_map), "perf-%d.map", (int)module->pid);
    const char *name = module->kind == KIND_KERNEL ? module->public.name : module->map_name;
    const struct pf_embedded_file *file = pf_embedded_find(&symbols->embedded, name);
    if (!file && module->kind == KIND_PERF_MAP)
        file = pf_embedded_find(&symbols->embedded, perf_map);
    if (!file || has_better_table(module))
        return;
    pf_symbol_table_close(module->table);
    module->table = file->table;
    module->embedded = file;
}

static void load(struct pf_symbols *symbols, struct module *module)
{
    static void (*const loaders[])(struct pf_symbols *, struct module *) = {
        [KIND_ELF] = load_elf,
        [KIND_VDSO] = load_elf,
        [KIND_VDSO32] = load_elf,
        [KIND_KERNEL] = load_kernel,
        [KIND_KERNEL_MODULE] = load_kernel_module,
        [KIND_PERF_MAP] = load_perf_map,
        [KIND_SYMBOL] = NULL,
        [KIND_JIT] = NULL,
    };
    module->public.looked_for = true;
    if (loaders[module->kind])
        loaders[module->kind](symbols, module);
    use_embedded(symbols, module);
    module->public.build_id = hex_of(symbols, module->build_id, module->build_id_bytes);
    module->public.table = module->table;
}

/* ---- binaries that are open ---- */

static struct pf_insn_machine machine_of(int file)
{
    uint8_t header[EI_NIDENT + 4];
    if (pread(file, header, sizeof(header), 0) != (ssize_t)sizeof(header) || memcmp(header, ELFMAG, SELFMAG) != 0)
        return (struct pf_insn_machine){0};
    const bool is_big_endian = header[EI_DATA] == ELFDATA2MSB;
    return (struct pf_insn_machine){.elf_machine =
                                        pf_load16(header + EI_NIDENT + 2, is_big_endian != PF_NATIVE_BIG_ENDIAN),
                                    .is_64 = header[EI_CLASS] == ELFCLASS64,
                                    .is_big_endian = is_big_endian};
}

/* One file is open at a time: neighbouring addresses tend to be of one module. */
static bool open_code(struct pf_symbols *symbols, uint32_t number)
{
    if (symbols->code_module == number + 1)
        return symbols->code_file >= 0;
    close_code(symbols);
    const char *path = module_at(symbols, number)->binary;
    symbols->code_module = number + 1;
    symbols->code_file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (symbols->code_file >= 0)
        symbols->code_machine = machine_of(symbols->code_file);
    return symbols->code_file >= 0;
}

/* ---- addresses ---- */

/* The address in the terms of the module's table. */
static bool table_address(const struct module *module, const struct perfile_map *map, uint64_t ip, uint64_t *address)
{
    if (module->embedded) {
        *address = pf_embedded_address(module->embedded, map, ip);
        return true;
    }
    if (module->is_relative) {
        *address = ip - map->start + map->pgoff;
        return true;
    }
    if (module->kind == KIND_KERNEL || module->kind == KIND_KERNEL_MODULE || module->kind == KIND_PERF_MAP) {
        *address = ip - module->relocation;
        return true;
    }
    uint64_t offset = ip - map->start + (is_vdso(module) ? 0 : map->pgoff);
    return pf_symbol_table_address(module->table, offset, address);
}

/* Where the symbol that a piece belongs to began: the entry before that has its name and is no piece. */
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
static uint32_t symbol_at(struct pf_symbols *symbols, const struct pf_symbol_table *table, uint32_t module,
                          uint64_t address)
{
    struct recent lone = {0};
    const uint64_t hash = (address ^ (uint64_t)module << 48) * 0x9e3779b97f4a7c15ull;
    struct recent *recent = symbols->recent ? &symbols->recent[hash >> (64 - RECENT_BITS)] : &lone;
    if (recent->module == module + 1 && recent->address == address)
        return recent->symbol;
    const struct pf_symbol *symbol = complete_symbol(table, pf_symbol_table_find(table, address));
    *recent = (struct recent){.address = address,
                              .module = module + 1,
                              .symbol = symbol ? (uint32_t)(symbol - table->symbols) : PF_NO_SYMBOL};
    return recent->symbol;
}

/* The mapping may be longer than the code, and lie elsewhere than where it was made. */
static void locate_code(const struct pf_symbols *symbols, struct module *module, const struct perfile_map *map,
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

/* NULL when out of memory. */
static struct module *loaded_module_of(struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number)
{
    *number = module_of(symbols, map);
    if (*number == UINT32_MAX)
        return NULL;
    struct module *module = module_at(symbols, *number);
    if (PF_UNLIKELY(!module->public.looked_for))
        load(symbols, module);
    return module;
}

bool pf_symbols_locate(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip,
                       struct pf_location *location)
{
    *location = (struct pf_location){
        .module = PF_NO_SYMBOL, .symbol = PF_NO_SYMBOL, .offset = ip, .in_module = ip, .table_address = ip};
    if (!map)
        return true;
    uint32_t number;
    struct module *module = loaded_module_of(symbols, map, &number);
    if (!module)
        return false;
    location->module = number;
    location->offset = module->kind == KIND_ELF ? ip - map->start + map->pgoff : is_vdso(module) ? ip - map->start : ip;
    location->in_module = location->table_address = location->offset;
    module->public.addresses++;
    if (module->kind == KIND_SYMBOL) {
        location->symbol = 0;
        location->offset = ip - map->start;
        module->public.resolved++;
        return true;
    }
    if (module->kind == KIND_JIT) {
        locate_code(symbols, module, map, ip, location);
        return true;
    }
    uint64_t address;
    if (!module->table || !table_address(module, map, ip, &address))
        return true;
    location->address = module->kind == KIND_ELF || is_vdso(module) ? address : 0;
    location->table_address = address;
    location->symbol = symbol_at(symbols, module->table, number, address);
    if (location->symbol != PF_NO_SYMBOL) {
        location->offset = address - module->table->symbols[location->symbol].start;
        module->public.resolved++;
    }
    return true;
}

/*
 * The vdso of a 32-bit program, of whatever machine: it lies below 4 GiB, and as perf wants it, the first binary below it
 * that is available has 32 bits.
 */
static bool is_vdso32(struct pf_symbols *symbols, const struct perfile_space *space, const struct perfile_map *vdso)
{
    enum { TRIES_MAX = 64 };
    const struct perfile_map *map = vdso;
    if (kind_of(vdso) != KIND_VDSO || vdso->start > UINT32_MAX)
        return false;
    for (int tries = 0; tries < TRIES_MAX && map->start; tries++) {
        map = perfile_space_below(space, map->start - 1);
        const uint32_t number = map && kind_of(map) == KIND_ELF ? module_of(symbols, map) : UINT32_MAX;
        if (!map)
            return false;
        if (number == UINT32_MAX)
            continue;
        if (!module_at(symbols, number)->public.looked_for)
            load(symbols, module_at(symbols, number));
        if (open_code(symbols, number) && symbols->code_machine.elf_machine)
            return !symbols->code_machine.is_64;
    }
    return false;
}

const struct perfile_map *pf_symbols_map(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    const struct perfile_map *map = perfile_space_find(space, ip);
    struct pf_location location;
    uint32_t known;
    if (map && map->filename[0] == '[' && !knows_module_of(symbols, map, &known) && is_vdso32(symbols, space, map))
        (void)module_of_kind(symbols, map, KIND_VDSO32);
    if (map)
        return map;
    map = perfile_space_below(space, ip);
    if (!map || !map->kernel || kind_of(map) != KIND_KERNEL || !pf_symbols_locate(symbols, map, ip, &location))
        return NULL;
    return location.symbol != PF_NO_SYMBOL ? map : NULL;
}

/* Of others no address is known that debug info could tell of. */
static bool has_inlines(const struct module *module)
{
    return module->table && (module->kind == KIND_ELF || is_vdso(module));
}

bool pf_symbols_is_settled(const struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip, bool lines)
{
    const struct perfile_map *map = perfile_space_find(space, ip);
    if (!map)
        map = perfile_space_below(space, ip);
    if (!map || (ip >= map->end && (!map->kernel || kind_of(map) != KIND_KERNEL)))
        return true; /* nothing is mapped, as pf_symbols_map has it */
    uint32_t number;
    if (!has_module_of(symbols, map, &number))
        return false;
    const struct module *module = module_at(symbols, number);
    return module->public.looked_for && (!lines || !has_inlines(module) || module->inlines_tried);
}

/* ---- unwinding ---- */

struct unwinder {
    struct pf_symbols *symbols;
    const struct pf_unwinding *how;
};

static struct pf_cfi *cfi_of(struct pf_symbols *symbols, struct module *module)
{
    if (!module->cfi_tried && module->binary) {
        module->cfi_tried = true;
        if (pf_cfi_open(module->binary, module->debug, symbols->allocator, &module->cfi, NULL) < 0)
            module->cfi = NULL;
    }
    return module->cfi;
}

static bool location_of(void *context, uint64_t ip, struct pf_unwind_location *location)
{
    struct unwinder *u = context;
    const struct perfile_map *map = pf_symbols_map(u->symbols, u->how->space, ip);
    uint32_t number;
    *location = (struct pf_unwind_location){.executable = map && is_executable(map)};
    struct module *module = map ? loaded_module_of(u->symbols, map, &number) : NULL;
    if (!module)
        return map && !u->how->only_known;
    location->cfi = cfi_of(u->symbols, module);
    if (location->cfi && (!module->table || !table_address(module, map, ip, &location->elf_address)))
        location->elf_address = 0;
    return location->cfi || !u->how->only_known;
}

int pf_symbols_unwind(struct pf_symbols *symbols, const struct perfile_sample *sample, const struct pf_unwinding *how,
                      struct pf_unwound *unwound)
{
    const uint64_t dumped = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    struct unwinder u = {symbols, how};
    struct pf_unwind_location location;
    unwound->count = 0;
    unwound->guessed = false;
    if ((sample->present & dumped) != dumped || !sample->stack_user.bytes || !how->arch)
        return PF_UNWIND_DONE;
    int end = pf_unwind_sample(sample, how->arch, location_of, &u, unwound);
    if (end < 0)
        unwound->count = 0;
    if (unwound->count && how->only_known &&
        (!sample->stack_user.used || !location_of(&u, unwound->addresses[0], &location)))
        unwound->count = 0;
    for (size_t i = 1; i < unwound->count; i++)
        unwound->addresses[i]--;
    return end;
}

enum pf_return_at pf_symbols_return_at(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    const struct pf_unwinding how = {.space = space, .only_known = true};
    struct unwinder u = {symbols, &how};
    struct pf_unwind_location location;
    return location_of(&u, ip, &location) && location.cfi ? pf_unwind_return_at(location.cfi, location.elf_address)
                                                          : PF_RETURN_UNKNOWN;
}

/* ---- inlined functions ---- */

static void open_inlines(struct pf_symbols *symbols, struct module *module)
{
    enum { CACHE_BYTES_MAX = 1 << 30 };
    const char *path = module->debug ? module->debug : module->binary;
    struct pf_inlines_key key;
    if (!path)
        return;
    if (!symbols->cache_tried) {
        symbols->cache_tried = true;
        errno = 0;
        symbols->cache = pf_cache_directory(symbols->allocator);
        if (!symbols->cache)
            (void)pf_memory_note_failure(symbols->allocator);
    }
    const bool kept = symbols->cache && pf_inlines_key_of(symbols->allocator, path, module->alternate, &key);
    if (kept && pf_inlines_load(symbols->cache, &key, symbols->allocator, &module->inlines, NULL) == 0)
        return;
    if (pf_inlines_open(path, module->alternate, symbols->allocator, &module->inlines, NULL) == 0 && kept &&
        pf_inlines_are_of(module->inlines, &key))
        (void)pf_inlines_save(module->inlines, symbols->cache, &key, CACHE_BYTES_MAX, NULL);
}

/* NULL: there are none. */
static const struct pf_inlines *inlines_at(struct pf_symbols *symbols, const struct pf_location *location)
{
    if (location->module >= symbols->count || !location->address)
        return NULL;
    struct module *module = module_at(symbols, location->module);
    if (!module->inlines_tried) {
        module->inlines_tried = true;
        open_inlines(symbols, module);
    }
    return module->inlines;
}

bool pf_symbols_may_inline(const struct pf_symbols *symbols, uint32_t number)
{
    const struct module *module = number < symbols->count ? module_at(symbols, number) : NULL;
    if (!module || !module->public.looked_for)
        return true;
    return has_inlines(module) && (!module->inlines_tried || module->inlines);
}

size_t pf_symbols_inlines(struct pf_symbols *symbols, const struct pf_location *location,
                          struct pf_source_frame *frames, size_t capacity)
{
    const struct module *module =
        location->module < symbols->count && location->address ? module_at(symbols, location->module) : NULL;
    if (module && module->kind == KIND_JIT)
        return capacity && pf_jit_line(symbols->jit, module->code, location->address, &frames[0]);
    const struct pf_inlines *inlines = inlines_at(symbols, location);
    return inlines ? pf_min(pf_inlines_find(inlines, location->address, frames, capacity), capacity) : 0;
}

size_t pf_symbols_inlined(struct pf_symbols *symbols, const struct pf_location *location,
                          struct pf_source_frame *frames, size_t capacity)
{
    const struct pf_inlines *inlines = inlines_at(symbols, location); /* jitdump files know of none */
    return inlines && pf_inlines_any(inlines, location->address)
               ? pf_min(pf_inlines_find(inlines, location->address, frames, capacity), capacity)
               : 0;
}

/* ---- machine code ---- */

size_t pf_symbols_code(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip, uint8_t *code,
                       size_t capacity, struct pf_insn_machine *machine)
{
    const uint32_t number = map ? module_of(symbols, map) : UINT32_MAX;
    *machine = (struct pf_insn_machine){0};
    if (number == UINT32_MAX)
        return 0;
    struct module *module = module_at(symbols, number);
    if (!module->public.looked_for)
        load(symbols, module);
    const uint64_t offset = ip - map->start + (is_vdso(module) ? 0 : map->pgoff);
    if ((module->kind != KIND_ELF && !is_vdso(module)) || offset > INT64_MAX || !open_code(symbols, number))
        return 0;
    *machine = symbols->code_machine;
    ssize_t got;
    do
        got = pread(symbols->code_file, code, capacity, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

/* What lies beside the text of kallsyms: /proc/kcore, or the copy that perf made of it. NULL: out of memory. */
static const char *kcore_path(struct pf_symbols *symbols)
{
    static const char name[] = "kcore";
    const char *slash = strrchr(symbols->kallsyms_path, '/');
    const size_t folder = slash ? (size_t)(slash - symbols->kallsyms_path) + 1 : 0;
    char *path = pf_arena_new(&symbols->arena, folder + sizeof(name));
    if (path) {
        memcpy(path, symbols->kallsyms_path, folder);
        memcpy(path + folder, name, sizeof(name));
    }
    return path;
}

static bool is_kernel(const struct module *module)
{
    return module->kind == KIND_KERNEL || module->kind == KIND_KERNEL_MODULE;
}

bool pf_symbols_code_file(struct pf_symbols *symbols, uint32_t number, struct pf_code_file *file)
{
    const struct module *module = module_at(symbols, number);
    *file = (struct pf_code_file){0};
    if (!module || module->embedded)
        return false;
    if (module->kind == KIND_JIT) {
        *file = (struct pf_code_file){
            .path = pf_jit_path(symbols->jit, module->code), .jit = symbols->jit, .code = module->code};
    } else if (is_kernel(module) && module->table && !module->public.path && symbols->kallsyms_path) {
        file->path = kcore_path(symbols);
    } else {
        file->path = is_kernel(module) ? module->public.path : module->binary;
    }
    return file->path;
}

const char *pf_symbols_fetch_source(struct pf_symbols *symbols, uint32_t number, const char *name)
{
    const struct module *module = module_at(symbols, number);
    if (!symbols->find.debuginfod || !module || !module->build_id_bytes || name[0] != '/')
        return NULL;
    const struct pf_debuginfod_question question = {.build_id = module->build_id,
                                                    .build_id_bytes = module->build_id_bytes,
                                                    .source = name,
                                                    .limit_ms = PF_DEBUGINFOD_FILE_SECONDS * 1000,
                                                    .allocator = symbols->allocator};
    char *path = pf_debuginfod_find(symbols->find.debuginfod, &question);
    if (!path && symbols->find.debuginfod->last_error == ENOMEM)
        pf_memory_note_short(symbols->allocator);
    const char *kept = path ? pf_arena_text(&symbols->arena, path, strlen(path)) : NULL;
    pf_text_free(symbols->allocator, path);
    return kept;
}

const struct perfile_allocator *pf_symbols_allocator(const struct pf_symbols *symbols)
{
    return symbols->allocator;
}

/* The end of the last piece that goes on behind symbols within this one. */
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
    const struct module *module = module_at(symbols, number);
    const struct pf_jit_code *code =
        module && module->kind == KIND_JIT ? pf_jit_code(symbols->jit, module->code) : NULL;
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
    const struct module *module = module_at(symbols, number);
    return module && module->table && symbol < module->table->count &&
           module->table->symbols[symbol].flags & PF_SYMBOL_THUMB;
}

const char *pf_symbols_raw_name(const struct pf_symbols *symbols, uint32_t number, uint32_t symbol)
{
    const struct module *module = module_at(symbols, number);
    if (!module || symbol == PF_NO_SYMBOL)
        return NULL;
    if (module->kind == KIND_SYMBOL)
        return module->map_name;
    if (module->kind == KIND_JIT)
        return pf_jit_code(symbols->jit, module->code)->name;
    return pf_symbol_name(module->table, &module->table->symbols[symbol]);
}

uint32_t pf_symbols_at(struct pf_symbols *symbols, uint32_t number, uint64_t address, uint64_t *offset)
{
    const struct module *module = module_at(symbols, number);
    uint64_t start, end;
    *offset = 0;
    uint32_t symbol = module && module->kind == KIND_JIT ? 0 : PF_NO_SYMBOL;
    if (module && module->table)
        symbol = symbol_at(symbols, module->table, number, address);
    if (symbol == PF_NO_SYMBOL || !pf_symbols_range(symbols, number, symbol, &start, &end) || address < start ||
        address >= end)
        return PF_NO_SYMBOL;
    *offset = address - start;
    return symbol;
}

enum pf_missing pf_module_missing_kind(const struct pf_module *module)
{
    if (module->table && !module->jit)
        return PF_MISSING_NAMES;
    if (module->kernel || pf_starts_with(module->name, "[vdso"))
        return PF_MISSING_KERNEL;
    if (module->jit || module->name[0] != '/') /* "[anon:code]" */
        return PF_MISSING_JIT;
    return module->build_id_differs ? PF_MISSING_BUILD : PF_MISSING_FILE;
}

size_t pf_symbols_module_count(const struct pf_symbols *symbols)
{
    return symbols->count;
}

size_t pf_symbols_build_id(const struct pf_symbols *symbols, uint32_t number, const uint8_t **build_id)
{
    const struct module *module = module_at(symbols, number);
    *build_id = module->build_id;
    return module->build_id_bytes;
}

const struct pf_module *pf_symbols_module(const struct pf_symbols *symbols, uint32_t module)
{
    const struct module *known = module_at(symbols, module); /* not `count`, which may be growing */
    return known && known->public.name ? &known->public : NULL;
}

/* Once. */
static void report_mangled(struct pf_symbols *symbols, const char *raw)
{
    if (symbols->reported_mangled || !pf_demangle_needs_library(raw))
        return;
    symbols->reported_mangled = true;
    pf_find_note(&symbols->find, "names of C++ stay mangled (%.40s): libstdc++.so.6 cannot be loaded", raw);
}

static const char *code_name(struct pf_symbols *symbols, struct module *module)
{
    const char *raw = pf_jit_code(symbols->jit, module->code)->name;
    char *readable = module->code_name ? NULL : pf_demangle(symbols->allocator, raw);
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
    char *readable = pf_demangle(symbols->allocator, raw);
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

const char *pf_symbols_name(struct pf_symbols *symbols, uint32_t number, uint32_t symbol)
{
    if (number >= symbols->count || symbol == PF_NO_SYMBOL)
        return NULL;
    struct module *module = module_at(symbols, number);
    if (module->kind == KIND_SYMBOL)
        return module->map_name;
    if (module->kind == KIND_JIT)
        return code_name(symbols, module);
    const char *raw = pf_symbol_name(module->table, &module->table->symbols[symbol]);
    if (raw[0] != '_' && raw[0] != '.' && raw[0] != 'L')
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
