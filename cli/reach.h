/* SPDX-License-Identifier: MIT */
/*
 * Files of other processes, for a process in a sandbox: to the kernel, following /proc/PID/root is looking into that
 * process, which Landlock never allows. A second process, which reads nothing of the recording, opens them.
 */
#ifndef PERFILE_CLI_REACH_H
#define PERFILE_CLI_REACH_H

/* Starts it; it ends with us. To be called before the sandbox and before the first thread. */
void pf_reach_start(void);

/*
 * For perfile_symbol_options.reach: a path of the file, which stays open from now on. NULL: it does not exist, it is
 * not a file that JITs write for profilers, or too many are open.
 */
const char *pf_reach(void *context, const char *path);

#endif
