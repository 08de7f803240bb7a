/* SPDX-License-Identifier: MIT */
/* Several recordings at once. */
#ifndef PERFILE_CLI_INPUTS_H
#define PERFILE_CLI_INPUTS_H

#include <sys/resource.h>

#include "input.h"
#include "parked.h"

struct pf_inputs {
    const struct pf_command *command;
    struct pf_settings *settings;
    struct pf_input *inputs;         /* owned */
    struct perfile_reader **readers; /* of those that are open */
    const char **names;              /* of these, for messages */
    const char **paths;              /* as given */
    size_t count;                    /* that are open */
    size_t wanted;
    struct pf_parking parking; /* of ordinary files, when they are more than may be open */
};

/* PF_STATUS_USAGE: standard input was given twice. */
int pf_inputs_check(const struct pf_command *command, char **paths, size_t count);
/* `paths` are `count` recordings. To be called before the sandbox. PF_STATUS_MEMORY. */
int pf_inputs_set(struct pf_inputs *inputs, const struct pf_command *command, struct pf_settings *settings,
                  char **paths, size_t count);
/* Opens all. PF_STATUS_UNREADABLE when a message was printed. */
int pf_inputs_open(struct pf_inputs *inputs);
/* The file is one of them. */
bool pf_inputs_have(const struct pf_inputs *inputs, const char *path);
/* The same as pf_input_losses of each. */
int pf_inputs_losses(const struct pf_inputs *inputs);
void pf_inputs_close(struct pf_inputs *inputs);

/* Raises the limit of open files as far as the administrator allows, and returns it. */
rlim_t pf_allow_open_files(void);

#endif
