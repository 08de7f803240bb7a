/* SPDX-License-Identifier: MIT */
/* The events that the verb trace records when it shows calls while they are made. */
#ifndef PERFILE_CLI_TRACE_LIVE_H
#define PERFILE_CLI_TRACE_LIVE_H

#include "options.h"

/* Settings of the verb trace. */
struct pf_trace_settings {
    const char *duration; /* NULL: not given */
    char *calls;          /* -e: system calls, joined with commas; its events are in settings->record.events */
    bool all_calls;       /* --syscalls: also when only events or page faults were asked for */
    const char *faults;   /* "all", "maj", "min"; NULL: none */
    bool kernel_stacks;   /* callchains of the kernel's part */
};

/* For pf_option.set of -e: its words are system calls or, with a colon, tracepoints. */
int pf_trace_add_names(const struct pf_option *option, const char *text, struct pf_settings *settings);
/* Records what was asked for, and shows it with `show`. A status, after a message. */
int pf_trace_live(const struct pf_command *command, struct pf_settings *settings,
                  int (*show)(const struct pf_command *command, struct pf_settings *settings));

#endif
