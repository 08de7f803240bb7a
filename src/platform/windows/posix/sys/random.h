/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_RANDOM_H
#define PF_WINDOWS_SYS_RANDOM_H

#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t bytes, unsigned flags);

#endif
