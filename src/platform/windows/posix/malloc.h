/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_MALLOC_H
#define PF_WINDOWS_MALLOC_H

#include_next <malloc.h>
#undef alloca
#define alloca __builtin_alloca

#endif
