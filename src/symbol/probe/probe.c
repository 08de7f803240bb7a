/* SPDX-License-Identifier: MIT */
/* The files that probes are put into, and the public functions. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_names.h"
#include "base/error.h"
#include "base/locale.h"
#include "base/sized.h"
#include "symbol/dwarf/names.h"
#include "symbol/machine.h"
#include "symbol/probe/probe_parts.h"
#include "symbol/table_elf.h"

/* ---- messages and memory ----------------------------------------------------------------------------------------- */

static const char what[] = "probe";

const char *pf_probe_text(struct pf_probe_target *target, const char *format, ...)
{
    char *text;
    const char *kept = NULL;
    va_list arguments;
    va_start(arguments, format);
    text = pf_text_format_list(target->allocator, format, arguments);
    va_end(arguments);
    if (text)
        kept = pf_arena_text(&target->arena, text, strlen(text));
    pf_text_free(target->allocator, text);
    return kept;
}

void pf_probe_note(struct pf_probe_target *target, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    if (target->options->note)
        target->options->note(target->options->note_context, sentence);
}

int pf_probe_fail(struct pf_probe_target *target, int code, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return pf_fail(target->error, code, PERFILE_NO_OFFSET, what, "%s", text);
}

int pf_probe_no_memory(struct pf_probe_target *target)
{
    return pf_fail_memory(target->error, what);
}

bool pf_probe_grow(struct pf_probe_target *target, void *items, size_t *capacity, size_t count, size_t bytes)
{
    void *old, *grown;
    memcpy(&old, items, sizeof(old));
    if (count <= *capacity)
        return true;
    grown = pf_arena_new(&target->arena, 2 * count * bytes);
    if (!grown)
        return false;
    if (*capacity)
        memcpy(grown, old, *capacity * bytes);
    memcpy(items, &grown, sizeof(grown));
    *capacity = 2 * count;
    return true;
}

bool pf_probe_has_debug(const struct pf_probe_target *target)
{
    return target->units;
}

int pf_probe_no_debug(struct pf_probe_target *target)
{
    return pf_probe_fail(target, PERFILE_ERROR_ABSENT,
                         "%.200s has no debug info, which lines and variables need: build it with -g, or install its "
                         "debug package",
                         target->path ? target->path : "the kernel");
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* The debug info of the file itself, or of the one that was found for it. */
static int open_debug(struct pf_probe_target *target, const struct pf_find_options *find)
{
    uint8_t id[20];
    const size_t bytes = pf_elf_note_build_id(&target->elf, id);
    int result = pf_find_binary(find, target->path, id, bytes, &target->found);
    const char *paths[] = {target->path, target->found.debug_path};
    const struct pf_debug_opening opening = {.allocator = target->allocator, .with_variables = true};
    for (size_t i = 0; result == 0 && i < PF_COUNT(paths) && paths[i] && !target->units; i++) {
        const struct pf_debug *debug = &target->debug.file.debug;
        pf_debug_module_close(&target->debug);
        if (pf_debug_module_open(&target->debug, paths[i], target->found.alternate_path, &opening, NULL) == 0 &&
            debug->sections[PF_DEBUG_INFO].bytes)
            target->units = pf_arena_new(&target->arena, (debug->info_count + 1) * sizeof(*target->units));
    }
    return result;
}

/* What hostile files may cost. */
static void set_limits(struct pf_probe_target *target)
{
    const struct pf_debug *debug = &target->debug.file.debug;
    target->steps = 256 * (target->debug.file.elf.identity.bytes + debug->sections[PF_DEBUG_INFO].bytes) + (4 << 20);
    target->reader.allocator = target->allocator;
    target->reader.steps = debug->sections[PF_DEBUG_LINE].bytes;
    if (debug->alternate)
        target->reader.steps += debug->alternate->sections[PF_DEBUG_LINE].bytes;
}

/* A program, a library, or the kernel as an ELF file. */
static int open_elf(struct pf_probe_target *target, const struct pf_find_options *find)
{
    int result = pf_elf_open(&target->elf, target->path, target->allocator, target->error);
    if (result == PERFILE_ERROR_FORMAT)
        return pf_probe_fail(target, result, "%.200s is not a program or library (ELF)", target->path);
    if (result < 0)
        return result;
    target->has_elf = true;
    result = open_debug(target, find);
    if (result < 0)
        return pf_probe_no_memory(target);
    set_limits(target);
    return pf_symbol_table_from_elf(target->path, target->found.debug_path, target->allocator, &target->table,
                                    target->error);
}

static int open_kallsyms(struct pf_probe_target *target, const char *path)
{
    struct pf_kallsyms from = {.module = target->options->module};
    char *text = pf_read_text(target->allocator, path, &from.bytes);
    if (!text)
        return pf_probe_fail(target, errno == ENOMEM ? PERFILE_ERROR_MEMORY : PERFILE_ERROR_OPEN,
                             "%.200s cannot be read: %s", path, pf_error_text(errno));
    from.text = text;
    if (!pf_kallsyms_address(text, from.bytes, "_text", &target->text))
        target->text = 0;
    const int result = pf_symbol_table_from_kallsyms(&from, target->allocator, &target->table, target->error);
    pf_free(target->allocator, text, from.bytes + 1);
    return result;
}

static int open_kernel(struct pf_probe_target *target, const struct pf_find_options *find)
{
    char kallsyms[512];
    if (find->vmlinux && !target->options->module)
        target->path = find->vmlinux;
    if (!target->path) {
        snprintf(kallsyms, sizeof(kallsyms), "%s" PF_MACHINE_KALLSYMS, pf_find_root(find));
        return open_kallsyms(target, find->kallsyms ? find->kallsyms : kallsyms);
    }
    int result = open_elf(target, find);
    if (result == 0 && pf_elf_symbol_address(target->allocator, target->path, "_text", &target->text) < 0)
        target->text = 0;
    return result;
}

static void close_target(struct pf_probe_target *target)
{
    pf_cfi_close(target->frames);
    pf_probe_close_lines(target);
    pf_debug_module_close(&target->debug);
    pf_symbol_table_close(target->table);
    if (target->has_elf)
        pf_elf_close(&target->elf);
    pf_found_close(&target->found);
    pf_text_close(&target->text_out);
    pf_arena_close(&target->arena);
}

static int open_and_run(struct pf_probe_target *target, int (*run)(void *context, struct pf_probe_target *target),
                        void *context)
{
    struct pf_find_options find = pf_find_options_of(target->options->symbols, target->allocator);
    int result = target->path ? open_elf(target, &find) : open_kernel(target, &find);
    if (result == 0)
        result = run(context, target);
    /* What seemed to be absent was perhaps only not read. */
    return result != PERFILE_ERROR_STOPPED && pf_memory_was_short(target->allocator) ? pf_probe_no_memory(target)
                                                                                     : result;
}

int pf_probe_with_target(const struct perfile_probe_options *options,
                         int (*run)(void *context, struct pf_probe_target *target), void *context,
                         struct perfile_error *error)
{
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    struct perfile_probe_options all = {0};
    struct pf_watch watch;
    int result = pf_sized_take(&all, sizeof(all), options, "probe options", error);
    if (result == 0)
        result = pf_sized_take(&symbols, sizeof(symbols), all.symbols, "symbol options", error);
    if (result < 0)
        return result;
    all.symbols = &symbols;
    pf_watch_open(&watch, all.allocator);
    struct pf_probe_target target = {
        .options = &all,
        .allocator = &watch.allocator,
        .error = error,
        .path = all.file,
    };
    pf_map_open(&target.table_numbers, target.allocator);
    pf_arena_open(&target.arena, target.allocator);
    result = pf_text_open(&target.text_out, target.allocator, NULL, NULL) < 0 ? pf_probe_no_memory(&target)
                                                                              : open_and_run(&target, run, context);
    close_target(&target);
    return result;
}

/*
 * ---- addresses and symbols ----------------------------------------------------------------------------------------
 */

bool pf_probe_file_offset(const struct pf_probe_target *target, uint64_t address, uint64_t *offset)
{
    const struct pf_symbol_table *table = target->table;
    for (size_t i = 0; i < table->segment_count; i++) {
        const struct pf_segment *segment = &table->segments[i];
        if (address >= segment->address && address - segment->address < segment->bytes) {
            *offset = address - segment->address + segment->offset;
            return true;
        }
    }
    return false;
}

/* "deep+87": the symbol at the address, and what follows it. NULL: out of memory. */
static const char *symbol_text(struct pf_probe_target *target, uint64_t address)
{
    const struct pf_symbol *symbol = target->table ? pf_symbol_table_find(target->table, address) : NULL;
    if (!symbol)
        return pf_probe_text(target, "0x%" PRIx64, address);
    return pf_probe_text(target, "%s+%" PRIu64, pf_symbol_name(target->table, symbol), address - symbol->start);
}

/*
 * ---- definitions ---------------------------------------------------------------------------------------------------
 */

struct defining {
    struct pf_probe_target *target;
    const char *text;
    struct pf_probe_definition definition;
    int (*take)(void *context, const struct perfile_probe *probe);
    void *context;
    uint64_t count;
};

/* Letters, digits and _ from the start of the file's name. */
static const char *group_of(struct defining *d)
{
    const struct pf_probe_point *point = &d->definition.point;
    if (point->group)
        return point->group;
    if (!d->target->options->file)
        return "probe";
    const char *slash = strrchr(d->target->path, '/'), *name = slash ? slash + 1 : d->target->path;
    int bytes = 0;
    while (pf_probe_is_name_character(name[bytes]))
        bytes++;
    return pf_probe_text(d->target, "probe_%.*s", bytes, name);
}

/* What kernels accept as a name: up to the suffix of a compiler, such as .isra.0. */
static const char *event_name(struct defining *d, const char *base, const char *suffix)
{
    char name[64];
    size_t used = 0;
    for (; base[used] && used < 48; used++)
        name[used] = pf_probe_is_name_character(base[used]) ? base[used] : '_';
    const char *dot = strpbrk(base, ".@");
    if (dot && dot != base && (size_t)(dot - base) < used)
        used = (size_t)(dot - base);
    name[used] = '\0';
    return pf_probe_text(d->target, "%s%s%s", *name >= '0' && *name <= '9' ? "_" : "", name, suffix);
}

/* `name`: the function that is there. */
static const char *event_of(struct defining *d, const char *name)
{
    const struct pf_probe_point *point = &d->definition.point;
    const char *suffix = point->is_return ? "__return" : "";
    if (point->event)
        return point->event;
    if (point->has_address)
        return pf_probe_text(d->target, "abs_%" PRIx64, point->address);
    if (point->function && point->has_line && point->line)
        suffix = pf_probe_text(d->target, "_L%" PRId64, point->line);
    if (point->function && !strpbrk(point->function, "*?["))
        name = point->function;
    return suffix ? event_name(d, name, suffix) : NULL;
}

/*
 * The address as it is written for the kernel; "": it is not in the file. It may also be given as an offset in the
 * file, as in perf.
 */
static const char *target_text(struct defining *d, uint64_t address, const char *symbol, uint64_t start)
{
    struct pf_probe_target *target = d->target;
    const char *module = target->options->module;
    uint64_t offset = address, at;
    if (target->options->file && !pf_probe_file_offset(target, address, &offset) &&
        !(d->definition.point.has_address && pf_symbol_table_address(target->table, offset, &at)))
        return "";
    if (target->options->file)
        return pf_probe_text(target, "%s:0x%" PRIx64, target->options->file, offset);
    if (module || !target->text || d->definition.point.is_return || address < target->text)
        return pf_probe_text(target, "%s%s%s+%" PRIu64, module ? module : "", module ? ":" : "", symbol,
                             address - start);
    return pf_probe_text(target, "_text+%" PRIu64, address - target->text);
}

/* The arguments are in target->text_out. */
static int deliver(struct defining *d, const char *name, const char *site)
{
    const struct pf_probe_definition *definition = &d->definition;
    pf_put_char(&d->target->text_out, '\0');
    const struct perfile_probe probe = {
        .size = sizeof(probe),
        .group = group_of(d),
        .event = event_of(d, name),
        .point = definition->point.text,
        .target = pf_probe_text(d->target, "%s%s", site, d->target->text_out.data),
        .arguments = definition->argument_text,
        .is_return = definition->point.is_return,
        .is_kernel = !d->target->options->file,
    };
    if (pf_memory_was_short(d->target->allocator))
        return pf_probe_no_memory(d->target);
    if (!*site)
        return pf_probe_fail(d->target, PERFILE_ERROR_ABSENT, "the address of %.200s is not in %.200s",
                             definition->point.text, d->target->path);
    d->count++;
    return d->take(d->context, &probe) ? PERFILE_ERROR_STOPPED : 0;
}

static int take_site(void *context, struct pf_probe_site *site)
{
    struct defining *d = context;
    const struct pf_symbol *symbol = pf_symbol_table_find(d->target->table, site->address);
    const char *name = pf_die_text(&site->scope, DW_AT_name);
    d->target->text_out.used = 0;
    const int result = pf_probe_put_arguments(d->target, &d->definition, site, &d->target->text_out);
    if (result < 0)
        return result;
    return deliver(d, name ? name : "unnamed",
                   target_text(d, site->address, symbol ? pf_symbol_name(d->target->table, symbol) : "",
                               symbol ? symbol->start : 0));
}

/* The debug info may know the function at the address under another name: malloc of glibc as __libc_malloc. */
static bool take_as_site(struct defining *d, uint64_t address, int *result)
{
    struct pf_probe_site site = {.address = address};
    if (!d->definition.argument_count || !pf_probe_has_debug(d->target) ||
        !pf_probe_unit_at(d->target, address, &site.unit, &site.function))
        return false;
    site.scope = site.function;
    *result = take_site(d, &site);
    return true;
}

/* Without debug info, and for names that are only in the symbol table. */
static int take_address(struct defining *d, const char *name, uint64_t start, uint64_t bytes)
{
    const struct pf_probe_point *point = &d->definition.point;
    int result;
    if (point->offset && point->offset >= bytes)
        return pf_probe_fail(d->target, PERFILE_ERROR_ARGUMENT, "%.200s: the function has %" PRIu64 " bytes",
                             point->text, bytes);
    if (take_as_site(d, start + point->offset, &result))
        return result;
    d->target->text_out.used = 0;
    result = pf_probe_put_plain_arguments(d->target, &d->definition, &d->target->text_out);
    return result < 0 ? result : deliver(d, name, target_text(d, start + point->offset, name, start));
}

bool pf_probe_is_code(const struct pf_probe_target *target, uint64_t address)
{
    for (size_t i = 0; i < target->elf.section_count; i++) {
        const struct pf_elf_section *section = &target->elf.sections[i];
        if (section->header.sh_flags & SHF_EXECINSTR && address >= section->address &&
            address - section->address < section->header.sh_size)
            return true;
    }
    return false;
}

/* Not a variable, and not what the linker made; of the kernel, symbols are functions anyway. */
static bool is_function(const struct pf_probe_target *target, const struct pf_symbol *symbol)
{
    if (symbol->flags & PF_SYMBOL_PIECE || *pf_symbol_name(target->table, symbol) == '.')
        return false;
    return !target->has_elf || pf_probe_is_code(target, symbol->start);
}

static int take_from_table(struct defining *d)
{
    const struct pf_symbol_table *table = d->target->table;
    int result = 0;
    for (size_t i = 0; i < table->count && result == 0; i++) {
        const struct pf_symbol *symbol = &table->symbols[i];
        const char *name = pf_symbol_name(table, symbol);
        if (!(symbol->flags & PF_SYMBOL_PLT) && is_function(d->target, symbol) &&
            pf_glob_matches(d->definition.point.function, name, false))
            result = take_address(d, name, symbol->start, symbol->end - symbol->start);
    }
    return result;
}

/* Of several versions of a symbol, programs that are linked now get the one that is not hidden. */
static bool is_hidden(const struct pf_elf *elf, size_t index)
{
    const struct pf_elf_section *versions = pf_elf_section(elf, ".gnu.version");
    enum { HIDDEN = 0x8000 };
    size_t bytes = 0;
    const uint8_t *data = versions ? pf_elf_bytes(elf, versions, &bytes) : NULL;
    return index < bytes / 2 && pf_load16(data + 2 * index, elf->swap) & HIDDEN;
}

/* The function of exactly that name in one section of symbols. */
static bool find_in_section(const struct pf_elf *elf, const struct pf_elf_section *section, const char *wanted,
                            struct pf_elf_symbol *symbol)
{
    struct pf_elf_symbols symbols;
    if (!pf_elf_symbols_open(&symbols, elf, section))
        return false;
    for (size_t i = 0; i < symbols.count; i++) {
        const char *name;
        *symbol = pf_elf_symbol_at(&symbols, i);
        if (symbol->st_shndx != SHN_UNDEF && (symbol->st_type == STT_FUNC || symbol->st_type == STT_GNU_IFUNC) &&
            (name = pf_elf_symbol_name(&symbols, symbol)) && strcmp(name, wanted) == 0 &&
            !(section->header.sh_type == SHT_DYNSYM && is_hidden(elf, i)))
            return true;
    }
    return false;
}

/* In the file's own symbols: a table keeps one name for each address. */
static bool find_symbol(const struct defining *d, unsigned type, struct pf_elf_symbol *symbol)
{
    const struct pf_elf *elf = &d->target->elf;
    for (size_t i = 0; d->target->has_elf && i < elf->section_count; i++)
        if (elf->sections[i].header.sh_type == type &&
            find_in_section(elf, &elf->sections[i], d->definition.point.function, symbol))
            return true;
    return false;
}

static int define_by_symbol(struct defining *d)
{
    const struct pf_probe_point *point = &d->definition.point;
    if (!point->function || point->file || (point->has_line && point->line))
        return pf_probe_no_debug(d->target);
    if (point->has_address)
        return take_address(d, "", point->address, UINT64_MAX);
    struct pf_elf_symbol symbol;
    if (find_symbol(d, SHT_DYNSYM, &symbol))
        return take_address(d, point->function, symbol.st_value, symbol.st_size);
    int result = take_from_table(d);
    if (result == 0 && !d->count && find_symbol(d, SHT_SYMTAB, &symbol))
        result = take_address(d, point->function, symbol.st_value, symbol.st_size);
    if (result == 0 && !d->count)
        return pf_probe_fail(d->target, PERFILE_ERROR_ABSENT, "there is no function %.200s in %.200s", point->function,
                             d->target->path ? d->target->path : "the kernel");
    return result;
}

static void note_indirect(struct defining *d)
{
    const char *name = d->definition.point.function;
    struct pf_elf_symbol symbol;
    if (name && find_symbol(d, SHT_DYNSYM, &symbol) && symbol.st_type == STT_GNU_IFUNC)
        pf_probe_note(
            d->target,
            "%s chooses one of several functions when the program starts: the probe is hit then, and not when "
            "%s is called",
            name, name);
}

/* By debug info, and where that does not have the function by the symbols. */
static int define_all(struct defining *d)
{
    const struct pf_probe_point *point = &d->definition.point;
    const int result =
        pf_probe_has_debug(d->target) ? pf_probe_sites(d->target, &d->definition, take_site, d) : PERFILE_ERROR_ABSENT;
    const bool has_symbol = point->function && !point->file && !(point->has_line && point->line);
    if (result != PERFILE_ERROR_ABSENT || d->count || (pf_probe_has_debug(d->target) && !has_symbol))
        return result;
    return define_by_symbol(d);
}

static int define(void *context, struct pf_probe_target *target)
{
    struct defining *d = context;
    d->target = target;
    int result = pf_probe_parse(&target->arena, d->text, &d->definition, target->error);
    if (result == 0)
        result = define_all(d);
    if (result == 0)
        note_indirect(d);
    return result;
}

int perfile_probe_define(const struct perfile_probe_options *options, const char *definition,
                         int (*take)(void *context, const struct perfile_probe *probe), void *context,
                         struct perfile_error *error)
{
    struct defining d = {.text = definition, .take = take, .context = context};
    return pf_probe_with_target(options, define, &d, error);
}

/*
 * ---- functions -----------------------------------------------------------------------------------------------------
 */

struct naming {
    int (*take)(void *context, const char *name);
    void *context;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int name_all(void *context, struct pf_probe_target *target)
{
    const struct naming *naming = context;
    const struct pf_symbol_table *table = target->table;
    const char **names = pf_arena_new(&target->arena, (table->count + 1) * sizeof(*names));
    size_t count = 0;
    if (!names)
        return pf_probe_no_memory(target);
    for (size_t i = 0; i < table->count; i++)
        if (is_function(target, &table->symbols[i]))
            names[count++] = pf_symbol_name(table, &table->symbols[i]);
    qsort(names, count, sizeof(*names), compare_names);
    for (size_t i = 0; i < count; i++)
        if ((!i || strcmp(names[i - 1], names[i]) != 0) && naming->take(naming->context, names[i]))
            return PERFILE_ERROR_STOPPED;
    return 0;
}

int perfile_probe_functions(const struct perfile_probe_options *options, int (*take)(void *context, const char *name),
                            void *context, struct perfile_error *error)
{
    struct naming naming = {take, context};
    return pf_probe_with_target(options, name_all, &naming, error);
}

/*
 * ---- variables -----------------------------------------------------------------------------------------------------
 */

struct variables {
    struct pf_probe_target *target;
    const char *text;
    bool externs;
    const char *point;
    int (*take)(void *context, const struct perfile_probe_variable *variable);
    void *context;
};

static int take_variable(void *context, const struct perfile_probe_variable *variable)
{
    const struct variables *v = context;
    struct perfile_probe_variable all = *variable;
    all.point = v->point;
    return v->take(v->context, &all) ? PERFILE_ERROR_STOPPED : 0;
}

static int show_site(void *context, struct pf_probe_site *site)
{
    struct variables *v = context;
    v->point = symbol_text(v->target, site->address);
    return v->point ? pf_probe_show_variables(v->target, site, v->externs, take_variable, v)
                    : pf_probe_no_memory(v->target);
}

static int show_variables(void *context, struct pf_probe_target *target)
{
    struct variables *v = context;
    struct pf_probe_definition definition;
    v->target = target;
    const int result = pf_probe_parse(&target->arena, v->text, &definition, target->error);
    return result < 0 ? result : pf_probe_sites(target, &definition, show_site, v);
}

int perfile_probe_variables(const struct perfile_probe_options *options, const char *definition, bool externs,
                            int (*take)(void *context, const struct perfile_probe_variable *variable), void *context,
                            struct perfile_error *error)
{
    struct variables v = {.text = definition, .externs = externs, .take = take, .context = context};
    return pf_probe_with_target(options, show_variables, &v, error);
}

/*
 * ---- where a probe is ----------------------------------------------------------------------------------------------
 */

struct describing {
    uint64_t offset;
    char *text;
    size_t capacity, used;
};

/* The line of the last row at an address, which is not the end of a sequence; 0: none. */
static int line_of_row(struct pf_probe_target *target, const struct pf_probe_unit *unit, uint64_t address)
{
    const struct pf_probe_lines *lines = pf_probe_lines_of(target, unit->top.unit);
    const size_t after = lines ? pf_probe_find_row(lines, address + 1) : 0;
    const struct pf_probe_row *row = after ? &lines->rows[after - 1] : NULL;
    return row && row->address == address && !row->ends_sequence ? row->line : 0;
}

/* The function, how far into it, and its file; a line where the address begins one. */
static void describe_source(struct describing *d, struct pf_probe_target *target, uint64_t address)
{
    struct pf_probe_unit *unit;
    struct pf_die function;
    struct pf_probe_line first;
    uint64_t entry;
    if (!pf_probe_has_debug(target) || !pf_probe_unit_at(target, address, &unit, &function) ||
        !pf_probe_entry(&function, &entry) || !pf_probe_declared(target, &function, &first))
        return;
    const char *name = pf_die_text(&function, DW_AT_name);
    const int line = line_of_row(target, unit, address);
    char at[32] = "";
    if (!name)
        return;
    if (address != entry && line > first.line)
        snprintf(at, sizeof(at), ":%d", line - first.line);
    else if (address != entry)
        snprintf(at, sizeof(at), "+%" PRIu64, address - entry);
    snprintf(d->text, d->capacity, "%s%s@%s", name, at, first.file);
}

static int describe(void *context, struct pf_probe_target *target)
{
    struct describing *d = context;
    uint64_t address;
    if (!pf_symbol_table_address(target->table, d->offset, &address))
        return 0;
    describe_source(d, target, address);
    if (!*d->text) {
        const char *text = symbol_text(target, address);
        if (text)
            snprintf(d->text, d->capacity, "%s", text);
    }
    d->used = strlen(d->text);
    return 0;
}

size_t perfile_probe_describe(const struct perfile_probe_options *options, uint64_t offset, char *text, size_t capacity)
{
    struct describing d = {offset, text, capacity, 0};
    if (capacity)
        *text = '\0';
    return capacity && pf_probe_with_target(options, describe, &d, NULL) == 0 ? d.used : 0;
}
