/* SPDX-License-Identifier: MIT */
/* `record --repeat`: several recordings of a command, or of two in turn, to be compared. */
#ifndef PERFILE_CLI_RECORD_REPEAT_H
#define PERFILE_CLI_RECORD_REPEAT_H

#include "options.h"

/* Whether the options request several runs. */
bool pf_record_repeats(const struct pf_settings *settings);
/* `record` makes one recording, in a process of its own. A status: that of the first command that failed. */
int pf_record_repeat(const struct pf_command *command, struct pf_settings *settings,
                     int (*record)(const struct pf_command *command, struct pf_settings *settings));

#endif
