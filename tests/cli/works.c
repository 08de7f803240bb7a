/* SPDX-License-Identifier: MIT */
/*
 * works FILE: touches pages and writes past the cache as often as it says: "planted_touch PAGES FAULTS", with the page
 * faults that the kernel counted meanwhile, and "direct WRITES BYTES", 0 where FILE's file system has no such writes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGES = 200, WRITES = 7, WRITE_BYTES = 45056 };

#define APART __attribute__((noinline, noclone))

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static APART void planted_touch(volatile char *pages, size_t page_bytes)
{
    for (size_t i = 0; i < PAGES; i++)
        pages[i * page_bytes] = 1;
}

static void touch(void)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page_bytes;
    char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        exit(1);
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    const long before = faults();
    planted_touch(pages, page_bytes);
    printf("planted_touch %d %ld\n", PAGES, faults() - before);
}

/* The second time the blocks are there already. */
static void write_direct(const char *path)
{
    char *block = NULL;
    const int file = open(path, O_CREAT | O_RDWR | O_DIRECT, 0600);
    int written = 0;
    if (file >= 0 && posix_memalign((void **)&block, 4096, WRITE_BYTES) == 0) {
        memset(block, 'x', WRITE_BYTES);
        while (written < 2 * WRITES &&
               pwrite(file, block, WRITE_BYTES, (off_t)(written % WRITES) * WRITE_BYTES) == (ssize_t)WRITE_BYTES)
            written++;
    }
    free(block);
    if (file >= 0)
        close(file);
    printf("direct %d %d\n", written, WRITE_BYTES);
}

int main(int argument_count, char **arguments)
{
    if (argument_count < 2)
        return 1;
    touch();
    write_direct(arguments[1]);
    return 0;
}
