/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_ERRNO_H
#define PF_WINDOWS_ERRNO_H

#include_next <errno.h>

#ifndef EDQUOT
#define EDQUOT 1133
#endif
#ifndef ESTALE
#define ESTALE 1116
#endif

#endif
