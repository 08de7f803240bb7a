/* SPDX-License-Identifier: MIT */
#include "symbol/embedded.h"

#include "base/error.h"
#include "symbol/table_build.h"

/* ---- reading them ---- */

/* How deep a visit is: the list of files, a file, its list of symbols, a symbol. */
enum { DEPTH_FILES = 1, DEPTH_FILE, DEPTH_SYMBOLS, DEPTH_SYMBOL };

struct reading {
    struct pf_embedded *embedded;
    const struct perfile_allocator *allocator;
    struct pf_embedded_file file;
    struct pf_symbol_build build;
    unsigned depth;
    bool in_symbols; /* not in another list of the file */
    uint64_t address, bytes;
    uint32_t name;
    bool has_name;
};

static int begin(void *context, const char *name, bool list)
{
    struct reading *r = context;
    r->depth++;
    if (r->depth == DEPTH_FILE) {
        r->file = (struct pf_embedded_file){.path = NULL};
        pf_build_open(&r->build, r->allocator);
    } else if (r->depth == DEPTH_SYMBOLS) {
        r->in_symbols = list && name && strcmp(name, "symbols") == 0;
    } else if (r->depth == DEPTH_SYMBOL) {
        r->address = r->bytes = 0;
        r->has_name = false;
    }
    return 0;
}

static bool add_symbol(struct reading *r)
{
    uint64_t end;
    if (!r->in_symbols || !r->has_name)
        return true;
    if (!pf_add(r->address, r->bytes, &end))
        end = UINT64_MAX;
    if (!pf_build_add(&r->build, r->address, end, r->name, PF_SYMBOL_GLOBAL))
        return false;
    r->build.entries[r->build.count - 1].rank = 0;
    return true;
}

/* What is known of a file first stays. */
static bool keep_file(struct reading *r)
{
    const uint64_t hash = pf_hash_text(r->file.path);
    uint64_t known;
    struct pf_embedded_file *kept = pf_arena_new(&r->embedded->arena, sizeof(*kept));
    struct pf_symbol_table *table = kept ? pf_symbol_table_new(r->allocator) : NULL;
    if (!table)
        return false;
    bool done = pf_build_sort(&r->build);
    if (done) {
        pf_build_choose(&r->build);
        done = pf_build_finish(&r->build, table);
    }
    if (!done) {
        pf_symbol_table_close(table);
        return false;
    }
    *kept = r->file;
    kept->table = table;
    kept->next = r->embedded->first;
    r->embedded->first = kept;
    return pf_map_get(&r->embedded->by_path, hash, &known) || pf_map_put(&r->embedded->by_path, hash, (uintptr_t)kept);
}

static int end(void *context, bool list)
{
    struct reading *r = context;
    bool done = true;
    (void)list;
    if (r->depth == DEPTH_SYMBOL)
        done = add_symbol(r);
    if (r->depth == DEPTH_FILE) {
        done = !r->file.path || !r->build.count || keep_file(r);
        pf_build_close(&r->build);
    }
    r->depth--;
    return !done;
}

static bool is_called(const struct perfile_value *value, const char *name)
{
    return value->name && strcmp(value->name, name) == 0;
}

static bool take_of_file(struct reading *r, const struct perfile_value *value)
{
    if (is_called(value, "path")) {
        r->file.path = pf_arena_text(&r->embedded->arena, value->data, value->bytes);
        return r->file.path;
    }
    if (is_called(value, "type"))
        r->file.type = value->number.u;
    if (is_called(value, "min_vaddr"))
        r->file.min_vaddr = value->number.u;
    if (is_called(value, "file_offset_of_min_vaddr") || is_called(value, "memory_offset_of_min_vaddr")) {
        r->file.offset = value->number.u;
        r->file.has_offset = true;
    }
    return true;
}

static bool take_of_symbol(struct reading *r, const struct perfile_value *value)
{
    if (is_called(value, "vaddr"))
        r->address = value->number.u;
    if (is_called(value, "len"))
        r->bytes = value->number.u;
    if (!is_called(value, "name"))
        return true;
    r->has_name = true;
    return pf_build_text(&r->build, value->data, value->bytes, &r->name);
}

static int take_value(void *context, const struct perfile_value *value)
{
    struct reading *r = context;
    if (r->depth == DEPTH_FILE)
        return !take_of_file(r, value);
    if (r->depth == DEPTH_SYMBOL && r->in_symbols)
        return !take_of_symbol(r, value);
    return 0;
}

int pf_embedded_open(struct pf_embedded *embedded, struct perfile_reader *reader,
                     const struct perfile_allocator *allocator, struct perfile_error *error)
{
    static const uint32_t features[] = {PERFILE_FEATURE_FILE2, PERFILE_FEATURE_FILE};
    pf_arena_open(&embedded->arena, allocator);
    pf_map_open(&embedded->by_path, allocator);
    for (size_t i = 0; i < PF_COUNT(features); i++) {
        struct reading r = {.embedded = embedded, .allocator = allocator};
        const struct perfile_visitor visitor = {
            .size = sizeof(visitor), .context = &r, .begin = begin, .end = end, .value = take_value};
        const int code = perfile_feature_visit(reader, features[i], &visitor, NULL);
        if (r.depth >= DEPTH_FILE)
            pf_build_close(&r.build);
        if (code == PERFILE_ERROR_STOPPED || code == PERFILE_ERROR_MEMORY)
            return pf_fail_memory(error, "symbols");
    }
    return 0;
}

void pf_embedded_close(struct pf_embedded *embedded)
{
    for (struct pf_embedded_file *file = embedded->first; file; file = file->next)
        pf_symbol_table_close(file->table);
    pf_map_close(&embedded->by_path);
    pf_arena_close(&embedded->arena);
}

/* ---- asking them ---- */

const struct pf_embedded_file *pf_embedded_find(const struct pf_embedded *embedded, const char *path)
{
    uint64_t known;
    const struct pf_embedded_file *file = pf_map_get(&embedded->by_path, pf_hash_text(path), &known)
                                              ? (const struct pf_embedded_file *)(uintptr_t)known
                                              : NULL;
    return file && strcmp(file->path, path) == 0 ? file : NULL;
}

uint64_t pf_embedded_address(const struct pf_embedded_file *file, const struct perfile_map *map, uint64_t ip)
{
    enum { PROT_JIT = 0x4000 }; /* simpleperf's: a piece of code that a JIT made; its symbol has the run-time address */
    if (map->prot & PROT_JIT)
        return ip;
    switch (file->type) {
    case PF_EMBEDDED_ELF:
        return ip - map->start + file->min_vaddr + (file->has_offset ? map->pgoff - file->offset : 0);
    case PF_EMBEDDED_KERNEL_MODULE:
        return ip - map->start + file->min_vaddr - file->offset;
    case PF_EMBEDDED_DEX:
        return ip - map->start + map->pgoff;
    default:
        return ip;
    }
}
