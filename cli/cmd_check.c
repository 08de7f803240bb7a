/* SPDX-License-Identifier: MIT */
#include "options.h"

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

const struct pf_command pf_command_check = {
    .name = "check",
    .summary = "is a recording whole? Every fault with its place",
    .doc = "Reads the whole recording and prints every fault with its rule, its severity, its place and its length, "
           "then how many records and samples are whole and how many bytes belong to none. The exit status is 0 for "
           "a sound recording, 1 when something was found, 3 when the file is no perf.data at all.",
    .operand = "[FILE]",
    .operand_max = 1,
    .pages = true,
    .findings = true,
    .groups = {&group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = pf_run_output,
};
