/* SPDX-License-Identifier: MIT */
/* What the configure script of elfutils would find out about Emscripten, MinGW with our headers, and Linux. */
#ifndef PERFILE_ELFUTILS_CONFIG_H
#define PERFILE_ELFUTILS_CONFIG_H

#define HAVE_CONFIG_H 1
#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_POWEROF2 0
#define HAVE_DECL_REALLOCARRAY 1
#define HAVE_VISIBILITY 1
#define HAVE_FALLTHROUGH 1
#define HAVE_ERR_H 1
#define USE_ZLIB 1
#define ZLIB 1
#define PACKAGE_NAME "elfutils"
#define PACKAGE_VERSION "0"
#define VERSION "0"
#define MODVERSION ""
#define CHECK_UNDEF 1
#if defined(__linux__) && !defined(__EMSCRIPTEN__)
#define HAVE_DECL_RAWMEMCHR 1
#else
#define HAVE_DECL_RAWMEMCHR 0
#define rawmemchr(text, byte) memchr(text, byte, (size_t)-1)
#endif

#include <eu-config.h>

#endif
