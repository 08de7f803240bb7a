/* SPDX-License-Identifier: MIT */
/* For shims that are preloaded instead of syscall(2). */
#ifndef TESTS_SYSCALL_SHIM_H
#define TESTS_SYSCALL_SHIM_H

#include <stdarg.h>

enum { SYSCALL_ARGUMENTS = 6 };

/* Declares `arguments`, all that may follow the number of a system call. */
#define TAKE_SYSCALL_ARGUMENTS(arguments, number)                                                                      \
    long arguments[SYSCALL_ARGUMENTS];                                                                                 \
    va_list arguments##_list;                                                                                          \
    va_start(arguments##_list, number);                                                                                \
    for (int i = 0; i < SYSCALL_ARGUMENTS; i++)                                                                        \
        arguments[i] = va_arg(arguments##_list, long);                                                                 \
    va_end(arguments##_list)

#endif
