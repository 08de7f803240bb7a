/* SPDX-License-Identifier: MIT */
/* Outputs that are looked at in a browser: where they go, and who shows them. */
#ifndef PERFILE_CLI_PICTURE_H
#define PERFILE_CLI_PICTURE_H

#include "options.h"

/* Of verbs with --open and --code: checks both, and gives what would go to a terminal the name of a file. A status. */
int pf_picture_choose(const struct pf_command *command, struct pf_settings *settings);
/* Says where the picture is when nobody named the file. The status of the verb, which is given. */
int pf_picture_notify(const struct pf_settings *settings, int status);

/* How many places of graphs, of so many bytes each, three quarters of the memory hold; 0: not known. */
uint64_t pf_nodes_that_fit(uint64_t node_bytes);

#endif
