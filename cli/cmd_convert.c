/* SPDX-License-Identifier: MIT */
#include "edit.h"

static const struct pf_option options[] = {
    PF_OPTION_REPORT_FORMAT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static int convert(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                   const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    (void)settings;
    return perfile_convert(reader, writer, edit_options, report, error);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    return pf_run_edit(command, settings, convert);
}

const struct pf_command pf_command_convert = {
    .name = "convert",
    .summary = "write a recording as file, stream or directory, compressed or not, in either byte order",
    .doc = "Copies a recording into another container. The records stay what they are, byte for byte unless the byte "
           "order changes.",
    .operand = "[FILE]",
    .operand_max = 1,
    .groups = {&group, &pf_writing_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
