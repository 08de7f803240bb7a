/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/platform.h"

/* By system calls: musl before 1.2.6 has no functions for these. */

int pf_platform_exchange(int folder, const char *a, const char *b)
{
    enum { EXCHANGE = 1 << 1 };
    return (int)syscall(SYS_renameat2, folder, a, folder, b, EXCHANGE);
}

int pf_platform_memory_file(const char *name)
{
    return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
}

void pf_platform_memory_path(int fd, char path[PF_PLATFORM_MEMORY_PATH_BYTES])
{
    snprintf(path, PF_PLATFORM_MEMORY_PATH_BYTES, "/proc/self/fd/%d", fd);
}

void pf_platform_sort(void *items, size_t count, size_t bytes,
                      int (*compare)(const void *a, const void *b, void *context), void *context)
{
    qsort_r(items, count, bytes, compare, context);
}

void pf_platform_close_from(int first)
{
    enum { CLOSE_RANGE = 436, SOME = 1024 }; /* Linux 5.9 */
    if (syscall(CLOSE_RANGE, (unsigned)first, ~0u, 0u) != 0)
        for (int fd = first; fd < SOME; fd++)
            close(fd);
}

/* As getdents64 writes it. */
struct dirent_of_kernel {
    unsigned long long inode;
    long long next;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

void pf_platform_list(int folder, void (*each)(void *context, const struct pf_platform_entry *entry), void *context)
{
    _Alignas(8) char buffer[8192];
    long got;
    while ((got = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0)
        for (long at = 0; at < got;) {
            const struct dirent_of_kernel *one = (const void *)(buffer + at);
            const struct pf_platform_entry entry = {.name = one->name};
            each(context, &entry);
            at += one->bytes;
        }
}
