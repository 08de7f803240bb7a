/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_STRING_H
#define PF_WINDOWS_STRING_H

#include_next <string.h>

char *stpcpy(char *to, const char *from);
char *strchrnul(const char *text, int byte);
char *strndup(const char *text, size_t bytes);
char *strsep(char **rest, const char *separators);
const char *strsignal(int number);
void *memmem(const void *data, size_t bytes, const void *part, size_t part_bytes);
void *memrchr(const void *data, int byte, size_t bytes);
void *mempcpy(void *to, const void *from, size_t bytes);

/* Those of the C library have names for fewer errors. */
#define strerror(number) pf_windows_strerror(number)
char *pf_windows_strerror(int number);

#endif
