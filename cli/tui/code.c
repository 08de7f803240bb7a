/* SPDX-License-Identifier: MIT */
#include "app.h"
#include "code.h"

void pf_tui_show_code(struct pf_tui *app, uint32_t function)
{
    (void)function;
    pf_tui_say(app, "Annotated code cannot be shown yet.");
}

void pf_tui_code_close(struct pf_tui_code *code)
{
    (void)code;
}
