/* SPDX-License-Identifier: MIT */
#include "options.h"

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    {.name = "header-only",
     .kind = PF_OPTION_FLAG,
     .offset = offsetof(struct pf_settings, print.header_only),
     .doc = "Print the header, its events and features, and no records."},
    {.name = "max-bytes",
     .kind = PF_OPTION_SIZE,
     .argument = "BYTES",
     .offset = offsetof(struct pf_settings, print.max_bytes),
     .doc = "Print byte strings that are longer as their length and CRC-32 [4096]; unlimited prints all."},
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

const struct pf_command pf_command_dump = {
    .name = "dump",
    .summary = "everything in a recording, record by record, in the order of the file",
    .doc = "Prints the header and every record with every field, in the order of the file. Nothing is left out and "
           "nothing is interpreted: what cannot be decoded is printed with what is known about it, and the walk goes "
           "on behind it.",
    .operand = "[FILE]",
    .operand_max = 1,
    .pages = true,
    .groups = {&group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = pf_run_output,
};
