/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_POLL_H
#define PF_WINDOWS_POLL_H

struct pollfd {
    int fd;
    short events, revents;
};
enum { POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 16 };
typedef unsigned long nfds_t;

/* There is something to read from files and pipes at all times, as far as one may wait for it. */
int poll(struct pollfd *fds, nfds_t count, int milliseconds);

#endif
