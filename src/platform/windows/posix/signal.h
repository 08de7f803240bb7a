/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SIGNAL_H
#define PF_WINDOWS_SIGNAL_H

#include <pthread_signal.h>
#include <sys/types.h>
#include <time.h>

#include_next <signal.h>

enum {
    SIGHUP = 1,
    SIGQUIT = 3,
    SIGTRAP = 5,
    SIGBUS = 7,
    SIGKILL = 9,
    SIGUSR1 = 10,
    SIGUSR2 = 12,
    SIGPIPE = 13,
    SIGALRM = 14
};
enum {
    SIGCHLD = 17,
    SIGCONT = 18,
    SIGSTOP = 19,
    SIGTSTP = 20,
    SIGTTIN = 24,
    SIGTTOU = 25,
    SIGXFSZ = 26,
    SIGWINCH = 28
};
enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };
enum { SA_RESTART = 1, SA_RESETHAND = 2, SA_SIGINFO = 4, SA_NODEFER = 8 };

typedef struct {
    int si_signo;
} siginfo_t;
struct sigaction {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
    sigset_t sa_mask;
    int sa_flags;
};

/* Signals that the C library does not have are never sent; none is blocked. */
int kill(pid_t pid, int number);
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
int sigaddset(sigset_t *set, int number);
int sigdelset(sigset_t *set, int number);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigismember(const sigset_t *set, int number);
int sigpending(sigset_t *set);
int sigprocmask(int how, const sigset_t *set, sigset_t *before);
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
int sigwaitinfo(const sigset_t *set, siginfo_t *info);
#undef pthread_sigmask
#define pthread_sigmask sigprocmask

#endif
