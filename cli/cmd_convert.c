/* SPDX-License-Identifier: MIT */
#include <perfile/analysis.h>

#include "edit.h"

#define AT(member) offsetof(struct pf_settings, member)

static const char *part_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return perfile_strip_part_at(index, doc);
}

static const struct pf_option options[] = {
    {.name = "strip",
     .kind = PF_OPTION_LIST,
     .argument = "LIST",
     .offset = AT(convert_strip),
     .value_at = part_at,
     .doc = "Leave these parts out of all samples, separated by commas. aux also leaves out the records of AUX areas "
            "and all their data."},
    {.name = "for",
     .kind = PF_OPTION_TEXT,
     .argument = "VERSION",
     .offset = AT(convert_for),
     .doc = "Write what perf of this version reads, from perf-3.0 to perf-7.x: leave out, or say in its way, what is "
            "younger than it. The report counts both."},
    {.name = "unwind",
     .kind = PF_OPTION_FLAG,
     .offset = AT(convert_unwind),
     .doc = "Make callchains of dumped user stacks (perf record --call-graph dwarf), with the binaries of the "
            "recording, and leave the stacks out. The records are then written in the order of time."},
    PF_OPTION_REPORT_FORMAT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static int convert(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                   const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    struct perfile_convert_options how = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_unwinder *unwinder = NULL;
    int result = 0;

    how.strip = settings->convert_strip;
    how.for_perf = settings->convert_for;
    how.edit = edit_options;
    if (settings->convert_unwind) {
        result = perfile_unwinder_open(reader, &settings->symbols, &unwinder, error);
        how.unwind = perfile_unwind;
        how.unwind_context = unwinder;
    }
    if (result == 0)
        result = perfile_convert(reader, writer, &how, report, error);
    perfile_unwinder_close(unwinder);
    return result;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    return pf_run_edit(command, settings, convert);
}

const struct pf_command pf_command_convert = {
    .name = "convert",
    .summary = "write a recording as file, stream or directory, compressed or not, smaller, or for an older perf",
    .doc = "Copies a recording into another container. The records stay what they are, byte for byte unless the byte "
           "order changes or an option asks for a change. A file that becomes a directory has the records of every "
           "processor in a file of their own.",
    .operand = "[FILE]",
    .operand_max = 1,
    .groups = {&group, &pf_writing_group, &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
