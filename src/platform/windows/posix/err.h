/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_ERR_H
#define PF_WINDOWS_ERR_H

_Noreturn void err(int status, const char *format, ...);
_Noreturn void errx(int status, const char *format, ...);

#endif
