/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_TERMIOS_H
#define PF_WINDOWS_TERMIOS_H

#include <sys/ioctl.h>

#endif
