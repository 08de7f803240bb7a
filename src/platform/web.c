/* SPDX-License-Identifier: MIT */
/* WebAssembly, by Emscripten: files are those of the page or of node. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "platform/platform.h"

int pf_platform_exchange(int folder, const char *a, const char *b)
{
    (void)folder;
    (void)a;
    (void)b;
    errno = ENOSYS;
    return -1;
}

/*
 * All files of the root folder are in memory, until the module ends. What is in /proc/self/fd cannot be opened here, so
 * the file has a name: by its descriptor, which is the lowest that is free.
 */
int pf_platform_memory_file(const char *name)
{
    char path[PF_PLATFORM_MEMORY_PATH_BYTES];
    const int next = open("/", O_RDONLY | O_CLOEXEC);
    (void)name;
    if (next < 0)
        return -1;
    close(next);
    pf_platform_memory_path(next, path);
    return open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
}

void pf_platform_memory_path(int fd, char path[PF_PLATFORM_MEMORY_PATH_BYTES])
{
    snprintf(path, PF_PLATFORM_MEMORY_PATH_BYTES, "/memory-%d", fd);
}

void pf_platform_close_from(int first)
{
    (void)first;
}

void pf_platform_list(int folder, void (*each)(void *context, const struct pf_platform_entry *entry), void *context)
{
    (void)folder;
    (void)each;
    (void)context;
}

/* ---- sorting: Emscripten's library has no qsort_r ---------------------------------------------------------------- */

struct sorting {
    size_t bytes;
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};

/*
 * Merges the halves, each of which is sorted, of `to` through `from`. Of equal items the first stays first, as in
 * glibc.
 */
static void sort_range(const struct sorting *s, char *items, char *other, size_t count)
{
    const size_t half = count / 2;
    if (count < 2)
        return;
    sort_range(s, items, other, half);
    sort_range(s, items + half * s->bytes, other, count - half);
    memcpy(other, items, half * s->bytes);
    char *left = other, *right = items + half * s->bytes, *to = items;
    const char *left_end = other + half * s->bytes, *right_end = items + count * s->bytes;
    while (left < left_end) {
        const int takes_right = right < right_end && s->compare(left, right, s->context) > 0;
        memcpy(to, takes_right ? right : left, s->bytes);
        *(takes_right ? &right : &left) += s->bytes;
        to += s->bytes;
    }
}

static void exchange(char *a, char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

/* Slow, and needs no memory. */
static void insertion_sort(const struct sorting *s, char *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (char *at = items + i * s->bytes; at > items && s->compare(at - s->bytes, at, s->context) > 0;
             at -= s->bytes)
            exchange(at - s->bytes, at, s->bytes);
}

void pf_platform_sort(void *items, size_t count, size_t bytes,
                      int (*compare)(const void *a, const void *b, void *context), void *context)
{
    const struct sorting s = {bytes, compare, context};
    char *other = count > 1 ? malloc((count / 2 + 1) * bytes) : NULL;
    if (other)
        sort_range(&s, items, other, count);
    else
        insertion_sort(&s, items, count);
    free(other);
}

/* ---- functions that Emscripten's headers declare and its library does not have ----------------------------------- */

ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
    (void)flags;
    return getentropy(buffer, bytes) == 0 ? (ssize_t)bytes : -1;
}

void *reallocarray(void *pointer, size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(pointer, count * bytes);
}

static int fail_absent(void)
{
    errno = ENOSYS;
    return -1;
}

int prctl(int option, ...)
{
    (void)option;
    return fail_absent();
}

/* That of the library warns of a missing system call. */
int getrlimit(int resource, struct rlimit *limit)
{
    enum { DESCRIPTORS = 4096 };
    *limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    if (resource == RLIMIT_NOFILE)
        limit->rlim_cur = limit->rlim_max = DESCRIPTORS;
    return 0;
}

int sched_get_priority_max(int policy)
{
    (void)policy;
    return fail_absent();
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameters)
{
    (void)pid;
    (void)policy;
    (void)parameters;
    return fail_absent();
}

int signalfd(int fd, const sigset_t *signals, int flags)
{
    (void)fd;
    (void)signals;
    (void)flags;
    return fail_absent();
}
