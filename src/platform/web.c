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

void pf_platform_list(int folder, void (*each)(void *context, const struct pf_platform_entry *entry), void *context)
{
    (void)folder;
    (void)each;
    (void)context;
}

bool pf_platform_has_processors(void)
{
    return true; /* where there are no threads, none is started */
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
