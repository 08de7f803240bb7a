/* SPDX-License-Identifier: MIT */
/* Paths and errors of the system. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static const struct {
    DWORD error;
    int number;
} errors[] = {
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_NAME, ENOENT},
    {ERROR_BAD_PATHNAME, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_NOT_READY, ENOENT},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_SHARING_VIOLATION, EACCES},
    {ERROR_LOCK_VIOLATION, EAGAIN},
    {ERROR_INVALID_HANDLE, EBADF},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_PIPE_NOT_CONNECTED, EPIPE},
    {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_NOT_SAME_DEVICE, EXDEV},
    {ERROR_NOT_SUPPORTED, ENOSYS},
    {ERROR_INVALID_FUNCTION, EINVAL},
    {ERROR_NEGATIVE_SEEK, EINVAL},
    {ERROR_INVALID_PARAMETER, EINVAL},
    {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
};

int pf_windows_fail_with(int number)
{
    errno = number;
    return -1;
}

int pf_windows_fail(void)
{
    const DWORD error = GetLastError();
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].error == error)
            return pf_windows_fail_with(errors[i].number);
    return pf_windows_fail_with(EIO);
}

/* As in glibc; the C library has names for fewer of them. */
static const struct {
    int number;
    const char *text;
} texts[] = {
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {EIO, "Input/output error"},
    {ENXIO, "No such device or address"},
    {EBADF, "Bad file descriptor"},
    {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EBUSY, "Device or resource busy"},
    {EEXIST, "File exists"},
    {EXDEV, "Invalid cross-device link"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {EINVAL, "Invalid argument"},
    {EMFILE, "Too many open files"},
    {EFBIG, "File too large"},
    {ENOSPC, "No space left on device"},
    {ESPIPE, "Illegal seek"},
    {EROFS, "Read-only file system"},
    {EPIPE, "Broken pipe"},
    {ERANGE, "Numerical result out of range"},
    {ENAMETOOLONG, "File name too long"},
    {ENOSYS, "Function not implemented"},
    {ENOTEMPTY, "Directory not empty"},
    {ELOOP, "Too many levels of symbolic links"},
    {EOPNOTSUPP, "Operation not supported"},
    {ENOTSUP, "Operation not supported"},
    {EOVERFLOW, "Value too large for defined data type"},
    {ECANCELED, "Operation canceled"},
    {ETIMEDOUT, "Connection timed out"},
};

#undef strerror
char *pf_windows_strerror(int number)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].number == number)
            return (char *)(uintptr_t)texts[i].text;
    return strerror(number);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

static const wchar_t any_length[] = L"\\\\?\\", of_network[] = L"\\\\?\\UNC\\", of_devices[] = L"\\\\.\\";
enum { DESCRIPTORS = 2048 };                     /* as many as the C library has */
static const char of_descriptors[] = "/dev/fd/"; /* what is open in this process */
#define LENGTH(text) (sizeof(text) / sizeof((text)[0]) - 1)

static wchar_t *fail_path(int number)
{
    errno = number;
    return NULL;
}

static bool is_separator(wchar_t c)
{
    return c == L'/' || c == L'\\';
}

static bool is_absolute(const wchar_t *path)
{
    return is_separator(path[0]) || (path[0] && path[1] == L':');
}

/* NULL with errno: what is not UTF-8 is not the name of a file here. */
static wchar_t *widen(const char *text)
{
    const int count = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = count > 0 ? malloc((size_t)count * sizeof(*wide)) : NULL;
    if (!wide)
        return fail_path(count > 0 ? ENOMEM : ENOENT);
    MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, count);
    return wide;
}

/* "left\right"; of a drive there is a backslash already. */
static wchar_t *join(const wchar_t *left, const wchar_t *right)
{
    const size_t all = wcslen(left), bytes = all - (all && left[all - 1] == L'\\'), more = wcslen(right) + 1;
    wchar_t *joined = malloc((bytes + 1 + more) * sizeof(*joined));
    if (!joined)
        return fail_path(ENOMEM);
    memcpy(joined, left, bytes * sizeof(*joined));
    joined[bytes] = L'\\';
    memcpy(joined + bytes + 1, right, more * sizeof(*joined));
    return joined;
}

/* Puts the path, which begins with as many characters of another beginning, below that of any length. */
static wchar_t *with_prefix(const wchar_t *prefix, const wchar_t *path)
{
    const size_t before = wcslen(prefix), more = wcslen(path) + 1;
    wchar_t *complete_path = malloc((before + more) * sizeof(*complete_path));
    if (!complete_path)
        return fail_path(ENOMEM);
    memcpy(complete_path, prefix, before * sizeof(*complete_path));
    memcpy(complete_path + before, path, more * sizeof(*complete_path));
    return complete_path;
}

/* Without . and .. and with backslashes: names of any length are not changed any more by the system. */
static wchar_t *resolve(const wchar_t *path)
{
    const DWORD count = GetFullPathNameW(path, 0, NULL, NULL);
    wchar_t *full = count ? malloc(count * sizeof(*full)) : NULL;
    if (!full)
        return fail_path(count ? ENOMEM : ENOENT);
    GetFullPathNameW(path, count, full, NULL);
    return full;
}

/* Names such as CON or COM1 in a recording must not open devices. */
static wchar_t *complete(const wchar_t *path)
{
    wchar_t *full = resolve(path), *complete_path = NULL;
    if (!full)
        return NULL;
    const bool is_nul = _wcsicmp(full, L"\\\\.\\NUL") == 0;
    if (wcsncmp(full, of_devices, LENGTH(of_devices)) == 0)
        complete_path = is_nul ? with_prefix(L"", full) : fail_path(ENOENT);
    else if (full[0] == L'\\' && full[1] == L'\\')
        complete_path = with_prefix(of_network, full + 2);
    else
        complete_path = with_prefix(any_length, full);
    free(full);
    return complete_path;
}

/* The same path without the prefix. What is returned points into it, or is to be freed as *made. */
static const wchar_t *without_prefix(const wchar_t *path, wchar_t **made)
{
    *made = NULL;
    if (wcsncmp(path, of_network, LENGTH(of_network)) == 0)
        return *made = with_prefix(L"\\\\", path + LENGTH(of_network));
    return path + (wcsncmp(path, any_length, LENGTH(any_length)) == 0 ? LENGTH(any_length) : 0);
}

static wchar_t *below(int folder, const wchar_t *name)
{
    wchar_t *made, *joined, *complete_path = NULL, *parent = pf_windows_path_of(folder);
    const wchar_t *plain = parent ? without_prefix(parent, &made) : NULL;
    if (!parent)
        return NULL;
    joined = plain ? join(plain, name) : NULL;
    if (joined)
        complete_path = complete(joined);
    free(joined);
    free(made);
    free(parent);
    return complete_path;
}

/* As in POSIX several slashes are one; and a recording that names //server/share must not make us connect to it. */
static const char *skip_slashes(const char *path)
{
    while (path[0] == '/' && (path[1] == '/' || path[1] == '\\'))
        path++;
    return path;
}

wchar_t *pf_windows_path(int folder, const char *path)
{
    if (!*path)
        return fail_path(ENOENT);
    if (strcmp(path, "/dev/null") == 0)
        return with_prefix(of_devices, L"NUL");
    if (strncmp(path, of_descriptors, LENGTH(of_descriptors)) == 0)
        return pf_windows_path_of(atoi(path + LENGTH(of_descriptors)));
    path = skip_slashes(path);
    wchar_t *wide = widen(path), *complete_path;
    if (!wide)
        return NULL;
    if (!pf_windows_may_connect(wide)) {
        free(wide);
        return fail_path(ENOENT);
    }
    complete_path = folder == AT_FDCWD || is_absolute(wide) ? complete(wide) : below(folder, wide);
    free(wide);
    return complete_path;
}

/* Some file systems, and Wine with long paths, do not know what is open: then as it was opened. */
static wchar_t *opened[DESCRIPTORS];
static SRWLOCK opened_lock = SRWLOCK_INIT;

void pf_windows_note_path(int fd, wchar_t *path)
{
    if (fd < 0 || fd >= DESCRIPTORS) {
        free(path);
        return;
    }
    AcquireSRWLockExclusive(&opened_lock);
    free(opened[fd]);
    opened[fd] = path;
    ReleaseSRWLockExclusive(&opened_lock);
}

static wchar_t *path_as_opened(int fd)
{
    wchar_t *copy = NULL;
    AcquireSRWLockExclusive(&opened_lock);
    const wchar_t *path = fd >= 0 && fd < DESCRIPTORS ? opened[fd] : NULL;
    if (path)
        copy = with_prefix(L"", path);
    else
        errno = ENOTDIR;
    ReleaseSRWLockExclusive(&opened_lock);
    return copy;
}

wchar_t *pf_windows_final_path(HANDLE handle)
{
    const DWORD count = handle == INVALID_HANDLE_VALUE ? 0 : GetFinalPathNameByHandleW(handle, NULL, 0, 0);
    wchar_t *path = count ? malloc((count + 1) * sizeof(*path)) : NULL;
    if (path && GetFinalPathNameByHandleW(handle, path, count + 1, 0))
        return path;
    free(path);
    return fail_path(count ? ENOMEM : ENOTDIR);
}

wchar_t *pf_windows_path_of(int fd)
{
    wchar_t *path = pf_windows_final_path(pf_windows_handle(fd));
    return path ? path : path_as_opened(fd);
}

char *pf_windows_text(const wchar_t *path)
{
    wchar_t *made;
    const wchar_t *plain = without_prefix(path, &made);
    if (made)
        pf_windows_know_machine(made);
    const int bytes = plain ? WideCharToMultiByte(CP_UTF8, 0, plain, -1, NULL, 0, NULL, NULL) : 0;
    char *text = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (text) {
        WideCharToMultiByte(CP_UTF8, 0, plain, -1, text, bytes, NULL, NULL);
        for (char *c = text + (made ? 2 : 0); *c; c++)
            *c = *c == '\\' ? '/' : *c;
    } else {
        errno = ENOMEM;
    }
    free(made);
    return text;
}
