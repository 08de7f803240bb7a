/* SPDX-License-Identifier: MIT */
/*
 * Python scripts that were written for perf script: python3 runs them in a process of its own, and gets the samples
 * through a pipe, as the output `handlers` writes them. That process is not in the sandbox, the one that reads is.
 */
#ifndef PERFILE_CLI_SCRIPTING_H
#define PERFILE_CLI_SCRIPTING_H

#include "options.h"

/*
 * Runs a script, a path or the name of one that comes with perf, with these arguments (NULL-terminated; NULL: none).
 * The exit status is that of python3, or another status when a message was printed.
 */
int pf_scripting_run(const struct pf_command *command, struct pf_settings *settings, const char *script,
                     char *const arguments[]);
/* Writes a script with a handler for each tracepoint of the recording: "python", or the name of a .py file. */
int pf_scripting_generate(const struct pf_command *command, struct pf_settings *settings, const char *language);
/* Prints the scripts that come with perf, with what they say of themselves. */
int pf_scripting_list(void);
/* The operand is `report` or `record`, or the name of a script that comes with perf, and not the name of a file. */
bool pf_scripting_is_command(const char *operand);
/* Runs "report NAME ...", "record NAME ..." or "NAME ...", which records and shows at once. Returns only on failure. */
int pf_scripting_become(const struct pf_command *command, const struct pf_settings *settings, char *const words[]);

#endif
