/* SPDX-License-Identifier: MIT */
#include "base/cache_trim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"

struct entry {
    struct timespec used;
    uint64_t bytes;
    char name[NAME_MAX + 1];
};

struct cache {
    const struct perfile_allocator *allocator;
    int folder;
    const char *suffix, *kept;
    struct entry *items;
    size_t count, capacity;
    uint64_t bytes;
};

/* The part of the name after HEX-HEX and the suffix; NULL: it has another name. */
static const char *rest_of(const char *name, const char *suffix)
{
    static const char digits[] = "0123456789abcdef";
    const size_t first = strspn(name, digits), length = strlen(suffix);
    const size_t second = first && name[first] == '-' ? strspn(name + first + 1, digits) : 0;
    const char *end = name + first + 1 + second;
    return second && !strncmp(end, suffix, length) ? end + length : NULL;
}

static bool is_unfinished(const char *rest)
{
    return !strcmp(rest, ".new") || (*rest == '-' && strlen(rest) == strlen("-XXXXXX"));
}

/* Removes the file of a writer that was killed. A writer that finds its file locked here works without it. */
static void remove_leftover(int folder, const char *name, const struct stat *status)
{
    enum { SECONDS = 3600 };
    if (status->st_mtim.tv_sec + SECONDS >= time(NULL))
        return;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) /* not every file system has locks */
        unlinkat(folder, name, 0);
    close(fd);
}

static bool add_entry(struct cache *cache, const char *name)
{
    struct stat status;
    const char *rest = rest_of(name, cache->suffix);
    if (!rest || fstatat(cache->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return true;
    if (*rest) {
        if (is_unfinished(rest))
            remove_leftover(cache->folder, name, &status);
        return true;
    }
    if (!pf_grow(cache->allocator, &cache->items, &cache->capacity, cache->count + 1, sizeof(*cache->items)))
        return false;
    struct entry *entry = &cache->items[cache->count++];
    entry->used = status.st_mtim;
    entry->bytes = (uint64_t)status.st_size;
    cache->bytes += entry->bytes;
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    return true;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    return PF_COMPARE(x->tv_sec, y->tv_sec) ?: PF_COMPARE(x->tv_nsec, y->tv_nsec);
}

static void remove_oldest(struct cache *cache, uint64_t limit_bytes)
{
    qsort(cache->items, cache->count, sizeof(*cache->items), by_use);
    for (size_t i = 0; i < cache->count && cache->bytes > limit_bytes; i++) {
        const struct entry *entry = &cache->items[i];
        if (cache->kept && !strcmp(entry->name, cache->kept))
            continue;
        if (unlinkat(cache->folder, entry->name, 0) == 0 || errno == ENOENT)
            cache->bytes -= entry->bytes;
    }
}

void pf_cache_trim(const struct perfile_allocator *allocator, const char *folder, const char *suffix, const char *kept,
                   uint64_t limit_bytes)
{
    DIR *directory = opendir(folder);
    const struct dirent *item;
    if (!directory)
        return;
    struct cache cache = {.allocator = allocator, .folder = dirfd(directory), .suffix = suffix, .kept = kept};
    while ((item = readdir(directory)) && add_entry(&cache, item->d_name))
        continue;
    if (cache.bytes > limit_bytes)
        remove_oldest(&cache, limit_bytes);
    closedir(directory);
    pf_free(allocator, cache.items, cache.capacity * sizeof(*cache.items));
}
