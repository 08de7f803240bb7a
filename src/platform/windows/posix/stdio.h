/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_STDIO_H
#define PF_WINDOWS_STDIO_H

#include_next <stdio.h>

ssize_t getdelim(char **line, size_t *capacity, int end, FILE *file);
ssize_t getline(char **line, size_t *capacity, FILE *file);
FILE *open_memstream(char **text, size_t *bytes);

/* Paths are UTF-8, of any length; files that are open can be removed and replaced. */
#undef fopen
#undef fdopen
#define fopen(path, mode) pf_windows_fopen(path, mode)
#define fdopen(fd, mode) pf_windows_fdopen(fd, mode)
#define fclose(file) pf_windows_fclose(file)
#define fflush(file) pf_windows_fflush(file)
#define remove(path) pf_windows_remove(path)
#define rename(path, to) pf_windows_rename(path, to)
FILE *pf_windows_fopen(const char *path, const char *mode);
FILE *pf_windows_fdopen(int fd, const char *mode);
int pf_windows_fclose(FILE *file);
int pf_windows_fflush(FILE *file);
int pf_windows_remove(const char *path);
int pf_windows_rename(const char *path, const char *to);
int renameat(int folder, const char *path, int to_folder, const char *to);

#endif
