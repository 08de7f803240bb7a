/* SPDX-License-Identifier: MIT */
/* Files by descriptors, which are those of the C library; reading and writing does not pass through it. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* of the C library, whose header has other declarations of ours */
int _close(int fd);
int _dup(int fd);
int _dup2(int fd, int to);
intptr_t _get_osfhandle(int fd);
int _open_osfhandle(intptr_t handle, int flags);

enum { SHARED = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
enum { PART_BYTES = 1 << 30 }; /* of one call of the system */

HANDLE pf_windows_handle(int fd)
{
    const intptr_t handle = fd < 0 ? -1 : _get_osfhandle(fd);
    if (handle == -1 || handle == -2) /* -2: a standard stream without a file */
        errno = EBADF;
    return handle == -2 ? INVALID_HANDLE_VALUE : (HANDLE)handle;
}

HANDLE pf_windows_open(const wchar_t *path, DWORD rights, DWORD disposition, DWORD flags)
{
    HANDLE handle = CreateFileW(path, rights, SHARED, NULL, disposition, FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        pf_windows_fail();
    return handle;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static DWORD rights_of(int flags)
{
    const DWORD writing = flags & O_APPEND ? FILE_GENERIC_WRITE & ~(DWORD)FILE_WRITE_DATA : FILE_GENERIC_WRITE;
    if (flags & O_PATH)
        return FILE_READ_ATTRIBUTES;
    return (flags & O_ACCMODE) == O_RDONLY   ? FILE_GENERIC_READ
           : (flags & O_ACCMODE) == O_WRONLY ? writing | FILE_READ_ATTRIBUTES
                                             : FILE_GENERIC_READ | writing;
}

static DWORD disposition_of(int flags)
{
    if (!(flags & O_CREAT))
        return OPEN_EXISTING;
    return flags & O_EXCL ? CREATE_NEW : OPEN_ALWAYS;
}

/* What does not fit the flags: an errno; 0. */
static int misfit_of(HANDLE handle, int flags)
{
    BY_HANDLE_FILE_INFORMATION found;
    const bool known = GetFileInformationByHandle(handle, &found);
    const bool is_folder = known && found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    const bool is_link = known && found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT;
    if (flags & O_DIRECTORY && !is_folder)
        return ENOTDIR;
    if (is_folder && (flags & O_ACCMODE) != O_RDONLY)
        return EISDIR;
    return flags & O_NOFOLLOW && is_link && !(flags & O_PATH) ? ELOOP : 0;
}

/* The path is freed when the descriptor is closed. */
static int descriptor_of(HANDLE handle, int flags, wchar_t *path)
{
    const int fd = _open_osfhandle((intptr_t)handle, flags & (O_APPEND | O_CLOEXEC));
    if (fd < 0) {
        CloseHandle(handle);
        errno = EMFILE;
    }
    pf_windows_note_path(fd, path);
    return fd;
}

static int open_at(int folder, const char *path, int flags)
{
    wchar_t *wide = flags & O_TMPFILE ? NULL : pf_windows_path(folder, path);
    if (!wide)
        return flags & O_TMPFILE ? pf_windows_fail_with(EOPNOTSUPP) : -1;
    HANDLE handle = pf_windows_open(wide, rights_of(flags), disposition_of(flags),
                                    flags & O_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
    if (handle == INVALID_HANDLE_VALUE) {
        free(wide);
        return -1;
    }
    int misfit = misfit_of(handle, flags);
    if (!misfit && flags & O_TRUNC && (flags & O_ACCMODE) != O_RDONLY && GetFileType(handle) == FILE_TYPE_DISK &&
        !SetEndOfFile(handle))
        misfit = pf_windows_fail() ? errno : 0;
    if (!misfit)
        return descriptor_of(handle, flags, wide);
    CloseHandle(handle);
    free(wide);
    return pf_windows_fail_with(misfit);
}

int open(const char *path, int flags, ...)
{
    return open_at(AT_FDCWD, path, flags);
}

int openat(int folder, const char *path, int flags, ...)
{
    return open_at(folder, path, flags);
}

int close(int fd)
{
    if (pf_windows_handle(fd) == INVALID_HANDLE_VALUE)
        return -1;
    pf_windows_note_path(fd, NULL);
    return _close(fd);
}

int dup(int fd)
{
    return _dup(fd);
}

int dup2(int fd, int to)
{
    return _dup2(fd, to) < 0 ? -1 : to;
}

int pf_windows_nameless(void)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    if (!GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"pf", 0, path))
        return pf_windows_fail();
    HANDLE handle = pf_windows_open(path, FILE_GENERIC_READ | FILE_GENERIC_WRITE | DELETE, OPEN_EXISTING,
                                    FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
    return handle == INVALID_HANDLE_VALUE ? -1 : descriptor_of(handle, 0, NULL);
}

/* ---- reading and writing ----------------------------------------------------------------------------------------- */

static DWORD part_of(size_t bytes)
{
    return bytes < PART_BYTES ? (DWORD)bytes : PART_BYTES;
}

/* At the position of the file, or where `at` says. */
static ssize_t read_handle(HANDLE handle, void *to, size_t bytes, OVERLAPPED *at)
{
    DWORD got = 0;
    if (ReadFile(handle, to, part_of(bytes), &got, at))
        return (ssize_t)got;
    const DWORD error = GetLastError();
    if (error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE)
        return 0;
    return error == ERROR_INVALID_FUNCTION ? pf_windows_fail_with(EISDIR) : pf_windows_fail();
}

static ssize_t write_handle(HANDLE handle, const void *data, size_t bytes, OVERLAPPED *at)
{
    DWORD done = 0;
    return WriteFile(handle, data, part_of(bytes), &done, at) ? (ssize_t)done : pf_windows_fail();
}

ssize_t read(int fd, void *to, size_t bytes)
{
    HANDLE handle = pf_windows_handle(fd);
    return handle == INVALID_HANDLE_VALUE ? -1 : read_handle(handle, to, bytes, NULL);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    HANDLE handle = pf_windows_handle(fd);
    return handle == INVALID_HANDLE_VALUE ? -1 : write_handle(handle, data, bytes, NULL);
}

/* Reading elsewhere moves the position of the file here: it is set back before another thread can see it. */
static SRWLOCK positions = SRWLOCK_INIT;

struct moved {
    HANDLE handle;
    LARGE_INTEGER before;
    OVERLAPPED at;
};

static bool move(struct moved *moved, int fd, off_t offset)
{
    const LARGE_INTEGER here = {.QuadPart = 0};
    *moved = (struct moved){.handle = pf_windows_handle(fd)};
    if (moved->handle == INVALID_HANDLE_VALUE)
        return false;
    moved->at.Offset = (DWORD)((uint64_t)offset & 0xffffffffu);
    moved->at.OffsetHigh = (DWORD)((uint64_t)offset >> 32);
    AcquireSRWLockExclusive(&positions);
    if (GetFileType(moved->handle) == FILE_TYPE_DISK &&
        SetFilePointerEx(moved->handle, here, &moved->before, FILE_CURRENT))
        return true;
    ReleaseSRWLockExclusive(&positions);
    errno = ESPIPE;
    return false;
}

static ssize_t move_back(const struct moved *moved, ssize_t done)
{
    SetFilePointerEx(moved->handle, moved->before, NULL, FILE_BEGIN);
    ReleaseSRWLockExclusive(&positions);
    return done;
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset)
{
    struct moved moved;
    return move(&moved, fd, offset) ? move_back(&moved, read_handle(moved.handle, to, bytes, &moved.at)) : -1;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    struct moved moved;
    return move(&moved, fd, offset) ? move_back(&moved, write_handle(moved.handle, data, bytes, &moved.at)) : -1;
}

off_t lseek(int fd, off_t offset, int whence)
{
    HANDLE handle = pf_windows_handle(fd);
    const LARGE_INTEGER distance = {.QuadPart = offset};
    LARGE_INTEGER now;
    if (handle == INVALID_HANDLE_VALUE)
        return -1;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return pf_windows_fail_with(ESPIPE);
    return SetFilePointerEx(handle, distance, &now, (DWORD)whence) ? now.QuadPart : pf_windows_fail();
}

int ftruncate(int fd, off_t bytes)
{
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = bytes};
    HANDLE handle = pf_windows_handle(fd);
    if (handle == INVALID_HANDLE_VALUE)
        return -1;
    return SetFileInformationByHandle(handle, FileEndOfFileInfo, &end, sizeof(end)) ? 0 : pf_windows_fail();
}

/* Folders need not be written. */
int fsync(int fd)
{
    struct stat status;
    HANDLE handle = pf_windows_handle(fd);
    if (handle == INVALID_HANDLE_VALUE || pf_windows_status(handle, &status) < 0)
        return -1;
    return !S_ISREG(status.st_mode) || FlushFileBuffers(handle) ? 0 : pf_windows_fail();
}

void sync(void)
{
}

int posix_fadvise(int fd, off_t offset, off_t bytes, int advice)
{
    (void)fd;
    (void)offset;
    (void)bytes;
    (void)advice;
    return 0;
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* Locks keep others from reading and writing, so that which is locked is far after the end of any file. */
static int lock_handle(HANDLE handle, bool locks, DWORD flags)
{
    OVERLAPPED far_off = {.Offset = 0, .OffsetHigh = 0x40000000};
    if (handle == INVALID_HANDLE_VALUE)
        return -1;
    const BOOL done = locks ? LockFileEx(handle, flags, 0, 1, 0, &far_off) : UnlockFileEx(handle, 0, 1, 0, &far_off);
    return done || (!locks && GetLastError() == ERROR_NOT_LOCKED) ? 0 : pf_windows_fail();
}

int flock(int fd, int operation)
{
    const DWORD flags =
        (operation & LOCK_EX ? LOCKFILE_EXCLUSIVE_LOCK : 0u) | (operation & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0u);
    return lock_handle(pf_windows_handle(fd), !(operation & LOCK_UN), flags);
}

static int lock_by(HANDLE handle, const struct flock *lock, bool waits)
{
    const DWORD flags =
        (lock->l_type == F_WRLCK ? LOCKFILE_EXCLUSIVE_LOCK : 0u) | (waits ? 0u : LOCKFILE_FAIL_IMMEDIATELY);
    return lock_handle(handle, lock->l_type != F_UNLCK, flags);
}

int fcntl(int fd, int command, ...)
{
    HANDLE handle = pf_windows_handle(fd);
    va_list arguments;
    int result = handle == INVALID_HANDLE_VALUE ? -1 : 0;
    va_start(arguments, command);
    if (result == 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
        result = dup(fd);
    else if (result == 0 && (command == F_OFD_SETLK || command == F_OFD_SETLKW))
        result = lock_by(handle, va_arg(arguments, const struct flock *), command == F_OFD_SETLKW);
    va_end(arguments);
    return result;
}

/* ---- what is known of files -------------------------------------------------------------------------------------- */

static const uint64_t steps = 10 * 1000 * 1000,
                      epoch = UINT64_C(11644473600); /* of 100 ns; seconds from 1601 to 1970 */

static struct timespec time_of(uint64_t since_1601)
{
    const int64_t seconds = (int64_t)(since_1601 / steps) - (int64_t)epoch;
    return (struct timespec){.tv_sec = seconds, .tv_nsec = (long)(since_1601 % steps * 100)};
}

static uint64_t both(DWORD high, DWORD low)
{
    return (uint64_t)high << 32 | low;
}

static int status_of_file(HANDLE handle, struct stat *status)
{
    BY_HANDLE_FILE_INFORMATION found;
    FILE_BASIC_INFO times;
    if (!GetFileInformationByHandle(handle, &found) ||
        !GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof(times)))
        return pf_windows_fail();
    const bool is_folder = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    const unsigned readable = found.dwFileAttributes & FILE_ATTRIBUTE_READONLY ? 0444 : 0644;
    status->st_dev = found.dwVolumeSerialNumber;
    status->st_ino = both(found.nFileIndexHigh, found.nFileIndexLow);
    status->st_mode = (mode_t)(is_folder ? S_IFDIR | 0755u : S_IFREG | readable);
    status->st_nlink = found.nNumberOfLinks;
    status->st_size = is_folder ? 0 : (off_t)both(found.nFileSizeHigh, found.nFileSizeLow);
    status->st_blocks = (status->st_size + 511) / 512;
    status->st_atim = time_of((uint64_t)times.LastAccessTime.QuadPart);
    status->st_mtim = time_of((uint64_t)times.LastWriteTime.QuadPart);
    status->st_ctim = time_of((uint64_t)times.ChangeTime.QuadPart);
    return 0;
}

int pf_windows_status(HANDLE handle, struct stat *status)
{
    const DWORD kind = GetFileType(handle);
    *status = (struct stat){.st_uid = geteuid()};
    if (kind == FILE_TYPE_DISK)
        return status_of_file(handle, status);
    status->st_mode = (mode_t)((kind == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR) | 0600u);
    return 0;
}

int fstat(int fd, struct stat *status)
{
    HANDLE handle = pf_windows_handle(fd);
    return handle == INVALID_HANDLE_VALUE ? -1 : pf_windows_status(handle, status);
}

int fstatat(int folder, const char *path, struct stat *status, int flags)
{
    wchar_t *wide = flags & AT_EMPTY_PATH && !*path ? NULL : pf_windows_path(folder, path);
    if (!wide)
        return flags & AT_EMPTY_PATH && !*path ? fstat(folder, status) : -1;
    HANDLE handle = pf_windows_open(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING,
                                    flags & AT_SYMLINK_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
    const int result = handle == INVALID_HANDLE_VALUE ? -1 : pf_windows_status(handle, status);
    free(wide);
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    return result;
}

int stat(const char *path, struct stat *status)
{
    return fstatat(AT_FDCWD, path, status, 0);
}

int lstat(const char *path, struct stat *status)
{
    return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

static bool to_system_time(const struct timespec *time, FILETIME *system)
{
    uint64_t since = ((uint64_t)time->tv_sec + epoch) * steps + (uint64_t)time->tv_nsec / 100;
    if (time->tv_nsec == UTIME_OMIT)
        return false;
    if (time->tv_nsec == UTIME_NOW)
        GetSystemTimeAsFileTime(system);
    else
        *system = (FILETIME){.dwLowDateTime = (DWORD)(since & 0xffffffffu), .dwHighDateTime = (DWORD)(since >> 32)};
    return true;
}

int pf_windows_set_times(HANDLE handle, const struct timespec times[2])
{
    static const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    const struct timespec *both_times = times ? times : now;
    FILETIME read_at, written;
    const bool has_read = to_system_time(&both_times[0], &read_at),
               has_written = to_system_time(&both_times[1], &written);
    return SetFileTime(handle, NULL, has_read ? &read_at : NULL, has_written ? &written : NULL) ? 0 : pf_windows_fail();
}

int futimens(int fd, const struct timespec times[2])
{
    HANDLE handle = pf_windows_handle(fd);
    return handle == INVALID_HANDLE_VALUE ? -1 : pf_windows_set_times(handle, times);
}

int isatty(int fd)
{
    DWORD mode;
    HANDLE handle = pf_windows_handle(fd);
    if (handle == INVALID_HANDLE_VALUE)
        return 0;
    if (GetConsoleMode(handle, &mode))
        return 1;
    errno = ENOTTY;
    return 0;
}
