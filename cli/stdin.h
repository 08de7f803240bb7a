/* SPDX-License-Identifier: MIT */
/* Which recording is meant when none is named: a pipe on standard input comes before perf.data. */
#ifndef PERFILE_CLI_STDIN_H
#define PERFILE_CLI_STDIN_H

#include "options.h"

/*
 * True when standard input is a pipe that holds a recording; nothing of it is read. Waits for the first bytes as long
 * as there is a writer, and prints a message after a while, also when the pipe is empty or holds something else.
 */
bool pf_stdin_has_recording(const struct pf_command *command, const struct pf_settings *settings);

/* Whether a regular file begins as recordings do. */
bool pf_is_recording(const char *path);

#endif
