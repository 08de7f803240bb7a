/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_UNISTD_H
#define PF_WINDOWS_UNISTD_H

#include <process.h>
#include <stddef.h>
#include <sys/types.h>

#undef STDIN_FILENO
#undef STDOUT_FILENO
#undef STDERR_FILENO
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#undef F_OK
#undef X_OK
#undef W_OK
#undef R_OK
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
enum {
    _SC_PAGESIZE = 1,
    _SC_PHYS_PAGES,
    _SC_NPROCESSORS_CONF,
    _SC_NPROCESSORS_ONLN,
    _SC_OPEN_MAX,
    _SC_CLK_TCK,
    _SC_ARG_MAX
};
#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif

/* files */
int access(const char *path, int mode);
int faccessat(int folder, const char *path, int mode, int flags);
int chdir(const char *path);
int close(int fd);
int dup(int fd);
int dup2(int fd, int to);
int fsync(int fd);
int ftruncate(int fd, off_t bytes);
char *getcwd(char *path, size_t capacity);
int isatty(int fd);
int linkat(int from, const char *name, int to, const char *other, int flags);
off_t lseek(int fd, off_t offset, int whence);
int pipe2(int fds[2], int flags);
ssize_t pread(int fd, void *to, size_t bytes, off_t offset);
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset);
ssize_t read(int fd, void *to, size_t bytes);
ssize_t readlink(const char *path, char *to, size_t capacity);
ssize_t readlinkat(int folder, const char *path, char *to, size_t capacity);
int rmdir(const char *path);
int symlinkat(const char *target, int folder, const char *path);
void sync(void);
int unlink(const char *path);
int unlinkat(int folder, const char *path, int flags);
ssize_t write(int fd, const void *data, size_t bytes);

/* processes */
pid_t fork(void);
uid_t geteuid(void);
uid_t getuid(void);
pid_t getpgid(pid_t pid);
pid_t getppid(void);
int getpagesize(void);
pid_t setsid(void);
int setpgid(pid_t pid, pid_t group);
long sysconf(int name);

#endif
