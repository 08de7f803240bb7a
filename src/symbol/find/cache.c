/* SPDX-License-Identifier: MIT */
/*
 * Writing perf's build-id cache: NAME/ID/elf is a copy of the file NAME, and .build-id/xx/yyy a link to ../../NAME/ID.
 * Names are walked part by part without following links, so nothing outside of the folder is touched, whoever made it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfile/analysis.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/locale.h"
#include "base/memory.h"
#include "base/sized.h"

enum {
    HEX_CAPACITY = 2 * 20 + 1,
    PATH_CAPACITY = PATH_MAX,
    BLOCK_BYTES = 1 << 16,
    FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC
};

/* A cache that is open. */
struct cache {
    int root; /* the folder */
    char path[PATH_CAPACITY];
};

static int fail(struct perfile_error *error, int code, const char *path, int number)
{
    return pf_fail(error, code, PERFILE_NO_OFFSET, "build-id cache", "%s: %s", path, pf_error_text(number));
}

static void put_hex(const uint8_t *id, size_t bytes, char hex[HEX_CAPACITY])
{
    hex[0] = 0;
    for (size_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
}

/* ---- folders ---- */

/* The default is perf's. */
static int open_cache(const char *folder, bool make, struct cache *cache, struct perfile_error *error)
{
    const char *home = getenv("HOME");
    if (!folder && (!home || !*home))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "build-id cache", "HOME is not set");
    const int bytes =
        snprintf(cache->path, sizeof(cache->path), "%s%s", folder ? folder : home, folder ? "" : "/.debug");
    if (bytes < 0 || bytes >= PATH_CAPACITY)
        return fail(error, PERFILE_ERROR_LIMIT, folder ? folder : home, ENAMETOOLONG);
    if (make && (!pf_make_folders(cache->path) || (mkdir(cache->path, 0755) < 0 && errno != EEXIST)))
        return fail(error, PERFILE_ERROR_WRITE, cache->path, errno);
    cache->root = open(cache->path, FOLDER_FLAGS);
    return cache->root < 0 ? fail(error, PERFILE_ERROR_OPEN, cache->path, errno) : 0;
}

/* The next part of a path; false when there is none. */
static bool next_part(const char **path, char part[NAME_MAX + 1], bool *fine)
{
    *path += strspn(*path, "/");
    const size_t length = strcspn(*path, "/");
    *fine = length <= NAME_MAX;
    if (!length || !*fine)
        return false;
    memcpy(part, *path, length);
    part[length] = 0;
    *path += length;
    *fine = strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
    return *fine;
}

/* Opens a folder below another one, and makes it if `make` is set; below 0 with errno. */
static int open_below(int root, const char *path, bool make)
{
    char part[NAME_MAX + 1];
    bool fine = true;
    int fd = dup(root);
    while (fd >= 0 && next_part(&path, part, &fine)) {
        const int made = make && mkdirat(fd, part, 0755) < 0 && errno != EEXIST ? -1 : 0;
        const int next = made < 0 ? -1 : openat(fd, part, FOLDER_FLAGS | O_NOFOLLOW);
        const int number = errno;
        close(fd);
        fd = next;
        errno = number;
    }
    if (fd >= 0 && !fine) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* ---- links ---- */

/* What .build-id/xx/yyy leads to: the name and the id, as a path below the cache; false: it leads elsewhere. */
static bool read_link(int folder, const char *rest, const char *hex, char target[PATH_CAPACITY])
{
    static const char up[] = "../../";
    const ssize_t length = readlinkat(folder, rest, target, PATH_CAPACITY - 1);
    if (length <= (ssize_t)(sizeof(up) - 1 + strlen(hex)))
        return false;
    target[length] = 0;
    const size_t at = (size_t)length - strlen(hex);
    if (strncmp(target, up, sizeof(up) - 1) != 0 || strcmp(target + at, hex) != 0 || target[at - 1] != '/')
        return false;
    memmove(target, target + sizeof(up) - 1, (size_t)length + 1 - (sizeof(up) - 1));
    return true;
}

static int open_link_folder(const struct cache *cache, const char *hex, bool make)
{
    char path[16];
    snprintf(path, sizeof(path), ".build-id/%.2s", hex);
    return open_below(cache->root, path, make);
}

/* Makes the link under another name first: other processes see the old one or the new one. */
static bool put_link(const struct cache *cache, const char *name, const char *hex)
{
    char target[PATH_CAPACITY], temporary[HEX_CAPACITY + 32];
    const char *slash = *name == '/' ? "" : "/";
    const int folder = open_link_folder(cache, hex, true);
    if (folder < 0)
        return false;
    bool fine = snprintf(target, sizeof(target), "../..%s%s/%s", slash, name, hex) < PATH_CAPACITY;
    snprintf(temporary, sizeof(temporary), ".%s.%ld", hex + 2, (long)getpid());
    fine = fine && symlinkat(target, folder, temporary) == 0;
    if (fine && renameat(folder, temporary, folder, hex + 2) < 0) {
        unlinkat(folder, temporary, 0);
        fine = false;
    }
    close(folder);
    return fine;
}

/* ---- adding ---- */

static bool copy_bytes(int from, int to)
{
    uint8_t block[BLOCK_BYTES];
    ssize_t got;
    while ((got = read(from, block, sizeof(block))) > 0)
        if (!pf_write_all(to, block, (size_t)got))
            return false;
    return got == 0;
}

static bool copy_to(int from, int folder)
{
    char temporary[32];
    struct stat about;
    snprintf(temporary, sizeof(temporary), ".elf.%ld", (long)getpid());
    const int to =
        fstat(from, &about) < 0
            ? -1
            : openat(folder, temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, about.st_mode & 0777);
    if (to < 0)
        return false;
    bool fine = copy_bytes(from, to);
    fine = close(to) == 0 && fine && renameat(folder, temporary, folder, "elf") == 0;
    if (!fine)
        unlinkat(folder, temporary, 0);
    return fine;
}

/* The copy and the link to it. 1, 0 when both are there, below 0 with errno. */
static int add_file(const struct cache *cache, int from, const char *name, const char *hex)
{
    char path[PATH_CAPACITY], target[PATH_CAPACITY];
    struct stat about;
    if (snprintf(path, sizeof(path), "%s/%s", name, hex) >= PATH_CAPACITY) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int folder = open_below(cache->root, path, true);
    if (folder < 0)
        return -1;
    const int links = open_link_folder(cache, hex, false);
    const bool is_linked = links >= 0 && read_link(links, hex + 2, hex, target);
    const bool is_there = fstatat(folder, "elf", &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode);
    const bool fine = (is_there || copy_to(from, folder)) && (is_linked || put_link(cache, name, hex));
    if (links >= 0)
        close(links);
    close(folder);
    return !fine ? -1 : !(is_there && is_linked);
}

int perfile_build_id_cache_add(const char *folder, const char *path, const char *name, struct perfile_error *error)
{
    struct cache cache;
    uint8_t id[20];
    char hex[HEX_CAPACITY];
    const int bytes = perfile_elf_build_id(path, id, error);
    if (bytes < 0)
        return bytes;
    if (!bytes)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "build-id cache", "%s has no build id", path);
    put_hex(id, (size_t)bytes, hex);
    char real[PATH_MAX];
    if (!name && !realpath(path, real))
        return fail(error, PERFILE_ERROR_OPEN, path, errno);
    int result = open_cache(folder, true, &cache, error);
    if (result == 0) {
        const int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        result = from < 0 ? -1 : add_file(&cache, from, name ? name : real, hex);
        if (result < 0)
            result =
                fail(error, from < 0 ? PERFILE_ERROR_OPEN : PERFILE_ERROR_WRITE, from < 0 ? path : cache.path, errno);
        if (from >= 0)
            close(from);
        close(cache.root);
    }
    return result;
}

/* ---- removing ---- */

/* All files of a folder that lies in no other; folders in it stay. */
static void empty_folder(int fd)
{
    const int copy = dup(fd);
    DIR *items = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *item;
    while (items && (item = readdir(items)))
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
            unlinkat(fd, item->d_name, 0);
    if (items)
        closedir(items);
    else if (copy >= 0)
        close(copy);
}

/* The last part of the path, and the folders above it as long as they are empty. */
static void remove_path(const struct cache *cache, char *path)
{
    char *slash;
    int flags = AT_REMOVEDIR;
    const int folder = open_below(cache->root, path, false);
    if (folder >= 0) {
        empty_folder(folder);
        close(folder);
    } else if (errno == ENOTDIR) { /* before perf 4.11 it was the file itself */
        flags = 0;
    }
    while ((slash = strrchr(path, '/'))) {
        *slash = 0;
        const int above = open_below(cache->root, path, false);
        const bool gone = above >= 0 && unlinkat(above, slash + 1, flags) == 0;
        if (above >= 0)
            close(above);
        if (!gone)
            return;
        flags = AT_REMOVEDIR;
    }
    unlinkat(cache->root, path, AT_REMOVEDIR);
}

int perfile_build_id_cache_remove(const char *folder, const uint8_t *build_id, size_t bytes,
                                  struct perfile_error *error)
{
    struct cache cache;
    char hex[HEX_CAPACITY], target[PATH_CAPACITY], path[16];
    if (bytes < 2 || bytes > 20)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "build-id cache",
                       "invalid build id of %zu bytes", bytes);
    put_hex(build_id, bytes, hex);
    int result = open_cache(folder, false, &cache, error);
    if (result < 0)
        return result;
    const int links = open_link_folder(&cache, hex, false);
    if (links >= 0) {
        const bool known = read_link(links, hex + 2, hex, target);
        result = unlinkat(links, hex + 2, 0) == 0;
        if (!result && errno != ENOENT)
            result = fail(error, PERFILE_ERROR_WRITE, cache.path, errno);
        if (known && result > 0)
            remove_path(&cache, target);
        close(links);
        snprintf(path, sizeof(path), ".build-id/%.2s", hex);
        unlinkat(cache.root, path, AT_REMOVEDIR); /* unless there are others */
    }
    close(cache.root);
    return result;
}

/* ---- listing ---- */

struct entry {
    char hex[HEX_CAPACITY];
    char *name; /* owned */
    size_t name_capacity;
};

struct entries {
    const struct perfile_allocator *allocator;
    struct entry *list; /* owned */
    size_t count, capacity;
    bool no_memory;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->hex, ((const struct entry *)b)->hex);
}

static bool is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

static void add_entry(struct entries *entries, const char *hex, char *target)
{
    if (!pf_grow(entries->allocator, &entries->list, &entries->capacity, entries->count + 1, sizeof(*entries->list))) {
        entries->no_memory = true;
        return;
    }
    struct entry *entry = &entries->list[entries->count];
    memcpy(entry->hex, hex, HEX_CAPACITY);
    target[strlen(target) - strlen(hex) - 1] = 0;
    /* paths began with a slash, [vdso] and the like did not */
    const char *slash = *target == '[' ? "" : "/";
    entry->name_capacity = strlen(slash) + strlen(target) + 1;
    entry->name = pf_resize(entries->allocator, NULL, 0, entry->name_capacity);
    entries->no_memory = !entry->name;
    if (!entry->name)
        return;
    snprintf(entry->name, entry->name_capacity, "%s%s", slash, target);
    entries->count++;
}

/* Broken links are no entries. */
static void take_links(const struct cache *cache, const char *prefix, struct entries *entries)
{
    char path[16], hex[HEX_CAPACITY], target[PATH_CAPACITY];
    struct stat about;
    snprintf(path, sizeof(path), ".build-id/%s", prefix);
    const int fd = open_below(cache->root, path, false);
    DIR *links = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *link;
    while (links && !entries->no_memory && (link = readdir(links))) {
        const size_t length = strlen(link->d_name);
        if (length < 2 || length > HEX_CAPACITY - 3 || length % 2 || !is_hex(link->d_name, length))
            continue;
        snprintf(hex, sizeof(hex), "%s%.38s", prefix, link->d_name);
        if (read_link(fd, link->d_name, hex, target) && fstatat(cache->root, target, &about, 0) == 0)
            add_entry(entries, hex, target);
    }
    if (links)
        closedir(links);
    else if (fd >= 0)
        close(fd);
}

static void take_all(const struct cache *cache, struct entries *entries)
{
    const int fd = open_below(cache->root, ".build-id", false);
    DIR *folders = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *folder;
    while (folders && !entries->no_memory && (folder = readdir(folders)))
        if (is_hex(folder->d_name, 2))
            take_links(cache, folder->d_name, entries);
    if (folders)
        closedir(folders);
    else if (fd >= 0)
        close(fd);
}

static size_t id_of(const char *hex, uint8_t id[20])
{
    size_t bytes = 0;
    for (; hex[2 * bytes]; bytes++) {
        const char digits[3] = {hex[2 * bytes], hex[2 * bytes + 1], 0};
        id[bytes] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return bytes;
}

static int give_all(struct entries *entries, const struct perfile_build_ids_options *options,
                    struct perfile_error *error)
{
    uint8_t id[20];
    if (entries->count)
        qsort(entries->list, entries->count, sizeof(*entries->list), by_id);
    for (size_t i = 0; i < entries->count; i++) {
        const size_t bytes = id_of(entries->list[i].hex, id);
        if (options->take(options->context, entries->list[i].name, id, bytes) != 0)
            return pf_fail(error, PERFILE_ERROR_STOPPED, PERFILE_NO_OFFSET, "build-id cache", "stopped by the caller");
    }
    return 0;
}

int perfile_build_id_cache_list(const char *folder, const struct perfile_build_ids_options *options,
                                struct perfile_error *error)
{
    struct cache cache;
    struct entries entries = {0};
    struct perfile_build_ids_options all = PERFILE_BUILD_IDS_OPTIONS_INIT;
    int result = pf_sized_take(&all, sizeof(all), options, "build id options", error);
    if (result == 0 && !all.take)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "build-id cache",
                         "the callback for the entries is missing");
    if (result < 0 || (result = open_cache(folder, false, &cache, error)) < 0)
        return result;
    entries.allocator = pf_allocator_or_default(all.allocator);
    take_all(&cache, &entries);
    close(cache.root);
    result = entries.no_memory ? pf_fail_memory(error, "build-id cache") : give_all(&entries, &all, error);
    for (size_t i = 0; i < entries.count; i++)
        pf_free(entries.allocator, entries.list[i].name, entries.list[i].name_capacity);
    pf_free(entries.allocator, entries.list, entries.capacity * sizeof(*entries.list));
    return result;
}
