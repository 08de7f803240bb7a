/* SPDX-License-Identifier: MIT */
#include "views.h"

struct settings {
    bool wakers;
};

static const struct pf_subview off[] = {{"", "offcpu", false, NULL}, {0}};
static const struct pf_subview wakers[] = {{"", "wakers", false, NULL}, {0}};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    return pf_run_subview_of(command, settings, pf_own(settings)->wakers ? wakers : off);
}

static const struct pf_option options[] = {
    PF_OPTION_TABLE_FORMAT,
    PF_OPTION_COLUMNS,
    PF_FLAG(
        "wakers", 0, PF_OWN(wakers),
        "Show which thread woke which, with the stack of the waker, and how long the woken threads had been blocked."),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_offcpu = {
    .name = "offcpu",
    .summary = "show how long threads were off CPU, and in which stacks",
    .doc = "Adds up the times in which threads were not on a CPU, by thread, state and stack: blocked, or preempted. "
           "Each row has the number of these times, their sum, the longest one, and how much of the sum was spent "
           "waiting for a CPU. perfile flame --off-cpu draws the same. perfile offcpu record records what it needs, "
           "with the options of perfile record." PF_SHOWS_COMMAND,
    .operand = "[FILE | -- COMMAND [ARGUMENT...]] | record [COMMAND [ARGUMENT...]]",
    .operand_max = 1,
    .shows_command = true,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), PF_SAMPLE_GROUPS},
    .run = run,
};
