/* SPDX-License-Identifier: MIT */
/* What Windows does not have: processes as in POSIX, links, modes. The callers have other ways, or report it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

#define ABSENT(type, function, ...)                                                                                    \
    type function(__VA_ARGS__)                                                                                         \
    {                                                                                                                  \
        return pf_windows_fail_with(ENOSYS);                                                                           \
    }

ABSENT(pid_t, fork, void)
ABSENT(pid_t, setsid, void)
ABSENT(int, setpgid, pid_t, pid_t)
ABSENT(pid_t, waitpid, pid_t, int *, int)
ABSENT(int, kill, pid_t, int)
ABSENT(int, socketpair, int, int, int, int[2])
ABSENT(ssize_t, recv, int, void *, size_t, int)
ABSENT(ssize_t, recvmsg, int, struct msghdr *, int)
ABSENT(ssize_t, send, int, const void *, size_t, int)
ABSENT(ssize_t, sendmsg, int, const struct msghdr *, int)
ABSENT(int, signalfd, int, const sigset_t *, int)
ABSENT(int, sigtimedwait, const sigset_t *, siginfo_t *, const struct timespec *)
ABSENT(int, sigwaitinfo, const sigset_t *, siginfo_t *)
ABSENT(int, prctl, int, ...)
ABSENT(int, pipe2, int[2], int)
ABSENT(int, linkat, int, const char *, int, const char *, int)
ABSENT(int, symlinkat, const char *, int, const char *)
ABSENT(int, mkfifo, const char *, mode_t)
ABSENT(int, getpriority, int, int)
ABSENT(int, setpriority, int, int, int)
ABSENT(int, setitimer, int, const struct itimerval *, struct itimerval *)
ABSENT(int, setrlimit, int, const struct rlimit *)
ABSENT(int, uname, struct utsname *)
ABSENT(int, fchmod, int, mode_t)
ABSENT(int, fchmodat, int, const char *, mode_t, int)

mode_t umask(mode_t mask)
{
    (void)mask;
    return 0;
}

/* ---- users and processes ----------------------------------------------------------------------------------------- */

/* The files of this user, as far as can be seen here, are all files. */
uid_t geteuid(void)
{
    return 1000;
}

uid_t getuid(void)
{
    return geteuid();
}

pid_t getppid(void)
{
    return 1;
}

/* A process that has ended: ESRCH. */
pid_t getpgid(pid_t pid)
{
    DWORD status = 0;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)pid);
    if (!process)
        return GetLastError() == ERROR_ACCESS_DENIED ? pid : pf_windows_fail_with(ESRCH);
    const bool runs = GetExitCodeProcess(process, &status) && status == STILL_ACTIVE;
    CloseHandle(process);
    return runs ? pid : pf_windows_fail_with(ESRCH);
}

int getrlimit(int resource, struct rlimit *limit)
{
    enum { DESCRIPTORS = 2048 };
    *limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    if (resource == RLIMIT_NOFILE)
        limit->rlim_cur = limit->rlim_max = DESCRIPTORS;
    return 0;
}

int getrusage(int of, struct rusage *usage)
{
    (void)of;
    *usage = (struct rusage){.ru_maxrss = 0};
    return 0;
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* Those that the C library does not have are never sent. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    void (*handler)(int) = action ? action->sa_handler : SIG_DFL;
    if (number != SIGINT && number != SIGTERM)
        handler = SIG_DFL;
    else
        handler = action ? signal(number, handler) : SIG_DFL;
    if (before)
        *before = (struct sigaction){.sa_handler = handler};
    return 0;
}

static int change(sigset_t *set, sigset_t to)
{
    *set = to;
    return 0;
}

int sigemptyset(sigset_t *set)
{
    return change(set, 0);
}

int sigfillset(sigset_t *set)
{
    return change(set, ~(sigset_t)0);
}

int sigaddset(sigset_t *set, int number)
{
    return change(set, *set | (sigset_t)1 << number);
}

int sigdelset(sigset_t *set, int number)
{
    return change(set, *set & ~((sigset_t)1 << number));
}

int sigismember(const sigset_t *set, int number)
{
    return *set >> number & 1;
}

int sigpending(sigset_t *set)
{
    return sigemptyset(set);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    return before ? sigemptyset(before) : 0;
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    (void)milliseconds;
    for (nfds_t i = 0; i < count; i++)
        fds[i].revents = fds[i].events;
    return (int)count;
}

int ioctl(int fd, unsigned long request, ...)
{
    CONSOLE_SCREEN_BUFFER_INFO console;
    va_list arguments;
    va_start(arguments, request);
    struct winsize *size = va_arg(arguments, struct winsize *);
    va_end(arguments);
    if (request != TIOCGWINSZ || !GetConsoleScreenBufferInfo(pf_windows_handle(fd), &console))
        return pf_windows_fail_with(ENOTTY);
    size->ws_row = (unsigned short)(console.srWindow.Bottom - console.srWindow.Top + 1);
    size->ws_col = (unsigned short)(console.srWindow.Right - console.srWindow.Left + 1);
    return 0;
}

unsigned long getauxval(unsigned long type)
{
    (void)type;
    return 0;
}

int glob(const char *pattern, int flags, int (*failed)(const char *path, int number), glob_t *found)
{
    (void)pattern;
    (void)flags;
    (void)failed;
    *found = (glob_t){.gl_pathc = 0};
    return GLOB_NOMATCH;
}

void globfree(glob_t *found)
{
    (void)found;
}

void *dlopen(const char *name, int flags)
{
    (void)name;
    (void)flags;
    errno = ENOENT;
    return NULL;
}

void *dlsym(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

int dlclose(void *library)
{
    (void)library;
    return 0;
}

const char *dlerror(void)
{
    return "No such file or directory";
}
