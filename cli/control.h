/* SPDX-License-Identifier: MIT */
/* Commands for a recording that runs: perf's --control. */
#ifndef PERFILE_CLI_CONTROL_H
#define PERFILE_CLI_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct pf_control {
    const char *verb; /* whose messages these are; to be set first */
    int fd;           /* commands arrive here, one per line; -1: there are none (any more) */
    int ack;          /* -1: answers are not wanted */
    int flags;        /* that `fd` had before, when it is not ours */
    bool owned;
    char line[256];
    size_t used;
};

/* "fd:CTL[,ACK]" or "fifo:CTL[,ACK]"; NULL: none. PF_STATUS_OK, or a status when a message was printed. */
int pf_control_open(struct pf_control *control, const char *text);
/*
 * Calls `run` for each command that has arrived, without its end of line. Performs a single read, so that many commands
 * cannot keep the recorder from its buffers. When `run` returns true, the command was done and is answered with perf's
 * "ack\n" and a NUL.
 */
void pf_control_read(struct pf_control *control, bool (*run)(void *context, const char *command), void *context);
/* Answers a command that was done only later. */
void pf_control_answer(const struct pf_control *control);
void pf_control_close(struct pf_control *control);

#endif
