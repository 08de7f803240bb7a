/* SPDX-License-Identifier: MIT */
/*
 * What the code needs of an operating system beyond C and POSIX. Each system has one file here, and Windows a folder,
 * with the part of POSIX that the code uses; nothing outside of this folder asks which system it is compiled for.
 */
#ifndef PF_PLATFORM_PLATFORM_H
#define PF_PLATFORM_PLATFORM_H

#include <stdbool.h>
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

/* More than one thread of this process can run at a time. */
bool pf_platform_has_processors(void);

/*
 * The first bytes in a pipe, which stay there: their count, 0 as long as the pipe is empty, or -1 where the system
 * cannot look into pipes.
 */
long pf_platform_peek(int pipe, void *bytes, size_t count);

/* Memory that was freed goes back to the system, as far as malloc can. */
void pf_platform_trim_memory(void);
/* From now on malloc gives large blocks back to the system when they are freed. */
void pf_platform_free_large_blocks(void);

#endif
