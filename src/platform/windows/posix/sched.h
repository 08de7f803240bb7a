/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SCHED_H
#define PF_WINDOWS_SCHED_H

#include <pthread.h>

typedef struct {
    unsigned long long processors;
} cpu_set_t;
#define CPU_COUNT(set) __builtin_popcountll((set)->processors)
#define CPU_ISSET(cpu, set) ((set)->processors >> (cpu)&1)

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);

#endif
