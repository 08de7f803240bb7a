/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_FNMATCH_H
#define PF_WINDOWS_FNMATCH_H

/* as in musl, whose function it is */
#define FNM_PATHNAME 0x1
#define FNM_NOESCAPE 0x2
#define FNM_PERIOD 0x4
#define FNM_LEADING_DIR 0x8
#define FNM_CASEFOLD 0x10
#define FNM_NOMATCH 1

int fnmatch(const char *pattern, const char *text, int flags);

#endif
