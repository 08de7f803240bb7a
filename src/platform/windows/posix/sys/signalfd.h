/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_SIGNALFD_H
#define PF_WINDOWS_SYS_SIGNALFD_H

#include <signal.h>
#include <stdint.h>

struct signalfd_siginfo {
    uint32_t ssi_signo;
};
enum { SFD_NONBLOCK = 0x40000, SFD_CLOEXEC = 0x80 };

int signalfd(int fd, const sigset_t *signals, int flags);

#endif
