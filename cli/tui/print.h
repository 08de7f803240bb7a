/* SPDX-License-Identifier: MIT */
/*
 * Files for those who are in a sandbox, in which none could be made: a second process, which reads nothing of the recording,
 * writes them. All that it can make is perf.hist.0, perf.hist.1 ... in the folder where the command was started.
 */
#ifndef PERFILE_CLI_TUI_PRINT_H
#define PERFILE_CLI_TUI_PRINT_H

#include <stddef.h>

/* Starts it; it ends with us. To be called before the sandbox and before the first thread. */
void pf_tui_print_start(void);
/* Writes the text to a new file. Its number, or below 0: minus the number of the error. */
int pf_tui_print(const char *text, size_t bytes);

#endif
