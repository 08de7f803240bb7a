/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_TYPES_H
#define PF_WINDOWS_SYS_TYPES_H

#include_next <sys/types.h>

typedef unsigned uid_t, gid_t, nlink_t;
typedef _sigset_t sigset_t;

#endif
