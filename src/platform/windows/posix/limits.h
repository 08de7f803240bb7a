/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_LIMITS_H
#define PF_WINDOWS_LIMITS_H

#include_next <limits.h>

#undef PATH_MAX
#define PATH_MAX 4096
#undef NAME_MAX
#define NAME_MAX 255
#ifndef SSIZE_MAX
#define SSIZE_MAX LLONG_MAX
#endif
#ifndef IOV_MAX
#define IOV_MAX 16
#endif

#endif
