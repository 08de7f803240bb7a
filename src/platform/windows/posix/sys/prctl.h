/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_PRCTL_H
#define PF_WINDOWS_SYS_PRCTL_H

#define PR_SET_PDEATHSIG 1

int prctl(int option, ...);

#endif
