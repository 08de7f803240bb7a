/* SPDX-License-Identifier: MIT */
/* Which recording is meant when none is named: a pipe on standard input comes before perf.data. */
#ifndef PERFILE_CLI_STDIN_H
#define PERFILE_CLI_STDIN_H

#include "options.h"

/*
 * True when standard input is a pipe that holds a recording; nothing of it is read. Waits for its first bytes as long as
 * somebody may write them, and says so after a while. A pipe with something else, or nothing, is said, too.
 */
bool pf_stdin_has_recording(const struct pf_command *command, const struct pf_settings *settings);

#endif
