/* SPDX-License-Identifier: MIT */
/* Another verb, of those that fit the events of a recording, continues where the interactive view ends. */
#ifndef PERFILE_CLI_HANDOVER_H
#define PERFILE_CLI_HANDOVER_H

#include <stdbool.h>

/* To be called before the sandbox, in which no program can be started. `file` is the recording. */
void pf_handover_prepare(const char *file);
bool pf_handover_possible(void);
/* Runs "perfile COMMAND FILE", where `command` is one of pf_fitting_command_at. Returns its exit status. */
int pf_handover_run(const char *command);

#endif
