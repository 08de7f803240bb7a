/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_DIRENT_H
#define PF_WINDOWS_DIRENT_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

enum { DT_UNKNOWN, DT_DIR = 4, DT_REG = 8, DT_LNK = 10 };
struct dirent {
    uint64_t d_ino;
    unsigned char d_type;
    char d_name[3 * (NAME_MAX + 1)]; /* UTF-8 */
};
typedef struct pf_windows_folder DIR;

int alphasort(const struct dirent **a, const struct dirent **b);
int closedir(DIR *folder);
int dirfd(DIR *folder);
DIR *fdopendir(int fd);
DIR *opendir(const char *path);
struct dirent *readdir(DIR *folder);
int scandir(const char *path, struct dirent ***list, int (*choose)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));

#endif
