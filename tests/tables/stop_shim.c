/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by compacting.py: it is killed before its STOP_AT'th call that changes a file or a folder,
 * or after its STOP_AFTER_EXCHANGE'th exchange of folders, and does not wait. NO_EXCHANGE: the file system has no
 * exchange of names.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void count(long *calls, const char *name)
{
    const char *at = getenv(name);

    if (at && ++*calls == strtol(at, NULL, 10))
        (void)raise(SIGKILL);
}

static void count_change(void)
{
    static long calls;

    count(&calls, "STOP_AT");
}

/* The C library's own. */
#define OWN(name) ((__typeof__(&name))own(#name))
static void *own(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int mkdir(const char *path, mode_t mode)
{
    count_change();
    return OWN(mkdir)(path, mode);
}

int rename(const char *from, const char *to)
{
    count_change();
    return OWN(rename)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    count_change();
    return OWN(linkat)(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
    count_change();
    return OWN(unlink)(path);
}

int rmdir(const char *path)
{
    count_change();
    return OWN(rmdir)(path);
}

int fsync(int fd)
{
    (void)fd;
    count_change();
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
    (void)clock, (void)flags, (void)wanted, (void)left;
    count_change();
    return 0;
}

/* That of renameat2(), which not every C library has. */
long syscall(long number, ...)
{
    va_list list;
    static long exchanges;
    long a[6], result;

    va_start(list, number);
    for (size_t i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_renameat2) {
        count_change();
        if (getenv("NO_EXCHANGE")) {
            errno = EINVAL;
            return -1;
        }
    }
    result = OWN(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_renameat2)
        count(&exchanges, "STOP_AFTER_EXCHANGE");
    return result;
}
