/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_SYS_SOCKET_H
#define PF_WINDOWS_SYS_SOCKET_H

#include <sys/types.h>

enum { AF_UNIX = 1, SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_SEQPACKET = 5, SOCK_CLOEXEC = 0x80 };
enum {
    SOL_SOCKET = 1,
    SCM_RIGHTS = 1,
    MSG_PEEK = 2,
    MSG_TRUNC = 32,
    MSG_DONTWAIT = 64,
    MSG_WAITALL = 256,
    MSG_NOSIGNAL = 512
};
enum { MSG_CMSG_CLOEXEC = 0x40000000 };
struct iovec {
    void *iov_base;
    size_t iov_len;
};
struct msghdr {
    struct iovec *msg_iov;
    size_t msg_iovlen;
    void *msg_control;
    size_t msg_controllen;
};
struct cmsghdr {
    size_t cmsg_len;
    int cmsg_level, cmsg_type;
};
#define CMSG_DATA(header) ((unsigned char *)((header) + 1))
#define CMSG_SPACE(bytes) (sizeof(struct cmsghdr) + (((bytes) + 7) & ~(size_t)7))
#define CMSG_LEN(bytes) (sizeof(struct cmsghdr) + (bytes))
#define CMSG_FIRSTHDR(message)                                                                                         \
    ((message)->msg_controllen ? (struct cmsghdr *)(message)->msg_control : (struct cmsghdr *)0)

int socketpair(int family, int type, int protocol, int fds[2]);
ssize_t recv(int fd, void *to, size_t bytes, int flags);
ssize_t recvmsg(int fd, struct msghdr *message, int flags);
ssize_t send(int fd, const void *data, size_t bytes, int flags);
ssize_t sendmsg(int fd, const struct msghdr *message, int flags);

#endif
