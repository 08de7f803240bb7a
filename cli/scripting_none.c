/* SPDX-License-Identifier: MIT */
/* A build that only reads (system=read) starts no other programs, so it runs no scripts. */
#include "message.h"
#include "scripting.h"

static int refuse(void)
{
    pf_message("script: this build runs no scripts of Python");
    return PF_STATUS_USAGE;
}

int pf_scripting_run(const struct pf_command *command, struct pf_settings *settings, const char *script,
                     char *const arguments[])
{
    (void)command, (void)settings, (void)script, (void)arguments;
    return refuse();
}

int pf_scripting_generate(const struct pf_command *command, struct pf_settings *settings, const char *language)
{
    (void)command, (void)settings, (void)language;
    return refuse();
}

int pf_scripting_list(void)
{
    return refuse();
}

bool pf_scripting_is_command(const char *operand)
{
    (void)operand;
    return false;
}

int pf_scripting_become(const struct pf_command *command, const struct pf_settings *settings, char *const words[])
{
    (void)command, (void)settings, (void)words;
    return refuse();
}
