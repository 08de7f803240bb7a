/* SPDX-License-Identifier: MIT */
/* Commands for a recording that runs: perf's --control. */
#ifndef PERFILE_CLI_CONTROL_H
#define PERFILE_CLI_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct pf_control {
    const char *verb; /* whose messages these are; to be set first */
    int fd;           /* commands come here, each in a line; -1: there are none (any more) */
    int ack;          /* -1: nobody wants an answer */
    int flags;        /* that `fd` had before, when it is not ours */
    bool owned;
    char line[256];
    size_t used;
};

/* "fd:CTL[,ACK]" or "fifo:CTL[,ACK]"; NULL: none. PF_STATUS_OK, or a status when a message was printed. */
int pf_control_open(struct pf_control *control, const char *text);
/*
 * Hands over the commands that have come, as many as one read gives: who says much must not keep the recorder from its
 * buffers. Without their ends of line. True from `run`: it was understood and done, and is
 * answered with perf's "ack\n" and a NUL.
 */
void pf_control_read(struct pf_control *control, bool (*run)(void *context, const char *command), void *context);
/* For what is done only later. */
void pf_control_answer(const struct pf_control *control);
void pf_control_close(struct pf_control *control);

#endif
