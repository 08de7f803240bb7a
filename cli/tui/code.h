/* SPDX-License-Identifier: MIT */
/* The annotated code of a function. */
#ifndef PERFILE_CLI_TUI_CODE_H
#define PERFILE_CLI_TUI_CODE_H

struct pf_tui_code;

#endif
