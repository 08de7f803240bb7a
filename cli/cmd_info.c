/* SPDX-License-Identifier: MIT */
#include "options.h"

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    PF_FLAG("count", 0, PF_AT(print.count),
            "Read the complete recording to count records, samples and losses. By default only headers are read."),
    PF_OPTION_OUTPUT,
    {0},
};

static int info(const struct pf_command *command, struct pf_settings *settings)
{
    settings->advises_views = true;
    return pf_run_output(command, settings);
}

const struct pf_command pf_command_info = {
    .name = "info",
    .summary = "summarize a recording: events, machine, command, damage",
    .doc =
        "Prints how and where a recording was made, its command and events, damage, and everything in the header about "
        "the machine: topology, caches, memory, PMUs, clocks, BPF programs and attributes. Takes milliseconds for "
        "any size of recording, unless --count is given.",
    PF_ONE_RECORDING,
    .pages = true,
    .groups = {PF_GROUP("Options", options), &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = info,
};
