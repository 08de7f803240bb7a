/* SPDX-License-Identifier: MIT */
/* Verbs that print something small of a recording themselves. */
#ifndef PERFILE_CLI_READING_H
#define PERFILE_CLI_READING_H

#include "input.h"
#include "stream.h"

/*
 * Opens the recording and the output, calls `print`, and reports what was lost. `print` returns 0, or an error with
 * input->error filled.
 */
int pf_read_and_print(const struct pf_command *command, struct pf_settings *settings,
                      int (*print)(struct pf_input *input, struct pf_stream *out));
/* Reads all records: names and events of a stream come one by one. 0, or an error, which is in input->error. */
int pf_read_to_end(struct pf_input *input);

#endif
