/* SPDX-License-Identifier: MIT */
/*
 * Writes files for the sandboxed process, which cannot create any: a second process, which reads nothing of the
 * recording, does it. It can only make perf.hist.0, perf.hist.1 ... in the folder where the command was started.
 */
#ifndef PERFILE_CLI_TUI_PRINT_H
#define PERFILE_CLI_TUI_PRINT_H

#include <stddef.h>

/* Starts it; it ends with us. To be called before the sandbox and before the first thread. */
void pf_tui_print_start(void);
/* Writes the text to a new file. Its number, or below 0: minus the number of the error. */
int pf_tui_print(const char *text, size_t bytes);

#endif
