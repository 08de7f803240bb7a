/* SPDX-License-Identifier: MIT */
/* Prints texts about the command itself, all of them from the tables. Each function returns an enum pf_status. */
#ifndef PERFILE_CLI_HELP_H
#define PERFILE_CLI_HELP_H

#include "options.h"

int pf_help_version(bool libraries);
int pf_help_overview(void);
/* The overview on standard error: PF_STATUS_USAGE. */
int pf_help_missing_verb(void);
/* The values of the first operand, each with a text about it, for a terminal. */
int pf_help_operands(const struct pf_command *command);
int pf_help_verb(const struct pf_command *command, bool all);

#endif
