/* SPDX-License-Identifier: MIT */
/* Loading the symbols of the kernel and of its modules. */
#include "symbol/symbols_parts.h"

#include <sys/stat.h>

#include "base/bytes.h"
#include "base/text.h"
#include "symbol/machine.h"

char *pf_symbols_read_text(const struct pf_symbols *symbols, const char *path, size_t *bytes)
{
    char *text = pf_read_text(symbols->allocator, path, bytes);
    if (!text)
        (void)pf_memory_note_failure(symbols->allocator);
    return text;
}

void pf_symbols_free_text(const struct pf_symbols *symbols, char *text, size_t bytes)
{
    pf_free(symbols->allocator, text, bytes + 1);
}

static bool is_elf(const struct pf_symbols *symbols, const char *path)
{
    uint8_t id[20];
    return pf_memory_check(symbols->allocator, pf_elf_build_id(symbols->allocator, path, id, NULL)) >= 0;
}

/* The symbol that the kernel's mapping names, "[kernel.kallsyms]_text", or NULL. */
static const char *reference_of(const struct pf_module_data *kernel)
{
    const char *name = strchr(kernel->map_name, ']');
    return name && name[1] && kernel->reference ? name + 1 : NULL;
}

static bool is_guest(const struct pf_module_data *kernel)
{
    return pf_starts_with(kernel->map_name, "[guest");
}

/* The time of the last record of a file; 0: it has none. */
static uint64_t last_time_of(const char *path)
{
    struct perfile_reader *reader;
    const struct perfile_record *record;
    uint64_t last = 0;
    if (perfile_open_path(path, NULL, &reader, NULL) < 0)
        return 0;
    while (perfile_reader_next(reader, &record, NULL) > 0)
        if (record->time != UINT64_MAX && !record->damaged)
            last = pf_max(last, record->time);
    perfile_close(reader);
    return last;
}

/*
 * The text of the kernel that runs here, if the recording of a recorder that was killed shows that it belongs to this
 * boot.
 */
static const char *find_running_kernel(struct pf_symbols *symbols, const struct pf_module_data *kernel)
{
    const struct pf_find_options *find = &symbols->find;
    struct pf_recorded_kernel recorded = {.reference = reference_of(kernel), .reference_address = kernel->reference};
    struct stat about;
    if (kernel->build_id_bytes || is_guest(kernel) || find->host || find->release || !recorded.reference ||
        !pf_find_is_local(find) || !find->recording || stat(find->recording, &about) < 0 || !S_ISREG(about.st_mode))
        return NULL;
    recorded.last_time_ns = last_time_of(find->recording);
    recorded.written_s = about.st_mtime;
    const char *root = pf_find_root(find);
    if (pf_memory_check(symbols->allocator, pf_machine_runs_kernel(root, &recorded, symbols->allocator)) <= 0)
        return NULL;
    pf_find_note(find,
                 "names of the kernel are those of the one that runs here: it has %s where the recording has it, and "
                 "its file was written in this boot",
                 recorded.reference);
    char *path = pf_arena_new(&symbols->arena, strlen(root) + sizeof(PF_MACHINE_KALLSYMS));
    if (path)
        memcpy(stpcpy(path, root), PF_MACHINE_KALLSYMS, sizeof(PF_MACHINE_KALLSYMS));
    return path;
}

/* What stands for the kernel: `*elf` is an ELF file or NULL, and the text of kallsyms is read when there is any. */
static void find_kernel(struct pf_symbols *symbols, const struct pf_module_data *kernel, const char **elf)
{
    struct pf_found found = {0};
    struct pf_find_options find = symbols->find;
    const char *text = find.kallsyms;
    *elf = NULL;
    if (find.vmlinux && !is_elf(symbols, find.vmlinux))
        find.vmlinux = NULL;
    find.reference = reference_of(kernel);
    find.reference_address = kernel->reference;
    if (is_guest(kernel)) /* the names are those of its host */
        find.host = find.release = NULL;
    if (!text && pf_find_binary(&find, "[kernel.kallsyms]", kernel->build_id, kernel->build_id_bytes, &found) == 0 &&
        found.path) {
        char *path = pf_arena_text(&symbols->arena, found.path, strlen(found.path));
        if (path && is_elf(symbols, path))
            *elf = path;
        else
            text = path;
    } else if (!text) {
        text = find_running_kernel(symbols, kernel);
    }
    if (text && !symbols->kallsyms_path)
        symbols->kallsyms_path = pf_arena_text(&symbols->arena, text, strlen(text));
    if (symbols->kallsyms_path && !symbols->kallsyms_complete) {
        pf_symbols_free_text(symbols, symbols->kallsyms, symbols->kallsyms_bytes);
        symbols->kallsyms = pf_symbols_read_text(symbols, symbols->kallsyms_path, &symbols->kallsyms_bytes);
        symbols->kallsyms_complete = symbols->kallsyms;
        if (!symbols->kallsyms)
            symbols->kallsyms_path = NULL;
    }
    pf_found_close(&found);
}

/* The mapping of the kernel names a symbol and its run-time address: the table may have it elsewhere. */
static void relocate(const struct pf_symbols *symbols, struct pf_module_data *module)
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

/* The kernel's own symbols are in its table now. A kernel of a guest would need them again, and read them again. */
static void drop_kernel_lines(struct pf_symbols *symbols)
{
    if (!symbols->kallsyms)
        return;
    const size_t before = symbols->kallsyms_bytes, kept = pf_kallsyms_keep_modules(symbols->kallsyms, before);
    char *smaller = pf_resize(symbols->allocator, symbols->kallsyms, before + 1, kept + 1);
    if (!smaller) { /* it is out of memory then, and the rest does not matter */
        pf_symbols_free_text(symbols, symbols->kallsyms, before);
        symbols->kallsyms_bytes = 0;
    } else {
        symbols->kallsyms_bytes = kept;
    }
    symbols->kallsyms = smaller;
    symbols->kallsyms_complete = false;
}

const char *pf_symbols_hex(struct pf_symbols *symbols, const uint8_t *id, size_t bytes)
{
    char hex[2 * 20];
    const char *end = pf_hex_bytes(hex, id, pf_min(bytes, (size_t)20));
    const char *text = pf_arena_text(&symbols->arena, hex, (size_t)(end - hex));
    return text ? text : "";
}

void pf_module_note_other_build(struct pf_symbols *symbols, struct pf_module_data *module, const struct pf_found *found)
{
    module->public.build_id_differs = found->build_id_differs;
    if (found->build_id_differs)
        module->public.other_build_id =
            pf_arena_text(&symbols->arena, found->other_build_id, strlen(found->other_build_id));
}

/* Loads the kernel that the user named; false: it is not a kernel, or not the recording's. */
static bool load_vmlinux(struct pf_symbols *symbols, struct pf_module_data *module)
{
    const char *elf = symbols->find.vmlinux, *wrong = NULL;
    uint8_t id[20];
    struct perfile_error error;
    if (!elf)
        return false;
    const int bytes = pf_memory_check(symbols->allocator, pf_elf_build_id(symbols->allocator, elf, id, NULL));
    if (bytes < 0) {
        wrong = "not an ELF file";
    } else if (bytes && module->build_id_bytes &&
               !pf_build_id_is_same(id, (size_t)bytes, module->build_id, module->build_id_bytes)) {
        module->public.build_id_differs = true;
        module->public.other_build_id = pf_symbols_hex(symbols, id, (size_t)bytes);
        wrong = "it belongs to a different kernel";
    } else if (pf_symbol_table_from_elf(elf, NULL, symbols->allocator, &module->table, &error) < 0) {
        wrong = error.message;
    }
    if (wrong)
        pf_find_note(&symbols->find, "%s is not used: %s", elf, wrong);
    else
        module->public.path = elf;
    return !wrong;
}

static void take_kallsyms(const struct pf_symbols *symbols, struct pf_module_data *module, const char *name)
{
    const struct pf_kallsyms from = {symbols->kallsyms, symbols->kallsyms_bytes, name, symbols->wants_data};
    (void)pf_symbol_table_from_kallsyms(&from, symbols->allocator, &module->table, NULL);
}

void pf_module_load_kernel(struct pf_symbols *symbols, struct pf_module_data *module)
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

static void load_module_file(struct pf_symbols *symbols, struct pf_module_data *module)
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
    pf_module_note_other_build(symbols, module, &found);
    pf_found_close(&found);
}

/* The kernel's module, or one that is made of what the recording says of the kernel. */
static const struct pf_module_data *kernel_of(const struct pf_symbols *symbols, struct pf_module_data *made)
{
    static const char name[] = "[kernel.kallsyms]";
    for (size_t i = 0; i < symbols->count; i++)
        if (pf_module_at(symbols, i)->kind == PF_MODULE_KERNEL)
            return pf_module_at(symbols, i);
    *made = (struct pf_module_data){.map_name = name};
    const struct pf_named_id *id = pf_named_ids_find_text(&symbols->recorded_ids, name);
    if (id) {
        made->build_id_bytes = id->count;
        memcpy(made->build_id, id->bytes, sizeof(made->build_id));
    }
    return made;
}

bool pf_symbols_kernel_runs_here(const struct pf_symbols *symbols)
{
    const struct pf_find_options *find = &symbols->find;
    struct pf_module_data made;
    const struct pf_module_data *kernel = kernel_of(symbols, &made);
    const struct pf_recorded_kernel recorded = {.build_id = kernel->build_id,
                                                .build_id_bytes = kernel->build_id_bytes,
                                                .host = find->host,
                                                .release = find->release,
                                                .reference = reference_of(kernel),
                                                .reference_address = kernel->reference};
    const bool may_run = find->host && find->release && !is_guest(kernel) && !*pf_find_root(find);
    return may_run &&
           pf_memory_check(symbols->allocator, pf_machine_runs_kernel("", &recorded, symbols->allocator)) > 0;
}

/* The text knows the module where it was recorded: in another boot it lay elsewhere. */
static bool lies_in_map(const struct pf_module_data *module)
{
    const struct pf_symbol_table *table = module->table;
    return table && table->count && table->symbols[0].start >= module->map_start &&
           table->symbols[0].start < module->map_end;
}

/* As perf: from the text that the kernel's own symbols come from, else from the module's file. */
void pf_module_load_kernel_module(struct pf_symbols *symbols, struct pf_module_data *module)
{
    struct pf_module_data made;
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
