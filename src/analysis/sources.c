/* SPDX-License-Identifier: MIT */
#include "analysis/sources.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "symbol/find/bundle.h"

enum { FILE_BYTES_MAX = 16 << 20, KEPT_BYTES_MAX = 256 << 20, PATH_BYTES_MAX = 4096 };

void pf_sources_open(struct pf_sources *sources, const char *folders, const char *symfs,
                     const struct perfile_allocator *allocator)
{
    *sources = (struct pf_sources){.allocator = allocator, .folders = folders, .symfs = symfs};
    pf_arena_open(&sources->arena, allocator);
    pf_map_open(&sources->by_name, allocator);
    pf_map_open(&sources->by_text, allocator);
}

void pf_sources_close(struct pf_sources *sources)
{
    if (!sources->allocator)
        return;
    for (size_t i = 0; i < sources->count; i++) {
        struct pf_source *file = &sources->files[i];
        pf_free(sources->allocator, file->text, file->bytes + 1);
        pf_free(sources->allocator, file->starts, file->line_capacity * sizeof(*file->starts));
    }
    pf_free(sources->allocator, sources->files, sources->capacity * sizeof(*sources->files));
    pf_map_close(&sources->by_name);
    pf_map_close(&sources->by_text);
    pf_arena_close(&sources->arena);
}

/* ---- where a file is --------------------------------------------------------------------------------------------- */

/* The file becomes `found` if it is one. */
static bool try_path(struct pf_sources *sources, struct pf_source *found, const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool fits = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
                      about.st_size <= FILE_BYTES_MAX && sources->kept_bytes + (size_t)about.st_size <= KEPT_BYTES_MAX;
    if (fits && (found->text = pf_resize(sources->allocator, NULL, 0, (size_t)about.st_size + 1))) {
        found->bytes = (size_t)about.st_size;
        found->changed = about.st_mtim;
        found->path = pf_arena_text(&sources->arena, path, strlen(path));
        if (read(fd, found->text, found->bytes) != (ssize_t)found->bytes) {
            pf_free(sources->allocator, found->text, found->bytes + 1);
            found->text = NULL;
            found->path = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return found->text;
}

static bool try_below(struct pf_sources *sources, struct pf_source *found, const char *folder, size_t bytes,
                      const char *name)
{
    char path[PATH_BYTES_MAX];
    return snprintf(path, sizeof(path), "%.*s/%s", (int)bytes, folder, name) < (int)sizeof(path) &&
           try_path(sources, found, path);
}

/* Tries the complete path, then without its first folders one after the other. */
static bool try_folder(struct pf_sources *sources, struct pf_source *found, const char *folder, size_t bytes)
{
    const char *name = found->name;
    while (name) {
        name += strspn(name, "/");
        if (try_below(sources, found, folder, bytes, name))
            return true;
        name = strchr(name, '/');
    }
    return false;
}

static struct perfile_used_file used_file(const struct pf_source *file)
{
    return (struct perfile_used_file){.kind = "source", .name = file->name, .path = file->path, .build_id = ""};
}

static bool try_bundle(struct pf_sources *sources, struct pf_source *found)
{
    char name[PF_BUNDLE_NAME_BYTES_MAX + 1], path[PF_BUNDLE_PATH_BYTES];
    const struct perfile_used_file file = used_file(found);
    return sources->find && pf_bundle_name(&file, name, sizeof(name)) && pf_bundle_path(sources->find, name, path) &&
           try_path(sources, found, path);
}

static bool search(struct pf_sources *sources, struct pf_source *found)
{
    for (const char *folder = sources->folders; folder && *folder;) {
        const size_t bytes = strcspn(folder, ":");
        if (bytes && try_folder(sources, found, folder, bytes))
            return true;
        folder += bytes + (folder[bytes] == ':');
    }
    const char *symfs = sources->symfs && *sources->symfs ? sources->symfs : NULL;
    return (!symfs && try_bundle(sources, found)) ||
           (symfs && try_below(sources, found, symfs, strlen(symfs), found->name)) ||
           try_path(sources, found, found->name);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* False: out of memory. */
static bool index_lines(struct pf_sources *sources, struct pf_source *file)
{
    char *line = file->text, *end = line + file->bytes;
    *end = '\0';
    while (line < end) {
        if (!PF_APPEND(sources->allocator, file->starts, file->line_count, file->line_capacity,
                       (uint32_t)(line - file->text)))
            return false;
        char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        if (stop > line && stop[-1] == '\r')
            stop[-1] = '\0';
        *stop = '\0';
        line = stop + 1;
    }
    return true;
}

static bool load(struct pf_sources *sources, struct pf_source *file, pf_source_fetch *fetch, void *context)
{
    const char *fetched = !search(sources, file) && fetch ? fetch(context, file->name) : NULL;
    if (fetched)
        (void)try_path(sources, file, fetched);
    const struct perfile_used_file used = used_file(file);
    if (sources->find && sources->find->used)
        sources->find->used(sources->find->used_context, &used);
    sources->kept_bytes += file->bytes;
    return !pf_memory_was_short(sources->allocator) && (!file->text || index_lines(sources, file));
}

const struct pf_source *pf_sources_find(struct pf_sources *sources, const char *name, pf_source_fetch *fetch,
                                        void *context)
{
    uint64_t index;
    const uint64_t hash = pf_hash_text(name);
    if (pf_map_get(&sources->by_name, (uintptr_t)name, &index))
        return &sources->files[index];
    if (!pf_map_get(&sources->by_text, hash, &index) || strcmp(sources->files[index].name, name) != 0) {
        index = sources->count;
        if (!PF_APPEND(sources->allocator, sources->files, sources->count, sources->capacity,
                       (struct pf_source){.name = name}))
            return NULL;
        if (!load(sources, &sources->files[index], fetch, context) || !pf_map_put(&sources->by_text, hash, index))
            return NULL;
    }
    return pf_map_put(&sources->by_name, (uintptr_t)name, index) ? &sources->files[index] : NULL;
}
