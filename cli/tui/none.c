/* SPDX-License-Identifier: MIT */
/* A build without ncurses has no interactive view. */
#include "tui.h"

bool pf_tui_wanted(const struct pf_command *command, const struct pf_settings *settings, int *status)
{
    *status = PF_STATUS_OK;
    if (settings->tui && command->interactive) {
        pf_message("%s: --tui is not possible: this perfile was built without ncurses", command->name);
        *status = PF_STATUS_USAGE;
    }
    return false;
}

void pf_tui_prepare(void)
{
}

int pf_tui_run(struct pf_input *input, const struct pf_tui_end *end)
{
    (void)input, (void)end;
    return PF_STATUS_USAGE;
}

int pf_tui_run_live(struct pf_input *input, struct pf_live *live, const struct pf_tui_end *end)
{
    (void)input, (void)live, (void)end;
    return PF_STATUS_USAGE;
}
