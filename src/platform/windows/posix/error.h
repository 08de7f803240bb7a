/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_ERROR_H
#define PF_WINDOWS_ERROR_H

void error(int status, int number, const char *format, ...);

#endif
