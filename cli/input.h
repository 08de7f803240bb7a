/* SPDX-License-Identifier: MIT */
/* The recording that a verb reads: which one, its opening, and what is said about what is missing of it. */
#ifndef PERFILE_CLI_INPUT_H
#define PERFILE_CLI_INPUT_H

#include "message.h"
#include "options.h"

struct pf_input {
    const struct pf_command *command;
    struct pf_settings *settings;
    const char *name; /* as given */
    struct perfile_reader *reader;
    struct pf_log log;
    struct perfile_error error;
};

/* The recording called `name`, of several. */
void pf_input_name(struct pf_input *input, const struct pf_command *command, struct pf_settings *settings,
                   const char *name);
/* Operand, -i, or perf.data. PF_STATUS_USAGE when it is given twice. */
int pf_input_choose(struct pf_input *input, const struct pf_command *command, struct pf_settings *settings);
/* PF_STATUS_UNREADABLE when a message was printed. */
int pf_input_open(struct pf_input *input);
/* Prints input->error, which came with `code` while reading or writing; the exit status for it. */
int pf_input_failure(const struct pf_input *input, int code);
/* One line that says what is missing from the output, nothing when nothing is; PF_STATUS_FINDINGS or PF_STATUS_OK. */
int pf_input_losses(const struct pf_input *input);

#endif
