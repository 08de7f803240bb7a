/* SPDX-License-Identifier: MIT */
#include "options.h"

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_check = {
    .name = "check",
    .summary = "verify a recording and report every error with its offset",
    .doc =
        "Reads the complete recording and prints every error with its rule, severity, offset and length, then how many "
        "records and samples are valid and how many bytes belong to none. The exit status is 0 for a valid "
        "recording, 1 if there are findings, 3 if the file is not a perf.data file.",
    PF_ONE_RECORDING,
    .pages = true,
    .findings = true,
    .groups = {PF_GROUP("Options", options), &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = pf_run_output,
};
