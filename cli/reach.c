/* SPDX-License-Identifier: MIT */
#include "reach.h"

#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 256 };

/* The one of the process. */
static struct {
    pthread_mutex_t lock;
    int socket; /* to the process that opens files; 0: there is none */
    unsigned count;
    char paths[FILES_MAX][32];
} reach = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the process that opens files ------------------------------------------------------------------------------ */

/* PREFIX, digits, SUFFIX; what follows it, or NULL. */
static const char *skip(const char *text, const char *prefix, const char *suffix)
{
    const size_t bytes = strlen(prefix);
    const size_t digits = strncmp(text, prefix, bytes) == 0 ? strspn(text + bytes, "0123456789") : 0;
    const char *after = text + bytes + digits;

    return digits && strncmp(after, suffix, strlen(suffix)) == 0 ? after + strlen(suffix) : NULL;
}

/* Only perf-PID.map and jit-PID.dump, which JITs write for profilers: the asking process may be compromised. */
static bool is_for_others(const char *path)
{
    const char *name = skip(path, "/proc/", "/root/") ? strrchr(path, '/') + 1 : "";
    const char *map = skip(name, "perf-", ".map"), *dump = skip(name, "jit-", ".dump");

    return (map && !*map) || (dump && !*dump);
}

static int open_file(const char *path)
{
    struct stat status;
    int fd = is_for_others(path) ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;

    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

union control {
    struct cmsghdr header;
    char capacity[CMSG_SPACE(sizeof(int))];
};

/* Sends one byte, and the file if there is one. */
static bool answer(int to, int fd)
{
    char byte = 0;
    union control control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};

    if (fd >= 0) {
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) == 1;
}

static _Noreturn void serve(int socket)
{
    char path[PATH_MAX];
    ssize_t bytes;

    while ((bytes = recv(socket, path, sizeof(path) - 1, 0)) > 0) {
        path[bytes] = 0;
        int fd = open_file(path);
        bool heard = answer(socket, fd);
        if (fd >= 0)
            close(fd);
        if (!heard)
            break;
    }
    _exit(0);
}

/* Closes all descriptors except the socket: the pager waits until every copy of its input is closed. */
static int keep_alone(int socket)
{
    dup2(socket, 0);
    pf_platform_close_from(1);
    return 0;
}

void pf_reach_start(void)
{
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_IGN); /* is for the pager, or ends us both */
        serve(keep_alone(ends[1]));
    }
    close(ends[1]);
    if (pid > 0)
        reach.socket = ends[0];
    else
        close(ends[0]);
}

/* ---- the process that asks ------------------------------------------------------------------------------------- */

static int ask(const char *path)
{
    char byte;
    int fd = -1;
    union control control;
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t got;

    if (send(reach.socket, path, strlen(path), MSG_NOSIGNAL) < 0)
        return -1;
    while ((got = recvmsg(reach.socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    const struct cmsghdr *header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}

const char *pf_reach(void *context, const char *path)
{
    const char *made = NULL;

    (void)context;
    pthread_mutex_lock(&reach.lock);
    int fd = reach.socket && reach.count < FILES_MAX ? ask(path) : -1;
    if (fd >= 0) {
        snprintf(reach.paths[reach.count], sizeof(reach.paths[0]), "/proc/self/fd/%d", fd);
        made = reach.paths[reach.count++];
    }
    pthread_mutex_unlock(&reach.lock);
    return made;
}
