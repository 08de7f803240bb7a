/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_SYSCALL_H
#define PF_WINDOWS_SYS_SYSCALL_H

long syscall(long number, ...);

#endif
