/* SPDX-License-Identifier: MIT */
/* The binaries of a recording in one file, for another machine. */
#include "input.h"
#include "message.h"

#include <stdio.h>
#include <stdlib.h>

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *input = settings->operand_count ? settings->operands[0] : settings->input;
    char *made = NULL;
    int status;

    if (!settings->output) {
        if (asprintf(&made, "%s.tar.gz", input && strcmp(input, "-") ? input : "perf.data") < 0)
            return pf_out_of_memory(NULL);
        settings->output = made;
    } else if (!strcmp(settings->output, "-")) {
        settings->output = NULL;
    }
    settings->format = "tar";
    settings->print.gzip =
        settings->output && (pf_ends_in(settings->output, ".gz") || pf_ends_in(settings->output, ".tgz"));
    status = pf_run_output(command, settings);
    if (status <= PF_STATUS_FINDINGS && settings->output && !settings->quiet)
        pf_message(
            "archive: written to %s; on another machine: %s report --archive %s, or for perf: tar xf %s -C ~/.debug",
            settings->output, pf_program_name(), settings->output, settings->output);
    free(made);
    return status;
}

static const struct pf_option options[] = {
    PF_ROW(TEXT, "output", 'o', "OUT", PF_AT(output),
           "Write to OUT [FILE.tar.gz], - for standard output; compressed if it ends in .gz or .tgz. OUT appears when "
           "it is "
           "complete."),
    {0},
};

const struct pf_command pf_command_archive = {
    .name = "archive",
    .summary = "pack the binaries of a recording, to read it on another machine",
    .doc =
        "Packs the binaries that samples hit, their debug files and the kernel's symbols by build id into a tar file, "
        "as perf "
        "archive does. --archive of report, script and the other verbs reads it; for perf it is unpacked in ~/.debug.",
    PF_ONE_RECORDING,
    .groups = {PF_GROUP("Options", options), &pf_symbol_group, &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
