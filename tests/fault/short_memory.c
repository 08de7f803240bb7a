/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded into the command: its Nth allocation fails, or all from the Nth on. SHORT_MEMORY is "N,ALL,FD,BYTES": the
 * number, 0 for none; 1 for all from there on; where the count of allocations is written in the end, a descriptor that is
 * open because a sandbox lets nothing be opened, or -1; and the most that the address space may have, 0 for no limit.
 */
#include <errno.h>

#ifdef __GLIBC__
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *pointer, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long allocations;
static long first, from_then_on, descriptor = -1, address_space;

__attribute__((constructor)) static void set_up(void)
{
    const char *text = getenv("SHORT_MEMORY");
    if (text)
        (void)sscanf(text, "%ld,%ld,%ld,%ld", &first, &from_then_on, &descriptor, &address_space);
    const struct rlimit limit = {(rlim_t)address_space, (rlim_t)address_space};
    if (address_space && setrlimit(RLIMIT_AS, &limit) < 0)
        abort();
}

__attribute__((destructor)) static void tell(void)
{
    char text[32];
    const int bytes = snprintf(text, sizeof(text), "%ld\n", (long)allocations);
    if (descriptor >= 0 && write((int)descriptor, text, (size_t)bytes) != bytes)
        abort();
}

/*
 * The dynamic linker ends the process when out of memory, and capstone uses what it did not get. So does libdw for the
 * tables of units, where only a look at what is left comes before (has_reserve in inlines_read.c): one allocation alone does
 * not fail there.
 */
static bool is_spared(const void *caller)
{
    static _Thread_local bool asking;
    Dl_info info;
    if (asking)
        return true;
    asking = true;
    const bool spared = dladdr(caller, &info) && info.dli_fname &&
                        (strstr(info.dli_fname, "/ld-") || strstr(info.dli_fname, "/libcapstone") ||
                         (!from_then_on && strstr(info.dli_fname, "/libdw")));
    asking = false;
    return spared;
}

static bool fails(const void *caller)
{
    if (address_space || is_spared(caller))
        return false;
    const long number = atomic_fetch_add(&allocations, 1) + 1;
    const bool failing = first && (from_then_on ? number >= first : number == first);
    if (failing)
        errno = ENOMEM;
    return failing;
}

void *malloc(size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *pointer, size_t bytes)
{
    const bool frees = pointer && !bytes;
    return !frees && fails(__builtin_return_address(0)) ? NULL : __libc_realloc(pointer, bytes);
}

void *memalign(size_t alignment, size_t bytes);

void *memalign(size_t alignment, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **pointer, size_t alignment, size_t bytes)
{
    void *made = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
    if (made)
        *pointer = made;
    return made ? 0 : ENOMEM;
}
#else
typedef int nothing; /* other C libraries: the test sees no allocations, and is skipped */
#endif
