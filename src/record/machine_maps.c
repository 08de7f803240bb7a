/* SPDX-License-Identifier: MIT */
/* /proc/PID/maps: "55f0-55f8 r-xp 00002000 fe:00 1234    /usr/bin/name". */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "record/machine_walk.h"

struct mapping {
    struct perfile_mmap2 record;
    struct pf_file_key key;
    int process;
    const char *name;
    uint16_t misc;
};

/* ---- build ids ---- */

static bool is_deleted(const char *name)
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(name);
    return length >= sizeof(mark) && strcmp(name + length - (sizeof(mark) - 1), mark) == 0;
}

/*
 * The file that is mapped, whatever its path leads to now; that takes privileges. Else the path, in the process's root.
 */
static bool read_mapped(struct pf_walker *walker, const struct mapping *mapping, struct pf_build_id *id)
{
    char path[64];
    const struct perfile_mmap2 *record = &mapping->record;
    id->size = 0;
    if (pf_path(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, record->addr, record->addr + record->len) &&
        pf_build_id_from_path(mapping->process, path, NULL, id))
        return true;
    return !is_deleted(mapping->name) && pf_path(walker->path, sizeof(walker->path), "root%s", mapping->name) &&
           pf_build_id_from_path(mapping->process, walker->path, NULL, id);
}

static void add_build_id(struct pf_walker *walker, struct mapping *mapping)
{
    struct pf_build_ids *ids = walker->walk->build_ids;
    struct pf_build_id id;
    if (mapping->name[0] != '/' || mapping->name[1] == '/' || !mapping->key.inode)
        return;
    mapping->key.name_hash = pf_hash_text(mapping->name);
    if (!pf_build_ids_find(ids, &mapping->key, &id)) {
        if (!read_mapped(walker, mapping, &id))
            return;
        pf_build_ids_keep(ids, &mapping->key, &id);
    }
    if (!id.size)
        return;
    mapping->misc |= PERFILE_MISC_MMAP_BUILD_ID;
    mapping->record.build_id_size = id.size;
    memcpy(mapping->record.build_id, id.bytes, sizeof(id.bytes));
}

/* ---- lines ---- */

static bool take_number(const char **at, unsigned base, char after, uint64_t *value)
{
    const char *text = *at;
    *value = 0;
    for (; isxdigit((unsigned char)*text); text++) {
        unsigned digit = *text <= '9' ? (unsigned)(*text - '0') : (unsigned)((*text | 32) - 'a' + 10);
        if (digit >= base)
            return false;
        *value = *value * base + digit;
    }
    if (text == *at || *text != after)
        return false;
    *at = text + 1;
    return true;
}

static uint32_t protection(const char *mode)
{
    return (mode[0] == 'r' ? PROT_READ : 0u) | (mode[1] == 'w' ? PROT_WRITE : 0u) | (mode[2] == 'x' ? PROT_EXEC : 0u);
}

static bool is_wanted(const struct pf_walk *walk, uint32_t prot)
{
    return prot & PROT_EXEC || (walk->options->data_maps && prot & PROT_READ);
}

/* All in front of the name; false: not of interest, or not a line of maps. */
static bool parse_line(const struct pf_walk *walk, const char *line, struct mapping *mapping)
{
    struct perfile_mmap2 *record = &mapping->record;
    uint64_t end, major, minor;
    const char *at = line;
    if (!take_number(&at, 16, '-', &record->addr) || !take_number(&at, 16, ' ', &end) || strnlen(at, 5) < 5)
        return false;
    record->prot = protection(at);
    record->flags = at[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
    if (!is_wanted(walk, record->prot) || end <= record->addr || at[4] != ' ')
        return false;
    at += 5;
    if (!take_number(&at, 16, ' ', &record->pgoff) || !take_number(&at, 16, ':', &major) ||
        !take_number(&at, 16, ' ', &minor))
        return false;
    record->len = end - record->addr;
    for (record->ino = 0; isdigit((unsigned char)*at); at++)
        record->ino = record->ino * 10 + (unsigned)(*at - '0');
    record->maj = (uint32_t)major;
    record->min = (uint32_t)minor;
    mapping->key = (struct pf_file_key){record->maj, record->min, record->ino, 0};
    mapping->name = at + strspn(at, " ");
    mapping->misc = PERFILE_MISC_USER;
    if (!(record->prot & PROT_EXEC))
        mapping->misc |= PERFILE_MISC_MMAP_DATA;
    return true;
}

/*
 * The kernel writes \012 for a newline in a name, and its own records have the newline itself. A backslash is not
 * marked: the link in map_files says what it was, where we may read it.
 */
static void restore_newlines(struct pf_walker *walker, struct mapping *mapping, char *name)
{
    char path[64], *to = name;
    const struct perfile_mmap2 *record = &mapping->record;
    if (!strstr(name, "\\012"))
        return;
    if (pf_path(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, record->addr, record->addr + record->len)) {
        ssize_t length = readlinkat(mapping->process, path, walker->path, sizeof(walker->path) - 1);
        if (length > 0 && (size_t)length <= strlen(name)) {
            memcpy(name, walker->path, (size_t)length);
            name[length] = 0;
            return;
        }
    }
    for (const char *from = name; *from; to++) {
        bool newline = pf_starts_with(from, "\\012");
        *to = newline ? '\n' : *from;
        from += newline ? 4 : 1;
    }
    *to = 0;
}

static void name_anonymous(const struct pf_walk *walk, struct mapping *mapping)
{
    bool huge = walk->huge[0] && pf_starts_with(mapping->name, walk->huge);
    if (huge)
        mapping->record.flags |= MAP_HUGETLB;
    if (huge || !mapping->name[0])
        mapping->name = "//anon";
}

/* A line without its newline. */
static bool synthesize_line(struct pf_walker *walker, char *line, int process, int32_t pid)
{
    struct mapping mapping = {.record = {.pid = pid, .tid = pid}, .process = process};
    if (!parse_line(walker->walk, line, &mapping))
        return true;
    restore_newlines(walker, &mapping, line + (mapping.name - line));
    name_anonymous(walker->walk, &mapping);
    if (walker->walk->options->build_ids)
        add_build_id(walker, &mapping);
    return pf_walk_put(walker, &(struct pf_walk_item){.type = PERFILE_RECORD_MMAP2,
                                                      .misc = mapping.misc,
                                                      .record = &mapping.record,
                                                      .bytes = sizeof(mapping.record),
                                                      .pointer_at = offsetof(struct perfile_mmap2, filename),
                                                      .extra = mapping.name,
                                                      .extra_bytes = strlen(mapping.name) + 1});
}

/* Makes records of the complete lines in the buffer and moves the rest to its start; false: stop. */
static bool synthesize_lines(struct pf_walker *walker, size_t *used, int process, int32_t pid)
{
    char *at = walker->file, *end = at + *used, *newline;
    bool go_on = true;
    for (; go_on && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        *newline = 0;
        go_on = synthesize_line(walker, at, process, pid);
    }
    if (at == walker->file && *used == sizeof(walker->file) - 1)
        at = end; /* no path is so long */
    *used = (size_t)(end - at);
    memmove(walker->file, at, *used);
    return go_on;
}

void pf_maps_synthesize(struct pf_walker *walker, int process, int maps, int32_t pid)
{
    size_t used = 0;
    for (bool go_on = true; go_on;) {
        ssize_t got = read(maps, walker->file + used, sizeof(walker->file) - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return; /* what is left is not a complete line: the process has ended meanwhile */
        used += (size_t)got;
        go_on = synthesize_lines(walker, &used, process, pid);
    }
}
