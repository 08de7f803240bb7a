/* SPDX-License-Identifier: MIT */
/* The values that completion offers and that only this machine or a recording knows: events, processes, names. */
#ifndef PERFILE_CLI_CANDIDATES_H
#define PERFILE_CLI_CANDIDATES_H

#include "options.h"

/* Whether there are such values for an option; an option of NULL stands for the first operand. */
bool pf_candidates_known(const struct pf_command *command, const struct pf_option *option);
/*
 * Prints a line for each: the value, and for other shells than bash, after a tab, a remark. The operands are the shell,
 * the verb, the option as it was typed ("" for the operand), and the words of the command line, in which the recording
 * or the dataset is looked for. Prints nothing if that takes longer than 0.3 seconds. A status, without a message.
 */
int pf_candidates_print(const struct pf_command *command, struct pf_settings *settings);

#endif
