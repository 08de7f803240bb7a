/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_GLOB_H
#define PF_WINDOWS_GLOB_H

#include <stddef.h>

typedef struct {
    size_t gl_pathc;
    char **gl_pathv;
} glob_t;
enum { GLOB_NOSPACE = 1, GLOB_ABORTED, GLOB_NOMATCH };
enum { GLOB_NOSORT = 4 };

/* Nothing matches: it is used for files of Linux. */
int glob(const char *pattern, int flags, int (*failed)(const char *path, int number), glob_t *found);
void globfree(glob_t *found);

#endif
