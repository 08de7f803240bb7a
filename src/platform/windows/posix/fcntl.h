/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_FCNTL_H
#define PF_WINDOWS_FCNTL_H

#include <sys/stat.h>
#include <sys/types.h>

/* the first ones as in the C library, which has files with these flags, too */
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_ACCMODE 3
#define O_APPEND 0x0008
#define O_CLOEXEC 0x0080
#define O_CREAT 0x0100
#define O_TRUNC 0x0200
#define O_EXCL 0x0400
#define O_DIRECTORY 0x10000
#define O_NOFOLLOW 0x20000
#define O_NONBLOCK 0x40000
#define O_PATH 0x80000
#define O_TMPFILE 0x100000
#define O_NOCTTY 0

#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR 0x200
#define AT_SYMLINK_FOLLOW 0x400
#define AT_EACCESS 0x200
#define AT_EMPTY_PATH 0x1000

enum { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC = 1030, F_SETPIPE_SZ, F_GETPIPE_SZ };
enum { F_OFD_SETLK = 37, F_OFD_SETLKW };
enum { F_RDLCK, F_WRLCK, F_UNLCK };
#define FD_CLOEXEC 1

/* Of the file; a part of it cannot be locked. */
struct flock {
    short l_type, l_whence;
    off_t l_start, l_len;
};

int open(const char *path, int flags, ...);
int openat(int folder, const char *path, int flags, ...);
int fcntl(int fd, int command, ...);
int posix_fadvise(int fd, off_t offset, off_t bytes, int advice);

#endif
