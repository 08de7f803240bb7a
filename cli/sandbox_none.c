/* SPDX-License-Identifier: MIT */
/* Without Landlock and seccomp: the system that runs WebAssembly keeps it from everything else. */
#include "sandbox.h"

void pf_sandbox_enter(const struct pf_command *command, struct pf_settings *settings)
{
    (void)command;
    (void)settings;
}

void pf_sandbox_enter_thread(const struct pf_settings *settings)
{
    (void)settings;
}
