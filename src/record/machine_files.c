/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/locale.h"
#include "record/machine_files.h"

int pf_root_open(const char *root)
{
    return open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

ssize_t pf_read_at(int folder, const char *path, void *buffer, size_t capacity)
{
    char *to = buffer;
    size_t used = 0;
    ssize_t got = -1;
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    while (used < capacity - 1) {
        got = read(fd, to + used, capacity - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    close(fd);
    to[used] = 0;
    return got < 0 && used == 0 ? -1 : (ssize_t)used;
}

bool pf_read_line(int folder, const char *path, char *buffer, size_t capacity)
{
    ssize_t bytes = pf_read_at(folder, path, buffer, capacity);
    while (bytes > 0 && pf_is_space(buffer[bytes - 1]))
        buffer[--bytes] = 0;
    return bytes > 0;
}

bool pf_read_file(int folder, const char *path, struct pf_text *text, size_t limit)
{
    enum { STEP = 32768 };
    size_t start = text->used;
    ssize_t got = -1;
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    while (text->used - start <= limit) {
        char *to = pf_text_reserve(text, STEP);
        got = read(fd, to, STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || text->failed)
            break;
        pf_text_commit(text, to + got);
    }
    close(fd);
    return got == 0 && !text->failed && text->used - start <= limit;
}

bool pf_path(char *path, size_t capacity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, capacity, format, arguments);
    va_end(arguments);
    return length >= 0 && (size_t)length < capacity;
}

bool pf_read_number(int folder, const char *path, int base, uint64_t *value)
{
    char text[64], *end;
    if (!pf_read_line(folder, path, text, sizeof(text)))
        return false;
    errno = 0;
    *value = strtoull(text, &end, base);
    return end != text && *end == 0 && errno == 0;
}

/* ---- names ---- */

static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static bool add_name(struct pf_listing *names, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    char *copy = pf_arena_text(&names->arena, name, strlen(name));
    if (!copy || !pf_grow(names->allocator, &names->items, &names->capacity, names->count + 1, sizeof(*names->items)))
        return false;
    names->items[names->count++] = copy;
    return true;
}

bool pf_listing_open(struct pf_listing *names, const struct perfile_allocator *allocator, int folder, const char *path)
{
    *names = (struct pf_listing){.allocator = pf_allocator_or_default(allocator)};
    pf_arena_open(&names->arena, names->allocator);
    int fd = openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool complete = true;
    for (const struct dirent *entry; complete && (entry = readdir(dir));)
        complete = add_name(names, entry->d_name);
    closedir(dir);
    if (names->count)
        qsort(names->items, names->count, sizeof(*names->items), compare_names);
    return complete;
}

void pf_listing_close(struct pf_listing *names)
{
    pf_free(names->allocator, names->items, names->capacity * sizeof(*names->items));
    pf_arena_close(&names->arena);
}

/* ---- mounts ---- */

enum { MOUNTS_BYTES_MAX = 64 << 20 };

static bool is_octal(const char *digits)
{
    return digits[0] >= '0' && digits[0] <= '3' && digits[1] >= '0' && digits[1] <= '7' && digits[2] >= '0' &&
           digits[2] <= '7';
}

/* White space and backslashes in paths are \040 and the like. */
static void restore_octal(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        bool marked = *from == '\\' && is_octal(from + 1);
        *to = marked ? (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0') : *from;
        from += marked ? 4 : 1;
    }
    *to = 0;
}

/* "what where type options ..." */
static bool find_mount(char *mounts, const char *type, const char *option, char *where)
{
    char *rest = NULL, *word, *words[4];
    for (char *line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        size_t count = 0;
        for (char *at; count < PF_COUNT(words) && (word = strtok_r(count ? NULL : line, " ", &at)); count++)
            words[count] = word;
        if (count < PF_COUNT(words) || strcmp(words[2], type) != 0 || (option && !strstr(words[3], option)))
            continue;
        restore_octal(words[1]);
        if (words[1][0] == '/' && words[1][1])
            return pf_path(where, PF_PATH_CAPACITY, "%s", words[1] + 1);
    }
    return false;
}

bool pf_find_mount(const struct perfile_allocator *allocator, int root, const char *type, const char *option,
                   char where[PF_PATH_CAPACITY])
{
    struct pf_text text;
    bool found = false;
    if (pf_text_open(&text, pf_allocator_or_default(allocator), NULL, NULL) < 0)
        return false;
    if (pf_read_file(root, "proc/mounts", &text, MOUNTS_BYTES_MAX)) {
        pf_put_char(&text, 0);
        found = !text.failed && find_mount(text.data, type, option, where);
    }
    pf_text_close(&text);
    return found;
}

bool pf_find_cgroups(const struct perfile_allocator *allocator, int root, char where[PF_PATH_CAPACITY])
{
    return pf_find_mount(allocator, root, "cgroup", "perf_event", where) ||
           pf_find_mount(allocator, root, "cgroup2", NULL, where);
}

/* ---- lists of CPUs ---- */

bool pf_next_range(const char **list, unsigned *first, unsigned *last)
{
    char *end;
    if (!isdigit((unsigned char)**list))
        return false;
    *first = *last = (unsigned)strtoul(*list, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *last = (unsigned)strtoul(end + 1, &end, 10);
    if (*end == ',')
        end++;
    *list = end;
    return *last >= *first && *last < 1u << 20;
}
