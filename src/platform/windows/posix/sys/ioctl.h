/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_IOCTL_H
#define PF_WINDOWS_SYS_IOCTL_H

#include <stdint.h>

struct winsize {
    unsigned short ws_row, ws_col;
};
#define TIOCGWINSZ 0x5413

int ioctl(int fd, unsigned long request, ...);

#endif
