/* SPDX-License-Identifier: MIT */
/* Memory, random numbers, processors. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "internal.h"

#include <bcrypt.h>

static bool fill(char *to, size_t bytes, int fd, off_t offset)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(fd, to + done, bytes - done, offset + (off_t)done);
        if (got <= 0)
            return got == 0; /* what is after the end of the file is zero */
        done += (size_t)got;
    }
    return true;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    const DWORD kind = protection == PROT_NONE ? MEM_RESERVE : MEM_RESERVE | MEM_COMMIT;
    void *memory =
        bytes ? VirtualAlloc(NULL, bytes, kind, protection == PROT_NONE ? PAGE_NOACCESS : PAGE_READWRITE) : NULL;
    (void)address;
    if (!memory) {
        errno = bytes ? ENOMEM : EINVAL;
        return MAP_FAILED;
    }
    if (flags & MAP_ANONYMOUS || fill(memory, bytes, fd, offset))
        return memory;
    VirtualFree(memory, 0, MEM_RELEASE);
    return MAP_FAILED;
}

int munmap(void *address, size_t bytes)
{
    (void)bytes;
    return VirtualFree(address, 0, MEM_RELEASE) ? 0 : pf_windows_fail();
}

int madvise(void *address, size_t bytes, int advice)
{
    (void)address;
    (void)bytes;
    (void)advice;
    return 0;
}

int mprotect(void *address, size_t bytes, int protection)
{
    (void)address;
    (void)bytes;
    (void)protection;
    return 0;
}

int msync(void *address, size_t bytes, int flags)
{
    (void)address;
    (void)bytes;
    (void)flags;
    return 0;
}

ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
    (void)flags;
    return BCryptGenRandom(NULL, buffer, (ULONG)bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0
               ? (ssize_t)bytes
               : pf_windows_fail_with(EIO);
}

void *reallocarray(void *pointer, size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(pointer, count * bytes);
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    DWORD_PTR own = 0, all = 0;
    (void)pid;
    (void)bytes;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
        return pf_windows_fail();
    set->processors = own;
    return 0;
}

long sysconf(int name)
{
    SYSTEM_INFO system;
    MEMORYSTATUSEX memory = {.dwLength = sizeof(memory)};
    GetSystemInfo(&system);
    switch (name) {
    case _SC_PAGESIZE:
        return (long)system.dwPageSize;
    case _SC_PHYS_PAGES:
        return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / system.dwPageSize) : -1;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return (long)system.dwNumberOfProcessors;
    default:
        return pf_windows_fail_with(EINVAL);
    }
}

int getpagesize(void)
{
    return (int)sysconf(_SC_PAGESIZE);
}
