/* SPDX-License-Identifier: MIT */
/* Reading the small files of /proc and /sys, below a folder that tests replace. */
#ifndef PF_RECORD_MACHINE_FILES_H
#define PF_RECORD_MACHINE_FILES_H

#include <sys/types.h>

#include "base/text.h"

/* A descriptor of the folder; NULL: that of the system. Negative: it cannot be opened. */
int pf_root_open(const char *root);

/* Reads up to capacity - 1 bytes of a file and appends a NUL; -1: it cannot be read. */
ssize_t pf_read_at(int folder, const char *path, void *buffer, size_t capacity);
/* The same without white space at the end; false also for an empty file. */
bool pf_read_line(int folder, const char *path, char *buffer, size_t capacity);
/* Appends a complete file, of at most `limit` bytes, to the text; false: it cannot be read, or is longer. */
bool pf_read_file(int folder, const char *path, struct pf_text *text, size_t limit);
/* printf for paths: false when it does not fit. */
bool pf_path(char *path, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));

enum { PF_PATH_CAPACITY = 4096 + 256 };

/* A number in any base that strtoull guesses; `base` 0 does so. */
bool pf_read_number(int folder, const char *path, int base, uint64_t *value);

/* The names in a folder without . and .., numbers in them in the order of their values. */
struct pf_listing {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    const char **items;
    size_t count;
    size_t capacity;
};
/* False when the folder cannot be read, or out of memory; to be closed in any case. */
bool pf_listing_open(struct pf_listing *names, const struct perfile_allocator *allocator, int folder, const char *path);
void pf_listing_close(struct pf_listing *names);

/*
 * Where the first file system of a type is mounted that has `option` (NULL: any) among its options, without the first
 * slash; false: nowhere.
 */
bool pf_find_mount(const struct perfile_allocator *allocator, int root, const char *type, const char *option,
                   char where[PF_PATH_CAPACITY]);

/* The same of the hierarchy of control groups that events count in: that of perf_event in v1, else v2. */
bool pf_find_cgroups(const struct perfile_allocator *allocator, int root, char where[PF_PATH_CAPACITY]);

/* The next range of a list of CPUs such as "0-3,7": false at its end, or when it is not valid. */
bool pf_next_range(const char **list, unsigned *first, unsigned *last);

#endif
