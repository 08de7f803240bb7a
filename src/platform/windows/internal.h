/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef PF_WINDOWS_INTERNAL_H
#define PF_WINDOWS_INTERNAL_H

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <windows.h>

/* Sets errno to what the last call of the system had to report; -1. */
int pf_windows_fail(void);
int pf_windows_fail_with(int number);

/*
 * The path as the system wants it, in UTF-16, absolute, and with the prefix that permits any length; relative ones are
 * below the open folder, or the current one with AT_FDCWD. To be freed; NULL with errno.
 */
wchar_t *pf_windows_path(int folder, const char *path);
/* In UTF-8, without that prefix and with slashes. To be freed; NULL with errno. */
char *pf_windows_text(const wchar_t *path);
/* Of what is open; as pf_windows_path gives it. */
wchar_t *pf_windows_path_of(int fd);
wchar_t *pf_windows_final_path(HANDLE handle);
/* The path with which the descriptor was opened, which is freed when it is closed; NULL: it is closed. */
void pf_windows_note_path(int fd, wchar_t *path);

/* From now on only machines that were named by pf_windows_know_machine are connected to. */
void pf_windows_refuse_machines(void);
/* The user or the system names this path; nothing happens if it is not one of a network. */
void pf_windows_know_machine(const wchar_t *path);
bool pf_windows_may_connect(const wchar_t *path);

/* INVALID_HANDLE_VALUE with errno. */
HANDLE pf_windows_handle(int fd);
/* Opens a path of pf_windows_path for the rights; INVALID_HANDLE_VALUE with errno. */
HANDLE pf_windows_open(const wchar_t *path, DWORD rights, DWORD disposition, DWORD flags);
int pf_windows_status(HANDLE handle, struct stat *status);
int pf_windows_set_times(HANDLE handle, const struct timespec times[2]);

/* A file without a name, which vanishes when it is closed; a descriptor, or -1 with errno. */
int pf_windows_nameless(void);

#endif
