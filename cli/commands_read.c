/* SPDX-License-Identifier: MIT */
/* The verbs of a build that reads, edits and writes recordings (system=read), without those of the machine. */
#include "options.h"

#define PF_COMMAND(name) extern const struct pf_command pf_command_##name;
#define PF_COMMAND_OF_MACHINE(name)
#include "commands.def"
#undef PF_COMMAND

const struct pf_command *const pf_commands[] = {
#define PF_COMMAND(name) &pf_command_##name,
#include "commands.def"
    NULL,
};
