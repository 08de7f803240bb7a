/* SPDX-License-Identifier: MIT */
/*
 * What is left to a process that reads a recording, which may come from anybody: a bug in it must not become a way to
 * write files, to run programs or to call home. The command puts it on; the library never changes the process.
 */
#ifndef PERFILE_CLI_SANDBOX_H
#define PERFILE_CLI_SANDBOX_H

#include "options.h"

/*
 * From here on the process writes below the folder of --output (and --jit-dir) and the caches alone, reads what it may
 * read, runs no programs, and opens no connections unless DEBUGINFOD_URLS is set. To be called when the options are
 * known, before the recording is opened and before the first thread. Does nothing with --no-sandbox, and as much as the
 * kernel has; with -v the missing parts are reported.
 */
void pf_sandbox_enter(const struct pf_command *command, struct pf_settings *settings);
/*
 * The calling thread alone, which reads files of other processes while others of this process record: from here on it
 * runs no programs, does nothing to other processes and opens no connections.
 */
void pf_sandbox_enter_thread(const struct pf_settings *settings);

#endif
