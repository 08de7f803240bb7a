/* SPDX-License-Identifier: MIT */
#include "record/kept_files.h"

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

enum { FILE_BYTES_MAX = 64 << 20, ALL_BYTES_MAX = 256 << 20, INTERVAL_NS = 200000000 };

static void close_one(int file)
{
    if (file >= 0)
        close(file);
}

void pf_kept_files_close(struct pf_kept_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        close_one(files->items[i].file);
        close_one(files->items[i].folder);
    }
    files->count = 0;
}

/* ---- keeping ---- */

static int32_t own_pid(uint32_t pid)
{
    char path[32], status[4096];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
    return pf_read_at(AT_FDCWD, path, status, sizeof(status)) < 0 ? (int32_t)pid : pf_own_pid(status, (int32_t)pid);
}

/* Links in a container must not lead out of it. */
static int open_in(int root, const char *path, int flags)
{
    const struct open_how how = {.flags = (uint32_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
    return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static int open_root(uint32_t pid)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
    return open(path, O_PATH | O_CLOEXEC);
}

/* Opens what the process has under that absolute path; negative when that is what it is outside, too. */
static int open_elsewhere(uint32_t pid, const char *path, int flags)
{
    struct stat here, there;
    const int root = open_root(pid), file = root < 0 ? -1 : open_in(root, path, flags);
    close_one(root);
    const bool is_elsewhere = file >= 0 && fstat(file, &there) == 0 &&
                              (stat(path, &here) < 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino);
    if (is_elsewhere)
        return file;
    close_one(file);
    return -1;
}

static struct pf_kept_file *find_kept(struct pf_kept_files *files, uint32_t pid, const char *dump)
{
    for (size_t i = 0; i < files->count; i++) {
        struct pf_kept_file *kept = &files->items[i];
        const bool is_wanted = dump ? strcmp(kept->name, dump) == 0 : kept->folder >= 0;
        if (kept->pid == pid && is_wanted)
            return kept;
    }
    return NULL;
}

static void keep_map(struct pf_kept_files *files, uint32_t pid)
{
    struct pf_kept_file *kept = find_kept(files, pid, NULL);
    const int folder =
        kept || files->count == PF_COUNT(files->items) ? -1 : open_elsewhere(pid, "/tmp", O_PATH | O_DIRECTORY);
    if (folder >= 0) {
        kept = &files->items[files->count++];
        *kept = (struct pf_kept_file){.pid = pid, .folder = folder, .file = -1};
        snprintf(kept->name, sizeof(kept->name), "perf-%" PRId32 ".map", own_pid(pid));
    }
    if (kept && kept->file < 0)
        kept->file = open_in(kept->folder, kept->name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
}

static void keep_dump(struct pf_kept_files *files, const struct pf_made_code_dump *dump)
{
    if (find_kept(files, dump->pid, dump->name) || files->count == PF_COUNT(files->items))
        return;
    const int file = open_elsewhere(dump->pid, dump->name, O_RDONLY | O_NONBLOCK);
    if (file < 0)
        return;
    struct pf_kept_file *kept = &files->items[files->count++];
    *kept = (struct pf_kept_file){.pid = dump->pid, .folder = -1, .file = file};
    snprintf(kept->name, sizeof(kept->name), "%s", dump->name);
}

/* False: not yet. */
static bool is_due(struct pf_kept_files *files)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) < 0)
        return false;
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (now_ns - files->looked_ns < INTERVAL_NS)
        return false;
    files->looked_ns = now_ns;
    return true;
}

void pf_kept_files_look(struct pf_kept_files *files, struct pf_made_code *code, bool is_last)
{
    if ((!code->count && !code->dump_count) || (!is_last && !is_due(files)))
        return;
    for (size_t i = 0; i < code->count; i++)
        if (pf_made_code_is_first(code, i))
            keep_map(files, code->regions[i].pid);
    for (size_t i = 0; i < code->dump_count; i++)
        keep_dump(files, &code->dumps[i]);
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].file >= 0)
            pf_made_code_note_map(code, files->items[i].pid);
}

/* ---- writing ---- */

/* Messages as simpleperf's: File {1 path, 2 type, 4 Symbol, 100 content}, Symbol {1 address, 2 bytes, 3 name}. */
enum { FILE_PATH = 1, FILE_TYPE = 2, FILE_SYMBOL = 4, FILE_CONTENT = 100 };
enum { TYPE_OF_MAPS = 4, TYPE_OF_DUMPS = 100 };

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
    const size_t symbol = pf_proto_begin(out, FILE_SYMBOL);
    pf_proto_put_number(out, 1, start);
    pf_proto_put_number(out, 2, bytes);
    pf_proto_put_bytes(out, 3, at + 1, (size_t)(end - at - 1));
    pf_proto_end(out, symbol);
}

static void put_map(const struct pf_kept_file *kept, const char *text, size_t bytes, struct pf_text *message)
{
    char path[32];
    const char *at = text, *end = text + bytes;
    pf_proto_put_bytes(message, FILE_PATH, path,
                       (size_t)snprintf(path, sizeof(path), "perf-%" PRIu32 ".map", kept->pid));
    pf_proto_put_number(message, FILE_TYPE, TYPE_OF_MAPS);
    for (const char *line_end; at < end && (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1)
        put_symbol(message, at, line_end);
}

static void put_dump(const struct pf_kept_file *kept, const char *data, size_t bytes, struct pf_text *message)
{
    char path[PF_MADE_CODE_PATH + 32];
    pf_proto_put_bytes(message, FILE_PATH, path,
                       (size_t)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root%s", kept->pid, kept->name));
    pf_proto_put_number(message, FILE_TYPE, TYPE_OF_DUMPS);
    pf_proto_put_bytes(message, FILE_CONTENT, data, bytes);
}

/* Returns the bytes of a file that can be kept; 0 also for an empty one. */
static size_t bytes_of(const struct pf_kept_file *kept, size_t before, unsigned *left_out)
{
    struct stat about;
    if (kept->file < 0 || fstat(kept->file, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size <= 0)
        return 0;
    const bool fits = about.st_size <= FILE_BYTES_MAX && before + (size_t)about.st_size <= ALL_BYTES_MAX;
    *left_out += !fits;
    return fits ? (size_t)about.st_size : 0;
}

/* False: out of memory. */
static bool put_file(const struct pf_kept_files *files, const struct pf_kept_file *kept, size_t bytes,
                     struct pf_text *body)
{
    struct pf_text message;
    char *data = pf_new(files->allocator, bytes);
    if (pf_text_open(&message, files->allocator, NULL, NULL) < 0 || !data) {
        pf_free(files->allocator, data, bytes);
        return false;
    }
    const size_t read = pf_read_from(kept->file, 0, data, bytes);
    (kept->folder < 0 ? put_dump : put_map)(kept, data, read, &message);
    const uint32_t length = (uint32_t)message.used;
    pf_put(body, &length, sizeof(length));
    pf_put(body, message.data, message.used);
    const bool enough = !message.failed && !body->failed;
    pf_text_close(&message);
    pf_free(files->allocator, data, bytes);
    return enough;
}

bool pf_kept_files_exist(const struct pf_kept_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].file >= 0)
            return true;
    return false;
}

bool pf_kept_files_put(const struct pf_kept_files *files, struct pf_text *body, unsigned *left_out)
{
    bool enough = true;
    for (size_t i = 0; i < files->count && enough; i++) {
        const size_t bytes = bytes_of(&files->items[i], body->used, left_out);
        enough = !bytes || put_file(files, &files->items[i], bytes, body);
    }
    return enough;
}
