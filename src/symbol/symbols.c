/* SPDX-License-Identifier: MIT */
#include "symbol/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "symbol/demangle.h"
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
};

struct module {
    struct pf_module public;
    enum module_kind kind;
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    const char *map_name; /* the file name in the recording */
    uint64_t relocation;  /* run-time address minus the table's */
    uint64_t reference;   /* kernel: run-time address of the symbol that its mapping names */
    struct pf_symbol_table *table;
    const char *binary; /* the file itself, and its separate debug file; NULL: not found */
    const char *debug;
    const char *alternate; /* what the debug info refers to */
    struct pf_cfi *cfi;
    bool cfi_tried;
    struct pf_inlines *inlines;
    bool inlines_tried;
    char **names; /* demangled, by symbol; NULL: not asked for yet */
};

struct known_id {
    uint8_t bytes[20];
    uint8_t count;
};

struct pf_symbols {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct perfile_reader *reader;
    struct pf_find_options find;
    struct module **modules;
    size_t count;
    size_t room;
    struct pf_map by_key;    /* hash of name and build id to the number of a module */
    struct pf_map build_ids; /* hash of a name to what feature BUILD_ID says, a pointer */
    uint32_t *module_of_map; /* by the id of the map; module + 1 */
    size_t map_room;
    char *kallsyms;
    size_t kallsyms_bytes;
    bool machine_is_64;
    uint32_t code_module; /* whose binary is open for its code; module + 1 */
    int code_file;
    struct pf_insn_machine code_machine;
    char *cache; /* the folder, or NULL */
    bool cache_tried;
};

/* ---- names and build ids ---- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3ull; /* FNV-1a */
    return hash;
}

static uint64_t hash_name(const char *name)
{
    return hash_bytes(0xcbf29ce484222325ull, name, strlen(name));
}

/* Collects the records of feature BUILD_ID: each has a build id before its file name. */
struct collector {
    struct pf_symbols *symbols;
    struct known_id id;
};

static int collect(void *context, const struct perfile_value *value)
{
    struct collector *c = context;
    if (!value->name)
        return 0;
    if (strcmp(value->name, "build_id") == 0) {
        c->id.count = (uint8_t)pf_min(value->bytes, sizeof(c->id.bytes));
        memcpy(c->id.bytes, value->data, c->id.count);
    } else if (strcmp(value->name, "filename") == 0 && c->id.count) {
        struct known_id *kept = pf_arena_new(&c->symbols->arena, sizeof(*kept));
        uint64_t hash = hash_bytes(0xcbf29ce484222325ull, value->data, value->bytes);
        if (!kept || !pf_map_put(&c->symbols->build_ids, hash, (uintptr_t)kept))
            return 1;
        *kept = c->id;
        c->id.count = 0;
    }
    return 0;
}

static bool same_text(struct perfile_reader *reader, uint32_t feature, const char *text)
{
    const char *recorded;
    return perfile_feature_text(reader, feature, NULL, &recorded, NULL) == 0 && strcmp(recorded, text) == 0;
}

/* The recording was made on this machine with the kernel that runs now; addresses still have to agree. */
static bool made_here(struct perfile_reader *reader)
{
    struct utsname here;
    return uname(&here) == 0 && same_text(reader, PERFILE_FEATURE_HOSTNAME, here.nodename) &&
           same_text(reader, PERFILE_FEATURE_OSRELEASE, here.release);
}

static bool is_64_bit_machine(struct perfile_reader *reader)
{
    const char *arch;
    return perfile_feature_text(reader, PERFILE_FEATURE_ARCH, NULL, &arch, NULL) == 0 &&
           (strstr(arch, "64") || strcmp(arch, "s390x") == 0);
}

int pf_symbols_open(struct perfile_reader *reader, const struct pf_find_options *find, struct pf_symbols **symbols,
                    struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    struct pf_symbols *made = pf_new(allocator, sizeof(*made));
    *symbols = NULL;
    if (!made)
        return pf_fail_memory(error, "symbols");
    made->allocator = allocator;
    made->reader = reader;
    if (find)
        made->find = *find;
    made->find.same_machine = made_here(reader);
    made->machine_is_64 = is_64_bit_machine(reader);
    pf_arena_open(&made->arena, allocator);
    pf_map_open(&made->by_key, allocator);
    pf_map_open(&made->build_ids, allocator);
    struct collector collector = {.symbols = made};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &collector, .value = collect};
    if (perfile_feature_visit(reader, PERFILE_FEATURE_BUILD_ID, &visitor, error) == PERFILE_ERROR_STOPPED) {
        pf_symbols_close(made);
        return pf_fail_memory(error, "build ids");
    }
    *symbols = made;
    return 0;
}

static void close_module(struct module *module)
{
    for (size_t i = 0; module->names && i < module->table->count; i++)
        free(module->names[i]);
    free(module->names);
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

void pf_symbols_close(struct pf_symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->count; i++)
        close_module(symbols->modules[i]);
    pf_free(symbols->allocator, symbols->modules, symbols->room * sizeof(struct module *));
    pf_free(symbols->allocator, symbols->module_of_map, symbols->map_room * sizeof(*symbols->module_of_map));
    close_code(symbols);
    free(symbols->kallsyms);
    free(symbols->cache);
    pf_map_close(&symbols->by_key);
    pf_map_close(&symbols->build_ids);
    pf_arena_close(&symbols->arena);
    pf_free(symbols->allocator, symbols, sizeof(*symbols));
}

/* ---- which module a mapping belongs to ---- */

/* Memory without a file: its code, if any, was made at run time. */
static bool is_anonymous(const struct perfile_map *map)
{
    enum { MAP_HUGETLB_BIT = 0x40000 };
    static const char *const starts[] = {"/anon_hugepage", "/dev/zero", "[stack", "/SYSV"};
    if (strcmp(map->filename, "//anon") == 0 || strcmp(map->filename, "[heap]") == 0 || map->flags & MAP_HUGETLB_BIT)
        return true;
    for (size_t i = 0; i < PF_COUNT(starts); i++)
        if (pf_starts_with(map->filename, starts[i]))
            return true;
    return false;
}

static bool is_executable(const struct perfile_map *map)
{
    enum { PROT_EXEC_BIT = 4 };
    return !map->data && (map->prot == 0 || map->prot & PROT_EXEC_BIT);
}

static enum module_kind kind_of(const struct perfile_map *map)
{
    if (map->symbol)
        return KIND_SYMBOL;
    if (pf_starts_with(map->filename, "[kernel.kallsyms]") || pf_starts_with(map->filename, "[guest.kernel.kallsyms"))
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
static const char *shown_name(struct pf_symbols *symbols, const struct perfile_map *map, enum module_kind kind)
{
    char text[64];
    if (kind == KIND_PERF_MAP) {
        snprintf(text, sizeof(text), "/tmp/perf-%d.map", (int)map->pid);
        return pf_arena_text(&symbols->arena, text, strlen(text));
    }
    if (kind == KIND_VDSO32)
        return "[vdso32]";
    if (kind == KIND_KERNEL)
        return pf_starts_with(map->filename, "[guest") ? "[guest.kernel.kallsyms]" : "[kernel.kallsyms]";
    return pf_arena_text(&symbols->arena, map->filename, strlen(map->filename));
}

static const char *last_part(const char *name)
{
    const char *slash = name[0] == '/' ? strrchr(name, '/') : NULL;
    return slash && slash[1] ? slash + 1 : name;
}

/* perf's: of code made at run time it is no path. */
static const char *short_name(struct pf_symbols *symbols, const struct perfile_map *map, const struct module *module)
{
    char text[64];
    if (module->kind != KIND_PERF_MAP)
        return last_part(module->public.name);
    snprintf(text, sizeof(text), "[JIT] tid %d", (int)map->pid);
    return pf_arena_text(&symbols->arena, text, strlen(text));
}

static bool add_module(struct pf_symbols *symbols, const struct perfile_map *map, enum module_kind kind, uint64_t hash)
{
    struct module *module = pf_arena_new(&symbols->arena, sizeof(*module));
    uint64_t known;
    if (!module ||
        !pf_grow(symbols->allocator, &symbols->modules, &symbols->room, symbols->count + 1, sizeof(struct module *)))
        return false;
    module->kind = kind;
    module->map_name = map->filename;
    module->reference = map->pgoff;
    module->public.name = shown_name(symbols, map, module->kind);
    module->public.kernel = map->kernel;
    module->build_id_bytes = map->build_id_bytes;
    memcpy(module->build_id, map->build_id, sizeof(module->build_id));
    if (!module->public.name)
        return false;
    module->public.short_name = short_name(symbols, map, module);
    if (!module->public.short_name)
        return false;
    if (!module->build_id_bytes && pf_map_get(&symbols->build_ids, hash_name(module->public.name), &known)) {
        const struct known_id *id = (const struct known_id *)(uintptr_t)known;
        module->build_id_bytes = id->count;
        memcpy(module->build_id, id->bytes, sizeof(module->build_id));
    }
    symbols->modules[symbols->count++] = module;
    return pf_map_put(&symbols->by_key, hash, (symbols->count - 1));
}

static bool is_module_of(const struct module *module, const struct perfile_map *map, enum module_kind kind)
{
    if (strcmp(module->map_name, map->filename) != 0 || module->kind != kind)
        return false;
    return map->build_id_bytes == 0 || (map->build_id_bytes == module->build_id_bytes &&
                                        memcmp(map->build_id, module->build_id, map->build_id_bytes) == 0);
}

static bool knows_module_of(const struct pf_symbols *symbols, const struct perfile_map *map)
{
    return map->id < symbols->map_room && symbols->module_of_map[map->id];
}

/* The number of the module, which is of that kind when it is a new one; UINT32_MAX when memory is short. */
static uint32_t module_of_kind(struct pf_symbols *symbols, const struct perfile_map *map, enum module_kind kind)
{
    if (knows_module_of(symbols, map))
        return symbols->module_of_map[map->id] - 1;
    size_t room = symbols->map_room;
    if (!pf_grow(symbols->allocator, &symbols->module_of_map, &symbols->map_room, (size_t)map->id + 1,
                 sizeof(*symbols->module_of_map)))
        return UINT32_MAX;
    memset(symbols->module_of_map + room, 0, (symbols->map_room - room) * sizeof(*symbols->module_of_map));
    uint64_t hash = hash_bytes(hash_name(map->filename), map->build_id, map->build_id_bytes);
    hash = hash_bytes(hash, kind == KIND_VDSO32 ? "32" : "", kind == KIND_VDSO32 ? 2 : 0);
    if (kind == KIND_PERF_MAP)
        hash = hash_bytes(hash, &map->pid, sizeof(map->pid));
    uint64_t first;
    uint32_t number = UINT32_MAX;
    if (pf_map_get(&symbols->by_key, hash, &first) && is_module_of(symbols->modules[first], map, kind))
        number = (uint32_t)first;
    if (number == UINT32_MAX && add_module(symbols, map, kind, hash))
        number = (uint32_t)(symbols->count - 1);
    if (number != UINT32_MAX)
        symbols->module_of_map[map->id] = number + 1;
    return number;
}

static uint32_t module_of(struct pf_symbols *symbols, const struct perfile_map *map)
{
    return module_of_kind(symbols, map, kind_of(map));
}

static bool is_vdso(const struct module *module)
{
    return module->kind == KIND_VDSO || module->kind == KIND_VDSO32;
}

/* ---- loading ---- */

/* A whole file of text as it is now; files of /proc do not say how long they are. */
static char *read_text(const char *path, size_t *bytes)
{
    char *text = NULL;
    size_t room = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *bytes = 0;
    while (fd >= 0) {
        if (*bytes + 65536 > room) {
            char *bigger = realloc(text, room = room ? room * 2 : 1 << 20);
            if (!bigger)
                break;
            text = bigger;
        }
        ssize_t got = read(fd, text + *bytes, room - *bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        *bytes += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* The build id in the notes of the kernel that runs here equals that of the recording's kernel. */
static bool kernel_runs_here(const struct module *kernel)
{
    size_t bytes;
    if (!kernel->build_id_bytes)
        return false;
    char *notes = read_text("/sys/kernel/notes", &bytes);
    bool found = notes && memmem(notes, bytes, kernel->build_id, kernel->build_id_bytes);
    free(notes);
    return found;
}

static bool is_elf(const char *path)
{
    uint8_t id[20];
    return pf_elf_build_id(path, id) >= 0;
}

/* What stands for the kernel: `*elf` is an ELF file or NULL, and the text of kallsyms is read when there is any. */
static void find_kernel(struct pf_symbols *symbols, const struct module *kernel, const char **elf)
{
    struct pf_found found = {0};
    const char *text = symbols->find.kallsyms;
    *elf = NULL;
    if (!text &&
        pf_find_binary(&symbols->find, "[kernel.kallsyms]", kernel->build_id, kernel->build_id_bytes, &found) == 0 &&
        found.path) {
        char *path = pf_arena_text(&symbols->arena, found.path, strlen(found.path));
        if (path && is_elf(path))
            *elf = path;
        else
            text = path;
    }
    /* never this machine's symbols for another machine's addresses */
    if (!text && !*elf && (kernel->build_id_bytes ? kernel_runs_here(kernel) : symbols->find.same_machine))
        text = "/proc/kallsyms";
    if (text && !symbols->kallsyms)
        symbols->kallsyms = read_text(text, &symbols->kallsyms_bytes);
    pf_found_close(&found);
}

/* The mapping of the kernel names a symbol and its run-time address: the table may have it elsewhere. */
static void relocate(const struct pf_symbols *symbols, struct module *module)
{
    const char *name = strchr(module->map_name, ']');
    uint64_t address;
    if (!name || !name[1] || !module->reference)
        return;
    bool known = module->public.path
                     ? pf_elf_symbol_address(module->public.path, name + 1, &address) == 0
                     : pf_kallsyms_address(symbols->kallsyms, symbols->kallsyms_bytes, name + 1, &address);
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

static void load_kernel(struct pf_symbols *symbols, struct module *module)
{
    const char *elf = symbols->find.vmlinux;
    uint8_t id[20];
    int bytes = elf && module->build_id_bytes ? pf_elf_build_id(elf, id) : 0;
    if (bytes > 0 && !same_build_id(id, (size_t)bytes, module->build_id, module->build_id_bytes)) {
        module->public.build_id_differs = true;
        elf = NULL;
    }
    if (!elf)
        find_kernel(symbols, module, &elf);
    if (elf && pf_symbol_table_from_elf(elf, NULL, symbols->allocator, &module->table, NULL) == 0)
        module->public.path = elf;
    else if (symbols->kallsyms)
        (void)pf_symbol_table_from_kallsyms(symbols->kallsyms, symbols->kallsyms_bytes, NULL, symbols->allocator,
                                            &module->table, NULL);
    if (module->table)
        relocate(symbols, module);
}

/* "/lib/modules/5.1/kernel/net/nf-nat.ko.xz" is "nf_nat", and so is "[nf_nat]". */
static void module_name(char *text, size_t room, const char *name)
{
    const char *start = last_part(name);
    size_t length;
    start += start[0] == '[';
    length = strcspn(start, ".]");
    snprintf(text, room, "%.*s", (int)pf_min(length, room - 1), start);
    for (char *c = text; *c; c++)
        if (*c == '-')
            *c = '_';
}

static void load_kernel_module(struct pf_symbols *symbols, struct module *module)
{
    struct module *kernel = NULL;
    char name[128];
    for (size_t i = 0; i < symbols->count && !kernel; i++)
        if (symbols->modules[i]->kind == KIND_KERNEL)
            kernel = symbols->modules[i];
    const char *elf;
    if (!symbols->kallsyms)
        find_kernel(symbols, kernel ? kernel : module, &elf);
    module_name(name, sizeof(name), module->map_name);
    if (symbols->kallsyms)
        (void)pf_symbol_table_from_kallsyms(symbols->kallsyms, symbols->kallsyms_bytes, name, symbols->allocator,
                                            &module->table, NULL);
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
    module->public.build_id_differs = found.build_id_differs;
    pf_found_close(&found);
}

static void load_perf_map(struct pf_symbols *symbols, struct module *module)
{
    size_t bytes;
    char *text = read_text(module->public.name, &bytes);
    if (text)
        (void)pf_symbol_table_from_perf_map(text, bytes, symbols->allocator, &module->table, NULL);
    free(text);
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
    };
    module->public.looked_for = true;
    if (loaders[module->kind])
        loaders[module->kind](symbols, module);
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
    const char *path = symbols->modules[number]->binary;
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
    if (module->kind == KIND_KERNEL || module->kind == KIND_KERNEL_MODULE || module->kind == KIND_PERF_MAP) {
        *address = ip - module->relocation;
        return true;
    }
    uint64_t offset = ip - map->start + (is_vdso(module) ? 0 : map->pgoff);
    return pf_symbol_table_address(module->table, offset, address);
}

/* Where the symbol that a piece belongs to began: the entry before that has its name and is no piece. */
static const struct pf_symbol *whole_symbol(const struct pf_symbol_table *table, const struct pf_symbol *symbol)
{
    const struct pf_symbol *first = symbol;
    while (first && first->flags & PF_SYMBOL_PIECE && first > table->symbols) {
        first--;
        if (first->name == symbol->name && !(first->flags & PF_SYMBOL_PIECE))
            return first;
    }
    return symbol;
}

bool pf_symbols_locate(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip,
                       struct pf_location *location)
{
    *location = (struct pf_location){.module = PF_NO_SYMBOL, .symbol = PF_NO_SYMBOL, .offset = ip};
    if (!map)
        return true;
    uint32_t number = module_of(symbols, map);
    if (number == UINT32_MAX)
        return false;
    struct module *module = symbols->modules[number];
    if (PF_UNLIKELY(!module->public.looked_for))
        load(symbols, module);
    location->module = number;
    location->offset = module->kind == KIND_ELF ? ip - map->start + map->pgoff : is_vdso(module) ? ip - map->start : ip;
    module->public.addresses++;
    if (module->kind == KIND_SYMBOL) {
        location->symbol = 0;
        location->offset = ip - map->start;
        module->public.resolved++;
        return true;
    }
    uint64_t address;
    if (!module->table || !table_address(module, map, ip, &address))
        return true;
    location->address = module->kind == KIND_ELF || is_vdso(module) ? address : 0;
    const struct pf_symbol *symbol = whole_symbol(module->table, pf_symbol_table_find(module->table, address));
    if (symbol) {
        location->symbol = (uint32_t)(symbol - module->table->symbols);
        location->offset = address - symbol->start;
        module->public.resolved++;
    }
    return true;
}

/*
 * The vdso of a 32-bit program: it lies below 4 GiB, and as perf wants it, the first binary below it that is at hand has
 * 32 bits.
 */
static bool is_vdso32(struct pf_symbols *symbols, const struct perfile_space *space, const struct perfile_map *vdso)
{
    enum { TRIES_MAX = 64 };
    const struct perfile_map *map = vdso;
    if (!symbols->machine_is_64 || kind_of(vdso) != KIND_VDSO || vdso->start > UINT32_MAX)
        return false;
    for (int tries = 0; tries < TRIES_MAX && map->start; tries++) {
        map = perfile_space_below(space, map->start - 1);
        const uint32_t number = map && kind_of(map) == KIND_ELF ? module_of(symbols, map) : UINT32_MAX;
        if (!map)
            return false;
        if (number == UINT32_MAX)
            continue;
        if (!symbols->modules[number]->public.looked_for)
            load(symbols, symbols->modules[number]);
        if (open_code(symbols, number) && symbols->code_machine.elf_machine)
            return !symbols->code_machine.is_64;
    }
    return false;
}

const struct perfile_map *pf_symbols_map(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    const struct perfile_map *map = perfile_space_find(space, ip);
    struct pf_location location;
    if (map && map->filename[0] == '[' && !knows_module_of(symbols, map) && is_vdso32(symbols, space, map))
        (void)module_of_kind(symbols, map, KIND_VDSO32);
    if (map)
        return map;
    map = perfile_space_below(space, ip);
    if (!map || !map->kernel || kind_of(map) != KIND_KERNEL || !pf_symbols_locate(symbols, map, ip, &location))
        return NULL;
    return location.symbol != PF_NO_SYMBOL ? map : NULL;
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

static bool place_of(void *context, uint64_t ip, struct pf_unwind_place *place)
{
    struct unwinder *u = context;
    const struct perfile_map *map = pf_symbols_map(u->symbols, u->how->space, ip);
    struct pf_location location;
    *place = (struct pf_unwind_place){.executable = map && is_executable(map)};
    if (!map || !pf_symbols_locate(u->symbols, map, ip, &location) || location.module == PF_NO_SYMBOL)
        return map && !u->how->only_known;
    place->cfi = cfi_of(u->symbols, u->symbols->modules[location.module]);
    place->elf_address = location.address;
    return place->cfi || !u->how->only_known;
}

int pf_symbols_unwind(struct pf_symbols *symbols, const struct perfile_sample *sample, const struct pf_unwinding *how,
                      uint64_t *addresses, size_t room, size_t *count)
{
    const uint64_t dumped = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    struct unwinder u = {symbols, how};
    struct pf_unwind_place place;
    *count = 0;
    if ((sample->present & dumped) != dumped || !sample->stack_user.bytes || !how->arch)
        return PF_UNWIND_DONE;
    int end = pf_unwind_sample(sample, how->arch, place_of, &u, addresses, room, count);
    if (end < 0)
        *count = 0;
    if (*count && how->only_known && (!sample->stack_user.used || !place_of(&u, addresses[0], &place)))
        *count = 0;
    for (size_t i = 1; i < *count; i++)
        addresses[i]--;
    return end;
}

/* ---- inlined functions ---- */

static void open_inlines(struct pf_symbols *symbols, struct module *module)
{
    enum { CACHE_BYTES_MAX = 1 << 30 };
    const char *path = module->debug ? module->debug : module->binary;
    uint8_t id[20];
    if (!path)
        return;
    if (!symbols->cache_tried) {
        symbols->cache_tried = true;
        symbols->cache = pf_cache_directory();
    }
    int id_bytes = symbols->cache ? pf_elf_build_id(path, id) : 0;
    size_t bytes = id_bytes > 0 ? (size_t)id_bytes : 0;
    if (bytes && pf_inlines_load(symbols->cache, id, bytes, symbols->allocator, &module->inlines, NULL) == 0)
        return;
    if (pf_inlines_open(path, module->alternate, symbols->allocator, &module->inlines, NULL) == 0 && bytes)
        (void)pf_inlines_save(module->inlines, symbols->cache, id, bytes, CACHE_BYTES_MAX, NULL);
}

size_t pf_symbols_inlines(struct pf_symbols *symbols, const struct pf_location *location,
                          struct pf_source_frame *frames, size_t room)
{
    if (location->module >= symbols->count || !location->address)
        return 0;
    struct module *module = symbols->modules[location->module];
    if (!module->inlines_tried) {
        module->inlines_tried = true;
        open_inlines(symbols, module);
    }
    return module->inlines ? pf_min(pf_inlines_find(module->inlines, location->address, frames, room), room) : 0;
}

/* ---- machine code ---- */

size_t pf_symbols_code(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip, uint8_t *code,
                       size_t room, struct pf_insn_machine *machine)
{
    const uint32_t number = map ? module_of(symbols, map) : UINT32_MAX;
    *machine = (struct pf_insn_machine){0};
    if (number == UINT32_MAX)
        return 0;
    struct module *module = symbols->modules[number];
    if (!module->public.looked_for)
        load(symbols, module);
    const uint64_t offset = ip - map->start + (is_vdso(module) ? 0 : map->pgoff);
    if ((module->kind != KIND_ELF && !is_vdso(module)) || offset > INT64_MAX || !open_code(symbols, number))
        return 0;
    *machine = symbols->code_machine;
    ssize_t got;
    do
        got = pread(symbols->code_file, code, room, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

size_t pf_symbols_module_count(const struct pf_symbols *symbols)
{
    return symbols->count;
}

const struct pf_module *pf_symbols_module(const struct pf_symbols *symbols, uint32_t module)
{
    return module < symbols->count ? &symbols->modules[module]->public : NULL;
}

const char *pf_symbols_name(struct pf_symbols *symbols, uint32_t number, uint32_t symbol)
{
    if (number >= symbols->count || symbol == PF_NO_SYMBOL)
        return NULL;
    struct module *module = symbols->modules[number];
    if (module->kind == KIND_SYMBOL)
        return module->map_name;
    const char *raw = pf_symbol_name(module->table, &module->table->symbols[symbol]);
    if (raw[0] != '_' && raw[0] != '.')
        return raw; /* no mangled name starts otherwise */
    if (!module->names)
        module->names = calloc(module->table->count, sizeof(*module->names));
    if (!module->names)
        return raw;
    if (!module->names[symbol]) {
        char *readable = pf_demangle(raw);
        module->names[symbol] = readable ? readable : strdup(raw);
    }
    return module->names[symbol] ? module->names[symbol] : raw;
}
