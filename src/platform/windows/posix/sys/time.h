/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_TIME_H
#define PF_WINDOWS_SYS_TIME_H

#include_next <sys/time.h>

struct itimerval {
    struct timeval it_interval, it_value;
};
enum { ITIMER_REAL };

int setitimer(int which, const struct itimerval *timer, struct itimerval *before);

#endif
