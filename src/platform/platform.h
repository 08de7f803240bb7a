/* SPDX-License-Identifier: MIT */
/*
 * What the code needs of an operating system beyond C and POSIX. Each system has one file here, and Windows a folder,
 * with the part of POSIX that the code uses; nothing outside of this folder asks which system it is compiled for.
 */
#ifndef PF_PLATFORM_PLATFORM_H
#define PF_PLATFORM_PLATFORM_H

#include <stddef.h>

/* The files or folders `a` and `b` change names at once; relative to the folder. 0, or -1 with errno: ENOSYS where the
 * system cannot. */
int pf_platform_exchange(int folder, const char *a, const char *b);

/* Sorts as qsort does; `compare` gets the context as its third argument. Equal items stay in their order. */
void pf_platform_sort(void *items, size_t count, size_t bytes,
                      int (*compare)(const void *a, const void *b, void *context), void *context);

/* A file in memory; -1 with errno. The name is for people. */
int pf_platform_memory_file(const char *name);
/* The path by which it can be opened again, as long as it is open. */
enum { PF_PLATFORM_MEMORY_PATH_BYTES = 32 };
void pf_platform_memory_path(int fd, char path[PF_PLATFORM_MEMORY_PATH_BYTES]);

/* Closes all descriptors from this one on. */
void pf_platform_close_from(int first);

/* An entry of a folder. */
struct pf_platform_entry {
    const char *name; /* valid during the call */
};
/*
 * Calls `each` for the entries of an open folder, in a handler of signals, too: nothing is allocated. Where the system
 * cannot read folders in this way, `each` is not called.
 */
void pf_platform_list(int folder, void (*each)(void *context, const struct pf_platform_entry *entry), void *context);

#endif
