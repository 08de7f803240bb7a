/* SPDX-License-Identifier: MIT */
#include <perfile/analysis.h>

#include "edit.h"

struct settings {
    const char *strip, *for_perf; /* NULL: not given */
    bool unwind;
};

static const struct pf_option options[] = {
    PF_VALUES(
        LIST, "strip", 0, "LIST", PF_OWN(strip), .known = perfile_strip_part_at,
        "Remove these parts from all samples, separated by commas. aux also removes AUX records and all AUX data."),
    PF_ROW(TEXT, "for", 0, "VERSION", PF_OWN(for_perf),
           "Write what this version of perf can read, from perf-3.0 to perf-7.x: newer things are removed or "
           "converted to the older form. The report counts both."),
    PF_FLAG(
        "unwind", 0, PF_OWN(unwind),
        "Unwind dumped user stacks (perfile record --call-graph dwarf) into callchains, using the recorded binaries, "
        "and remove the stacks. The records are then written in time order."),
    PF_OPTION_REPORT_FORMAT,
    {0},
};

static int convert(struct perfile_reader *reader, struct perfile_writer *writer, const struct pf_settings *settings,
                   const struct perfile_edit_options *edit_options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    struct perfile_convert_options how = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_unwinder *unwinder = NULL;
    int result = 0;

    how.strip = pf_own(settings)->strip;
    how.for_perf = pf_own(settings)->for_perf;
    how.edit = edit_options;
    if (pf_own(settings)->unwind) {
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
    .summary = "convert: file, stream, directory; compressed, for an older perf",
    .doc =
        "Copies a recording into another container. Records are copied byte for byte unless the byte order changes or "
        "an option asks for a change. When a file becomes a directory, the records of each CPU get a separate file.",
    PF_ONE_RECORDING,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_writing_group, &pf_symbol_group, &pf_serial_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
