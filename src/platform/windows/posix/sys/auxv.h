/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_AUXV_H
#define PF_WINDOWS_SYS_AUXV_H

unsigned long getauxval(unsigned long type);

#endif
