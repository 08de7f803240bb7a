/* SPDX-License-Identifier: MIT */
/* The verbs of a build that only reads (system=read) record nothing for their views. */
#include "message.h"
#include "presets.h"
#include "record_show.h"

#include <string.h>

static int refuse(const struct pf_command *command, const char *what)
{
    pf_message("%s%s: this build only reads recordings: they are made on Linux", command->name, what);
    return PF_STATUS_USAGE;
}

bool pf_preset_known(const struct pf_command *command)
{
    (void)command;
    return false;
}

char **pf_preset_find(const struct pf_command *command, char **arguments)
{
    char **at = arguments;

    while (*at && **at == '-')
        at++;
    return *at && command->views && !strcmp(*at, "record") ? at : NULL;
}

int pf_preset_run(const struct pf_command *command, char **arguments, char **word, struct pf_settings *settings)
{
    (void)arguments, (void)word, (void)settings;
    return refuse(command, " record");
}

int pf_preset_choose(const struct pf_command *command, struct pf_settings *settings, pid_t reader)
{
    (void)settings, (void)reader;
    return refuse(command, "");
}

int pf_record_show(const struct pf_record_show *how, struct pf_settings *settings)
{
    (void)settings;
    return refuse(how->command, "");
}
