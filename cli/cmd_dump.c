/* SPDX-License-Identifier: MIT */
#include "options.h"

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    PF_FLAG("header-only", 0, PF_AT(dump.header_only),
            "Print only the header with its events and features, no records."),
    PF_ROW(SIZE, "max-bytes", 0, "BYTES", PF_AT(dump.max_bytes),
           "Print longer byte strings as their length and CRC-32 [4096]; unlimited prints all."),
    PF_FLAG(
        "aux", 0, PF_AT(dump.aux),
        "Print the packets of hardware traces after each AUXTRACE record, and those in samples, in the words of perf "
        "report -D: Intel PT and BTS, Arm SPE, s390 sampling, HiSilicon PTT, the dispatch log of POWER; of CoreSight, "
        "how many bytes of each source a frame has. After AUXTRACE_INFO, its words by their names."),
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_dump = {
    .name = "dump",
    .summary = "print every record with every field, in file order",
    .doc =
        "Prints the header and every record with every field, in file order. Nothing is left out and nothing is "
        "interpreted: what cannot be decoded is printed with what is known about it, and printing continues after it.",
    PF_ONE_RECORDING,
    .pages = true,
    .groups = {PF_GROUP("Options", options), &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = pf_run_output,
};
