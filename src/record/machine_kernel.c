/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "record/machine_build_id.h"
#include "record/machine_files.h"
#include "record/machine_kernel.h"

enum {
    LINE_MAX_BYTES = 65536,
    MODULES_BYTES_MAX = 16 << 20,
    RESOURCES_BYTES_MAX = 1 << 20,
    DEPENDENCIES_BYTES_MAX = 64 << 20,
    NOTES_CAPACITY = 16384,
};

#if defined(__x86_64__) || defined(__i386__)
static const bool IS_X86 = true;
#else
static const bool IS_X86 = false;
#endif

void pf_kernel_note(const struct pf_kernel *kernel, const char *sentence)
{
    if (kernel->options->note)
        kernel->options->note(kernel->options->note_context, sentence);
}

/* ---- symbols ---- */

/* "ffffffff81000000 T _text" */
static bool parse_symbol(char *line, struct pf_kernel_symbol *symbol)
{
    char *at;
    symbol->address = strtoull(line, &at, 16);
    if (at == line || at[0] != ' ' || at[1] == 0 || at[2] != ' ')
        return false;
    symbol->name = at + 3;
    return true;
}

bool pf_kernel_symbols(int root, bool (*each)(void *context, const struct pf_kernel_symbol *symbol), void *context)
{
    char buffer[LINE_MAX_BYTES];
    size_t used = 0;
    bool go_on = true;
    int fd = openat(root, "proc/kallsyms", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (go_on) {
        ssize_t got = read(fd, buffer + used, sizeof(buffer) - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        char *at = buffer, *end = buffer + used + got, *newline;
        for (; go_on && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
            struct pf_kernel_symbol symbol;
            *newline = 0;
            go_on = !parse_symbol(at, &symbol) || each(context, &symbol);
        }
        used = at == buffer && end == buffer + sizeof(buffer) ? 0 : (size_t)(end - at);
        memmove(buffer, at, used);
    }
    close(fd);
    return true;
}

/* ---- the text of the kernel ---- */

struct text_range {
    uint64_t text, stext, etext, edata;
    uint64_t image_bytes; /* from _text to _edata; 0: the symbols have to show it */
    bool hidden;
};

/* "  01000000-02209987 : Kernel code" */
static bool parse_resource(const char *line, const char *name, uint64_t *first, uint64_t *last)
{
    char *at;
    *first = strtoull(line, &at, 16);
    if (*at != '-')
        return false;
    *last = strtoull(at + 1, &at, 16);
    return pf_starts_with(at, " : ") && strcmp(at + 3, name) == 0 && *last;
}

/*
 * The image is contiguous in physical memory, too, which its owner may read: /proc/kallsyms has a hundred thousand
 * lines before that of _edata, and is generated while it is read.
 */
static uint64_t image_bytes(const struct pf_kernel *kernel)
{
    uint64_t code = 0, first, last, bytes = 0;
    char *rest = NULL;
    struct pf_text text;
    if (!IS_X86 || pf_text_open(&text, kernel->allocator, NULL, NULL) < 0)
        return 0;
    const bool is_read = pf_read_file(kernel->root, "proc/iomem", &text, RESOURCES_BYTES_MAX);
    pf_put_char(&text, 0);
    for (char *line = is_read && !text.failed ? strtok_r(text.data, "\n", &rest) : NULL; line && !bytes;
         line = strtok_r(NULL, "\n", &rest))
        if (parse_resource(line, "Kernel code", &first, &last))
            code = first;
        else if (code && parse_resource(line, "Kernel data", &first, &last) && last > code)
            bytes = last + 1 - code;
    pf_text_close(&text);
    return bytes;
}

static bool find_text(void *context, const struct pf_kernel_symbol *symbol)
{
    struct text_range *range = context;
    const struct {
        const char *name;
        uint64_t *address;
    } wanted[] = {
        {"_text", &range->text}, {"_stext", &range->stext}, {"_etext", &range->etext}, {"_edata", &range->edata}};
    if (symbol->name[0] != '_')
        return !strchr(symbol->name, '\t'); /* modules come after the kernel */
    for (size_t i = 0; i < PF_COUNT(wanted); i++)
        if (strcmp(symbol->name, wanted[i].name) == 0) {
            *wanted[i].address = symbol->address;
            range->hidden |= !symbol->address;
        }
    if (range->hidden || (range->text && range->image_bytes))
        return false;
    return !range->edata && strcmp(symbol->name, "_end") != 0;
}

static void read_notes(const struct pf_kernel *kernel, const char *path, struct pf_build_id *id)
{
    char notes[NOTES_CAPACITY];
    ssize_t bytes = pf_read_at(kernel->root, path, notes, sizeof(notes));
    id->size = 0;
    if (bytes > 0 && !pf_build_id_from_notes(notes, (size_t)bytes, id))
        id->size = 0;
}

/* MMAP2 with a build id when these are wanted, as perf 7.2; else MMAP. */
static int put_map(const struct pf_kernel *kernel, const struct perfile_mmap *map, const struct pf_build_id *id,
                   struct perfile_error *error)
{
    const struct pf_synthesis *synthesis = kernel->synthesis;
    struct perfile_mmap2 grown = {.pid = -1,
                                  .addr = map->addr,
                                  .len = map->len,
                                  .pgoff = map->pgoff,
                                  .build_id_size = id->size,
                                  .filename = map->filename};
    if (!kernel->options->build_ids)
        return synthesis->put(synthesis->context, PERFILE_RECORD_MMAP, PERFILE_MISC_KERNEL, map, sizeof(*map), error);
    memcpy(grown.build_id, id->bytes, sizeof(grown.build_id));
    return synthesis->put(synthesis->context, PERFILE_RECORD_MMAP2,
                          PERFILE_MISC_KERNEL | (id->size ? PERFILE_MISC_MMAP_BUILD_ID : 0), &grown, sizeof(grown),
                          error);
}

static int synthesize_text(const struct pf_kernel *kernel, bool *hidden, struct perfile_error *error)
{
    struct text_range range = {.image_bytes = image_bytes(kernel)};
    struct pf_build_id id = {.size = 0};
    bool readable = pf_kernel_symbols(kernel->root, find_text, &range);
    uint64_t start = range.text ? range.text : range.stext, end = range.edata ? range.edata : range.etext;
    if (range.text && range.image_bytes)
        end = range.text + range.image_bytes;
    *hidden = start == 0;
    if (*hidden && kernel->options->user_only)
        return 0;
    if (*hidden) {
        pf_kernel_note(kernel, readable ? "kernel addresses are hidden, so kernel functions will have no names: record "
                                          "as root, or set /proc/sys/kernel/kptr_restrict to 0"
                                        : "/proc/kallsyms cannot be read, so kernel functions will have no names");
        return 0;
    }
    if (kernel->options->build_ids)
        read_notes(kernel, "sys/kernel/notes", &id);
    const struct perfile_mmap map = {
        .pid = -1,
        .addr = start,
        .len = (end > start ? end : UINT64_MAX) - start,
        .pgoff = start,
        .filename = range.text ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]_stext",
    };
    return put_map(kernel, &map, &id, error);
}

/* ---- modules ---- */

struct module {
    const char *name;
    uint64_t start;
    uint64_t bytes;
};

/* Where the files of modules are. */
struct module_files {
    char release[128];
    struct pf_text list; /* modules.dep of this release, with a NUL after it; else empty */
};

/* "ext4 917504 1 - Live 0xffffffffc0000000" and more */
static bool parse_module(char *line, struct module *module)
{
    char *rest, *words[6];
    for (size_t i = 0; i < PF_COUNT(words); i++)
        if (!(words[i] = strtok_r(i ? NULL : line, " \t", &rest)))
            return false;
    *module = (struct module){words[0], strtoull(words[5], NULL, 16), strtoull(words[1], NULL, 10)};
    return module->start && module->bytes;
}

/* The same name, where - and _ are one; `file` goes on with ".ko". */
static bool is_module_file(const char *file, const char *name)
{
    for (; *name; name++, file++)
        if ((*file == '-' ? '_' : *file) != (*name == '-' ? '_' : *name))
            return false;
    return pf_starts_with(file, ".ko");
}

/* From the lines "kernel/fs/ext4/ext4.ko.xz: what it needs". */
static bool find_file(const char *dependencies, const char *name, char *path, size_t capacity)
{
    for (const char *line = dependencies, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *colon = memchr(line, ':', (size_t)(end - line)), *file = colon;
        if (!colon)
            continue;
        while (file > line && file[-1] != '/')
            file--;
        if (is_module_file(file, name))
            return pf_path(path, capacity, "%.*s", (int)(colon - line), line);
    }
    return false;
}

static int synthesize_module(const struct pf_kernel *kernel, const struct module *module,
                             const struct module_files *files, struct perfile_error *error)
{
    char file[2048], path[PF_PATH_CAPACITY], notes[512];
    struct pf_build_id id = {.size = 0};
    if (!find_file(files->list.data, module->name, file, sizeof(file)) ||
        !(file[0] == '/' ? pf_path(path, sizeof(path), "%s", file)
                         : pf_path(path, sizeof(path), "/lib/modules/%s/%s", files->release, file)) ||
        faccessat(kernel->root, path + 1, F_OK, 0) < 0)
        snprintf(path, sizeof(path), "[%.255s]", module->name);
    if (kernel->options->build_ids &&
        pf_path(notes, sizeof(notes), "sys/module/%s/notes/.note.gnu.build-id", module->name))
        read_notes(kernel, notes, &id);
    const struct perfile_mmap map = {.pid = -1, .addr = module->start, .len = module->bytes, .filename = path};
    return put_map(kernel, &map, &id, error);
}

static int compare_modules(const void *a, const void *b)
{
    const struct module *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* What is synthesized for a module is the sum of its pieces: it may reach into the next one. */
static int synthesize_list(const struct pf_kernel *kernel, struct module *modules, size_t count,
                           const struct module_files *files, struct perfile_error *error)
{
    int result = 0;
    if (count)
        qsort(modules, count, sizeof(*modules), compare_modules);
    for (size_t i = 0; i < count && result == 0; i++) {
        if (i + 1 < count && modules[i + 1].start > modules[i].start)
            modules[i].bytes = pf_min(modules[i].bytes, modules[i + 1].start - modules[i].start);
        result = synthesize_module(kernel, &modules[i], files, error);
    }
    return result;
}

static int synthesize_modules_of(const struct pf_kernel *kernel, char *text, const struct module_files *files,
                                 struct perfile_error *error)
{
    struct module *modules = NULL, module;
    size_t count = 0, capacity = 0;
    char *rest = NULL;
    int result = 0;
    for (char *line = strtok_r(text, "\n", &rest); line && result == 0; line = strtok_r(NULL, "\n", &rest)) {
        if (!parse_module(line, &module))
            continue;
        if (pf_grow(kernel->allocator, &modules, &capacity, count + 1, sizeof(*modules)))
            modules[count++] = module;
        else
            result = pf_fail_memory(error, "modules");
    }
    if (result == 0)
        result = synthesize_list(kernel, modules, count, files, error);
    pf_free(kernel->allocator, modules, capacity * sizeof(*modules));
    return result;
}

/* A kernel without modules has no such file. */
static int synthesize_modules(const struct pf_kernel *kernel, struct perfile_error *error)
{
    struct module_files files;
    struct pf_text text;
    char path[512];
    int result = 0;
    if (pf_text_open(&text, kernel->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "modules");
    if (pf_text_open(&files.list, kernel->allocator, NULL, NULL) < 0) {
        pf_text_close(&text);
        return pf_fail_memory(error, "modules");
    }
    if (pf_read_file(kernel->root, "proc/modules", &text, MODULES_BYTES_MAX)) {
        if (!pf_read_line(kernel->root, "proc/sys/kernel/osrelease", files.release, sizeof(files.release)) ||
            !pf_path(path, sizeof(path), "lib/modules/%s/modules.dep", files.release) ||
            !pf_read_file(kernel->root, path, &files.list, DEPENDENCIES_BYTES_MAX))
            files.list.used = 0;
        pf_put_char(&text, 0);
        pf_put_char(&files.list, 0);
        result = text.failed || files.list.failed ? pf_fail_memory(error, "modules")
                                                  : synthesize_modules_of(kernel, text.data, &files, error);
    }
    pf_text_close(&files.list);
    pf_text_close(&text);
    return result;
}

int pf_kernel_synthesize(const struct pf_kernel *kernel, struct perfile_error *error)
{
    bool hidden;
    int result = synthesize_text(kernel, &hidden, error);
    return result < 0 || hidden ? result : synthesize_modules(kernel, error);
}
