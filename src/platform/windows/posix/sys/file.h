/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_FILE_H
#define PF_WINDOWS_SYS_FILE_H

#include <fcntl.h>

enum { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8 };

/* Of programs that lock only; others may read and write. */
int flock(int fd, int operation);

#endif
