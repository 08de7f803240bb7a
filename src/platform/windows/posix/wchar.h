/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_WCHAR_H
#define PF_WINDOWS_WCHAR_H

/* That of the compiler declares a struct stat, which is not the one of sys/stat.h here. */
#define stat pf_windows_library_stat
#include_next <wchar.h>
#undef stat

#endif
