/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by unwound.py: the kernel of a machine that copies no registers or stacks of user space.
 * REFUSE is the errno of perf_event_open for them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../syscall_shim.h"

static int is_refused(long number, const struct perf_event_attr *attr)
{
    return number == SYS_perf_event_open && attr->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
}

long syscall(long number, ...)
{
    long (*next)(long number, ...) = (long (*)(long number, ...))dlsym(RTLD_NEXT, "syscall");
    const char *refuse = getenv("REFUSE");
    TAKE_SYSCALL_ARGUMENTS(arguments, number);
    if (refuse && is_refused(number, (const struct perf_event_attr *)arguments[0])) {
        errno = atoi(refuse);
        return -1;
    }
    return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
