/* SPDX-License-Identifier: MIT */
#include "edit.h"

static const struct pf_option options[] = {
    PF_OPTION_REPORT_FORMAT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static int repair(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                  const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                  struct perfile_error *error)
{
    (void)settings;
    return perfile_repair(reader, writer, edit_options, report, error);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    return pf_run_edit(command, settings, repair);
}

const struct pf_command pf_command_repair = {
    .name = "repair",
    .summary = "save all that is whole of a damaged recording into a sound one",
    .doc = "Writes every whole record of a recording, byte for byte and in order, into a new recording that every "
           "reader opens: of recorders that were killed, of files that were cut off or overwritten, of streams that "
           "broke off. Header features that are missing are made anew as far as the records tell. The exit status is 0 "
           "when nothing was lost, 1 when bytes had to be left out.",
    .operand = "[FILE]",
    .operand_max = 1,
    .groups = {&group, &pf_writing_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
