/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
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

bool pf_platform_has_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1; /* more than it can count: it fails */
}

long pf_platform_peek(int pipe, void *bytes, size_t count)
{
    int copy[2];
    if (pipe2(copy, O_CLOEXEC) < 0)
        return -1;
    long got = tee(pipe, copy[1], count, SPLICE_F_NONBLOCK);
    if (got > 0)
        got = read(copy[0], bytes, count);
    close(copy[0]);
    close(copy[1]);
    return got < 0 && errno == EAGAIN ? 0 : got;
}

void pf_platform_trim_memory(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

/*
 * Large tables grow by doubling. After the first one is freed, glibc's malloc would keep the later ones, up to
 * 32 MiB each; fixed thresholds return them at once, which saves a tenth of the memory.
 */
void pf_platform_free_large_blocks(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}
