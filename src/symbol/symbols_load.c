/* SPDX-License-Identifier: MIT */
/* Loading the symbols of a module from the file of its kind, and binaries that are open for their code. */
#include "symbol/symbols_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/elf_names.h"
#include "base/text.h"
#include "platform/platform.h"
#include "symbol/machine.h"

/* When the file of the recording was last written, in seconds since 1970; false: it is not a file. */
static bool recording_time(const struct pf_symbols *symbols, int64_t *seconds)
{
    struct stat about;
    if (!symbols->find.recording || stat(symbols->find.recording, &about) < 0 || !S_ISREG(about.st_mode))
        return false;
    *seconds = about.st_mtime;
    return true;
}

/* When the process of the module executed its program: 1, 0 where that is not known, or MEMORY. */
static int execution_time(const struct pf_symbols *symbols, const struct pf_module_data *module, int64_t *seconds)
{
    struct pf_machine_moment executed = {.time_ns = module->executed};
    executed.has_recorded = recording_time(symbols, &executed.recorded_s);
    return module->executed ? pf_machine_when(pf_find_root(&symbols->find), &executed, symbols->allocator, seconds) : 0;
}

/* What a file is that has the path of a mapped one. */
enum replacement { NOT_REPLACED, MAYBE_REPLACED, REPLACED };

static bool is_at_recorded_path(const struct pf_symbols *symbols, const char *path, const char *recorded)
{
    char own[PATH_MAX];
    return snprintf(own, sizeof(own), "%s%s", pf_find_root(&symbols->find), recorded) < (int)sizeof(own) &&
           strcmp(path, own) == 0;
}

/*
 * A program that is replaced while it runs, or after it ran, has another inode than the one that was mapped. On another
 * device inodes mean nothing: an overlay. Some file systems give a file another inode each time: there it is older than
 * what mapped it. A build id that agrees proves that the file is right where it was put there after the recording;
 * recorders that read build ids at their end record that of the new file otherwise.
 */
static enum replacement find_replacement(const struct pf_symbols *symbols, const struct pf_module_data *module)
{
    struct stat about;
    int64_t executed = 0, recorded = 0;
    if (!module->inode || !module->binary || !symbols->find.same_machine ||
        !is_at_recorded_path(symbols, module->binary, module->map_name) || stat(module->binary, &about) < 0 ||
        about.st_ino == module->inode || major(about.st_dev) != module->device_major ||
        minor(about.st_dev) != module->device_minor)
        return NOT_REPLACED;
    if (recording_time(symbols, &recorded) && about.st_ctime > recorded)
        return module->build_id_bytes ? NOT_REPLACED : REPLACED;
    const int known = pf_memory_check(symbols->allocator, execution_time(symbols, module, &executed));
    return known <= 0 ? MAYBE_REPLACED : about.st_ctime < executed ? NOT_REPLACED : REPLACED;
}

/* Discards a file that is not the one that was mapped: a wrong name is worse than none. */
static void leave_replaced(struct pf_symbols *symbols, struct pf_module_data *module)
{
    static const char *const texts[] = {
        [MAYBE_REPLACED] =
            "%s is not the file that was mapped, but one that replaced it: if it is another build, its names are wrong",
        [REPLACED] = "%s is not used: it is not the file that was mapped, but one that replaced it",
    };
    const enum replacement replacement = find_replacement(symbols, module);
    if (texts[replacement])
        pf_find_note(&symbols->find, texts[replacement], module->public.name);
    if (replacement == REPLACED) {
        module->binary = module->debug = module->alternate = NULL;
        module->public.build_id_differs = true;
    }
}

static const char *keep_path(struct pf_symbols *symbols, const char *path)
{
    return path ? pf_arena_text(&symbols->arena, path, strlen(path)) : NULL;
}

/* All that unwinding needs of an open file: the process that maps it, and with it its path, may end at any time. */
static void load_open(struct pf_symbols *symbols, struct pf_module_data *module, int file)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    if (pf_segment_table_from_elf(path, symbols->allocator, &module->table, NULL) == 0)
        module->public.path = module->binary;
    pf_module_load_cfi(symbols, module, path);
}

/* Of the file that a running process maps: what unwinding needs. */
static void load_mapped(struct pf_symbols *symbols, struct pf_module_data *module)
{
    struct perfile_map map = {.filename = module->map_name,
                              .pid = module->pid,
                              .start = module->map_start,
                              .end = module->map_end,
                              .build_id_bytes = module->build_id_bytes};
    struct pf_found mapped = {0}, found = {0};
    memcpy(map.build_id, module->build_id, sizeof(map.build_id));
    if (pf_find_mapped(&symbols->find, &map, &mapped) < 0 ||
        pf_find_binary(&symbols->find, module->map_name, module->build_id, module->build_id_bytes, &found) < 0)
        return;
    const int file = mapped.path ? open(mapped.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    module->binary = keep_path(symbols, file >= 0 ? mapped.path : found.path);
    module->debug = keep_path(symbols, found.debug_path);
    const char *path = module->binary ? module->binary : module->debug;
    if (file >= 0 && module->binary)
        load_open(symbols, module, file);
    else if (path && pf_segment_table_from_elf(path, symbols->allocator, &module->table, NULL) == 0)
        module->public.path = path;
    if (file >= 0)
        close(file);
    pf_found_close(&mapped);
    pf_found_close(&found);
}

/* That of this process: the kernel gives all of one kind the same. NULL: there is none. */
static const char *find_own_vdso(struct pf_symbols *symbols)
{
    char path[PF_PLATFORM_MEMORY_PATH_BYTES];
    if (symbols->vdso_file < 0)
        symbols->vdso_file = pf_machine_vdso();
    if (symbols->vdso_file < 0)
        return NULL;
    pf_platform_memory_path(symbols->vdso_file, path);
    return keep_path(symbols, path);
}

static void load_mapped_vdso(struct pf_symbols *symbols, struct pf_module_data *module)
{
    module->binary = find_own_vdso(symbols);
    if (module->binary)
        (void)pf_segment_table_from_elf(module->binary, symbols->allocator, &module->table, NULL);
}

/* A recorded build id decides; else it is part of the kernel. */
static bool is_own_vdso(const struct pf_symbols *symbols, const struct pf_module_data *module, const char *path)
{
    uint8_t id[20];
    if (!module->build_id_bytes)
        return pf_symbols_kernel_runs_here(symbols);
    const int bytes = pf_memory_check(symbols->allocator, pf_elf_build_id(symbols->allocator, path, id, NULL));
    return bytes > 0 && pf_build_id_is_same(id, (size_t)bytes, module->build_id, module->build_id_bytes);
}

/* What no file has, the kernel that runs here may still have. Processes of 32 bits have another one. */
static const char *find_running_vdso(struct pf_symbols *symbols, const struct pf_module_data *module)
{
    if (module->kind != PF_MODULE_VDSO || module->map_start <= UINT32_MAX || *pf_find_root(&symbols->find))
        return NULL;
    const char *path = find_own_vdso(symbols);
    return path && is_own_vdso(symbols, module, path) ? path : NULL;
}

static void load_elf(struct pf_symbols *symbols, struct pf_module_data *module)
{
    struct pf_found found = {0};
    const char *name = module->kind == PF_MODULE_VDSO32 ? module->public.name : module->map_name;
    if (pf_find_binary(&symbols->find, name, module->build_id, module->build_id_bytes, &found) < 0)
        return;
    module->binary = keep_path(symbols, found.path);
    module->debug = keep_path(symbols, found.debug_path);
    module->alternate = keep_path(symbols, found.alternate_path);
    pf_module_note_other_build(symbols, module, &found);
    leave_replaced(symbols, module);
    if (!module->binary && !module->debug)
        module->binary = find_running_vdso(symbols, module);
    const char *path = module->binary ? module->binary : module->debug;
    if (symbols->find.no_names && module->kind == PF_MODULE_ELF)
        (void)(path && pf_segment_table_from_elf(path, symbols->allocator, &module->table, NULL) == 0);
    else if (path && (pf_symbol_table_from_elf(path, module->debug, symbols->allocator, &module->table, NULL) == 0 ||
                      pf_symbol_table_from_elf(path, NULL, symbols->allocator, &module->table, NULL) == 0 ||
                      pf_symbol_table_from_pe(path, symbols->allocator, &module->table, NULL) == 0))
        module->public.path = path;
    pf_found_close(&found);
}

/*
 * Maps stay in /tmp, and the numbers of processes come again. Only where the process executed its program within the
 * recording the time decides: others may have written their maps long before.
 */
static bool is_stale_map(struct pf_symbols *symbols, const struct pf_module_data *module, const char *path)
{
    struct stat about;
    int64_t executed = 0;
    if (!is_at_recorded_path(symbols, path, module->public.name) || stat(path, &about) < 0 ||
        pf_memory_check(symbols->allocator, execution_time(symbols, module, &executed)) <= 0 ||
        about.st_mtime >= executed)
        return false;
    pf_find_note(&symbols->find, "%s is not used: it was written before process %d executed its program", path,
                 (int)module->pid);
    return true;
}

static void load_perf_map(struct pf_symbols *symbols, struct pf_module_data *module)
{
    char *path;
    size_t bytes = 0;
    if (pf_find_perf_map(&symbols->find, module->pid, &path) < 0)
        return;
    char *text = path && !is_stale_map(symbols, module, path) ? pf_symbols_read_text(symbols, path, &bytes) : NULL;
    if (text && pf_symbol_table_from_perf_map(text, bytes, symbols->allocator, &module->table, NULL) == 0)
        module->public.path = pf_arena_text(&symbols->arena, path, strlen(path));
    pf_symbols_free_text(symbols, text, bytes);
    pf_text_free(symbols->allocator, path);
}

/* No name alone, and no file without its symbols, is better than what the recorder knew. */
static bool has_better_table(const struct pf_module_data *module)
{
    const bool kernel = module->kind == PF_MODULE_KERNEL || module->kind == PF_MODULE_KERNEL_MODULE;
    return module->table && (kernel || (module->build_id_bytes && module->table->has_symtab));
}

static void use_embedded(const struct pf_symbols *symbols, struct pf_module_data *module)
{
    char perf_map[32];
    snprintf(perf_map, sizeof(perf_map), "perf-%d.map", (int)module->pid);
    const char *name = module->kind == PF_MODULE_KERNEL ? module->public.name : module->map_name;
    const struct pf_embedded_file *file = pf_embedded_find(&symbols->embedded, name);
    if (!file && module->kind == PF_MODULE_PERF_MAP)
        file = pf_embedded_find(&symbols->embedded, perf_map);
    if (!file || has_better_table(module))
        return;
    pf_symbol_table_close(module->table);
    module->table = file->table;
    module->embedded = file;
}

void pf_module_load(struct pf_symbols *symbols, struct pf_module_data *module)
{
    static void (*const loaders[])(struct pf_symbols *, struct pf_module_data *) = {
        [PF_MODULE_ELF] = load_elf,
        [PF_MODULE_VDSO] = load_elf,
        [PF_MODULE_VDSO32] = load_elf,
        [PF_MODULE_KERNEL] = pf_module_load_kernel,
        [PF_MODULE_KERNEL_MODULE] = pf_module_load_kernel_module,
        [PF_MODULE_PERF_MAP] = load_perf_map,
        [PF_MODULE_SYMBOL] = NULL,
        [PF_MODULE_JIT] = NULL,
    };
    module->public.looked_for = true;
    if (!symbols->find.host) /* in a stream they come after its start */
        pf_find_read_names(&symbols->find, symbols->reader);
    if (symbols->find.live && module->kind == PF_MODULE_ELF)
        load_mapped(symbols, module);
    else if (symbols->find.live && module->kind == PF_MODULE_VDSO)
        load_mapped_vdso(symbols, module);
    else if (loaders[module->kind] && !symbols->find.live)
        loaders[module->kind](symbols, module);
    use_embedded(symbols, module);
    module->public.build_id = pf_symbols_hex(symbols, module->build_id, module->build_id_bytes);
    module->public.table = pf_symbols_are_wanted(symbols, module) ? module->table : NULL;
}

/* NULL when out of memory. */
struct pf_module_data *pf_symbols_loaded(struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number)
{
    *number = pf_symbols_module_of(symbols, map);
    if (*number == UINT32_MAX)
        return NULL;
    struct pf_module_data *module = pf_module_at(symbols, *number);
    if (PF_UNLIKELY(!module->public.looked_for)) {
        pf_module_load(symbols, module);
    } else if (symbols->find.live && PF_UNLIKELY(!module->binary) && module->pid != map->pid) {
        module->pid = map->pid; /* the process before had ended, this one may be there still */
        module->map_start = map->start;
        module->map_end = map->end;
        pf_module_load(symbols, module);
    }
    return module;
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

void pf_symbols_close_code(struct pf_symbols *symbols)
{
    if (symbols->code_module && symbols->code_file >= 0)
        close(symbols->code_file);
    symbols->code_module = 0;
}

/* One file is open at a time: neighbouring addresses tend to be of one module. */
bool pf_symbols_open_code(struct pf_symbols *symbols, uint32_t number)
{
    if (symbols->code_module == number + 1)
        return symbols->code_file >= 0;
    pf_symbols_close_code(symbols);
    const char *path = pf_module_at(symbols, number)->binary;
    symbols->code_module = number + 1;
    symbols->code_file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (symbols->code_file >= 0)
        symbols->code_machine = machine_of(symbols->code_file);
    return symbols->code_file >= 0;
}
