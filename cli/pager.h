/* SPDX-License-Identifier: MIT */
/* Standard output through a pager, as git and perf do it. There is one for the process, and only on a terminal. */
#ifndef PERFILE_CLI_PAGER_H
#define PERFILE_CLI_PAGER_H

#include <stdbool.h>

/* Says before anything is printed, and before the sandbox, whether a pager is wanted; until then: no. */
void pf_pager_setup(bool wanted);

/*
 * Called when there is something to show, so that a long computation keeps its progress bar and its Ctrl-C. The
 * descriptor to write to instead of standard output, which the caller closes; -1: there is no pager. Messages are held
 * back until the pager is gone.
 */
int pf_pager_start(void);

/* Waits until the user has left the pager, if there is one. PF_STATUS_OK, or PF_STATUS_OUTPUT when a message was
 * printed. */
int pf_pager_finish(void);

#endif
