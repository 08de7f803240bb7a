/* SPDX-License-Identifier: MIT */
/* A recording with what its symbols need, in one file. */
#include "input.h"
#include "message.h"

struct settings {
    bool dry_run;
};

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (!settings->output && !pf_own(settings)->dry_run) {
        pf_message("bundle: no output file given (use -o FILE, or --dry-run for the list of what would be in it)");
        return PF_STATUS_USAGE;
    }
    settings->format = pf_own(settings)->dry_run ? "text" : "data";
    if (pf_own(settings)->dry_run)
        settings->output = NULL; /* it would be written to, else */
    return pf_run_output(command, settings);
}

static const struct pf_option options[] = {
    PF_OPTION_RECORDING_OUTPUT,
    PF_FLAG("code", 0, PF_AT(print.code),
            "Put machine code and the source files of what samples hit into the bundle, too, for annotate."),
    PF_FLAG("dry-run", 'n', PF_OWN(dry_run),
            "Write nothing but the list of the files that would be in the bundle, with their sizes inside and outside "
            "of it."),
    {0},
};

const struct pf_command pf_command_bundle = {
    .name = "bundle",
    .summary = "append what symbols need: one file for any machine",
    .doc = "Writes the recording, followed by all that its symbols, lines, inlined functions and stacks need: the "
           "symbols, unwind tables and debug info of each binary that samples hit, by build id, the kernel's symbols, "
           "and what JIT compilers wrote. perf and other tools read the file as before; perfile's verbs use what is in "
           "it on any machine.",
    PF_ONE_RECORDING,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_symbol_group, &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
