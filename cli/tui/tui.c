/* SPDX-License-Identifier: MIT */
/* Whether there is to be an interactive view. */
#include "tui.h"
#include "../profile_columns.h"
#include "print.h"
#include "screen.h"

#include <unistd.h>

/* Columns that rows of the view cannot have: of branches, and weights that profiles do not keep. */
static bool has_other_columns(const char *sort)
{
    return sort && !pf_profile_columns_possible(sort + (*sort == '+'));
}

/* Options that say how text is to look, or what only the text of reports can show. */
static bool asks_for_report(const struct pf_settings *settings)
{
    const struct perfile_report_options *report = &settings->report;
    const unsigned shown = PERFILE_REPORT_CHILDREN | PERFILE_REPORT_NO_CHILDREN | PERFILE_REPORT_INVERTED;

    return settings->format || settings->output || settings->fields || has_other_columns(report->sort) ||
           report->flags & ~shown || report->symbols || report->widths || report->separator || report->parent ||
           report->time_quantum || report->max_stack || report->columns || report->top || report->ignore_callees ||
           settings->dumps || settings->print.nanoseconds || settings->print.header || settings->fail_empty;
}

static bool asks_for_listing(const struct pf_settings *settings)
{
    const struct perfile_annotate_options *annotate = &settings->annotate;

    return annotate->flags || annotate->data_type || annotate->dsos || annotate->top || annotate->percent_limit ||
           annotate->syntax || settings->percent_type || settings->no_arrows || settings->objdump;
}

static bool asks_for_text(const struct pf_settings *settings)
{
    return asks_for_report(settings) || asks_for_listing(settings);
}

static const char *terminal_missing(void)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return "standard input and output are not a terminal";
    return pf_is_terminal(STDOUT_FILENO) && pf_tui_screen_possible() ? NULL
                                                                     : "the terminal cannot move its cursor (TERM)";
}

bool pf_tui_wanted(const struct pf_command *command, const struct pf_settings *settings, int *status)
{
    *status = PF_STATUS_OK;
    if (!command->interactive || settings->help || (settings->stdio && !settings->tui) ||
        (asks_for_text(settings) && !settings->tui))
        return false;
    const char *missing = settings->stdio           ? "--stdio asks for text"
                          : asks_for_text(settings) ? "another option asks for text"
                                                    : terminal_missing();
    if (!missing)
        return true;
    if (settings->tui) {
        pf_message("%s: --tui is not possible: %s", command->name, missing);
        *status = PF_STATUS_USAGE;
    }
    return false;
}

void pf_tui_prepare(void)
{
    pf_tui_print_start();
    pf_message_keep();
}
