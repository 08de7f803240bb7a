/* SPDX-License-Identifier: MIT */
/* Outputs that are viewed in a browser: their files, and the program that opens them. */
#ifndef PERFILE_CLI_PICTURE_H
#define PERFILE_CLI_PICTURE_H

#include "options.h"

/* Checks --open and --code, and chooses a file for an output that would go to a terminal. A status. */
int pf_picture_choose(const struct pf_command *command, struct pf_settings *settings);
/* Prints the path of the picture when the user did not name the file. Returns `status`, the status of the verb. */
int pf_picture_notify(const struct pf_settings *settings, int status);

/* How many nodes of graphs of `node_bytes` bytes fit into three quarters of the memory; 0: not known. */
uint64_t pf_nodes_that_fit(uint64_t node_bytes);

#endif
