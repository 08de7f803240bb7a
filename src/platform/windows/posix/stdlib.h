/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_STDLIB_H
#define PF_WINDOWS_STDLIB_H

#include_next <stdlib.h>

char *mkdtemp(char *path);
int mkostemp(char *path, int flags);
char *realpath(const char *path, char *to);
void *reallocarray(void *pointer, size_t count, size_t bytes);
int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name);

/* Equal items stay in their order, as in glibc. */
#define qsort(items, count, bytes, compare) pf_windows_qsort(items, count, bytes, compare)
void pf_windows_qsort(void *items, size_t count, size_t bytes, int (*compare)(const void *a, const void *b));

#endif
