/* SPDX-License-Identifier: MIT */
#include "edit.h"

static const struct pf_option options[] = {
    PF_OPTION_REPORT_FORMAT,
    {0},
};

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
    .summary = "write a valid recording from what is left of a damaged one",
    .doc = "Writes every complete record of a recording, byte for byte and in order, into a new recording that every "
           "reader opens: after a killed recorder, for truncated or overwritten files and interrupted streams. Missing "
           "header features are rebuilt from the records where possible. The exit status is 0 if nothing was lost, 1 "
           "if bytes had to be dropped.",
    PF_ONE_RECORDING,
    .groups = {PF_GROUP("Options", options), &pf_writing_group, &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
