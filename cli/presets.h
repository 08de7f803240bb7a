/* SPDX-License-Identifier: MIT */
/* "VERB record": what the views of a verb need, recorded without having to know its events. */
#ifndef PERFILE_CLI_PRESETS_H
#define PERFILE_CLI_PRESETS_H

#include "options.h"

/* There is a `record` of this verb. */
bool pf_preset_known(const struct pf_command *command);
/*
 * Where the word "record" stands among the arguments of a verb, behind options of the verb at most; NULL: it is another
 * command line.
 */
char **pf_preset_find(const struct pf_command *command, char **arguments);
/* `word` is that place. Records, with the options of the verb before it and those of the verb record behind it. */
int pf_preset_run(const struct pf_command *command, char **arguments, char **word, struct pf_settings *settings);

#endif
