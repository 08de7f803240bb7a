/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_STAT_H
#define PF_WINDOWS_SYS_STAT_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <wchar.h>

struct stat {
    dev_t st_dev;
    uint64_t st_ino;
    mode_t st_mode;
    nlink_t st_nlink;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    off_t st_size;
    int64_t st_blocks;
    struct timespec st_atim, st_mtim, st_ctim;
};
#define st_atime st_atim.tv_sec
#define st_mtime st_mtim.tv_sec
#define st_ctime st_ctim.tv_sec

#undef S_IFMT
#define S_IFMT 0xf000
#define S_IFIFO 0x1000
#define S_IFCHR 0x2000
#define S_IFDIR 0x4000
#define S_IFBLK 0x6000
#define S_IFREG 0x8000
#define S_IFLNK 0xa000
#define S_IFSOCK 0xc000
#define S_ISFIFO(mode) (((mode)&S_IFMT) == S_IFIFO)
#define S_ISCHR(mode) (((mode)&S_IFMT) == S_IFCHR)
#define S_ISDIR(mode) (((mode)&S_IFMT) == S_IFDIR)
#define S_ISBLK(mode) (((mode)&S_IFMT) == S_IFBLK)
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)
#define S_ISUID 04000
#define S_ISGID 02000
#define S_ISVTX 01000
#define S_IRUSR 0400
#define S_IWUSR 0200
#define S_IXUSR 0100
#define S_IRGRP 0040
#define S_IWGRP 0020
#define S_IXGRP 0010
#define S_IROTH 0004
#define S_IWOTH 0002
#define S_IXOTH 0001

enum { UTIME_NOW = (1 << 30) - 1, UTIME_OMIT = (1 << 30) - 2 };

int fchmod(int fd, mode_t mode);
int fchmodat(int folder, const char *path, mode_t mode, int flags);
int fstat(int fd, struct stat *status);
int fstatat(int folder, const char *path, struct stat *status, int flags);
int futimens(int fd, const struct timespec times[2]);
int lstat(const char *path, struct stat *status);
int mkdir(const char *path, mode_t mode);
int mkdirat(int folder, const char *path, mode_t mode);
int mkfifo(const char *path, mode_t mode);
int stat(const char *path, struct stat *status);
mode_t umask(mode_t mask);
int utimensat(int folder, const char *path, const struct timespec times[2], int flags);

#endif
