/* SPDX-License-Identifier: MIT */
/* The interactive view of a recording, on a terminal. A build without ncurses has none. */
#ifndef PERFILE_CLI_TUI_H
#define PERFILE_CLI_TUI_H

#include "../input.h"
#include "../live.h"

/*
 * Whether the verb is to be interactive: it has a view for terminals, its output would go to a terminal that can show
 * it, and no option asks for text. *status: PF_STATUS_USAGE, after a message, when --tui is not possible.
 */
bool pf_tui_wanted(const struct pf_command *command, const struct pf_settings *settings, int *status);
/* To be called before the sandbox. Messages are kept from now on, and printed when the view ends. */
void pf_tui_prepare(void);
/* Called by the thread that reads, when it has read everything, or the first interval; returns the exit status. */
struct pf_tui_end {
    int (*report)(void *context);
    void *context;
};
/* Shows the recording, which is open and at its start, until the user leaves. Returns the exit status. */
int pf_tui_run(struct pf_input *input, const struct pf_tui_end *end);
/* Shows what is recorded meanwhile; input->reader is for the code of functions, and is made here. */
int pf_tui_run_live(struct pf_input *input, struct pf_live *live, const struct pf_tui_end *end);

/* The keys by position, for the man page: how they are called, and what they do. NULL after the last. */
const char *pf_tui_key_at(size_t index, const char **doc);

#endif
