/* SPDX-License-Identifier: MIT */
#include <perfile/analysis.h>

#include "edit.h"

#define AT(member) offsetof(struct pf_settings, member)

static const struct pf_option options[] = {
    {.name = "build-ids",
     .letter = 'b',
     .kind = PF_OPTION_FLAG,
     .offset = AT(inject_build_ids),
     .doc = "Add the build ids of the files that samples and callchains hit: those of the recording, else those of the "
            "binaries that are found."},
    {.name = "sched-stat",
     .letter = 's',
     .kind = PF_OPTION_FLAG,
     .offset = AT(inject_sched_stat),
     .doc =
         "Show where threads slept, and how long: join sched:sched_stat_* with the sched:sched_switch before it. The "
         "samples that are left are those of sched:sched_switch, with the time slept as their period."},
    {.name = "strip",
     .kind = PF_OPTION_FLAG,
     .offset = AT(inject_strip),
     .doc = "Leave AUX data out, as convert --strip aux does."},
    PF_OPTION_REPORT_FORMAT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static int inject(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                  const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                  struct perfile_error *error)
{
    struct perfile_symbol_options symbols = settings->print.symbols;
    struct perfile_inject_options how = PERFILE_INJECT_OPTIONS_INIT;

    how.build_ids = settings->inject_build_ids;
    how.find_build_id = perfile_build_id_find;
    how.find_context = &symbols;
    how.sched_stat = settings->inject_sched_stat;
    how.strip = settings->inject_strip;
    how.edit = edit_options;
    return perfile_inject(reader, writer, &how, report, error);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    return pf_run_edit(command, settings, inject);
}

const struct pf_command pf_command_inject = {
    .name = "inject",
    .summary = "add to a recording: build ids, times slept",
    .doc = "Writes a recording anew, in the order of time, with what can be known afterwards.",
    .operand = "[FILE]",
    .operand_max = 1,
    .groups = {&group, &pf_writing_group, &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
