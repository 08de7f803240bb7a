/* SPDX-License-Identifier: MIT */
/* Lines of source code, from the files that debug info names. */
#include "output/script/script.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_BYTES_MAX = 16 << 20,
    KEPT_BYTES_MAX = 32 << 20, /* then all texts are forgotten: what is still in use comes back soon */
    PATH_BYTES_MAX = 4096,
};

struct source_file {
    const char *path;
    bool missing;
    char *text; /* NULL: not read, or forgotten */
    size_t bytes;
    uint32_t *starts; /* where the lines begin */
    size_t line_count, line_room;
};

struct pf_script_source {
    struct pf_map by_name; /* the debug info's pointer to a name, to the index of a file */
    struct pf_map by_text; /* hash of a name to the index of the first file that has it */
    struct pf_map last;    /* tid to the line that was printed last, as file << 32 | line */
    struct source_file *files;
    size_t count, room;
    size_t kept_bytes;
};

/* ---- files ------------------------------------------------------------------------------------------------------- */

static struct pf_script_source *open_source(struct pf_script *script)
{
    struct pf_script_source *source = script->source;
    if (source || !(source = pf_arena_new(&script->arena, sizeof(*source))))
        return source;
    pf_map_open(&source->by_name, script->out->allocator);
    pf_map_open(&source->by_text, script->out->allocator);
    pf_map_open(&source->last, script->out->allocator);
    return script->source = source;
}

static void forget(struct pf_script *script, struct source_file *file)
{
    const struct perfile_allocator *allocator = script->out->allocator;
    pf_free(allocator, file->text, file->bytes);
    pf_free(allocator, file->starts, file->line_room * sizeof(*file->starts));
    *file = (struct source_file){.path = file->path, .missing = file->missing};
}

void pf_script_source_close(struct pf_script *script)
{
    struct pf_script_source *source = script->source;
    if (!source)
        return;
    for (size_t i = 0; i < source->count; i++)
        forget(script, &source->files[i]);
    pf_free(script->out->allocator, source->files, source->room * sizeof(*source->files));
    pf_map_close(&source->by_name);
    pf_map_close(&source->by_text);
    pf_map_close(&source->last);
}

/* The index of a file; names live as long as the symbols. False when out of memory. */
static bool find_file(struct pf_script *script, const char *name, uint64_t *index)
{
    struct pf_script_source *source = script->source;
    if (pf_map_get(&source->by_name, (uintptr_t)name, index))
        return true;
    const uint64_t hash = pf_hash_text(name);
    if (!pf_map_get(&source->by_text, hash, index) || strcmp(source->files[*index].path, name) != 0) {
        *index = source->count;
        if (!pf_grow(script->out->allocator, &source->files, &source->room, source->count + 1, sizeof(*source->files)))
            return false;
        source->files[source->count++] = (struct source_file){.path = name};
        if (!pf_map_put(&source->by_text, hash, *index))
            return false;
    }
    return pf_map_put(&source->by_name, (uintptr_t)name, *index);
}

/* Below the folder of --symfs, if there is one and it has it. */
static int open_file(const struct pf_script *script, const char *path)
{
    char below[PATH_BYTES_MAX];
    const char *symfs = script->options->symbols->symfs;
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    int fd = -1;
    if (symfs && *symfs && snprintf(below, sizeof(below), "%s/%s", symfs, path) < (int)sizeof(below))
        fd = open(below, flags);
    return fd >= 0 ? fd : open(path, flags);
}

static bool read_file(struct pf_script *script, struct source_file *file)
{
    struct stat st;
    const int fd = open_file(script, file->path);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= FILE_BYTES_MAX) {
        file->bytes = (size_t)st.st_size;
        file->text = pf_resize(script->out->allocator, NULL, 0, file->bytes);
        if (file->text && read(fd, file->text, file->bytes) != (ssize_t)file->bytes)
            forget(script, file);
    }
    if (fd >= 0)
        close(fd);
    if (!file->text)
        file->bytes = 0;
    return file->text;
}

static bool index_lines(struct pf_script *script, struct source_file *file)
{
    for (const char *line = file->text, *end = line + file->bytes; line && line < end;) {
        if (!pf_grow(script->out->allocator, &file->starts, &file->line_room, file->line_count + 1,
                     sizeof(*file->starts)))
            return false;
        file->starts[file->line_count++] = (uint32_t)(line - file->text);
        line = memchr(line, '\n', (size_t)(end - line));
        line += line ? 1 : 0;
    }
    return true;
}

/* False when there is no such file. */
static bool load_file(struct pf_script *script, struct source_file *file)
{
    struct pf_script_source *source = script->source;
    if (file->text || file->missing)
        return file->text;
    if (source->kept_bytes > KEPT_BYTES_MAX) {
        for (size_t i = 0; i < source->count; i++)
            forget(script, &source->files[i]);
        source->kept_bytes = 0;
    }
    file->missing = !read_file(script, file) || !index_lines(script, file);
    if (file->missing)
        forget(script, file);
    source->kept_bytes += file->bytes + file->line_room * sizeof(*file->starts);
    return !file->missing;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void put_line(struct pf_text *out, const struct source_file *file, uint32_t line)
{
    const char *start = file->text + file->starts[line - 1];
    const size_t rest = file->bytes - file->starts[line - 1];
    const char *end = memchr(start, '\n', rest);
    pf_put_format(out, "|%-8" PRIu32 " ", line);
    pf_put_name_bytes(out, start, end ? (size_t)(end - start) : rest);
}

/* False when out of memory. */
static bool put_source(struct pf_script *script, const struct pf_source_frame *frame, const char *lead, const char *end)
{
    struct pf_script_source *source = open_source(script);
    uint64_t index, last;
    if (!source || !find_file(script, frame->file, &index))
        return false;
    const uint64_t tid = (uint32_t)script->item.sample.tid, here = index << 32 | frame->line;
    struct source_file *file = &source->files[index];
    if ((pf_map_get(&source->last, tid, &last) && last == here) || !load_file(script, file) || !frame->line ||
        frame->line > file->line_count)
        return true;
    pf_put_string(script->out, lead);
    put_line(script->out, file, frame->line);
    pf_put_string(script->out, end);
    return pf_map_put(&source->last, tid, here);
}

void pf_script_put_source_code(struct pf_script *script, unsigned mode, uint64_t address, const char *lead,
                               const char *end)
{
    struct pf_script_spot spot;
    struct pf_source_frame frame;
    if (!pf_script_locate(script, mode, address, &spot) || !spot.map ||
        !pf_symbols_inlines(script->symbols, &spot.location, &frame, 1) || !frame.file)
        return;
    if (!put_source(script, &frame, lead, end))
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
}

/* A line of its own; the last of them ends as the sample's line would have. */
char *pf_script_put_srccode(struct pf_script *script, char *at)
{
    pf_script_leave(script, at);
    pf_script_put_source_code(script, script->item.record->misc & PERFILE_MISC_CPUMODE_MASK, script->item.sample.ip,
                              "\n", "");
    return pf_script_enter(script);
}
