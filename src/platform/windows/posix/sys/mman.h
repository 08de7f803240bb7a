/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_MMAN_H
#define PF_WINDOWS_SYS_MMAN_H

#include <sys/types.h>

enum { PROT_NONE, PROT_READ, PROT_WRITE, PROT_EXEC = 4 };
enum { MAP_SHARED = 1, MAP_PRIVATE, MAP_ANONYMOUS = 32, MAP_NORESERVE = 0x4000, MAP_POPULATE = 0x8000 };
#define MAP_FAILED ((void *)-1)
enum { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED };
enum { MS_SYNC = 4 };

/* Files are read into memory: what is written to it stays there. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
int munmap(void *address, size_t bytes);
int madvise(void *address, size_t bytes, int advice);
int mprotect(void *address, size_t bytes, int protection);
int msync(void *address, size_t bytes, int flags);

#endif
