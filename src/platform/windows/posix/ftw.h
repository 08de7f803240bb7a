/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_FTW_H
#define PF_WINDOWS_FTW_H

#include <sys/stat.h>

enum { FTW_F, FTW_D, FTW_DNR, FTW_NS, FTW_SL, FTW_DP };
enum { FTW_PHYS = 1, FTW_MOUNT = 2, FTW_DEPTH = 8 };
struct FTW {
    int base, level;
};

/* Folders after what is in them, if FTW_DEPTH is among the flags. */
int nftw(const char *path, int (*each)(const char *path, const struct stat *status, int kind, struct FTW *position),
         int descriptors, int flags);

#endif
