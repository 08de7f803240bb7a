/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_RESOURCE_H
#define PF_WINDOWS_SYS_RESOURCE_H

#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

typedef uint64_t rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
struct rusage {
    struct timeval ru_utime, ru_stime;
    long ru_maxrss;
};
#define RLIM_INFINITY UINT64_MAX
enum { RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CORE, RLIMIT_STACK, RLIMIT_MEMLOCK, RLIMIT_FSIZE };
enum { RUSAGE_SELF, RUSAGE_CHILDREN };
enum { PRIO_PROCESS };

int getpriority(int which, int of);
int setpriority(int which, int of, int priority);
int getrlimit(int resource, struct rlimit *limit);
int setrlimit(int resource, const struct rlimit *limit);
int getrusage(int of, struct rusage *usage);

#endif
