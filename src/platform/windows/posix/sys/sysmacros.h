/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_SYSMACROS_H
#define PF_WINDOWS_SYS_SYSMACROS_H

#define major(device) ((unsigned)(device) >> 8)
#define minor(device) ((unsigned)(device)&0xff)

#endif
