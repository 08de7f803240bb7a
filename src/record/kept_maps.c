/* SPDX-License-Identifier: MIT */
#include "record/kept_maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/protobuf.h"
#include "record/machine_files.h"

enum { FILE_BYTES_MAX = 64 << 20, INTERVAL_NS = 200000000 };

void pf_kept_maps_close(struct pf_kept_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++)
        pf_text_close(&maps->items[i].text);
    maps->count = 0;
}

/* ---- keeping ---- */

static int32_t own_pid(uint32_t pid)
{
    char path[32], status[4096];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
    return pf_read_at(AT_FDCWD, path, status, sizeof(status)) < 0 ? (int32_t)pid : pf_own_pid(status, (int32_t)pid);
}

/* Links in a container must not lead out of it. Negative when it is missing, or when its /tmp is the one outside. */
static int open_map(uint32_t pid)
{
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, .resolve = RESOLVE_IN_ROOT};
    char path[32], name[48];
    struct stat here, there;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
    const int root = open(path, O_PATH | O_CLOEXEC);
    if (root < 0)
        return -1;
    snprintf(name, sizeof(name), "tmp/perf-%" PRId32 ".map", own_pid(pid));
    const bool is_elsewhere = stat("/tmp", &here) == 0 && fstatat(root, "tmp", &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                              (here.st_dev != there.st_dev || here.st_ino != there.st_ino);
    const int map = is_elsewhere ? (int)syscall(SYS_openat2, root, name, &how, sizeof(how)) : -1;
    close(root);
    return map;
}

static struct pf_kept_map *kept_of(struct pf_kept_maps *maps, uint32_t pid)
{
    for (size_t i = 0; i < maps->count; i++)
        if (maps->items[i].pid == pid)
            return &maps->items[i];
    if (maps->count == PF_COUNT(maps->items) ||
        pf_text_open(&maps->items[maps->count].text, maps->allocator, NULL, NULL) < 0)
        return NULL;
    maps->items[maps->count].pid = pid;
    return &maps->items[maps->count++];
}

/* Files grow; one that is shorter was written anew. */
static void keep(struct pf_kept_maps *maps, uint32_t pid, int file)
{
    struct stat about;
    if (fstat(file, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size <= 0 || about.st_size > FILE_BYTES_MAX)
        return;
    struct pf_kept_map *kept = kept_of(maps, pid);
    const size_t bytes = (size_t)about.st_size;
    if (!kept || kept->text.used == bytes)
        return;
    char *text = pf_new(maps->allocator, bytes);
    const size_t read = text ? pf_read_from(file, 0, text, bytes) : 0;
    if (read) {
        kept->text.used = 0;
        pf_put(&kept->text, text, read);
    }
    pf_free(maps->allocator, text, bytes);
}

void pf_kept_maps_look(struct pf_kept_maps *maps, struct pf_made_code *code)
{
    struct timespec now;
    if (!code->count || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
        return;
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (now_ns - maps->looked_ns < INTERVAL_NS)
        return;
    maps->looked_ns = now_ns;
    for (size_t i = 0; i < code->count; i++) {
        const int map = pf_made_code_is_first(code, i) ? open_map(code->regions[i].pid) : -1;
        if (map < 0)
            continue;
        keep(maps, code->regions[i].pid, map);
        close(map);
        pf_made_code_note_map(code, code->regions[i].pid);
    }
}

/* ---- writing ---- */

/* Messages as simpleperf's: File {1 path, 2 type, 4 Symbol}, Symbol {1 address, 2 bytes, 3 name}. */
enum { TYPE_OF_MAPS = 4 };

/* "7f0000001000 40 name"; other lines are left out. */
static void put_symbol(struct pf_text *out, const char *line, const char *end)
{
    char *at;
    const uint64_t start = strtoull(line, &at, 16);
    if (at == line || *at != ' ')
        return;
    const char *second = at + 1;
    const uint64_t bytes = strtoull(second, &at, 16);
    if (at == second || *at != ' ' || at + 1 >= end)
        return;
    const size_t symbol = pf_proto_begin(out, 4);
    pf_proto_put_number(out, 1, start);
    pf_proto_put_number(out, 2, bytes);
    pf_proto_put_bytes(out, 3, at + 1, (size_t)(end - at - 1));
    pf_proto_end(out, symbol);
}

static void put_file(const struct pf_kept_map *map, struct pf_text *file)
{
    char path[32];
    const char *at = map->text.data, *end = at + map->text.used;
    file->used = 0;
    pf_proto_put_bytes(file, 1, path, (size_t)snprintf(path, sizeof(path), "perf-%" PRIu32 ".map", map->pid));
    pf_proto_put_number(file, 2, TYPE_OF_MAPS);
    for (const char *line_end; at < end && (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1)
        put_symbol(file, at, line_end);
}

bool pf_kept_maps_put(const struct pf_kept_maps *maps, struct pf_text *body)
{
    struct pf_text file;
    bool enough = pf_text_open(&file, maps->allocator, NULL, NULL) == 0;
    for (size_t i = 0; i < maps->count && enough; i++) {
        put_file(&maps->items[i], &file);
        const uint32_t bytes = (uint32_t)file.used;
        pf_put(body, &bytes, sizeof(bytes));
        pf_put(body, file.data, file.used);
        enough = !file.failed && !body->failed;
    }
    pf_text_close(&file);
    return enough;
}
